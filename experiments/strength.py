"""Play the matches of all shipped players on boards that they never saw, and write their table.

    python experiments/strength.py                 # 5 runs of 100 games with 100 simulations: hours on a CPU
    python experiments/strength.py --runs 1        # a fifth of it; the other runs can be added later
    python experiments/strength.py --runs 0        # plays nothing: the table from the stored results

Results are kept after every run, and the same command continues.
"""

import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path

import tyro
from rich.console import Console

from saz_jax.arena import series
from saz_jax.arena.series import MatchConfig
from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.cli.games_bar import GamesBar, MatchDisplay
from saz_jax.studies import strength


@dataclasses.dataclass(frozen=True)
class Arguments:
    """How much is played."""

    games: int = 100
    """Games per run, half with each colour."""
    runs: int = 5
    """Independent runs per board and opponent; 0: only write the table."""
    simulations: int = 100
    """Simulations per move."""
    only: tuple[str, ...] = ()
    """Play only the matches whose name starts with one of these, for example gomoku-greedy."""
    results: Path = Path("results")
    """Folder of the page; the results go to its folder `strength`."""


def main(argv: list[str]) -> None:
    """Play what is missing, then write the table into the page."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
        matches = chosen(arguments)
        compilation_cache.enable()
        folder = arguments.results / "strength"
        page = arguments.results / "README.md"
        strength.with_table(page.read_text(), folder)  # before hours of play: is there a place for the table?
        folder.mkdir(exist_ok=True)
        with stops_soon("stopped; the same command continues after the last whole run"):
            try:
                play(matches, folder)
            finally:
                page.write_text(strength.with_table(page.read_text(), folder))
                print(f"wrote the table into {page}")


def chosen(arguments: Arguments) -> dict[str, MatchConfig]:
    """The matches that are asked for, by file; `ValueError` if there are none."""
    if arguments.runs < 0:
        raise ValueError(f"runs={arguments.runs} is too few; use 0 (only the table) or more")
    if not arguments.runs:
        return {}
    matches = strength.matches(arguments.games, arguments.runs, arguments.simulations)
    found = {name: match for name, match in matches.items() if name.startswith(arguments.only or "")}
    if not found:
        names = ", ".join(name.removesuffix(".json") for name in matches)
        raise ValueError(f"no match starts with {' or '.join(arguments.only)}; there are {names}")
    return found


def play(matches: Mapping[str, MatchConfig], folder: Path) -> None:
    """What is missing of the matches."""
    for name, match in matches.items():
        prepared = series.prepare(match, folder / name)
        total, done = prepared.games()
        if done < total:
            with GamesBar(Console(stderr=True), total, done) as bar:
                series.play(prepared, MatchDisplay(bar, match))


if __name__ == "__main__":
    main(sys.argv[1:])
