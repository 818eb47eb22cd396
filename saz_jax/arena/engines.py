"""Other people's programs as players: `gtp:COMMAND`, `gomocup:COMMAND` and `nboard:COMMAND`.

An engine is a process that is asked in its own protocol.  It is told the whole game or the moves that it has
not seen, so one process can play one game after another.  Everything that goes wrong is an `EngineError`:
no such program, no answer in time, nonsense, a sudden end, a move that our rules refuse.
"""

import collections
import contextlib
import dataclasses
import os
import queue
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from saz_jax.coordinates import (
    Point,
    gomocup_point,
    gtp_vertex,
    read_gomocup_point,
    read_gtp_vertex,
    read_square,
    square,
)
from saz_jax.games.actions import PLACING
from saz_jax.types import Game

TIMEOUT = 120.0
"""Seconds that an engine has for one answer."""
GAMES_FOLDER = "/usr/games"
"""Where Debian puts them; not everybody's PATH holds it."""
RESIGN = "resign"
PROTOCOLS = ("gtp", "gomocup", "nboard")
NBOARD_DEPTH = 6
SHOWN = 400
"""Characters of an engine's output that an error quotes."""


class EngineError(ValueError):
    """An external program failed."""


@dataclasses.dataclass(frozen=True)
class Ply:
    """One move of a game, as an engine is told."""

    colour: int
    """+1 dark, -1 light."""
    point: Point
    forced: bool = False
    """A pass because nothing else was legal; some programs pass by themselves."""


class Engine(Protocol):
    """A program that plays one game on boards of one side."""

    def choose(self, plies: Sequence[Ply], colour: int) -> Point | str:
        """Its move after these, or "resign"."""
        ...

    def board(self) -> str:
        """Its own idea of the position, for error messages."""
        ...

    def close(self) -> None:
        """Ends the process."""
        ...


@dataclasses.dataclass(frozen=True)
class HostPlayer:
    """A player that keeps a state: each game needs its own process."""

    text: str
    game: Game
    size: int
    open: Callable[[], Engine]


def is_engine(text: str) -> bool:
    """Whether a player's text names a program."""
    return text.partition(":")[0] in PROTOCOLS and ":" in text


def engine_player(text: str, game: Game, size: int, timeout: float = TIMEOUT) -> HostPlayer:
    """The program that `text` names, on boards of `game`; `EngineError` if it cannot play there."""
    protocol, _, command = text.partition(":")
    if protocol == "gomocup" and game.name != "gomoku":
        raise EngineError(f"{text}: Gomocup programs play gomoku, not {game.name}")
    if protocol == "nboard" and (game.name, size) != ("othello", 8):
        raise EngineError(f"{text}: NBoard programs play othello on 8x8, not {game.name} on {size}x{size}")
    if game.moves != PLACING:
        raise EngineError(f"{text}: programs are told where stones are placed; {game.name} moves them")
    arguments = found_command(command)
    makers: dict[str, Callable[..., Engine]] = {
        "gtp": GTPEngine,
        "gomocup": GomocupEngine,
        "nboard": NBoardEngine,
    }
    return HostPlayer(text, game, size, lambda: makers[protocol](Process(arguments, timeout), game, size))


def found_command(command: str) -> list[str]:
    """The words of a command line, the program found on the PATH."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise EngineError(f"{command!r} is no command line ({error}); check its quotes") from error
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), GAMES_FOLDER])
    program = shutil.which(words[0], path=path) if words else None
    if program is None:
        raise EngineError(f"there is no program {words[0] if words else ''!r}; install it, or give its path")
    return [program, *words[1:]]


class Process:
    """A program that reads and writes lines."""

    def __init__(self, arguments: Sequence[str], timeout: float = TIMEOUT):
        self.name, self.timeout = os.path.basename(arguments[0]), timeout
        try:
            self._process = subprocess.Popen(
                list(arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
            )
        except OSError as error:
            raise EngineError(f"cannot start {shlex.join(arguments)}: {error.strerror}") from error
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._last_words: collections.deque[str] = collections.deque(maxlen=5)
        for target in (self._read, self._read_errors):
            threading.Thread(target=target, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self._process.stdout:
                self._lines.put(line.rstrip("\r\n"))
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self._process.stderr:
                self._last_words.append(line.rstrip())

    def say(self, text: str) -> None:
        """Sends a line."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._ended(f"when told {text[:40]!r}") from error

    def hear(self, told: str, deadline: float) -> str:
        """The next line; `told` is what it answers, for error messages."""
        try:
            line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.0))
        except queue.Empty:
            raise EngineError(
                f"{self.name} did not answer {told[:40]!r} within {self.timeout:g} s; "
                "give it more time, or less to think about"
            ) from None
        if line is None:
            self._lines.put(None)
            raise self._ended(f"when told {told[:40]!r}")
        return line

    def _ended(self, when: str) -> EngineError:
        code = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(timeout=1)
        words = " | ".join(self._last_words)[-SHOWN:]
        return EngineError(
            f"{self.name} ended {when} (exit code {code})" + (f"; it said: {words}" if words else "")
        )

    def close(self, goodbye: str = "quit") -> None:
        """Ends the process, by force if it does not end by itself."""
        with contextlib.suppress(EngineError):
            self.say(goodbye)
        for end in (lambda: None, self._process.terminate, self._process.kill):
            end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)
                break
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()


class GTPEngine:
    """A program that speaks GTP, such as `gnugo --mode gtp --chinese-rules` or `gtp-rhino`."""

    def __init__(self, process: Process, game: Game, size: int):
        self._process, self._size = process, size
        self._from_top = game.stones_on == "squares"
        square = np.ones((size, size), bool)
        komi = game.sgf.write(square).get("KM") if game.sgf is not None else None
        self._told: list[Ply] | None = None
        self._head = [f"boardsize {size}", "clear_board", *([f"komi {komi:g}"] if komi is not None else [])]

    def ask(self, command: str) -> str:
        """The answer to a command; `EngineError` if it is refused."""
        deadline = time.monotonic() + self._process.timeout
        self._process.say(command)
        while not (line := self._process.hear(command, deadline)).strip():
            continue
        sign, lines = line[:1], [line[1:].strip()]
        while (line := self._process.hear(command, deadline)).strip():
            lines.append(line)
        text = "\n".join(lines)
        if sign == "?":
            raise EngineError(f"{self._process.name} refuses {command!r}: {text[:SHOWN]}")
        if sign != "=":
            raise EngineError(
                f"{self._process.name} answered {command!r} by nonsense: {(sign + text)[:SHOWN]!r}"
            )
        return text

    def choose(self, plies: Sequence[Ply], colour: int) -> Point | str:
        """Sends the moves that it has not seen, then asks for one."""
        told = self._told
        if told is None or told != list(plies[: len(told)]):
            for command in self._head:
                self.ask(command)
            told = []
        for ply in plies[len(told) :]:
            self._tell(ply)
        self._told = list(plies)
        answer = self.ask(f"genmove {_letter(colour)}")
        if answer.lower() == RESIGN:
            return RESIGN
        try:
            point = read_gtp_vertex(answer, self._size, self._from_top)
        except ValueError as error:
            raise EngineError(f"{self._process.name} moves {answer[:SHOWN]!r}: {error}") from error
        self._told.append(Ply(colour, point))
        return point

    def _tell(self, ply: Ply) -> None:
        try:
            self.ask(f"play {_letter(ply.colour)} {gtp_vertex(ply.point, self._size, self._from_top)}")
        except EngineError as error:
            if not ply.forced:  # programs that pass by themselves know no such move
                raise EngineError(f"{error}\n{self.board()}") from error

    def board(self) -> str:
        """What showboard says."""
        with contextlib.suppress(EngineError):
            return self.ask("showboard")
        return "(it shows no board)"

    def close(self) -> None:
        """Says quit."""
        self._process.close()


class GomocupEngine:
    """A brain of the Gomocup; it is told the whole position for every move."""

    def __init__(self, process: Process, game: Game, size: int):
        self._process, self._size = process, size
        self._position = ""
        process.say(f"START {size}")
        self._expect_ok(f"START {size}")
        process.say(f"INFO timeout_turn {int(1000 * min(process.timeout / 4, 5))}")
        process.say("INFO rule 0")

    def _answer(self, told: str) -> str:
        deadline = time.monotonic() + self._process.timeout
        while True:
            line = self._process.hear(told, deadline).strip()
            word = line.partition(" ")[0].upper()
            if word in ("ERROR", "UNKNOWN"):
                raise EngineError(f"{self._process.name} refuses {told!r}: {line[:SHOWN]}")
            if line and word not in ("MESSAGE", "DEBUG", "SUGGEST"):
                return line

    def _expect_ok(self, told: str) -> None:
        if (answer := self._answer(told)).upper() != "OK":
            raise EngineError(f"{self._process.name} answered {told!r} by nonsense: {answer[:SHOWN]!r}")

    def choose(self, plies: Sequence[Ply], colour: int) -> Point | str:
        """Sends all stones, then reads its move."""
        stones = [f"{gomocup_point(p.point)},{1 if p.colour == colour else 2}" for p in plies if p.point]
        self._position = "\n".join(stones)
        if not stones:
            self._process.say("RESTART")
            self._expect_ok("RESTART")
            self._process.say("BEGIN")
        else:
            for line in ("BOARD", *stones, "DONE"):
                self._process.say(line)
        answer = self._answer("BOARD" if stones else "BEGIN")
        try:
            return read_gomocup_point(answer, self._size)
        except ValueError as error:
            raise EngineError(f"{self._process.name} moves {answer[:SHOWN]!r}: {error}") from error

    def board(self) -> str:
        """The stones that it was told."""
        return self._position

    def close(self) -> None:
        """Says END."""
        self._process.close("END")


class NBoardEngine:
    """A program that speaks NBoard's protocol; it is told the whole game for every move."""

    def __init__(self, process: Process, game: Game, size: int):
        self._process, self._size, self._game = process, size, ""
        self._pings = 0
        process.say("nboard 2")
        process.say(f"set depth {NBOARD_DEPTH}")

    def choose(self, plies: Sequence[Ply], colour: int) -> Point | str:
        """Sends the game in GGF, then asks for a move."""
        moves = "".join(f"{'B' if p.colour == 1 else 'W'}[{square(p.point)}]" for p in plies)
        start = "---------------------------O*------*O---------------------------"
        self._game = f"(;GM[Othello]PC[saz_jax]PB[dark]PW[light]RE[?]TI[15:00]TY[8]BO[8 {start} *]{moves};)"
        self._pings += 1
        deadline = time.monotonic() + self._process.timeout
        self._process.say(f"set game {self._game}")
        self._process.say(f"ping {self._pings}")
        while self._process.hear("ping", deadline).strip() != f"pong {self._pings}":
            continue
        self._process.say("go")
        while not (line := self._process.hear("go", deadline).strip()).startswith("==="):
            continue
        answer = re.split(r"[/\s]", line[3:].strip())[0]
        try:
            return read_square(answer, self._size)
        except ValueError as error:
            raise EngineError(f"{self._process.name} moves {line[:SHOWN]!r}: {error}") from error

    def board(self) -> str:
        """The game that it was told."""
        return self._game

    def close(self) -> None:
        """Says quit."""
        self._process.close()


def _letter(colour: int) -> str:
    return "b" if colour == 1 else "w"
