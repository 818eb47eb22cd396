"""How sure a result is: average outcomes, standard errors over runs, Wilson intervals over games."""

import math
from collections.abc import Sequence
from statistics import NormalDist, stdev

CONFIDENCE = 0.95
STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36}
"""97.5% quantile of Student's t for the mean of so many seeds."""


def average_outcome(wins: int, ties: int, losses: int) -> float:
    """A win counts 1, a tie 0.5, a loss 0 (Sec. 4.1)."""
    games = wins + ties + losses
    if games == 0:
        raise ValueError("no games were played, so there is no average outcome; play at least one")
    return (wins + 0.5 * ties) / games


def standard_error(outcomes: Sequence[float]) -> float | None:
    """Of the mean of independent runs' average outcomes, as in the paper; None for a single run."""
    if len(outcomes) < 2:
        return None
    return stdev(outcomes) / math.sqrt(len(outcomes))


def wilson_interval(outcome: float, games: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The Wilson score interval of an average outcome over all games.

    A tie counts as half a win, which is on the safe side: ties vary less than wins and losses do.
    """
    if games < 1:
        raise ValueError(f"an interval over {games} games does not exist; play at least one")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = z * math.sqrt(outcome * (1 - outcome) / games + (z / games) ** 2 / 4)
    low, high = ((outcome + z * z / (2 * games) + sign * spread) / (1 + z * z / games) for sign in (-1, 1))
    # Rounding may carry the ends past the average of an outcome of exactly 0 or 1.
    return min(max(low, 0.0), outcome), max(min(high, 1.0), outcome)


def seeds_interval(seeds: Sequence[float], outcome: float, games: int) -> tuple[float, float]:
    """The 95% interval of an outcome: over games (Wilson), or over seeds (Student) where that is wider.

    Seeds that happen to agree say nothing about the games, and many games nothing about other seeds.
    """
    low, high = wilson_interval(outcome, games)
    if (error := standard_error(seeds)) is None:
        return low, high
    spread = STUDENT[len(seeds)] * error
    return max(min(low, outcome - spread), 0.0), min(max(high, outcome + spread), 1.0)
