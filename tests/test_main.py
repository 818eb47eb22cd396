"""The command saz: help before jax, commands by name, engines as real processes."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from saz_jax.agents import load_agent
from saz_jax.cli import export, faces, main
from saz_jax.play import Limits
from saz_jax.render import sgf

ROOT = Path(__file__).parent.parent
SAZ = [sys.executable, "-m", "saz_jax.cli.main"]


def saz(*arguments, **options):
    return subprocess.run(
        [*SAZ, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300, **options
    )


def processor_time(*arguments, **options):
    """(seconds of processor time, which a busy machine does not lengthen, the run) of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = saz(*arguments, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run


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
    assert min(processor_time("--help")[0] for _ in range(5)) < 0.3


@pytest.mark.parametrize("command", list(main.COMMANDS))
def test_every_command_tells_about_itself(command):
    run = saz(command, "--help", check=True)
    assert run.stdout.startswith(f"usage: saz {command} ")


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
    assert arguments.limits == Limits(None, 2.0)
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


def test_a_player_is_exported_once(tmp_path, capsys):
    path = tmp_path / "player.npz"
    export.main(["othello", str(path)])
    assert "othello" in capsys.readouterr().out
    assert load_agent(path).game_name == "othello"
    with pytest.raises(SystemExit):
        export.main(["othello", str(path)])
    assert "is there already" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        export.main(["no such agent", str(tmp_path / "other.npz")])


def test_a_killed_engine_leaves_its_game(tmp_path):
    """Junk, half a line and a sudden end: the moves so far can be read."""
    record = tmp_path / "game.sgf"
    engine = subprocess.Popen(
        [*SAZ, "gtp", "--game", "othello", "--size", "6", "--agent", "greedy", "--record", str(record)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    with engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        engine.stdin.write(b"\xff\xfe\x00junk\nboardsize 1000000000\n1 genmove b\n2 genmove w\ngenm")
        engine.stdin.flush()
        said = b""
        while b"=2" not in said or not said.endswith(b"\n\n"):
            said += os.read(engine.stdout.fileno(), 4096)
        engine.kill()
    file = sgf.from_sgf(record.read_text())
    assert len(file.actions) == 2
    assert said.startswith(b"? unknown command\n\n? unacceptable size")


@pytest.mark.slow
def test_a_warm_start_is_quick(tmp_path):
    """From nothing to the first move of a shipped player."""
    environment = {**os.environ, "SAZ_JAX_CACHE": str(tmp_path)}
    command = ("gtp", "--game", "othello", "--size", "6")
    runs = [processor_time(*command, input="genmove b\nquit\n", env=environment) for _ in range(2)]
    assert all(run.stdout.startswith("= ") for _, run in runs)
    assert runs[1][0] < 8
