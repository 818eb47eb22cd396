"""How far an arena's games are: a live bar on a terminal, a line now and then elsewhere (extra `cli`)."""

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

LINE_SECONDS = 10.0
"""Time between two lines where nobody watches a terminal."""


class GamesBar:
    """Counts games over several stretches of play, towards a total that is known from the start."""

    def __init__(self, console: Console, total: int, done: int = 0):
        self._console, self._total, self._before = console, total, done
        self._began, self._spoke, self._earlier = time.monotonic(), time.monotonic(), done
        self._description = ""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID = self._bar.add_task("", total=total, completed=done, rate="")

    def __enter__(self) -> "GamesBar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, description: str) -> None:
        """A stretch of games under a name."""
        self._description = description
        self._bar.update(self._task, description=description)

    def finished(self, games: int) -> None:
        """So many games of this stretch are over."""
        self._show(self._before + games)

    def end(self, games: int, line: str) -> None:
        """The stretch of so many games is over; `line` says how it went."""
        self._before += games
        self._show(self._before)
        self._console.print(line, highlight=False, soft_wrap=True)

    def _show(self, done: int) -> None:
        now = time.monotonic()
        rate = (done - self._earlier) / max(now - self._began, 1e-9)
        self._bar.update(self._task, completed=done, rate=f"{rate:.2f} games/s")
        if not self._console.is_terminal and now - self._spoke > LINE_SECONDS and rate > 0:
            left = (self._total - done) / rate
            self._console.print(
                f"{self._description}: {done}/{self._total} games, {rate:.2f} games/s, {left:.0f} s left",
                highlight=False,
                soft_wrap=True,
            )
            self._spoke = now
