"""Rate all shipped players, simple ones and other programs on given boards; a table and a picture for each.

    saz ladder --game othello --sizes 8                     # with grhino, if it is installed
    saz ladder --game go --sizes 7 9 13 --games 40          # with GNU Go
    saz ladder --game gomoku --sizes 15 --players runs/new --mcts 100 400
    saz ladder --report-only                                # plays nothing: the page from the stored results

Every pair is kept as soon as it is over, and the same command continues where it stopped, also with further
players. Programs that it knows (gnugo, gtp-rhino) take part where they are installed.
"""

import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from saz_jax.arena import ladder, tournament
from saz_jax.arena.ladder import LadderConfig
from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.cli.games_bar import GamesBar
from saz_jax.cli.round_robin import cells, shown, table
from saz_jax.render.figures import markdown_table


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A ladder and where its results go."""

    ladder: Annotated[LadderConfig, tyro.conf.arg(name="")]
    results: Path = Path("results/ladder")
    """Folder for GAME-SIDE.json, their pictures and the page README.md."""
    report_only: bool = False
    """Play nothing; write the page and the pictures from what is stored."""


def main(argv: list[str]) -> None:
    """Parse, play, print."""
    with plain_errors():
        arguments = tyro.cli(Arguments, prog="saz ladder", args=argv, description=__doc__)
    with stops_soon("stopped; the same command continues after the last whole pair"), plain_errors():
        folder, console = arguments.results, Console()
        if not arguments.report_only:
            compilation_cache.enable()
            prepared = ladder.prepare(arguments.ladder, folder)
            for line in (line for one in prepared for line in one.lowered()):
                print(line, file=sys.stderr)
            pairs = sum(len(one.config.rounds) for one in prepared)
            missing = sum(len(one.missing()) for one in prepared)
            games = arguments.ladder.games
            with GamesBar(Console(stderr=True), pairs * games, (pairs - missing) * games) as bar:
                for one in prepared:
                    console.print(table(shown(one, bar, ladder.names()), ladder.names()))
                    write_page(folder)
        console.print(f"page: {write_page(folder)}", soft_wrap=True)


def write_page(folder: Path) -> Path:
    """README.md with a table and a picture for each board that is complete."""
    parts = ["# Ladders\n"]
    for data in ladder.results(folder):
        config = data["config"]
        name = f"{config['game']}-{config['size']}"
        tournament.plot(data, folder / f"{name}.png", ladder.names())
        rows = [cells(row, ladder.names()) for row in data["ratings"]]
        header = ["player", "rating", "95% interval", "outcome", "as dark", "as light"]
        played = f"{config['games']} games a pair, {config['opening_moves']} random plies before them"
        parts.append(
            f"## {config['game']} {config['size']}x{config['size']}\n\n"
            f"{played}, both colours;\n{config['simulations']} simulations for agents.  "
            "Bradley-Terry ratings on the Elo scale; 0 is the average of these players.\n\n"
            f"{markdown_table(header, rows)}\n![ratings]({name}.png)\n\n`{newest(data)}`\n"
        )
    if len(parts) == 1:
        raise ValueError(
            f"there is no complete ladder in {folder}; play one first, or name another --results"
        )
    page = folder / "README.md"
    page.write_text("\n".join(parts))
    return page


def newest(data: Mapping[str, Any]) -> str:
    """The command that last worked on a ladder: it names the players that are rated now."""
    return [data, *data.get("continued", [])][-1]["command"]
