"""Settings survive JSON, and what does not fit is named."""

import dataclasses
import json
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from saz_jax.config import GINConfig, LearnerConfig, TrainConfig, config_difference, config_from_dict
from saz_jax.training.presets import preset


def through_json(config: Any) -> dict[str, Any]:
    return json.loads(json.dumps(dataclasses.asdict(config)))


@hypothesis.given(st.from_type(TrainConfig))
def test_every_config_survives_json(config: TrainConfig):
    hypothesis.assume(repr(config).count("nan") == 0)
    assert config_from_dict(TrainConfig, through_json(config)) == config


def test_settings_that_are_missing_keep_their_defaults():
    assert config_from_dict(TrainConfig, {"gin": {"hidden": 8}}) == TrainConfig(gin=GINConfig(hidden=8))


def test_a_whole_number_is_a_float_too():
    komi = config_from_dict(TrainConfig, {"komi": 7}).komi
    assert komi == 7
    assert isinstance(komi, float)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "TrainConfig must be a group of settings, not 3"),
        ({"gin": 3}, "gin must be a group of settings, not 3"),
        ({"depth": 1}, "TrainConfig has no setting 'depth'; it has game, k, komi"),
        ({"gin": {"depth": 1}}, "gin has no setting 'depth'; it has layers, hidden"),
        ({"gin": {"hidden": "8"}}, "gin.hidden must be int, not '8'"),
        ({"gin": {"hidden": 8.0}}, "gin.hidden must be int, not 8.0"),
        ({"gin": {"residual": 1}}, "gin.residual must be bool, not 1"),
        ({"gin": {"edges": "hex"}}, "gin.edges must be one of grid4, grid8, compass8, not 'hex'"),
        ({"seed": True}, "seed must be int, not True"),
        ({"komi": "7"}, "komi must be float, not '7'"),
        ({"sizes": 5}, r"sizes must be tuple\[int, ...\], not 5"),
        ({"sizes": [5, "6"]}, r"sizes\[1\] must be int, not '6'"),
        ({"cnn": {"dense": [1]}}, r"cnn.dense must be tuple\[int, int\], not \[1\]"),
    ],
)
def test_what_does_not_fit_is_named(data: Any, message: str):
    with pytest.raises(ValueError, match=message):
        config_from_dict(TrainConfig, data)


def test_equal_settings_do_not_differ_whether_json_or_not():
    assert config_difference(through_json(TrainConfig()), dataclasses.asdict(TrainConfig())) == []


def test_each_difference_is_one_line():
    old = through_json(TrainConfig(learner=LearnerConfig(batch_size=256), sizes=(5, 6)))
    new = dataclasses.asdict(TrainConfig(learner=LearnerConfig(batch_size=512), sizes=(5, 7)))
    del old["komi"]
    assert config_difference(old, {**new, "colour": "red"}) == [
        "sizes: [5, 6] in the run, [5, 7] asked for",
        "learner.batch_size: 256 in the run, 512 asked for",
        "komi: absent in the run, None asked for",
        "colour: absent in the run, red asked for",
    ]


@pytest.mark.parametrize("name", ["small", "smoke"])
@pytest.mark.parametrize("game", ["othello", "gomoku", "go"])
def test_our_recipes_tell_their_networks_whose_turn_it_is_where_komi_makes_a_difference(game, name):
    config = preset(name, game, "model3")
    told = [x.features == "stones_legal_turn" for x in (config.gin, config.cnn, config.fcn)]
    assert told == [game == "go"] * 3
    assert preset("paper", game, "model3").gin.features == "stones"
