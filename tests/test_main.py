"""The command saz: help before jax, commands by name, engines as real processes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from saz_jax.cli import faces, main
from saz_jax.play import Budget

ROOT = Path(__file__).parent.parent
SAZ = [sys.executable, "-m", "saz_jax.cli.main"]


def saz(*arguments, **options):
    return subprocess.run(
        [*SAZ, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300, **options
    )


def test_help_needs_no_jax():
    script = (
        "import sys\nfrom saz_jax.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "assert not {'jax', 'numpy', 'tyro', 'rich'} & set(sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    for command in main.COMMANDS:
        assert command in run.stdout


def test_help_comes_at_once():
    times = []
    for _ in range(5):
        began = time.monotonic()
        saz("--help", check=True)
        times.append(time.monotonic() - began)
    empty = []
    for _ in range(5):
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", ""], check=True)
        empty.append(time.monotonic() - began)
    assert min(times) < 0.3 + min(empty)


@pytest.mark.parametrize(
    "command", ["train", "evaluate", "round-robin", "play", "gtp", "gomocup", "nboard", "agents"]
)
def test_every_command_tells_about_itself(command):
    run = saz(command, "--help", check=True)
    assert f"saz {command}" in run.stdout


def test_unknown_commands_are_refused():
    run = saz("dance")
    assert run.returncode == 2
    assert "dance" in run.stderr


def test_agents_are_listed():
    rows = json.loads(saz("agents", "--json", check=True).stdout)
    assert {"othello", "gomoku", "go"} <= {row["name"] for row in rows}
    assert all(row["KB"] > 0 and row["game"] for row in rows)


def test_flags_of_faces():
    made = faces.parser("", "gtp")
    arguments = faces.parse(made, ["--game", "go", "--komi", "6.5", "--superko=False", "--seconds", "2"])
    assert arguments.options == {"komi": 6.5, "superko": False}
    assert arguments.budget == Budget(None, 2.0)
    for wrong in (["--simulations", "0"], ["stray"], ["--komi"]):
        with pytest.raises(SystemExit):
            faces.parse(made, wrong)


def test_gtp_answers_the_handshake_before_it_is_ready():
    engine = subprocess.Popen(
        [*SAZ, "gtp", "--game", "othello", "--size", "6", "--agent", "greedy"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    with engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        engine.stdin.write("1 name\n2 genmove b\n3 quit\n")
        engine.stdin.flush()
        said = engine.stdout.read()
    assert said.startswith("=1 saz_jax\n\n=2 ")
    assert said.endswith("=3\n\n")
    assert engine.returncode == 0


def test_an_engine_of_ours_is_a_player_of_the_arena():
    """Our GTP engine through our own controller: both sides of the protocol, and `saz evaluate`."""
    text = f"gtp:{sys.executable} -m saz_jax.cli.main gtp --game gomoku --size 5 --agent random"
    run = saz(
        "evaluate", "--game", "gomoku", "--player", text, "--opponent", "random", "--sizes", "5",
        "--games", "2", "--runs", "1",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "5x5" in run.stdout
