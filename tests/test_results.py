"""Files of results say what is wrong with the path they are given."""

import os

import pytest

from saz_jax.storage import results
from saz_jax.storage.results import ResultsFile, write_json


def test_a_folder_is_no_file_of_results(tmp_path):
    for attempt in (lambda: write_json(tmp_path, {}), lambda: ResultsFile(tmp_path, {})):
        with pytest.raises(ValueError, match=r"it is a folder\); name a file in it"):
            attempt()
    assert not list(tmp_path.parent.glob("*.tmp"))


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"No such file or directory\); name a file in a folder that exists"):
        write_json(tmp_path / "none" / "out.json", {})


def forbid(monkeypatch, forbidden):
    """Let the system say that `forbidden` cannot be written: root could write it all the same."""
    access = os.access
    monkeypatch.setattr(results.os, "access", lambda path, mode: path != forbidden and access(path, mode))


def test_a_read_only_file_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    path.write_text("{}")
    forbid(monkeypatch, path)
    with pytest.raises(ValueError, match=r"it is read-only\); make it writable"):
        write_json(path, {"new": 1})
    assert path.read_text() == "{}"


@pytest.mark.parametrize(
    ("forbidden", "remedy"), [(True, "make the folder .* writable"), (False, "; name another file")]
)
def test_the_remedy_fits_the_failure(tmp_path, monkeypatch, forbidden, remedy):
    (tmp_path / "out.json.tmp").mkdir()  # cannot be written by anybody
    if forbidden:
        forbid(monkeypatch, tmp_path)
    with pytest.raises(ValueError, match=remedy):
        write_json(tmp_path / "out.json", {})
