"""Games, networks, models, searches and priors of other people: they train, ship and play like ours."""

import dataclasses
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import saz_jax
from experiments import ship
from saz_jax.arena import MatchConfig, series
from saz_jax.cli import evaluate, flags, round_robin, train
from saz_jax.cli.studies import studies_of
from saz_jax.config import TrainConfig, registry
from saz_jax.storage import read_json, read_metrics
from saz_jax.studies import BUDGETS, STUDIES, Lab, Study, lineup, run_study
from saz_jax.studies.laboratory import play
from saz_jax.studies.lineup import RANDOM, labelled
from saz_jax.training import preset, run, stored_config

USER_FILES = Path(__file__).parent / "user_files"
REGISTRIES = (registry.GAMES, registry.NETWORKS, registry.MODELS, registry.SEARCHES, registry.PRIORS)
TINY = [
    *("--preset", "smoke", "--sizes", "3", "4", "--search.simulations", "2", "--learner.batch-size", "8"),
    *("--selfplay.games", "8", "--selfplay.moves", "8", "--save-seconds", "1000"),
    *("--evaluation.games", "2", "--evaluation.simulations", "2", "--evaluation.sizes", "5"),
]
TINY_GIN = ["--network.layers", "1", "--network.hidden", "4", "--network.head", "4"]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory) -> Iterator[Path]:
    """The user's folder, which is also the current one; afterwards all is as it was."""
    path = tmp_path_factory.mktemp("user")
    for file in USER_FILES.glob("*.py"):
        shutil.copyfile(file, path / file.name)
    known = [dict(kind._entries) for kind in REGISTRIES]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        patch.syspath_prepend(path)
        yield path
    for kind, entries in zip(REGISTRIES, known, strict=True):
        kind._entries = entries
    for name in ("rows", "parts"):
        sys.modules.pop(name, None)


@pytest.fixture
def unregistered():
    """As in a new process: nobody has registered anything yet."""
    known = [dict(kind._entries) for kind in REGISTRIES]
    for kind in REGISTRIES:
        kind._entries = {n: e for n, e in kind._entries.items() if e.origin.startswith("saz_jax.")}
    yield
    for kind, entries in zip(REGISTRIES, known, strict=True):
        kind._entries = entries


@pytest.fixture(scope="module")
def rows_run(folder):
    """A run of the user's game by train.py, and what was printed at its end."""
    arguments = ["--game", "rows:make", "--misere", "True", "--model", "model3", *TINY, *TINY_GIN]
    train.main([*arguments, "--iterations", "2", "--workdir", "rows-run"])
    return SimpleNamespace(workdir=Path("rows-run"), arguments=arguments)


@pytest.fixture(scope="module")
def parts_run(folder):
    """A run with the user's network, model and search."""
    named = ["--model", "parts:cautious", "--search.kind", "parts:one-ply"]
    settings = ["--network.reach", "2", "--ensemble.trust", "0.5", "--search.sharpness", "3"]
    game = ["--game", "gomoku", "--k", "3"]
    train.main([*game, *named, *settings, *TINY, "--iterations", "1", "--workdir", "parts-run"])
    return Path("parts-run")


@pytest.fixture(scope="module")
def prior_run(folder):
    """A run with the user's prior."""
    named = ["--model", "saz", "--ensemble.combine", "parts:geometric", "--ensemble.per-side", "0.34"]
    game = ["--game", "gomoku", "--k", "3"]
    train.main([*game, *named, *TINY, *TINY_GIN, "--iterations", "1", "--workdir", "prior-run"])
    return Path("prior-run")


def refused(main, arguments, capsys):
    """What a script says when it refuses."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_the_users_game_keeps_what_every_game_promises():
    saz_jax.check_game(importlib.import_module("rows").make, largest=4)


def test_a_run_stores_the_game_its_options_and_its_maker(rows_run):
    stored = read_json(rows_run.workdir / "config.json")
    assert stored["config"]["game"] == "rows"
    assert stored["config"]["game_options"] == {"length": 3, "misere": True}
    assert stored["origins"]["game"] == "rows:make"


def test_an_agent_of_the_users_game_loads_and_plays_its_options(rows_run):
    agent = saz_jax.load_agent(rows_run.workdir)
    assert (agent.game_name, dict(agent.game_options)) == ("rows", {"length": 3, "misere": True})
    assert agent.facts()["agent"]["origins"]["game"] == "rows:make"
    assert agent.game(5).origin == "rows:make"


def test_an_export_of_the_users_game_loads_again(rows_run, tmp_path):
    agent = saz_jax.load_agent(rows_run.workdir)
    agent.export(tmp_path / "again.npz")
    again = saz_jax.load_agent(tmp_path / "again.npz")
    assert again.facts() == agent.facts()
    jax.tree.map(np.testing.assert_array_equal, again.variables, agent.variables)


@pytest.mark.usefixtures("rows_run", "unregistered")
def test_an_agent_of_an_unknown_game_says_how_to_register_it():
    with pytest.raises(ValueError, match=r"game 'rows' is not registered.*made by rows:make.*register_game"):
        saz_jax.load_agent("rows-run")


@pytest.mark.usefixtures("rows_run", "unregistered")
def test_resuming_a_run_of_an_unknown_game_is_refused_and_says_how_to_register_it(capsys):
    said = refused(train.main, ["--resume", "--workdir", "rows-run", "--iterations", "3"], capsys)
    assert "game 'rows' is not registered here; it was made by rows:make" in said
    assert "on a command line, --game rows:make" in said


def test_a_run_of_the_users_game_continues(rows_run):
    before = len(read_metrics(rows_run.workdir))
    resumed = ["--resume", "--game", "rows:make", "--workdir", str(rows_run.workdir)]
    train.main([*resumed, "--iterations", str(before + 1)])
    assert [row["iteration"] for row in read_metrics(rows_run.workdir)] == list(range(1, before + 2))


def test_another_game_in_the_workdir_is_refused_with_the_difference(rows_run, capsys):
    other = ["--game", "gomoku", "--k", "3", "--model", "model3", *TINY, *TINY_GIN, "--iterations", "9"]
    said = refused(train.main, [*other, "--workdir", rows_run.workdir], capsys)
    assert "game: rows in the run, gomoku asked for" in said


def test_other_options_in_the_workdir_are_refused_with_the_difference(rows_run, capsys):
    arguments = [word if word != "True" else "False" for word in rows_run.arguments]
    said = refused(train.main, [*arguments, "--iterations", "9", "--workdir", rows_run.workdir], capsys)
    assert "game_options.misere: True in the run, False asked for" in said


@pytest.mark.usefixtures("unregistered")
def test_another_maker_of_the_same_name_is_refused_with_the_difference(rows_run, folder, capsys):
    shutil.copyfile(folder / "rows.py", folder / "other_rows.py")
    arguments = ["other_rows:make" if word == "rows:make" else word for word in rows_run.arguments]
    said = refused(train.main, [*arguments, "--iterations", "9", "--workdir", rows_run.workdir], capsys)
    assert "origins.game: rows:make in the run, other_rows:make asked for" in said


def test_the_printed_commands_register_the_users_game(rows_run):
    assert flags.game_flag("rows") == "rows:make"
    assert flags.game_flag("gomoku") == "gomoku"
    assert "--game rows:make" in train.again(TrainConfig(game="rows"), rows_run.workdir)
    assert "--game" not in train.again(TrainConfig(game="gomoku"), rows_run.workdir)


def test_an_option_of_another_game_is_refused_and_the_users_own_is_a_flag(capsys):
    assert "rows has no option 'k'" in refused(train.main, ["--game", "rows:make", "--k", "3"], capsys)
    with pytest.raises(SystemExit):
        train.main(["--game", "rows:make", "--help"])
    said = capsys.readouterr().out
    assert "stones in a row that end the game" in said
    assert "--misere" in said


def test_the_users_game_is_evaluated_and_recorded(rows_run, tmp_path):
    games = ["--games", "2", "--runs", "1", "--simulations", "2", "--sizes", "4", "--lanes", "2"]
    files = ["--json", str(tmp_path / "out.json"), "--records", str(tmp_path / "records")]
    evaluate.main(["--game", "rows:make", "--player", str(rows_run.workdir), *games, *files])
    stored = read_json(tmp_path / "out.json")
    assert stored["config"]["game_options"] == {"length": 3, "misere": True}
    assert stored["config"]["origin"] == "rows:make"
    assert stored["sizes"]["4"]["wins"] + stored["sizes"]["4"]["ties"] + stored["sizes"]["4"]["losses"] == 2
    assert list((tmp_path / "records").iterdir())


def test_the_users_game_has_a_round_robin(rows_run, tmp_path):
    players = ["--players", "random", "greedy", str(rows_run.workdir)]
    games = ["--games", "2", "--simulations", "2", "--size", "4", "--lanes", "2", "--opening-moves", "1"]
    round_robin.main(["--game", "rows:make", *players, *games, "--json", str(tmp_path / "all.json")])
    stored = read_json(tmp_path / "all.json")
    assert {row["player"] for row in stored["ratings"]} == {"random", "greedy", str(rows_run.workdir)}


def test_the_users_game_is_drawn_in_its_own_style(rows_run):
    game = saz_jax.make_game("rows", 5)
    state = game.step(game.init(4), 6)
    assert "2 · ● · ·" in saz_jax.text.show(state)
    squares, lines = saz_jax.svg.render(state, "rows"), saz_jax.svg.render(state, "gomoku")
    assert squares.startswith("<svg")
    assert squares != lines
    assert squares == saz_jax.svg.render(state, game)
    with pytest.raises(ValueError, match="rows"):
        saz_jax.sgf.to_sgf(game, 4, [6])


def test_a_run_of_the_users_game_ships(rows_run, tmp_path):
    weights = tmp_path / "weights"
    ship.main(["--workdir", str(rows_run.workdir), "--name", "mine", "--weights", str(weights)])
    assert saz_jax.load_agent(weights / "mine").game_name == "rows"
    page = (weights / "README.md").read_text()
    assert "| [`mine`](mine/README.md) | rows |" in page


def test_a_study_takes_the_users_game(rows_run, tmp_path, monkeypatch):
    chosen = studies_of(["rows:make"])
    assert chosen["ablation"] == ["rows"]
    assert "go" not in chosen

    def fill(lab, file, games):
        for game in games:
            play(lab, file, (game, lab.budget.boards.large(game)[0]), RANDOM, RANDOM)

    monkeypatch.setitem(STUDIES, "ablation", Study(fill))
    boards = dataclasses.replace(BUDGETS["smoke"].boards, gomoku=(4,))
    lab = Lab("smoke", dataclasses.replace(BUDGETS["smoke"], boards=boards), tmp_path)
    assert list(run_study(lab, "ablation", ["rows:make"])["matches"]) == ["rows-4-random-random"]
    with pytest.raises(ValueError, match="embedding is not about rows"):
        run_study(lab, "embedding", ["rows:make"])


def test_fine_tuning_keeps_the_options_of_the_users_game(rows_run, tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr(lineup, "train", lambda lab, role, config, *_, **__: trained.append(config))
    mine, lab = labelled("mine", str(rows_run.workdir)), Lab("smoke", BUDGETS["smoke"], tmp_path)
    monkeypatch.setattr(lineup, "labelled", lambda *_: None)
    lineup.fine_tuned(lab, "rows", mine, 5)
    assert trained[0].game_options == {"length": 3, "misere": True}


def test_the_users_parts_are_stored_with_their_settings_and_makers(parts_run):
    stored = read_json(parts_run / "config.json")
    assert stored["config"]["network"] == {"kind": "linear", "reach": 2, "turn": True}
    assert stored["config"]["ensemble"] == {"trust": 0.5}
    assert (stored["config"]["search"]["kind"], stored["config"]["search"]["sharpness"]) == ("one-ply", 3.0)
    assert stored["origins"] == {
        "game": "saz_jax.games.gomoku:make",
        "network": "parts:make_linear",
        "model": "parts:make_cautious",
        "search": "parts:make_one_ply",
    }


def test_a_users_prior_is_stored_with_its_maker(prior_run):
    stored = read_json(prior_run / "config.json")
    assert stored["config"]["ensemble"]["combine"] == "geometric"
    assert stored["origins"]["prior"] == "parts:geometric"


@pytest.mark.parametrize("name", ["parts_run", "prior_run"])
def test_a_run_of_the_users_parts_continues_to_the_same_settings(name, request):
    workdir = request.getfixturevalue(name)
    before = stored_config(workdir / "config.json")
    train.main(["--resume", "--workdir", str(workdir), "--iterations", "2"])
    assert stored_config(workdir / "config.json") == before
    assert saz_jax.load_agent(workdir).meta["iteration"] == 2


@pytest.mark.parametrize("name", ["parts_run", "prior_run"])
def test_an_agent_of_the_users_parts_exports_loads_and_evaluates(name, request, tmp_path):
    workdir = request.getfixturevalue(name)
    agent = saz_jax.load_agent(workdir)
    agent.export(tmp_path / "again.npz")
    assert saz_jax.load_agent(tmp_path / "again.npz").facts() == agent.facts()
    games = ["--games", "2", "--runs", "1", "--simulations", "2", "--sizes", "4", "--lanes", "2"]
    out = tmp_path / "out.json"
    evaluate.main(["--game", "gomoku", "--player", str(workdir), *games, "--json", str(out)])
    assert read_json(out)["sizes"]["4"]["runs"]


@pytest.mark.usefixtures("parts_run", "prior_run", "unregistered")
@pytest.mark.parametrize(
    ("workdir", "said"),
    [
        ("parts-run", r"model 'cautious' is not registered.*register_model.*SAZ_JAX_PLUGINS=parts"),
        ("prior-run", r"prior 'geometric' is not registered.*register_prior.*SAZ_JAX_PLUGINS=parts"),
    ],
)
def test_an_agent_of_unknown_parts_says_how_to_register_them(workdir, said):
    with pytest.raises(ValueError, match=said):
        saz_jax.load_agent(workdir)
    with pytest.raises(ValueError, match=said):
        stored_config(Path(workdir) / "config.json")


def test_a_users_part_trains_from_python_as_well(parts_run, tmp_path):
    config = preset("smoke", "gomoku", "model3", "linear")
    assert type(config.network).__name__ == "LinearConfig"
    config = dataclasses.replace(
        config,
        game_options={"k": 3},
        sizes=(3,),
        search=stored_config(parts_run / "config.json").search,
        selfplay=dataclasses.replace(config.selfplay, games=4, moves=4),
        evaluation=dataclasses.replace(config.evaluation, games=0),
    )
    (row,) = run(config, tmp_path / "run", iterations=1)
    assert row["iteration"] == 1
    assert saz_jax.load_agent(tmp_path / "run").search == config.search


@pytest.mark.usefixtures("folder")
def test_the_environment_and_entry_points_of_packages_register_parts(tmp_path):
    site = tmp_path / "site"
    shutil.copytree(USER_FILES, site / "rows_package")
    (site / "rows_package" / "__init__.py").write_text(
        "import saz_jax\nfrom rows_package import rows\n\n\n"
        "def register():\n    saz_jax.register_game('packaged-rows', rows.make)\n"
    )
    info = site / "rows_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rows-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[saz_jax.plugins]\nrows = rows_package:register\n")
    script = """
import saz_jax
game = saz_jax.make_game("packaged-rows", 4, misere=True)
assert game.name == "packaged-rows" and game.origin == "rows_package.rows:make", game.origin
saz_jax.training.preset("smoke", "gomoku", "cautious")
"""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(site), *sys.path]),
        "SAZ_JAX_PLUGINS": "parts",
    }
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


@pytest.fixture(scope="module")
def agent(rows_run):
    return saz_jax.load_agent(rows_run.workdir)


def batch_of(state, count):
    return jax.tree.map(lambda x: jnp.repeat(x[None], count, axis=0), state)


@pytest.mark.parametrize("raw", [False, True])
def test_a_player_takes_one_position_as_well_as_a_batch(agent, raw):
    game, key = agent.game(4), jax.random.key(0)
    player = agent.player(game, simulations=2, raw=raw)
    one, many = player(key, game.init(4)), player(key, batch_of(game.init(4), 1))
    assert one.shape == ()
    assert many.shape == (1,)
    assert one == many[0]


@pytest.mark.parametrize("who", ["random", "greedy", "mcts"])
def test_the_reference_players_take_one_position_as_well_as_a_batch(who):
    game, key = saz_jax.make_game("gomoku", 4, k=3), jax.random.key(0)
    player = {
        "random": saz_jax.random_player,
        "greedy": lambda: saz_jax.greedy_player(game),
        "mcts": lambda: saz_jax.search.rollout_player(game, 2),
    }[who]()
    assert player(key, game.init(4)).shape == ()
    assert player(key, batch_of(game.init(4), 3)).shape == (3,)


def test_an_analyst_tells_value_visits_and_variation_of_one_position_and_of_a_batch(agent):
    game, key = agent.game(4), jax.random.key(0)
    ask = agent.analyst(game, simulations=8)
    one, many = ask(key, game.init(4)), ask(key, batch_of(game.init(4), 2))
    assert one.value.shape == ()
    assert int(one.visits.sum()) == 8
    assert one.principal_variation[0] >= 0
    assert many.visits.shape == (2, game.num_actions)
    assert game.init(4).legal[int(one.action)]


def test_a_match_takes_players_agents_and_names_alike(agent):
    game, key = agent.game(4), jax.random.key(0)
    player = agent.player(game, simulations=agent.search.simulations, sizes=(4,))
    given = [saz_jax.play_match(game, dark, "random", key, [4, 4]) for dark in (agent, player, "rows-run")]
    for outcomes in given:
        np.testing.assert_array_equal(outcomes, given[0])
    for dark in (agent, player, "rows-run"):
        config = MatchConfig("rows", dark, "random", sizes=(4,), games=2, runs=1, simulations=2)
        assert series.play(series.prepare(config))["sizes"]["4"]["wins"] >= 0
    with pytest.raises(ValueError, match="7 is no player"):
        saz_jax.play_match(game, 7, "random", key, [4])  # pyright: ignore[reportArgumentType]


def test_an_evaluation_needs_only_logits_and_a_value():
    said = saz_jax.Evaluation(logits=jnp.zeros((1, 10)), value=jnp.zeros(1))
    assert json.dumps(said._fields[:2]) == '["logits", "value"]'
