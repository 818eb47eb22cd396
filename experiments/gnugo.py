"""Compare our rules of Go with GNU Go's: legal moves after every move, and the score at the end.

    python experiments/gnugo.py                     # results/play/gnugo.json
    python experiments/gnugo.py --size 9 --games 10 --json /tmp/nine.json

Needs the program gnugo (Debian: gnugo). Every difference is kept with the moves that lead to it.
"""

import dataclasses
import sys
from pathlib import Path

import tyro

from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors
from saz_jax.storage.results import ResultsFile
from saz_jax.studies import gnugo


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What is compared."""

    size: int = 7
    """Board side."""
    games: int = 60
    """Half of them random moves, half GNU Go against itself, scored."""
    komi: float = 7.5
    seed: int = 0
    json: Path = Path("results/play/gnugo.json")


def main(argv: list[str]) -> None:
    """Plays, compares, tells."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
        compilation_cache.enable()
        settings = {name: value for name, value in dataclasses.asdict(arguments).items() if name != "json"}
        found = gnugo.agreement(arguments.size, arguments.games, arguments.komi, arguments.seed)
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        file = ResultsFile(arguments.json, settings)
        file.data["agreement"] = found
        file.save()
        print(
            f"{found['engine']}, side {arguments.size}: {found['games']} games, {found['positions']} "
            f"positions, {len(found['scores'])} scores, {len(found['differences'])} differences"
        )
        for difference in found["differences"]:
            print(difference)


if __name__ == "__main__":
    main(sys.argv[1:])
