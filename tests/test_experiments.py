"""Studies and their scripts: agents found or trained, results kept and continued, mistakes in a sentence."""

import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from saz_jax.agents.agent import load_agent
from saz_jax.arena.contestants import Contestant
from saz_jax.cli.studies import parse, reproduce_main, studies_of, study_main
from saz_jax.storage.lock import locked
from saz_jax.studies import catalogue, lineup
from saz_jax.studies.budgets import BUDGETS, StudyBoards
from saz_jax.studies.catalogue import STUDIES, interpolate, run_study, seconds_per_move
from saz_jax.studies.laboratory import Lab, facts, introduce, play, train
from saz_jax.studies.lineup import GREEDY, az, can_play, fine_tuned, scalable, trained_on_tested
from saz_jax.studies.reports import PAGE, REPORTS, write_page
from saz_jax.training.presets import preset
from tests.tiny_agents import tiny_agent

ROOT = Path(__file__).parent.parent
BUDGET = dataclasses.replace(BUDGETS["smoke"], simulations=1, boards=StudyBoards(gomoku=(5, 6)))
PLAYERS = [("saz", (5, 6), 0), ("model1", (5,), 1), ("model1", (6,), 2)]


@pytest.fixture(scope="module")
def players(tmp_path_factory):
    """Agents for a whole study without any training."""
    folder = tmp_path_factory.mktemp("agents")
    return tuple(save(folder, *player) for player in PLAYERS)


def run_table_3(folder, agents, budget=BUDGET, **listeners):
    """Table 3 of SAZ alone, since every player on every board is a program to compile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "SCALABLE", ("saz",))
        run_study(Lab("tiny", budget, folder, agents, **listeners), "against_az", ["gomoku"])


@pytest.fixture(scope="module")
def whole(players, tmp_path_factory):
    """Table 3, done in one go."""
    folder = tmp_path_factory.mktemp("whole")
    run_table_3(folder, players)
    write_page(folder)
    return folder


def without_time(path):
    """The contents of a file of results but for what differs every time."""
    times = ("seconds", "date", "continued")
    keep = lambda pairs: {k: v for k, v in pairs.items() if k not in times}  # noqa: E731
    return json.loads(path.read_text(), object_hook=keep)


def test_a_study_stores_every_match_and_every_player(whole, players):
    data = json.loads((whole / "against_az.json").read_text())
    assert set(data["matches"]) == {"gomoku-5-saz-az", "gomoku-6-saz-az"}
    for match in data["matches"].values():
        assert len(match["runs"]) == BUDGET.runs
        assert match["wins"] + match["ties"] + match["losses"] == BUDGET.games * BUDGET.runs
    assert {known["label"] for known in data["players"].values()} == {"saz", "az"}
    assert len(data["players"]) == 3
    assert all(text.partition("@")[0] in players for text in data["players"])
    assert not (whole / "runs").exists(), "nothing was missing, so nothing is trained"


@pytest.mark.parametrize("stop_after", [1, 3])
def test_a_study_that_was_interrupted_ends_like_one_that_was_not(whole, players, stop_after, tmp_path):
    finished = []

    def impatient(phase, done, total):
        finished.append(done == total)
        if sum(finished) > stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_table_3(tmp_path, players, progress=impatient)
    assert len(json.loads((tmp_path / "against_az.json").read_text())["matches"]) == stop_after // BUDGET.runs
    run_table_3(tmp_path, players)
    assert without_time(tmp_path / "against_az.json") == without_time(whole / "against_az.json")


def test_a_finished_study_is_not_played_again(whole, players):
    def forbidden(phase, done, total):
        raise AssertionError(f"{phase} was begun")

    before = without_time(whole / "against_az.json")
    run_table_3(whole, players, progress=forbidden)
    assert without_time(whole / "against_az.json") == before


def test_the_reports_are_rebuilt_from_the_json_alone(whole, tmp_path):
    (tmp_path / "against_az.json").write_bytes((whole / "against_az.json").read_bytes())
    write_page(whole)
    reproduce_main(["--report-only", "--results", str(tmp_path)], None)
    for name in (PAGE, "against_az.md", "against_az.png"):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()


def test_other_settings_are_refused_by_the_same_folder(whole, players):
    with pytest.raises(ValueError, match=r"budget\.games: 2 in the run, 4 asked for"):
        run_table_3(whole, players, dataclasses.replace(BUDGET, games=4))


def contestant_of(agent, model, text):
    """A contestant of a study, labelled by its model, that plays as `model` with the weights of `agent`."""
    return Contestant(text, lambda game, size: agent.player(game, model=model), agent, model, model)


def test_results_whose_training_runs_are_elsewhere_are_refused_before_any_training(tmp_path):
    lab, run = Lab("tiny", BUDGET, tmp_path), tmp_path / "runs" / "tiny-gomoku-saz-5"
    agent = tiny_agent("gomoku", "saz", (5,))
    agent.export(run / "agent.npz")
    file = lab.open("go")
    introduce(file, contestant_of(agent, "saz", f"{run}@saz"))
    file.save()
    lab.open("go")
    shutil.rmtree(run)
    with pytest.raises(ValueError, match="tiny-gomoku-saz-5, which is not here; name another"):
        lab.open("go")


def test_other_weights_under_the_same_name_are_refused(tmp_path):
    file = Lab("tiny", BUDGET, tmp_path).open("go")
    for seed in (0, 0):
        introduce(file, contestant_of(tiny_agent("gomoku", "saz", (5,), seed=seed), "saz", "somewhere"))
    with pytest.raises(ValueError, match="results of other weights of somewhere"):
        introduce(file, contestant_of(tiny_agent("gomoku", "saz", (5,), seed=1), "saz", "somewhere"))


def test_agents_stand_for_the_models_that_they_can_be(tmp_path, monkeypatch):
    lab = Lab("tiny", BUDGET, tmp_path, tuple(save(tmp_path, *player) for player in PLAYERS))
    monkeypatch.setattr(lineup, "train", lambda lab, role, *_: pytest.fail(f"{role} would be trained"))
    for model in ("saz", "model3", "model4"):
        found = scalable(lab, "gomoku", model)
        assert (found.label, found.model, found.text) == (
            model,
            model,
            f"{lab.agents[0]}@{model}",
        )
    assert az(lab, "gomoku", 6).text.startswith(lab.agents[2])
    assert trained_on_tested(lab, "gomoku", "model1", 5).text.startswith(lab.agents[1])
    for missing in (
        lambda: scalable(lab, "gomoku", "fcn"),
        lambda: scalable(lab, "othello", "saz"),
        lambda: az(lab, "gomoku", 7),
        lambda: trained_on_tested(lab, "gomoku", "model2", 5),
    ):
        with pytest.raises(pytest.fail.Exception, match="would be trained"):
            missing()


def save(folder, model, sizes, seed):
    path = folder / f"{model}-{sizes[-1]}.npz"
    tiny_agent("gomoku", model, sizes, seed=seed).export(path)
    return str(path)


def test_shipped_weights_are_used_unless_one_retrains(tmp_path, monkeypatch):
    tiny_agent("othello", "saz", (5,)).export(tmp_path / "weights" / "othello" / "agent.npz")
    monkeypatch.setattr("saz_jax.agents.agent.SHIPPED", (tmp_path / "weights",))
    monkeypatch.setattr(lineup, "train", lambda lab, role, *_: pytest.fail(f"{role} would be trained"))
    shipped = Lab("tiny", dataclasses.replace(BUDGET, retrain=False), tmp_path)
    assert scalable(shipped, "othello", "model4").text == "othello@model4"
    with pytest.raises(pytest.fail.Exception, match="model3 would be trained"):
        scalable(Lab("tiny", BUDGET, tmp_path), "othello", "model4")


def test_all_players_train_as_long_as_the_saz_that_is_given_and_az_longer(tmp_path, monkeypatch):
    path = tmp_path / "saz.npz"
    agent = tiny_agent("gomoku", "saz", (5, 6))
    dataclasses.replace(agent, meta={**agent.meta, "seconds": 240.0}).export(path)
    asked = {}

    def train(lab, role, config, minutes, init_from=None):
        asked.setdefault(role, []).append(minutes)
        return path

    monkeypatch.setattr(lineup, "train", train)
    for agents, base in (((str(path),), 4.0), ((), 60.0)):
        lab = Lab("tiny", dataclasses.replace(BUDGET, minutes=60.0, az_times=3.0), tmp_path, agents)
        asked.clear()
        scalable(lab, "gomoku", "fcn")
        trained_on_tested(lab, "gomoku", "model1", 6)
        az(lab, "gomoku", 6)
        fine_tuned(lab, "gomoku", scalable(lab, "gomoku", "saz"), 6)
        assert asked["fcn"] == pytest.approx([base])
        assert asked["model1"] == pytest.approx([base, 3 * base])  # AZ is the same run, continued
        assert asked["tuned"] == pytest.approx([base / 3])


def test_model_1_is_what_azs_run_was_after_the_time_of_the_others(tmp_path, monkeypatch):
    for iteration in (1, 2, 3, 9):
        agent = dataclasses.replace(
            tiny_agent("gomoku", "model1", (6,), seed=iteration),
            meta={"iteration": iteration, "seconds": 60.0 * iteration},
        )
        agent.export(tmp_path / "stages" / f"{iteration:06}.npz")
    agent.export(tmp_path / "agent.npz")
    monkeypatch.setattr(lineup, "train", lambda *_: tmp_path)
    lab = Lab("tiny", dataclasses.replace(BUDGET, minutes=2.5, az_times=2.0), tmp_path)
    found = trained_on_tested(lab, "gomoku", "model1", 6)
    assert (found.label, facts(found)["iterations"]) == ("model1", 3)
    assert facts(az(lab, "gomoku", 6))["iterations"] == 9


def test_a_small_cnn_plays_no_board_smaller_than_its_own():
    contestant = contestant_of(tiny_agent("gomoku", "model5", (6,)), "model5", "")
    assert [can_play(contestant, size) for size in (5, 6, 7)] == [False, True, True]
    assert can_play(GREEDY, 5)


@pytest.mark.slow
def test_what_is_missing_is_trained_once_and_found_again(tmp_path):
    said = []
    lab = Lab("tiny", dataclasses.replace(BUDGET, iterations=1), tmp_path, say=said.append)
    first = scalable(lab, "gomoku", "saz")
    assert first.text == f"{tmp_path / 'runs' / 'tiny-gomoku-model3-6'}@saz"
    assert load_agent(tmp_path / "runs" / "tiny-gomoku-model3-6").model.name == "model3"
    assert said[0] == "training gomoku model3 as model3 on sides [5, 6]: 1 iterations"
    said.clear()
    again = scalable(lab, "gomoku", "model4")
    assert said == []
    assert again.weights == first.weights
    (stage,) = lineup.small_stages(lab, "gomoku", "model3")
    assert stage.contestant.label == "model3-stage-000001"
    assert stage.minutes > 0
    assert stage.contestant.weights == first.weights
    longer = dataclasses.replace(lab, budget=dataclasses.replace(BUDGET, seed=1))
    with pytest.raises(ValueError, match="seed: 0 in the run, 1 asked for"):
        scalable(longer, "gomoku", "saz")


def test_a_run_that_another_process_trains_is_left_alone(tmp_path):
    workdir = tmp_path / "runs" / "tiny-gomoku-saz-6"
    workdir.mkdir(parents=True)
    config = preset("smoke", "gomoku", "saz")
    with locked(workdir), pytest.raises(ValueError, match="is in use by process"):
        train(Lab("tiny", BUDGET, tmp_path), "saz", config, minutes=1.0)
    assert not (workdir / "config.json").exists()


def test_stages_are_evenly_spaced_and_end_with_the_last(tmp_path):
    (tmp_path / "stages").mkdir()
    rows = []
    for iteration in range(1, 11):
        agent = dataclasses.replace(
            tiny_agent("gomoku", "model3", (5,)), meta={"iteration": iteration, "seconds": 60.0 * iteration}
        )
        agent.export(tmp_path / "stages" / f"{iteration:06}.npz")
        rows.append(json.dumps({"iteration": iteration, "positions": 100 * iteration}))
    (tmp_path / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    tiny_agent("gomoku", "model3", (5,)).export(tmp_path / "agent.npz")
    lab = Lab("tiny", dataclasses.replace(BUDGET, stages=4), tmp_path, (str(tmp_path),))
    stages = lineup.small_stages(lab, "gomoku", "model3")
    assert [stage.minutes for stage in stages] == [2, 5, 8, 10]
    assert [stage.positions for stage in stages] == [200, 500, 800, 1000]
    many = dataclasses.replace(lab, budget=dataclasses.replace(BUDGET, stages=99))
    assert len(lineup.small_stages(many, "gomoku", "model3")) == 10


def test_equal_compute_gives_model3_the_ensembles_evaluations(tmp_path, monkeypatch):
    seconds = {("saz", 4): 2.0, ("model3", 4): 0.5, ("model3", 19): 2.0}
    monkeypatch.setattr(
        catalogue, "seconds_per_move", lambda contestant, size, count: seconds[contestant.label, count]
    )
    agent = tiny_agent("othello", "saz", (5,))
    ensemble, plain = (contestant_of(agent, model, "") for model in ("saz", "model3"))
    lab = Lab("tiny", dataclasses.replace(BUDGET, simulations=4), tmp_path)
    # Side 6 has 3 subgraphs: 5 positions (4 simulations and the root), each asked about 4 times.
    counts = catalogue.fair_simulations(lab, ensemble, plain, 6)
    assert {name: counts[name] for name in ("simulations", "evaluations", "seconds")} == {
        "simulations": 4,
        "evaluations": 19,
        "seconds": 19,
    }


@pytest.mark.parametrize(("seconds", "count"), [(1.0, 10), (2.0, 20), (1.5, 15), (3.0, 30), (0.01, 1)])
def test_simulations_for_a_time_lie_on_the_measured_line(seconds, count):
    assert interpolate((10, 1.0), (20, 2.0), seconds) == count


def test_simulations_that_cost_no_time_are_not_extrapolated():
    assert interpolate((10, 1.0), (20, 0.9), 5.0) == 20


def test_a_move_takes_time():
    contestant = contestant_of(tiny_agent("gomoku", "model3", (5,)), "model3", "")
    assert 0 < seconds_per_move(contestant, 5, 1) < 60


def test_a_match_against_more_simulations_says_so(tmp_path):
    path = tmp_path / "x.npz"
    tiny_agent("gomoku", "model3", (5,)).export(path)
    lab = Lab("tiny", dataclasses.replace(BUDGET, runs=1), tmp_path)
    contestant = contestant_of(load_agent(path), "model3", f"{path}@model3")
    file = lab.open("equal_compute")
    rival = dataclasses.replace(contestant, label="rival")
    play(lab, file, ("gomoku", 5), contestant, rival, 3, also={"minutes": 7})
    match = file.data["matches"]["gomoku-5-model3-rival"]
    assert (match["simulations"], match["opponent_simulations"], match["minutes"]) == (1, 3, 7)
    stored = json.loads((tmp_path / "matches" / "tiny-gomoku-5-model3-rival.json").read_text())
    assert stored["config"]["opponent_simulations"] == 3


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_script_that_names_it(name):
    text = (ROOT / "experiments" / f"{name}.py").read_text()
    assert f'study_main("{name}", sys.argv[1:], __doc__)' in text
    assert f"python experiments/{name}.py" in text


def test_flags_start_from_the_budget():
    arguments = parse(["--budget", "smoke", "--games", "8", "--boards.curve", "5", "9", "--game", "go"], None)
    smoke = BUDGETS["smoke"]
    boards = dataclasses.replace(smoke.boards, curve=(5, 9))
    assert arguments.settings == dataclasses.replace(smoke, games=8, boards=boards)
    assert arguments.game == ("go",)
    assert arguments.folder == Path("results/smoke")


@pytest.mark.parametrize("name", [*STUDIES, "reproduce"])
def test_the_examples_of_a_study_name_settings_that_exist(name):
    source = (ROOT / "experiments" / f"{name}.py").read_text()
    examples = re.findall(rf"python experiments/{name}\.py(.*)", source)
    assert examples
    for example in examples:
        parse(shlex.split(example, comments=True), None)


def test_all_studies_together_take_their_share_of_the_games():
    assert set(studies_of(())) == set(REPORTS)
    assert set(studies_of(("go",))) == {"complexity", "go"}
    assert studies_of(("othello", "go"))["ablation"] == ["othello"]
    assert "go" not in studies_of(("gomoku",))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("ablation", ["--budget", "huge"], "huge"),
        ("ablation", ["--game", "chess"], "chess"),
        ("embedding", ["--game", "gomoku"], "embedding is not about gomoku"),
        ("go", ["--agent", "nobody"], "no agent at nobody"),
        ("go", ["--report-only"], "cannot read"),
        ("go", ["--results", "README.md"], "README.md"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_exit_code_2(name, arguments, message, tmp_path, capsys):
    results = [] if "--results" in arguments else ["--results", str(tmp_path / "results")]
    with pytest.raises(SystemExit) as stopped:
        study_main(name, ["--budget", "smoke", *results, *arguments], None)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.replace("\n", " ")


def test_the_first_table_is_one_command(tmp_path):
    command = [sys.executable, "experiments/complexity.py", "--results", str(tmp_path / "new")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "| gomoku, go 17x17 | 24,137,569 | 24,137,569 | 290 | 290 |" in done.stdout
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "complexity.json", "complexity.md", "complexity.png",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_smoke_budget_reproduces_everything(tmp_path, capsys):
    arguments = ["--budget", "smoke", "--game", "othello", "go", "--results", str(tmp_path)]
    reproduce_main(arguments, None)
    page = (tmp_path / PAGE).read_text()
    assert page in capsys.readouterr().out
    for name, shown in REPORTS.items():
        assert f"## {shown.title}" in page
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "no results yet" not in page
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.*")}
    reproduce_main([*arguments, "--report-only"], None)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.*")} == before
