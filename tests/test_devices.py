"""Several devices and several processes: the same gradient, a run that goes on, programs for accelerators."""

import dataclasses
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, cast

import jax
import pytest
from jax import export
from jax.sharding import AbstractMesh

from saz_jax.agents.agent import load_agent
from saz_jax.training import devices
from saz_jax.training.iteration import make_program, start
from saz_jax.training.learner import as_batch
from saz_jax.training.presets import preset
from saz_jax.training.replay import Positions

ROOT = Path(__file__).parent.parent
SMOKE = [
    *("experiments/train.py", "--preset", "smoke", "--model", "model3", "--sizes", "5"),
    *("--network.layers", "1", "--network.hidden", "8", "--selfplay.games", "8", "--selfplay.moves", "8"),
    *("--search.simulations", "2", "--evaluation.games", "2", "--evaluation.sizes", "5"),
]


def started(*arguments, devices=1):
    """A Python process with so many virtual CPU devices."""
    flags = f"--xla_force_host_platform_device_count={devices}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    pipe = subprocess.PIPE
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=pipe, stderr=subprocess.STDOUT
    )


def finished(process):
    """(exit code, output)."""
    output, _ = process.communicate(timeout=600)
    return process.returncode, output


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


def test_what_does_not_divide_by_the_devices_is_refused_with_a_number_that_does():
    mesh = AbstractMesh((4,), (devices.AXIS,))
    devices.check_divides(mesh, "selfplay.games", 8)
    with pytest.raises(ValueError, match=r"selfplay\.games=10 does not divide by 4 devices; use 8"):
        devices.check_divides(mesh, "selfplay.games", 10)
    with pytest.raises(ValueError, match="use 4"):
        devices.check_divides(mesh, "selfplay.games", 0)


@pytest.mark.slow
def test_four_devices_give_the_gradient_of_one(tmp_path):
    """The same batch, on a mesh of four and on one device, with masked batch norm in between."""
    script = tmp_path / "gradient.py"
    script.write_text(
        textwrap.dedent(
            """
            import jax, numpy as np
            from jax.sharding import AxisType
            from saz_jax.training import devices
            from saz_jax.config import GINConfig, LearnerConfig
            from saz_jax.training.learner import as_batch, make_learner
            from saz_jax.networks.gin import make_gin
            from saz_jax.training.replay import Positions

            rng, count = np.random.default_rng(0), 16
            batch = Positions.blank(5, count)
            batch = batch._replace(
                observation=batch.observation._replace(
                    board=rng.integers(-1, 2, (count, 5, 5)).astype(np.int8),
                    size=np.full(count, 5, np.int32), to_play=np.ones(count, np.int8),
                    legal=np.ones((count, 26), bool)),
                policy=rng.dirichlet(np.ones(26), count).astype(np.float32),
                outcome=rng.choice([-1.0, 1.0], count).astype(np.float32))
            network = make_gin(GINConfig(hidden=8, head=8, dropout=0.0), 5)
            init, step = make_learner(network, LearnerConfig())
            state = jax.device_get(init(network.init(jax.random.key(0))))
            results = []
            for used in (1, 4):
                mesh = jax.make_mesh((used,), (devices.AXIS,), (AxisType.Auto,), devices=jax.devices()[:used])
                after, losses = jax.jit(step)(
                    devices.copy(mesh, state), jax.random.key(1), devices.split(mesh, as_batch(batch)))
                # Adam's first moment after one step is a tenth of the gradient.
                moments = after.optimiser[1][0].mu
                results.append(jax.device_get((moments, losses, after.variables["batch_stats"])))
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), *results)
            assert max(abs(x).max() for x in jax.tree.leaves(results[0][0])) > 1e-3
            print("equal")
            """
        )
    )
    code, output = finished(started(script, devices=4))
    assert code == 0, output
    assert "equal" in output


@pytest.mark.slow
def test_a_run_on_four_devices_goes_on_with_two(tmp_path):
    workdir = tmp_path / "run"
    code, output = finished(started(*SMOKE, "--workdir", workdir, "--iterations", 2, devices=4))
    assert code == 0, output
    code, output = finished(started(*SMOKE, "--workdir", workdir, "--iterations", 3, devices=2))
    assert code == 0, output
    assert "iteration 3/3" in output
    assert load_agent(workdir).meta["iteration"] == 3
    code, output = finished(started(*SMOKE, "--workdir", workdir, "--iterations", 4, devices=3))
    assert code == 2
    assert "selfplay.games=8 does not divide by 3 devices" in output


@pytest.mark.slow
def test_two_processes_train_one_is_killed_and_the_run_is_resumed(tmp_path):
    workdir = tmp_path / "run"

    def pair(iterations):
        port = free_port()
        join = ("--distributed", "--coordinator", f"localhost:{port}", "--processes", 2)
        common = (*SMOKE, "--workdir", workdir, "--iterations", iterations, "--save-seconds", 0, *join)
        return [started(*common, "--process", number) for number in range(2)]

    first, second = pair(10_000)
    assert first.stdout is not None
    seen = ""
    while "iteration 3" not in seen:
        line = first.stdout.readline()
        assert line, seen
        seen += line
    second.kill()
    code, output = finished(first)
    second.communicate()
    assert code != 0
    assert "this process ended early" in output, output
    assert load_agent(workdir).meta["iteration"] >= 1
    reached = load_agent(workdir).meta["iteration"] + 2
    for process in pair(reached):
        code, output = finished(process)
        assert code == 0, output
    assert load_agent(workdir).meta["iteration"] == reached


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_self_play_and_learning_lower_for_accelerators(platform):
    """`jax.export` lowers without a device, so nothing that only a CPU can run slips in."""
    config = dataclasses.replace(preset("smoke", "go", "saz"), sizes=(5, 6))
    program = make_program(config)
    state = start(program)
    states = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), (state.learner.average, state.games[0])
    )
    key = jax.eval_shape(lambda: jax.random.key(0))
    played = export.export(cast(Any, program.groups[0].play), platforms=[platform])(states[0], key, states[1])
    assert played.platforms == (platform,)
    batch = as_batch(Positions.blank(6, 8))
    batch = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), batch)
    learner = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), state.learner)
    learned = export.export(cast(Any, program.groups[0].learn), platforms=[platform])(learner, key, batch)
    assert learned.platforms == (platform,)
