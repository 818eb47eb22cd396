"""Every player meets every other; Bradley-Terry ratings with intervals, as a table and a plot.

    saz round-robin --game othello --size 8 --players random greedy mcts:50
    saz round-robin --game gomoku --size 13 --players greedy runs/a runs/b --json all.json
    saz round-robin --game hex --shapes 7x9 holes:9:0.1 --players random greedy mcts:50

With --json, every pair is kept as soon as it is over, and the same command continues where it stopped, also
with further --players.
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
        arguments = flags.parse_match("round-robin", Arguments, "tournament", TournamentConfig, argv, __doc__)
    kept = "; the same command continues after the last whole pair" if arguments.json else ""
    with stops_soon(f"stopped{kept}"), plain_errors():
        compilation_cache.enable()
        plot = arguments.plot or (arguments.json and arguments.json.with_suffix(".png"))
        if plot and not plot.parent.is_dir():
            raise ValueError(f"cannot draw {plot}: there is no folder {plot.parent}; name another file")
        prepared, config = tournament.prepare(arguments.tournament, arguments.json), arguments.tournament
        for text in prepared.lowered():
            print(text, file=sys.stderr)
        total = len(config.rounds) * config.games
        with GamesBar(Console(stderr=True), total, total - len(prepared.missing()) * config.games) as bar:
            data = shown(prepared, bar)
        console = Console()
        console.print(table(data))
        if plot:
            console.print(f"plot: {tournament.plot(data, plot)}", soft_wrap=True)


def shown(prepared: tournament.Tournament, bar: GamesBar, names: Mapping[str, str] | None = None) -> Any:
    """Plays what is missing with a bar, under shorter `names`; returns the data of the file of results."""
    names = names or {}
    return tournament.play(
        prepared,
        begin=lambda pair: bar.begin(" against ".join(names.get(player, player) for player in pair)),
        played=bar.played,
        end=lambda result: bar.end(prepared.config.games, line(result, names)),
    )


def line(result: Mapping[str, Any], names: Mapping[str, str] | None = None) -> str:
    """One pair in one line."""
    score = ", ".join(f"{result[name]} {name}" for name in ("wins", "ties", "losses"))
    first, second = ((names or {}).get(player, player) for player in result["players"])
    where = f" on {result['shape']}" if "shape" in result else ""
    return f"{first} against {second}{where}: {score} in {result['seconds']:.0f} s"


def table(data: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Table:
    """The ratings, best first."""
    config = data["config"]
    boards = f"{config['game']} {tournament.board_names(config)}"
    drawn = Table(title=f"{boards}: ratings from {config['games']} games a pair")
    for column in ("player", "rating", "95% interval", "outcome", "as dark", "as light"):
        drawn.add_column(column, justify="left" if column == "player" else "right")
    for row in data["ratings"]:
        drawn.add_row(*cells(row, names))
    return drawn


def cells(row: Mapping[str, Any], names: Mapping[str, str] | None = None) -> list[str]:
    """A player's row of a table of ratings."""
    name = str((names or {}).get(row["player"], row["player"]))
    interval = f"{row['low']:+.0f} to {row['high']:+.0f}"
    scores = [f"{row[score]:.2f}" if score in row else "-" for score in ("outcome", "as_dark", "as_light")]
    return [name, f"{row['points']:+.0f}", interval, *scores]
