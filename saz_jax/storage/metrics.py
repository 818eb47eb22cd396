"""The figures of a run, one row per iteration, in `metrics.jsonl` and `metrics.csv`."""

import csv
import io
import json
import os
from pathlib import Path
from typing import TypeAlias

Row: TypeAlias = dict[str, int | float]
"""Figures by name; a figure that was not measured in an iteration is absent."""


class Metrics:
    """Rows in files that a reader may open at any time; with `write=False` they stay in memory."""

    def __init__(self, workdir: Path, write: bool = True):
        self._jsonl, self._csv, self._write = workdir / "metrics.jsonl", workdir / "metrics.csv", write
        self.rows = read_metrics(workdir)

    def keep(self, iterations: int) -> None:
        """Forgets the rows after that many iterations: the run goes on from there and makes them again."""
        self.rows = [row for row in self.rows if row["iteration"] <= iterations]
        self._replace(self._jsonl, _as_lines(self.rows))

    def add(self, row: Row) -> None:
        """One more row, in place of an earlier one of the same iteration."""
        known = any(row["iteration"] == other["iteration"] for other in self.rows)
        self.rows = _newest([*self.rows, row])
        if known:
            self._replace(self._jsonl, _as_lines(self.rows))
        elif self._write:
            with self._jsonl.open("a") as file:
                file.write(_as_lines([row]))
        self._replace(self._csv, as_csv(self.rows))

    def _replace(self, path: Path, text: str) -> None:
        if self._write:
            temporary = path.with_suffix(path.suffix + ".tmp")
            temporary.write_text(text)
            os.replace(temporary, path)


def read_metrics(workdir: Path) -> list[Row]:
    """The rows of the run in `workdir`, one per iteration, [] if there are none.

    A line cut short by a crash is left out; of several rows of one iteration the last one counts.
    """
    path = Path(workdir) / "metrics.jsonl"
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return _newest([json.loads(line) for line in lines if line.endswith("\n")])


def as_csv(rows: list[Row]) -> str:
    """A table with one column for every name in any row, in order of appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _newest(rows: list[Row]) -> list[Row]:
    """The last row of every iteration, in order of iterations."""
    newest = {row["iteration"]: row for row in rows}
    return [newest[iteration] for iteration in sorted(newest)]


def _as_lines(rows: list[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
