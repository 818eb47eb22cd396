"""Checkpoints are whole or ignored, and give back the same bits."""

import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import hypothesis.extra.numpy
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from saz_jax.storage.checkpoint import SCHEMA, Checkpoints, Snapshot
from saz_jax.storage.named_arrays import NamedArrays, checksum, flatten, mismatch, nest

ROOT = Path(__file__).parent.parent


class State(NamedTuple):
    variables: Any
    optimiser: Any
    games: Any
    key: Any
    iteration: Any


def make_state(seed: int = 0) -> State:
    kernel_key, bias_key = jax.random.split(jax.random.key(seed))
    kernel = jax.random.normal(kernel_key, (3, 4), jnp.bfloat16)
    bias = jax.random.normal(bias_key, (4,), jnp.float16)
    variables = {"params": {"dense": {"kernel": kernel, "bias": bias}}, "batch_stats": {}}
    games = (jnp.full((2, 3, 3), -1, jnp.int8), jnp.array([True, False]), ())
    key = jax.random.key_data(jax.random.key(seed))
    return State(variables, optax.adam(1e-3).init(variables), games, key, np.int64(2**40 + seed))


def make_snapshot(seed: int = 0) -> Snapshot:
    odd = np.array([np.nan, -0.0, np.inf, 1e-45], np.float32)
    replay = [{"board": np.zeros((0, 3, 3), np.int8), "value": odd[:0]}, {"value": odd}, {}]
    return Snapshot(make_state(seed), replay, {"seed": seed, "config": {"sizes": [5, 6], "komi": None}})


def assert_same(got: Any, want: Any) -> None:
    assert jax.tree.structure(got) == jax.tree.structure(want)
    assert mismatch(got, want) is None
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def restored(folder: Path) -> tuple[int, Snapshot] | None:
    with Checkpoints(folder) as checkpoints:
        return checkpoints.restore(make_state())


def save_all(folder: Path, iterations: int, keep: int = 2) -> None:
    with Checkpoints(folder, keep) as checkpoints:
        for iteration in range(iterations):
            checkpoints.save(iteration, make_snapshot(iteration))


def start_script(script: str, *arguments: Any, flags: str = "") -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe)


def test_what_is_restored_has_the_same_structure_dtypes_and_bits(tmp_path: Path):
    save_all(tmp_path, 1)
    found = restored(tmp_path)
    assert found is not None
    iteration, snapshot = found
    assert iteration == 0
    assert_same(snapshot, make_snapshot())
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(snapshot.state))


def test_a_template_may_be_shapes_alone(tmp_path: Path):
    save_all(tmp_path, 1)
    with Checkpoints(tmp_path) as checkpoints:
        found = checkpoints.restore(jax.eval_shape(make_state)._replace(iteration=np.int64(0)))
    assert found is not None
    assert_same(found[1].state, make_state())


def test_there_is_nothing_to_restore_at_first(tmp_path: Path):
    assert restored(tmp_path / "not" / "yet") is None


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path):
    save_all(tmp_path, 5, keep=3)
    with Checkpoints(tmp_path) as checkpoints:
        assert checkpoints.iterations() == [2, 3, 4]
        found = checkpoints.restore(make_state())
    assert found is not None
    assert found[0] == 4
    assert_same(found[1], make_snapshot(4))


def test_what_changes_after_saving_is_not_saved(tmp_path: Path):
    state = np.zeros(100_000)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.save(1, Snapshot({"x": state}, [], {}))
        state += 1
    with Checkpoints(tmp_path) as checkpoints:
        found = checkpoints.restore({"x": state})
    assert found is not None
    assert not found[1].state["x"].any()


@pytest.mark.parametrize("size", [1, 2**22, 15_485_863])
def test_no_size_is_awkward(size: int, tmp_path: Path):
    state = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    began = time.monotonic()
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.save(1, Snapshot(state, [], {}))
        found = checkpoints.restore(state)
    assert found is not None
    assert np.array_equal(found[1].state, state)
    assert time.monotonic() - began < 10


def test_saving_an_iteration_again_changes_nothing_and_an_earlier_one_is_refused(tmp_path: Path):
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.save(3, make_snapshot(3))
        checkpoints.save(3, make_snapshot(4))
        with pytest.raises(ValueError, match="already holds iteration 3, after 2; restore it first"):
            checkpoints.save(2, make_snapshot(2))
        found = checkpoints.restore(make_state())
    assert found is not None
    assert_same(found[1], make_snapshot(3))


def test_another_structure_is_refused_with_the_difference(tmp_path: Path):
    save_all(tmp_path, 1)
    with Checkpoints(tmp_path) as checkpoints:
        wider = make_state()._replace(key=np.zeros(4, np.uint32))
        with pytest.raises(
            ValueError, match=r"key is uint32\[2\] there and uint32\[4\] here; use the settings"
        ):
            checkpoints.restore(wider)
        with pytest.raises(ValueError, match=r"games/0 is int8\[2, 3, 3\] there and absent here"):
            checkpoints.restore(make_state()._replace(games=()))


def damage_by_truncating(step: Path) -> None:
    largest = max((file for file in step.rglob("*") if file.is_file()), key=lambda file: file.stat().st_size)
    os.truncate(largest, largest.stat().st_size // 2)


def damage_by_flipping_a_bit(step: Path) -> None:
    """A bit in each file: which of them are still referred to is orbax's affair."""
    for file in (file for file in (step / "state").rglob("d/*") if file.is_file()):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)


def damage_by_removing_the_replay(step: Path) -> None:
    shutil.rmtree(step / "replay")


def damage_by_emptying_facts(step: Path) -> None:
    (step / "facts" / "metadata").write_text("")


def damage_by_other_facts(step: Path) -> None:
    file = step / "facts" / "metadata"
    facts = json.loads(file.read_text())
    facts["arrays"]["state/key"][-1] = "0" * 64
    file.write_text(json.dumps(facts))


DAMAGES = [
    damage_by_truncating,
    damage_by_flipping_a_bit,
    damage_by_removing_the_replay,
    damage_by_emptying_facts,
    damage_by_other_facts,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_gives_way_to_the_one_before_it(damage, tmp_path: Path, caplog):
    save_all(tmp_path, 2)
    damage(tmp_path / "1")
    with Checkpoints(tmp_path) as checkpoints:
        found = checkpoints.restore(make_state())
        assert found is not None
        assert found[0] == 0
        assert_same(found[1], make_snapshot(0))
        (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert f"checkpoint 1 in {tmp_path} is damaged" in warning.getMessage()
        assert "\n" not in warning.getMessage()
        checkpoints.save(1, make_snapshot(1))
    found = restored(tmp_path)
    assert found is not None
    assert found[0] == 1
    assert_same(found[1], make_snapshot(1))


def test_reading_removes_nothing(tmp_path: Path):
    save_all(tmp_path, 2)
    damage_by_flipping_a_bit(tmp_path / "1")
    before = sorted(tmp_path.rglob("*"))
    assert restored(tmp_path) is not None
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("damage", DAMAGES)
def test_if_every_checkpoint_is_damaged_it_says_so(damage, tmp_path: Path):
    save_all(tmp_path, 2)
    damage(tmp_path / "0")
    damage(tmp_path / "1")
    with pytest.raises(ValueError, match=f"every checkpoint in {tmp_path} is damaged; start again in"):
        restored(tmp_path)


@pytest.mark.parametrize("delay", [0, 0.05])
def test_a_half_written_checkpoint_of_a_killed_run_is_ignored(delay: float, tmp_path: Path):
    script = """
        import os, signal, sys, time
        import numpy as np
        from saz_jax.storage.checkpoint import Checkpoints, Snapshot

        folder, delay = sys.argv[1], float(sys.argv[2])
        noise = np.random.default_rng(0).integers(0, 255, 50_000_000, np.uint8)
        checkpoints = Checkpoints(folder)
        checkpoints.save(1, Snapshot({"x": np.array(1)}, [], {}))
        checkpoints.wait()
        checkpoints.save(2, Snapshot({"x": np.array(2)}, [{"noise": noise}], {}))
        while not any("tmp" in name for name in os.listdir(folder)):
            assert "2" not in os.listdir(folder)
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    process = start_script(script, tmp_path, delay)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == -signal.SIGKILL, errors
    assert any("tmp" in path.name for path in tmp_path.iterdir())
    with Checkpoints(tmp_path) as checkpoints:
        found = checkpoints.restore({"x": np.array(0)})
        assert found is not None
        iteration, snapshot = found
        assert iteration == snapshot.state["x"] == 1
        checkpoints.save(2, snapshot)
    assert sorted(os.listdir(tmp_path)) == ["1", "2"]


def test_a_full_disk_is_a_clear_error_and_the_earlier_checkpoint_survives(tmp_path: Path):
    save_all(tmp_path, 1)
    script = """
        import resource, sys
        import numpy as np
        from saz_jax.storage.checkpoint import Checkpoints, Snapshot

        noise = np.random.default_rng(0).integers(0, 255, 1_000_000, np.uint8)
        checkpoints = Checkpoints(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            checkpoints.save(1, Snapshot({"x": noise, "y": noise + 1}, [{"z": noise + 2}] * 20, {}))
            checkpoints.close()
        except OSError as error:
            print(error)
    """
    output, errors = start_script(script, tmp_path).communicate(timeout=60)
    assert output.startswith(f"cannot write a checkpoint to {tmp_path} (")
    assert output.count("\n") == 1
    assert "Traceback" not in errors
    found = restored(tmp_path)
    assert found is not None
    assert found[0] == 0


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=f"cannot keep checkpoints in {tmp_path}/file/checkpoints"):
        Checkpoints(tmp_path / "file" / "checkpoints")


def test_a_branch_can_be_read_without_a_template(tmp_path: Path):
    save_all(tmp_path, 1)
    with Checkpoints(tmp_path, read_only=True) as checkpoints:
        found = checkpoints.read("variables/params")
    assert found is not None
    params, meta = found
    assert_same(params, make_state().variables["params"])
    assert meta == make_snapshot().meta


def test_reading_a_branch_reads_nothing_else(tmp_path: Path):
    """The rest is large, and damaged besides."""
    weights, noise = {"kernel": np.ones(3)}, np.random.default_rng(0).integers(0, 256, 3_000_000, np.uint8)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.save(1, Snapshot({"weights": weights, "games": noise}, [{"board": noise}], {}))
    shutil.rmtree(tmp_path / "1" / "replay")
    largest = max((tmp_path / "1").rglob("d/*"), key=lambda file: file.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    with Checkpoints(tmp_path, read_only=True) as checkpoints:
        found = checkpoints.read("weights")
    assert found is not None
    assert_same(found[0], weights)
    with pytest.raises(ValueError, match="every checkpoint"):
        restored(tmp_path)


def test_names_that_begin_like_the_branch_are_not_in_it(tmp_path: Path):
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.save(1, Snapshot({"net": {"x": np.ones(1)}, "network": {"y": np.ones(1)}}, [], {}))
        found = checkpoints.read("net")
    assert found is not None
    assert found[0].keys() == {"x"}


@pytest.mark.parametrize(
    ("schema", "remedy"),
    [(None, "continue the run with the version it began with"), (SCHEMA + 1, "update saz_jax")],
)
def test_another_schema_is_refused_with_what_to_do(schema: int | None, remedy: str, tmp_path: Path):
    """It is neither damaged nor a reason to go back to an older checkpoint."""
    save_all(tmp_path, 2)
    file = tmp_path / "1" / "facts" / "metadata"
    facts = json.loads(file.read_text())
    assert facts.pop("schema") == SCHEMA
    file.write_text(json.dumps(facts if schema is None else {**facts, "schema": schema}))
    with pytest.raises(
        ValueError,
        match=f"checkpoint 1 in .* has schema {schema or 1}, .* reads {SCHEMA}; {remedy}, or start",
    ):
        restored(tmp_path)


def test_a_state_without_elements_and_no_replay_come_back(tmp_path: Path):
    state = {"none": np.zeros((0, 3), np.uint32)}
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.save(1, Snapshot(state, [], {}))
        found = checkpoints.restore(state)
    assert found is not None
    assert_same(found[1], Snapshot(state, [], {}))


def test_arrays_split_over_devices_are_restored_on_any_number_of_them(tmp_path: Path):
    script = """
        import sys
        import jax, numpy as np
        from jax.sharding import NamedSharding, PartitionSpec
        from saz_jax.storage.checkpoint import Checkpoints, Snapshot

        assert jax.device_count() == 4
        mesh = jax.make_mesh((4,), ("x",))
        split = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, PartitionSpec("x")))
        copied = jax.device_put(np.arange(3, dtype=np.int8), NamedSharding(mesh, PartitionSpec()))
        with Checkpoints(sys.argv[1]) as checkpoints:
            checkpoints.save(1, Snapshot({"split": split, "copied": copied}, [], {}))
    """
    process = start_script(script, tmp_path, flags="--xla_force_host_platform_device_count=4")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    state = {"split": np.arange(8, dtype=np.float32), "copied": np.arange(3, dtype=np.int8)}
    with Checkpoints(tmp_path) as checkpoints:
        found = checkpoints.restore(state)
    assert found is not None
    assert_same(found[1].state, state)


def test_two_processes_share_one_checkpoint(tmp_path: Path):
    script = """
        import sys
        import jax, numpy as np

        folder, port, process = sys.argv[1], sys.argv[2], int(sys.argv[3])
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"localhost:{port}", num_processes=2, process_id=process)
        from saz_jax.storage.checkpoint import Checkpoints, Snapshot

        with Checkpoints(folder) as checkpoints:
            assert checkpoints.restore({"x": np.zeros(3)}) is None
            for iteration in range(3):
                state, replay = {"x": np.full(3, iteration / 3)}, [{"y": np.arange(5)}]
                checkpoints.save(iteration, Snapshot(state, replay, {}))
        with Checkpoints(folder) as checkpoints:
            iteration, snapshot = checkpoints.restore({"x": np.zeros(3)})
        assert iteration == 2 and (snapshot.state["x"] == 2 / 3).all() and len(snapshot.replay[0]["y"]) == 5
        print("done", process)
    """
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    processes = [start_script(script, tmp_path, port, index) for index in range(2)]
    results = [process.communicate(timeout=120) for process in processes]
    for index, (output, errors) in enumerate(results):
        assert f"done {index}\n" in output, errors
    with Checkpoints(tmp_path) as checkpoints:
        found = checkpoints.restore({"x": np.zeros(3)})
    assert found is not None
    assert found[0] == 2


names = st.text("abc_0", min_size=1, max_size=3)
leaves = hypothesis.extra.numpy.arrays(
    st.sampled_from([np.float32, np.float16, np.int8, np.uint32, bool, np.float64]),
    hypothesis.extra.numpy.array_shapes(min_dims=0, min_side=0, max_side=3),
)
branches = st.dictionaries(names, leaves, min_size=1, max_size=3)


@hypothesis.given(st.dictionaries(names, leaves | branches, min_size=1, max_size=3))
def test_nesting_undoes_flattening(tree):
    assert_same(nest(flatten(tree)), tree)


@hypothesis.given(branches, st.data())
def test_the_checksum_sees_every_change_but_order(arrays: NamedArrays, data):
    assert checksum(dict(reversed(arrays.items()))) == checksum(arrays)
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name]
    renamed = {**arrays, name + "!": array}
    del renamed[name]
    assert checksum(renamed) != checksum(arrays)
    assert checksum({**arrays, name: array[None]}) != checksum(arrays)
    if array.size:
        flipped = np.frombuffer(bytes([array.tobytes()[0] ^ 1]) + array.tobytes()[1:], array.dtype)
        assert checksum({**arrays, name: flipped.reshape(array.shape)}) != checksum(arrays)


def test_two_leaves_of_one_path_are_refused():
    with pytest.raises(ValueError, match="two leaves share one of the paths"):
        flatten({"a": {"b": np.zeros(1)}, "a/b": np.zeros(1)})


def test_a_lost_process_is_not_taken_for_a_full_disk(tmp_path, monkeypatch):
    """The barrier before a checkpoint is where the others often notice; who lost them says so itself."""

    def lost(*args: Any, **kwargs: Any) -> None:
        raise jax.errors.JaxRuntimeError("INTERNAL: Barrier failed")

    with Checkpoints(tmp_path) as checkpoints, monkeypatch.context() as patch:
        patch.setattr("orbax.checkpoint.CheckpointManager.save", lost)
        with pytest.raises(jax.errors.JaxRuntimeError, match="Barrier failed"):
            checkpoints.save(0, make_snapshot())
