"""Games with an external program, played on the host, several at a time."""

import contextlib
import functools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.arena.engines import RESIGN, Engine, EngineError, HostPlayer, Ply
from saz_jax.arena.lanes import GamesPlayed, Records, check_lanes
from saz_jax.games.notation import draw, move_name
from saz_jax.types import Array, Game, GameState, Player

MAX_LANES = 16
"""Games at a time: each has a process of its own, and the other player's moves are one batch."""


def play_games(
    game: Game,
    player: Player | HostPlayer,
    opponent: Player | HostPlayer,
    key: Array,
    starts: GameState,
    colours: np.ndarray,
    opening: Array | None = None,
    *,
    lanes: int | None = None,
    progress: GamesPlayed | None = None,
) -> Records:
    """Like `lanes.play_games`, for matches in which a player is a `HostPlayer`.

    An engine that fails ends the match with an `EngineError`; one that resigns has lost its game.
    """
    check_lanes(lanes)
    check_squares(np.asarray(starts.points))
    count = len(colours)
    width = min(lanes or MAX_LANES, MAX_LANES, count)
    tables = [_Table(game, starts, colours, opening, number) for number in range(count)]
    seats = [_Seat(one, key, width) for one in (player, opponent)]
    asked = np.zeros(2, np.int32)
    thinking = min(width, os.cpu_count() or 1)  # more at a time would only wait for each other
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(thinking) as pool:
        for seat in seats:
            stack.callback(seat.close)
        active, waiting = tables[:width], tables[width:]
        for lane, table in enumerate(active):
            table.lane = lane
        ply = 0
        while active:
            for index, seat in enumerate(seats):
                mine = [t for t in active if not t.over and t.mover == index and not t.forced]
                if mine:
                    asked[index] += len(mine)
                    seat.move(mine, ply, pool)
            for table in active:
                if not table.over and table.forced and not table.moved:
                    table.play(int(np.flatnonzero(table.legal)[0]))
                table.moved = False
            ply += 1
            for table in [t for t in active if t.over]:
                active.remove(table)
                if waiting:
                    waiting[0].lane = table.lane
                    active.append(waiting.pop(0))
            if progress is not None:
                progress(float(sum(table.over for table in tables)))
    actions = np.full((count, game.max_moves), -1, np.int32)
    for number, table in enumerate(tables):
        actions[number, : len(table.actions)] = table.actions
    outcomes = np.array([table.outcome for table in tables], np.float32)
    return Records(
        outcomes, np.asarray(colours), np.asarray(starts.size), actions, asked, np.asarray(starts.points)
    )


def check_squares(points: np.ndarray) -> None:
    """Raise `ValueError` unless all boards, bool[G, N, N], are whole squares."""
    sides = np.maximum(points.any(1).sum(1), points.any(2).sum(1))
    if (points.sum((1, 2)) != sides**2).any():
        raise ValueError(
            "programs of others know square boards only; leave --shapes out, or name other players"
        )


class _Table:
    """One game of a match."""

    def __init__(self, game: Game, starts: GameState, colours: np.ndarray, opening: Any, number: int):
        self.game, self.colour, self.lane = game, int(colours[number]), 0
        self.state: GameState = jax.tree.map(lambda x: x[number], starts)
        before = [] if opening is None else np.asarray(opening[number]).tolist()
        self.actions = [int(action) for action in before if action >= 0]
        self.resigned: int | None = None
        self.moved = False
        self.forced_at = _forced_passes(game, int(self.state.size), self.actions)
        self._look()

    def _look(self) -> None:
        state = self.state
        legal, over, to_play = jax.device_get((state.legal, state.terminated, state.to_play))
        self.legal, self.over, self.to_play = legal, bool(over), int(to_play)
        self.forced = int(legal.sum()) == 1

    @property
    def mover(self) -> int:
        """0: the player is to move, 1: its opponent."""
        return 0 if self.to_play == self.colour else 1

    @property
    def outcome(self) -> float:
        return float(-self.resigned) if self.resigned is not None else float(self.state.outcome)

    def plies(self) -> list[Ply]:
        side, skip = self.game.max_size, self.game.num_actions - 1
        return [
            Ply(1 if n % 2 == 0 else -1, None if a == skip else divmod(a, side), n in self.forced_at)
            for n, a in enumerate(self.actions)
        ]

    def play(self, action: int) -> None:
        if self.forced and action == self.game.num_actions - 1:
            self.forced_at.add(len(self.actions))
        self.state = _step(self.game)(self.state, np.int32(action))
        self.actions.append(action)
        self.moved = True
        self._look()

    def resign(self) -> None:
        self.resigned, self.over, self.moved = self.to_play, True, True


class _Seat:
    """A side of the match: a function of positions, or a process for each lane."""

    def __init__(self, player: Player | HostPlayer, key: Array, width: int):
        self._player, self._key, self._width = player, key, width
        self._engines: dict[int, Engine] = {}
        self._play = None if isinstance(player, HostPlayer) else jax.jit(lambda player, *x: player(*x))

    def move(self, tables: Sequence[_Table], ply: int, pool: ThreadPoolExecutor) -> None:
        """Moves in all these games."""
        if isinstance(self._player, HostPlayer):
            for table in tables:
                if table.lane not in self._engines:
                    self._engines[table.lane] = self._player.open()
            for table, answer in zip(tables, pool.map(self._ask, tables), strict=True):
                self._take(table, answer)
            return
        states = [table.state for table in tables]
        states += [states[0]] * (self._width - len(states))  # one batch size, one compilation
        batch = jax.tree.map(lambda *x: jnp.stack(x), *states)
        assert self._play is not None
        player = self._player
        partial = player if isinstance(player, jax.tree_util.Partial) else jax.tree_util.Partial(player)
        actions = np.asarray(self._play(partial, jax.random.fold_in(self._key, ply), batch))
        for table, action in zip(tables, actions[: len(tables)].tolist(), strict=True):
            if not 0 <= action < len(table.legal) or not table.legal[action]:
                raise ValueError("a player chose an illegal action; choose where states.legal is True")
            table.play(action)

    def _ask(self, table: _Table) -> Any:
        return self._engines[table.lane].choose(table.plies(), table.to_play)

    def _take(self, table: _Table, answer: Any) -> None:
        assert isinstance(self._player, HostPlayer)
        if answer == RESIGN:
            table.resign()
            return
        side = table.game.max_size
        action = table.game.num_actions - 1 if answer is None else answer[0] * side + answer[1]
        if not table.legal[action]:
            engine = self._engines[table.lane]
            raise EngineError(
                f"{self._player.text} moves {move_name(action, side)} after {len(table.actions)} moves, "
                f"which our rules of {table.game.name} refuse; our board:\n{draw(table.state)}\n"
                f"its board:\n{engine.board()}"
            )
        table.play(action)

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()


@functools.lru_cache(maxsize=32)
def _step(game: Game) -> Any:
    return jax.jit(game.step)


@functools.lru_cache(maxsize=32)
def _init(game: Game) -> Any:
    return jax.jit(game.init)


def _forced_passes(game: Game, size: int, actions: Sequence[int]) -> set[int]:
    """Which of the actions are passes because nothing else was legal."""
    skip = game.num_actions - 1
    if skip not in actions:
        return set()
    state, forced = _init(game)(np.int32(size)), set()
    for number, action in enumerate(actions):
        if action == skip and int(np.asarray(state.legal).sum()) == 1:
            forced.add(number)
        state = _step(game)(state, np.int32(action))
    return forced
