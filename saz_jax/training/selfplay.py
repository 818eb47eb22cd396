"""Self-play as one compiled program: `vmap` over games, `scan` over moves, every board in one batch."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from saz_jax.config import SearchConfig, SelfPlayConfig
from saz_jax.games.board import random_move, where_states
from saz_jax.games.shapes import Boards, draw_boards, make_boards
from saz_jax.graphs.topology import observe
from saz_jax.search.tree_search import make_search
from saz_jax.training.devices import AXIS
from saz_jax.types import Array, EvaluateFn, Game, GameState, Observation, Variables


class Moves(NamedTuple):
    """T moves of B games side by side; every field starts with [T, B]."""

    observation: Observation
    """What the player to move saw."""
    policy: Array
    """float32[T, B, A]: the search's policy."""
    surprise: Array
    """float32[T, B]: how far that policy is from what the network said."""
    ended: Array
    """bool[T, B]: this move ended the game, and the next one is the first of a new game."""
    outcome: Array
    """float32[T, B]: seen by dark, where the game ended."""
    ownership: Array | None = None
    """float32[T, B, N, N]: seen by dark, where the game ended; None if the network has no such head."""


PlayFn = Callable[..., tuple[GameState, Moves]]
"""(variables, key, states[B], earlier=None) -> (states[B], Moves): some moves of every game.

earlier: the weights of an earlier self, if `earlier_share` asks for one."""


def size_weights(count: int, favour: str) -> np.ndarray:
    """float32[count]: how often a new game takes each of `count` boards, the smallest first."""
    falling = np.arange(count, 0, -1, dtype=np.float32)
    weights = {"small": falling, "large": falling[::-1], "none": np.ones_like(falling)}[favour]
    return weights / weights.sum()


def make_new_games(
    game: Game, shapes: Sequence[int | str], config: SelfPlayConfig
) -> Callable[[Array, int], GameState]:
    """(key, B) -> states[B]: new games on boards of `shapes`, after 0 to `max_opening_moves` random plies.

    Shapes are sides of squares and texts, random holes are drawn anew for each game.  A shape is drawn by its
    weight or, without `size_weights`, as `favour` says by its number of points.
    """
    max_opening_moves, weights = config.max_opening_moves, config.size_weights
    boards = make_boards(shapes, game.max_size)
    order = np.argsort(boards.points.sum((1, 2)), kind="stable")
    shares = np.array(weights)[order] if weights else np.array(size_weights(len(order), config.favour))
    boards = Boards(boards.points[order], boards.shares[order])
    logits = jnp.log(jnp.asarray(shares, jnp.float32))

    def new_games(key: Array, count: int) -> GameState:
        which = jax.random.categorical(key, logits, shape=(count,))
        states = jax.vmap(game.init)(draw_boards(game, jax.random.fold_in(key, 1), boards, which))
        if config.margin_noise and states.margin is not None:
            noise = jax.random.normal(jax.random.fold_in(key, 2), (count,))
            states = states._replace(margin=states.margin + jnp.round(config.margin_noise * noise))
        if not max_opening_moves:
            return states
        length_key, *ply_keys = jax.random.split(jax.random.fold_in(key, 0), max_opening_moves + 1)
        lengths = jax.random.randint(length_key, (count,), 0, max_opening_moves + 1)

        def ply(states: GameState, step: tuple[Array, Array]) -> tuple[GameState, None]:
            number, key = step
            after = jax.vmap(game.step)(states, random_move(key, states.legal))
            # A ply that would end the game is not played.
            return where_states((number < lengths) & ~after.terminated, after, states), None

        return jax.lax.scan(ply, states, (jnp.arange(max_opening_moves), jnp.stack(ply_keys)))[0]

    return new_games


def make_play(
    game: Game,
    evaluate: EvaluateFn,
    search: SearchConfig,
    config: SelfPlayConfig,
    shapes: Sequence[int | str],
    moves: int,
    mesh: Mesh,
    ownership: bool = False,
) -> PlayFn:
    """`moves` moves of every game on every device of `mesh`; each device plays its share by itself.

    `ownership`: record it where games end.
    """
    decide = make_search(game, evaluate, search)
    new_games = make_new_games(game, shapes, config)
    owned = jax.vmap(game.ownership) if ownership and game.ownership else None

    def play(
        variables: Variables, key: Array, states: GameState, earlier: Variables
    ) -> tuple[GameState, Moves]:
        def move(states: GameState, key: Array) -> tuple[GameState, Moves]:
            # The first of the three keys is spare: the shipped players were trained on the other two.
            _, search_key, size_key = jax.random.split(key, 3)
            temperature = jnp.where(states.move_count < config.temperature_moves, 1.0, 0.0)
            found = decide(variables, search_key, states, temperature)
            action = found.action
            if config.earlier_share:
                others = math.ceil(config.earlier_share * len(action))
                theirs = jax.tree.map(lambda x: x[:others], states)
                answer = decide(earlier, jax.random.fold_in(key, 4), theirs, temperature[:others]).action
                # It has dark in every second of these games.
                dark = jnp.arange(others) % 2 == 0
                its_turn = theirs.to_play == jnp.where(dark, 1, -1)
                action = action.at[:others].set(jnp.where(its_turn, answer, action[:others]))
            if config.random_move_share:
                error_key = jax.random.fold_in(key, 3)
                action = _sometimes_random(error_key, action, states.legal, config.random_move_share)
            after = jax.vmap(game.step)(states, action)
            record = Moves(
                observation=observe(states),
                policy=found.policy,
                surprise=found.surprise,
                ended=after.terminated,
                outcome=after.outcome,
                ownership=None if owned is None else owned(after),
            )
            fresh = new_games(size_key, after.size.shape[0])
            if config.fork_share:
                fresh = _sometimes_forked(jax.random.fold_in(key, 5), game, fresh, states, config.fork_share)
            return where_states(after.terminated, fresh, after), record

        key = jax.random.fold_in(key, jax.lax.axis_index(AXIS))
        return jax.lax.scan(move, states, jax.random.split(key, moves))

    lanes, record = PartitionSpec(AXIS), PartitionSpec(None, AXIS)
    copied = PartitionSpec()
    specs = {"in_specs": (copied, copied, lanes, copied), "out_specs": (lanes, record)}
    on_every_device = jax.shard_map(play, mesh=mesh, **specs, check_vma=False)
    return jax.jit(
        lambda variables, key, states, earlier=None: on_every_device(variables, key, states, earlier)
    )


def _sometimes_random(key: Array, action: Array, legal: Array, share: float) -> Array:
    """int32[B]: `action`, but in about `share` of the games a legal move at random."""
    coin_key, move_key = jax.random.split(key)
    replaced = jax.random.bernoulli(coin_key, share, action.shape)
    return jnp.where(replaced, random_move(move_key, legal), action)


def _sometimes_forked(key: Array, game: Game, fresh: GameState, states: GameState, share: float) -> GameState:
    """New games [B], about `share` of which are instead what a random move makes of one of `states` [B]."""
    coin_key, origin_key, move_key = jax.random.split(key, 3)
    count = len(states.size)
    origin = jax.random.randint(origin_key, (count,), 0, count)
    begun = jax.tree.map(lambda x: x[origin], states)
    after = jax.vmap(game.step)(begun, random_move(move_key, begun.legal))
    # A move that would end the game is not played.
    forked = jax.random.bernoulli(coin_key, share, (count,)) & ~after.terminated
    return where_states(forked, after, fresh)
