"""Time and memory of a run, measured on its first steps."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from saz_jax.search.tree import tree_memory
from saz_jax.training import devices
from saz_jax.training.iteration import CHUNK, Group, Program, RunState, iteration_bytes
from saz_jax.training.learner import Batch, as_batch
from saz_jax.training.replay import Positions


class Plan(NamedTuple):
    """Figures of one run on the devices at hand."""

    parameters: int
    devices: int
    compile_seconds: float
    """Self-play and learning; next to nothing when the compilation cache knows them."""
    tree_bytes: int
    """Search trees of all games, over all devices."""
    replay_bytes: int
    """The history when it is full, on each host."""
    positions_per_second: float
    """Of self-play."""
    steps_per_second: float
    """Of learning."""
    iteration_seconds: float
    """Once the history is full."""


def make_plan(
    program: Program, state: RunState, known: Callable[[str, float], None] = lambda name, figure: None
) -> Plan:
    """Compiles self-play and learning, runs a few steps of each, and computes the rest.

    `known` gets the name of each figure of the plan and the figure, as soon as it is there.
    """
    config = program.config
    positions = config.selfplay.games * config.selfplay.moves
    key = jax.random.key(config.seed)
    figures: dict[str, Any] = {}

    def tell(**found: float) -> None:
        figures.update(found)
        for name, figure in found.items():
            known(name, figure)

    tell(
        parameters=sum(x.size for x in jax.tree.leaves(state.learner.variables["params"])),
        devices=program.mesh.size,
        tree_bytes=max(
            tree_memory(group.game, config.selfplay.games, config.search.simulations, config.search.solve)
            for group in program.groups
        ),
        replay_bytes=iteration_bytes(config, program.groups) * config.learner.history,
    )
    play_seconds = learn_seconds = compile_seconds = 0.0
    for group, games in zip(program.groups, state.games, strict=True):
        seconds, compiling = _timed(group.play, state.learner.average, key, games, state.opponent)
        play_seconds, compile_seconds = play_seconds + group.share * seconds, compile_seconds + compiling
    tell(positions_per_second=config.selfplay.games * CHUNK / play_seconds)
    for group in program.groups:
        batch = devices.split(program.mesh, as_batch(_blank(group, config.learner.batch_size)))

        def learn(group: Group = group, batch: Batch = batch) -> Any:
            # A step overwrites its input, so each one gets a copy.
            return group.learn(jax.tree.map(jnp.copy, state.learner), key, batch)

        seconds, compiling = _timed(learn)
        learn_seconds, compile_seconds = learn_seconds + group.share * seconds, compile_seconds + compiling
    steps = int(config.learner.epochs * config.learner.history * positions) // config.learner.batch_size
    tell(
        steps_per_second=1 / learn_seconds,
        compile_seconds=compile_seconds,
        iteration_seconds=config.selfplay.moves / CHUNK * play_seconds + steps * learn_seconds,
    )
    return Plan(**figures)


def _blank(group: Group, count: int) -> Positions:
    """`count` empty boards of the group's side."""
    side = group.game.max_size
    blank = Positions.blank(side, count, group.model.network.heads, len(group.game.moves))
    seen = blank.observation
    seen = seen._replace(points=~seen.points, size=seen.size + side, to_play=seen.to_play + 1)
    return blank._replace(observation=seen)


def _timed(function: Any, *args: Any) -> tuple[float, float]:
    """(seconds of a later call, what the first call took longer)."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        jax.block_until_ready(function(*args))
        times.append(time.perf_counter() - began)
    later = min(times[1:])
    return later, max(times[0] - later, 0.0)
