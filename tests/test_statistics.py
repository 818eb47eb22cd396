"""Averages and intervals against numbers worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saz_jax.arena.statistics import average_outcome, seeds_interval, standard_error, wilson_interval


@pytest.mark.parametrize(
    ("wins", "ties", "losses", "outcome"), [(3, 0, 1, 0.75), (0, 4, 0, 0.5), (1, 1, 2, 0.375), (0, 0, 7, 0.0)]
)
def test_a_win_counts_one_a_tie_a_half_and_a_loss_nothing(wins, ties, losses, outcome):
    assert average_outcome(wins, ties, losses) == outcome


def test_no_games_have_no_average():
    with pytest.raises(ValueError, match="no games were played"):
        average_outcome(0, 0, 0)
    with pytest.raises(ValueError, match="over 0 games"):
        wilson_interval(0.5, 0)


def test_the_standard_error_is_that_of_the_mean_of_the_runs():
    assert standard_error([0.4, 0.6]) == pytest.approx(0.1)
    assert standard_error([0.7, 0.8, 0.9]) == pytest.approx(0.1 / 3**0.5)
    assert standard_error([0.5] * 5) == 0.0


def test_one_run_has_no_standard_error():
    assert standard_error([0.7]) is None


@pytest.mark.parametrize(
    ("outcome", "games", "low", "high"),
    [
        (0.5, 100, 0.40383, 0.59617),
        (1.0, 10, 0.72247, 1.0),
        (0.0, 10, 0.0, 0.27753),
        (0.8, 50, 0.66963, 0.88756),
    ],
)
def test_wilson_intervals_are_those_of_the_textbook(outcome, games, low, high):
    assert wilson_interval(outcome, games) == pytest.approx((low, high), abs=1e-5)


@given(st.integers(1, 500), st.data())
def test_an_interval_holds_the_average_and_shrinks_with_more_games(games, data):
    outcome = data.draw(st.integers(0, 2 * games)) / (2 * games)
    low, high = wilson_interval(outcome, games)
    assert 0 <= low <= outcome <= high <= 1
    narrower = wilson_interval(outcome, 4 * games)
    assert narrower[1] - narrower[0] < high - low
    mirrored = wilson_interval(1 - outcome, games)
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_the_interval_over_seeds_is_the_wider_of_games_and_seeds():
    low, high = seeds_interval([1.0, 1.0, 1.0], 1.0, 60)
    assert (round(low, 2), high) == (0.94, 1.0)  # seeds that agree leave that over games
    low, high = seeds_interval([0.5, 0.6, 0.7], 0.6, 3000)
    assert (round(low, 3), round(high, 3)) == (0.352, 0.848)  # 4.30 times 0.1 / sqrt(3)
