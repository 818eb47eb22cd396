"""A game for the tests of the arena: compiled in no time, of known length, and won by whoever names more."""

import functools

import jax.numpy as jnp

from saz_jax.games.board import live_points, live_side
from saz_jax.types import Array, Game, GameState


@functools.cache
def make_race(max_size: int = 6, alternate: bool = True) -> Game:
    """On board side n a game lasts n actions; the larger sum of action numbers wins.

    Without `alternate` each side takes two actions in a row, as in games where a side passes without a move.
    """
    nodes = max_size * max_size + 1

    def position(points: Array, move_count: Array, score: Array) -> GameState:
        size = live_side(points)
        over = move_count >= size
        turn = move_count if alternate else move_count // 2
        legal = jnp.ones(nodes, bool)
        return GameState(
            board=jnp.zeros((max_size, max_size), jnp.int8),
            points=points,
            size=size,
            to_play=jnp.where(turn % 2 == 0, 1, -1).astype(jnp.int8),
            legal=jnp.where(over, jnp.arange(nodes) == nodes - 1, legal.at[-1].set(False)),
            terminated=over,
            outcome=jnp.where(over, jnp.sign(score), 0).astype(jnp.float32),
            move_count=move_count,
            aux=score,
        )

    def init(shape) -> GameState:
        return position(live_points(shape, max_size), jnp.int32(0), jnp.int32(0))

    def step(state: GameState, action) -> GameState:
        moved = ~state.terminated & state.legal[action]
        score = state.aux + jnp.where(moved, state.to_play * action, 0)
        return position(state.points, state.move_count + moved, score)

    def setup(board, shape, to_play) -> GameState:
        return init(shape)

    def heuristic(state: GameState, player) -> Array:
        return (state.aux * player).astype(jnp.float32)

    return Game("race", max_size, 1, max_size, init, step, setup, heuristic)
