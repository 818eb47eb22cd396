"""Many games between two players, batched on device: no search where a game is over or the other side moves.

2W lanes are played side by side.  In the first W the player is to move, in the last W its opponent;
after every ply the halves change places, since the side to move alternates.  A lane whose game is over
takes the next waiting game, and when none waits, the lanes are halved as games end.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial

from saz_jax.arena.engines import HostPlayer
from saz_jax.games.board import where_states
from saz_jax.search.memory import TooLargeError
from saz_jax.types import Array, Game, GameState, Player

MAX_LANES = 32
"""Default upper bound on W, the batch size of a player's moves."""
MIN_LANES = 4
"""Lanes are not halved below this W: compiling again would cost more than it saves."""
PLIES_PER_CALL = 8
"""Plies per compiled call; progress is reported in between, and the results do not depend on it."""
ALMOST = 0.9
"""Upper bound on the fraction counted for an unfinished game."""

GamesPlayed: TypeAlias = Callable[[float], None]
"""Progress callback: the number of games played, unfinished ones counted in part."""


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
    """int32[2]: positions put to the player and to its opponent, idle lanes included."""
    points: np.ndarray
    """bool[G, N, N]: the points of each board."""


class Lanes(NamedTuple):
    """2W games in progress: the player is to move in the first half, its opponent in the last."""

    states: GameState
    game: Array
    """int32[2W]: number of the game in each lane; G if the lane is free."""


class Ledger(NamedTuple):
    """The results of the G games so far, and what the players did."""

    waiting: Array
    """bool[G]: not yet begun."""
    outcomes: Array
    """float32[G]"""
    actions: Array
    """int32[G, T]"""
    asked: Array
    """int32[2]: see `Records`."""
    illegal: Array
    """bool[2]: whether the player or its opponent chose an illegal action."""
    ply: Array
    """int32[]: rounds played so far; numbers their keys."""


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
    progress: GamesPlayed | None = None,
) -> Records:
    """Plays G games from `starts[G]` to their ends; in game g the player has `colours[g]`.

    `opening: int32[G, T]`, if given, are the actions that led to the starts; they open the records.
    `lanes` is W.
    """
    check_lanes(lanes)
    count = len(colours)
    width = default_lanes(count) if lanes is None else min(lanes, count)
    players = (_as_partial(player), _as_partial(opponent))
    sides = jnp.asarray(np.stack([colours, -colours]).astype(np.int8))
    table, ledger = _open(game, starts, opening, width)
    played = 0.0
    while True:
        table, ledger = _play_plies(game, players, starts, sides, table, ledger, key)
        for name, illegal in zip(("player", "opponent"), np.asarray(ledger.illegal), strict=True):
            if illegal:
                raise ValueError(f"the {name} chose an illegal action; choose where states.legal is True")
        waiting, busy = int(np.sum(ledger.waiting)), _busy(np.asarray(table.game), count)
        if progress is not None:
            played = max(played, _games_played(table, ledger, np.asarray(starts.points.sum((1, 2)))))
            progress(played)
        if not waiting and not busy.any():
            break
        while not waiting and busy.max() <= _narrower(width):
            width = _narrower(width)
            table = _narrow(table, width)
    outcomes, actions, asked = jax.device_get((ledger.outcomes, ledger.actions, ledger.asked))
    sizes, points = np.asarray(starts.size), np.asarray(starts.points)
    return Records(outcomes, np.asarray(colours), sizes, actions, asked, points)


def check_lanes(lanes: int | None) -> None:
    """Refuse a number of lanes on which nothing can be played."""
    if lanes is not None and lanes < 1:
        raise ValueError(f"lanes={lanes} leaves no board to play on; use 1 or more")


def fitting_lanes(game: Game, players: Iterable[Player], games: int, lanes: int | None) -> int:
    """W for `lanes`; if None, the default or, where the players' trees do not fit into memory, as many as do.

    `ValueError` if the lanes asked for do not fit, or not even one does; the players are only traced.
    """
    width = default_lanes(games) if lanes is None else min(lanes, games)
    for player in (one for one in players if not isinstance(one, HostPlayer)):
        while (fitting := _fitting(game, player, width, lanes)) < width:
            width = fitting
    return width


def lowered(size: int | str, games: int, lanes: int, asked: int | None) -> list[str]:
    """A line that says so if memory allowed fewer lanes than usual on a board of that side or shape."""
    if asked is not None or lanes >= default_lanes(games):
        return []
    board, usual = f"shape {size}" if isinstance(size, str) else f"side {size}", default_lanes(games)
    return [f"{board}: {lanes} positions at a time instead of {usual}, for lack of memory (--lanes)"]


def _fitting(game: Game, player: Player, width: int, lanes: int | None) -> int:
    """`width`, or the smaller batch whose search trees fit into memory."""
    states = jax.eval_shape(jax.vmap(game.init), jax.ShapeDtypeStruct((width,), jnp.int32))
    try:
        jax.eval_shape(player, jax.random.key(0), states)
    except TooLargeError as error:
        if lanes is not None:
            raise ValueError(f"lanes={lanes} are too many: {error}") from error
        if width == 1:
            raise
        return max(error.fitting, 1)
    return width


def default_lanes(games: int) -> int:
    """The largest W up to `MAX_LANES` for which games of equal length come in waves of equal size."""
    per_half = -(-games // 2)
    waves = -(-per_half // MAX_LANES)
    return -(-per_half // waves)


def _games_played(lanes: Lanes, ledger: Ledger, points: np.ndarray) -> float:
    """Finished games, plus the estimated finished fraction of the others.

    Their length is guessed: all moves for each game that is over, but no more than the board has points.  The
    mean length of those that are over would be too small, because short games end first.
    """
    moves = (np.asarray(ledger.actions) >= 0).sum(axis=1)
    game = np.asarray(lanes.game)
    under_way = game[game < len(moves)]
    over = ~np.asarray(ledger.waiting)
    over[under_way] = False
    length = points[under_way]
    if over.any():
        length = np.clip((moves[over].sum() + moves[under_way].sum()) / over.sum(), 1, length)
    return float(over.sum() + np.minimum(moves[under_way] / length, ALMOST).sum())


def _narrower(width: int) -> int:
    """The largest power of two up to W / 2; 0 if that is below `MIN_LANES`."""
    narrower = 1 << max(width // 2, 1).bit_length() - 1
    return narrower if narrower >= MIN_LANES else 0


def _as_partial(player: Player) -> Partial:
    return player if isinstance(player, Partial) else Partial(player)


@functools.partial(jax.jit, static_argnames=("game", "width"))
def _open(game: Game, starts: GameState, opening: Array | None, width: int) -> tuple[Lanes, Ledger]:
    """Free lanes, with some position in each so that a player can be asked, and an empty ledger."""
    count = len(starts.size)
    some = jnp.arange(2 * width) % count
    actions = jnp.full((count, game.max_moves), -1, jnp.int32)
    if opening is not None:
        actions = actions.at[:, : opening.shape[1]].set(opening)
    ledger = Ledger(
        waiting=jnp.ones(count, bool),
        outcomes=jnp.zeros(count),
        actions=actions,
        asked=jnp.zeros(2, jnp.int32),
        illegal=jnp.zeros(2, bool),
        ply=jnp.int32(0),
    )
    return Lanes(jax.tree.map(lambda x: x[some], starts), jnp.full(2 * width, count, jnp.int32)), ledger


def _busy(game: Any, count: int) -> Any:
    """int[2]: lanes in use in each half, given `Lanes.game` on device or as numpy."""
    return (game.reshape(2, -1) < count).sum(axis=1)


@functools.partial(jax.jit, static_argnames="width")
def _narrow(lanes: Lanes, width: int) -> Lanes:
    """The same games in fewer lanes."""
    first, last = jnp.split(lanes.game, 2)  # free lanes hold the largest number, so they come last
    kept = jnp.concatenate([jnp.argsort(first)[:width], len(first) + jnp.argsort(last)[:width]])
    return jax.tree.map(lambda x: x[kept], lanes)


@functools.partial(jax.jit, static_argnames="game")
def _play_plies(
    game: Game,
    players: tuple[Partial, Partial],
    starts: GameState,
    sides: Array,
    lanes: Lanes,
    ledger: Ledger,
    key: Array,
) -> tuple[Lanes, Ledger]:
    """Plays a few plies; fewer if a player errs, all games are over or half the lanes idle for good.

    `sides: int8[2, G]` are the colours of the player and its opponent.
    """
    last_ply, width, count = ledger.ply + PLIES_PER_CALL, len(lanes.game) // 2, sides.shape[1]

    def useful(carry: tuple[Lanes, Ledger]) -> Array:
        lanes, ledger = carry
        wanted = ledger.waiting.any() | (_busy(lanes.game, count).max() > _narrower(width))
        return wanted & ~ledger.illegal.any() & (ledger.ply < last_ply)

    def ply(carry: tuple[Lanes, Ledger]) -> tuple[Lanes, Ledger]:
        lanes, ledger = carry
        fitting = ledger.waiting[None, :] & (starts.to_play[None, :] == sides)
        lanes, waiting = _refill(lanes, ledger.waiting, fitting, starts)
        asked = _busy(lanes.game, count) > 0
        keys = jax.random.split(jax.random.fold_in(key, ledger.ply))
        action = jnp.concatenate(
            [_ask(players[i], asked[i], keys[i], _half(lanes.states, i, width)) for i in (0, 1)]
        )
        lanes, ledger = _step(game, sides, lanes, ledger, action)
        return _swap(lanes, width), ledger._replace(
            waiting=waiting, asked=ledger.asked + width * asked, ply=ledger.ply + 1
        )

    return lax.while_loop(useful, ply, (lanes, ledger))


def _half(states: GameState, which: int, width: int) -> GameState:
    return jax.tree.map(lambda x: x[which * width : (which + 1) * width], states)


def _swap(lanes: Lanes, width: int) -> Lanes:
    return jax.tree.map(lambda x: jnp.roll(x, width, axis=0), lanes)


def _ask(player: Partial, needed: Array, key: Array, states: GameState) -> Array:
    """int32[W]: the player's actions, if any lane needs one."""
    idle = jnp.zeros(len(states.size), jnp.int32)
    return lax.cond(needed, lambda: player(key, states).astype(jnp.int32), lambda: idle)


def _refill(lanes: Lanes, waiting: Array, fitting: Array, starts: GameState) -> tuple[Lanes, Array]:
    """Puts waiting games into the free lanes; `fitting: bool[2, G]` says which ones suit which half."""
    count, width = len(waiting), len(lanes.game) // 2
    queues = jax.vmap(lambda fit: jnp.nonzero(fit, size=width, fill_value=count)[0])(fitting)
    free = lanes.game.reshape(2, width) == count
    nth = jnp.cumsum(free, axis=1) - 1
    taken = jnp.where(free, jnp.take_along_axis(queues, nth, axis=1), count).reshape(-1).astype(jnp.int32)
    fresh = taken < count
    begun = jax.tree.map(lambda x: x[jnp.minimum(taken, count - 1)], starts)
    refilled = Lanes(where_states(fresh, begun, lanes.states), jnp.where(fresh, taken, lanes.game))
    return refilled, waiting.at[taken].set(False, mode="drop")


def _step(game: Game, sides: Array, lanes: Lanes, ledger: Ledger, action: Array) -> tuple[Lanes, Ledger]:
    """Plays `action: int32[2W]`, writes it down and closes the games that are over."""
    count, width = sides.shape[1], len(action) // 2
    busy, before = lanes.game < count, lanes.states
    mover = jnp.repeat(jnp.arange(2), width)
    # Where the side to move did not alternate, the lane waits one ply for the right half.
    moving = busy & ~before.terminated & (before.to_play == sides[mover, jnp.minimum(lanes.game, count - 1)])
    chosen = jax.nn.one_hot(action, game.num_actions, dtype=bool)  # nothing, if the action is out of range
    illegal = moving & ~(chosen & before.legal).any(axis=1)
    states = where_states(moving, jax.vmap(game.step)(before, action), before)
    over = busy & states.terminated

    written = jnp.where(moving, lanes.game, count)  # out of range: dropped
    closed = jnp.where(over, lanes.game, count)
    ledger = ledger._replace(
        outcomes=ledger.outcomes.at[closed].set(states.outcome, mode="drop"),
        actions=ledger.actions.at[written, before.move_count].set(action, mode="drop"),
        illegal=illegal.reshape(2, width).any(axis=1),
    )
    return Lanes(states, jnp.where(over, count, lanes.game)), ledger
