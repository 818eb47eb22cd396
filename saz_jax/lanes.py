"""Many games between two players, batched on device: nobody searches where a game is over or not its turn.

Two groups of W lanes are played side by side.  In one group the player is to move, in the other its
opponent; after every ply the groups change places, since the side to move alternates.  A lane whose
game is over takes the next waiting game, and when none waits, the lanes are halved as games end.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial

from saz_jax.types import Array, Game, GameState, Player

MAX_LANES = 32
"""Lanes of a group unless told otherwise: twice as many games are in progress at a time."""
PLIES_PER_CALL = 8
"""Plies between two looks of the host at the games: for progress, without effect on the results."""

Progress = Callable[[int], None]
"""Called with the number of finished games."""


class Records(NamedTuple):
    """G finished games as numpy arrays."""

    outcomes: np.ndarray
    """float32[G]: seen by dark, +1 win, 0 tie, -1 loss."""
    colours: np.ndarray
    """int8[G]: the player's colour, +1 dark, -1 light."""
    sizes: np.ndarray
    """int32[G]: live sides."""
    actions: np.ndarray
    """int32[G, T]: the moves in padded coordinates, opening included; -1 after the end."""
    asked: np.ndarray
    """int32[2]: positions that the player and its opponent were asked to move in, idle lanes included."""


class Lanes(NamedTuple):
    """W games in progress."""

    states: GameState
    game: Array
    """int32[W]: number of the game in each lane; G if the lane is free."""


class Ledger(NamedTuple):
    """What is known of each of the G games, and what the players did."""

    waiting: Array
    """bool[G]: not yet begun."""
    outcomes: Array
    """float32[G]"""
    actions: Array
    """int32[G, T]"""
    asked: Array
    """int32[2]"""
    illegal: Array
    """bool[2]: whether the player or its opponent chose an illegal action."""


class Floor(NamedTuple):
    """All that changes while games are played."""

    player: Lanes
    """Here the player is to move."""
    opponent: Lanes
    """Here its opponent is to move."""
    ledger: Ledger
    ply: Array
    """int32[]: counts the rounds of the whole floor; numbers their keys."""


def play_games(
    game: Game,
    player: Player,
    opponent: Player,
    key: Array,
    starts: GameState,
    colours: np.ndarray,
    opening: Array | None = None,
    *,
    lanes: int | None = None,
    progress: Progress | None = None,
) -> Records:
    """Plays G games from `starts[G]` to their ends; in game g the player has `colours[g]`.

    `opening: int32[G, T]`, if given, are the actions that led to the starts; they open the records.
    """
    count = len(colours)
    width = _lanes_for(count) if lanes is None else min(lanes, count)
    if width < 1:
        raise ValueError(f"lanes={lanes} leaves no board to play on; use 1 or more")
    players = (_as_partial(player), _as_partial(opponent))
    colours_on_device = jnp.asarray(colours, jnp.int8)
    floor = _open_floor(game, starts, opening, width)
    while True:
        floor = _play_plies(game, players, starts, colours_on_device, floor, key)
        for name, illegal in zip(("player", "opponent"), np.asarray(floor.ledger.illegal), strict=True):
            if illegal:
                raise ValueError(f"the {name} chose an illegal action; choose where states.legal is True")
        waiting, busy = int(floor.ledger.waiting.sum()), _busy(floor)
        if progress is not None:
            progress(count - waiting - int(busy.sum()))
        if not waiting and not busy.any():
            break
        if not waiting and busy.max() <= width // 2:
            width = 1 << int(busy.max() - 1).bit_length()
            floor = _narrow(floor, width)
    ledger = jax.device_get(floor.ledger)
    return Records(
        ledger.outcomes, np.asarray(colours), np.asarray(starts.size), ledger.actions, ledger.asked
    )


def _lanes_for(games: int) -> int:
    """The widest group up to `MAX_LANES` such that games of equal length come in waves of equal size."""
    per_group = (games + 1) // 2
    waves = -(-per_group // MAX_LANES)
    return -(-per_group // waves)


def _as_partial(player: Player) -> Partial:
    return player if isinstance(player, Partial) else Partial(player)


def _open_floor(game: Game, starts: GameState, opening: Array | None, width: int) -> Floor:
    count = len(starts.size)
    actions = jnp.full((count, game.max_moves), -1, jnp.int32)
    if opening is not None:
        actions = actions.at[:, : opening.shape[1]].set(opening)
    free = Lanes(
        jax.tree.map(lambda x: x[jnp.arange(width) % count], starts), jnp.full(width, count, jnp.int32)
    )
    ledger = Ledger(
        waiting=jnp.ones(count, bool),
        outcomes=jnp.zeros(count),
        actions=actions,
        asked=jnp.zeros(2, jnp.int32),
        illegal=jnp.zeros(2, bool),
    )
    return Floor(free, free, ledger, jnp.int32(0))


def _busy(floor: Floor) -> Array:
    """int32[2]: lanes in use, of each group."""
    count = len(floor.ledger.waiting)
    return jnp.stack([jnp.sum(floor.player.game < count), jnp.sum(floor.opponent.game < count)])


def _narrow(floor: Floor, width: int) -> Floor:
    """The same games in `width` lanes for each group."""

    def busy_first(lanes: Lanes) -> Lanes:
        order = jnp.argsort(lanes.game)[:width]  # free lanes hold the largest number
        return jax.tree.map(lambda x: x[order], lanes)

    return floor._replace(player=busy_first(floor.player), opponent=busy_first(floor.opponent))


@functools.partial(jax.jit, static_argnames="game")
def _play_plies(
    game: Game, players: tuple[Partial, Partial], starts: GameState, colours: Array, floor: Floor, key: Array
) -> Floor:
    """Plays a few plies; fewer if a player errs, all games are over or half the lanes idle for good."""
    first_ply, width = floor.ply, len(floor.player.game)

    def useful(floor: Floor) -> Array:
        waiting, busy = floor.ledger.waiting.any(), _busy(floor).max()
        enough = jnp.where(width > 1, busy > width // 2, busy > 0)
        return (waiting | enough) & ~floor.ledger.illegal.any() & (floor.ply < first_ply + PLIES_PER_CALL)

    def ply(floor: Floor) -> Floor:
        player_key, opponent_key = jax.random.split(jax.random.fold_in(key, floor.ply))
        moved, ledger = _turn(game, players, 0, starts, colours, floor.player, floor.ledger, player_key)
        answered, ledger = _turn(game, players, 1, starts, colours, floor.opponent, ledger, opponent_key)
        return Floor(player=answered, opponent=moved, ledger=ledger, ply=floor.ply + 1)

    return lax.while_loop(useful, ply, floor)


def _turn(
    game: Game,
    players: tuple[Partial, Partial],
    who: int,
    starts: GameState,
    colours: Array,
    lanes: Lanes,
    ledger: Ledger,
    key: Array,
) -> tuple[Lanes, Ledger]:
    """Fills free lanes with games in which it is the turn of `players[who]`, and lets it move."""
    count, width = len(colours), len(lanes.game)
    side = colours if who == 0 else -colours
    lanes, waiting = _refill(lanes, ledger.waiting, ledger.waiting & (starts.to_play == side), starts)
    states, busy = lanes.states, lanes.game < count

    idle = jnp.zeros(width, jnp.int32)
    action = lax.cond(busy.any(), lambda: players[who](key, states).astype(jnp.int32), lambda: idle)
    # A game in which the side to move did not change waits for a ply, until the right player comes by.
    moving = busy & ~states.terminated & (states.to_play == side[jnp.minimum(lanes.game, count - 1)])
    illegal = moving & ~jnp.take_along_axis(states.legal, action[:, None], axis=1)[:, 0]
    states = _where(moving, jax.vmap(game.step)(states, action), states)
    over = busy & states.terminated

    ledger = Ledger(
        waiting=waiting,
        outcomes=ledger.outcomes.at[jnp.where(over, lanes.game, count)].set(states.outcome, mode="drop"),
        actions=ledger.actions.at[jnp.where(moving, lanes.game, count), lanes.states.move_count].set(
            action, mode="drop"
        ),
        asked=ledger.asked.at[who].add(jnp.where(busy.any(), width, 0)),
        illegal=ledger.illegal.at[who].set(illegal.any()),
    )
    return Lanes(states, jnp.where(over, count, lanes.game)), ledger


def _refill(lanes: Lanes, waiting: Array, fitting: Array, starts: GameState) -> tuple[Lanes, Array]:
    """Puts the first fitting games into the free lanes."""
    count, width = len(waiting), len(lanes.game)
    free = lanes.game == count
    queue = jnp.nonzero(fitting, size=width, fill_value=count)[0].astype(jnp.int32)
    taken = jnp.where(free, queue[jnp.cumsum(free) - 1], count)
    fresh = taken < count
    begun = jax.tree.map(lambda x: x[jnp.minimum(taken, count - 1)], starts)
    refilled = Lanes(_where(fresh, begun, lanes.states), jnp.where(fresh, taken, lanes.game))
    return refilled, waiting.at[taken].set(False, mode="drop")


def _where(mask: Array, new: GameState, old: GameState) -> GameState:
    """`new` in the lanes of the mask, `old` in the others."""
    return jax.tree.map(
        lambda a, b: jnp.where(mask.reshape(mask.shape + (1,) * (a.ndim - 1)), a, b), new, old
    )
