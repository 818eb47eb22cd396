"""Talking in lines: what the three line protocols share.  Nothing here needs jax.

Lines are read in the background, so that a search can be stopped by whatever comes next.  Only the protocol
goes to stdout; everything else that is printed goes to stderr.
"""

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NoReturn, TextIO

if TYPE_CHECKING:
    from saz_jax.play.session import Session

MAX_LINE = 1 << 20
"""Bytes of a line; the rest of a longer one is dropped."""
IDLE_SECONDS = 0.3
"""After so long without a command the players get ready."""


class Lines:
    """The lines of a byte stream; half a line at its end counts as one."""

    def __init__(self, stream: IO[bytes]):
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._ended = threading.Event()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[bytes]) -> None:
        try:
            while line := stream.readline(MAX_LINE):
                rest = line
                while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                    rest = stream.readline(MAX_LINE)
                self._queue.put(line.decode(errors="replace").rstrip("\r\n"))
        except (OSError, ValueError):  # the stream was closed
            pass
        self._queue.put(None)

    def next(self, idle: Callable[[], None] = lambda: None) -> str | None:
        """The next line, None after the last one; calls `idle` once if it keeps us waiting."""
        if self._ended.is_set():
            return None
        try:
            line = self._queue.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            idle()
            line = self._queue.get()
        if line is None:
            self._ended.set()
        return line

    def is_set(self) -> bool:
        """Whether there is something to read, or the end: a search with this as its `stop` then stops."""
        return self._ended.is_set() or not self._queue.empty()

    def wait(self) -> None:
        """Returns when `is_set`."""
        while not self.is_set():
            time.sleep(0.02)


class Later:
    """A session that is opened in the background, since importing jax takes seconds."""

    def __init__(self, open_session: Callable[[], "Session"]):
        self._open, self._session, self._error = open_session, None, None
        self._preparing: threading.Thread | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._session = self._open()
        except Exception as error:  # told to whoever asks for the session
            self._error = error

    def get(self) -> "Session":
        """The session; waits for it, and raises what went wrong."""
        self._thread.join()
        if self._error is not None:
            raise ValueError(f"cannot begin: {self._error}") from self._error
        assert self._session is not None
        return self._session

    def get_ready(self) -> None:
        """Compiles in the background what the next move needs."""
        if self._preparing is not None and self._preparing.is_alive():
            return

        def prepare() -> None:
            try:
                session = self.get()
                if not session.over:
                    session.prepare()
            except Exception as error:  # the move that needs it will say so in the protocol's own form
                log(f"not ready: {error}")

        self._preparing = threading.Thread(target=prepare, daemon=True)
        self._preparing.start()


def log(text: str) -> None:
    """A line for people."""
    print(text, file=sys.stderr, flush=True)


def take_stdout() -> TextIO:
    """Where the protocol is written from now on; what anybody else prints to stdout goes to stderr."""
    sys.stdout.flush()
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace", newline="\n")
    os.dup2(2, 1)
    return protocol


def leave(out: IO[str]) -> NoReturn:
    """Ends the process at once, whatever still compiles or waits for input in the background."""
    for stream in (out, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


class Face:
    """What all line protocols do: read, answer, flush, survive."""

    def __init__(self, open_session: Callable[[], "Session"], lines: Any, out: IO[str]):
        self.later, self.lines, self.out = Later(open_session), lines, out
        self.over = False

    def say(self, text: str) -> None:
        """Writes a line of the protocol."""
        self.out.write(text + "\n")
        self.out.flush()

    def run(self) -> None:
        """Answers until the end of the input or of the protocol."""
        try:
            while not self.over and (line := self.lines.next(self.later.get_ready)) is not None:
                self.hear(line)
        except BrokenPipeError:  # nobody listens any more
            pass
        finally:
            if not self.later._thread.is_alive() and self.later._session is not None:
                self.later._session.close()

    def hear(self, line: str) -> None:
        """One line of the protocol."""
        raise NotImplementedError
