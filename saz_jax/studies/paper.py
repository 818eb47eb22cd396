"""What the paper reports, as data: the numbers that our tables stand beside; imports no jax."""

from typing import NamedTuple, TypeAlias


class Outcome(NamedTuple):
    """An average outcome: win 1, tie 0.5, loss 0."""

    mean: float
    error: float | None
    """Standard error over five runs; None where the paper gives none."""


Board: TypeAlias = tuple[str, int]
"""(game, side)"""
Outcomes: TypeAlias = dict[Board, dict[str, Outcome]]
"""By board and player."""

COMPLEXITY: dict[Board, tuple[int, int]] = {
    ("othello", 8): (262_144, 65),
    ("othello", 16): (16_777_216, 257),
    ("gomoku", 9): (531_441, 82),
    ("gomoku", 17): (24_137_569, 290),
}
"""Table 1: states (an upper bound) and actions; Go has the boards of Gomoku."""

ABLATION: Outcomes = {
    ("othello", 16): {
        "saz": Outcome(0.85, 0.02),
        "model1": Outcome(0.44, 0.02),
        "model2": Outcome(0.32, 0.03),
        "model3": Outcome(0.78, 0.02),
        "model4": Outcome(0.65, 0.01),
    },
    ("gomoku", 17): {
        "saz": Outcome(0.80, 0.03),
        "model1": Outcome(0.43, 0.04),
        "model2": Outcome(0.34, 0.04),
        "model3": Outcome(0.73, 0.02),
        "model4": Outcome(0.31, 0.05),
    },
}
"""Table 2: against greedy."""

AGAINST_AZ: Outcomes = {
    ("othello", 16): {
        "saz": Outcome(0.54, 0.02),
        "model3": Outcome(0.41, 0.01),
        "model4": Outcome(0.05, 0.03),
        "model5": Outcome(0.10, 0.03),
    },
    ("othello", 20): {
        "saz": Outcome(0.84, 0.01),
        "model3": Outcome(0.72, 0.01),
        "model4": Outcome(0.28, 0.04),
        "model5": Outcome(0.33, 0.03),
    },
    ("gomoku", 17): {
        "saz": Outcome(1.0, 0.0),
        "model3": Outcome(1.0, 0.0),
        "model4": Outcome(0.55, 0.4),
        "model5": Outcome(0.74, 0.05),
    },
    ("gomoku", 19): {
        "saz": Outcome(1.0, 0.0),
        "model3": Outcome(1.0, 0.0),
        "model4": Outcome(0.98, 0.01),
        "model5": Outcome(0.95, 0.02),
    },
}
"""Table 3: against AZ (model1 trained on the tested board, ten times as long)."""

GO: Outcomes = {
    ("go", 9): {"saz": Outcome(0.68, None)},
    ("go", 15): {"saz": Outcome(0.775, None)},
}
"""Sec. 4.2, "Go evaluation": against AZ trained for 20 and 10 days."""

MODEL_NAMES = {
    "saz": "SAZ [complete model]",
    "model1": "AZ trained on the tested board [model1]",
    "model2": "SAZ trained on the tested board [model2]",
    "model3": "only full graph [model3]",
    "model4": "only subgraphs [model4]",
    "model5": "small CNN [model5]",
    "fcn": "fully convolutional [ours]",
}
"""The rows of the paper's tables, and the rival that we add."""

STATEMENTS = {
    "complexity": "Its counts of states are (n²)³; with dark, light or nothing on each of n² points there "
    "are 3^(n²) boards.",
    "generalisation": "SAZ wins more than 75% against greedy on every board; models 4 and 5 are worst and "
    "fall most as boards grow; model3 is stable. It shows the curves as a figure only.",
    "embedding": "Good and bad actions separate easily up to 350x350, but for a few outliers. It gives no "
    "number.",
    "training_time": "model3 reaches parity with greedy in a few hours and about 0.8 after 3 days; model1, "
    "trained on the large board, needs 4 to 5 days for parity and 28 (Othello) or 23 (Gomoku) for 0.8.",
    "equal_compute": "It measures nothing of the kind: its ensemble always asks its network more often.",
    "fine_tuning": "It names this as future work.",
}
"""What the paper says in its text, by study."""
