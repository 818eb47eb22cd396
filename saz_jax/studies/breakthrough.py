"""How far a game of moves along edges carries beyond the boards of its training.

Players that are given meet random, greedy, tree search with random playouts, and each other.  Besides them a
recipe is trained for a short time from several seeds, which count as one player.
"""

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from saz_jax.arena.contestants import Contestant
from saz_jax.arena.statistics import STUDENT, seeds_interval
from saz_jax.config import EvaluationConfig, TrainConfig
from saz_jax.games.registry import find_game, make_game
from saz_jax.models.registry import make_model
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile
from saz_jax.studies import laboratory
from saz_jax.studies.laboratory import Lab, budget_of
from saz_jax.studies.lineup import can_play, labelled
from saz_jax.training.presets import PresetName, preset

SEED = "seed"
"""`seed2` is the player that was trained here from seed 2."""


@dataclasses.dataclass(frozen=True)
class BreakthroughConfig:
    """Who plays, where, and how long the seeds are trained."""

    players: tuple[str, ...] = ()
    """Players with their names for the table, such as graph=runs/graph az=runs/az: exports, workdirs of
    training runs or names of shipped weights."""
    opponents: tuple[str, ...] = ("random", "greedy", "mcts:1000")
    """Players without weights that all others meet."""
    game: str = "breakthrough"
    """The game."""
    sizes: tuple[int, ...] = (8, 10, 12)
    """Board sides. A player whose network reads one side alone plays on that side only."""
    games: int = 40
    """Games for each pair, board and run, half with each colour; an even number."""
    runs: int = 1
    """Independent runs of the games."""
    simulations: int = 100
    """Simulations per move."""
    opening_moves: int = 4
    """Random plies before the players take over."""
    seeds: int = 5
    """Training runs from scratch; 0: none."""
    minutes: float = 10.0
    """Processor minutes of each of them, all cores added up."""
    preset: PresetName = "strong"
    """Their recipe."""
    model: str = "model3"
    """Their model."""
    seed: int = 0
    """Of the games."""


def given(config: BreakthroughConfig) -> dict[str, Contestant]:
    """{name: player} of `players`; a text without a name is named after the end of its path."""
    found: dict[str, Contestant] = {}
    for text in config.players:
        named = re.fullmatch(r"([\w.]+)=(.+)", text)
        name, player = named.groups() if named else (re.sub(r"[^\w.]", "-", Path(text).name), text)
        contestant = labelled(name, player)
        if contestant.game is None:
            raise ValueError(f"{text} has no weights; name it among the opponents")
        if name in found or name in config.opponents or re.fullmatch(rf"{SEED}\d+", name):
            raise ValueError(f"{text}: the name {name} is taken; write another one, NAME=PLAYER")
        found[name] = contestant
    return found


def training(config: BreakthroughConfig, number: int) -> TrainConfig:
    """The settings of one of the training runs, never evaluated on the way."""
    base = preset(config.preset, config.game, config.model)
    return dataclasses.replace(base, seed=number, evaluation=EvaluationConfig(every=0, games=0))


def check(config: BreakthroughConfig) -> None:
    """Raise `ValueError` for whatever would go wrong after hours of training."""
    if config.seeds not in (0, *STUDENT):
        raise ValueError(f"seeds={config.seeds} have no interval; use 2 to {max(STUDENT)}, or 0 for none")
    if not config.seeds and not config.players:
        raise ValueError("nobody plays; name --players, or train with --seeds 2 or more")
    budget_of(config)
    if not config.sizes or not config.opponents:
        raise ValueError("there are no games to play; name one or more --sizes and --opponents")
    game = find_game(config.game)
    for size in config.sizes:
        make_game(game, size).init(size)
    for opponent in config.opponents:
        if labelled(opponent, opponent).game is not None:
            raise ValueError(f"the opponent {opponent} has weights; name it among the players")
    for name, player in given(config).items():
        if player.game != game:
            raise ValueError(f"{name} was trained on {player.game}; it cannot play {game}")
        if not any(can_play(player, size) for size in config.sizes):
            raise ValueError(f"{name} plays none of the sides {config.sizes}; leave it out, or add its side")
    if config.seeds:
        settings = training(config, 0)
        make_model(settings.model_config, make_game(game, max(settings.sides)))


def open_results(config: BreakthroughConfig, folder: Path) -> ResultsFile:
    """The file of results in `folder`, begun or continued: with further players, boards, runs or seeds."""
    check(config)
    extends = ("players", "opponents", "sizes", "runs", "seeds")
    return laboratory.open_results(folder / "breakthrough.json", dataclasses.asdict(config), extends)


def run(
    config: BreakthroughConfig,
    folder: Path,
    say: Callable[[str], None] = lambda line: None,
    progress: Callable[[str, float, float], None] = lambda phase, done, total: None,
) -> dict[str, Any]:
    """Plays and trains what is missing; returns the data of the file of results."""
    file = open_results(config, folder)
    lab = Lab("study", budget_of(config), folder, say=say, progress=progress)
    players = list(given(config).values())
    opponents = [labelled(text.replace(":", "-"), text) for text in config.opponents]
    pairs = [*itertools.product(players, opponents), *itertools.combinations(players, 2)]
    for pair in pairs:
        _meet(lab, file, config, *pair)
    for number in range(config.seeds):
        settings = training(config, number)
        role = f"{config.model}-{SEED}{number}"
        workdir = laboratory.train(lab, role, settings, config.minutes, limit="cpu_minutes")
        player = labelled(f"{SEED}{number}", str(workdir))
        for opponent in opponents:
            _meet(lab, file, config, player, opponent)
    return file.data


def _meet(
    lab: Lab, file: ResultsFile, config: BreakthroughConfig, player: Contestant, opponent: Contestant
) -> None:
    """Plays a pair on the boards that both can play."""
    for size in config.sizes:
        if can_play(player, size) and can_play(opponent, size):
            laboratory.play(lab, file, (find_game(config.game), size), player, opponent)


@dataclasses.dataclass(frozen=True)
class Score:
    """How a player did against another on a board."""

    outcome: float
    interval: tuple[float, float]
    """95%"""
    games: int
    seeds: tuple[float, ...] = ()
    """The outcome of each seed, if the player is several."""

    @property
    def text(self) -> str:
        """0.85 (0.71 to 0.93)"""
        low, high = self.interval
        return f"{self.outcome:.2f} ({low:.2f} to {high:.2f})"


def score(data: Mapping[str, Any], player: str, opponent: str, size: int) -> Score | None:
    """What is stored of a pair, seen by `player`; all seeds together if it is `SEED`."""
    game = data["config"]["game"]
    if player == SEED:
        wanted = re.compile(rf"{game}-{size}-{SEED}\d+-{re.escape(opponent)}")
        found = [match for name, match in data["matches"].items() if wanted.fullmatch(name)]
        if len(found) < 2:
            return None
        seeds = tuple(match["outcome"] for match in found)
        games = sum(_games(match) for match in found)
        outcome = sum(seeds) / len(seeds)
        return Score(outcome, seeds_interval(seeds, outcome, games), games, seeds)
    if match := data["matches"].get(f"{game}-{size}-{player}-{opponent}"):
        low, high = match["wilson"]
        return Score(match["outcome"], (low, high), _games(match))
    if match := data["matches"].get(f"{game}-{size}-{opponent}-{player}"):
        low, high = match["wilson"]
        return Score(1 - match["outcome"], (1 - high, 1 - low), _games(match))
    return None


def _games(match: Mapping[str, Any]) -> int:
    return int(match["wins"] + match["ties"] + match["losses"])


def _players(data: Mapping[str, Any]) -> list[str]:
    """The rows of the tables: the given players, then the seeds as one."""
    labels = [facts["label"] for facts in data["players"].values() if "weights" in facts]
    named = [label for label in labels if not re.fullmatch(rf"{SEED}\d+", label)]
    return named + ([SEED] if len(named) + 1 < len(labels) else [])


def _opponents(data: Mapping[str, Any]) -> dict[str, str]:
    """{label: text} of the players without weights."""
    return {facts["label"]: text for text, facts in data["players"].items() if "weights" not in facts}


def _row_name(data: Mapping[str, Any], player: str) -> str:
    return (
        f"{data['config']['model']}, {data['config']['minutes']:g} CPU minutes" if player == SEED else player
    )


def _sizes(data: Mapping[str, Any]) -> list[int]:
    return sorted({match["size"] for match in data["matches"].values()})


def table(data: Mapping[str, Any]) -> str:
    """For each board a table of who did how well against whom, with 95% intervals."""
    players, opponents = _players(data), _opponents(data)
    columns = {**opponents, **{name: name for name in players if name != SEED}}
    text = ""
    for size in _sizes(data):
        found = {(p, c): s for p in players for c in columns if (s := score(data, p, c, size))}
        shown = [c for c in columns if any((p, c) in found for p in players)]
        rows = [
            [_row_name(data, p), *(found[p, c].text if (p, c) in found else "-" for c in shown)]
            for p in players
            if any((p, c) in found for c in shown)
        ]
        header = ["player", *(columns[c] for c in shown)]
        text += f"## {data['config']['game']} {size}x{size}\n\n{figures.markdown_table(header, rows)}\n"
    return text


def seeds_table(data: Mapping[str, Any]) -> str:
    """The seeds one by one: a row for each board and opponent; "" if none was trained."""
    rows = []
    for size, (label, opponent) in itertools.product(_sizes(data), _opponents(data).items()):
        if found := score(data, SEED, label, size):
            each = ", ".join(f"{outcome:.2f}" for outcome in found.seeds)
            rows.append([f"{size}x{size}", opponent, found.text, each, str(found.games)])
    if not rows:
        return ""
    name = _row_name(data, SEED)
    header = ["board", "opponent", "mean (95% interval)", "seeds", "games"]
    return f"## Seeds of {name}\n\n{figures.markdown_table(header, rows)}\n"


def players_table(data: Mapping[str, Any]) -> str:
    """How each player was trained."""
    rows = []
    for text, facts in data["players"].items():
        if "weights" in facts:
            spent = "-" if facts["cpu_minutes"] is None else f"{facts['cpu_minutes']:.1f}"
            seen = "-" if facts["positions"] is None else f"{facts['positions']:,}"
            sides = ", ".join(map(str, facts["trained_sizes"]))
            rows.append([facts["label"], text, facts["trained_as"], sides, spent, seen, facts["weights"]])
    header = ["player", "from", "model", "trained on sides", "CPU minutes", "positions", "weights"]
    return f"## Players\n\n{figures.markdown_table(header, rows)}\n"


def figure(data: Mapping[str, Any], path: Path) -> Path:
    """Outcomes over the side of the board with their intervals, an axis for each opponent, as a PNG."""
    opponents, players = _opponents(data), _players(data)
    drawn, axes = figures.figure(len(opponents), (4.2, 3.4))
    for axis, (label, opponent) in zip(axes, opponents.items(), strict=True):
        for number, player in enumerate(players):
            known = list(_curve(data, player, label))
            ends = [[abs(s.outcome - s.interval[end]) for _, s in known] for end in (0, 1)]
            x = [size + 0.12 * (number - (len(players) - 1) / 2) for size, _ in known]
            y = [s.outcome for _, s in known]
            name = _row_name(data, player)
            axis.errorbar(x, y, yerr=ends, fmt="o-", capsize=3, color=f"C{number}", label=name)
            for place, (_, found) in zip(x, known, strict=True):
                axis.plot([place] * len(found.seeds), found.seeds, "_", color="grey")
        figures.outcome_axis(axis, f"against {opponent}", "side of the board")
        axis.set_xticks(_sizes(data))
    figures.shared_legend(drawn)
    drawn.savefig(path, dpi=130)
    return path


def _curve(data: Mapping[str, Any], player: str, opponent: str) -> Iterator[tuple[int, Score]]:
    for size in _sizes(data):
        if found := score(data, player, opponent, size):
            yield size, found
