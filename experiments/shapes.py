"""Let the graph network and its convolutional rival play boards that are no squares.

    python experiments/shapes.py                                       # three games inside 12x12 and 16x16
    python experiments/shapes.py --game othello --side 12 --games 100  # more games for one of them
    python experiments/shapes.py --train othello --side 12             # train both with shapes, too
    python experiments/shapes.py --runs 0                              # plays nothing: table and figure alone

Rectangles, random holes (drawn anew for each opening), a diamond, a ring and a cross, against greedy and
against each other: first the shipped players, which learned on squares only, then players that are trained
here with shapes in self-play, both networks on the same number of positions.  Results are kept after every
run, and the same command continues.
"""

import dataclasses
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from saz_jax.arena import series
from saz_jax.arena.statistics import STUDENT
from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.cli.games_bar import GamesBar, MatchDisplay
from saz_jax.storage.provenance import provenance
from saz_jax.storage.results import read_json, write_json
from saz_jax.studies import shapes
from saz_jax.training import loop


@dataclasses.dataclass(frozen=True)
class Arguments:
    """How much is played, and by whom."""

    game: tuple[str, ...] = ("othello", "gomoku", "go")
    """Games whose shipped players meet."""
    side: tuple[int, ...] = (12, 16)
    """All boards lie inside a square of this side."""
    games: int = 20
    """Games per board, match and run, half with each colour."""
    runs: int = 1
    """Independent runs; 0: only write the table and the figure."""
    simulations: int = 16
    """Simulations per move."""
    train: tuple[str, ...] = ()
    """Games for which both networks are trained with shapes in self-play, and then meet."""
    iterations: int = 48
    """Length of that training: equal numbers of positions for both networks."""
    seeds: int = 3
    """Training runs of each network."""
    results: Path = Path("results/shapes")
    """Folder of the results."""
    workdirs: Path = Path("runs/shapes")
    """Folder of the training runs."""


def main(argv: list[str]) -> None:
    """Play what is missing, train if asked to, then write table and figure."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
        check(arguments)
    with stops_soon("stopped; the same command continues after the last whole run"), plain_errors():
        compilation_cache.enable()
        (arguments.results / "training").mkdir(parents=True, exist_ok=True)
        if arguments.runs:
            play(arguments, {game: shapes.shipped(game) for game in arguments.game})
            for game in arguments.train:
                for seed in range(arguments.seeds):
                    trained = {
                        f"{name}{shapes.SEED}{seed}": train(arguments, game, name, seed)
                        for name in shapes.NETWORKS
                    }
                    play(arguments, {game: trained})
        text = shapes.page(arguments.results)
        (arguments.results / "table.md").write_text(text)
        shapes.figure(arguments.results, arguments.results / "shapes.png")
        print(text)


def check(arguments: Arguments) -> None:
    """Raise `ValueError` for settings that make no sense, before anything is played or trained."""
    for name, least in (("runs", 0), ("seeds", 2), ("iterations", 1)):
        if (number := getattr(arguments, name)) < least:
            raise ValueError(f"{name}={number} is too few; use {least} or more")
    if arguments.seeds > max(STUDENT):
        raise ValueError(f"seeds={arguments.seeds} is too many; use at most {max(STUDENT)}")
    for game in arguments.train:
        shapes.training(game, "graph", seed=0)


def train(arguments: Arguments, game: str, network: str, seed: int) -> str:
    """The workdir of a player trained with shapes in self-play; what it took is stored beside the results."""
    workdir = arguments.workdirs / f"{game}-{network}-{seed}"
    path = arguments.results / "training" / f"{workdir.name}.json"
    config = shapes.training(game, network, seed)
    earlier: dict[str, Any] = read_json(path) if path.exists() else {"cpu_seconds": 0.0}
    facts = earlier | provenance() | {"boards": config.boards, "model": config.model}
    began = time.process_time()
    for row in loop.run(config, workdir, iterations=arguments.iterations):
        spent = earlier["cpu_seconds"] + time.process_time() - began
        facts |= {"iterations": row["iteration"], "positions": row["positions"], "cpu_seconds": spent}
        write_json(path, facts)
        print(f"{workdir.name}: iteration {row['iteration']}, {spent:.0f} CPU seconds", file=sys.stderr)
    write_json(path, facts)
    return str(workdir)


def play(arguments: Arguments, players: Mapping[str, Mapping[str, str]]) -> None:
    """What is missing of the matches between these players and greedy; all are checked before the first."""
    matches = {
        name: match
        for side in arguments.side
        for game, labels in players.items()
        for name, match in shapes.matches(
            labels, game, side, arguments.games, arguments.runs, arguments.simulations
        ).items()
    }
    prepared = [series.prepare(match, arguments.results / name) for name, match in matches.items()]
    for one in prepared:
        total, done = one.games()
        if done < total:
            with GamesBar(Console(stderr=True), total, done) as bar:
                series.play(one, MatchDisplay(bar, one.config))


if __name__ == "__main__":
    main(sys.argv[1:])
