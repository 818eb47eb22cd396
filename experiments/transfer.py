"""Measure what carries over to larger boards: value, ownership, score and policy, by phase of the game.

    python experiments/transfer.py                                    # hours on a CPU
    python experiments/transfer.py --small                            # minutes: fewer positions and sides
    python experiments/transfer.py --small --players othello runs/new --results /tmp/new
    python experiments/transfer.py --report-only                      # plays nothing: table and figure alone

Positions come from games played out by the shipped player of a game with few simulations and some random
moves; all agents see the same ones. Every player and side is kept as soon as it is measured, and the same
command continues, also with further --players or --sizes.
"""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import tyro

from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors, stops_soon
from saz_jax.storage.results import read_json
from saz_jax.studies import transfer
from saz_jax.studies.transfer import SMALL, TransferConfig


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What is measured and where the results go."""

    transfer: Annotated[TransferConfig, tyro.conf.arg(name="")]
    small: bool = False
    """Fewer games, positions and simulations, and sides up to 20, unless other flags say otherwise."""
    results: Path = Path("results/transfer")
    """Folder for transfer.json, transfer.png and README.md."""
    report_only: bool = False
    """Measure nothing; write the page and the figure from what is stored."""


def main(argv: list[str]) -> None:
    """Measure what is missing, then write page and figure."""
    with plain_errors():
        default = Arguments(SMALL if "--small" in argv else TransferConfig())
        arguments = tyro.cli(Arguments, args=argv, default=default, description=__doc__)
    with stops_soon("stopped; the same command continues after the last player and side"), plain_errors():
        compilation_cache.enable()
        folder = arguments.results
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "transfer.json"
        if arguments.report_only:
            write_page(folder, read_json(file))
            return
        prepared = transfer.prepare(arguments.transfer, file)
        print(f"{len(prepared.missing())} players and sides to measure; sign accuracy, Brier, agreement:")
        try:
            transfer.measure(prepared, lambda line: print(line, flush=True))
        finally:
            if prepared.results.data["found"]:
                write_page(folder, prepared.results.data)


def write_page(folder: Path, data: dict) -> None:
    """README.md and the figure."""
    config = data["config"]
    transfer.figure(data, folder / "transfer.png")
    played = f"{config['source_simulations']} simulations and {config['random_share']:.0%} random moves"
    wanted = [(name, side) for name in config["players"] for side in config["sizes"]]
    missing = [f"{name} on {side}x{side}" for name, side in wanted if f"{name}-{side}" not in data["found"]]
    page = (
        "# What carries over to larger boards\n\n"
        "Each cell: opening / middle / end, thirds of a game.  The value predicts the winner where its sign\n"
        "is that of the outcome (ties left out).  The Brier score is the squared error of the chance to win\n"
        "(0.25 says nothing).  The policy agrees where its first move is that of a search of "
        f"{config['simulations']} simulations\nby the same agent.  Errors of ownership and score are "
        "absolute, per point of the board, for networks\nthat have these heads.  The games were played out "
        f"by the shipped player of each game, {played}:\n{config['games']} games on sides up to 8, down to "
        f"{config['least_games']} on large ones, {config['positions']} positions of each game and phase,\n"
        f"{config['searches']} of each phase searched.\n\n"
        + (f"Not yet measured: {', '.join(missing)}.\n\n" if missing else "")
        + f"`{data['command']}`\n\n![curves](transfer.png)\n\n{transfer.table(data)}"
    )
    (folder / "README.md").write_text(page)
    print(f"wrote {folder / 'README.md'}")


if __name__ == "__main__":
    main(sys.argv[1:])
