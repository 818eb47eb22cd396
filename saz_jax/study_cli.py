"""The command line of the studies, the same for all of them; needs the extra `cli`."""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from saz_jax import compilation_cache
from saz_jax.budgets import BUDGETS, Budget, BudgetName
from saz_jax.config import GameName
from saz_jax.console import PhaseBar, plain_errors, terminate_like_interrupt
from saz_jax.laboratory import Lab
from saz_jax.studies import STUDIES, run_study
from saz_jax.study_reports import write_page, write_section


@dataclasses.dataclass(frozen=True)
class Arguments:
    """A study, how much work it may do and where its results go."""

    settings: Annotated[Budget, tyro.conf.arg(name="")]
    budget: BudgetName = "small"
    """smoke: seconds, a check of the pipeline; small: hours on two cores; paper: the paper's settings.
    The other settings start from it."""
    game: tuple[GameName, ...] = ()
    """Only these games; default: the paper's."""
    agent: tuple[str, ...] = ()
    """Agents to use where they fit instead of training any: exports, workdirs of training runs or names of
    shipped weights."""
    results: Path | None = None
    """Folder of the results; default results/BUDGET. What is there already is continued."""
    report_only: bool = False
    """Compute nothing: make the tables and figures of the JSON files that are there."""


def study_main(name: str, argv: Sequence[str], description: str | None) -> None:
    """One study: parse, run, print its section."""
    _main((name,), argv, description)


def reproduce_main(argv: Sequence[str], description: str | None) -> None:
    """All studies, and one page of them."""
    _main(tuple(STUDIES), argv, description)


def _main(names: Sequence[str], argv: Sequence[str], description: str | None) -> None:
    with plain_errors():
        arguments = parse(argv, description)
        results = arguments.results or Path("results") / arguments.budget
        if not arguments.report_only:
            compilation_cache.enable()
            terminate_like_interrupt()
            _run(names, arguments, results)
        for name in names:
            if (results / f"{name}.json").exists() or len(names) == 1:
                print(write_section(results, name))
        if len(names) > 1:
            print(f"page: {write_page(results)}")


def parse(argv: Sequence[str], description: str | None) -> Arguments:
    """The arguments; what they leave open comes from the budget."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--budget", default="small")
    name = first.parse_known_args(argv)[0].budget
    # An unknown name: tyro knows the choices and says so.
    default = Arguments(BUDGETS.get(name, Budget()))
    return tyro.cli(Arguments, args=argv, default=default, description=description)


def _run(names: Sequence[str], arguments: Arguments, results: Path) -> None:
    console = Console(stderr=True)
    try:
        with PhaseBar(console) as bar:
            lab = Lab(
                arguments.budget,
                arguments.settings,
                results,
                arguments.agent,
                say=lambda line: console.print(line, highlight=False, soft_wrap=True),
                progress=bar,
            )
            for name in names:
                # All studies together skip those of other games; a single one refuses them.
                known: tuple[GameName, ...] = STUDIES[name].games
                wanted = arguments.game if len(names) == 1 else [g for g in known if g in arguments.game]
                if wanted or not arguments.game:
                    console.print(f"study {name} in {results}", highlight=False, soft_wrap=True)
                    run_study(lab, name, wanted)
    except KeyboardInterrupt:
        console.print("stopped; what is finished is kept, and the same command continues")
        sys.exit(130)
