"""Measure what the settings of play are worth: search by rounds, kept subtrees, averaged symmetries.

    python experiments/play_settings.py                     # results/play/settings.json
    python experiments/play_settings.py --games 20 --only reuse --json /tmp/few.json

Equal weights meet with two ways to search; 0.5 means that the setting neither helps nor harms. Results are
kept after every match, and the same command continues.
"""

import dataclasses
import sys
from pathlib import Path

import tyro

from saz_jax.agents import load_agent
from saz_jax.cli import compilation_cache
from saz_jax.cli.console import plain_errors
from saz_jax.play.limits import Limits
from saz_jax.storage.results import ResultsFile
from saz_jax.studies import play_settings


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What is played."""

    agent: str = "othello"
    """Whose weights both sides have."""
    size: int = 6
    """Board side."""
    simulations: int = 64
    """Simulations per move, those of a kept subtree included."""
    games: int = 100
    """Games of a match between settings; `batched_rounds` plays twice as many."""
    only: tuple[str, ...] = ("batched_rounds", "reuse", "symmetries")
    """Which settings."""
    seed: int = 0
    json: Path = Path("results/play/settings.json")


def main(argv: list[str]) -> None:
    """Plays what is missing."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
        compilation_cache.enable()
        agent = load_agent(arguments.agent)
        game = agent.game(arguments.size)
        settings = {
            name: value
            for name, value in dataclasses.asdict(arguments).items()
            if name not in ("only", "json")
        }
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        file = ResultsFile(arguments.json, settings, matches={})
        limits = Limits(arguments.simulations)
        for name in arguments.only:
            if name in file.data["matches"]:
                continue
            if name == "batched_rounds":
                found = play_settings.batched_rounds(
                    agent, game, arguments.size, 2 * arguments.games, arguments.simulations, arguments.seed
                )
            else:
                found = play_settings.setting(
                    agent, game, arguments.size, arguments.games, limits, arguments.seed, **{name: True}
                )
            file.data["matches"][name] = found
            file.save()
            print(name, found, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
