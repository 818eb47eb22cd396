"""Evaluations by library and by script: complete, repeatable, kept, and polite about mistakes."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from saz_jax import make_game
from saz_jax.arena import matches, series
from saz_jax.arena.contestants import agreed_options, read_contestant, weights_digest
from saz_jax.arena.game_records import plain_record, write_records
from saz_jax.arena.series import MatchConfig
from saz_jax.cli import evaluate as script
from saz_jax.config import GINConfig, ModelConfig, SearchConfig
from saz_jax.models.registry import make_model
from saz_jax.render.sgf import from_sgf
from saz_jax.render.text import parse
from saz_jax.search import memory
from saz_jax.search.rollouts import make_rollout_evaluate, rollout_player
from saz_jax.search.tree import tree_memory

ROOT = Path(__file__).parent.parent
TIC_TAC_TOE = MatchConfig(
    game="gomoku",
    player="greedy",
    opponent="random",
    sizes=(3, 4),
    game_options={"k": 3},
    games=4,
    runs=2,
    lanes=2,
)


@pytest.fixture(scope="module")
def whole():
    """A series that was never interrupted."""
    return series.play(series.prepare(TIC_TAC_TOE))


def without_time(sizes):
    """The results of all sizes but for the seconds, which differ every time."""
    return json.loads(json.dumps(sizes), object_hook=lambda x: {k: v for k, v in x.items() if k != "seconds"})


def test_results_hold_every_figure_for_every_size(whole):
    assert set(whole) >= {"config", "seed", "versions", "hardware", "date", "seconds", "sizes"}
    assert list(whole["sizes"]) == ["3", "4"]
    for result in whole["sizes"].values():
        runs = result["runs"]
        assert [len(run["games"]) for run in runs] == [4, 4]
        assert result["wins"] + result["ties"] + result["losses"] == 8
        assert (
            result["outcome"]
            == (result["wins"] + result["ties"] / 2) / 8
            == (np.mean([run["outcome"] for run in runs]))
        )
        assert result["standard_error"] == pytest.approx(abs(runs[0]["outcome"] - runs[1]["outcome"]) / 2)
        low, high = result["wilson"]
        assert low <= result["outcome"] <= high
        assert 1 <= result["distinct_games"] <= 8
    assert whole["sizes"]["4"]["runs"][0]["games"] != whole["sizes"]["4"]["runs"][1]["games"]


def test_results_are_told_by_colour_too(whole):
    for result in whole["sizes"].values():
        for count in ("wins", "ties", "losses"):
            assert result["as_dark"][count] + result["as_light"][count] == result[count]
            assert result["as_dark"][count] == sum(run["as_dark"][count] for run in result["runs"])
        assert sum(result["as_dark"][count] for count in ("wins", "ties", "losses")) == 4
        outcome = result["as_light"]["wins"] / 4 + result["as_light"]["ties"] / 8
        assert result["as_light"]["outcome"] == outcome
        assert series.colours_text(result).endswith(f"/{outcome:.2f}")


def test_runs_of_earlier_days_that_counted_no_colours_go_on(whole):
    runs = [dict(run) for run in whole["sizes"]["3"]["runs"]]
    del runs[0]["as_dark"]
    old = series.summarise(runs)
    assert "as_dark" not in old
    assert series.colours_text(old) == "-"
    assert old["wins"] == whole["sizes"]["3"]["wins"]


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_an_interrupted_evaluation_ends_like_one_that_was_not(tmp_path, whole, stop_after):
    class Impatient(series.Reporter):
        begun = 0

        def begin(self, size, run):
            self.begun += 1

        def played(self, games):
            if self.begun > stop_after:
                raise KeyboardInterrupt

    path = tmp_path / "out.json"
    with pytest.raises(KeyboardInterrupt):
        series.play(series.prepare(TIC_TAC_TOE, path), Impatient())
    kept = json.loads(path.read_text())["sizes"]
    assert sum(len(size["runs"]) for size in kept.values()) == stop_after
    continued = series.play(series.prepare(TIC_TAC_TOE, path))
    assert without_time(continued["sizes"]) == without_time(whole["sizes"])
    assert json.loads(path.read_text()) == continued


def test_a_file_of_results_grows_by_runs_and_by_sizes(whole, tmp_path):
    path, stored = tmp_path / "out.json", {}
    for sizes, runs in (((3,), 1), ((3,), 2), ((4,), 2)):
        prepared = series.prepare(dataclasses.replace(TIC_TAC_TOE, sizes=sizes, runs=runs), path)
        stored[sizes, runs] = prepared.games()
        series.play(prepared)
    assert stored == {((3,), 1): (4, 0), ((3,), 2): (8, 4), ((4,), 2): (8, 0)}
    assert without_time(json.loads(path.read_text())["sizes"]) == without_time(whole["sizes"])


def test_a_finished_evaluation_is_not_played_again(tmp_path):
    class Forbidden(series.Reporter):
        def begin(self, size, run):
            raise AssertionError("a game was begun")

    path = tmp_path / "out.json"
    config = dataclasses.replace(TIC_TAC_TOE, sizes=(3,), runs=1)
    first = series.play(series.prepare(config, path))
    assert first["sizes"]["3"]["standard_error"] is None
    again = series.play(series.prepare(config, path), Forbidden())
    assert again["sizes"] == first["sizes"]


def test_another_seed_is_refused_by_the_same_file_and_plays_other_games(tmp_path, whole):
    path = tmp_path / "out.json"
    series.prepare(TIC_TAC_TOE, path)
    other = dataclasses.replace(TIC_TAC_TOE, seed=1)
    with pytest.raises(ValueError, match="seed: 0 in the run, 1 asked for"):
        series.prepare(other, path)
    played = series.play(series.prepare(other))
    assert without_time(played["sizes"]) != without_time(whole["sizes"])


def test_records_of_all_games_replay_to_the_results(tmp_path):
    config = dataclasses.replace(TIC_TAC_TOE, sizes=(3,), runs=1, opening_moves=1)
    result = series.play(series.prepare(config, records=tmp_path / "games"))["sizes"]["3"]
    files = sorted((tmp_path / "games").iterdir())
    assert len(files) == 4
    wins = 0
    for file in files:
        text = file.read_text()
        record = from_sgf(text)
        state = record.game.init(record.size)
        for action in record.actions:
            state = record.game.step(state, action)
        assert state.terminated
        wins += state.outcome == (1 if "PB[greedy]" in text else -1)
    assert wins == result["wins"]


def test_boards_too_large_for_sgf_are_recorded_as_plain_text(tmp_path):
    game = make_game("gomoku", max_size=30)
    actions = np.full((1, 20), -1)
    actions[0, :2] = [31, 899]
    records = matches.Records(
        np.ones(1), np.array([-1]), np.array([30]), actions, np.zeros(2), np.ones((1, 30, 30), bool)
    )
    (path,) = write_records(tmp_path, "large", game, ("a", "b"), records)
    assert path.suffix == ".txt"
    assert path.read_text() == plain_record(game, "30x30", [31, 899], dark="b", light="a", outcome=1)
    assert path.read_text().splitlines() == [
        "gomoku 30x30", "dark: b", "light: a", "result: dark wins", "", "1. B2", "2. AD30",
    ]  # fmt: skip


def test_random_playouts_evaluate_by_the_end_of_the_game_and_prefer_no_move():
    game = make_game("gomoku", max_size=3, k=3)
    lost = parse(game, "XX. X.. ...".replace(" ", "\n"), to_play=-1)
    states = jax.tree.map(lambda x: jnp.repeat(x[None], 64, axis=0), lost)
    logits, value, *_ = make_rollout_evaluate(game)((), jax.random.key(0), states)
    assert set(np.asarray(value).tolist()) <= {-1.0, 0.0, 1.0}
    assert np.mean(value) < -0.5, "light to move has two open lines to stop"
    legal = np.asarray(states.legal)
    assert len(np.unique(np.asarray(logits)[legal])) == 1
    assert (np.asarray(logits)[~legal] < -1e30).all()


def test_search_with_random_playouts_takes_the_win():
    game = make_game("gomoku", max_size=3, k=3)
    state = parse(game, "XX. OO. ...".replace(" ", "\n"))
    states = jax.tree.map(lambda x: x[None], state)
    assert rollout_player(game, 64)(jax.random.key(0), states).tolist() == [2]


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """The path of an untrained agent for Gomoku with k = 3."""
    from saz_jax.agents.agent import Agent

    config = ModelConfig(network=GINConfig(layers=1, hidden=4, head=4))
    game = make_game("gomoku", max_size=4, k=3)
    variables = make_model(config, game).network.init(jax.random.key(0))
    path = tmp_path_factory.mktemp("agent") / "agent.npz"
    Agent(variables, "gomoku", {"k": 3}, config, SearchConfig(simulations=2), (3, 4)).export(path)
    return path


def test_an_agent_plays_with_search_as_another_model_or_raw_beyond_its_sizes(agent):
    game, outcomes = make_game("gomoku", max_size=5, k=3), []
    for text in (str(agent), f"{agent}@model3", f"raw:{agent}"):
        contestant = read_contestant(text, simulations=2)
        assert contestant.options == {"k": 3}
        player = contestant.seat(game, 5)
        states = jax.vmap(game.init)(jnp.full(2, 5, jnp.int32))
        action = jax.jit(player)(jax.random.key(0), states)
        assert bool(jnp.take_along_axis(states.legal, action[:, None], axis=1).all())
        outcomes.append(contestant.weights)
    assert len(set(outcomes)) == 1, "the same weights"


def test_a_players_text_may_change_the_settings_of_its_search(agent):
    trained = read_contestant(str(agent)).agent
    changed = read_contestant(f"{agent}@model3,solve=true,c_puct=2,simulations=7", 5, "puct", 0.25)
    assert trained is not None
    assert changed.agent is not None
    assert changed.model == "model3"
    wanted = {"kind": "puct", "solve": True, "c_puct": 2.0, "simulations": 7, "heuristic_weight": 0.25}
    assert changed.agent.search == dataclasses.replace(trained.search, **wanted)
    with pytest.raises(ValueError, match="search has no setting 'luck'"):
        read_contestant(f"{agent}@luck=1")
    with pytest.raises(ValueError, match=r"search\.solve must be bool, not 'maybe'"):
        read_contestant(f"{agent}@solve=maybe")


def test_the_rules_are_those_that_the_agents_were_trained_with(agent):
    trained = read_contestant(str(agent))
    assert trained.agent is not None
    other = dataclasses.replace(trained, agent=dataclasses.replace(trained.agent, game_options={"k": 4}))
    assert agreed_options("gomoku", {"k": None}, [trained, read_contestant("greedy")]) == {"k": 3}
    assert agreed_options("gomoku", {"k": 5}, [trained, other]) == {"k": 5}
    with pytest.raises(ValueError, match="k=3 and k=4; choose one with --k"):
        agreed_options("gomoku", {"k": None}, [trained, other])
    with pytest.raises(ValueError, match="trained on gomoku; it cannot play othello"):
        agreed_options("othello", {}, [trained])


def test_other_weights_under_the_same_name_do_not_continue_a_file(agent, tmp_path):
    from saz_jax.agents.agent import load_agent

    copy, path = tmp_path / "copy.npz", tmp_path / "out.json"
    copy.write_bytes(agent.read_bytes())
    config = dataclasses.replace(TIC_TAC_TOE, player=f"raw:{copy}")
    series.prepare(config, path)
    changed = dataclasses.replace(
        load_agent(copy), variables=jax.tree.map(lambda x: x + 1, load_agent(copy).variables)
    )
    assert weights_digest(changed) != weights_digest(load_agent(copy))
    changed.export(copy)
    with pytest.raises(ValueError, match="weights"):
        series.prepare(config, path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--game chess --player greedy", "unknown game 'chess'"),
        ("--game othello --player nobody", "unknown player 'nobody'"),
        ("--game othello --player mcts:many", "write mcts:100"),
        ("--game othello --player raw:agent@model9", "unknown model 'model9'"),
        ("--game othello --player greedy --sizes 1", "too small for othello"),
        ("--game othello --player greedy --sizes 6 6", "different board sides"),
        ("--game othello --player greedy --games 3", "games=3"),
        ("--game othello --player greedy --runs 0", "runs=0"),
        ("--game othello --player greedy --lanes 0", "lanes=0"),
        ("--game othello --player greedy --opening-moves 1000000", "opening_moves=1000000"),
        ("--game othello --player greedy --opening-moves -1", "opening_moves=-1"),
        ("--game othello --player mcts:99999999999", "simulations would fit"),
        ("--game othello --player mcts:100000 --lanes 1000000 --games 1000000", "lanes=1000000 are too many"),
        ("--game othello --player greedy --k 4", "othello has no option 'k'"),
        ("--game othello --player greedy --json /nowhere/out.json", "cannot write /nowhere/out.json"),
        ("--game othello --player greedy --json /dev/null", "/dev/null is no ordinary file"),
    ],
)
def test_mistakes_end_in_one_sentence_and_exit_code_two(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit:
        script.main(arguments.split())
    assert exit.value.code == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_lanes_are_lowered_only_where_the_trees_would_not_fit(monkeypatch):
    config = dataclasses.replace(TIC_TAC_TOE, player="mcts:50", games=64, lanes=None)
    assert series.prepare(config).lanes == (32, 32)
    assert not series.prepare(config).lowered()
    game = make_game("gomoku", max_size=4, k=3)
    config = dataclasses.replace(config, player="mcts:51")  # a player that was not traced before
    limit = int(memory.COMPILED * tree_memory(game, 5, 51)) + 1
    monkeypatch.setattr(memory, "available_memory", lambda: limit)
    prepared = series.prepare(config)
    small, large = prepared.lanes
    assert large == 5
    assert 5 < small < 32
    told = "side 4: 5 positions at a time instead of 32, for lack of memory (--lanes)"
    assert prepared.lowered()[1] == told
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(ValueError, match="1 games x 52 simulations"):
        series.prepare(dataclasses.replace(config, player="mcts:52"))


def test_a_continued_file_keeps_the_lanes_that_it_began_with(monkeypatch, tmp_path):
    path, game = tmp_path / "out.json", make_game("gomoku", max_size=3, k=3)
    config = dataclasses.replace(TIC_TAC_TOE, player="mcts:3", sizes=(3,), games=8, runs=1, lanes=None)
    with monkeypatch.context() as short:
        limit = int(memory.COMPILED * tree_memory(game, 2, 3)) + 1
        short.setattr(memory, "available_memory", lambda: limit)
        series.play(series.prepare(config, path))
    data = series.play(series.prepare(dataclasses.replace(config, runs=2), path))
    assert [run["lanes"] for run in data["sizes"]["3"]["runs"]] == [2, 2]
    unbroken = series.play(series.prepare(dataclasses.replace(config, runs=2, lanes=2)))
    assert without_time(data["sizes"]) == without_time(unbroken["sizes"])


@pytest.mark.parametrize("wrong", [{"lanes": 0}, {"opening_moves": 1_000_000}])
def test_a_mistake_leaves_no_file_of_results(wrong, tmp_path):
    path = tmp_path / "out.json"
    with pytest.raises(ValueError, match=next(iter(wrong))):
        series.prepare(dataclasses.replace(TIC_TAC_TOE, **wrong), path)
    assert not path.exists()


def test_what_goes_wrong_during_play_is_one_sentence_as_well(monkeypatch, capsys):
    def fail(*_):
        raise ValueError("the disk is full")

    monkeypatch.setattr(series, "play", fail)
    with pytest.raises(SystemExit) as exit:
        script.main(["--game", "gomoku", "--player", "greedy", "--sizes", "5"])
    assert exit.value.code == 2
    assert capsys.readouterr().err == "error: the disk is full\n"


def run_script(*arguments):
    command = [sys.executable, str(ROOT / "experiments" / "evaluate.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment())


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_script_plays_prints_a_table_and_continues(tmp_path):
    path = tmp_path / "out.json"
    arguments = "--game gomoku --player greedy --opponent random --sizes 3 --k 3 --games 4 --runs 2 --lanes 2"
    first = run_script(*arguments.split(), "--json", path)
    assert first.returncode == 0, first.stderr
    assert "greedy against random" in first.stdout
    assert "3x3" in first.stdout
    assert "run 2 of 2" in first.stderr
    stored = json.loads(path.read_text())
    assert stored["sizes"]["3"]["wins"] >= 0
    again = run_script(*arguments.split(), "--json", path)
    assert again.stdout == first.stdout
    assert "run" not in again.stderr
    refused = run_script(*arguments.split(), "--seed", 1, "--json", path)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert json.loads(path.read_text())["sizes"] == stored["sizes"]


def test_ctrl_c_keeps_what_was_played_and_says_how_to_continue(tmp_path):
    path = tmp_path / "out.json"
    players = ["--game", "gomoku", "--player", "greedy", "--opponent", "random"]
    arguments = [*players, "--sizes", "3", "--k", "3", "--games", "4", "--lanes", "2", "--json", str(path)]
    endless = [sys.executable, "experiments/evaluate.py", *arguments, "--runs", "1000000"]
    # A shell lets its background jobs ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pipe = subprocess.PIPE
    process = subprocess.Popen(endless, cwd=ROOT, env=environment(), stdout=pipe, stderr=pipe, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "run 2 of" in line:
            break
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "the same command continues after the last whole run" in errors
    assert "Traceback" not in errors
    assert "greedy against random" in output
    played = len(json.loads(path.read_text())["sizes"]["3"]["runs"])
    assert played >= 2
    again = run_script(*arguments, "--runs", played + 1)
    assert again.returncode == 0, again.stderr
    assert len(json.loads(path.read_text())["sizes"]["3"]["runs"]) == played + 1


def test_the_table_fits_eighty_columns():
    result = {
        "outcome": 0.5, "standard_error": 0.123, "wilson": [0.456, 0.544], "wins": 12000, "ties": 1000,
        "losses": 12000, "distinct_games": 25000, "seconds": 1.0, "as_dark": {"outcome": 0.6},
        "as_light": {"outcome": 0.4},
    }  # fmt: skip
    text = StringIO()
    config = dataclasses.replace(TIC_TAC_TOE, player="a/rather/long/path/of/weights", games=1000, runs=25)
    Console(file=text, width=80).print(script.table(config, {"100": result}))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    for shown in ("100x100", "0.500 ± 0.123", "0.456-0.544", "12000/1000/12000", "25000", "0.60/0.40"):
        assert any(shown in line for line in lines), f"{shown} was cut"
    assert "…" not in text.getvalue()
