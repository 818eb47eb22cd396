"""Ratings from results of pairs: the Bradley-Terry model, the only importer of choix (extra `ratings`)."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from saz_jax.arena.statistics import CONFIDENCE

ELO_PER_UNIT = 400 / math.log(10)
"""A difference of 400 points means that the stronger side scores ten times as much."""
HALF = 0.5
"""Jeffreys' prior: half a game for each of win, tie and loss of a pair that met."""
PRIOR = 0.01
"""choix's regularisation: keeps the rating of a player that won or lost all its games finite."""


class PairResult(NamedTuple):
    """The games between players number `first` and `second`, seen by the first."""

    first: int
    second: int
    wins: int
    ties: int
    losses: int


class Rating(NamedTuple):
    """Points on the Elo scale, 0 on the average of all players, with the ends of a bootstrap interval."""

    points: float
    low: float
    high: float


def rate(players: int, results: Sequence[PairResult], seed: int = 0, samples: int = 200) -> list[Rating]:
    """A rating for each player; intervals (95%) from `samples` draws of every pair's result."""
    counts = np.array([result[2:] for result in results], np.int64).reshape(-1, 3)
    if not counts.sum():
        raise ValueError("no games were played, so nobody can be rated; play at least one for each player")
    played = {number for result in results for number in result[:2]}
    if missing := set(range(players)) - played:
        raise ValueError(f"players {sorted(missing)} have no games; play each against at least one other")
    # The centre of what is resampled: without its half games, who won everything would lie at an end.
    points = _bradley_terry(players, results, _expected(counts))
    rng = np.random.default_rng(seed)
    again = [_bradley_terry(players, results, _resample(rng, counts)) for _ in range(samples)]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(again, [tail, 1 - tail], axis=0)
    low, high = np.minimum(low, points), np.maximum(high, points)
    return [Rating(*map(float, row)) for row in zip(points, low, high, strict=True)]


def expected_outcome(difference: float) -> float:
    """The average outcome that a rating difference in points predicts."""
    return 1 / (1 + 10 ** (-difference / 400))


def _resample(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """float64[pairs, 3]: results of as many games for each pair, resampled.

    A Bayesian bootstrap with Jeffreys' half a game for each result: drawing from the games that were
    played would be certain about a player that lost them all.
    """
    shares = np.array([rng.dirichlet(row + HALF) for row in counts])
    return counts.sum(axis=1, keepdims=True) * shares


def _expected(counts: np.ndarray) -> np.ndarray:
    """float64[pairs, 3]: the mean of what `_resample` draws."""
    shares = (counts + HALF) / (counts + HALF).sum(axis=1, keepdims=True)
    return counts.sum(axis=1, keepdims=True) * shares


def _bradley_terry(players: int, results: Sequence[PairResult], counts: np.ndarray) -> np.ndarray:
    """float64[players]: points; a tie counts as half a win for each side."""
    beaten = np.zeros((players, players))
    for result, (wins, ties, losses) in zip(results, counts, strict=True):
        beaten[result.first, result.second] += wins + 0.5 * ties
        beaten[result.second, result.first] += losses + 0.5 * ties
    strengths = load_choix().ilsr_pairwise_dense(beaten, alpha=PRIOR, max_iter=1000)
    return ELO_PER_UNIT * (strengths - strengths.mean())


def load_choix() -> Any:
    """The package choix; `ValueError` names the extra if it is missing."""
    try:
        import choix
    except ImportError as error:
        raise ValueError("ratings need choix; pip install 'saz_jax[ratings]'") from error
    return choix
