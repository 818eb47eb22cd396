"""A game in progress: position, history, both sides, clock, analysis, records.  All faces share it.

A face shows a session and hands it what its user says; it knows no rules and no search.  Points are (row,
column) from the top left; a move is a point, or two points where stones are moved, and None is pass.  Colours
are 1 (dark) and -1 (light).  Every mistake of a user is a
`ValueError` in a sentence, and leaves the game as it was.
"""

import contextlib
import dataclasses
import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from saz_jax.config.shape_text import parse_shape
from saz_jax.coordinates import Move, ends
from saz_jax.games import make_game
from saz_jax.games.actions import action_of, source_and_target
from saz_jax.games.notation import draw, move_name, parse_move, point_name
from saz_jax.games.registry import find_game
from saz_jax.games.shapes import from_text, to_text
from saz_jax.models.opinions import Opinions
from saz_jax.play.clock import Clock
from saz_jax.play.limits import Limits
from saz_jax.play.passing import sensible
from saz_jax.play.seats import PERSON, agent_of, make_thinker, own_limits
from saz_jax.play.thinking import MAX_TREE_BYTES, Analysis, Position, Stop, Tell, Thinker
from saz_jax.render import sgf
from saz_jax.types import Game, GameState

SCHEMA = 1
"""Version of the JSON form."""
LARGEST_SIDE = 99
"""Larger boards cost more memory than a face should take on somebody's word."""
COLOURS = {1: "dark", -1: "light"}
HOPELESS_MOVES = 3
"""A side resigns when so many moves of its own in a row were hopeless."""


@dataclasses.dataclass(frozen=True)
class Setup:
    """What is played, and by whom."""

    game: str = "gomoku"
    size: int = 9
    """Side of a square board."""
    shape: str = ""
    """The board as text, such as 7x11 or a drawing, see `config.shape_text`; "": the square of `size`."""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The game's own options; those not given are the agents', else the game's defaults."""
    dark: str = PERSON
    light: str = PERSON
    """Players by text: person, random, greedy, mcts:100, an agent, raw:agent, agent@model3."""
    limits: Limits = dataclasses.field(default_factory=Limits)
    """What a move of a player that searches may cost; default: 100 simulations."""
    reuse: bool = True
    """Keep the subtree of the moves that were played."""
    symmetries: bool = False
    """Average what a network says about the position at hand over the game's symmetries."""
    resign: float | None = None
    """Resign below this chance to win, such as 0.05; None: never."""
    analysis: bool = False
    """Make room for searches that run on until they are stopped."""
    tree_bytes: float = MAX_TREE_BYTES
    """What the tree of a search that only a clock or a person ends may take."""
    max_size: int | None = None
    """Padded side; default: the board's own."""
    seed: int = 0


class View(NamedTuple):
    """One position off the device."""

    board: np.ndarray
    """int8[n, n]: +1 dark, -1 light, 0 empty."""
    legal: np.ndarray
    """bool[V]"""
    to_play: int
    over: bool
    outcome: int
    """Seen by dark; 0 until the end."""
    score: float | None
    """Dark's points minus light's as the board stands; None: the game counts none."""


class Session:
    """One game from its opening, with everything that was played and taken back."""

    def __init__(self, setup: Setup, clock: Clock | None = None, record: Path | None = None):
        """`record`: a file that holds the game as SGF (or JSON, where SGF cannot) after every move."""
        self.record = record
        self.listen: Callable[[], None] = lambda: None
        """Called after every change."""
        self._lock = threading.RLock()
        self._thinkers: dict[str, Thinker | None] = {}
        self.version = 0
        """Grows with every change of the game."""
        self.clock = clock or Clock()
        self._open(setup)

    def _open(self, setup: Setup) -> None:
        setup = with_side(dataclasses.replace(setup, game=find_game(setup.game)))
        game = game_of(setup)
        rules = compiled(game)
        start = rules.init(checked_board(setup, game))
        if self._thinkers:
            self.close()
        self.setup, self.game, self._rules = setup, game, rules
        self._states: list[GameState] = [start]
        self._views: list[View] = [rules.look(start, setup.size)]
        self._actions: list[int] = []
        self._undone: list[int] = []
        self.resigned: int | None = None
        """The colour that gave up."""
        self._hopeless = {1: 0, -1: 0}

    # What there is to see.

    @property
    def size(self) -> int:
        """The live side."""
        return self.setup.size

    @property
    def points(self) -> np.ndarray:
        """bool[n, n]: the points that the board has."""
        return np.asarray(self._states[0].points)[: self.size, : self.size]

    @property
    def view(self) -> View:
        """The position at hand."""
        return self._views[-1]

    @property
    def state(self) -> GameState:
        """The same position as the rules know it."""
        return self._states[-1]

    @property
    def can_redo(self) -> bool:
        """Whether something was taken back."""
        return bool(self._undone)

    @property
    def to_play(self) -> int:
        """The colour whose turn it is."""
        return self.view.to_play

    @property
    def over(self) -> bool:
        """By the rules, or because a side resigned."""
        return self.view.over or self.resigned is not None

    @property
    def outcome(self) -> int:
        """Seen by dark: +1 win, 0 tie or not over, -1 loss."""
        return -self.resigned if self.resigned is not None else self.view.outcome

    @property
    def moves(self) -> list[tuple[int, Move]]:
        """(colour, move) of all moves, passes included."""
        colours = [view.to_play for view in self._views[:-1]]
        return [(colour, self.point(a)) for colour, a in zip(colours, self._actions, strict=True)]

    @property
    def last_move(self) -> Move:
        """The last move; None at the beginning and after a pass."""
        return self.point(self._actions[-1]) if self._actions else None

    def legal_points(self) -> list[Move]:
        """All moves that may be played; nothing once the game is over."""
        if self.over:
            return []
        return [self.point(action) for action in np.flatnonzero(self.view.legal).tolist()]

    def point(self, action: int) -> Move:
        """An action of the padded board as a move."""
        return _move(self.game, action)

    def action(self, point: Move) -> int:
        """A move as an action of the padded board; `ValueError` off the board, or if no stone moves so."""
        if point is None:
            return self.game.num_actions - 1
        places = ends(point)
        for row, column in places:
            if not (0 <= row < self.size and 0 <= column < self.size):
                raise ValueError(f"({row}, {column}) is off a board of side {self.size}; count from 0")
            if not self.points[row, column]:
                raise ValueError(f"the board has no point at ({row}, {column}); use another")
        action = action_of(places[0], places[-1], self.game.max_size, self.game.moves)
        if action is None:
            told = "-".join(point_name(*place) for place in places)
            raise ValueError(f"{told} is no move of {self.game.name}; `moves` lists those that are")
        return action

    def name(self, point: Move) -> str:
        """A move as people write it: D3, B2-C3, or pass."""
        return move_name(self.action(point), self.game.max_size, self.game.moves)

    def read_move(self, text: str) -> Move:
        """The inverse of `name`."""
        return self.point(parse_move(text, self.points, self.game.max_size, self.game.moves))

    def drawing(self) -> str:
        """The board, one line a row: X dark, O light, . empty."""
        return draw(self._states[-1])

    def result(self) -> str:
        """B+3.5, W+R, 0 and the like; "" while the game lasts."""
        if not self.over:
            return ""
        winner = {1: "B+", -1: "W+", 0: "0"}[self.outcome]
        if self.resigned is not None:
            return f"{winner}R"
        return f"{winner}{abs(self.view.score):g}" if self.view.score and self.outcome else winner

    # What people do.

    def play(self, point: Move, colour: int | None = None) -> None:
        """Plays a move; for the other side's colour, the side to move passes first if it may."""
        with self._changing():
            self._refuse_if_over()
            action = self.action(point)
            if colour is not None and colour != self.to_play:
                skip = self.game.num_actions - 1
                if not self.view.legal[skip]:
                    raise ValueError(f"it is {COLOURS[self.to_play]}'s turn, and it cannot pass")
                after = self._rules.step(self._states[-1], np.int32(skip))
                if after.terminated or not after.legal[action]:
                    raise ValueError(f"{self.name(point)} is illegal for {COLOURS[colour]} out of turn")
                self._push(skip)
            if not self.view.legal[action]:
                raise ValueError(f"{self.name(point)} is illegal for {COLOURS[self.to_play]} here")
            self._push(action)
            self._undone.clear()

    def undo(self, moves: int = 1) -> None:
        """Takes back the last moves; a resignation counts as one."""
        with self._changing():
            for _ in range(moves):
                if self.resigned is not None:
                    self.resigned = None
                elif self._actions:
                    self._undone.append(self._actions.pop())
                    self._states.pop()
                    self._views.pop()
                else:
                    raise ValueError("there is nothing to take back")

    def redo(self, moves: int = 1) -> None:
        """Plays again what was taken back."""
        with self._changing():
            for _ in range(moves):
                if not self._undone:
                    raise ValueError("there is nothing to play again")
                self._push(self._undone.pop())

    def resign(self, colour: int | None = None) -> None:
        """A side gives up; by default the one whose turn it is."""
        with self._changing():
            self._refuse_if_over()
            self.resigned = self.to_play if colour is None else colour

    def restart(self, **changes: Any) -> None:
        """A new game, with other settings if some are given: `restart(size=13, dark="gomoku")`."""
        with self._changing():
            square = {"shape": ""} if "size" in changes else {}
            self._open(dataclasses.replace(self.setup, **{**square, **changes}))

    def set_options(self, **options: Any) -> None:
        """Other options of the game, such as the komi, from now on; the moves stay."""
        with self._changing():
            setup, actions, resigned = self.setup, self._actions, self.resigned
            self._open(dataclasses.replace(setup, options={**setup.options, **options}))
            try:
                for action in actions:
                    if not self.view.legal[action] or self.view.over:
                        raise ValueError(f"the moves so far do not fit {options}; begin a new game first")
                    self._push(action)
            except ValueError:
                self._open(setup)
                for action in actions:
                    self._push(action)
                raise
            finally:
                self.resigned = resigned

    def close(self) -> None:
        """Ends what the players hold."""
        for thinker in self._thinkers.values():
            if thinker is not None:
                thinker.close()
        self._thinkers = {}

    # What the players do.

    def player(self, colour: int) -> str:
        """The text of a side's player."""
        return self.setup.dark if colour == 1 else self.setup.light

    def prepare(self, players: Iterable[str] | None = None) -> None:
        """Compiles what the players, by default those of both sides, need for a move, and playing it."""
        after = self._rules.step(self.state, np.int32(np.argmax(self.view.legal)))
        self._rules.look(after, self.size)
        for text in set(players or (self.setup.dark, self.setup.light)) - {PERSON}:
            thinker = self._thinker(text)
            if thinker is not None:
                thinker.prepare(self._position())

    def think(
        self,
        limits: Limits | None = None,
        stop: Stop | None = None,
        report: Tell | None = None,
        player: str | None = None,
    ) -> Analysis:
        """What the player at hand, or another one, would do here; nothing is played."""
        with self._lock:
            self._refuse_if_over()
            text = player or self.player(self.to_play)
            if text == PERSON:
                others = [t for t in (self.setup.dark, self.setup.light) if t != PERSON]
                if not others:
                    raise ValueError("two people play here, and none of them can be asked; name a player")
                text = others[0]
            thinker, position, view = self._thinker(text), self._position(), self.view
            assert thinker is not None
            legal = np.flatnonzero(view.legal)
            if len(legal) == 1 and limits is None:
                return Analysis(int(legal[0]))
            own = own_limits(text, self.setup.limits) if limits is None else limits
            ahead = int((view.board == 0).sum()) // 2
            own = self.clock.limits(own, view.to_play, ahead) if limits is None else own
        analysis = thinker.think(position, own, stop or threading.Event(), report)
        return self._considered(analysis, position, view)

    def move(
        self,
        limits: Limits | None = None,
        stop: Stop | None = None,
        report: Tell | None = None,
    ) -> Analysis:
        """Lets the player at hand move, or resign."""
        began, version, colour = time.monotonic(), self.version, self.to_play
        analysis = self.think(limits, stop, report)
        with self._changing():
            if self.version != version:
                raise ValueError("the game went on during the search; ask again")
            self.clock.spend(colour, time.monotonic() - began)
            if analysis.resigns:
                self.resigned = colour
            else:
                self._push(analysis.action)
                self._undone.clear()
        return analysis

    def opinions(self, player: str) -> Opinions | None:
        """What that player's network says of this position and its subgraphs; None: it has no network."""
        with self._lock:
            agent, game, state, ply = agent_of(player), self.game, self.state, len(self._actions)
        if agent is None:
            return None
        key = jax.random.fold_in(jax.random.key(self.setup.seed), ply)
        return jax.device_get(agent.opinions(game)(key, state))

    # Records.

    def to_sgf(self) -> str:
        """The game as SGF, with the names of the players."""
        shape = self.points if self.setup.shape else self.size
        text = sgf.to_sgf(self.game, shape, self._actions, self.setup.dark, self.setup.light)
        if self.resigned is not None:
            return text.replace("SZ[", f"RE[{self.result()}]SZ[", 1)
        return text

    def load_sgf(self, text: str, moves: int | None = None) -> None:
        """The game of an SGF file, up to a number of moves, with the players of this session."""
        file = sgf.from_sgf(text)
        if file.game.name != self.game.name:
            raise ValueError(f"the file holds a game of {file.game.name}; this is one of {self.game.name}")
        points = [_move(file.game, action) for action in file.actions]
        usual = dict(make_game(file.game.name, file.game.max_size).options)
        told = {name: value for name, value in file.game.options if value != usual[name]}
        options = {**self.setup.options, **told}
        with self._changing():
            shape = {"size": file.size, "shape": to_text(file.points), "options": options, "max_size": None}
            self._open(dataclasses.replace(self.setup, **shape))
            for point in points[:moves]:
                self._push(self.action(point))

    def record_text(self) -> str:
        """The game as SGF, or as JSON where SGF cannot hold it."""
        if self.game.sgf is not None and self.size <= sgf.MAX_SIZE:
            return self.to_sgf()
        return json.dumps(self.to_json(), indent=2) + "\n"

    def load_record(self, text: str) -> None:
        """The inverse of `record_text`."""
        if not text.lstrip().startswith("{"):
            self.load_sgf(text)
            return
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ValueError(f"this is no game in JSON ({error}); give what `save` writes") from error
        self.load_json(data)

    def to_json(self) -> dict[str, Any]:
        """All that decides the game, as JSON."""
        names = [self.name(point) for _, point in self.moves]
        return {
            "schema": SCHEMA,
            "game": self.setup.game,
            "size": self.size,
            "shape": self.setup.shape,
            "options": dict(self.setup.options),
            "dark": self.setup.dark,
            "light": self.setup.light,
            "moves": names,
            "resigned": self.resigned,
        }

    def load_json(self, data: Any) -> None:
        """The game of `to_json`; `ValueError` if it is none, and the session stays as it was."""
        fields = {"game": str, "size": int, "options": dict, "dark": str, "light": str, "moves": list}
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"this is no game of schema {SCHEMA}; give what `to_json` writes")
        for name, kind in fields.items():
            if not isinstance(data.get(name), kind) or isinstance(data[name], bool):
                raise ValueError(f"{name} is {data.get(name)!r}; it must be of type {kind.__name__}")
        if data.get("resigned") not in (None, 1, -1):
            raise ValueError(f"resigned is {data['resigned']!r}; use 1, -1 or null")
        if not isinstance(data.get("shape", ""), str):
            raise ValueError(f"shape is {data['shape']!r}; it must be a text such as 7x11")
        chosen = {name: data[name] for name in ("game", "size", "options", "dark", "light")}
        chosen["shape"] = data.get("shape", "")
        other = Session(dataclasses.replace(self.setup, **chosen, max_size=None))
        for name in data["moves"]:
            if not isinstance(name, str):
                raise ValueError(f"{name!r} is no move; use texts such as D3")
            other.play(other.read_move(name))
        with self._changing():
            self._open(other.setup)
            self._states, self._views, self._actions = other._states, other._views, other._actions
            self.resigned = data.get("resigned")

    # Inside.

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            yield
            self.version += 1
            self._save()
        self.listen()

    def _save(self) -> None:
        if self.record is None:
            return
        text = self.record_text()
        # Written whole or not at all: whatever happens, the file can be read.
        beside = self.record.with_name(self.record.name + ".new")
        beside.write_text(text)
        os.replace(beside, self.record)

    def _refuse_if_over(self) -> None:
        if self.over:
            raise ValueError(f"the game is over ({self.result()}); take a move back, or begin a new one")

    def _push(self, action: int) -> None:
        state = self._rules.step(self._states[-1], np.int32(action))
        self._states.append(state)
        self._views.append(self._rules.look(state, self.size))
        self._actions.append(int(action))

    def _position(self) -> Position:
        return Position(self._states[-1], tuple(self._actions))

    def _thinker(self, text: str) -> Thinker | None:
        with self._lock:
            if text in self._thinkers:
                return self._thinkers[text]
            limits = own_limits(text, self.setup.limits)
            made = make_thinker(
                text,
                self.game,
                self.size,
                limits,
                reuse=self.setup.reuse,
                symmetries=self.setup.symmetries,
                analysis=self.setup.analysis,
                tree_bytes=self.setup.tree_bytes,
                seed=self.setup.seed,
            )
            self._thinkers[text] = made
            return made

    def _considered(self, analysis: Analysis, position: Position, view: View) -> Analysis:
        """The analysis with a sensible pass and a resignation where they are due."""
        skip = self.game.num_actions - 1
        if view.score is not None and view.legal[skip] and view.legal.sum() > 1:
            ends = bool(self._rules.step(position.state, np.int32(skip)).terminated)
            margin = view.score * view.to_play
            action = sensible(
                analysis, board=view.board, legal=view.legal, side=self.game.max_size,
                to_play=view.to_play, margin=margin, ends=ends,
            )  # fmt: skip
            analysis = dataclasses.replace(analysis, action=action)
        if self.setup.resign is None or analysis.value is None:
            return analysis
        lost = (1 + analysis.value) / 2 < self.setup.resign
        self._hopeless[view.to_play] = self._hopeless[view.to_play] + 1 if lost else 0
        return dataclasses.replace(analysis, resigns=self._hopeless[view.to_play] >= HOPELESS_MOVES)


def _move(game: Game, action: int) -> Move:
    if action == game.num_actions - 1:
        return None
    start, end = source_and_target(action, game.max_size, game.moves)
    return start if start == end else (start, end)


class Rules(NamedTuple):
    """A game's compiled functions."""

    init: Any
    step: Any
    score: Any

    def look(self, state: GameState, size: int) -> View:
        """A position off the device."""
        board, legal, to_play, over, outcome, score = jax.device_get(
            (state.board, state.legal, state.to_play, state.terminated, state.outcome, self.score(state))
        )
        points = None if score is None else float(score)
        return View(board[:size, :size], legal, int(to_play), bool(over), int(outcome), points)


@functools.lru_cache(maxsize=32)
def compiled(game: Game) -> Rules:
    """The rules, compiled once for each game."""
    score = game.score and jax.jit(game.score)
    return Rules(jax.jit(game.init), jax.jit(game.step), score or (lambda state: None))


def game_of(setup: Setup) -> Game:
    """The game with the options that are asked for, else those of the agents."""
    side = setup.size if setup.max_size is None else max(setup.max_size, setup.size)
    if isinstance(setup.size, bool) or not isinstance(setup.size, int) or not 1 <= side <= LARGEST_SIDE:
        raise ValueError(f"a board of side {setup.size} cannot be played here; use 1 to {LARGEST_SIDE}")
    options: dict[str, Any] = {}
    for text in (setup.dark, setup.light):
        agent = agent_of(text)
        if agent is None:
            continue
        if agent.game_name != setup.game:
            raise ValueError(f"{text} was trained on {agent.game_name}; it cannot play {setup.game}")
        options = {**agent.game_options, **options}
    return make_game(setup.game, side, **{**options, **setup.options})


def with_side(setup: Setup) -> Setup:
    """`setup` with the side that its shape has; a square needs no shape."""
    if not setup.shape:
        return setup
    text = to_text(from_text(setup.shape))
    said = parse_shape(text)
    square = said.kind == "rectangle" and said.rows == said.columns
    return dataclasses.replace(setup, size=said.side, shape="" if square else text)


def checked_board(setup: Setup, game: Game) -> np.int32 | np.ndarray:
    """What `game.init` takes; `ValueError` for a side or a shape on which the game is not played."""
    if not game.min_size <= setup.size <= game.max_size:
        raise ValueError(f"{game.name} is played on sides from {game.min_size}; {setup.size} is too small")
    if not setup.shape:
        return np.int32(setup.size)
    points = from_text(setup.shape)
    rows, columns = points.shape
    points = np.pad(points, ((0, game.max_size - rows), (0, game.max_size - columns)))
    if problem := game.shape_problem(points):
        raise ValueError(f"{game.name} cannot be played on this shape: {problem}")
    return points
