"""Agents come back from files as they were, and play boards of any size."""

import dataclasses
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.agents import agent as agent_module
from saz_jax.agents.agent import CHECKPOINTS, EXPORT, Agent, load_agent
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.config import CNNConfig, FCNConfig, GINConfig, ModelConfig, SearchConfig
from saz_jax.config.registry import MODELS
from saz_jax.games import make_game
from saz_jax.models import registry as models
from saz_jax.storage.checkpoint import Checkpoints, Snapshot
from saz_jax.storage.export import export, read_export
from saz_jax.storage.named_arrays import flatten
from saz_jax.types import GameState

GIN = GINConfig(layers=2, hidden=8, head=8)
CNN = CNNConfig(side=5, channels=4, dense=(8, 8))
SEARCH = SearchConfig(simulations=3, dirichlet_fraction=0.25)


def make_agent(name: str = "model3", seed: int = 0, **gin: Any) -> Agent:
    networks = {"gin": dataclasses.replace(GIN, **gin), "cnn": CNN, "fcn": FCNConfig(blocks=1, channels=4)}
    config = ModelConfig(name, networks[MODELS.find(name).network])
    network = models.make_model(config, make_game("gomoku", 6, k=4)).network
    variables = jax.jit(network.init)(jax.random.key(seed))
    return Agent(variables, "gomoku", {"k": 4}, config, SEARCH, (5,), {"seed": seed})


def openings(max_size: int, *sizes: int) -> GameState:
    return jax.vmap(make_game("gomoku", max_size, k=4).init)(jnp.array(sizes))


def assert_same(got: Agent, want: Agent) -> None:
    assert (got.game_name, got.game_options, got.meta) == (want.game_name, want.game_options, want.meta)
    assert (got.model, got.search, got.trained_sizes) == (want.model, want.search, want.trained_sizes)
    ours, theirs = flatten(got.variables), flatten(want.variables)
    assert ours.keys() == theirs.keys()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)


@pytest.mark.parametrize("name", ["saz", "model1", "model2", "model3", "model4", "model5", "fcn"])
def test_every_model_comes_back_from_its_export(name: str, tmp_path: Path):
    agent = make_agent(name)
    agent.export(tmp_path / "x.npz")
    assert_same(load_agent(tmp_path / "x.npz"), agent)
    assert_same(load_agent(str(tmp_path / "x.npz")), agent)


def test_a_folder_with_an_export_is_an_agent(tmp_path: Path):
    make_agent(seed=3).export(tmp_path / EXPORT)
    assert_same(load_agent(tmp_path), make_agent(seed=3))


def test_a_workdir_without_an_export_gives_the_newest_whole_checkpoint(tmp_path: Path):
    with Checkpoints(tmp_path / CHECKPOINTS) as checkpoints:
        for seed in range(2):
            agent = make_agent(seed=seed)
            state = {"learner": {"variables": {}, "average": agent.variables}, "games": np.zeros(3)}
            checkpoints.save(seed, Snapshot(state, [], agent.facts()))
    assert_same(load_agent(tmp_path), make_agent(seed=1))
    (tmp_path / CHECKPOINTS / "1" / "facts" / "metadata").write_text("")
    assert_same(load_agent(tmp_path), make_agent(seed=0))


def test_a_workdir_whose_first_checkpoint_is_not_whole_yet_says_so(tmp_path: Path):
    (tmp_path / CHECKPOINTS).mkdir()
    with pytest.raises(ValueError, match=f"{tmp_path}/{CHECKPOINTS} holds no whole checkpoint yet; wait"):
        load_agent(tmp_path)


def test_shipped_weights_load_by_name_from_a_clone_and_from_a_package(tmp_path: Path, monkeypatch):
    clone, package = tmp_path / "clone", tmp_path / "package"
    monkeypatch.setattr(agent_module, "SHIPPED", (clone, package))
    make_agent(seed=1).export(clone / "go" / EXPORT)
    make_agent(seed=2).export(package / "othello" / EXPORT)
    assert_same(load_agent("go"), make_agent(seed=1))
    assert_same(load_agent("othello"), make_agent(seed=2))
    with pytest.raises(
        ValueError, match=r"no agent at chess; give .* shipped weights \(there are: go, othello\)"
    ):
        load_agent("chess")


def test_a_path_is_never_taken_for_a_shipped_name(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(agent_module, "SHIPPED", (tmp_path / "shipped",))
    make_agent(seed=1).export(tmp_path / "shipped" / "go" / EXPORT)
    make_agent(seed=2).export(tmp_path / "go" / EXPORT)
    monkeypatch.chdir(tmp_path)
    assert_same(load_agent("go"), make_agent(seed=1))
    assert_same(load_agent("./go"), make_agent(seed=2))
    assert_same(load_agent(Path("go")), make_agent(seed=2))


def test_where_nothing_is_shipped_the_error_says_so(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(agent_module, "SHIPPED", (tmp_path,))
    with pytest.raises(ValueError, match=r"no agent at gomoku; .* \(there are: none\)"):
        load_agent("gomoku")


def change_facts(path: Path, **changes: Any) -> None:
    variables, facts = read_export(path)
    export(path, variables, {**facts, "agent": {**facts["agent"], **changes}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model": {"name": "model3", "network": {"hidden": 9}}},
            r"do not fit the network of model3: .*8\] there and",
        ),
        ({"model": {"name": "model3"}}, "do not fit the network of model3"),
        ({"model": {"name": "model9"}}, "its model 'model9' is not registered here"),
        ({"model": {"depth": 3}}, "agent.model has no setting 'depth'"),
        ({"search": {"simulations": "many"}}, "agent.search.simulations must be int, not 'many'"),
        ({"trained_sizes": [5.5]}, r"agent.trained_sizes\[0\] must be int, not 5.5"),
        ({"colour": "red"}, "agent has no setting 'colour'; it has game, options"),
    ],
)
def test_facts_that_do_not_fit_the_weights_or_this_version_are_named(changes, message: str, tmp_path: Path):
    make_agent().export(tmp_path / "x.npz")
    change_facts(tmp_path / "x.npz", **changes)
    with pytest.raises(ValueError, match=f"x.npz holds no agent that this version can play: .*{message}"):
        load_agent(tmp_path / "x.npz")


def test_weights_without_facts_are_no_agent(tmp_path: Path):
    export(tmp_path / "x.npz", make_agent().variables, {})
    with pytest.raises(
        ValueError, match=r"x.npz holds no agent .*: the facts about the agent are incomplete"
    ):
        load_agent(tmp_path / "x.npz")


def test_other_features_than_the_weights_have_seen_are_refused_before_tracing():
    agent = make_agent()
    richer = dataclasses.replace(agent.model, network=dataclasses.replace(GIN, features="stones_legal"))
    with pytest.raises(ValueError, match="these weights do not fit the network of model3: params/"):
        dataclasses.replace(agent, model=richer)


def test_an_agent_plays_legal_moves_on_boards_larger_than_it_was_trained_on():
    agent, game = make_agent("saz"), make_game("gomoku", 9, k=4)
    states = openings(9, 5, 7, 9)
    action = agent.player(game)(jax.random.key(0), states)
    assert action.dtype == jnp.int32
    assert np.take_along_axis(np.asarray(states.legal), np.asarray(action)[:, None], 1).all()


def test_its_game_has_the_options_it_was_trained_with():
    game = make_agent().game(9)
    assert (game.name, game.max_size, dict(game.options)["k"]) == ("gomoku", 9, 4)


@pytest.mark.parametrize("kind", ["puct", "gumbel"])
def test_at_temperature_zero_the_key_does_not_matter(kind: str):
    agent, states = make_agent(), openings(6, 5, 6)
    player = agent.player(agent.game(6), search=kind)
    moves = [player(jax.random.key(seed), states).tolist() for seed in range(3)]
    assert moves[0] == moves[1] == moves[2]


def test_at_temperature_one_moves_vary_with_and_without_search():
    agent, states = make_agent(), openings(6, *[6] * 8)
    for raw in (False, True):
        player = agent.player(agent.game(6), temperature=1.0, raw=raw, simulations=16)
        assert len(set(player(jax.random.key(0), states).tolist())) > 1


def test_raw_plays_the_move_of_highest_prior():
    agent, states = make_agent(), openings(6, 5, 6)
    game = agent.game(6)
    logits = models.make_model(agent.model, game).evaluate(agent.variables, jax.random.key(0), states).logits
    action = agent.player(game, raw=True)(jax.random.key(1), states)
    assert action.tolist() == logits.argmax(-1).tolist()


def test_agents_of_the_same_kind_share_one_program():
    one, two = make_agent(seed=1), make_agent(seed=2)
    game = one.game(6)
    assert one.player(game).func is two.player(game).func  # type: ignore[attr-defined]
    assert one.player(game).func is not one.player(game, simulations=4).func  # type: ignore[attr-defined]


def test_weights_of_one_network_play_as_its_other_models():
    agent, states = make_agent("saz"), openings(6, 5, 6)
    for name in ("model2", "model3", "model4"):
        assert agent.player(agent.game(6), model=name, raw=True)(jax.random.key(0), states).shape == (2,)
    with pytest.raises(ValueError, match="model5 slides a network for one board side"):
        agent.player(agent.game(6), model="model5")
    with pytest.raises(ValueError, match="unknown model 'model9'; choose one of fcn"):
        agent.player(agent.game(6), model="model9")


def test_a_player_takes_one_position_as_well_as_a_batch():
    agent, states = make_agent(), openings(6, 5, 6)
    game, key = agent.game(6), jax.random.key(0)
    one = jax.tree.map(lambda x: x[0], states)
    for player in (agent.player(game), random_player(), greedy_player(game)):
        assert player(key, one).shape == ()
        assert player(key, states).shape == (2,)


def test_an_analyst_tells_what_the_search_found():
    agent, states = make_agent(), openings(6, 5, 6)
    game = agent.game(6)
    found = agent.analyst(game, simulations=4)(jax.random.key(0), jax.tree.map(lambda x: x[0], states))
    assert found.visits.shape == (37,)
    assert int(found.visits.sum()) == 4
    assert found.value.shape == ()


@pytest.mark.parametrize("temperature", [float("inf"), float("nan"), -1.0, "hot"])
def test_a_temperature_that_is_no_finite_number_is_refused(temperature):
    agent = make_agent()
    with pytest.raises(ValueError, match="temperature="):
        agent.player(agent.game(6), raw=True, temperature=temperature)


def test_a_raw_player_stays_legal_however_hot():
    agent, states = make_agent(), openings(6, *[5] * 64)
    actions = agent.player(agent.game(6), raw=True, temperature=1e30)(jax.random.key(0), states)
    assert np.take_along_axis(np.asarray(states.legal), np.asarray(actions)[:, None], 1).all()


@pytest.mark.parametrize("name", [None, 3, "x" * 5000])
def test_what_can_name_no_agent_is_refused(name):
    with pytest.raises(ValueError, match=r"names no agent|is no path"):
        load_agent(name)


def test_a_crafted_file_of_a_billion_layers_is_refused_at_once(tmp_path):
    make_agent().export(tmp_path / "x.npz")
    change_facts(tmp_path / "x.npz", model={"name": "model3", "network": {"kind": "gin", "layers": 10**9}})
    with pytest.raises(ValueError, match="layers=1000000000"):
        load_agent(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"game": "antigravity:make"}, "its game 'antigravity:make' is not registered here"),
        ({"game": "x" * 5000}, "its game 'xxx.* is not registered here"),
        ({"search": {"kind": "antigravity:x"}}, "its search 'antigravity:x' is not registered here"),
        ({"model": {"name": "antigravity:x"}}, "its model 'antigravity:x' is not registered here"),
        (
            {"model": {"ensemble": {"combine": "antigravity:x"}}},
            "its prior 'antigravity:x' is not registered",
        ),
        ({"model": {"network": {"kind": "gin", "layers": 1000}}}, "layers=1000"),
        ({"options": {"k": "five"}}, "option k of gomoku must be int, not 'five'"),
        ({"options": {"komi": 5}}, "gomoku has no option 'komi'"),
        ({"search": {"simulations": -1}}, "simulations=-1"),
        ({"search": 3, "origins": 3}, "search must be a group of settings, not 3"),
    ],
)
def test_crafted_facts_are_refused_in_a_sentence_and_import_nothing(facts, message, tmp_path):
    make_agent().export(tmp_path / "x.npz")
    change_facts(tmp_path / "x.npz", **facts)
    began = time.monotonic()
    with pytest.raises(ValueError, match=message) as refused:
        load_agent(tmp_path / "x.npz")
    assert time.monotonic() - began < 2
    assert len(str(refused.value)) < 1000
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("agent", [None, 5, "x", [], [[]]])
def test_facts_of_another_shape_are_refused(agent, tmp_path):
    made = make_agent()
    export(tmp_path / "x.npz", made.variables, {**made.facts(), "agent": agent})
    with pytest.raises(ValueError, match="holds no agent that this version can play: agent must be a group"):
        load_agent(tmp_path / "x.npz")


def test_a_small_cnn_slides_over_a_larger_board_but_does_not_read_it():
    agent, states = make_agent("model1"), openings(6, 6)
    game = agent.game(6)
    assert agent.player(game, model="model5", raw=True)(jax.random.key(0), states).shape == (1,)
    with pytest.raises(ValueError, match="model1 cannot play on board side 6; it plays sides 5 to 5"):
        agent.player(game, sizes=[5, 6])
    with pytest.raises(ValueError, match="model1 cannot play on board side 6; it plays sides 5 to 5"):
        agent.player(game)(jax.random.key(0), states)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations=0; a search needs a whole number of at least 1"),
        ({"search": "minimax"}, "unknown search.* 'minimax'; choose one of gumbel, puct"),
        ({"temperature": -1.0}, "temperature=-1.0; use 0 for the best move"),
    ],
)
def test_settings_that_no_player_can_have_are_refused_at_once(options: dict[str, Any], message: str):
    agent = make_agent()
    with pytest.raises(ValueError, match=message):
        agent.player(agent.game(6), **options)


def test_another_game_is_refused():
    with pytest.raises(ValueError, match="this agent was trained on gomoku; it cannot play othello"):
        make_agent().player(make_game("othello", 6))


def test_other_options_than_the_trained_ones_are_played_with_a_warning():
    with pytest.warns(UserWarning, match="was trained with k=4, not k=5; it may play poorly"):
        make_agent().player(make_game("gomoku", 6, k=5))
