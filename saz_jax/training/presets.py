"""Named recipes for training: `preset("small", "gomoku", "saz")`."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, get_args

from saz_jax.config import (
    CNNConfig,
    EvaluationConfig,
    FCNConfig,
    GINConfig,
    LearnerConfig,
    SearchConfig,
    SelfPlayConfig,
    TrainConfig,
)
from saz_jax.config.choices import check_choice
from saz_jax.config.registry import MODELS, NETWORKS
from saz_jax.games.registry import find_game, look_at
from saz_jax.models.registry import default_config

PresetName = Literal["smoke", "small", "strong", "paper"]
ONE_SIZE = ("model1", "model2", "model5")
"""Models that are trained on the largest side alone."""
ABOUT_BOARDS = ("size_weights", "paddings")
"""Settings of self-play that are about each of the boards."""
SMALL_NETWORKS = {
    "gin": GINConfig(
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
    "cnn": CNNConfig(channels=32, dense=(128, 64), features="stones_legal"),
    "fcn": FCNConfig(blocks=3, channels=32),
}
STRONG_NETWORKS = {
    "gin": dataclasses.replace(SMALL_NETWORKS["gin"], layers=6, hidden=48, head=48, reply=True, soft=True),
    "cnn": SMALL_NETWORKS["cnn"],
    "fcn": dataclasses.replace(SMALL_NETWORKS["fcn"], channels=48, reply=True, soft=True),
}
SMOKE_NETWORKS = {
    "gin": GINConfig(hidden=16, head=16, edges="compass8", dummy="mean", dropout=0.0),
    "cnn": CNNConfig(channels=16, dense=(32, 32)),
    "fcn": FCNConfig(blocks=2, channels=16),
}


def preset(name: str, game: str, model: str, network: str | None = None) -> TrainConfig:
    """The settings of a named recipe for one game and model.

    paper: the paper's hyperparameters; small: what learns fastest per hour of a CPU or one GPU; strong: for
    hours, with learned values alone, further heads and proofs in the tree; smoke: the whole pipeline in a
    minute or two, too short to play well.  Models for one size train on the largest.
    `network` replaces the model's own.  What a game needs otherwise stands in its `recipes`.
    """
    check_choice("preset", name, get_args(PresetName))
    game, about = find_game(game), look_at(game)
    config = default_config(model)
    network = NETWORKS.find(network or MODELS.find(model).network).name
    convolutional = network == "cnn"
    paper = TrainConfig(
        game=game,
        game_options=dict(about.options),
        model=config.name,
        sizes=_sides(about, "paper", (0, 1, 2, 3, 4)),
        network=_network(network, {}),
        ensemble=config.ensemble,
        # model1's CNN is the one network that the paper trained on all symmetries of its examples.
        learner=LearnerConfig(symmetries=convolutional),
    )
    if model in ONE_SIZE:
        paper = dataclasses.replace(paper, sizes=paper.sizes[-1:])
    recipes = {"paper": lambda *_: paper, "small": _small, "strong": _strong, "smoke": _smoke}
    made = recipes[name](paper, about, network)
    left_out = {"sizes"}
    if model in ONE_SIZE:
        left_out |= {f"selfplay.{setting}" for setting in ABOUT_BOARDS}
    changes = {path: x for path, x in about.recipes.get(name, {}).items() if path not in left_out}
    return with_changes(made, changes)


def on_own_boards(config: TrainConfig, before: TrainConfig) -> TrainConfig:
    """`config`, which was `before` with other boards, without what `before` says about each of its own."""
    if config.boards == before.boards:
        return config
    selfplay, taken_over = config.selfplay, before.selfplay
    old = [name for name in ABOUT_BOARDS if getattr(selfplay, name) == getattr(taken_over, name)]
    return dataclasses.replace(config, selfplay=dataclasses.replace(selfplay, **dict.fromkeys(old, ())))


def _small(paper: TrainConfig, about: Any, network: str) -> TrainConfig:
    return dataclasses.replace(
        paper,
        sizes=paper.sizes if len(paper.sizes) == 1 else _sides(about, "small", (1, 2, 3)),
        network=_network(network, SMALL_NETWORKS),
        # Stones and area say how far a player is from losing everything.
        search=SearchConfig(kind="gumbel", simulations=16, heuristic_weight=0.3),
        selfplay=SelfPlayConfig(games=128, moves=16, favour="none", subgraphs=False, random_move_share=0.15),
        learner=LearnerConfig(
            epochs=0.25,
            batch_size=256,
            microbatch=0 if network == "cnn" else 32,
            learning_rate=2e-3,
            warmup_steps=100,
            max_grad_norm=1.0,
            policy_over="legal",
            symmetries=True,
            ema_decay=0.998,
        ),
        # The ensemble makes an evaluation on a large board expensive beside the training itself.
        evaluation=EvaluationConfig(every=25, games=16, simulations=16),
    )


def _strong(paper: TrainConfig, about: Any, network: str) -> TrainConfig:
    small = _small(paper, about, network)
    made = _network(network, STRONG_NETWORKS)
    if about.ownership is not None and hasattr(made, "ownership"):
        made = dataclasses.replace(made, ownership=True)
    return dataclasses.replace(
        small,
        sizes=paper.sizes if len(paper.sizes) == 1 else _sides(about, "strong", (1, 2, 3)),
        network=made,
        search=SearchConfig(kind="gumbel", simulations=16, max_considered_actions=8, solve=True),
        # Random openings show what self-play avoids; few random moves later keep the outcomes telling.
        selfplay=dataclasses.replace(small.selfplay, max_opening_moves=16, random_move_share=0.03),
        learner=dataclasses.replace(small.learner, epochs=0.15),
        evaluation=EvaluationConfig(every=100, games=16, simulations=16),
    )


def _smoke(paper: TrainConfig, about: Any, network: str) -> TrainConfig:
    smallest = max(5, about.min_size)
    return dataclasses.replace(
        paper,
        sizes=(smallest + 1,) if len(paper.sizes) == 1 else (smallest, smallest + 1),
        network=_network(network, SMOKE_NETWORKS),
        search=SearchConfig(kind="gumbel", simulations=8),
        selfplay=SelfPlayConfig(games=16, moves=16),
        learner=dataclasses.replace(paper.learner, batch_size=32),
        evaluation=EvaluationConfig(every=0, games=4, simulations=4),
    )


def _sides(about: Any, preset: str, above: tuple[int, ...]) -> tuple[int, ...]:
    """The game's own training sides, or some a little above its smallest."""
    return about.recipes.get(preset, {}).get("sizes") or tuple(max(5, about.min_size) + x for x in above)


def _network(name: str, recipes: Mapping[str, Any]) -> Any:
    """A recipe's settings for a network, or the network's defaults."""
    settings = NETWORKS.find(name).settings
    assert settings is not None
    return recipes.get(name) or settings()


def with_changes(config: TrainConfig, changes: Mapping[str, Any]) -> TrainConfig:
    """`config` with settings given by dotted path; those of a network it does not have are left out."""
    own = NETWORKS.name_of(config.network)
    for path, value in changes.items():
        group, _, name = path.partition(".")
        if not name:
            config = dataclasses.replace(config, **{group: value})
            continue
        if group in NETWORKS.names():
            if group != own:
                continue
            group = "network"
        changed = dataclasses.replace(getattr(config, group), **{name: value})
        config = dataclasses.replace(config, **{group: changed})
    return config
