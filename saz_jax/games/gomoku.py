"""Gomoku, freestyle: k or more stones of one colour in a row, column or diagonal win; a full board is a tie.

Tic-tac-toe is `k=3` on side 3.  Pass is never legal while the game lasts.  Lines end at holes.
"""

import functools
import numbers
import re
from collections.abc import Mapping
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games import board as boards
from saz_jax.types import Array, Game, GameState, SGFFormat

LINES = ((0, 1), (1, 1), (1, 0), (1, -1))
"""One direction of each row, column and diagonal."""


def make(max_size: int, *, k: Annotated[int, "stones in a row that win"] = 5) -> Game:
    """Gomoku on padded boards of side `max_size`; the smallest live side is k, below it nobody can win."""
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
        raise ValueError(f"k={k!r} stones in a line cannot be asked for; use a whole number of at least 1")

    def init(shape: Array | int) -> GameState:
        return setup(jnp.zeros((max_size, max_size), jnp.int8), shape, 1)

    def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        return _position(board, points, boards.live_side(points), to_play, move_count=0, k=k)

    def step(state: GameState, action: Array | int) -> GameState:
        board = jnp.where(boards.point(action, max_size), state.to_play, state.board)
        after = _position(board, state.points, state.size, -state.to_play, state.move_count + 1, k)
        return boards.unless_over_or_illegal(state, action, after)

    return Game(
        name="gomoku",
        max_size=max_size,
        min_size=int(k),
        max_moves=max_size * max_size,
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
        ownership=functools.partial(ownership, k=k),
        shape_problem=functools.partial(_shape_problem, k),
        symmetries=boards.ALL_SYMMETRIES,
        sgf=SGFFormat(game_type=4, write=lambda points: {"RU": f"k={k}"}, read=_read_rules),
        recipes=RECIPES,
    )


RECIPES = {
    "paper": {"sizes": (5, 6, 7, 8, 9)},
    "small": {
        "sizes": (8, 9),
        # One line decides a game, anywhere on the board: a mean over the board would dilute what it says.
        "gin.dummy": "max",
        "gin.readout": "dummy",
        "search.simulations": 24,
        "search.dirichlet_fraction": 0.25,
        "search.take_wins": True,
        "search.heuristic_weight": 0.0,
        # Self-play from an empty board settles for rows and never learns diagonals.
        "selfplay.favour": "large",
        "selfplay.max_opening_moves": 48,
        "selfplay.random_move_share": 0.05,
        "learner.surprise_weight": 0.5,
        "learner.schedule": "cosine",
        "learner.decay_steps": 14_000,
        "learner.ema_decay": 0.995,
    },
    "strong": {
        "sizes": (8, 9),
        "gin.dummy": "max",
        "gin.readout": "dummy",
        "search.simulations": 24,
        "search.dirichlet_fraction": 0.25,
        "search.take_wins": True,
        "selfplay.favour": "large",
        "selfplay.max_opening_moves": 48,
        "learner.surprise_weight": 0.5,
    },
}


def _read_rules(properties: Mapping[str, Any]) -> dict[str, int]:
    """k, which stands in the free-text property RU as `k=5`."""
    found = re.fullmatch(r"k=(\d{1,4})", str(properties.get("RU", "")))
    return {"k": int(found[1])} if found else {}


def _shape_problem(k: int, points: np.ndarray) -> str:
    """Whether nobody could ever win there."""
    there = {tuple(point) for point in np.argwhere(points).tolist()}
    for row, column in there:
        for dr, dc in LINES:
            if all((row + i * dr, column + i * dc) in there for i in range(k)):
                return ""
    return f"it has no line of {k} points; make it longer, or lower k"


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: `player`'s longest line minus the other side's (App. "Greedy players heuristics")."""
    dark, light = _longest_lines(state.board, limit=state.board.shape[0])
    return jnp.asarray(player, jnp.float32) * (dark - light)


def ownership(state: GameState, k: int) -> Array:
    """float32[N, N]: the stones of all lines of k or more."""
    read = boards.reader(state.board, k - 1)
    part = jnp.zeros(state.board.shape, bool)
    for dr, dc in LINES:
        # The stones ahead and behind that go on with a point's colour without a gap.
        lengths = []
        for direction in ((dr, dc), (-dr, -dc)):

            def walk(i: Array, more: Array, direction: tuple[int, int] = direction) -> Array:
                return jnp.where(read(direction, k - 1 - i) == state.board, more + 1, 0)

            lengths.append(jax.lax.fori_loop(0, k - 1, walk, jnp.zeros(state.board.shape, jnp.int32)))
        part |= 1 + sum(lengths, start=jnp.int32(0)) >= k
    return jnp.where(part, state.board, 0).astype(jnp.float32)


def _position(
    board: Array, points: Array, size: Array, to_play: Array | int, move_count: Array | int, k: int
) -> GameState:
    dark, light = _longest_lines(board, limit=k)
    free = points & (board == 0)
    terminated = (dark >= k) | (light >= k) | ~free.any()
    return GameState(
        board=board,
        points=points,
        size=size,
        to_play=jnp.asarray(to_play, jnp.int8),
        legal=jnp.append(free.reshape(-1) & ~terminated, terminated),
        terminated=terminated,
        outcome=(dark >= k).astype(jnp.float32) - (light >= k).astype(jnp.float32),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=(),
    )


def _longest_lines(board: Array, limit: int) -> tuple[Array, Array]:
    """(int32[], int32[]): stones in dark's and in light's longest line, counted up to `limit`.

    One walk inwards along four rays of every point counts the stones that go on with its colour.
    """
    read = boards.reader(board, limit - 1)

    def walk(i: Array, more: list[Array]) -> list[Array]:
        seen = [read(direction, limit - 1 - i) for direction in LINES]
        return [jnp.where(s == board, m + 1, 0) for s, m in zip(seen, more, strict=True)]

    more = jax.lax.fori_loop(0, limit - 1, walk, [jnp.zeros(board.shape, jnp.int16)] * 4, unroll=8)
    runs = board * (1 + functools.reduce(jnp.maximum, more))
    return runs.max().astype(jnp.int32), -runs.min().astype(jnp.int32)
