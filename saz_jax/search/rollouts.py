"""Tree search without a network: all moves equally likely, a position worth the end of a random game."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from saz_jax.config import SearchConfig
from saz_jax.games.board import random_move
from saz_jax.search.tree_search import make_search
from saz_jax.types import Array, EvaluateFn, Evaluation, Game, GameState, Player, Variables


def make_rollout_evaluate(game: Game) -> EvaluateFn:
    """A uniform prior, and the outcome of one game that random moves play to its end; ignores variables."""

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        illegal = jnp.finfo(jnp.float32).min
        final = random_playout(game, key, states)
        return Evaluation(jnp.where(states.legal, 0.0, illegal), final.outcome * states.to_play)

    return evaluate


def random_playout(game: Game, key: Array, states: GameState) -> GameState:
    """B positions played on with uniformly random legal moves until all games are over."""

    def move(carry: tuple[Array, GameState]) -> tuple[Array, GameState]:
        key, states = carry
        key, move_key = jax.random.split(key)
        action = random_move(move_key, states.legal)
        return key, jax.vmap(game.step)(states, action)

    return lax.while_loop(lambda carry: ~carry[1].terminated.all(), move, (key, states))[1]


@functools.cache
def rollout_player(game: Game, simulations: int) -> Player:
    """Plays the move that PUCT with random playouts visited most; equal arguments share one compilation."""
    search = make_search(game, make_rollout_evaluate(game), SearchConfig(simulations=simulations))

    def play(key: Array, states: GameState) -> Array:
        if states.board.ndim == 2:
            return search((), key, jax.tree.map(lambda x: jnp.asarray(x)[None], states), 0.0).action[0]
        return search((), key, states, 0.0).action

    return play
