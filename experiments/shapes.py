"""Let players that learned on squares play boards of other shapes: the graph network and its rival.

    python experiments/shapes.py --game othello --side 12              # 100 games per board and match
    python experiments/shapes.py --games 20 --simulations 16           # a quick look
    python experiments/shapes.py --train-minutes 20                    # train both with shapes, too
    python experiments/shapes.py --runs 0                              # plays nothing: table and figure alone

Rectangles, random holes (drawn anew for each opening), a diamond, a ring and a cross, against greedy and
against each other.  Results are kept after every run, and the same command continues.
"""

import dataclasses
import sys
from pathlib import Path

import tyro
from rich.console import Console

from saz_jax.arena import series
from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.cli.games_bar import GamesBar, MatchDisplay
from saz_jax.studies import shapes
from saz_jax.training import loop
from saz_jax.training.presets import preset


@dataclasses.dataclass(frozen=True)
class Arguments:
    """How much is played, and by whom."""

    game: str = "othello"
    """othello, gomoku or go."""
    side: int = 12
    """All boards lie inside a square of this side."""
    games: int = 100
    """Games per board, match and run, half with each colour."""
    runs: int = 1
    """Independent runs; 0: only write the table and the figure."""
    simulations: int = 32
    """Simulations per move."""
    train_minutes: float = 0.0
    """Train the graph network and its rival for so long each with shapes in self-play, and let them meet."""
    seeds: int = 3
    """Training runs of each."""
    results: Path = Path("results/shapes")
    """Folder of the results."""


TRAINED_ON = ("8x8", "6x8", "8x6", "holes:8:0.05", "holes:8:0.15", "diamond:8", "cross:8")
"""Boards of self-play, where players are trained on shapes."""


def main(argv: list[str]) -> None:
    """Train if asked to, play what is missing, then write table and figure."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
    with stops_soon("stopped; the same command continues after the last whole run"), plain_errors():
        compilation_cache.enable()
        arguments.results.mkdir(parents=True, exist_ok=True)
        rivals = {"gin": arguments.game, "fcn": f"{arguments.game}-fcn"}
        if arguments.runs:
            play(arguments, rivals)
        if arguments.runs and arguments.train_minutes:
            for seed in range(arguments.seeds):
                play(arguments, {f"{name}.shapes{seed}": train(arguments, name, seed) for name in rivals})
        text = f"{shapes.table(arguments.results)}\n{shapes.verdict(arguments.results)}"
        (arguments.results / "table.md").write_text(text)
        shapes.figure(arguments.results, arguments.results / "shapes.png")
        print(text)


def train(arguments: Arguments, network: str, seed: int) -> str:
    """The workdir of a player trained with shapes in self-play."""
    model = {"gin": "saz", "fcn": "fcn"}[network]
    config = dataclasses.replace(preset("small", arguments.game, model), shapes=TRAINED_ON, seed=seed)
    evaluation = dataclasses.replace(config.evaluation, games=0)
    workdir = arguments.results / "runs" / f"{arguments.game}-{network}-{seed}"
    for row in loop.run(
        dataclasses.replace(config, evaluation=evaluation), workdir, minutes=arguments.train_minutes
    ):
        print(f"{workdir.name}: iteration {row['iteration']}, {row['seconds'] / 60:.1f} min", file=sys.stderr)
    return str(workdir)


def play(arguments: Arguments, players: dict[str, str]) -> None:
    """What is missing of the matches between these players and greedy."""
    matches = shapes.matches(
        players,
        arguments.game,
        arguments.side,
        arguments.games,
        arguments.runs,
        arguments.simulations,
    )
    for name, match in matches.items():
        prepared = series.prepare(match, arguments.results / name)
        total, done = prepared.games()
        if done < total:
            with GamesBar(Console(stderr=True), total, done) as bar:
                series.play(prepared, MatchDisplay(bar, match))


if __name__ == "__main__":
    main(sys.argv[1:])
