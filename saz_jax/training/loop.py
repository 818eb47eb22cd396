"""The training run around the iterations: workdir, checkpoints, metrics, periodic evaluation.

The state is only ever saved between iterations, and each iteration is a function of the state before it: a
run that was killed continues to the same bits as one that was not.
"""

import contextlib
import dataclasses
import functools
import math
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import jax

from saz_jax.agents.agent import CHECKPOINTS, EXPORT, Agent, check_registered, origins, spent
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.arena import matches
from saz_jax.arena.lanes import fitting_lanes
from saz_jax.config import TrainConfig, difference, from_json, to_json
from saz_jax.config.versions import SCHEMA, check_schema, migrated_training
from saz_jax.games.registry import find_game, full_options, make_game
from saz_jax.models.registry import check_sizes
from saz_jax.search.memory import check_memory
from saz_jax.storage.checkpoint import Checkpoints, Snapshot
from saz_jax.storage.export import read_export
from saz_jax.storage.lock import LOCK, locked
from saz_jax.storage.metrics import Metrics, Row
from saz_jax.storage.named_arrays import NamedArrays
from saz_jax.storage.provenance import provenance
from saz_jax.storage.results import read_json, write_json
from saz_jax.training import devices
from saz_jax.training.iteration import Program, Progress, RunState, iterate, make_program, start
from saz_jax.training.replay import Positions, squares
from saz_jax.types import Game, Model, Player

SAVED = ("learner", "games", "earlier")
"""The fields of `RunState` that a checkpoint holds as arrays."""
CONTINUING = "continuing"
"""The phase that `run` reports once if it goes on with an earlier stretch: so many iterations are done."""


def run(
    config: TrainConfig,
    workdir: str | Path,
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    cpu_minutes: float | None = None,
    init_from: Agent | None = None,
    save_seconds: float = 60.0,
    traced: Path | None = None,
    progress: Progress = lambda phase, done, total: None,
) -> Generator[Row, None, None]:
    """Trains in `workdir` until a limit is reached; yields a row per iteration.

    A workdir that holds a run of the same config is continued; another config is refused, and so is a workdir
    in which another run is under way.  `iterations`, `minutes` of wall-clock time and `cpu_minutes` of
    processor time, all cores added up, count the whole run, earlier stretches included and evaluations
    excluded.  `init_from` gives the weights to start from.  A keyboard interrupt saves the last whole
    iteration and is passed on, and closing the generator saves it too; otherwise a checkpoint is written when
    the last one is older than `save_seconds`, and at the end.
    `traced` is a folder that makes a second start quicker.  `progress` gets the phase at hand ("self-play",
    "learning", "against greedy on side 18", ...) and how much of it is done.
    """
    check_limits(iterations, minutes, cpu_minutes)
    workdir, first, config = Path(workdir), jax.process_index() == 0, complete(config)
    program = make_program(config, traced)
    check_evaluation(program)
    fresh = start(program, init_from.variables if init_from else None)
    fresh = fresh._replace(before=spent(init_from) if init_from else {})
    with hold(workdir, config, init_from), Checkpoints(workdir / CHECKPOINTS) as checkpoints:
        metrics = Metrics(workdir, write=first)
        check_not_lost(workdir, checkpoints)
        state = restore(program, fresh, checkpoints)
        if state is not fresh:
            renew_export(program, state, workdir)
        metrics.keep(state.iteration)
        compiled: set[str] = set()
        saved_at = time.monotonic()

        def finished() -> bool:
            over = iterations is not None and state.iteration >= iterations
            over = over or (minutes is not None and state.seconds >= 60 * minutes)
            return over or (cpu_minutes is not None and state.cpu_seconds >= 60 * cpu_minutes)

        try:
            if state is not fresh and not finished():
                progress(CONTINUING, state.iteration, state.iteration)
            while not finished():
                state, row = iterate(program, state, progress)
                every, last = config.evaluation.every, finished()
                if first and (last or (every and state.iteration % every == 0)):
                    row |= evaluate(program, state, progress, compiled)
                    make_agent(program, state).export(workdir / "stages" / f"{state.iteration:06d}.npz")
                metrics.add(row)
                if last or devices.agree(time.monotonic() - saved_at > save_seconds):
                    save(program, state, checkpoints, workdir)
                    saved_at = time.monotonic()
                yield row
        except (KeyboardInterrupt, GeneratorExit):  # the latter: the caller closed the generator
            # Several processes may be interrupted in different iterations; they rely on the last common one.
            if jax.process_count() == 1 and not sys.is_finalizing():
                save(program, state, checkpoints, workdir)
            raise


def check_limits(iterations: int | None, minutes: float | None, cpu_minutes: float | None = None) -> None:
    """Raise `ValueError` for a run that would not end, or would end before it begins."""
    if iterations is None and minutes is None and cpu_minutes is None:
        raise ValueError("a run needs an end; give iterations, minutes or cpu_minutes")
    if iterations is not None and iterations < 1:
        raise ValueError(f"iterations={iterations}; use 1 or more")
    for name, limit in (("minutes", minutes), ("cpu_minutes", cpu_minutes)):
        if limit is not None and not 0 < limit < math.inf:
            raise ValueError(f"{name}={limit}; use a positive number")


def complete(config: TrainConfig) -> TrainConfig:
    """`config` as it is stored: every setting checked, the game's own name and all its options."""
    config, name = from_json(TrainConfig, to_json(config)), find_game(config.game)
    return dataclasses.replace(config, game=name, game_options=full_options(name, config.game_options))


def stored_config(path: Path) -> TrainConfig:
    """The settings in a file `config.json` of a run, brought up to date; `ValueError` if it holds none."""
    stored = read_json(path)
    if not isinstance(stored, dict) or not isinstance(stored.get("config"), dict):
        raise ValueError(f"{path} is no run's config; name another workdir")
    schema = check_schema(stored.get("schema", 1), str(path))
    config = migrated_training(stored["config"], schema)
    check_registered({**config, "origins": stored.get("origins", {})})
    return complete(from_json(TrainConfig, config))


@contextlib.contextmanager
def hold(workdir: Path, config: TrainConfig, init_from: Agent | None) -> Iterator[None]:
    """Claims `workdir` and keeps other runs out of it for as long as the context lasts."""
    prepare(workdir)
    with locked(workdir) if jax.process_index() == 0 else contextlib.nullcontext():
        claim(workdir, config, init_from)
        yield


def prepare(workdir: Path) -> None:
    """Makes the folder `workdir`, or raises `ValueError` if something other than a run is there."""
    if workdir.exists() and not workdir.is_dir():
        raise ValueError(f"workdir {workdir} is a file; name a folder")
    if jax.process_index() != 0 or (workdir / "config.json").exists():
        return
    if workdir.exists() and any(path.name != LOCK for path in workdir.iterdir()):
        raise ValueError(f"workdir {workdir} is not empty and holds no run; name a new folder")
    try:
        workdir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make workdir {workdir} ({error.strerror}); name another one") from error


def claim(workdir: Path, config: TrainConfig, init_from: Agent | None) -> None:
    """Makes `workdir` this run's, or raises `ValueError` if it holds something else."""
    prepare(workdir)
    path, config = workdir / "config.json", complete(config)
    if devices.agree(path.exists()):
        check_same_settings(path, config)
    elif jax.process_index() == 0:
        facts = {
            "schema": SCHEMA,
            "config": to_json(config),
            "origins": origins(config.game, config.model_config, config.search),
            "init_from": init_from.facts() if init_from else None,
            **provenance(),
        }
        write_json(path, facts)
    devices.wait_for_all("claim")


def check_same_settings(path: Path, config: TrainConfig) -> None:
    """Raise `ValueError` unless the run whose config is at `path` has these settings.

    Settings that are younger than the run have their defaults there.  How the run is evaluated may change,
    since nothing is learned from it: the file then holds the newest.
    """
    known, stored = stored_config(path), read_json(path)
    evaluated = dataclasses.replace(known, evaluation=config.evaluation)
    made_by = origins(config.game, config.model_config, config.search)
    before = {**to_json(evaluated), "origins": {**made_by, **stored.get("origins", {})}}
    if lines := difference(before, {**to_json(config), "origins": made_by}):
        raise ValueError(
            f"workdir {path.parent} holds a run with other settings: {'; '.join(lines)}. "
            f"Use those settings to continue it, or name another workdir"
        )
    if known != evaluated and jax.process_index() == 0:
        write_json(path, {**stored, "schema": SCHEMA, "config": to_json(config)})


def save(program: Program, state: RunState, checkpoints: Checkpoints, workdir: Path) -> None:
    """Writes a checkpoint of `state` and the newest agent."""
    if checkpoints.iterations()[-1:] == [state.iteration]:
        return
    arrays = devices.fetch({name: getattr(state, name) for name in SAVED})
    blocks = [*state.pending, *state.replay]
    agent, earlier = make_agent(program, state), checkpoints.iterations()
    checkpoints.save(state.iteration, Snapshot(arrays, [block.columns() for block in blocks], agent.facts()))
    if not earlier:  # an agent without any checkpoint is a run that cannot continue
        checkpoints.wait()
    if jax.process_index() == 0:
        agent.export(workdir / EXPORT)


def renew_export(program: Program, state: RunState, workdir: Path) -> None:
    """Exports the agent of `state` unless it is there: a kill after the checkpoint leaves an older one."""
    if devices.agree(_exported_iteration(workdir / EXPORT) != state.iteration):
        agent = make_agent(program, state)
        if jax.process_index() == 0:
            agent.export(workdir / EXPORT)


def _exported_iteration(path: Path) -> int | None:
    """The iteration of the agent at `path`; None if no whole one is there."""
    with contextlib.suppress(ValueError):
        return read_export(path)[1].get("iteration")
    return None


def check_not_lost(workdir: Path, checkpoints: Checkpoints) -> None:
    """Raise `ValueError` if the run has an agent but no checkpoint: starting again would overwrite it."""
    if devices.agree((workdir / EXPORT).exists() and not checkpoints.iterations()):
        raise ValueError(
            f"workdir {workdir} holds {EXPORT} but no checkpoint to continue from; "
            f"put its folder {CHECKPOINTS} back, or name another workdir"
        )


def restore(program: Program, fresh: RunState, checkpoints: Checkpoints) -> RunState:
    """The newest saved state, placed on the devices at hand; `fresh` if there is none."""
    found = checkpoints.restore({name: getattr(fresh, name) for name in SAVED}, migrated_games)
    if found is None:
        return fresh
    iteration, snapshot = found
    blocks = tuple(Positions.from_columns(block) for block in snapshot.replay)
    groups = len(program.groups)
    return RunState(
        iteration=iteration,
        learner=devices.copy(program.mesh, snapshot.state["learner"]),
        games=devices.split(program.mesh, snapshot.state["games"]),
        pending=blocks[:groups],
        replay=blocks[groups:],
        seconds=snapshot.meta["seconds"],
        cpu_seconds=snapshot.meta.get("cpu_seconds", 0.0),
        earlier=devices.copy(program.mesh, snapshot.state["earlier"]),
        before=snapshot.meta.get("before", {}),
    )


def migrated_games(arrays: NamedArrays) -> NamedArrays:
    """The arrays of a checkpoint, brought up to date: once there was one group of games, all on squares."""
    if "state/games/size" in arrays:
        arrays = {name.replace("state/games/", "state/games/0/"): array for name, array in arrays.items()}
    if "state/games/0/points" in arrays or "state/games/0/size" not in arrays:
        return arrays
    points = squares(arrays["state/games/0/size"], arrays["state/games/0/board"].shape[-1])
    return {**arrays, "state/games/0/points": points}


def make_agent(program: Program, state: RunState) -> Agent:
    """The agent that this state of the run plays as."""
    config = program.config
    also: dict[str, Any] = {"trained_shapes": list(config.boards)} if config.shapes else {}
    also |= {"before": dict(state.before)} if state.before else {}
    return Agent(
        variables=devices.fetch(state.learner.average),
        game_name=program.game.name,
        game_options=dict(program.game.options),
        model=config.model_config,
        search=config.search,
        trained_sizes=config.sides,
        meta={
            **also,
            "seed": config.seed,
            "iteration": state.iteration,
            "positions": config.selfplay.games * config.selfplay.moves * state.iteration,
            "seconds": state.seconds,
            "cpu_seconds": state.cpu_seconds,
            **provenance(),
        },
    )


def evaluation_sizes(config: TrainConfig, model: Model) -> tuple[int, ...]:
    """The board sides of the periodic evaluation: a trained one and, for scalable models, an unseen one."""
    if config.evaluation.sizes:
        return config.evaluation.sizes
    largest = max(config.sides)
    return (largest,) if model.sizes[1] is not None else (largest, 2 * largest)


def evaluation_game(program: Program, size: int) -> Game:
    """The game on boards of that side; the one of self-play where it is large enough."""
    config = program.config
    large = size > program.game.max_size
    return make_game(config.game, size, **config.game_options) if large else program.game


def check_evaluation(program: Program) -> None:
    """Raise `ValueError` for evaluations that could not be played, before the first iteration."""
    config = program.config.evaluation
    if config.every < 0:
        raise ValueError(f"evaluation.every={config.every}; use 0 (only at the end) or more iterations")
    if config.games < 0 or config.games % 2:
        raise ValueError(f"evaluation.games={config.games}; use an even number, or 0 for none")
    if config.simulations < 1:
        raise ValueError(f"evaluation.simulations={config.simulations}; use 1 or more")
    for size in evaluation_sizes(program.config, program.model):
        try:
            jax.eval_shape(functools.partial(evaluation_game(program, size).init, size))
            check_sizes(program.model, (size,))
            solve = program.config.search.solve
            check_memory(evaluation_game(program, size), 1, config.simulations, solve=solve)
        except ValueError as error:
            raise ValueError(f"evaluation.sizes: {error}") from error


def evaluate(program: Program, state: RunState, progress: Progress, compiled: set[str]) -> Row:
    """Average outcomes against random and greedy, named `random_8`, `greedy_16` and so on.

    `compiled` are the figures that this process has measured before; what is new compiles first, and
    `progress` says so.
    """
    config, agent, figures = program.config, make_agent(program, state), Row()
    games = config.evaluation.games
    for size in evaluation_sizes(config, program.model) if games else ():
        game = evaluation_game(program, size)
        player = agent.player(game, simulations=config.evaluation.simulations, sizes=(size,))
        for name, opponent in opponents(game).items():
            figure, phase = f"{name}_{size}", f"against {name} on side {size}"
            progress(phase if figure in compiled else f"compiling: {phase}", 0, games)
            result = matches.match(
                game,
                player,
                opponent,
                jax.random.fold_in(jax.random.key(config.seed), len(figures)),
                size=size,
                games=games,
                opening_moves=2,
                lanes=fitting_lanes(game, (player, opponent), games, None),
                progress=lambda done, phase=phase: progress(phase, int(done), games),
            )
            compiled.add(figure)
            figures[figure] = result.outcome
    return figures


@functools.cache
def opponents(game: Game) -> dict[str, Player]:
    """The reference opponents; the same objects every time, so that a match compiles once."""
    return {"random": random_player(), "greedy": greedy_player(game)}
