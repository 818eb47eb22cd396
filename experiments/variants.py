"""Train one recipe with a setting changed and without, for the same time, and let both meet: does it pay?

    python experiments/variants.py                                     # nine trainings of 20 CPU minutes
    python experiments/variants.py --variants selfplay.fork_share=0.1 --seeds 3 --results runs/forks
    python experiments/variants.py --variants network.reply=false,network.soft=false --minutes 60
    python experiments/variants.py --preset smoke --minutes 0.01 --games 2 --simulations 2 --sizes 6 \\
        --variants learner.learning_rate=0.01 --results /tmp/try       # to try it
    python experiments/variants.py --report-only                       # plays nothing: the page alone

Training and games continue where they stopped, also with further --variants, --opponents, --sizes, --runs or
--seeds.
"""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from saz_jax.cli import compilation_cache
from saz_jax.cli.console import SAVING_SECONDS, PhaseBar, plain_errors, stops_soon
from saz_jax.storage.results import read_json
from saz_jax.studies import variants
from saz_jax.studies.variants import VariantsConfig


@dataclasses.dataclass(frozen=True)
class Arguments:
    """The study and where its results go."""

    study: Annotated[VariantsConfig, tyro.conf.arg(name="")]
    results: Path = Path("results/variants")
    """Folder for training runs, games and results."""
    report_only: bool = False
    """Train and play nothing; write the page from what is stored."""


def main(argv: list[str]) -> None:
    """Measure what is missing, then write the page."""
    with plain_errors():
        arguments = tyro.cli(Arguments, args=argv, description=__doc__)
    stopped = "stopped; what is finished is kept, and the same command continues"
    with stops_soon(stopped, SAVING_SECONDS), plain_errors():
        folder, console = arguments.results, Console(stderr=True)
        if arguments.report_only:
            write_page(folder, read_json(folder / "variants.json"))
            return
        compilation_cache.enable()
        with PhaseBar(console) as bar:
            say = lambda line: console.print(line, highlight=False, soft_wrap=True)  # noqa: E731
            data = variants.run(arguments.study, folder, say, bar)
        write_page(folder, data)


def write_page(folder: Path, data: dict) -> None:
    """README.md"""
    config, hardware = data["config"], data["hardware"]
    newest = [data, *data.get("continued", [])][-1]
    page = (
        f"# {config['game'].capitalize()}: the recipe `{config['preset']}` with settings changed\n\n"
        f"Each variant was trained for {config['minutes']:g} CPU minutes, and so was `{variants.BASE}`, the "
        "recipe as it is, from the\nsame seeds. Average outcomes (a win counts 1) with 95% intervals, seen "
        f"by the variant, over {config['runs']} x {config['games']}\ngames a seed, "
        f"{config['opening_moves']} random plies first and both colours, {config['simulations']} "
        "simulations.\n\n"
        f"`{newest['command']}`\n\n"
        f"{hardware['processor']}, {hardware['cores']} cores, {hardware['backend']}; {newest['date']}.\n\n"
        f"{variants.table(data)}"
    )
    (folder / "README.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
