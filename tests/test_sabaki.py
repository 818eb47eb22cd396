"""Sabaki's GTP controller, which others wrote, drives our engine through a whole game."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "sabaki"
ROOT = FOLDER.parent.parent

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(
        not (FOLDER / "node_modules").is_dir(),
        reason="@sabaki/gtp is not installed (npm install --no-package-lock in tests/sabaki)",
    ),
]


@pytest.mark.slow
def test_sabaki_plays_a_whole_game_of_go_and_hears_analysis():
    engine = [sys.executable, "-m", "saz_jax.cli.main", "gtp", "--game", "go", "--agent", "mcts:20"]
    run = subprocess.run(
        ["node", str(FOLDER / "drive.js"), "5", *engine],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert seen["name"] == {"error": False, "id": 1, "content": "saz_jax"}
    assert seen["version"]["content"] == "2"
    assert seen["knows"]
    assert "X . . . ." in seen["board"]  # A1 is at the bottom left
    assert seen["unknown"] == {"error": True, "id": 7, "content": "unknown command"}
    assert seen["illegal"]["content"] == "illegal move: A1 cannot be played by black"
    assert re.match(
        r"info move [A-E][1-5] visits \d+ winrate \d+ prior \d+ .* pv ([A-E][1-5] ?|pass ?)+",
        seen["analysis"][0],
    )
    assert seen["moves"][-2:] == ["pass", "pass"]
    assert len(seen["moves"]) + 2 == seen["history"]
    assert re.fullmatch(r"[BW]\+\d+(\.5)?", seen["score"]["content"])
