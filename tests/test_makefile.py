"""`make train` ends as the script does; the environment is made of stubs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(("code", "error"), [(0, ""), (130, ""), (2, "Error")])
def test_a_run_that_was_stopped_is_no_error_of_make(code: int, error: str, tmp_path: Path):
    make = shutil.which("make")
    if make is None:
        pytest.skip("there is no make")
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\nexit {code}\n")
    python.chmod(0o755)
    (tmp_path / "venv" / ".train").touch()  # nothing to install
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    arguments = ["-f", str(ROOT / "Makefile"), "train", f"VENV={tmp_path / 'venv'}"]
    # What was said to the make that runs these tests is not for this one.
    env = {
        name: x for name, x in os.environ.items() if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "CONSTRAINTS")
    }
    done = subprocess.run(
        [make, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode != 0) == bool(error), done.stderr
    assert error in done.stderr
