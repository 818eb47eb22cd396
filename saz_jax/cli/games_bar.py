"""Progress of an arena's games: a live bar on a terminal, else a line now and then (extra `cli`)."""

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from saz_jax.arena import series
from saz_jax.arena.series import MatchConfig

LINE_SECONDS = 10.0
"""Time between two lines where there is no terminal."""


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

    def played(self, games: float) -> None:
        """So many games of this stretch have been played, unfinished ones counted in part."""
        self._show(self._before + games)

    def end(self, games: int, line: str) -> None:
        """The stretch of so many games is over; `line` says how it went."""
        self._before += games
        self._show(self._before)
        self._console.print(line, highlight=False, soft_wrap=True)

    def _show(self, done: float) -> None:
        now = time.monotonic()
        rate = (done - self._earlier) / max(now - self._began, 1e-9)
        self._bar.update(self._task, completed=done, rate=f"{rate:.2f} games/s")
        if not self._console.is_terminal and now - self._spoke > LINE_SECONDS and rate > 0:
            left = (self._total - done) / rate / 60
            line = f"{int(done)}/{self._total} games, {rate:.2f} games/s, {left:.1f} min left"
            self._console.print(f"{self._description}: {line}", highlight=False, soft_wrap=True)
            self._spoke = now


def board_name(size: int | str) -> str:
    """A side as rows x columns, the text of a shape as it is."""
    return f"{size}x{size}" if str(size).isdigit() else str(size)


class MatchDisplay(series.Reporter):
    """Shows an evaluation on a `GamesBar`."""

    def __init__(self, bar: GamesBar, config: MatchConfig):
        self._bar, self._config = bar, config

    def begin(self, size: int | str, run: int) -> None:
        """Names the run."""
        self._bar.begin(f"{self._config.game} {board_name(size)}, run {run + 1} of {self._config.runs}")

    def played(self, games: float) -> None:
        """Moves the bar."""
        self._bar.played(games)

    def end(self, size: int | str, summary: Mapping[str, Any]) -> None:
        """One line for every run."""
        runs = summary["runs"]
        line = f"{board_name(size)}, run {len(runs)} of {self._config.runs}: {runs[-1]['outcome']:.3f}"
        self._bar.end(self._config.games, f"{line} in {runs[-1]['seconds']:.0f} s")
