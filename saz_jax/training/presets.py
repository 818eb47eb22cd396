"""Named recipes for training: `preset("small", "gomoku", "saz")`; imports no jax."""

import dataclasses
from typing import Literal

from saz_jax.config import (
    CNNConfig,
    EvaluationConfig,
    FCNConfig,
    GameName,
    GINConfig,
    LearnerConfig,
    ModelName,
    SearchConfig,
    SelfPlayConfig,
    TrainConfig,
)

PresetName = Literal["small", "paper", "smoke"]
TRAINED_SIZES: dict[GameName, tuple[int, ...]] = {
    "othello": (5, 6, 7, 8),
    "gomoku": (5, 6, 7, 8, 9),
    "go": (5, 6, 7, 8, 9),
}
"""The paper's training sizes (Sec. 4.1); for Go it names the largest only."""
SMALL_SIZES: dict[GameName, tuple[int, ...]] = {"othello": (6, 7, 8), "gomoku": (8, 9), "go": (6, 7, 8)}
"""Those of the small recipe: little is decided on smaller boards, which padding makes as expensive."""


def preset(name: PresetName, game: GameName, model: ModelName) -> TrainConfig:
    """The settings of a named recipe for one game and model.

    paper: the paper's hyperparameters; small: what learns fastest per hour of a CPU or one GPU; smoke: the
    whole pipeline in a minute or two, too short to play well.  Models for one size train on the largest.
    """
    sizes = TRAINED_SIZES[game]
    # model1's CNN is the one network that the paper trained on all symmetries of its examples.
    learner = LearnerConfig(symmetries=model in ("model1", "model5"))
    search = SearchConfig()
    paper = TrainConfig(game=game, model=model, sizes=sizes, search=search, learner=learner)
    if model in ("model1", "model2", "model5"):
        paper = dataclasses.replace(paper, sizes=sizes[-1:])
    if name == "paper":
        return paper
    if name == "smoke":
        smoke = dataclasses.replace(
            paper,
            sizes=(6,) if len(paper.sizes) == 1 else (5, 6),
            gin=GINConfig(hidden=16, head=16, edges="compass8", dummy="mean", dropout=0.0),
            cnn=CNNConfig(channels=16, dense=(32, 32)),
            fcn=FCNConfig(blocks=2, channels=16),
            search=SearchConfig(kind="gumbel", simulations=8),
            selfplay=SelfPlayConfig(games=16, moves=16),
            learner=dataclasses.replace(learner, batch_size=32),
            evaluation=EvaluationConfig(every=0, games=4, simulations=4),
        )
        return _for_komi(smoke) if game == "go" else smoke
    small = dataclasses.replace(
        paper,
        sizes=paper.sizes if len(paper.sizes) == 1 else SMALL_SIZES[game],
        gin=GINConfig(
            layers=5,
            hidden=32,
            head=32,
            edges="compass8",
            dummy="mean",
            residual=True,
            norm="layer",
            dropout=0.0,
            features="stones_legal",
        ),
        cnn=CNNConfig(channels=32, dense=(128, 64), features="stones_legal"),
        fcn=FCNConfig(blocks=3, channels=32),
        # Stones and area say how far a player is from losing everything.
        search=SearchConfig(kind="gumbel", simulations=16, score=0.3),
        selfplay=SelfPlayConfig(games=128, moves=16, favour="none", subgraphs=False, slips=0.15),
        learner=LearnerConfig(
            passes=0.25,
            batch_size=256,
            piece=0 if model in ("model1", "model5") else 32,
            learning_rate=2e-3,
            warmup_steps=100,
            clip=1.0,
            policy_over="legal",
            symmetries=True,
            average=0.998,
        ),
        # The ensemble makes an evaluation on a large board expensive beside the training itself.
        evaluation=EvaluationConfig(every=25, games=16, simulations=16),
    )
    special = {"gomoku": _for_lines, "go": _for_komi}
    return special[game](small) if game in special else small


def _for_komi(recipe: TrainConfig) -> TrainConfig:
    """A recipe where the colours are not alike: every network is told whose turn it is."""
    networks = {"gin": recipe.gin, "cnn": recipe.cnn, "fcn": recipe.fcn}
    told = {name: dataclasses.replace(x, features="stones_legal_turn") for name, x in networks.items()}
    return dataclasses.replace(recipe, **told)


def _for_lines(small: TrainConfig) -> TrainConfig:
    """The small recipe where one line decides a game, anywhere on the board and in any direction."""
    return dataclasses.replace(
        small,
        # A mean over the board would dilute what one line says.
        gin=dataclasses.replace(small.gin, dummy="max", readout="dummy"),
        search=SearchConfig(kind="gumbel", simulations=24, noise_fraction=0.25, take_wins=True),
        # Self-play from an empty board settles for rows and never learns diagonals.
        selfplay=dataclasses.replace(small.selfplay, favour="large", openings=48, slips=0.05),
        learner=dataclasses.replace(
            small.learner, surprise=0.5, schedule="cosine", decay_steps=14_000, average=0.995
        ),
    )
