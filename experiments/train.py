"""Train a player on small boards: self-play, optimisation, evaluation on a board it has never seen.

    python experiments/train.py --game gomoku                     # the default recipe, an hour
    python experiments/train.py --game othello --preset smoke     # the whole pipeline in a minute or two
    python experiments/train.py --game gomoku --plan              # what it will take, without training
    python experiments/train.py --game my_module:make             # a game of your own
    python experiments/train.py --config weights/othello/config.json --minutes 8 --workdir runs/again

Running the same command again continues where it stopped. Which flags there are below depends on the game,
the model and the network that are named.
"""

import dataclasses
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

import jax
import tyro
from rich.console import Console
from rich.table import Table

from saz_jax.agents.agent import load_agent
from saz_jax.cli import compilation_cache, flags
from saz_jax.cli.console import PhaseBar, explain_sudden_end, plain_errors, terminate_like_interrupt
from saz_jax.config import TrainConfig
from saz_jax.games.registry import find_game
from saz_jax.render import figures
from saz_jax.storage.metrics import Row, read_metrics
from saz_jax.training import loop
from saz_jax.training.iteration import make_program, start
from saz_jax.training.plan import make_plan
from saz_jax.training.presets import PresetName, preset
from saz_jax.training.sinks import SINKS, Sink, check_installed

LIMITS: dict[str, tuple[float | None, int | None]] = {
    "small": (60.0, None),
    "smoke": (None, 3),
    "paper": (3 * 24 * 60.0, None),
}
"""(minutes, iterations) of a preset, where neither is given."""


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Train a player on small boards and see it play a large one."""

    settings: Annotated[TrainConfig, tyro.conf.arg(name="")]
    preset: PresetName = "small"
    """small: learns fastest per hour of a CPU or one GPU; paper: the paper's; smoke: a quick check."""
    network: str | None = None
    """Network of the model; default: gin, cnn for model1 and model5, fcn for fcn."""
    config: Path | None = None
    """Start from the settings in this config.json of another run instead of a preset."""
    minutes: float | None = None
    """Stop after so much training time, earlier stretches included."""
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
        workdir = folder(arguments)
        if arguments.plan:
            show_plan(console, arguments)
        else:
            train(console, arguments, workdir, cache)


def parse(argv: list[str]) -> Arguments:
    """The arguments; what they leave open comes from the preset, --config, or with --resume from the run."""
    given = flags.named(argv, preset="small", game=None, model=None, network=None, workdir=None, config=None)
    if "--resume" in argv:
        if given["game"]:
            find_game(given["game"])  # registers a game of one's own before the settings are read
        default = resumed_config(given["workdir"])
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
    typed = flags.typed_training(default)
    arguments_type = dataclasses.make_dataclass(
        "Arguments", [("settings", Annotated[typed, tyro.conf.arg(name="")])], bases=(Arguments,), frozen=True
    )
    start_from = flags.as_typed(typed, default)
    parsed = tyro.cli(arguments_type, args=argv, default=arguments_type(start_from), description=__doc__)
    config = dataclasses.replace(flags.as_plain(TrainConfig, parsed.settings), game=default.game)
    values = {field.name: getattr(parsed, field.name) for field in dataclasses.fields(Arguments)}
    arguments = Arguments(**{**values, "settings": config})
    if arguments.minutes is None and arguments.iterations is None:
        minutes, iterations = LIMITS[arguments.preset]
        arguments = dataclasses.replace(arguments, minutes=minutes, iterations=iterations)
    loop.check_limits(arguments.iterations, arguments.minutes)
    return arguments


def resumed_config(workdir: str | None) -> TrainConfig:
    """The settings of the run in `workdir`."""
    if workdir is None:
        raise ValueError("--resume needs the folder of a run; give --workdir FOLDER")
    path = Path(workdir) / "config.json"
    if not path.exists():
        raise ValueError(f"--resume: there is no run in {workdir}; give the --workdir of one")
    return loop.stored_config(path)


def folder(arguments: Arguments) -> Path:
    """The workdir, by default one for each game, model and preset."""
    config = arguments.settings
    return arguments.workdir or Path("runs") / f"{config.game}-{config.model}-{arguments.preset}"


def train(console: Console, arguments: Arguments, workdir: Path, cache: Path | None) -> None:
    """The run with its display, and what there is to see at its end."""
    terminate_like_interrupt()
    config = arguments.settings
    agent = load_agent(arguments.init_from) if arguments.init_from else None
    console.print(f"{config.model} learns {config.game} on boards {list(config.boards)} in {workdir}")
    console.print("compiling" + ("; the next start is quicker, from the compilation cache" if cache else ""))
    check_installed(arguments.log_to)
    sinks: list[Sink] = []
    began = time.monotonic()
    waiting = True
    try:
        with PhaseBar(console) as bar:

            def progress(phase: str, done: int, total: int) -> None:
                nonlocal waiting
                if waiting:
                    console.print(f"first moves after {time.monotonic() - began:.0f} s", highlight=False)
                    waiting = False
                bar(phase, done, total)

            rows = loop.run(
                config,
                workdir,
                iterations=arguments.iterations,
                minutes=arguments.minutes,
                init_from=agent,
                save_seconds=arguments.save_seconds,
                traced=cache / "traced" if cache else None,
                progress=progress,
            )
            for row in rows:
                console.print(line(row, arguments), highlight=False, soft_wrap=True)
                sinks = sinks or [SINKS[name](workdir) for name in arguments.log_to]
                for sink in sinks:
                    sink(row)
    except KeyboardInterrupt:
        saved = "stopped; everything up to the last iteration is saved"
        console.print(f"{saved}. To continue: {again(workdir)}", soft_wrap=True)
        sys.exit(130)
    except (ValueError, OSError) as error:
        # Bad settings are refused before the first moves; what comes later, also while a checkpoint is
        # written, is nearly always the runtime that lost another process.
        if arguments.distributed and not waiting:
            raise RuntimeError("the run of several processes broke off") from error
        raise
    if jax.process_index() == 0:
        conclude(console, config, workdir)


def line(row: Row, arguments: Arguments) -> str:
    """One iteration in one line."""
    total = f"/{arguments.iterations}" if arguments.iterations else ""
    parts = [
        f"iteration {row['iteration']}{total}",
        f"{row['seconds'] / 60:.1f} min" + (f" of {arguments.minutes:g}" if arguments.minutes else ""),
        f"{row['games']} games",
        f"{row['positions_per_second']:.0f} positions/s",
        f"{row['games_per_second']:.1f} games/s",
        f"entropy {row['policy_entropy']:.2f}",
    ]
    if "loss" in row:
        parts.append(f"policy loss {row['policy_loss']:.3f}, value loss {row['value_loss']:.3f}")
    parts += [f"{name.replace('_', ' on side ')}: {row[name]:.2f}" for name in figures.outcome_names(row)]
    return ", ".join(parts)


def conclude(console: Console, config: TrainConfig, workdir: Path) -> None:
    """The summary table, the curve, and the commands to go on with."""
    rows = read_metrics(workdir)
    evaluated = [row for row in rows if figures.outcome_names(row)]
    if not evaluated:  # --evaluation.games 0
        console.print(f"agent:     {workdir}", soft_wrap=True)
        return
    names = figures.outcome_names(evaluated[-1])
    table = Table(title=f"{config.model} on {config.game}: average outcome (1 win, 0.5 tie, 0 loss)")
    for column in ("iteration", "minutes", "positions", *names):
        table.add_column(column.replace("_", " on side "), justify="right")
    for row in evaluated[-5:]:
        played = [f"{row[name]:.2f}" for name in names]
        table.add_row(str(row["iteration"]), f"{row['seconds'] / 60:.1f}", str(row["positions"]), *played)
    console.print(table)
    curve = figures.training_curve(rows, workdir / "curve.png", title=f"{config.model}, {config.game}")
    script = str(Path(sys.argv[0]).with_name("evaluate.py"))
    size = names[-1].split("_")[1]
    evaluate = [sys.executable, script, "--game", config.game, "--player", str(workdir), "--sizes", size]
    console.print(f"curve:     {curve}", soft_wrap=True)
    console.print(f"evaluate:  {shlex.join(evaluate)}", soft_wrap=True)
    console.print(f"continue:  {again(workdir)} --minutes 120", soft_wrap=True)


def again(workdir: Path) -> str:
    """The command that continues the run."""
    return shlex.join([sys.executable, sys.argv[0], "--resume", "--workdir", str(workdir)])


def show_plan(console: Console, arguments: Arguments) -> None:
    """The plan as a table."""
    program = make_program(arguments.settings)
    plan = make_plan(program, start(program))
    table = Table(title="plan", show_header=False)
    iterations = arguments.iterations or max(60 * (arguments.minutes or 0) / plan.iteration_seconds, 1)
    minutes = iterations * plan.iteration_seconds / 60
    facts = {
        "parameters": f"{plan.parameters:,}",
        "devices": f"{plan.devices} x {jax.devices()[0].device_kind}",
        "compile time": f"{plan.compile_seconds:.0f} s (once; then from the compilation cache)",
        "search trees": f"{plan.tree_bytes / 2**20:.0f} MiB",
        "history, when full": f"{plan.replay_bytes / 2**20:.0f} MiB",
        "self-play": f"{plan.positions_per_second:.0f} positions/s",
        "learning": f"{plan.steps_per_second:.1f} steps/s of {program.config.learner.batch_size} positions",
        "one iteration": f"{plan.iteration_seconds:.0f} s with a full history",
        "the whole run": f"about {iterations:.0f} iterations, {minutes:.0f} minutes",
    }
    for name, fact in facts.items():
        table.add_row(name, fact)
    console.print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
