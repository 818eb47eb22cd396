"""The Go Text Protocol, version 2, for all our games (`saz gtp`).

With analysis as Lizzie, KataGo and Sabaki ask for it, and with GoGui's rules extension, through which GoGui
shows other games than Go.  Vertices count rows from the bottom, those of games on squares (Othello) from the
top, as the GTP programs for Othello do.  A move from one point to another is B2-C3.
"""

import math
import re
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from saz_jax.coordinates import GTP_COLUMNS, Move, ends, gtp_move, read_gtp_move
from saz_jax.play.clock import Clock
from saz_jax.play.limits import Limits
from saz_jax.play.lines import Face

if TYPE_CHECKING:
    from saz_jax.play.session import Session
    from saz_jax.play.thinking import Analysis

DARK = {"b", "black"}
LIGHT = {"w", "white"}
LARGEST = len(GTP_COLUMNS)
"""Vertices have no letters for larger boards."""
HOLE = "#"
"""How a drawing shows that there is no point."""
DEFAULT_INTERVAL = 1.0
"""Seconds between two lines of an analysis."""


class Failure(ValueError):
    """What is answered with a question mark."""


class Style(NamedTuple):
    """How an analysis writes its numbers."""

    winrate: Callable[[float], str]
    prior: Callable[[float], str]


TEN_THOUSANDTHS = Style(lambda x: str(round(1e4 * x)), lambda x: str(round(1e4 * x)))
FRACTIONS = Style(lambda x: f"{x:.6f}", lambda x: f"{x:.6f}")
STYLES = {
    "lz-analyze": TEN_THOUSANDTHS,
    "analyze": TEN_THOUSANDTHS,
    "kata-analyze": FRACTIONS,
    "lz-genmove_analyze": TEN_THOUSANDTHS,
    "genmove_analyze": TEN_THOUSANDTHS,
    "kata-genmove_analyze": FRACTIONS,
}


class GTP(Face):
    """Answers GTP commands about one session."""

    def __init__(
        self,
        open_session: Callable[[], "Session"],
        lines: Any,
        out: IO[str],
        *,
        name: str = "saz_jax",
        version: str = "",
    ):
        super().__init__(open_session, lines, out)
        self._name, self._version = name, version
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: self._name,
            "version": lambda words: self._version,
            "known_command": lambda words: str(bool(words) and words[0] in self._known()).lower(),
            "list_commands": lambda words: "\n".join(self._known()),
            "quit": self._quit,
            "boardsize": self._boardsize,
            "rectangular_boardsize": self._rectangular_boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "showboard": self._showboard,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "final_score": self._final_score,
            "final_status_list": self._final_status_list,
            "loadsgf": self._loadsgf,
            "printsgf": self._printsgf,
            "gogui-rules_game_id": lambda words: self.session.game.name.capitalize(),
            "gogui-rules_board": self._board,
            "gogui-rules_board_size": self._board_size,
            "gogui-rules_legal_moves": self._legal_moves,
            "gogui-rules_side_to_move": lambda words: "black" if self.session.to_play == 1 else "white",
            "gogui-rules_final_result": self._final_result,
        }

    @property
    def session(self) -> "Session":
        """The game; waits until it is there."""
        return self.later.get()

    def _known(self) -> list[str]:
        return [*self._commands, *STYLES]

    def hear(self, line: str) -> None:
        """One command, answered by `=` or `?`."""
        line = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line.partition("#")[0]).replace("\t", " ")
        words = line.split()
        if not words:
            return
        number = ""
        if re.fullmatch(r"[0-9]{1,10}", words[0]):
            number = words.pop(0)
        if not words:
            self._answer("?", number, "unknown command")
            return
        command, *words = words
        try:
            if command in STYLES:
                self._analyse(command, number, words)
                return
            if command not in self._commands:
                raise Failure("unknown command")
            self._answer("=", number, self._commands[command](words))
        except (ValueError, OSError, ImportError) as error:
            self._answer("?", number, str(error))

    def _answer(self, sign: str, number: str, text: str) -> None:
        lines = [line for line in text.split("\n") if line.strip()]  # an empty line would end the answer
        space = "\n" if text.startswith("\n") else " "
        self.say(f"{sign}{number}{space}{chr(10).join(lines)}".rstrip() + "\n")

    # Administration.

    def _quit(self, words: list[str]) -> str:
        self.over = True
        return ""

    def _boardsize(self, words: list[str]) -> str:
        size = _whole(words, 0, "boardsize takes a side")
        if size > LARGEST:
            raise Failure(f"unacceptable size: vertices end at side {LARGEST}")
        try:
            self.session.restart(size=size, max_size=None)
        except ValueError as error:
            raise Failure(f"unacceptable size: {error}") from error
        return ""

    def _rectangular_boardsize(self, words: list[str]) -> str:
        width, height = (_whole(words, index, "it takes a width and a height") for index in range(2))
        if width == height:
            return self._boardsize(words[:1])
        if max(width, height) > LARGEST:
            raise Failure(f"unacceptable size: vertices end at side {LARGEST}")
        try:
            self.session.restart(shape=f"{height}x{width}", max_size=None)
        except ValueError as error:
            raise Failure(f"unacceptable size: {error}") from error
        return ""

    def _clear_board(self, words: list[str]) -> str:
        self.session.restart()
        return ""

    def _komi(self, words: list[str]) -> str:
        komi = _number(words, 0, "komi takes a number")
        if "komi" in dict(self.session.game.options):  # other games have none, and controllers set it anyway
            self.session.set_options(komi=komi)
        return ""

    def _time_settings(self, words: list[str]) -> str:
        usage = "time_settings takes main time, overtime and stones"
        main, overtime, stones = (_whole(words, index, usage) for index in range(3))
        unlimited = overtime > 0 and stones == 0
        self.session.clock = Clock() if unlimited else Clock(main=main, overtime=overtime, stones=stones)
        return ""

    def _time_left(self, words: list[str]) -> str:
        usage = "time_left takes a colour, seconds and stones"
        colour, seconds = _colour(words, 0), _whole(words, 1, usage)
        stones, clock = _whole(words, 2, usage), self.session.clock
        if clock.main is None:
            clock.main = float(seconds)
        clock.left[colour] = float(seconds)
        if stones:
            clock.stones_left[colour] = stones
        else:
            clock.stones_left.pop(colour, None)
        return ""

    # The game.

    def _play(self, words: list[str]) -> str:
        colour = _colour(words, 0)
        if len(words) < 2:
            raise Failure("play takes a colour and a vertex")
        if words[1].lower() == "resign":
            self.session.resign(colour)
            return ""
        try:
            point = self._point(words[1])
        except ValueError as error:
            raise Failure(f"illegal move: {error}") from error
        if point not in self.session.legal_points() and colour == self.session.to_play:
            # Our own names of points count rows from the top, so the session's words would mislead.
            raise Failure(f"illegal move: {self._vertex(point)} cannot be played by {_name(colour)}")
        try:
            self.session.play(point, colour)
        except ValueError as error:
            raise Failure(f"illegal move: {error}") from error
        return ""

    def _genmove(self, words: list[str]) -> str:
        if self._turn(words):
            return "pass"
        analysis = self.session.move()
        return "resign" if analysis.resigns else self._vertex(self.session.point(analysis.action))

    def _reg_genmove(self, words: list[str]) -> str:
        colour = _colour(words, 0)
        if self.session.over:
            return "pass"
        if colour != self.session.to_play:
            raise Failure("it is the other side's turn")
        return self._vertex(self.session.point(self.session.think().action))

    def _turn(self, words: list[str]) -> bool:
        """Makes it the turn of the colour that is asked to move; True: the game is over, so it passes."""
        colour, session = _colour(words, 0), self.session
        if session.view.over:
            return True
        if colour != session.to_play:
            session.play(None, session.to_play)
        return session.view.over

    def _undo(self, words: list[str]) -> str:
        try:
            self.session.undo()
        except ValueError as error:
            raise Failure("cannot undo") from error
        return ""

    def _showboard(self, words: list[str]) -> str:
        session = self.session
        rows = session.drawing().split("\n")
        head = "   " + " ".join(GTP_COLUMNS[: len(rows[0])])
        numbers = [self._vertex((row, 0))[1:] for row in range(len(rows))]
        drawn = [f"{number:>2} {' '.join(row)}" for number, row in zip(numbers, rows, strict=True)]
        turn = session.result() or f"{'black (X)' if session.to_play == 1 else 'white (O)'} to play"
        return "\n".join(["", head, *drawn, turn])

    def _final_score(self, words: list[str]) -> str:
        session = self.session
        if session.over:
            return session.result()
        if session.view.score is None:
            raise Failure("cannot score: the game is not over")
        margin = session.view.score
        return "0" if margin == 0 else f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"

    def _final_status_list(self, words: list[str]) -> str:
        if not words or words[0] not in ("alive", "dead", "seki"):
            raise Failure("final_status_list takes alive, dead or seki")
        if words[0] != "alive":  # the board is scored as it stands
            return ""
        board = self.session.view.board
        stones = ((row, column) for row in range(self._rows) for column in range(len(board)))
        return "\n".join(self._vertex(point) for point in stones if board[point])

    def _loadsgf(self, words: list[str]) -> str:
        if not words:
            raise Failure("loadsgf takes a file and a move number")
        number = _whole(words, 1, "the move number must be whole") - 1 if len(words) > 1 else None
        try:
            with open(words[0], encoding="utf-8") as file:
                text = file.read()
            self.session.load_sgf(text, None if number is None else max(number, 0))
        except (OSError, ValueError) as error:
            raise Failure(f"cannot load file: {error}") from error
        return ""

    def _printsgf(self, words: list[str]) -> str:
        text = self.session.to_sgf()
        if not words:
            return text
        with open(words[0], "w", encoding="utf-8") as file:
            file.write(text)
        return ""

    # GoGui's rules.

    def _board(self, words: list[str]) -> str:
        session = self.session
        # Where there is no point GoGui shows one on which nothing is legal: it skips unknown characters.
        rows = session.drawing().replace(HOLE, ".").split("\n")
        # The first line is the row with the highest number.
        return "\n".join(" ".join(row) for row in (rows[::-1] if self._from_top else rows))

    def _board_size(self, words: list[str]) -> str:
        rows = self.session.drawing().split("\n")
        return str(len(rows)) if len(rows) == len(rows[0]) else f"{len(rows[0])} {len(rows)}"

    def _legal_moves(self, words: list[str]) -> str:
        return " ".join(self._vertex(point) for point in self.session.legal_points())

    def _final_result(self, words: list[str]) -> str:
        session = self.session
        if not session.over:
            return ""
        winner = {1: "Black wins", -1: "White wins", 0: "Draw"}[session.outcome]
        return f"{winner} ({session.result()})"

    # Analysis.

    def _analyse(self, command: str, number: str, words: list[str]) -> None:
        colour, interval = self.session.to_play, DEFAULT_INTERVAL
        for word in words:
            if word.lower() in DARK | LIGHT:
                colour = 1 if word.lower() in DARK else -1
            elif re.fullmatch(r"[0-9]{1,6}", word):
                interval = int(word) / 100
            elif word == "interval" or re.fullmatch(r"[a-zA-Z]{1,20}", word):
                continue  # KataGo's further keys ask for more than we have
            else:
                raise Failure(f"{word[:20]!r} is neither a colour nor an interval in hundredths of a second")
        session, style, moves = self.session, STYLES[command], "genmove" in command
        if moves:
            if self._turn([{1: "b", -1: "w"}[colour]]):
                self._answer("=", number, "\nplay pass")
                return
        elif session.over or colour != session.to_play:
            raise Failure("the game is over" if session.over else "it is the other side's turn")
        self.say(f"={number}")
        told = -math.inf

        def report(analysis: "Analysis") -> None:
            nonlocal told
            if analysis.seconds - told >= interval:
                told = analysis.seconds
                self._tell(analysis, style)

        try:
            if moves:
                analysis = session.move(report=report)
                self._tell(analysis, style)
                self.say(
                    "play " + ("resign" if analysis.resigns else self._vertex(session.point(analysis.action)))
                )
            else:
                self._tell(session.think(Limits(), self.lines, report), style)
                self.lines.wait()
        except ValueError as error:
            self.say(f"error: {error}")
        self.say("")

    def _tell(self, analysis: "Analysis", style: Style) -> None:
        parts = []
        for order, candidate in enumerate(analysis.candidates):
            line = " ".join(self._vertex(self.session.point(action)) for action in candidate.variation)
            winrate = style.winrate((1 + candidate.value) / 2)
            parts.append(
                f"info move {line.split(' ')[0]} visits {candidate.visits} winrate {winrate} "
                f"prior {style.prior(candidate.prior)} lcb {winrate} order {order} pv {line}"
            )
        if not parts:
            move = self._vertex(self.session.point(analysis.action))
            half = style.winrate(0.5)
            parts.append(
                f"info move {move} visits 1 winrate {half} prior {style.prior(1.0)} order 0 pv {move}"
            )
        self.say(" ".join(parts))

    # Vertices.

    @property
    def _rows(self) -> int:
        return len(self.session.drawing().split("\n"))

    @property
    def _from_top(self) -> bool:
        return self.session.game.stones_on == "squares"

    def _vertex(self, point: Move) -> str:
        return gtp_move(point, self._rows, self._from_top)

    def _point(self, text: str) -> Move:
        move = read_gtp_move(text, self.session.size, self._from_top)
        missing = 0 if self._from_top else self.session.size - self._rows
        points = [(row - missing, column) for row, column in ends(move)]
        if len(points) == 2:
            return points[0], points[1]
        return points[0] if points else None


def _whole(words: list[str], index: int, usage: str) -> int:
    if len(words) <= index or not re.fullmatch(r"[0-9]{1,18}", words[index]):
        raise Failure(f"syntax error: {usage}")
    return int(words[index])


def _number(words: list[str], index: int, usage: str) -> float:
    if len(words) <= index or not re.fullmatch(r"[-+]?[0-9]{1,6}(\.[0-9]{0,6})?", words[index]):
        raise Failure(f"syntax error: {usage}")
    return float(words[index])


def _name(colour: int) -> str:
    return "black" if colour == 1 else "white"


def _colour(words: list[str], index: int) -> int:
    word = words[index].lower() if len(words) > index else ""
    if word not in DARK | LIGHT:
        raise Failure("syntax error: the colour is black or white")
    return 1 if word in DARK else -1
