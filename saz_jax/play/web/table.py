"""A table: the game of one tab, and the thread that plays it.

A table hears messages (`messages.MESSAGES`) and tells events, dictionaries with "is": welcome, waiting, game,
thinking, analysis, insight, record and error.  Whatever comes in while a player thinks ends that thinking; if
it is still that player's turn, the thinking goes on where it was.  Rules and search are the session's.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from saz_jax.play.limits import Limits
from saz_jax.play.web import events
from saz_jax.play.web.house import PERSON, WAIT_SECONDS, House
from saz_jax.play.web.messages import parse

if TYPE_CHECKING:
    from saz_jax.play.session import Session
    from saz_jax.play.thinking import Analysis

MAX_WAITING = 64
"""Messages that may wait for a table."""
SLOWEST_WATCHED = 0.35
"""Seconds that a move between two players takes at least, so that people can follow."""


class Aside:
    """Work in a thread of its own, such as compiling, which nothing can interrupt."""

    def __init__(self, work: Callable[[], Any]):
        self.result: Any = None
        self.error: Exception | None = None
        self._done = threading.Event()

        def run() -> None:
            try:
                self.result = work()
            except Exception as error:  # told by whoever waits
                self.error = error
            self._done.set()

        threading.Thread(target=run, daemon=True).start()

    def wait(self, given_up: Callable[[], bool]) -> bool:
        """Whether it has come to its end before `given_up`."""
        while not self._done.wait(WAIT_SECONDS):
            if given_up():
                return False
        return True


class Table:
    """One tab's game."""

    def __init__(self, house: House, tell: Callable[[dict[str, Any]], None]):
        self.house, self._tell = house, tell
        self.session: Session | None = None
        self._heard: queue.Queue[dict[str, Any] | None] = queue.Queue(MAX_WAITING)
        self._closed = threading.Event()
        self._move_now = threading.Event()
        self._forget()
        self._watching, self._insight, self._analyst = False, False, None

    def _forget(self) -> None:
        """What belongs to one game."""
        self._curve: dict[int, float] = {}
        self._failed: int | None = None
        self._paused = False
        self._analysed: tuple[int, str] | None = None
        self._told_insight: tuple[int, str] | None = None
        self._prepared: dict[str, Aside] = {}
        self._opinions: tuple[tuple[int, str], Aside] | None = None

    # Called by the server, never waiting.

    def hear(self, said: str) -> None:
        """A message; what is wrong with it is told."""
        try:
            message = parse(said)
            if message["do"] == "stop":
                self._move_now.set()
            else:
                self._heard.put_nowait(message)
        except queue.Full:
            self._error("too many messages at once; wait for an answer")
        except ValueError as error:
            self._error(str(error))

    def close(self) -> None:
        """Ends the thinking and the thread."""
        self._closed.set()

    def start(self) -> threading.Thread:
        """Begins to play, in a thread of its own."""
        thread = threading.Thread(target=self.run, name="table", daemon=True)
        thread.start()
        return thread

    # The thread.

    def run(self) -> None:
        """Plays until it is closed."""
        try:
            self._tell({"is": "waiting", "text": "getting ready"})
            while not self.house.ready.wait(WAIT_SECONDS):
                if self._closed.is_set():
                    return
            if self.house.error:
                self._error(self.house.error)
                return
            self._tell(self.house.welcome)
            while not self._closed.is_set():
                self.step(WAIT_SECONDS)
        finally:
            if self.session is not None:
                self.session.close()

    def step(self, patience: float = 0.0) -> None:
        """Answers one message, or does some work if there is none; waits so long for either."""
        idle = not self._has_work()
        try:
            message = self._heard.get(timeout=patience) if idle and patience else self._heard.get_nowait()
        except queue.Empty:
            message = None
        try:
            if message is not None:
                self.answer(message)
            elif not idle:
                self.work()
        except (ValueError, OSError, ImportError, MemoryError) as error:
            self._error(str(error))
        except Exception as error:  # a defect: the table goes on, and says so
            self._tell({"is": "error", "text": f"{type(error).__name__}: {str(error)[:300]}", "defect": True})

    def is_set(self) -> bool:
        """Whether thinking is to end: a table is the `stop` of its own searches."""
        return self._move_now.is_set() or self._interrupted()

    def _interrupted(self) -> bool:
        return self._closed.is_set() or not self._heard.empty()

    # Messages.

    def answer(self, message: dict[str, Any]) -> None:
        """Does what a message says."""
        do = message["do"]
        if do == "open":
            self.open(message)
        elif do == "analyse":
            self._watching, self._insight, player = message["on"], message["insight"], message["player"]
            if player:
                self.house.check_player(player)
            self._analyst = player or None
            self._analysed = self._told_insight = None
        elif do == "load":
            self.load(message["sgf"])
        elif self.session is None:
            raise ValueError("there is no game yet; open one first")
        elif do == "save":
            self._tell(
                {"is": "record", "name": f"{self.session.game.name}.sgf", "text": self.session.to_sgf()}
            )
        else:
            self._play(self.session, message)

    def _play(self, session: "Session", message: dict[str, Any]) -> None:
        do = message["do"]
        if do == "play":
            session.play(session.read_move(message["move"]))
        elif do in ("undo", "redo"):
            self._travel(session, do, bool(message["all"]))
        elif do == "resign":
            session.resign()
        elif do == "pause":
            self._paused = message["on"]
        elif do == "go":
            self._let_move(session)
        elif do == "seats":
            self._sit(session, message)
        self._move_now.clear()
        self._failed = None
        self._trim()
        self.show()

    def _travel(self, session: "Session", do: str, everything: bool) -> None:
        """Undo and redo: to the next turn of a person, or as far as it goes."""
        move, more = (
            (session.undo, lambda: bool(session.moves))
            if do == "undo"
            else (session.redo, lambda: session.can_redo)
        )
        move()
        seats = (session.setup.dark, session.setup.light)
        if PERSON not in seats:
            self._paused = True
        while more() and (everything or (PERSON in seats and session.player(session.to_play) != PERSON)):
            move()
        if session.player(session.to_play) != PERSON and not session.over:
            self._paused = True  # or it would move at once

    def open(self, message: dict[str, Any]) -> None:
        """Another game, from its beginning or with some moves; the one at hand stays if that cannot be."""
        from saz_jax.play.session import Session

        session = Session(self._setup(message))
        try:
            for name in message["moves"] or ():
                if self._closed.is_set():
                    return
                session.play(session.read_move(name))
            if message["resigned"] and not session.over:
                session.resign(message["resigned"])
        except ValueError as error:
            session.close()
            raise ValueError(f"the moves of this game do not fit: {error}") from error
        self._seat(session)

    def _setup(self, message: dict[str, Any]) -> Any:
        from saz_jax.play.session import Setup

        self.house.check_game(message["game"])
        for text in (message["dark"], message["light"]):
            self.house.check_player(text)
        return Setup(
            game=message["game"],
            size=message["size"],
            shape=message["shape"] or "",
            options=message["options"] or {},
            dark=message["dark"],
            light=message["light"],
            limits=Limits(message["simulations"], message["seconds"]),
            analysis=True,
        )

    def _seat(self, session: "Session") -> None:
        if self.session is not None:
            self.session.close()
        self.session = session
        self._forget()
        self._move_now.clear()
        self.show()

    def _sit(self, session: "Session", message: dict[str, Any]) -> None:
        """Other players go on with the game."""
        keys = ("dark", "light", "simulations", "seconds")
        facts = session.to_json()
        curve = self._curve
        self.open({**facts, **{key: message[key] for key in keys}})
        self._curve = curve

    def load(self, record: str) -> None:
        """The game of an SGF file; both sides are people's until somebody else sits down."""
        from saz_jax.render.sgf import from_sgf

        file = from_sgf(record)
        self.house.check_game(file.game.name)
        setup = {
            "game": file.game.name, "size": file.size, "shape": None, "options": {},
            "dark": PERSON, "light": PERSON, "simulations": None, "seconds": None,
        }  # fmt: skip
        from saz_jax.play.session import Session

        session = Session(self._setup(setup))
        session.load_sgf(record)
        self._seat(session)

    # Work.

    def _turn(self) -> str | None:
        """The player who has to move now, if it is no person and not paused."""
        session = self.session
        if session is None or session.over or self._paused or self._failed == session.version:
            return None
        player = session.player(session.to_play)
        return None if player == PERSON else player

    def _has_work(self) -> bool:
        session = self.session
        if session is None:
            return False
        here = (session.version, self._asked(session))
        return (
            self._turn() is not None
            or (self._watching and not session.over and self._analysed != here)
            or (self._insight and self._told_insight != here)
        )

    def _asked(self, session: "Session") -> str:
        """Who explains the position: the one that was chosen, else a player with a network."""
        if self._analyst:
            return self._analyst
        from saz_jax.play.seats import agent_of

        seats = (session.setup.dark, session.setup.light)
        return next((text for text in seats if agent_of(text)), self.house.analyst(session.game.name))

    def work(self) -> None:
        """Explains, moves or analyses, until a message comes in."""
        session = self.session
        assert session is not None
        here = (session.version, self._asked(session))
        player = self._turn()
        if self._insight and self._told_insight != here and player is None:
            self._explain(session, here)
            return
        try:
            if player is not None:
                self._let_move(session)
                self.show()
            else:
                self._analyse(session, here)
        except Exception:
            self._failed, self._analysed = session.version, here  # not again before something changes
            self._told_insight = here
            self._tell({"is": "thinking", "on": False, "text": ""})
            raise

    def _ready(self, session: "Session", player: str) -> bool:
        """Whether all that the player needs is compiled; False if something came in before."""
        if player not in self._prepared:

            def prepare() -> None:
                with self.house.compiling(self._closed.is_set) as free:
                    if free:
                        session.prepare([player])

            self._prepared[player] = Aside(prepare)
            self._tell({"is": "thinking", "on": True, "text": f"{player} gets ready"})
        aside = self._prepared[player]
        if not aside.wait(self._interrupted):
            return False
        if aside.error is not None:
            del self._prepared[player]
            raise aside.error
        return True

    def _think(self, session: "Session", player: str, limits: Limits | None) -> "Analysis | None":
        """What the player finds; None if something came in before it was done."""
        if not self._ready(session, player):
            return None
        ply, colour = len(session.moves), session.to_play
        self._tell({"is": "thinking", "on": True, "text": f"{player} thinks"})
        with self.house.slot(self._interrupted) as free:
            if not free:
                return None
            analysis = session.think(
                limits, stop=self, report=lambda a: self._report(session, a, ply, colour), player=player
            )
        self._report(session, analysis, ply, colour)
        return None if self._interrupted() else analysis

    def _let_move(self, session: "Session") -> None:
        """The player at hand moves; for a person, whoever explains the position does."""
        began, version = time.monotonic(), session.version
        player = session.player(session.to_play)
        player = self._asked(session) if player == PERSON else player
        analysis = self._think(session, player, None)
        if analysis is None or session.version != version:
            return
        if PERSON not in (session.setup.dark, session.setup.light):
            while time.monotonic() - began < SLOWEST_WATCHED and not self._interrupted():
                time.sleep(WAIT_SECONDS)
        if analysis.resigns:
            session.resign()
        else:
            session.play(session.point(analysis.action))
        self._move_now.clear()
        self._trim()

    def _analyse(self, session: "Session", here: tuple[int, str]) -> None:
        """Thinks about a person's position until a message comes in."""
        analysis = self._think(session, here[1], Limits())
        if analysis is not None:
            self._analysed = here
            self._tell({"is": "thinking", "on": False, "text": ""})
        self._move_now.clear()

    def _explain(self, session: "Session", here: tuple[int, str]) -> None:
        """Tells what the network says before any search, on the whole board and on subgraphs."""
        if self._opinions is None or self._opinions[0] != here:

            def ask() -> Any:
                with self.house.compiling(self._closed.is_set) as free:
                    return session.opinions(here[1]) if free else None

            self._opinions = here, Aside(ask)
        aside = self._opinions[1]
        if not aside.wait(self._interrupted):
            return
        self._told_insight = here
        if aside.error is not None:
            raise aside.error
        self._tell(events.insight(session, aside.result, here[1]))

    # Events.

    def _error(self, text: str) -> None:
        self._tell({"is": "error", "text": text})

    def _trim(self) -> None:
        """Forgets the win chances of moves that are no longer part of the game."""
        assert self.session is not None
        last = len(self.session.moves)
        self._curve = {ply: chance for ply, chance in self._curve.items() if ply <= last}

    def show(self) -> None:
        """Tells all about the game at hand."""
        session = self.session
        assert session is not None
        self._tell({"is": "thinking", "on": False, "text": ""})
        about = {"paused": self._paused, "explained_by": self._asked(session)}
        about["curve"] = [self._curve.get(ply) for ply in range(len(session.moves) + 1)]
        self._tell({**events.game(session), **about})

    def _report(self, session: "Session", analysis: "Analysis", ply: int, colour: int) -> None:
        """Tells what a search has found so far."""
        event = events.analysis(session, analysis, ply, colour)
        if event["chance"] is not None:
            self._curve[ply] = event["chance"]
        self._tell(event)
