"""Train a player on small boards: self-play, optimisation, evaluation on a board it has never seen.

    saz train --game gomoku                     # the default recipe, an hour
    saz train --game othello --preset smoke     # the whole pipeline in a minute or two
    saz train --game gomoku --plan              # what it will take, without training
    saz train --game my_module:make             # a game of your own
    saz train --config weights/othello/config.json --minutes 8 --workdir runs/again
    saz train --curve --workdir runs/again      # draws curve.png of what there is so far

Running the same command again continues where it stopped. The flags below depend on the game,
the model and the network that you name.
"""

import contextlib
import dataclasses
import itertools
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import jax
import tyro
from rich.console import Console
from rich.table import Table

from saz_jax.agents.agent import load_agent
from saz_jax.cli import compilation_cache, flags
from saz_jax.cli.console import (
    SAVING_SECONDS,
    PhaseBar,
    command,
    explain_sudden_end,
    plain_errors,
    stops_soon,
)
from saz_jax.config import TrainConfig
from saz_jax.games.registry import find_game
from saz_jax.render import figures
from saz_jax.storage.metrics import Row, read_metrics
from saz_jax.training import loop
from saz_jax.training.iteration import make_program, start
from saz_jax.training.plan import make_plan
from saz_jax.training.presets import PresetName, on_own_boards, preset
from saz_jax.training.sinks import SINKS, Sink, check_installed

LIMITS: dict[str, tuple[float | None, int | None]] = {
    "small": (60.0, None),
    "strong": (180.0, None),
    "smoke": (None, 3),
    "paper": (3 * 24 * 60.0, None),
}
"""(minutes, iterations) of a preset, where neither is given."""


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Train a player on small boards and see it play a large one."""

    settings: Annotated[TrainConfig, tyro.conf.arg(name="")]
    preset: PresetName = "small"
    """small: learns fastest per hour of a CPU or one GPU; strong: for hours, with learned values alone;
    paper: the paper's; smoke: a quick check."""
    network: str | None = None
    """Network of the model; default: gin, cnn for model1 and model5, fcn for fcn."""
    config: Path | None = None
    """Start from the settings in this config.json of another run instead of a preset."""
    minutes: float | None = None
    """Stop after so much training time, earlier stretches included."""
    cpu_minutes: float | None = None
    """Stop after so much processor time, all cores added up: other work on the machine does not count."""
    iterations: int | None = None
    """Stop after so many iterations."""
    workdir: Path | None = None
    """Folder of the run; default runs/GAME-MODEL-PRESET. A run that is there already is continued."""
    resume: bool = False
    """Continue the run in --workdir with its own settings, which need not be repeated."""
    save_seconds: float = 60.0
    """Write a checkpoint when the last one is older than this."""
    init_from: str | None = None
    """Start from the weights of this agent: an export, another run's workdir or a shipped name."""
    plan: bool = False
    """Print parameters, compile time, memory, speed and expected time, and train nothing."""
    curve: bool = False
    """Draw curve.png in --workdir, of the run that is there, and train nothing."""
    log_to: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """Also send the figures there (extras of the same names)."""
    distributed: bool = False
    """Join a run of several processes: Slurm, Open MPI and TPU pods are detected."""
    coordinator: str | None = None
    """distributed: HOST:PORT of process 0, where nothing is detected."""
    processes: int | None = None
    """distributed: how many processes there are, where nothing is detected."""
    process: int | None = None
    """distributed: the number of this one, from 0, where nothing is detected."""


def main(argv: list[str]) -> None:
    """Parse, train, show."""
    with plain_errors():
        arguments = parse(argv)
    workdir = folder(arguments)
    stopped = "stopped"
    if not (arguments.plan or arguments.curve):
        stopped += f"; the last checkpoint is kept. To continue: {again(arguments.settings, workdir)}"
    with stops_soon(stopped, SAVING_SECONDS), plain_errors():
        if arguments.curve:
            print(f"curve:     {draw_curve(arguments.settings, workdir)}")
            return
        cache = compilation_cache.enable()
        if arguments.distributed:
            explain_sudden_end(
                "error: this process ended early, as all do when one of them is gone; "
                "run the same command again to continue from the last checkpoint"
            )
            jax.distributed.initialize(
                arguments.coordinator, arguments.processes, arguments.process, heartbeat_timeout_seconds=30
            )
        console = Console(quiet=jax.process_index() > 0)
        if arguments.plan:
            show_plan(console, arguments)
        else:
            train(console, arguments, workdir, cache)


def parse(argv: list[str]) -> Arguments:
    """The arguments; what they leave open comes from the preset, --config, or with --resume from the run."""
    argv = flags.registered(argv)
    given = flags.named(argv, preset="small", game=None, model=None, network=None, workdir=None, config=None)
    if "--resume" in argv or "--curve" in argv:
        if given["game"]:
            find_game(given["game"])  # registers a game of one's own before the settings are read
        default = resumed_config("--resume" if "--resume" in argv else "--curve", given["workdir"])
    elif given["config"]:
        if given["game"]:
            find_game(given["game"])
        default = loop.stored_config(Path(given["config"]))
    else:
        game, model = given["game"] or "gomoku", given["model"] or "saz"
        default = preset(given["preset"] or "", game, model, given["network"])
    if given["game"] and find_game(given["game"]) != default.game:
        raise ValueError(f"--game {given['game']} is not the game of that run, {default.game}; leave it out")
    flags.check_options(default.game, argv)
    default = flags.searched_as(default, argv)
    typed = flags.typed_training(default)
    arguments_type = dataclasses.make_dataclass(
        "Arguments", [("settings", Annotated[typed, tyro.conf.arg(name="")])], bases=(Arguments,), frozen=True
    )
    start_from = flags.as_typed(typed, default)
    parsed = tyro.cli(
        arguments_type,
        prog="saz train",
        args=argv,
        default=arguments_type(start_from),
        description=__doc__,
    )
    config = dataclasses.replace(flags.as_plain(TrainConfig, parsed.settings), game=default.game)
    config = on_own_boards(config, default)
    values = {field.name: getattr(parsed, field.name) for field in dataclasses.fields(Arguments)}
    arguments = Arguments(**{**values, "settings": config})
    if arguments.minutes is None and arguments.iterations is None and arguments.cpu_minutes is None:
        minutes, iterations = LIMITS[arguments.preset]
        arguments = dataclasses.replace(arguments, minutes=minutes, iterations=iterations)
    loop.check_limits(arguments.iterations, arguments.minutes, arguments.cpu_minutes)
    return arguments


def resumed_config(flag: str, workdir: str | None) -> TrainConfig:
    """The settings of the run in `workdir`, which `flag` asks for."""
    if workdir is None:
        raise ValueError(f"{flag} needs the folder of a run; give --workdir FOLDER")
    path = Path(workdir) / "config.json"
    if not path.exists():
        raise ValueError(f"{flag}: there is no run in {workdir}; give the --workdir of one")
    return loop.stored_config(path)


def folder(arguments: Arguments) -> Path:
    """The workdir, by default one for each game, model and preset."""
    config = arguments.settings
    return arguments.workdir or Path("runs") / f"{config.game}-{config.model}-{arguments.preset}"


def train(console: Console, arguments: Arguments, workdir: Path, cache: Path | None) -> None:
    """The run with its display, and what there is to see at its end."""
    config = arguments.settings
    agent = load_agent(arguments.init_from) if arguments.init_from else None
    boards = f"{config.model} learns {config.game} on boards {list(config.boards)}"
    console.print(f"{boards} in {workdir}", highlight=False, soft_wrap=True)
    console.print("compiling" + ("; the next start is quicker, from the compilation cache" if cache else ""))
    check_installed(arguments.log_to)
    sinks: list[Sink] = []
    began = time.monotonic()
    waiting, row = True, None
    try:
        with PhaseBar(console) as bar:

            def progress(phase: str, done: int, total: int) -> None:
                nonlocal waiting
                if phase == loop.CONTINUING:
                    console.print(f"continuing at iteration {done + 1}", highlight=False)
                    return
                if waiting and done:
                    console.print(f"first moves after {time.monotonic() - began:.0f} s", highlight=False)
                    waiting = False
                bar(phase, done, total)

            rows = loop.run(
                config,
                workdir,
                iterations=arguments.iterations,
                minutes=arguments.minutes,
                cpu_minutes=arguments.cpu_minutes,
                init_from=agent,
                save_seconds=arguments.save_seconds,
                traced=cache / "traced" if cache else None,
                progress=progress,
            )
            with contextlib.closing(rows):  # saves, also if the signal comes while a line is printed
                for row in rows:
                    for text in lines(row, arguments):
                        console.print(text, highlight=False, soft_wrap=True)
                    sinks = sinks or [SINKS[name](workdir) for name in arguments.log_to]
                    for sink in sinks:
                        sink(row)
    except KeyboardInterrupt:
        saved = "stopped; everything up to the last iteration is saved"
        console.print(f"{saved}. To continue: {again(config, workdir)}", highlight=False, soft_wrap=True)
        show_curve(console, config, workdir)
        sys.exit(130)
    except FloatingPointError:
        show_curve(console, config, workdir)
        raise
    except (ValueError, OSError) as error:
        # Bad settings are refused before the first moves; what comes later, also while a checkpoint is
        # written, is nearly always the runtime that lost another process.
        if arguments.distributed and not waiting:
            raise RuntimeError("the run of several processes broke off") from error
        raise
    if jax.process_index() == 0:
        if row is None:
            console.print(
                "nothing to train: the run has reached its limits; raise its limit, such as --minutes"
            )
        conclude(console, config, workdir)


def lines(row: Row, arguments: Arguments) -> list[str]:
    """One iteration in one line, and a line for every board side that it was evaluated on."""
    total = f"/{arguments.iterations}" if arguments.iterations else ""
    parts = [
        f"iteration {row['iteration']}{total}",
        f"{row['seconds'] / 60:.1f} min" + (f" of {arguments.minutes:g}" if arguments.minutes else ""),
        f"{row['positions_per_second']:.0f} positions/s",
    ]
    if "loss" in row:
        parts.append(f"loss {row['policy_loss']:.3f} + {row['value_loss']:.3f}")
    names = figures.outcome_names(row)
    by_side = itertools.groupby(names, key=lambda name: name.split("_")[1])
    played = [", ".join(f"{against(name)}: {row[name]:.2f}" for name in group) for _, group in by_side]
    return [", ".join(parts), *(f"  {text}" for text in played)]


def against(name: str) -> str:
    """What a figure such as greedy_18 is called."""
    opponent, size = name.split("_")
    return f"against {opponent} on side {size}"


def conclude(console: Console, config: TrainConfig, workdir: Path) -> None:
    """The last evaluations, the curve, and the commands to go on with."""
    evaluated = [row for row in read_metrics(workdir) if figures.outcome_names(row)]
    if not evaluated:  # --evaluation.games 0
        console.print(f"agent:     {workdir}", soft_wrap=True)
        show_curve(console, config, workdir)
        return
    console.print(table(config, evaluated[-5:]))
    show_curve(console, config, workdir)
    size = figures.outcome_names(evaluated[-1])[-1].split("_")[1]
    game = flags.game_flag(config.game)
    evaluate = [*command("evaluate"), "--game", game, "--player", str(workdir), "--sizes", size]
    console.print(f"evaluate:  {shlex.join(evaluate)}", highlight=False, soft_wrap=True)
    console.print(f"continue:  {again(config, workdir)} --minutes 120", highlight=False, soft_wrap=True)


def table(config: TrainConfig, rows: Sequence[Row]) -> Table:
    """A few evaluations side by side, at most 80 columns wide."""
    title = f"{config.model} on {config.game}: average outcome (1 win, 0.5 tie, 0 loss)"
    drawn = Table(title=title, show_edge=False, pad_edge=False)
    drawn.add_column("iteration", no_wrap=True)
    for row in rows:
        drawn.add_column(str(row["iteration"]), justify="right", no_wrap=True)
    drawn.add_row("minutes", *(f"{row['seconds'] / 60:.1f}" for row in rows))
    drawn.add_row("positions", *(str(row["positions"]) for row in rows), end_section=True)
    for name in dict.fromkeys(name for row in rows for name in figures.outcome_names(row)):
        drawn.add_row(against(name), *(f"{row[name]:.2f}" if name in row else "" for row in rows))
    return drawn


def draw_curve(config: TrainConfig, workdir: Path) -> Path:
    """curve.png in the folder of a run; `ValueError` if there is nothing to draw or to draw with."""
    rows = read_metrics(workdir)
    if not rows:
        raise ValueError(f"the run in {workdir} has finished no iteration; there is nothing to draw yet")
    return figures.training_curve(rows, workdir / "curve.png", title=f"{config.model}, {config.game}")


def show_curve(console: Console, config: TrainConfig, workdir: Path) -> None:
    """Draws the curve and says where it is; the run is over either way."""
    if jax.process_index() > 0:
        return
    try:
        console.print(f"curve:     {draw_curve(config, workdir)}", highlight=False, soft_wrap=True)
    except (ValueError, OSError) as error:
        console.print(f"no curve:  {error}", highlight=False, soft_wrap=True)


def again(config: TrainConfig, workdir: Path) -> str:
    """The command that continues the run; a game of one's own has to be named, to be registered."""
    game = flags.game_flag(config.game)
    named = [] if game == config.game else ["--game", game]
    return shlex.join([*command("train"), "--resume", "--workdir", str(workdir), *named])


def show_plan(console: Console, arguments: Arguments) -> None:
    """The figures of the plan, each as soon as it is known."""
    config = arguments.settings
    program = make_program(config)
    loop.check_evaluation(program)
    facts: dict[str, tuple[str, Callable[[float], str]]] = {
        "parameters": ("parameters", lambda count: f"{count:,}"),
        "devices": ("devices", lambda count: f"{count} x {jax.devices()[0].device_kind}"),
        "tree_bytes": ("search trees", lambda size: f"{size / 2**20:.0f} MiB"),
        "replay_bytes": ("history, when full", lambda size: f"{size / 2**20:.0f} MiB"),
        "positions_per_second": ("self-play", lambda speed: f"{speed:.0f} positions/s"),
        "steps_per_second": (
            "learning",
            lambda speed: f"{speed:.1f} steps/s of {config.learner.batch_size} positions",
        ),
        "compile_seconds": ("compile time", lambda time: f"{time:.0f} s (once; then from the cache)"),
        "iteration_seconds": ("one iteration", lambda time: f"{time:.0f} s with a full history"),
    }

    def show(name: str, text: str) -> None:
        console.print(f"{name:<20}{text}", highlight=False, soft_wrap=True)

    def known(name: str, figure: float) -> None:
        label, as_text = facts[name]
        show(label, as_text(figure))

    plan = make_plan(program, start(program), known)
    limit = arguments.minutes or (arguments.cpu_minutes or 0) / (os.cpu_count() or 1)
    iterations = arguments.iterations or max(60 * limit / plan.iteration_seconds, 1)
    minutes = iterations * plan.iteration_seconds / 60
    show("the whole run", f"about {iterations:.0f} iterations, {minutes:.0f} minutes without evaluations")
