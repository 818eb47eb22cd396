"""Shared command-line behaviour: errors in one sentence, signals, progress bars; needs the extra `cli`."""

import atexit
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

LAST_SECONDS = 3.0
"""How long a process that was told to stop may take to end once its work is over."""
SAVING_SECONDS = 20.0
"""How long training may go on after the signal: enough to finish a compiled call, save and draw the curve."""
_told_to_stop = False


@atexit.register
def _skip_the_rest() -> None:
    """Ends a process that was told to stop before Python tears down its modules.

    That would wait for computations in the background, and no thread could end the wait any more.
    """
    if _told_to_stop:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """A user's mistake, a full disk or too little memory ends in one sentence and exit code 2.

    Warnings are one sentence, too, without the line of code that raised them.
    """
    usual = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
    try:
        yield
    except (ValueError, OSError, FloatingPointError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        found = re.search("RESOURCE_EXHAUSTED: (.*)", str(error))
        if not (found or isinstance(error, MemoryError)):
            raise
        reason = found[1].rstrip(".") if found else "Out of memory"
        remedy = "use fewer games at once, smaller boards or fewer simulations"
        print(f"error: {reason}; {remedy}", file=sys.stderr)
        sys.exit(2)
    finally:
        warnings.formatwarning = usual


def _interrupt(number: int, frame: Any) -> None:
    global _told_to_stop
    _told_to_stop = True
    raise KeyboardInterrupt


def _interrupt_on_signals() -> None:
    """From here on Ctrl-C and SIGTERM raise `KeyboardInterrupt`."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as a shell has it for jobs in the background
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


@contextlib.contextmanager
def stops_soon(message: str, patience: float = 2.0) -> Iterator[None]:
    """Ctrl-C and SIGTERM print `message` and end the process with code 130, also in a long compiled call.

    Python raises `KeyboardInterrupt` only when the call returns.  A thread is told of the signal at once and
    ends the process if that takes more than `patience` seconds, so files must be written whole or not at all.
    Whatever else delays the end, such as a computation in the background, gets `LAST_SECONDS`.
    """
    _interrupt_on_signals()
    heard, told = socket.socketpair()
    told.setblocking(False)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    over = threading.Event()

    def watch() -> None:
        with heard:
            while number := heard.recv(1):
                if number[0] not in (signal.SIGINT, signal.SIGTERM):
                    continue
                if over.wait(patience):
                    time.sleep(LAST_SECONDS)
                else:
                    cursor = "\x1b[?25h" if os.isatty(2) else ""  # a progress bar hides it
                    os.write(2, f"{cursor}{message}\n".encode())
                os._exit(130)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        print(message, file=sys.stderr)
        sys.exit(130)
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        told.close()


def command(name: str) -> list[str]:
    """How a command is called here: `saz train`, or the script beside the one that runs."""
    script = Path(sys.argv[0]).with_name(f"{name}.py")
    return [sys.executable, str(script)] if script.parent.name == "experiments" else ["saz", name]


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
