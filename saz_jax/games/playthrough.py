"""Whole games move by move, drawn at random or replayed from a record; arrays come back as numpy."""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games.board import random_move
from saz_jax.types import Array, Game, GameState


def random_games(
    game: Game, shapes: Sequence[int] | np.ndarray, seed: int, length: int
) -> tuple[GameState, np.ndarray]:
    """(states[T + 1, B] without aux, actions[T, B]) of B random games, T = length actions each.

    shapes: int[B], sides of squares, or bool[B, N, N], masks of points.
    """
    starts = jax.vmap(game.init)(jnp.asarray(shapes))
    states, actions = _random_games(game, length, starts, jax.random.key(seed))
    return jax.tree.map(_join, starts._replace(aux=()), states), np.asarray(actions)


def replay_games(game: Game, starts: GameState, actions: np.ndarray) -> GameState:
    """states[T + 1, B] without aux: `starts[B]` and what follows from actions[T, B]."""
    return jax.tree.map(_join, starts._replace(aux=()), _replay(game, starts, actions))


def _join(first: Array, rest: Array) -> np.ndarray:
    return np.concatenate([np.asarray(first)[None], np.asarray(rest)])


@functools.partial(jax.jit, static_argnums=(0, 1))
def _random_games(game: Game, length: int, starts: GameState, key: Array) -> tuple[GameState, Array]:
    step = jax.vmap(game.step)

    def move(states: GameState, key: Array) -> tuple[GameState, tuple[GameState, Array]]:
        actions = random_move(key, states.legal)
        states = step(states, actions)
        return states, (states._replace(aux=()), actions)

    return jax.lax.scan(move, starts, jax.random.split(key, length))[1]


@functools.partial(jax.jit, static_argnums=0)
def _replay(game: Game, starts: GameState, actions: Array) -> GameState:
    def move(states: GameState, action: Array) -> tuple[GameState, GameState]:
        states = jax.vmap(game.step)(states, action)
        return states, states._replace(aux=())

    return jax.lax.scan(move, starts, actions)[1]
