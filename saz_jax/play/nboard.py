"""The NBoard protocol, version 2, for Othello (`saz nboard`).

`set game` tells a whole game in GGF, `move` adds to it, `hint N` asks about the best N moves and `go` for a
move; `ping` is answered when all before it is done.
"""

import re
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from saz_jax.coordinates import placed, read_square, square
from saz_jax.play.limits import Limits
from saz_jax.play.lines import Face, log

if TYPE_CHECKING:
    from saz_jax.play.session import Session
    from saz_jax.play.thinking import Analysis

SIDE = 8
DISCS = 64.0
"""Values in [-1, 1] are told in discs."""
SIMULATIONS_PER_DEPTH = 16
"""NBoard counts in plies: a depth of d asks for so many simulations times d squared."""


class NBoard(Face):
    """Answers NBoard."""

    def __init__(self, open_session: Callable[[], "Session"], lines: Any, out: IO[str], *, name: str):
        super().__init__(open_session, lines, out)
        self._name = name
        self._depth: int | None = None

    def hear(self, line: str) -> None:
        """One command; those that are not known are ignored, as the protocol asks."""
        line = re.sub(r"[\x00-\x1f\x7f]", " ", line).strip()
        command, _, rest = line.partition(" ")
        handle = {
            "nboard": self._greet,
            "ping": lambda rest: self.say(f"pong {rest}"),
            "set": self._set,
            "move": self._move,
            "hint": self._hint,
            "go": self._go,
            "learn": lambda rest: self.say("learned"),
            "analyze": self._status,
            "quit": self._quit,
        }.get(command.lower())
        if handle is None:
            if line:
                log(f"ignored: {line[:60]}")
            return
        try:
            handle(rest.strip())
        except (ValueError, OSError, ImportError) as error:
            self.say("status " + " ".join(str(error).split()))

    def _greet(self, rest: str) -> None:
        if rest != "2":
            log(f"version {rest[:20]!r} of the protocol is not known; version 2 is spoken")
        self.say(f"set myname {self._name}")

    def _quit(self, rest: str) -> None:
        self.over = True

    def _status(self, rest: str) -> None:
        self.say("status analysis of whole games is not supported")

    def _set(self, rest: str) -> None:
        what, _, value = rest.partition(" ")
        if what == "depth":
            if not re.fullmatch(r"[0-9]{1,3}", value) or not int(value):
                raise ValueError(f"depth {value[:20]!r} is no number of plies")
            self._depth = int(value)
        elif what == "game":
            self._set_game(value)
        # contempt and what else there may be does not change how we play

    def _set_game(self, text: str) -> None:
        """A game in GGF: `(;GM[Othello]...BO[8 ...]B[D3//0.1]W[C3]...;)`."""
        fields = re.findall(r"([A-Z]{1,2})\[([^\]]*)\]", text)
        if not text.startswith("(;") or not fields:
            raise ValueError("no game in GGF")
        known = dict(fields)
        if known.get("GM", "Othello").lower() not in ("othello", "reversi"):
            raise ValueError(f"GM[{known['GM'][:20]}] is another game")
        board = known.get("BO", "").split()
        if not board or board[0] != str(SIDE):
            raise ValueError(f"only boards of side {SIDE} are played")
        session = self.later.get()
        moves = [(1 if colour == "B" else -1, read_square(place, SIDE)) for colour, place in fields
                 if colour in ("B", "W")]  # fmt: skip
        before = session.to_json()
        session.restart()
        drawn = session.drawing().replace("\n", "").replace("X", "*").replace(".", "-")
        if "".join(board[1:])[: SIDE * SIDE] != drawn:
            session.load_json(before)
            raise ValueError("only games from the usual opening position are played")
        try:
            for colour, point in moves:
                session.play(point, colour)
        except ValueError:
            session.load_json(before)
            raise

    def _move(self, rest: str) -> None:
        self.later.get().play(read_square(rest, SIDE))

    def _limits(self) -> Limits | None:
        return None if self._depth is None else Limits(SIMULATIONS_PER_DEPTH * self._depth**2)

    def _hint(self, rest: str) -> None:
        if not re.fullmatch(r"[0-9]{1,3}", rest) or not int(rest):
            raise ValueError("hint takes a number of moves")
        session = self.later.get()
        if session.over:
            raise ValueError("the game is over")
        self.say("status thinking")
        analysis = session.think(self._limits(), self.lines)
        for candidate in analysis.candidates[: int(rest)]:
            line = "".join(square(placed(session.point(action))) for action in candidate.variation)
            self.say(f"search {line} {DISCS * candidate.value:.2f} 0 {len(candidate.variation)}")
        if not analysis.candidates:
            self.say(f"search {square(placed(session.point(analysis.action)))} {self._eval(analysis)} 0 1")
        self._nodes(analysis)
        self.say("status")

    def _go(self, rest: str) -> None:
        session = self.later.get()
        if session.over:
            raise ValueError("the game is over")
        self.say("status thinking")
        # NBoard tells the move back to us if it is played.
        analysis = session.think(self._limits())
        move = square(placed(session.point(analysis.action)))
        self.say(f"=== {move}/{self._eval(analysis)}/{analysis.seconds:.2f}")
        self._nodes(analysis)
        self.say("status")

    def _eval(self, analysis: "Analysis") -> str:
        return f"{DISCS * (analysis.value or 0.0):.2f}"

    def _nodes(self, analysis: "Analysis") -> None:
        self.say(f"nodestats {analysis.simulations} {analysis.seconds:.2f}")
