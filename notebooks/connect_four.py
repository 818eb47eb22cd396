"""Connect Four: discs fall to the lowest free point of a column; four in a line win, a full board is a tie.

An action names the point where the disc comes to rest, so that actions are points as in every other game; of
all points, one per column is legal.  The usual board has 6 rows and 7 columns, `game.init((6, 7))`, and any
other shape will do: a disc enters each column at its highest point and falls until something stops it, be it
a disc, a hole or the end of the column.  What lies below a hole is never reached.
"""

import dataclasses
import functools
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jax import Array

from saz_jax import Game, GameState
from saz_jax.games import live_points, live_side, point, shift, unless_over_or_illegal

LINES = ((0, 1), (1, 1), (1, 0), (1, -1))
"""One direction of each row, column and diagonal."""
DOWN = (1, 0)
MIRROR = 7
"""The symmetry of `saz_jax.games.symmetry` that exchanges left and right."""


def make(max_size: int, *, k: Annotated[int, "discs in a line that win"] = 4) -> Game:
    """Connect Four on padded boards of side `max_size`."""
    if k < 2:
        raise ValueError(f"k={k} discs in a line win at once; use 2 or more")

    def init(shape: Array | int) -> GameState:
        return setup(jnp.zeros((max_size, max_size), jnp.int8), shape, 1)

    def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
        return position(board, live_points(shape, max_size), to_play, move_count=0, k=k)

    def step(state: GameState, action: Array | int) -> GameState:
        board = jnp.where(point(action, max_size), state.to_play, state.board)
        after = position(board, state.points, -state.to_play, state.move_count + 1, k)
        return unless_over_or_illegal(state, action, after)

    return Game(
        name="connect_four",
        max_size=max_size,
        min_size=k,
        max_moves=max_size * max_size,
        init=init,
        step=step,
        setup=setup,
        heuristic=functools.partial(heuristic, k=k),
        shape_problem=functools.partial(shape_problem, k=k),
        symmetries=(0, MIRROR),  # gravity allows no turns
        stones_on="squares",
        recipes={"small": {"sizes": (5, 6, 7), "search.heuristic_weight": 0.0, "search.take_wins": True}},
    )


def position(board: Array, points: Array, to_play: Array | int, move_count: Array | int, k: int) -> GameState:
    """The position, finished if there is a line of k discs or no column takes another one."""
    dark, light = ((windows(board == colour, k) == k).any() for colour in (1, -1))
    legal = landings(board, points)
    over = dark | light | ~legal.any()
    return GameState(
        board=board.astype(jnp.int8),
        points=points,
        size=live_side(points),
        to_play=jnp.asarray(to_play, jnp.int8),
        legal=jnp.append(legal.reshape(-1) & ~over, over),
        terminated=over,
        outcome=dark.astype(jnp.float32) - light.astype(jnp.float32),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=(),
    )


def landings(board: Array, points: Array) -> Array:
    """bool[N, N]: where a disc dropped into each column comes to rest."""
    way = falls(points & (board == 0), points)
    return way & ~shift(way, DOWN, fill=False)


def falls(free: Array, points: Array) -> Array:
    """bool[N, N]: the free points that a disc passes on its way down from the highest point of its column."""
    entered = jnp.cumsum(points, axis=0) > 0
    stopped = jnp.cumsum(entered & ~free, axis=0) > 0
    return free & ~stopped


def windows(there: Array, k: int) -> Array:
    """int32[4, N, N]: how many of the k points in a line from each point, by direction, are `there`."""
    counts = []
    for direction in LINES:
        ahead = [there]
        for _ in range(k - 1):
            ahead.append(shift(ahead[-1], direction, fill=False))
        counts.append(sum(x.astype(jnp.int32) for x in ahead))
    return jnp.stack(counts)


def heuristic(state: GameState, player: Array | int, k: int) -> Array:
    """float32[]: the greedy player's score: lines of k that only one side can still complete.

    One with m discs counts 4 to the power of m: a win outweighs any threat, and a threat any hope.
    """
    complete = windows(state.points, k) == k
    dark, light = (windows(state.board == colour, k) for colour in (1, -1))
    worth = [
        jnp.where(complete & (other == 0) & (own > 0), 4.0**own, 0.0).sum()
        for own, other in ((dark, light), (light, dark))
    ]
    return jnp.asarray(player, jnp.float32) * (worth[0] - worth[1])


def shape_problem(points: np.ndarray, k: int) -> str:
    """Why nobody could win on that shape; "" if somebody could."""
    reached = falls(jnp.asarray(points), jnp.asarray(points))
    if (windows(reached, k) == k).any():
        return ""
    return f"discs reach no line of {k} points; make it larger, or lower k"


def make_endless(max_size: int) -> Game:
    """Connect Four with a mistake, for `check_game` to find: a finished game counts on."""
    game = make(max_size)

    def step(state: GameState, action: Array | int) -> GameState:
        after = game.step(state, action)
        return after._replace(move_count=state.move_count + 1)

    return dataclasses.replace(game, step=step)
