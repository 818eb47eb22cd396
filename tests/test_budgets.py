"""Budgets: what they train, what they play, and where they are the paper's."""

import dataclasses
from typing import get_args

import pytest

from saz_jax.config.registry import GAMES, MODELS
from saz_jax.games import make_game
from saz_jax.games.actions import PLACING
from saz_jax.models.registry import check_sizes, make_model
from saz_jax.studies.budgets import (
    BUDGETS,
    BudgetName,
    StudyBoards,
    synthetic_sizes,
    trained_as,
    training_config,
)
from saz_jax.training.iteration import check

STRONG = dataclasses.replace(BUDGETS["small"], preset="strong")


def test_there_is_a_budget_for_every_name():
    assert tuple(BUDGETS) == get_args(BudgetName)


@pytest.mark.parametrize("game", GAMES.names())
@pytest.mark.parametrize("budget", [*BUDGETS.values(), STRONG], ids=[*BUDGETS, "strong"])
def test_every_model_of_a_budget_can_be_trained_on_small_boards_and_on_the_tested_one(budget, game):
    """What a recipe says about each of its own boards does not hold for another one."""
    for model in MODELS.names():
        on_small = training_config(budget, game, model)
        on_tested = training_config(budget, game, model, budget.boards.large(game)[0])
        for config in (on_small, on_tested):
            check(config)
            rules = make_game(game, max(config.sizes))
            if model == "model5" and rules.moves != PLACING:
                with pytest.raises(ValueError, match="model5 cannot slide"):
                    make_model(config.model_config, rules)
                continue
            check_sizes(make_model(config.model_config, rules), config.sizes)
        assert on_tested.sizes == budget.boards.large(game)[:1]
        boards = {"sizes": on_small.sizes, "selfplay": on_small.selfplay}
        assert dataclasses.replace(on_tested, **boards) == on_small
        assert (on_tested.selfplay.size_weights, on_tested.selfplay.paddings) == ((), ())


def test_the_paper_budget_has_the_papers_settings():
    budget, day = BUDGETS["paper"], 24 * 60
    assert (budget.games, budget.runs, budget.simulations) == (100, 5, 100)
    assert (budget.minutes, budget.az_times * budget.minutes, budget.iterations) == (3 * day, 30 * day, None)
    assert not budget.share_weights
    assert budget.boards.large("othello") == (16, 20)
    assert budget.boards.large("gomoku") == (17, 19)
    assert budget.boards.large("go") == (9, 15)
    assert synthetic_sizes(budget.boards) == tuple(range(6, 351))
    assert training_config(budget, "othello", "saz").sizes == (5, 6, 7, 8)
    assert training_config(budget, "othello", "saz").network.hidden == 512


def test_shared_weights_are_trained_without_subgraphs_and_others_as_themselves():
    shared = dataclasses.replace(BUDGETS["paper"], share_weights=True)
    assert {trained_as(shared, model) for model in ("saz", "model3", "model4")} == {"model3"}
    for model in MODELS.names():
        assert trained_as(BUDGETS["paper"], model) == model
    for model in ("model1", "model2", "model5", "fcn"):
        assert trained_as(shared, model) == model


def test_a_training_run_keeps_stages_and_plays_no_matches_of_its_own():
    config = training_config(BUDGETS["small"], "gomoku", "model3")
    assert config.evaluation.every == BUDGETS["small"].stage_every
    assert config.evaluation.games == 0


def test_synthetic_sizes_begin_at_6_and_end_within_the_largest():
    assert synthetic_sizes(StudyBoards(synthetic_to=20, synthetic_step=5)) == (6, 11, 16)
