"""Clobber: a stone moves onto a neighbouring stone of the other side and captures it; who cannot move loses.

Dark begins.  The board is full at first, dark and light in turn like the squares of a chessboard, dark
in the top left corner.  It may have any shape on which two points are neighbours.
"""

import jax.numpy as jnp
import numpy as np

from saz_jax.games import board as boards
from saz_jax.games.actions import ending_at, start_and_end
from saz_jax.types import Array, Game, GameState

MOVES = boards.COMPASS4
MIN_SIZE = 2


def make(max_size: int) -> Game:
    """Clobber on padded boards of side `max_size`."""

    def init(shape: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        row, column = jnp.indices(points.shape)
        board = jnp.where(points, 1 - 2 * ((row + column) % 2), 0).astype(jnp.int8)
        return _position(board, points, boards.live_side(points), to_play=1, move_count=0)

    def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        return _position(board, points, boards.live_side(points), to_play, move_count=0)

    def step(state: GameState, action: Array | int) -> GameState:
        start, end = start_and_end(action, max_size, MOVES)
        board = jnp.where(end, state.to_play, jnp.where(start, 0, state.board)).astype(jnp.int8)
        after = _position(board, state.points, state.size, -state.to_play, state.move_count + 1)
        return boards.unless_over_or_illegal(state, action, after)

    return Game(
        name="clobber",
        max_size=max_size,
        min_size=MIN_SIZE,
        max_moves=max_size * max_size - 1,  # every move takes a stone
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
        shape_problem=_shape_problem,
        symmetries=boards.ALL_SYMMETRIES,
        moves=MOVES,
        stones_on="squares",
        recipes=RECIPES,
    )


RECIPES = {
    "paper": {"sizes": (4, 5, 6)},
    # How many stones can move says little about who moves last.
    "small": {"sizes": (4, 5, 6), "search.heuristic_weight": 0.0, "search.take_wins": True},
}


def _shape_problem(points: np.ndarray) -> str:
    if (points[1:] & points[:-1]).any() or (points[:, 1:] & points[:, :-1]).any():
        return ""
    return "no two of its points are neighbours; add points"


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: how many stones of `player` can move, less those of the other side; a win counts most."""
    dark, light = (_stones_that_move(state.board, side).sum() for side in (1, -1))
    return jnp.asarray(player, jnp.float32) * (dark - light + state.outcome * state.board.size)


def _stones_that_move(board: Array, side: int) -> Array:
    """bool[N, N]"""
    others = jnp.stack([ending_at(board == -side, move) for move in MOVES]).any(0)
    return (board == side) & others


def _position(
    board: Array, points: Array, size: Array, to_play: Array | int, move_count: Array | int
) -> GameState:
    player = jnp.asarray(to_play, jnp.int8)
    moves = jnp.stack([(board == player) & ending_at(board == -player, move) for move in MOVES])
    terminated = ~moves.any()
    return GameState(
        board=board,
        points=points,
        size=size,
        to_play=player,
        legal=jnp.append(moves.reshape(-1), terminated),
        terminated=terminated,
        outcome=jnp.where(terminated, -player, 0).astype(jnp.float32),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=(),
    )
