"""Solve small boards: who wins with best play, found by search through the rules themselves.

    python experiments/solve.py                                        # Breakthrough up to 5x3
    python experiments/solve.py --shapes 5x4                           # adds a board: half an hour or more
    python experiments/solve.py --game othello --shapes 4x4 --results /tmp/othello
    python experiments/solve.py --game clobber --shapes 3x4 cross:4 --results /tmp/clobber

Boards are kept as soon as they are solved. For games whose positions are their board and whose turn it is.
"""

import dataclasses
import sys
from pathlib import Path

import tyro

from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.games.registry import find_game, full_options
from saz_jax.storage.results import ResultsFile
from saz_jax.studies import solved


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What is solved."""

    game: str = "breakthrough"
    """The game, with the defaults of its options."""
    shapes: tuple[str, ...] = ("3x2", "3x3", "3x4", "3x5", "4x2", "4x3", "4x4", "4x5", "5x2", "5x3")
    """Boards: 4x3 has four rows and three columns."""
    results: Path = Path("results/solved")
    """Folder for GAME.json and README.md."""


def main(argv: list[str]) -> None:
    """Solve what is missing, then write the page."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
    with stops_soon("stopped; the same command continues after the last board"), plain_errors():
        name = find_game(arguments.game)
        options = full_options(name, {})
        solved.check(name, options, arguments.shapes)
        compilation_cache.enable()
        arguments.results.mkdir(parents=True, exist_ok=True)
        path = arguments.results / f"{name}.json"
        file = ResultsFile(path, {"game": name, "game_options": options}, boards={})
        solved.fill(file, name, options, arguments.shapes, lambda line: print(line, file=sys.stderr))
        page = (
            f"# Small boards of {name}, solved\n\n"
            "Solved by a search through the game's own rules. Every position counts once; finished games do "
            "not count.\n\n"
            f"`{file.data['command']}`\n\n{solved.table(file.data)}"
        )
        (arguments.results / "README.md").write_text(page)
        print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
