"""Let a player meet an opponent on boards of any size; average outcomes with their errors.

    saz evaluate --game othello --player greedy --opponent random --sizes 8 16
    saz evaluate --game othello --player weights/othello --sizes 16 20 --json out.json
    saz evaluate --game go --player go --shapes 9x9 7x11 diamond:9 holes:9:0.1
    saz evaluate --game gomoku --player gomoku@solve=true --opponent gomoku --sizes 15 --opening-moves 4
    saz evaluate --game go --player go --sizes 9 --opening-moves 4 --games 40 --runs 1 \\
        --opponent "gtp:gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead"

A win counts 1, a tie 0.5, a loss 0; half the games are played with each colour. With --json, every run is
kept as soon as it is over; the same command continues where it stopped, also with further --sizes or --runs.
"""

import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from saz_jax.arena import series
from saz_jax.arena.series import MatchConfig
from saz_jax.cli import compilation_cache, flags
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.cli.games_bar import GamesBar, MatchDisplay, board_name


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A match and where its results go."""

    match: Annotated[MatchConfig, tyro.conf.arg(name="")]
    json: Path | None = None
    """File for the results: continued if its settings are the same, refused if they differ."""
    records: Path | None = None
    """Folder for the records of all games: SGF, plain text above 26x26."""


def main(argv: list[str]) -> None:
    """Parse, play, print."""
    with plain_errors():
        arguments = flags.parse_match("evaluate", Arguments, "match", MatchConfig, argv, __doc__)
    kept = "; the same command continues after the last whole run" if arguments.json else ""
    with stops_soon(f"stopped{kept}"), plain_errors():
        compilation_cache.enable()
        prepared = series.prepare(arguments.match, arguments.json, arguments.records)
        config, sizes = arguments.match, prepared.results.data["sizes"]
        for text in prepared.lowered():
            print(text, file=sys.stderr)
        try:
            with GamesBar(Console(stderr=True), *prepared.games()) as bar:
                series.play(prepared, MatchDisplay(bar, config))
        finally:
            if sizes:
                Console().print(table(config, sizes))


def table(config: MatchConfig, sizes: Mapping[str, Any]) -> Table:
    """The results of all sizes so far."""
    caption = (
        f"{config.runs} x {config.games} games; ± standard error over runs; Wilson 95% over games; "
        "by colour: as dark/as light"
    )
    title = f"{config.game}: {config.player} against {config.opponent}"
    drawn = Table(title=title, caption=caption, show_edge=False, pad_edge=False)  # 80 columns wide at most
    for column in ("board", "outcome", "95% interval", "won/tied/lost", "by colour", "distinct"):
        drawn.add_column(column, justify="right", no_wrap=True)
    for size, result in sizes.items():
        error = f" ± {result['standard_error']:.3f}" if result["standard_error"] is not None else ""
        low, high = result["wilson"]
        drawn.add_row(
            board_name(size),
            f"{result['outcome']:.3f}{error}",
            f"{low:.3f}-{high:.3f}",
            f"{result['wins']}/{result['ties']}/{result['losses']}",
            series.colours_text(result),
            str(result["distinct_games"]),
        )
    return drawn
