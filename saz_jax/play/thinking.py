"""Who moves when no person does: thinkers that choose a move within limits and tell what they found.

A thinker is asked about a position by its history, so that one that searches can keep the subtree of what was
played, and one that is another program can be told the moves it has not seen.
"""

import dataclasses
import functools
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.agents.agent import Agent
from saz_jax.arena.engines import Engine, EngineError, HostPlayer, Ply
from saz_jax.config import SearchConfig
from saz_jax.games.notation import draw, move_name
from saz_jax.play.limits import Limits
from saz_jax.search.anytime import AnytimeSearch, Growth, make_anytime
from saz_jax.search.rollouts import make_rollout_evaluate
from saz_jax.search.rounds import LANES
from saz_jax.search.tree import NONE, ROOT, principal_variation, tree_memory
from saz_jax.types import Array, Game, GameState, Player, SearchOutput, Variables

REPORT_SECONDS = 0.1
"""Time between two looks at the clock, and between two reports."""
MAX_NODES = 8192
"""Nodes of a search that only a clock or a person ends."""
MAX_TREE_BYTES = 100e6
"""What its tree may take: planting and keeping copy it, which has to go unnoticed."""
SAMPLE = 32
"""Simulations that tell how long one takes."""
REPORTED_MOVES = 10
"""Moves of an analysis that come with a variation."""


class Candidate(NamedTuple):
    """One move of an analysis."""

    action: int
    visits: int
    value: float
    """In [-1, 1], seen by the player to move."""
    prior: float
    variation: tuple[int, ...]
    """Actions from this move on."""


@dataclasses.dataclass(frozen=True)
class Analysis:
    """What a thinker says about a position."""

    action: int
    """The move that it would play."""
    value: float | None = None
    """In [-1, 1], seen by the player to move; None: it does not tell."""
    simulations: int = 0
    """Simulations of the root so far."""
    seconds: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    """The moves that were looked at, best first."""
    policy: np.ndarray | None = None
    """float32[V]: what the search makes of it."""
    prior: np.ndarray | None = None
    """float32[V]: what the network said before the search."""
    visits: np.ndarray | None = None
    """int32[V]"""
    resigns: bool = False


Tell: TypeAlias = Callable[[Analysis], None]


class Stop(Protocol):
    """Tells a search to stop, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether it is to stop now."""
        ...


class Position(NamedTuple):
    """A position with the actions that led to it from the opening."""

    state: GameState
    actions: tuple[int, ...]


class Thinker(Protocol):
    """Chooses moves in one game on boards of one padded side."""

    name: str

    def prepare(self, position: Position) -> None:
        """Does what would keep the first move waiting, such as compiling."""
        ...

    def think(self, position: Position, limits: Limits, stop: Stop, report: Tell | None = None) -> Analysis:
        """Looks at a position until a limit is reached or `stop` is set; tells on the way."""
        ...

    def close(self) -> None:
        """Ends what it holds, such as processes."""
        ...


class PlainThinker:
    """A `Player` that moves at once, such as random or greedy."""

    def __init__(self, name: str, player: Player, seed: int = 0):
        self.name = name
        self._play = jax.jit(player)
        self._key = jax.random.key(seed)

    def prepare(self, position: Position) -> None:
        """Compiles the player."""
        self._play(self._key, position.state)

    def think(self, position: Position, limits: Limits, stop: Stop, report: Tell | None = None) -> Analysis:
        """Its move; limits do not matter."""
        began = time.monotonic()
        key = jax.random.fold_in(self._key, len(position.actions))
        return Analysis(int(self._play(key, position.state)), seconds=time.monotonic() - began)

    def close(self) -> None:
        """Nothing is held."""


@dataclasses.dataclass
class Pace:
    """How long things take, in seconds."""

    now: float = 0.0
    """Of a simulation, as a clock has to reckon."""
    usual: float = 0.0
    """Of a simulation in narrow rounds."""
    mean: float = 0.0
    """Of a simulation in the searches so far, all rounds together."""
    step: float = 0.0
    """Of the smallest number of simulations that can be run at all, in wide rounds."""
    telling: float = 0.0
    """Of finding out what was found."""

    def sample(self, wide: float, narrow: float) -> None:
        """A simulation of a wide and of a narrow round took so long; the shortest of all samples counts."""
        self.usual = self.now = narrow if not self.usual else min(narrow, self.usual)
        self.mean = (wide + narrow) / 2 if not self.mean else min((wide + narrow) / 2, self.mean)
        self.step = LANES[0] * wide if not self.step else min(LANES[0] * wide, self.step)

    def hear(self, pace: float) -> None:
        """A simulation took so long just now.

        Slow calls count at once and are forgotten slowly: a limit is to be kept, not to be met.  Finished
        games cost next to nothing, but the next simulation may ask the network again.
        """
        self.now = max(pace, (self.now + pace) / 2, self.usual)


class TreeThinker:
    """An anytime search; `reuse` keeps the subtree of the moves that were played."""

    def __init__(
        self,
        name: str,
        search: AnytimeSearch,
        variables: Variables = (),
        *,
        reuse: bool = True,
        seed: int = 0,
    ):
        self.name = name
        self._search, self._variables, self._reuse = search, variables, reuse
        self._key = jax.random.key(seed)
        self._growth: Growth | None = None
        self._path: tuple[int, ...] = ()
        self._ready = False
        self._pace = Pace()
        self._lock = threading.Lock()

    def prepare(self, position: Position) -> None:
        """Compiles all that a move needs, and measures how long a simulation takes."""
        with self._lock:
            if self._ready:
                return
            growth = self._begin(position.state, 0)
            growth = self._search.aim(growth, jnp.int32(1))
            growth = self._search.grow(self._variables, growth, jnp.int32(1))
            counts(growth)
            analysis = self._analysis(growth, 1, 0.0)
            began = time.monotonic()
            self._analysis(growth, 1, 0.0)
            self._pace.telling = time.monotonic() - began
            has_child(growth, np.int32(analysis.action))
            growth = self._search.keep(self._variables, growth, jnp.array([analysis.action], jnp.int32))
            for _ in range(2):
                growth = self._search.aim(growth, jnp.int32(2 * SAMPLE))
                spent = []
                for _ in range(2):  # half of the rounds are wide, half are narrow
                    began = time.monotonic()
                    growth = self._search.grow(self._variables, growth, jnp.int32(SAMPLE))
                    jax.block_until_ready(growth)
                    spent.append((time.monotonic() - began) / SAMPLE)
                self._pace.sample(spent[0], spent[1])
            self._ready = True

    def think(self, position: Position, limits: Limits, stop: Stop, report: Tell | None = None) -> Analysis:
        """Grows the tree of `position`; a search that was begun before is continued."""
        if not self._ready:  # compiling is not thinking
            self.prepare(position)
        began = time.monotonic()
        with self._lock:
            growth = self._rooted(position)
            visits, used = (int(x) for x in jax.device_get(counts(growth)))
            if limits.simulations is not None or limits.seconds is not None:
                growth = self._search.aim(growth, jnp.int32(self._planned(limits, visits)))
            before, reported, told = visits, began, None
            while not stop.is_set():
                count = self._next(limits, visits, time.monotonic() - began)
                # Near the end of a game few positions are left to see: looked at for ever, they fill no tree.
                count = min(count, self._search.capacity - max(used, visits))
                if count < 1:
                    break
                started = time.monotonic()
                # The old arrays are handed over: if this is interrupted, there is no tree any more.
                self._growth = None
                growth = self._search.grow(self._variables, growth, jnp.int32(count))
                had, (visits, used) = visits, (int(x) for x in jax.device_get(counts(growth)))
                self._growth, self._path = growth, position.actions
                now = time.monotonic()
                if visits == had:  # the game is solved: nothing is left to look at
                    break
                self._pace.hear((now - started) / (visits - had))
                if report is not None and now - reported >= REPORT_SECONDS:
                    told = self._analysis(growth, visits, now - began)
                    report(told)
                    reported = now
            spent = time.monotonic() - began
            if visits - before >= SAMPLE:
                self._pace.mean = spent / (visits - before)
            if told is not None and told.simulations == visits:
                return told
            return self._analysis(growth, visits, spent)

    def close(self) -> None:
        """Lets the tree go."""
        self._growth = None

    def _planned(self, limits: Limits, visits: int) -> int:
        """How many simulations this search will have, as far as one can tell: what its halving aims at."""
        bounds = []
        if limits.simulations is not None:
            bounds.append(limits.simulations - visits)
        if limits.seconds is not None:
            bounds.append(int((limits.seconds - self._pace.telling) / max(self._pace.mean, 1e-6)))
        return max(min(bounds), 1)

    def _next(self, limits: Limits, visits: int, elapsed: float) -> int:
        """How many simulations to run before the next look at the clock; 0: enough."""
        if visits == 0:  # without one there is no move
            return 1
        pace = max(self._pace.now, 1e-6)
        bounds = [max(int(REPORT_SECONDS / pace), 1)]
        if limits.simulations is not None:
            bounds.append(limits.simulations - visits)
        if limits.seconds is not None:
            left = limits.seconds - self._pace.telling - elapsed
            fitting = int(left / pace) if left > self._pace.step else 0
            # Half of them at a time: a call that takes twice as long as it should still ends in time.
            bounds.append(max(fitting // 2, min(fitting, LANES[0])))
        return min(bounds)

    def _begin(self, state: GameState, seed: int) -> Growth:
        batch = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
        return self._search.begin(self._variables, jax.random.fold_in(self._key, seed), batch)

    def _rooted(self, position: Position) -> Growth:
        """The tree of this position: the one at hand, a subtree of it, or a new one."""
        growth, known = self._growth, len(self._path)
        if growth is None or not self._reuse or position.actions[:known] != self._path:
            return self._begin(position.state, len(position.actions))
        for action in position.actions[known:]:
            if not has_child(growth, np.int32(action)):
                return self._begin(position.state, len(position.actions))
            growth = self._search.keep(self._variables, growth, jnp.array([action], jnp.int32))
        return growth

    def _analysis(self, growth: Growth, visits: int, seconds: float) -> Analysis:
        told: Told = jax.device_get(tell(growth, self._search.conclude(growth)))
        candidates = [
            Candidate(
                action=int(action),
                visits=int(told.visits[action]),
                value=float(told.qvalues[action]),
                prior=float(told.prior[action]),
                variation=(int(action), *(int(a) for a in line if a >= 0)),
            )
            for action, line in zip(told.best, told.lines, strict=True)
            if told.visits[action] > 0
        ]
        candidates.sort(key=lambda c: c.action != int(told.action))  # the move itself comes first
        return Analysis(
            int(told.action),
            float(told.value),
            visits,
            seconds,
            tuple(candidates),
            policy=np.asarray(told.policy),
            prior=np.asarray(told.prior),
            visits=np.asarray(told.visits),
        )


class Told(NamedTuple):
    """What a tree of one game tells, still on the device."""

    action: Array
    value: Array
    policy: Array
    prior: Array
    visits: Array
    qvalues: Array
    best: Array
    """int32[K]: the most visited moves of the root."""
    lines: Array
    """int32[K, D]: how the game might go on after them, -1 after the end."""


@jax.jit
def counts(growth: Growth) -> tuple[Array, Array]:
    """(simulations of the root, nodes in use) of the first tree."""
    return growth.tree.node_visits[0, ROOT] - 1, growth.used[0]


@jax.jit
def has_child(growth: Growth, action: Array | np.int32) -> Array:
    """bool[]: whether the first tree's root has visited `action`."""
    return growth.tree.children_index[0, ROOT, action] != NONE


@jax.jit
def tell(growth: Growth, found: SearchOutput) -> Told:
    """What the first of the trees tells."""
    tree, found = jax.tree.map(lambda x: x[0], (growth.tree, found))
    _, best = jax.lax.top_k(found.visits, min(REPORTED_MOVES, found.visits.shape[0]))
    children = tree.children_index[ROOT, best]
    lines = jax.vmap(functools.partial(principal_variation, tree))(children)
    prior = jnp.exp(tree.children_prior_logits[ROOT])
    return Told(found.action, found.value, found.policy, prior, found.visits, found.qvalues, best, lines)


def room_for(game: Game, limits: Limits, analysis: bool = False, tree_bytes: float = MAX_TREE_BYTES) -> int:
    """Nodes of a tree for these limits: a power of two, so that similar ones share a program.

    `analysis`: it may also be let run on until somebody stops it.
    """
    if limits.simulations is not None and limits.seconds is None and not analysis:
        return 1 << max(limits.simulations + 1, 63).bit_length()
    node = tree_memory(game, 1, 1) - tree_memory(game, 1, 0)
    fitting = max(int(min(tree_bytes, MAX_TREE_BYTES) / node), 64)
    most = 1 << min(fitting, MAX_NODES).bit_length() - 1
    return max(most, room_for(game, Limits(limits.simulations))) if limits.simulations else most


def agent_thinker(
    name: str,
    agent: Agent,
    game: Game,
    size: int,
    limits: Limits,
    *,
    model: str | None = None,
    search: str | None = None,
    heuristic_weight: float | None = None,
    reuse: bool = True,
    symmetries: bool = False,
    analysis: bool = False,
    tree_bytes: float = MAX_TREE_BYTES,
    seed: int = 0,
) -> TreeThinker:
    """An agent with its search."""
    grown = agent.anytime(
        game,
        room_for(game, limits, analysis, tree_bytes),
        model=model,
        search=search,
        heuristic_weight=heuristic_weight,
        symmetries=symmetries,
        sizes=(size,),
    )
    return TreeThinker(name, grown, agent.variables, reuse=reuse, seed=seed)


@functools.cache
def _rollouts(game: Game, capacity: int) -> AnytimeSearch:
    return make_anytime(game, make_rollout_evaluate(game), SearchConfig("puct"), capacity)


def rollout_thinker(name: str, game: Game, simulations: int, seed: int = 0) -> TreeThinker:
    """Tree search with random playouts."""
    search = _rollouts(game, room_for(game, Limits(simulations)))
    return TreeThinker(name, search, seed=seed)


class EngineThinker:
    """A program of somebody else's; limits are its own affair."""

    def __init__(self, player: HostPlayer):
        self.name = player.text
        self._player = player
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    def prepare(self, position: Position) -> None:
        """Starts the program."""
        with self._lock:
            self._engine = self._engine or self._player.open()

    def think(self, position: Position, limits: Limits, stop: Stop, report: Tell | None = None) -> Analysis:
        """Asks it; a program that has failed is started anew for the next question."""
        self.prepare(position)
        began, game = time.monotonic(), self._player.game
        skip, side = game.num_actions - 1, game.max_size
        colour = int(position.state.to_play)
        plies = [
            # A pass that is refused is taken for one that the program makes by itself.
            Ply(
                1 if number % 2 == 0 else -1, None if action == skip else divmod(action, side), action == skip
            )
            for number, action in enumerate(position.actions)
        ]
        with self._lock:
            assert self._engine is not None
            try:
                answer = self._engine.choose(plies, colour)
            except EngineError:
                self._engine.close()
                self._engine = None
                raise
        seconds = time.monotonic() - began
        if isinstance(answer, str):
            return Analysis(skip, seconds=seconds, resigns=True)
        action = skip if answer is None else answer[0] * side + answer[1]
        if not position.state.legal[action]:
            ours, theirs = draw(position.state), self._engine.board()
            raise EngineError(
                f"{self.name} moves {move_name(action, side)}, which our rules of {game.name} refuse; "
                f"our board:\n{ours}\nits board:\n{theirs}"
            )
        return Analysis(action, seconds=seconds)

    def close(self) -> None:
        """Ends the program."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None
