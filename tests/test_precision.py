"""JAX's 64-bit mode is refused in one sentence, wherever somebody enters."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import saz_jax
from saz_jax.training import loop
from saz_jax.training.presets import preset

ROOT = Path(__file__).parent.parent
REFUSED = "jax_enable_x64 is on, and saz_jax computes with 32 bits; unset JAX_ENABLE_X64"


@pytest.mark.parametrize(
    "enter",
    [
        lambda folder: saz_jax.make_game("gomoku", max_size=5),
        lambda folder: saz_jax.load_agent("othello"),
        lambda folder: next(loop.run(preset("smoke", "gomoku", "saz"), folder / "run", iterations=1)),
    ],
    ids=["make_game", "load_agent", "run"],
)
def test_the_library_refuses_64_bits(enter, tmp_path):
    with jax.enable_x64(True), pytest.raises(ValueError, match=REFUSED):
        enter(tmp_path)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["train.py", "--game", "gomoku"],
        ["evaluate.py", "--game", "othello", "--player", "othello"],
    ],
    ids=lambda command: command[0],
)
def test_a_script_says_so_in_one_line(command, tmp_path):
    script = str(ROOT / "experiments" / command[0])
    environment = {**os.environ, "JAX_ENABLE_X64": "1", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, script, *command[1:]], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"error: {REFUSED}")
    assert not list(tmp_path.iterdir())
