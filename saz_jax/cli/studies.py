"""The command line of the studies, the same for all of them; needs the extra `cli`."""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from saz_jax.cli import compilation_cache
from saz_jax.cli.console import SAVING_SECONDS, PhaseBar, plain_errors, stops_soon
from saz_jax.games.registry import find_game
from saz_jax.studies.budgets import BUDGETS, Budget, BudgetName
from saz_jax.studies.catalogue import STUDIES, Games, run_study
from saz_jax.studies.laboratory import Lab
from saz_jax.studies.reports import write_page, write_section

EPILOGUE = """
Takes agents that are given, and with --no-retrain the shipped ones, where they fit, and trains the others
under the budget. The same command continues where it stopped. Each study writes STUDY.json to the folder of
the results, and from that file alone STUDY.md and STUDY.png.
"""


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A study, how much work it may do and where its results go."""

    settings: Annotated[Budget, tyro.conf.arg(name="")]
    budget: BudgetName = "small"
    """smoke: seconds, a check of the pipeline; small: hours on two cores; paper: the paper's settings.
    The other settings start from it."""
    game: tuple[str, ...] = ()
    """Only these games: names, or `module:make` of games of your own; default: the paper's."""
    agent: tuple[str, ...] = ()
    """Agents to use where they fit instead of training any: exports, workdirs of training runs or names of
    shipped weights."""
    results: Path | None = None
    """Folder of the results; default results/BUDGET. What is there already is continued."""
    report_only: bool = False
    """Compute nothing: make the tables and figures of the JSON files that are there."""

    @property
    def folder(self) -> Path:
        """Where the results go."""
        return self.results or Path("results") / self.budget


def study_main(name: str, argv: Sequence[str], description: str | None) -> None:
    """One study: parse, run, print its section."""
    with plain_errors():
        arguments = parse(argv, description)
        if not arguments.report_only:
            _run({name: arguments.game}, arguments)
        print(write_section(arguments.folder, name))


def reproduce_main(argv: Sequence[str], description: str | None) -> None:
    """All studies: parse, run, print the page of them all."""
    with plain_errors():
        arguments = parse(argv, description)
        if not arguments.report_only:
            _run(studies_of(arguments.game), arguments)
        page = write_page(arguments.folder)
        print(f"{page.read_text()}\npage: {page}")


def parse(argv: Sequence[str], description: str | None) -> Arguments:
    """The arguments; what they leave open comes from the budget."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--budget", default="small")
    name = first.parse_known_args(argv)[0].budget
    # An unknown name: tyro knows the choices and says so.
    default = Arguments(BUDGETS.get(name, Budget()))
    return tyro.cli(Arguments, args=argv, default=default, description=f"{description or ''}{EPILOGUE}")


def studies_of(games: Games) -> dict[str, Games]:
    """The studies about any of `games`, or about none, with their share of them; all if none is given.

    A game that the paper does not have is the subject of every study that takes any game.
    """
    games = [find_game(game) for game in games]
    in_paper = {game for study in STUDIES.values() for game in study.games}
    chosen: dict[str, Games] = {}
    for name, study in STUDIES.items():
        others = [game for game in games if study.possible is None and game not in in_paper]
        share: Games = [*(game for game in study.games if game in games), *others]
        if share or not games or not study.games:
            chosen[name] = share
    return chosen


def _run(studies: Mapping[str, Games], arguments: Arguments) -> None:
    compilation_cache.enable()
    console = Console(stderr=True)

    def say(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    stopped = "stopped; what is finished is kept, and the same command continues"
    with stops_soon(stopped, SAVING_SECONDS), PhaseBar(console) as bar:
        lab = Lab(arguments.budget, arguments.settings, arguments.folder, arguments.agent, say, bar)
        for name, games in studies.items():
            say(f"study {name} in {arguments.folder}")
            run_study(lab, name, games)
