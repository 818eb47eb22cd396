"""The study of Breakthrough: scores, seeds, its page from the file alone, mistakes, and a tiny whole one."""

import copy
import dataclasses
import json
import re
import shlex

import pytest
import tyro

from experiments import breakthrough as script
from saz_jax.arena.contestants import Contestant
from saz_jax.studies import breakthrough as study
from saz_jax.studies.breakthrough import BreakthroughConfig
from saz_jax.studies.lineup import can_play
from tests.tiny_agents import tiny_agent

TINY = BreakthroughConfig(
    opponents=("random", "greedy"),
    sizes=(5, 6),
    games=2,
    simulations=2,
    opening_moves=2,
    seeds=2,
    minutes=0.001,
    preset="smoke",
)


def result(wins, losses, size):
    low, high = study.seeds_interval([wins / (wins + losses)], wins / (wins + losses), wins + losses)
    outcome = wins / (wins + losses)
    return {
        "wins": wins,
        "ties": 0,
        "losses": losses,
        "outcome": outcome,
        "wilson": [low, high],
        "size": size,
    }


def made_up():
    """A file of results: two given players, and two seeds."""
    trained = {"trained_as": "model3", "trained_sizes": [5, 6, 7], "cpu_minutes": 10.0, "positions": 4096}
    players = {
        text: {"label": label, "weights": "abc", **trained}
        for text, label in (("runs/a", "graph"), ("runs/b", "az"), ("s0", "seed0"), ("s1", "seed1"))
    } | {"greedy": {"label": "greedy"}, "mcts:1000": {"label": "mcts-1000"}}
    matches = {
        "breakthrough-8-graph-greedy": result(9, 1, 8),
        "breakthrough-12-graph-greedy": result(8, 2, 12),
        "breakthrough-8-graph-az": result(3, 7, 8),
        "breakthrough-8-az-mcts-1000": result(10, 0, 8),
        "breakthrough-12-seed0-greedy": result(9, 1, 12),
        "breakthrough-12-seed1-greedy": result(7, 3, 12),
        "breakthrough-8-seed1-greedy": result(5, 5, 8),
    }
    config = dataclasses.asdict(BreakthroughConfig(seeds=2))
    hardware = {"processor": "a chip", "cores": 2, "backend": "cpu"}
    told = {"command": "python x.py", "date": "today", "hardware": hardware}
    return {**told, "config": config, "players": players, "matches": matches}


def test_a_pair_is_stored_once_and_seen_from_both_sides():
    ours, theirs = (study.score(made_up(), *pair, 8) for pair in (("graph", "az"), ("az", "graph")))
    assert ours is not None
    assert theirs is not None
    assert (ours.outcome, round(theirs.outcome, 6)) == (0.3, 0.7)
    assert theirs.interval == pytest.approx((1 - ours.interval[1], 1 - ours.interval[0]))
    assert study.score(made_up(), "graph", "az", 12) is None


def test_seeds_are_one_player_whose_interval_is_over_seeds():
    found = study.score(made_up(), study.SEED, "greedy", 12)
    assert found is not None
    assert (found.outcome, found.seeds, found.games) == (pytest.approx(0.8), (0.9, 0.7), 20)
    assert found.interval == (0.0, 1.0)  # 12.71 times 0.1, the standard error over two seeds
    assert study.score(made_up(), study.SEED, "greedy", 8) is None, "one seed has no interval"


def test_page_and_figure_are_made_from_the_file_alone(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    (tmp_path / "breakthrough.json").write_text(json.dumps(made_up()))
    script.main(["--report-only", "--results", str(tmp_path)])
    page = (tmp_path / "README.md").read_text()
    assert "| player | greedy | mcts:1000 | graph | az |" in page
    assert re.search(r"\| graph \| 0\.90 \(0\.\d\d to 0\.98\) \| - \| - \| 0\.30 ", page)
    assert "| model3, 10 CPU minutes | 0.80 (0.00 to 1.00) |\n" in page
    assert "| 12x12 | greedy | 0.80 (0.00 to 1.00) | 0.90, 0.70 | 20 |" in page
    assert "| az | runs/b | model3 | 5, 6, 7 | 10.0 | 4,096 | abc |" in page
    assert (tmp_path / "breakthrough.png").read_bytes().startswith(b"\x89PNG")


def test_a_page_needs_a_game(tmp_path, capsys):
    empty = copy.deepcopy(made_up()) | {"matches": {}}
    (tmp_path / "breakthrough.json").write_text(json.dumps(empty))
    with pytest.raises(SystemExit):
        script.main(["--report-only", "--results", str(tmp_path)])
    assert "no match of the study" in capsys.readouterr().err


def export(folder, name, model="model3", sizes=(5,), game="breakthrough"):
    tiny_agent(game, model, sizes).export(folder / name)
    return str(folder / name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": 1}, "seeds=1 have no interval; use 2 to 8"),
        ({"seeds": 0}, "nobody plays; name --players"),
        ({"games": 3}, "games=3; use an even number"),
        ({"runs": 0}, "runs=0; use 1 or more"),
        ({"sizes": ()}, "no games to play"),
        ({"sizes": (2,)}, "board side 2 is too small"),
        ({"players": ("greedy",)}, "greedy has no weights"),
        ({"players": ("a=nobody",)}, "no agent at nobody"),
        ({"players": ("a={moves}", "a={moves}")}, "the name a is taken"),
        ({"players": ("seed3={moves}",)}, "the name seed3 is taken"),
        ({"players": ("{stones}",)}, "was trained on gomoku; it cannot play breakthrough"),
        ({"players": ("{one}",), "sizes": (8, 10)}, r"plays none of the sides \(8, 10\)"),
        ({"opponents": ("{moves}",)}, "name it among the players"),
        ({"model": "model5"}, "model5"),
    ],
)
def test_mistakes_are_named_before_any_training(changes, message, tmp_path):
    files = {
        "moves": export(tmp_path, "moves.npz"),
        "stones": export(tmp_path, "stones.npz", game="gomoku"),
        "one": export(tmp_path, "one.npz", "model1", (5,)),
    }
    named = {
        name: tuple(x.format(**files) if isinstance(x, str) else x for x in value)
        for name, value in changes.items()
        if isinstance(value, tuple)
    }
    with pytest.raises(ValueError, match=message):
        study.open_results(dataclasses.replace(TINY, **{**changes, **named}), tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_network_for_one_side_plays_there_alone():
    cnn = Contestant("cnn", lambda game, size: None, tiny_agent("breakthrough", "model1", (6,)))
    gin = Contestant("gin", lambda game, size: None, tiny_agent("breakthrough", "model3", (5, 6)))
    assert [can_play(cnn, size) for size in (5, 6, 7)] == [False, True, False]
    assert [can_play(gin, size) for size in (5, 6, 12)] == [True, True, True]


def test_trainings_differ_in_their_seed_only():
    first, second = (study.training(BreakthroughConfig(), number) for number in (0, 1))
    assert dataclasses.replace(first, seed=1) == second
    assert first.search.solve, "the preset for strength"


def test_the_examples_name_settings_that_exist():
    assert script.__doc__ is not None
    text = script.__doc__.replace("\\\n", "")
    examples = re.findall(r"python experiments/breakthrough\.py(.*)", text)
    assert len(examples) == 5
    for example in examples:
        tyro.cli(script.Arguments, args=shlex.split(example, comments=True))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_tiny_study_is_trained_and_played_once_and_takes_further_players(tmp_path):
    said = []
    data = study.run(TINY, tmp_path, said.append)
    assert sum(line.startswith("training") for line in said) == 2
    score = study.score(data, study.SEED, "greedy", 6)
    assert score is not None
    assert score.games == 4
    seed = tmp_path / "runs" / "study-breakthrough-model3-seed0-6"
    further = dataclasses.replace(
        TINY, players=(f"graph={seed}/agent.npz", f"az={export(tmp_path, 'az.npz', 'model1')}")
    )
    said.clear()
    data = study.run(further, tmp_path, said.append)
    assert not any(line.startswith("training") or "-seed" in line for line in said)
    played = {name for name, match in data["matches"].items() if "az" in name}
    assert played == {f"breakthrough-5-{pair}" for pair in ("az-random", "az-greedy", "graph-az")}
    assert study.table(data).count("| model3, 0.001 CPU minutes |") == 2
