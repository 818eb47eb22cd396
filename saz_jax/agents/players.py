"""The reference opponents of Sec. 4: random and greedy, for every game and board side.

Equal arguments give the same player, so that its compiled program is reused.
"""

import functools

import jax
import jax.numpy as jnp

from saz_jax.games.board import for_every_move, random_move
from saz_jax.types import Array, Game, GameState, Player


@functools.cache
def random_player() -> Player:
    """Plays every legal move with the same probability."""

    def play(key: Array, states: GameState) -> Array:
        return random_move(key, states.legal)

    return play


@functools.cache
def greedy_player(game: Game) -> Player:
    """Plays the move with the best heuristic score right after it, seen by the mover; the key breaks ties.

    The score is the game's own (App. "Greedy players heuristics"), also where the move ends the game.
    """

    def best(state: GameState) -> Array:
        def score(action: Array) -> Array:
            return game.heuristic(game.step(state, action), state.to_play)

        scores = jnp.where(state.legal, for_every_move(score, game.num_actions), -jnp.inf)
        return scores == scores.max()

    def play(key: Array, states: GameState) -> Array:
        # One game at a time: all successors of a whole batch would not fit into memory on large boards.
        if states.board.ndim == 2:
            return random_move(key, best(states))
        return random_move(key, jax.lax.map(best, states))

    return play
