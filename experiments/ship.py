"""Put a finished run among the weights that the repository ships, and bring their pages up to date.

python experiments/ship.py --workdir runs/gomoku --name gomoku
python experiments/ship.py                                         # pages, cards and checksums alone
"""

import dataclasses
import sys
from pathlib import Path

import tyro

from saz_jax.agents import shipping
from saz_jax.cli.console import plain_errors
from saz_jax.studies import cards


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What is shipped, and where."""

    workdir: Path | None = None
    """The folder of a training run."""
    name: str | None = None
    """What `load_agent` will know it by."""
    weights: Path = Path("weights")
    """The folder of all weights."""
    results: Path = Path("results/strength")
    """The folder of their matches, for the cards."""


def main(argv: list[str]) -> None:
    """Copy, then write the page."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
        if (arguments.workdir is None) != (arguments.name is None):
            raise ValueError("give --workdir and --name together, or neither")
        if arguments.workdir is not None and arguments.name is not None:
            shipping.ship(arguments.workdir, arguments.weights / arguments.name)
        shipping.write_pages(arguments.weights)
        cards.write_cards(arguments.weights, arguments.results)
        print(f"wrote {arguments.weights / shipping.PAGE}, {shipping.CHECKSUMS} and a card for every player")


if __name__ == "__main__":
    main(sys.argv[1:])
