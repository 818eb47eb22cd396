"""Train networks of several widths, keep stages of each, rate them all, and fit strength to time and size.

    python experiments/scaling.py                                     # 3 widths x 90 CPU minutes, then games
    python experiments/scaling.py --model fcn --widths 16 32 64
    python experiments/scaling.py --preset smoke --widths 4 8 --stages 0.02 0.04 --games 2   # to try it
    python experiments/scaling.py --report-only                       # trains nothing: table and figure alone

Time is the process's own processor time, so that a busy machine does not count. Training and games continue
where they stopped.
"""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.cli.games_bar import GamesBar
from saz_jax.cli.round_robin import shown
from saz_jax.storage.results import read_json
from saz_jax.studies import scaling
from saz_jax.studies.scaling import ScalingConfig


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A scaling study and where its results go."""

    scaling: Annotated[ScalingConfig, tyro.conf.arg(name="")]
    results: Path = Path("results/scaling")
    """Folder for training runs, players, games and results."""
    report_only: bool = False
    """Train and play nothing; write the page and the figure from what is stored."""


def main(argv: list[str]) -> None:
    """Train what is missing, play what is missing, then write page and figure."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
    with stops_soon("stopped; the same command continues"), plain_errors():
        folder, config = arguments.results, arguments.scaling
        if arguments.report_only:
            write_page(folder, read_json(folder / "scaling.json"))
            return
        compilation_cache.enable()
        results = scaling.prepare(config, folder)
        scaling.train(config, folder, results, lambda line: print(line, file=sys.stderr))
        prepared = scaling.meeting(config, folder)
        total = len(prepared.config.rounds) * config.games
        with GamesBar(Console(stderr=True), total, total - len(prepared.missing()) * config.games) as bar:
            data = scaling.conclude(results, shown(prepared, bar))
        write_page(folder, data)


def write_page(folder: Path, data: dict) -> None:
    """README.md and the figure."""
    if "fit" not in data:
        raise ValueError(f"the study in {folder} is not complete; run it without --report-only")
    scaling.figure(data, folder / "scaling.png")
    text = scaling.table(data)
    page = f"# Strength over time and parameters\n\n`{data['command']}`\n\n![ratings](scaling.png)\n\n{text}"
    (folder / "README.md").write_text(page)
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
