"""Settings survive JSON, and what does not fit is named."""

import dataclasses
import json
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from saz_jax.config import (
    CNNConfig,
    FCNConfig,
    GINConfig,
    LearnerConfig,
    SearchConfig,
    SubgraphConfig,
    TrainConfig,
    difference,
    from_json,
    to_json,
)
from saz_jax.training.presets import preset


def through_json(config: Any) -> Any:
    return json.loads(json.dumps(to_json(config)))


NETWORKS = st.one_of(*(st.from_type(kind) for kind in (GINConfig, CNNConfig, FCNConfig)))
SEARCHES = st.builds(SearchConfig, kind=st.sampled_from(["puct", "gumbel"]))
CONFIGS = st.builds(
    TrainConfig,
    game_options=st.dictionaries(st.text(), st.integers() | st.booleans() | st.none()),
    model=st.sampled_from(["saz", "model3", "fcn"]),
    network=NETWORKS,
    ensemble=st.from_type(SubgraphConfig),
    search=SEARCHES,
)


@hypothesis.given(CONFIGS)
def test_every_config_survives_json(config: TrainConfig):
    hypothesis.assume("nan" not in repr(config))
    hypothesis.assume("inf" not in repr(config))
    assert from_json(TrainConfig, through_json(config)) == config


def test_settings_that_are_missing_keep_their_defaults():
    wanted = TrainConfig(network=GINConfig(hidden=8))
    assert from_json(TrainConfig, {"network": {"kind": "gin", "hidden": 8}}) == wanted


def test_a_whole_number_is_a_float_too():
    rate = from_json(LearnerConfig, {"learning_rate": 1}).learning_rate
    assert rate == 1
    assert isinstance(rate, float)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "TrainConfig must be a group of settings, not 3"),
        ({"network": 3}, "network must be a group of settings, not 3"),
        ({"network": {"kind": "magic"}}, "unknown network 'magic'; choose one of cnn, fcn, gin"),
        ({"search": {"kind": "magic"}}, "unknown search 'magic'; choose one of gumbel, puct"),
        ({"depth": 1}, "TrainConfig has no setting 'depth'; it has game, game_options, model"),
        ({"network": {"depth": 1}}, "network has no setting 'depth'; it has layers, hidden"),
        ({"network": {"hidden": "8"}}, "network.hidden must be int, not '8'"),
        ({"network": {"hidden": 8.0}}, "network.hidden must be int, not 8.0"),
        ({"network": {"residual": 1}}, "network.residual must be bool, not 1"),
        ({"network": {"edges": "hex"}}, "network.edges must be one of grid4, grid8, compass8, not 'hex'"),
        ({"seed": True}, "seed must be int, not True"),
        ({"learner": {"l2": "7"}}, "learner.l2 must be float, not '7'"),
        ({"learner": {"l2": 10**400}}, "learner.l2 must be a finite number"),
        ({"learner": {"l2": float("nan")}}, "learner.l2 must be a finite number, not nan"),
        ({"seed": [10**5000]}, "seed must be int, not a value of list too long to print"),
        ({"sizes": 5}, r"sizes must be tuple\[int, ...\], not 5"),
        ({"sizes": [5, "6"]}, r"sizes\[1\] must be int, not '6'"),
        (
            {"network": {"kind": "cnn", "dense": [1]}},
            r"network.dense must be tuple\[int, int\], not \[1\]",
        ),
    ],
)
def test_what_does_not_fit_is_named(data: Any, message: str):
    with pytest.raises(ValueError, match=message):
        from_json(TrainConfig, data)


def test_equal_settings_do_not_differ():
    assert difference(through_json(TrainConfig()), to_json(TrainConfig())) == []


def test_each_difference_is_one_line():
    old = through_json(TrainConfig(learner=LearnerConfig(batch_size=256), sizes=(5, 6)))
    new = to_json(TrainConfig(learner=LearnerConfig(batch_size=512), sizes=(5, 7)))
    del old["seed"]
    assert difference(old, {**new, "colour": "red"}) == [
        "sizes: [5, 6] in the run, [5, 7] asked for",
        "learner.batch_size: 256 in the run, 512 asked for",
        "seed: absent in the run, 0 asked for",
        "colour: absent in the run, red asked for",
    ]


@pytest.mark.parametrize("model", ["model3", "model1", "fcn"])
@pytest.mark.parametrize(
    ("name", "told"),
    [("small", "stones_legal_turn"), ("strong", "stones_legal_margin"), ("smoke", "stones_legal_turn")],
)
@pytest.mark.parametrize("game", ["othello", "gomoku", "go"])
def test_our_recipes_tell_their_networks_whose_turn_it_is_where_komi_makes_a_difference(
    game, name, told, model
):
    assert (preset(name, game, model).network.features == told) == (game == "go")
    assert preset("paper", game, "model3").network.features == "stones"


def test_an_unknown_preset_is_refused():
    message = "preset='bogus' is unknown; choose one of smoke, small, strong, paper"
    with pytest.raises(ValueError, match=message):
        preset("bogus", "gomoku", "saz")


def test_a_recipe_keeps_what_its_game_does_not_change():
    gomoku, othello = (preset("small", game, "model3") for game in ("gomoku", "othello"))
    assert (gomoku.network.dummy, othello.network.dummy) == ("max", "mean")
    assert gomoku.network == dataclasses.replace(othello.network, dummy="max", readout="dummy")
