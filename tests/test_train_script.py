"""experiments/train.py as a user runs it: a subprocess, its output, its exit code."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from rich.console import Console

from saz_jax.agents.agent import load_agent
from saz_jax.cli import train as script
from tests.built_in import NAMES

ROOT = Path(__file__).parent.parent
TINY = [
    *("--preset", "smoke", "--model", "model3", "--sizes", "5", "--search.simulations", "2"),
    *("--network.layers", "1", "--network.hidden", "8", "--network.head", "8"),
    *("--selfplay.games", "8", "--selfplay.moves", "8"),
    *("--evaluation.games", "2", "--evaluation.simulations", "2", "--evaluation.sizes", "5"),
]


def train(*arguments, **kwargs):
    """The finished script."""
    command = [sys.executable, "experiments/train.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, **kwargs)


@pytest.mark.slow
@pytest.mark.parametrize("game", NAMES)
def test_the_smoke_preset_trains_each_game_end_to_end(game, tmp_path):
    done = train("--game", game, "--preset", "smoke", "--workdir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "iteration 3/3" in done.stdout
    assert "against greedy on side 12: " in done.stdout
    assert f"continue:  {sys.executable} experiments/train.py --resume" in done.stdout
    told = done.stdout.splitlines()[1:-3]  # all but the folder and the commands
    assert max(len(line) for line in told) <= 80
    assert (tmp_path / "run" / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert {"metrics.jsonl", "metrics.csv", "config.json", "agent.npz"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }
    assert load_agent(tmp_path / "run").trained_sizes == (5, 6)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["model1", "model2", "model3", "model4", "model5", "fcn"])
def test_the_smoke_preset_trains_each_model(model, tmp_path):
    done = train("--preset", "smoke", "--model", model, "--workdir", tmp_path / "run", "--iterations", 1)
    assert done.returncode == 0, done.stderr
    assert load_agent(tmp_path / "run").model.name == model


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert train(*TINY, "--iterations", 6, "--workdir", whole).returncode == 0
    arguments = [*TINY, "--iterations", "6", "--save-seconds", "0", "--workdir", str(killed)]
    command = [sys.executable, "experiments/train.py", *arguments]
    chance = random.Random(0)
    for _ in range(3):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("iteration"):
                break
        time.sleep(chance.uniform(0, 0.5))
        process.kill()
        process.communicate()
    assert subprocess.run(command, cwd=ROOT, capture_output=True, timeout=600).returncode == 0
    left, right = load_agent(whole).variables, load_agent(killed).variables
    jax.tree.map(np.testing.assert_array_equal, left, right)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_continue(number, tmp_path):
    arguments = [*TINY, "--iterations", "100000", "--workdir", str(tmp_path / "run")]
    command = [sys.executable, "experiments/train.py", *arguments]
    # A shell lets its background jobs ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("iteration 2"):
            break
    process.send_signal(number)
    rest, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert f"To continue: {sys.executable} experiments/train.py --resume --workdir" in rest
    assert "Traceback" not in errors
    curve = tmp_path / "run" / "curve.png"
    assert curve.read_bytes().startswith(b"\x89PNG")
    done = load_agent(tmp_path / "run").meta["iteration"]
    again = train("--resume", "--workdir", tmp_path / "run", "--iterations", done + 1)
    assert again.returncode == 0, again.stderr
    assert f"continuing at iteration {done + 1}\n" in again.stdout
    once_more = train("--resume", "--workdir", tmp_path / "run", "--iterations", done)
    assert "nothing to train: the run has reached its limits" in once_more.stdout
    curve.unlink()
    assert train("--curve", "--workdir", tmp_path / "run").stdout == f"curve:     {curve}\n"
    assert curve.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "chess"], "chess"),
        (["--preset", "huge"], "huge"),
        (["--model", "model9"], "model9"),
        (["--colour", "red"], "--colour"),
        (["--game", "othello", "--sizes", "2", "6"], "board side 2 is too small for othello"),
        (["--sizes", "five"], "five"),
        (["--resume", "--workdir", "nowhere"], "--resume: there is no run in nowhere"),
        (["--curve", "--workdir", "nowhere"], "--curve: there is no run in nowhere"),
        (["--sizes", "3"], "board side 3 is too small for gomoku; the smallest is 5"),
        (["--init-from", "nobody"], "no agent at nobody"),
        (["--selfplay.games", "0"], "selfplay.games=0"),
        (["--search.simulations", "0"], "simulations=0"),
        (["--learner.surprise-weight", "2"], "learner.surprise_weight=2.0"),
        (["--model", "model1", "--sizes", "5", "6"], "cannot play on board side 5"),
        (["--workdir", "README.md"], "is a file"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_exit_code_2(arguments, message, tmp_path):
    named = "--workdir" in arguments or "--workdir" in message
    done = train(*arguments, *([] if named else ["--workdir", tmp_path / "run"]))
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_help_names_every_setting():
    done = train("--help")
    assert done.returncode == 0
    for flag in ("--game", "--minutes", "--network.edges", "--learner.batch-size", "--init-from", "--plan"):
        assert flag in done.stdout


@pytest.mark.slow
def test_the_plan_shows_memory_and_speed_and_trains_nothing(tmp_path):
    done = train(*TINY, "--plan", "--workdir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    for fact in ("parameters", "compile time", "search trees", "history", "positions/s", "the whole run"):
        assert fact in done.stdout
    assert "minutes without evaluations" in done.stdout
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_plan_prints_as_it_goes_and_stops_in_one_line(tmp_path):
    command = [sys.executable, "experiments/train.py", *TINY, "--plan", "--workdir", str(tmp_path / "run")]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env={**os.environ, "SAZ_JAX_CACHE": "off"}
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("parameters")
    process.send_signal(signal.SIGINT)  # self-play is compiling
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "stopped\n"


@pytest.mark.parametrize("kind", [ValueError, OSError])
@pytest.mark.parametrize(("distributed", "begun"), [(True, True), (True, False), (False, True)])
def test_what_breaks_later_in_a_run_of_several_processes_is_no_mistake_of_the_user(
    distributed, begun, kind, tmp_path, monkeypatch
):
    """A mistake is told in one sentence, and then nobody says that another process is gone."""

    def run(*args, progress, **kwargs):
        if begun:
            progress("self-play", 1, 8)
        raise kind("UNKNOWN: Gloo AllGather failed")
        yield

    monkeypatch.setattr(script.loop, "run", run)
    arguments = script.parse(["--game", "gomoku", *(["--distributed"] if distributed else [])])
    with pytest.raises(RuntimeError if distributed and begun else kind):
        script.train(Console(quiet=True), arguments, tmp_path, None)


def test_other_boards_are_drawn_alike_unless_their_weights_are_given():
    strong = ["--game", "othello", "--model", "model3", "--preset", "strong"]
    own = script.parse(strong).settings
    assert own.selfplay.size_weights == (1.0, 2.0, 4.0, 1.0)
    again = script.parse([*strong, "--sizes", *map(str, own.sizes)]).settings
    assert again == own
    large = script.parse([*strong, "--sizes", "16"]).settings
    assert (large.sizes, large.selfplay.size_weights, large.selfplay.paddings) == ((16,), (), ())
    weighed = ["--shapes", "9x9", "7x11", "--selfplay.size-weights", "1", "2"]
    assert script.parse([*strong, *weighed]).settings.selfplay.size_weights == (1.0, 2.0)
    alone = script.parse([*strong[:3], "model1", *strong[4:]]).settings
    assert (alone.sizes, alone.selfplay.size_weights, alone.selfplay.paddings) == ((8,), (), ())
