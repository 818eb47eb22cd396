"""How much work a study may do, `BUDGETS["small"]` and others, and what it trains with it; imports no jax."""

import dataclasses
from typing import Literal

from saz_jax.config import EvaluationConfig, TrainConfig
from saz_jax.training.presets import PresetName, on_own_boards, preset

BudgetName = Literal["smoke", "small", "paper"]


@dataclasses.dataclass(frozen=True)
class StudyBoards:
    """Board sides that players are tested on."""

    othello: tuple[int, ...] = (16, 20)
    """The large boards of Table 3; Table 2 and all other studies take the first."""
    gomoku: tuple[int, ...] = (17, 19)
    """The large boards of Table 3; Table 2 and all other studies take the first."""
    go: tuple[int, ...] = (9, 15)
    """The boards of the Go evaluation."""
    curve: tuple[int, ...] = (6, 8, 10, 12, 14, 16, 18, 20, 24)
    """The generalisation figure."""
    compute: tuple[int, ...] = (6, 8, 10, 12, 14, 16, 18, 20, 24)
    """The comparison at equal compute."""
    synthetic_to: int = 350
    """The largest synthetic Othello board of the embedding figure; the smallest is 6x6."""
    synthetic_step: int = 1
    """The difference of neighbouring synthetic boards."""

    def large(self, game: str) -> tuple[int, ...]:
        """The tested boards of a game; games that the paper does not have are tested on those of Gomoku."""
        return {"othello": self.othello, "go": self.go}.get(game, self.gomoku)


@dataclasses.dataclass(frozen=True)
class Budget:
    """Training and games of all studies; the defaults are the paper's."""

    preset: PresetName = "paper"
    """Recipe of the players that are trained here."""
    minutes: float = 3 * 24 * 60.0
    """Training time of each player (3 days, Sec. 4.2); where a trained SAZ is given or shipped, all other
    players of its game get the time that it had."""
    az_times: float = 10.0
    """AZ on the tested board in Table 3, Go and the training-time figure trains so many times longer
    (30 days)."""
    tuning_share: float = 1 / 3
    """Share of that time for the fine-tuning."""
    iterations: int | None = None
    """Every training run ends after so many iterations, if its time is not over before."""
    share_weights: bool = False
    """Train one network, as model3, and play it as saz, model3 and model4: they then differ at play time
    only. The paper leaves components out of the training as well."""
    retrain: bool = True
    """Train scalable players even where weights are shipped."""
    stage_every: int = 50
    """Iterations between the stages that a training run keeps."""
    stages: int = 20
    """Stages of the training-time figure."""
    games: int = 100
    """Games per run, half with each colour (Sec. 4.1)."""
    runs: int = 5
    """Independent runs of every match, for the standard error."""
    simulations: int = 100
    """Simulations per move."""
    opening_moves: int = 2
    """Random plies before the players take over: two deterministic players repeat the same game."""
    seed: int = 0
    """Of the matches and of the training."""
    boards: StudyBoards = StudyBoards()


BUDGETS: dict[str, Budget] = {
    "smoke": Budget(
        preset="smoke",
        minutes=60.0,
        iterations=2,
        share_weights=True,
        stage_every=1,
        stages=2,
        games=2,
        runs=2,
        simulations=2,
        boards=StudyBoards((6,), (6,), (5,), curve=(6,), compute=(6,), synthetic_to=12, synthetic_step=2),
    ),
    "small": Budget(
        preset="small",
        minutes=8.0,
        az_times=3.0,
        share_weights=True,
        stage_every=5,
        stages=8,
        games=10,
        simulations=16,
        boards=StudyBoards((16,), (17,), (9,), curve=(6, 8, 12, 16), compute=(8, 12, 16), synthetic_step=8),
    ),
    "paper": Budget(),
}
"""smoke: seconds a study, to test the pipeline; small: hours on two cores; paper: the paper's settings."""


def trained_as(budget: Budget, model: str) -> str:
    """The model whose training makes the weights of `model`; model3's is cheapest, having no subgraphs."""
    return "model3" if budget.share_weights and model in ("saz", "model4") else model


def training_config(budget: Budget, game: str, model: str, size: int | None = None) -> TrainConfig:
    """The settings of a training run; `size`: the only board side, by default those of the preset."""
    config = preset(budget.preset, game, model)
    sizes = config.sizes if size is None else (size,)
    evaluation = EvaluationConfig(every=budget.stage_every, games=0)  # the studies play the stages themselves
    on_sizes = dataclasses.replace(config, sizes=sizes, seed=budget.seed, evaluation=evaluation)
    return on_own_boards(on_sizes, config)


def synthetic_sizes(boards: StudyBoards) -> tuple[int, ...]:
    """The sides of the synthetic boards."""
    return tuple(range(6, boards.synthetic_to + 1, boards.synthetic_step))
