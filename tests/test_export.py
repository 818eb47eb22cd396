"""An export gives back the same bits, is written at once or not at all, and is read without trust."""

import json
import os
import pickle
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.storage.export import FORMAT, export, read_export
from saz_jax.storage.named_arrays import flatten

META = {"game": "othello", "sizes": [5, 6], "komi": None}


def make_variables(scale: float = 1.0) -> dict[str, Any]:
    kernel = scale * jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
    return {
        "params": {
            "dense": {"kernel": kernel, "half": np.array([1.5, np.nan], np.float16)},
            "scale": np.float32(3),
        },
        "batch_stats": {"count": np.array([], np.int32), "seen": np.array(True)},
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "deep" / "agent.npz"
    export(path, make_variables(), META)
    return path


@pytest.fixture
def tensors(tmp_path: Path) -> Path:
    path = tmp_path / "agent.safetensors"
    export(path, make_variables(), META)
    return path


def rewrite(path: Path, **changes: Any) -> None:
    """Replace members of an export, its checksum left as it is; None removes one."""
    with np.load(path) as members:
        arrays = {**members, **changes}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def rewrite_about(path: Path, **changes: Any) -> None:
    with np.load(path) as members:
        about = {**json.loads(members["about"].tobytes()), **changes}
    rewrite(path, about=np.frombuffer(json.dumps(about).encode(), np.uint8))


@pytest.mark.parametrize("form", ["file", "tensors"])
def test_what_is_read_has_the_same_bits_and_facts(form: str, request):
    variables, meta = read_export(request.getfixturevalue(form))
    assert meta == META
    got, want = flatten(variables), flatten(make_variables())
    assert got.keys() == want.keys()
    for name, array in want.items():
        assert got[name].dtype == array.dtype
        assert got[name].shape == array.shape
        assert got[name].tobytes() == array.tobytes()


def test_it_is_as_small_as_its_numbers(tmp_path: Path):
    export(tmp_path / "x.npz", {"w": np.zeros(100_000, np.float32)}, META)
    assert (tmp_path / "x.npz").stat().st_size < 402_000


def test_a_new_export_replaces_the_old_one_and_leaves_nothing_else(file: Path):
    export(file, make_variables(2.0), {})
    variables, meta = read_export(file)
    assert meta == {}
    assert variables["params"]["dense"]["kernel"][1, 2] == 10
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_export_is_a_clear_error_and_leaves_the_old_one(failing: str, file: Path, monkeypatch):
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match=f"cannot write the export {file}: .*No space left on device"):
        export(file, make_variables(2.0), {})
    monkeypatch.undo()
    assert read_export(file)[1] == META
    assert os.listdir(file.parent) == [file.name]


def test_a_place_that_cannot_be_written_is_a_clear_error(file: Path):
    with pytest.raises(OSError, match=f"cannot write the export {file}/agent.npz"):
        export(file / "agent.npz", make_variables(), {})


def test_dtypes_that_numpy_files_do_not_know_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"w has dtype bfloat16, which .npz cannot hold; cast it to float32"):
        export(tmp_path / "x.npz", {"w": jnp.zeros(2, jnp.bfloat16)}, {})
    assert not os.listdir(tmp_path)


def test_tampered_arrays_are_refused(file: Path):
    rewrite(file, **{"params/scale": np.float32(4)})
    with pytest.raises(ValueError, match=f"{file} is damaged: its arrays differ from their checksum"):
        read_export(file)


def test_missing_arrays_are_refused(file: Path):
    rewrite(file, **{"params/scale": None})
    with pytest.raises(ValueError, match="its arrays differ from their checksum"):
        read_export(file)


def test_a_long_value_is_not_repeated_in_full(file: Path):
    rewrite_about(file, format="x" * 5000)
    with pytest.raises(ValueError, match="has export format 'xxx") as refused:
        read_export(file)
    assert len(str(refused.value)) < 400


def test_another_format_is_refused(file: Path):
    rewrite_about(file, format=FORMAT + 1)
    with pytest.raises(ValueError, match=f"export format {FORMAT + 1}, this version reads {FORMAT}; update"):
        read_export(file)


class Trap:
    """Unpickling it would leave a file behind."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def foreign_text(path: Path) -> None:
    path.write_text("root:x:0:0")


def foreign_empty(path: Path) -> None:
    path.write_bytes(b"")


def foreign_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Trap(path.with_name("run"))))


def foreign_pickled_array(path: Path) -> None:
    trap = np.array([Trap(path.with_name("run"))], dtype=object)
    rewrite(path, **{"params/scale": trap})


def foreign_array(path: Path) -> None:
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))


def foreign_archive(path: Path) -> None:
    np.savez(path, x=np.zeros(3))


def foreign_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as members:
        members.writestr("about.npy", "nonsense")


def foreign_about(path: Path) -> None:
    rewrite(path, about=np.frombuffer(b"[1, 2]", np.uint8))


def foreign_paths(path: Path) -> None:
    rewrite(path, **{"params/scale/deeper": np.zeros(1)})


def foreign_compression(path: Path) -> None:
    with np.load(path) as members:
        arrays = dict(members)
    np.savez_compressed(path, **arrays)


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def huge_claim(path: Path) -> None:
    """A header that claims far more numbers than there are bytes."""
    content = path.read_bytes()
    assert b"'shape': (2, 3)" in content
    path.write_bytes(content.replace(b"'shape': (2, 3)", b"'shape': (8**15,)".ljust(15)[:15]))


def deep_names(path: Path) -> None:
    """Nested so deeply that walking the tree exhausts the stack."""
    rewrite(path, **{"/".join("a" * 20_000): np.zeros(1)})


def shared_bytes(path: Path) -> None:
    """Many members that are one and the same place in the file: far more to read than its size."""
    content = path.read_bytes()
    start = content.index(b"PK\1\2")
    second = content.index(b"PK\1\2", start + 4)
    end = content.index(b"PK\5\6")
    entry = content[start:second]
    directory = content[start:end] + 1000 * entry
    count = struct.unpack("<H", content[end + 10 : end + 12])[0] + 1000
    closing = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), start, 0)
    path.write_bytes(content[:start] + directory + closing)


FOREIGN = [
    deep_names,
    shared_bytes,
    foreign_text,
    foreign_empty,
    foreign_pickle,
    foreign_pickled_array,
    foreign_array,
    foreign_archive,
    foreign_zip,
    foreign_about,
    foreign_paths,
    foreign_compression,
    cut_in_half,
    huge_claim,
]


@pytest.mark.parametrize("make_foreign", FOREIGN)
def test_a_foreign_or_broken_file_is_refused_and_runs_nothing(make_foreign, file: Path):
    make_foreign(file)
    with pytest.raises(ValueError, match=f"{file} is not a whole export of saz_jax; export the agent again"):
        read_export(file)
    assert not file.with_name("run").exists()


def test_a_file_that_is_not_there_is_a_clear_error(tmp_path: Path):
    with pytest.raises(
        ValueError, match=rf"cannot read {tmp_path}/x \(No such file or directory\); give the"
    ):
        read_export(tmp_path / "x")


def test_safetensors_hold_the_arrays_and_the_facts_for_other_programs(tensors: Path):
    """As a program does that knows the format alone: a length, a JSON header, the bytes."""
    content = tensors.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    about = json.loads(header.pop("__metadata__")["about"])
    assert {name: about[name] for name in META} == META
    assert about["format"] == FORMAT
    kernel = header["params/dense/kernel"]
    begin, end = kernel["data_offsets"]
    assert kernel["dtype"] == "F32"
    found = np.frombuffer(data[begin:end], np.float32).reshape(kernel["shape"])
    assert np.array_equal(found, make_variables()["params"]["dense"]["kernel"])


def test_broken_safetensors_are_refused(tensors: Path):
    tensors.write_bytes(tensors.read_bytes()[:-1])
    with pytest.raises(ValueError, match="is not a whole export of saz_jax; export the agent again"):
        read_export(tensors)


def test_without_safetensors_the_extra_is_named(tensors: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    for action in (lambda: read_export(tensors), lambda: export(tensors, make_variables(), META)):
        with pytest.raises(ValueError, match=r"pip install 'saz_jax\[safetensors\]'"):
            action()
