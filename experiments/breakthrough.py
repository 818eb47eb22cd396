"""Measure players of Breakthrough on boards beyond their training, and short trainings from five seeds.

    python experiments/breakthrough.py --players graph=runs/graph fcn=runs/fcn az=runs/az tuned=runs/tuned
    python experiments/breakthrough.py --seeds 5 --minutes 10    # the seeds alone: 50 CPU minutes, then games
    python experiments/breakthrough.py --players graph=runs/graph --seeds 0                # no training
    python experiments/breakthrough.py --preset smoke --minutes 0.01 --seeds 2 --sizes 5 6 --games 2 \\
        --simulations 2 --opponents random greedy mcts:4 --results /tmp/try                # to try it
    python experiments/breakthrough.py --report-only                   # plays nothing: page and figure alone

All players meet random, greedy, mcts:1000 and each other on 8x8, 10x10 and 12x12. The players to compare
come from `saz train --game breakthrough --preset strong`: the rival with --model fcn, AZ with --model model1
and --sizes 8 for three times as long, the fine-tuned player with --init-from and the large side. Training and
games continue where they stopped, also with further --players, --sizes, --runs or --seeds.
"""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from saz_jax.cli import compilation_cache
from saz_jax.cli.console import SAVING_SECONDS, PhaseBar, plain_errors, stops_soon
from saz_jax.storage.results import read_json
from saz_jax.studies import breakthrough
from saz_jax.studies.breakthrough import BreakthroughConfig


@dataclasses.dataclass(frozen=True)
class Arguments:
    """The study and where its results go."""

    study: Annotated[BreakthroughConfig, tyro.conf.arg(name="")]
    results: Path = Path("results/breakthrough")
    """Folder for training runs, games and results."""
    report_only: bool = False
    """Train and play nothing; write the page and the figure from what is stored."""


def main(argv: list[str]) -> None:
    """Measure what is missing, then write page and figure."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
    stopped = "stopped; what is finished is kept, and the same command continues"
    with stops_soon(stopped, SAVING_SECONDS), plain_errors():
        folder, console = arguments.results, Console(stderr=True)
        if arguments.report_only:
            write_page(folder, read_json(folder / "breakthrough.json"))
            return
        compilation_cache.enable()
        with PhaseBar(console) as bar:
            say = lambda line: console.print(line, highlight=False, soft_wrap=True)  # noqa: E731
            data = breakthrough.run(arguments.study, folder, say, bar)
        write_page(folder, data)


def write_page(folder: Path, data: dict) -> None:
    """README.md and the figure."""
    if not data["matches"]:
        raise ValueError(f"no match of the study in {folder} has been played; run it without --report-only")
    breakthrough.figure(data, folder / "breakthrough.png")
    config, hardware = data["config"], data["hardware"]
    newest = [data, *data.get("continued", [])][-1]
    page = (
        f"# {config['game'].capitalize()} beyond the boards of the training\n\n"
        "Average outcomes (a win counts 1) with 95% intervals, seen by the player of the row. Each match has "
        f"{config['runs']} x {config['games']} games,\n{config['opening_moves']} random plies first and both "
        f"colours; players with weights search with {config['simulations']} simulations. Where several\n"
        "seeds count as one player, the interval is the wider of that over games (Wilson) and that over "
        "seeds (Student).\n\n"
        f"`{newest['command']}`\n\n"
        f"{hardware['processor']}, {hardware['cores']} cores, {hardware['backend']}; {newest['date']}.\n\n"
        f"![outcomes](breakthrough.png)\n\n"
        f"{breakthrough.table(data)}{breakthrough.seeds_table(data)}{breakthrough.players_table(data)}"
    )
    (folder / "README.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
