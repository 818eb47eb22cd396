"""Manners of the scripts: errors in one sentence, progress where people look; needs the extra `cli`."""

import atexit
import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """A user's mistake or a full disk ends in one sentence and exit code 2, not in a traceback."""
    try:
        yield
    except (ValueError, OSError, FloatingPointError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def terminate_like_interrupt() -> None:
    """From here on SIGTERM does what Ctrl-C does: raise `KeyboardInterrupt`."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def explain_sudden_end(message: str) -> None:
    """Has `message` printed if this process is killed, aborted by the runtime or fails with an exception."""
    speak = f"import sys; sys.stdin.read(1) or print({message!r}, file=sys.stderr)"
    watcher = subprocess.Popen(
        [sys.executable, "-c", speak], stdin=subprocess.PIPE, text=True, start_new_session=True
    )
    atexit.register(watcher.communicate, ".")
    show = sys.excepthook

    def fail(*error: Any) -> None:
        atexit.unregister(watcher.communicate)
        show(*error)

    sys.excepthook = fail


class PhaseBar:
    """A live bar for the phase at hand below whatever is printed; silent where nobody watches a terminal."""

    def __init__(self, console: Console):
        self._bar = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._phase = ""

    def __enter__(self) -> "PhaseBar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, phase: str, done: float, total: float) -> None:
        """`done` of `total` steps of `phase` are over."""
        if phase != self._phase:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task, self._phase = self._bar.add_task(phase, total=total), phase
        if self._task is not None:
            self._bar.update(self._task, completed=done, total=total)
