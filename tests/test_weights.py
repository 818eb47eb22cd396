"""The shipped players: they are what their pages say, and they win on boards that they never saw."""

import dataclasses
import re
import shlex
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from experiments import ship as ship_script
from experiments import strength as strength_script
from saz_jax.agents import shipping
from saz_jax.agents.agent import load_agent, shipped_agents
from saz_jax.agents.players import greedy_player
from saz_jax.arena import matches
from saz_jax.cli import agents as agents_command
from saz_jax.cli import train as train_script
from saz_jax.storage.results import read_json
from saz_jax.studies import cards, reports, strength
from saz_jax.training import stored_config

pytestmark = pytest.mark.usefixtures("optimised_programs")

ROOT = Path(__file__).parent.parent
WEIGHTS, RESULTS = ROOT / "weights", ROOT / "results"
LARGEST_TRAINED = {"othello": 8, "gomoku": 9, "go": 9}
names = pytest.mark.parametrize("name", sorted(shipped_agents()))


@names
def test_a_shipped_player_loads_and_was_trained_on_small_boards_only(name):
    agent = load_agent(name)
    assert max(agent.trained_sizes) <= LARGEST_TRAINED[agent.game_name]
    assert (WEIGHTS / name / "agent.npz").stat().st_size < 4_000_000
    assert agent.meta["command"].startswith("python experiments/train.py")
    assert {"seed", "seconds", "hardware", "versions"} <= set(agent.meta)


@names
def test_the_settings_of_a_shipped_player_load_and_are_those_it_was_trained_with(name):
    path, agent = WEIGHTS / name / "config.json", load_agent(name)
    config, written = stored_config(path), read_json(path)["config"]
    assert (config.game, config.sizes, config.seed) == (agent.game_name, agent.trained_sizes, written["seed"])
    assert config.model_config == agent.model
    assert config.search == agent.search
    assert config.learner.epochs == written["learner"].get("epochs", written["learner"].get("passes"))
    assert config.learner.learning_rate == written["learner"]["learning_rate"]


@names
def test_the_printed_command_trains_with_the_stored_settings(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    (printed,) = re.findall(f"^- `{name}`: `(.*)`$", (WEIGHTS / shipping.PAGE).read_text(), re.MULTILINE)
    python, script, *argv = shlex.split(printed)
    assert (python, script) == ("python", "experiments/train.py")
    arguments = train_script.parse(argv)
    assert arguments.settings == stored_config(WEIGHTS / name / "config.json")
    assert f"--minutes {arguments.minutes:g} " in load_agent(name).meta["command"]
    assert arguments.init_from is None


def test_the_command_of_a_run_names_a_game_of_ones_own_and_where_it_started(tmp_path):
    agent = dataclasses.replace(load_agent("othello"), meta={"iteration": 7})
    facts = {"origins": {"game": "mine:make"}, "command": "python train.py --init-from=othello --minutes 3"}
    assert shipping.command(tmp_path / "weights", "mine", agent, facts) == (
        "python experiments/train.py --config weights/mine/config.json --game mine:make "
        "--init-from othello --iterations 7 --workdir runs/mine"
    )


def test_checksums_and_page_are_those_of_the_files():
    assert (WEIGHTS / shipping.CHECKSUMS).read_text() == shipping.checksums(WEIGHTS)
    assert (WEIGHTS / shipping.PAGE).read_text() == shipping.page(WEIGHTS)


@names
def test_a_card_tells_what_the_files_say_and_where_the_player_is_weak(name):
    text = (WEIGHTS / name / cards.CARD).read_text()
    assert text == cards.card(WEIGHTS / name, RESULTS / "strength"), "run python experiments/ship.py"
    assert "Nobody has written any down" not in text, f"write weights/{name}/{cards.NOTES}"
    for word in ("positions of self-play", "`network.kind`", "## Known weaknesses", "won / tied / lost"):
        assert word in text


def test_a_player_that_began_with_trained_weights_tells_of_their_training(tmp_path):
    shutil.copytree(WEIGHTS / "othello", tmp_path / "tuned")
    agent, before = load_agent("othello"), {"positions": 1_000_000, "seconds": 3600.0, "cpu_seconds": 7200.0}
    dataclasses.replace(agent, meta={**agent.meta, "before": before}).export(tmp_path / "tuned" / "agent.npz")
    told = "| trained before, in other runs | 1,000,000 positions, 60 minutes |"
    assert told in cards.card(tmp_path / "tuned", RESULTS / "strength")
    assert "| 68 | 1,190,464 |" in shipping.page(tmp_path)
    assert told.split("|")[1] not in cards.card(WEIGHTS / "othello", RESULTS / "strength")


@names
def test_the_safetensors_of_a_shipped_player_are_its_weights(name):
    npz, tensors = load_agent(name), load_agent(WEIGHTS / name / shipping.TENSORS)
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), npz.variables, tensors.variables))
    assert npz.facts() == tensors.facts()


@names
def test_what_a_player_reached_in_training_is_known_without_its_log(name, tmp_path):
    shutil.copytree(WEIGHTS / name, tmp_path / name, ignore=shutil.ignore_patterns("metrics.*"))
    told = agents_command.facts(name, tmp_path / name / "agent.npz")["strength"]
    assert told == agents_command.facts(name, WEIGHTS / name / "agent.npz")["strength"]
    assert "greedy" in told


def test_the_table_of_results_is_the_one_that_the_files_make():
    page = (RESULTS / "README.md").read_text()
    assert page == strength.with_table(page, RESULTS / "strength")
    assert len(list((RESULTS / "strength").glob("*.json"))) > 0


def test_everyone_meets_greedy_and_random_and_the_default_player_its_rivals():
    names = set(strength.matches(games=2, runs=1, simulations=1))
    assert {"go-greedy.json", "go-random.json", "othello-fcn-random.json"} <= names
    assert {"othello-othello-fcn.json", "othello-othello-gin.json", "gomoku-gomoku-fcn.json"} <= names
    assert "othello-fcn-othello.json" not in names
    assert "othello-gomoku-fcn.json" not in names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "go-gredy"], "no match starts with go-gredy; there are go-greedy, go-random,"),
        (["--runs", "-1"], "runs=-1 is too few; use 0 (only the table) or more"),
    ],
)
def test_a_mistake_about_the_matches_is_named_and_nothing_is_written(tmp_path, capsys, arguments, message):
    page = tmp_path / "README.md"
    page.write_text(f"{strength.BEGIN}as it was\n{strength.END}")
    with pytest.raises(SystemExit):
        strength_script.main([*arguments, "--results", str(tmp_path)])
    assert message in capsys.readouterr().err
    assert "as it was" in page.read_text()


@pytest.mark.parametrize("folder", ["small", "equal_compute"])
def test_the_sections_of_the_studies_are_those_that_the_files_make(folder):
    found = [name for name in reports.REPORTS if (RESULTS / folder / f"{name}.json").exists()]
    assert found
    for name in found:
        text = reports.section(name, read_json(RESULTS / folder / f"{name}.json"))
        assert (RESULTS / folder / f"{name}.md").read_text() == text


def test_the_page_of_the_studies_is_the_one_that_the_files_make():
    assert (RESULTS / "small" / reports.PAGE).read_text() == reports.page(RESULTS / "small")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size", "wins"), [("othello", 16, 16), ("gomoku", 17, 16), ("go", 15, 16)])
def test_a_shipped_player_beats_greedy_on_a_board_it_never_saw(name, size, wins):
    """A player as strong as greedy wins 16 of 20 games with a probability of 0.6%."""
    agent = load_agent(name)
    game = agent.game(size)
    player = agent.player(game, simulations=16)
    result = matches.match(game, player, greedy_player(game), jax.random.key(0), size=size, games=20)
    assert result.wins >= wins


@pytest.mark.slow
@pytest.mark.parametrize("name", ["go", "go-fcn"])
def test_a_shipped_go_player_does_not_pass_while_the_board_is_empty(name):
    """A network that is not told whose turn it is thinks that a pass hands over the komi."""
    agent = load_agent(name)
    game = agent.game(9)
    states, _ = matches.random_openings(game, jax.random.key(0), jnp.full(32, 9), moves=2)
    actions = agent.player(game, simulations=32)(jax.random.key(0), states)
    assert not jnp.any(actions == game.num_actions - 1)


def test_shipping_copies_a_whole_run_and_refuses_a_part_of_one(tmp_path, capsys):
    name = sorted(shipped_agents())[0]
    run, weights = tmp_path / "run", tmp_path / "weights"
    shutil.copytree(WEIGHTS / name, run)
    ship_script.main(["--workdir", str(run), "--name", "again", "--weights", str(weights)])
    for file in shipping.FILES:
        assert (weights / "again" / file).read_bytes() == (run / file).read_bytes()
    assert "again/agent.npz" in (weights / shipping.CHECKSUMS).read_text()
    with pytest.raises(SystemExit):
        ship_script.main(["--workdir", str(run), "--name", "again", "--weights", str(weights)])
    assert "is there already" in capsys.readouterr().err
    (run / "curve.png").unlink()
    with pytest.raises(SystemExit):
        ship_script.main(["--workdir", str(run), "--name", "part", "--weights", str(weights)])
    assert "has no curve.png" in capsys.readouterr().err
    assert not (weights / "part").exists()
