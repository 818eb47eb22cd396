"""A game as a user writes it, in one file: `length` in a row win or, with `misere`, lose."""

import functools
from typing import Annotated

import jax.numpy as jnp
from jax import Array

from saz_jax import Game, GameState
from saz_jax.games import live_points, live_side, point, shift, unless_over_or_illegal

DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1))


def make(
    max_size: int,
    *,
    length: Annotated[int, "stones in a row that end the game"] = 3,
    misere: Annotated[bool, "whether they lose instead of winning"] = False,
) -> Game:
    """Rows on padded boards of side `max_size`."""

    def init(shape: Array | int) -> GameState:
        return setup(jnp.zeros((max_size, max_size), jnp.int8), shape, 1)

    def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
        return position(board, live_points(shape, max_size), to_play, 0)

    def step(state: GameState, action: Array | int) -> GameState:
        board = jnp.where(point(action, max_size), state.to_play, state.board)
        after = position(board, state.points, -state.to_play, state.move_count + 1)
        return unless_over_or_illegal(state, action, after)

    def position(board: Array, points: Array, to_play: Array | int, move_count: Array | int) -> GameState:
        dark, light = (rows(board == colour, length) > 0 for colour in (1, -1))
        free = points & (board == 0)
        over = dark | light | ~free.any()
        outcome = dark.astype(jnp.float32) - light.astype(jnp.float32)
        return GameState(
            board=board.astype(jnp.int8),
            points=points,
            size=live_side(points),
            to_play=jnp.asarray(to_play, jnp.int8),
            legal=jnp.append(free.reshape(-1) & ~over, over),
            terminated=over,
            outcome=-outcome if misere else outcome,
            move_count=jnp.asarray(move_count, jnp.int32),
            aux=(),
        )

    def heuristic(state: GameState, player: Array | int) -> Array:
        lead = rows(state.board == 1, 2) - rows(state.board == -1, 2)
        return jnp.asarray(player, jnp.float32) * (-lead if misere else lead)

    return Game(
        name="rows",
        max_size=max_size,
        min_size=max(length, 2),
        max_moves=max_size * max_size,
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
        symmetries=tuple(range(8)),
        stones_on="squares",
    )


def rows(stones: Array, length: int) -> Array:
    """float32[]: how many straight rows of `length` there are."""
    count = jnp.float32(0)
    for direction in DIRECTIONS:
        steps = [stones]
        for _ in range(length - 1):
            steps.append(shift(steps[-1], direction, fill=False))
        count += functools.reduce(jnp.logical_and, steps).sum()
    return count
