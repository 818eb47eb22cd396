"""The Gomocup (Piskvork) protocol for Gomoku at any side (`saz gomocup`).

The manager tells moves and limits, the brain answers with `x,y`; mistakes are answered by a line that begins
with ERROR, commands that are not known by UNKNOWN.  START is answered before jax is there.
"""

import re
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from saz_jax.coordinates import gomocup_point, placed, read_gomocup_point
from saz_jax.play.clock import Clock
from saz_jax.play.lines import Face, log

if TYPE_CHECKING:
    from saz_jax.play.session import Session

SMALLEST, LARGEST = 5, 99
"""Sides that are taken on; five in a row need five points."""
OWN, THEIRS = "1", "2"
FREESTYLE = 0
"""The value of INFO rule for our rules: five or more in a row win."""
HAND_MEMORY = 350 * 2**20
"""Bytes that jax and the network take; what a limit leaves beyond them is for the tree."""


class Gomocup(Face):
    """Answers a Gomocup manager."""

    def __init__(
        self, open_session: Callable[[], "Session"], lines: Any, out: IO[str], *, name: str, version: str
    ):
        super().__init__(open_session, lines, out)
        self._about = f'name="{name}", version="{version}", author="the saz_jax authors", country="-"'
        self._sides: tuple[int, int] | None = None  # rows and columns
        self._board: list[str] | None = None
        self._swap = False
        self._limits: dict[str, float] = {}
        self._pending = False  # START was answered, the board is not set up yet

    def hear(self, line: str) -> None:
        """One command of the manager."""
        line = re.sub(r"[\x00-\x1f\x7f]", " ", line).strip()
        try:
            if self._board is not None:
                self._collect(line)
                return
            command, _, rest = line.partition(" ")
            handle = getattr(self, f"_do_{command.lower()}", None) if command.isalnum() else None
            if not line:
                return
            if handle is None:
                self.say(f"UNKNOWN command {command[:20]}")
            else:
                handle(rest.strip())
        except (ValueError, OSError, ImportError) as error:
            self.say("ERROR " + " ".join(str(error).split()))

    # Commands.

    def _do_about(self, rest: str) -> None:
        self.say(self._about)

    def _do_start(self, rest: str) -> None:
        self._begin(rest, rest)

    def _do_rectstart(self, rest: str) -> None:
        width, _, height = rest.partition(",")
        self._begin(height.strip(), width.strip())

    def _begin(self, rows: str, columns: str) -> None:
        if not all(re.fullmatch(r"[0-9]{1,9}", n) and SMALLEST <= int(n) <= LARGEST for n in (rows, columns)):
            raise ValueError(f"unsupported size; sides from {SMALLEST} to {LARGEST} are played")
        self._sides, self._pending = (int(rows), int(columns)), True
        self.say("OK")

    def _do_restart(self, rest: str) -> None:
        self._started()
        self._pending = True
        self.say("OK")

    def _do_begin(self, rest: str) -> None:
        session = self._session()
        if session.moves:
            raise ValueError("the board is not empty; RESTART first")
        self._answer()

    def _do_turn(self, rest: str) -> None:
        session = self._session()
        session.play(read_gomocup_point(rest, session.size))
        self._answer()

    def _do_play(self, rest: str) -> None:
        session = self._session()  # the manager's answer to SUGGEST, which we never send
        session.play(read_gomocup_point(rest, session.size))
        self.say(rest)

    def _do_board(self, rest: str) -> None:
        self._started()
        self._board, self._swap = [], False

    def _do_swap2board(self, rest: str) -> None:
        self._started()
        self._board, self._swap = [], True

    def _do_takeback(self, rest: str) -> None:
        session = self._session()
        point = read_gomocup_point(rest, session.size)
        if not session.moves or session.last_move != point:
            raise ValueError(f"{rest} is not the last move")
        session.undo()
        self.say("OK")

    def _do_info(self, rest: str) -> None:
        key, _, value = rest.partition(" ")
        found = re.fullmatch(r"-?[0-9]{1,12}", value.strip())
        if found:  # the answer is silence, whatever the key
            self._limits[key.lower()] = int(value)
        rule = self._limits.get("rule", FREESTYLE)
        if key.lower() == "rule" and rule not in (FREESTYLE, 4, 8):  # 4: renju off; 8: caro off
            log(f"rule {value} is not known here; five or more in a row win")

    def _do_end(self, rest: str) -> None:
        self.over = True

    # What they share.

    def _started(self) -> tuple[int, int]:
        if self._sides is None:
            raise ValueError("no board; START comes first")
        return self._sides

    def _session(self) -> "Session":
        """The game, set up as START asked for."""
        (rows, columns), session = self._started(), self.later.get()
        if self._pending:
            limit = self._limits.get("max_memory", 0)
            # A tree is copied when it is planted and when a part of it is kept.
            room = {"tree_bytes": max(limit - HAND_MEMORY, 0) / 3} if limit > 0 else {}
            session.restart(shape=f"{rows}x{columns}", max_size=None, **room)
            self._pending = False
        return session

    def _answer(self) -> None:
        """Moves; the limits of INFO are in milliseconds and bytes, 0 for none."""
        session = self._session()
        if session.over:
            raise ValueError("the game is over; RESTART begins a new one")
        memory = self._limits.get("max_memory", 0)
        if 0 < memory < HAND_MEMORY:
            log(f"max_memory {memory:.0f} is less than jax itself takes; it cannot be kept")
        turn, left = self._limits.get("timeout_turn"), self._limits.get("time_left")
        match = self._limits.get("timeout_match", 0)
        # timeout_turn 0: as fast as possible; time_left tells what the whole match leaves.
        session.clock = Clock(
            per_move=None if turn is None else turn / 1000,
            main=None if left is None or match <= 0 else max(left, 0) / 1000,
        )
        analysis = session.move()
        point = placed(session.point(analysis.action))
        assert point is not None
        self.say(gomocup_point(point))

    def _collect(self, line: str) -> None:
        """A line of a board, or DONE."""
        assert self._board is not None
        if line.upper() != "DONE":
            if len(self._board) <= LARGEST**2:
                self._board.append(line)
            return
        stones, self._board = self._board, None
        if self._swap:
            self._swap2(stones)
        else:
            self._set_up(stones)
            self._answer()

    def _set_up(self, lines: list[str]) -> None:
        """A position told stone by stone; it is our turn, and sides alternate in whatever order they come."""
        session = self._session()
        stones: dict[str, list[tuple[int, int]]] = {OWN: [], THEIRS: []}
        for line in lines:
            place, _, field = line.rpartition(",")
            if field.strip() not in stones:
                raise ValueError(f"{line[:20]!r} is no stone; use x,y,1 for own and x,y,2 for the other side")
            stones[field.strip()].append(read_gomocup_point(place, session.size))
        first, second = stones[THEIRS], stones[OWN]
        if len(first) == len(second):  # we began
            first, second = second, first
        if not 0 <= len(first) - len(second) <= 1:
            raise ValueError(f"{len(stones[OWN])} own stones and {len(stones[THEIRS])} of the other side")
        session.restart()
        for number in range(len(lines)):
            side = first if number % 2 == 0 else second
            session.play(side[number // 2])

    def _swap2(self, lines: list[str]) -> None:
        """Opening by swap2: three stones, then a choice; ours is balanced by taste, not by search."""
        sides = self._started()
        points = [read_gomocup_point(line, max(sides)) for line in lines]
        y, x = (side // 2 for side in sides)
        if not points:
            self.say(f"{x},{y} {x - 1},{y - 2} {x + 2},{y - 1}")
        elif len(points) in (3, 5):
            session = self._session()
            session.restart()
            for point in points:
                session.play(point)
            if session.over:
                raise ValueError("the opening has decided the game")
            analysis = session.think()
            # Light is to move: it stays light if that is good, else it takes dark.
            if analysis.value is not None and analysis.value < 0:
                self.say("SWAP")
            else:
                point = placed(session.point(analysis.action))
                assert point is not None
                session.play(point)
                self.say(gomocup_point(point))
        else:
            raise ValueError(f"swap2 knows boards of 0, 3 and 5 stones, not of {len(points)}")
