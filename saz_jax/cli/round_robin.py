"""Every player meets every other; Bradley-Terry ratings with intervals, as a table and a plot.

    saz round-robin --game othello --size 8 --players random greedy mcts:50
    saz round-robin --game gomoku --size 13 --players greedy runs/a runs/b --json all.json

With --json, every pair is kept as soon as it is over, and the same command continues where it stopped.
"""

import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from saz_jax.arena import tournament
from saz_jax.arena.tournament import TournamentConfig
from saz_jax.cli import compilation_cache, flags
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.cli.games_bar import GamesBar


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A round robin and where its results go."""

    tournament: Annotated[TournamentConfig, tyro.conf.arg(name="")]
    json: Path | None = None
    """File for the results: continued if its settings are the same, refused if they differ."""
    plot: Path | None = None
    """File for the plot; default: a PNG beside --json."""


def main(argv: list[str]) -> None:
    """Parse, play, print."""
    with plain_errors():
        arguments = flags.parse_match(Arguments, "tournament", TournamentConfig, argv, __doc__)
    kept = "; the same command continues after the last whole pair" if arguments.json else ""
    with stops_soon(f"stopped{kept}"), plain_errors():
        compilation_cache.enable()
        plot = arguments.plot or (arguments.json and arguments.json.with_suffix(".png"))
        if plot and not plot.parent.is_dir():
            raise ValueError(f"cannot draw {plot}: there is no folder {plot.parent}; name another file")
        prepared, config = tournament.prepare(arguments.tournament, arguments.json), arguments.tournament
        for text in prepared.lowered():
            print(text, file=sys.stderr)
        total, done = len(config.pairs) * config.games, len(prepared.results.data["pairs"]) * config.games
        with GamesBar(Console(stderr=True), total, done) as bar:
            data = tournament.play(
                prepared,
                begin=lambda pair: bar.begin(" against ".join(pair)),
                played=bar.played,
                end=lambda result: bar.end(config.games, line(result)),
            )
        console = Console()
        console.print(table(data))
        if plot:
            console.print(f"plot: {tournament.plot(data, plot)}", soft_wrap=True)


def line(result: Mapping[str, Any]) -> str:
    """One pair in one line."""
    score = ", ".join(f"{result[name]} {name}" for name in ("wins", "ties", "losses"))
    first, second = result["players"]
    return f"{first} against {second}: {score} in {result['seconds']:.0f} s"


def table(data: Mapping[str, Any]) -> Table:
    """The ratings, best first."""
    config = data["config"]
    board = f"{config['game']} {config['size']}x{config['size']}"
    drawn = Table(title=f"{board}: ratings from {config['games']} games a pair")
    for column in ("player", "rating", "95% interval", "average outcome"):
        drawn.add_column(column, justify="left" if column == "player" else "right")
    for row in data["ratings"]:
        outcomes = [
            pair["outcome"] if pair["players"][0] == row["player"] else 1 - pair["outcome"]
            for pair in data["pairs"]
            if row["player"] in pair["players"]
        ]
        interval = f"{row['low']:+.0f} to {row['high']:+.0f}"
        drawn.add_row(
            row["player"], f"{row['points']:+.0f}", interval, f"{sum(outcomes) / len(outcomes):.3f}"
        )
    return drawn
