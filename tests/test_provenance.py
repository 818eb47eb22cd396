"""Where results come from, and files of results that are never lost or overwritten."""

import importlib.metadata
import json
import platform
import shlex
import sys

import pytest

import saz_jax
from saz_jax.storage.provenance import provenance
from saz_jax.storage.results import ResultsFile

CONFIG = {"game": "gomoku", "sizes": (5, 6)}


def test_provenance_names_the_versions_and_the_hardware_at_hand():
    facts = json.loads(json.dumps(provenance()))
    assert facts["command"] == shlex.join(["python", *sys.argv])
    assert facts["versions"]["python"] == platform.python_version()
    assert facts["versions"]["saz_jax"] == saz_jax.__version__
    assert facts["versions"]["jax"] == importlib.metadata.version("jax")
    assert facts["hardware"]["backend"] == "cpu"
    assert facts["hardware"]["device_count"] >= 1
    assert facts["date"].endswith("+00:00")


def test_a_file_of_results_tells_its_settings_and_origin(tmp_path):
    results = ResultsFile(tmp_path / "out.json", CONFIG, seed=3)
    results.data["answer"] = 42
    results.save()
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["config"] == {"game": "gomoku", "sizes": [5, 6]}
    assert (data["seed"], data["answer"]) == (3, 42)
    assert {"versions", "hardware", "date", "seconds"} <= set(data)
    assert list(tmp_path.iterdir()) == [tmp_path / "out.json"]


def test_the_same_settings_continue_a_file_and_add_up_its_time(tmp_path):
    path = tmp_path / "out.json"
    first = ResultsFile(path, CONFIG, seed=3)
    first.data |= {"answer": 42, "seconds": 100.0}
    first.save()
    second = ResultsFile(path, CONFIG, seed=3)
    assert second.data["answer"] == 42
    assert second.data["seconds"] >= 100.0
    assert [set(session) for session in second.data["continued"]] == [
        {"command", "versions", "hardware", "date"}
    ]


def test_other_settings_are_refused_and_the_file_is_left_alone(tmp_path):
    path = tmp_path / "out.json"
    ResultsFile(path, CONFIG)
    before = path.read_text()
    with pytest.raises(ValueError, match=r"other settings \(game: gomoku in the run, go asked for\)"):
        ResultsFile(path, {**CONFIG, "game": "go"})
    assert path.read_text() == before


@pytest.mark.parametrize("text", ["precious notes", "[1, 2]", '{"config": 3}'])
def test_a_file_of_something_else_is_never_overwritten(tmp_path, text):
    path = tmp_path / "out.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="name a"):
        ResultsFile(path, CONFIG)
    assert path.read_text() == text


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot write .*nowhere"):
        ResultsFile(tmp_path / "nowhere" / "out.json", CONFIG)
