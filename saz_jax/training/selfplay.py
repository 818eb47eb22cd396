"""Self-play as one compiled program: `vmap` over games, `scan` over moves, every board side in one batch."""

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from saz_jax.config import SearchConfig, SelfPlayConfig
from saz_jax.games.board import random_move, where_states
from saz_jax.search.tree_search import make_search
from saz_jax.training.devices import AXIS
from saz_jax.types import Array, EvaluateFn, Game, GameState, SearchFn, Variables


class Moves(NamedTuple):
    """T moves of B games side by side; every field starts with [T, B]."""

    board: Array
    """int8[T, B, N, N]: before the move."""
    size: Array
    to_play: Array
    legal: Array
    policy: Array
    """float32[T, B, V]: the search's policy."""
    searched: Array
    """bool[T, B]: whether that search was a full one."""
    surprise: Array
    """float32[T, B]: how far that policy is from what the network said."""
    ended: Array
    """bool[T, B]: this move ended the game, and the next one is the first of a new game."""
    outcome: Array
    """float32[T, B]: seen by dark, where the game ended."""


PlayFn = Callable[[Variables, Array, GameState], tuple[GameState, Moves]]
"""(variables, key, states[B]) -> (states[B], Moves): some moves of every game."""


def size_weights(count: int, favour: str) -> np.ndarray:
    """float32[count]: how often a new game takes each of `count` board sides, ascending."""
    falling = np.arange(count, 0, -1, dtype=np.float32)
    weights = {"small": falling, "large": falling[::-1], "none": np.ones_like(falling)}[favour]
    return weights / weights.sum()


def make_new_games(
    game: Game, sizes: tuple[int, ...], favour: str, openings: int = 0
) -> Callable[[Array, int], GameState]:
    """(key, B) -> states[B]: new games on sides drawn from `sizes`, after 0 to `openings` random plies."""
    sides = jnp.array(sorted(sizes), jnp.int32)
    logits = jnp.log(jnp.array(size_weights(len(sizes), favour)))

    def new_games(key: Array, count: int) -> GameState:
        states = jax.vmap(game.init)(sides[jax.random.categorical(key, logits, shape=(count,))])
        if not openings:
            return states
        length_key, *ply_keys = jax.random.split(jax.random.fold_in(key, 0), openings + 1)
        lengths = jax.random.randint(length_key, (count,), 0, openings + 1)

        def ply(states: GameState, step: tuple[Array, Array]) -> tuple[GameState, None]:
            number, key = step
            after = jax.vmap(game.step)(states, random_move(key, states.legal))
            # A ply that would end the game is not played.
            return where_states((number < lengths) & ~after.terminated, after, states), None

        return jax.lax.scan(ply, states, (jnp.arange(openings), jnp.stack(ply_keys)))[0]

    return new_games


def make_play(
    game: Game,
    evaluate: EvaluateFn,
    search: SearchConfig,
    config: SelfPlayConfig,
    sizes: tuple[int, ...],
    moves: int,
    mesh: Mesh,
) -> PlayFn:
    """`moves` moves of every game on every device of `mesh`; each device plays its share by itself."""
    fast = dataclasses.replace(search, simulations=config.fast_simulations)
    full_search, fast_search = (_deciding(make_search(game, evaluate, kind)) for kind in (search, fast))
    new_games = make_new_games(game, sizes, config.favour, config.openings)

    def play(variables: Variables, key: Array, states: GameState) -> tuple[GameState, Moves]:
        def move(states: GameState, key: Array) -> tuple[GameState, Moves]:
            coin_key, search_key, size_key = jax.random.split(key, 3)
            temperature = jnp.where(states.move_count < config.temperature_moves, 1.0, 0.0)
            if config.full_share < 1:
                searched = jax.random.bernoulli(coin_key, config.full_share)
                choose = functools.partial(jax.lax.cond, searched, full_search, fast_search)
            else:
                searched, choose = jnp.array(True), full_search
            action, policy, surprise = choose(variables, search_key, states, temperature)
            if config.slips:
                action = _slip(jax.random.fold_in(key, 3), action, states.legal, config.slips)
            after = jax.vmap(game.step)(states, action)
            record = Moves(
                board=states.board,
                size=states.size,
                to_play=states.to_play,
                legal=states.legal,
                policy=policy,
                searched=jnp.broadcast_to(searched, after.terminated.shape),
                surprise=surprise,
                ended=after.terminated,
                outcome=after.outcome,
            )
            fresh = new_games(size_key, after.size.shape[0])
            return where_states(after.terminated, fresh, after), record

        key = jax.random.fold_in(key, jax.lax.axis_index(AXIS))
        return jax.lax.scan(move, states, jax.random.split(key, moves))

    lanes, record = PartitionSpec(AXIS), PartitionSpec(None, AXIS)
    copied = PartitionSpec()
    return jax.jit(
        jax.shard_map(
            play, mesh=mesh, in_specs=(copied, copied, lanes), out_specs=(lanes, record), check_vma=False
        )
    )


def _deciding(search: SearchFn) -> Callable[..., tuple[Array, Array, Array]]:
    """The search without the details whose shapes depend on its number of simulations."""

    def decide(variables: Variables, key: Array, states: GameState, temperature: Array):
        found = search(variables, key, states, temperature)
        return found.action, found.policy, found.surprise

    return decide


def _slip(key: Array, action: Array, legal: Array, share: float) -> Array:
    """int32[B]: `action`, but in about `share` of the games a legal move at random."""
    coin_key, move_key = jax.random.split(key)
    slipped = jax.random.bernoulli(coin_key, share, action.shape)
    return jnp.where(slipped, random_move(move_key, legal), action)
