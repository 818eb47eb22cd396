"""Whether a setting pays: the same training with it and without it, for the same time, and then matches.

A variant changes some settings of a recipe.  It meets the recipe as it is, trained from the same seed, and
players without weights, which both of them meet.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from saz_jax.arena.statistics import STUDENT, average_outcome, seeds_interval
from saz_jax.config import EvaluationConfig, TrainConfig, from_json, to_json
from saz_jax.games.registry import find_game, make_game
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile
from saz_jax.studies import laboratory
from saz_jax.studies.laboratory import Lab, budget_of
from saz_jax.studies.lineup import labelled
from saz_jax.training.iteration import make_program
from saz_jax.training.presets import PresetName, on_own_boards, preset

BASE = "base"
"""The recipe as it is."""


@dataclasses.dataclass(frozen=True)
class VariantsConfig:
    """What is trained, and how the players meet."""

    variants: tuple[str, ...] = (
        "selfplay.fork_share=0.1",
        "selfplay.earlier_share=0.2",
        "selfplay.max_opening_moves=0",
        "network.readout=mean",
        "network.outcomes=true",
        "network.reply=false",
        "network.soft=false",
        "search.solve=false",
    )
    """Settings that differ from the recipe, by dotted path; several of one variant are joined by commas:
    network.reply=false,network.soft=false."""
    opponents: tuple[str, ...] = ("greedy",)
    """Players without weights that all others meet."""
    game: str = "othello"
    """The game."""
    preset: PresetName = "strong"
    """The recipe."""
    model: str = "model3"
    """The model."""
    minutes: float = 20.0
    """Processor minutes of each training, all cores added up."""
    seeds: int = 1
    """Trainings of each variant."""
    sizes: tuple[int, ...] = (8, 16)
    """Board sides of the games."""
    games: int = 40
    """Games for each pair, board, seed and run, half with each colour; an even number."""
    runs: int = 1
    """Independent runs of the games."""
    simulations: int = 100
    """Simulations per move."""
    opening_moves: int = 4
    """Random plies before the players take over."""
    seed: int = 0
    """Of the games."""


def training(config: VariantsConfig, variant: str, seed: int) -> TrainConfig:
    """The settings of one training, never evaluated on the way."""
    recipe = preset(config.preset, config.game, config.model)
    recipe = dataclasses.replace(recipe, seed=seed, evaluation=EvaluationConfig(every=0, games=0))
    return recipe if variant == BASE else changed(recipe, variant)


def changed(config: TrainConfig, variant: str) -> TrainConfig:
    """`config` with the changes of a variant."""
    data = to_json(config)
    for change in re.split(r",(?=[\w.]+=)", variant):
        path, equals, text = change.partition("=")
        *groups, name = path.split(".")
        inside = data
        for group in groups:
            inside = inside.get(group) if isinstance(inside, dict) else None
        if not equals or not isinstance(inside, dict) or name not in inside:
            raise ValueError(f"{change} changes no setting; write for example selfplay.fork_share=0.1")
        try:
            inside[name] = json.loads(text)
        except ValueError:  # a word
            inside[name] = text
    return on_own_boards(from_json(TrainConfig, data), config)


def check(config: VariantsConfig) -> None:
    """Raise `ValueError` for whatever would go wrong after hours of training."""
    if not config.variants or len(set(config.variants)) < len(config.variants):
        raise ValueError("name one or more different variants")
    if config.seeds not in (1, *STUDENT):
        raise ValueError(f"seeds={config.seeds}; use 1 to {max(STUDENT)}")
    budget_of(config)
    if not config.sizes:
        raise ValueError("there are no games to play; name one or more --sizes")
    game = find_game(config.game)
    for size in config.sizes:
        make_game(game, size).init(size)
    for opponent in config.opponents:
        if labelled(opponent, opponent).game is not None:
            raise ValueError(f"the opponent {opponent} has weights; name one without, such as greedy")
    for variant in (BASE, *config.variants):
        make_program(training(config, variant, 0))


def open_results(config: VariantsConfig, folder: Path) -> ResultsFile:
    """The file of results in `folder`, begun or continued: with further variants, opponents and so on."""
    check(config)
    extends = ("variants", "opponents", "sizes", "runs", "seeds")
    return laboratory.open_results(folder / "variants.json", dataclasses.asdict(config), extends)


def run(
    config: VariantsConfig,
    folder: Path,
    say: Callable[[str], None] = lambda line: None,
    progress: Callable[[str, float, float], None] = lambda phase, done, total: None,
) -> dict[str, Any]:
    """Trains and plays what is missing; returns the data of the file of results."""
    file = open_results(config, folder)
    lab = Lab("variants", budget_of(config), folder, say=say, progress=progress)
    opponents = [labelled(_label(text), text) for text in config.opponents]
    for seed in range(config.seeds):
        base = None
        for variant in (BASE, *config.variants):
            label = f"{_label(variant)}-seed{seed}"
            settings = training(config, variant, seed)
            workdir = laboratory.train(lab, label, settings, config.minutes, limit="cpu_minutes")
            player = labelled(label, str(workdir))
            base = base or player
            for size in config.sizes:
                for opponent in (*opponents, *([] if player is base else [base])):
                    laboratory.play(lab, file, (find_game(config.game), size), player, opponent)
    return file.data


def _label(text: str) -> str:
    """A text as names of files and rows hold it."""
    return re.sub(r"[^\w.=]+", "-", text)


def table(data: Mapping[str, Any]) -> str:
    """A row for each variant: outcomes against the recipe as it is and against the others."""
    config = data["config"]
    columns = [(opponent, size) for opponent in (BASE, *config["opponents"]) for size in config["sizes"]]
    rows = []
    for variant in (BASE, *config["variants"]):
        spent = [facts for facts in data["players"].values() if _is_of(facts["label"], variant)]
        if spent:
            positions = ", ".join(f"{facts['positions']:,}" for facts in spent)
            rows.append([variant, positions, *(_cell(data, variant, *column) for column in columns)])
    header = ["variant", "positions", *(f"against {name}, {size}x{size}" for name, size in columns)]
    return figures.markdown_table(header, rows)


def _is_of(label: str, variant: str) -> bool:
    return re.fullmatch(rf"{re.escape(_label(variant))}-seed\d+", label) is not None


def _cell(data: Mapping[str, Any], variant: str, opponent: str, size: int) -> str:
    """0.60 (0.44 to 0.74), over all seeds; a dash where nothing was played."""
    matches = [
        match
        for match in data["matches"].values()
        if match["size"] == size
        and _is_of(match["player"], variant)
        and (_is_of(match["opponent"], BASE) if opponent == BASE else match["opponent"] == _label(opponent))
    ]
    if not matches:
        return "-"
    wins, ties, losses = (sum(match[name] for match in matches) for name in ("wins", "ties", "losses"))
    outcome = average_outcome(wins, ties, losses)
    low, high = seeds_interval([match["outcome"] for match in matches], outcome, wins + ties + losses)
    return f"{outcome:.2f} ({low:.2f} to {high:.2f})"
