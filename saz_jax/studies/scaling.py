"""How strength grows with training time and with parameters: a few widths of network, each at several stages.

All players of the study meet in one round robin, and a plane is fitted to their ratings over the logarithms
of processor time and of the number of parameters.
"""

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from saz_jax.agents.agent import load_agent
from saz_jax.arena import tournament
from saz_jax.arena.tournament import Tournament, TournamentConfig
from saz_jax.config import EvaluationConfig, TrainConfig
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile
from saz_jax.training import loop
from saz_jax.training.presets import PresetName, preset


@dataclasses.dataclass(frozen=True)
class ScalingConfig:
    """What is trained, and how the players meet."""

    game: str = "othello"
    """The game."""
    model: str = "model3"
    """The model: the graph network asked once, or any other whose network has a width."""
    preset: PresetName = "small"
    """Recipe of the training but for the width of the network."""
    widths: tuple[int, ...] = (32, 64, 128)
    """Widths of the networks: channels of a convolutional one, hidden units of a graph network."""
    stages: tuple[float, ...] = (10.0, 30.0, 90.0)
    """Processor minutes, all cores added up, after which players are kept: 5, 15 and 45 minutes of two."""
    size: int = 8
    """Board side of the games."""
    games: int = 20
    """Games for each pair, half with each colour; an even number."""
    simulations: int = 100
    """Simulations per move."""
    opening_moves: int = 4
    """Random plies before the players take over."""
    seed: int = 0
    """Of the training and of the games."""

    @property
    def steps(self) -> list[tuple[int, float]]:
        """(width, processor minutes) of each player."""
        return list(itertools.product(self.widths, self.stages))


def training_config(config: ScalingConfig, width: int) -> TrainConfig:
    """The settings of one training run; `ValueError` if the network has no width."""
    base = preset(config.preset, config.game, config.model)
    names = {field.name for field in dataclasses.fields(base.network)} & {"hidden", "head", "channels"}
    if not names:
        raise ValueError(f"the network of {config.model} has no width; use model3 or fcn")
    network = dataclasses.replace(base.network, **dict.fromkeys(names, width))
    evaluation = EvaluationConfig(every=0, games=0)
    return dataclasses.replace(base, network=network, seed=config.seed, evaluation=evaluation)


def prepare(config: ScalingConfig, folder: Path) -> ResultsFile:
    """Checks everything and opens the file of results in `folder`."""
    for name, values in (("widths", config.widths), ("stages", config.stages)):
        if not values or list(values) != sorted(set(values)) or values[0] <= 0:
            raise ValueError(f"{name}={' '.join(map(str, values))} must rise from above 0")
    for width in config.widths:
        training_config(config, width)
    folder.mkdir(parents=True, exist_ok=True)
    return ResultsFile(folder / "scaling.json", dataclasses.asdict(config), seed=config.seed, players={})


def train(
    config: ScalingConfig,
    folder: Path,
    results: ResultsFile,
    say: Callable[[str], None] = lambda line: None,
    iterations: int | None = None,
) -> None:
    """Trains what is missing; each stage goes on from the one before, and so does an interrupted one.

    `iterations` may end a stage earlier.
    """
    for width, minutes in config.steps:
        path = player_path(config, folder, width, minutes)
        if path.exists() and str(path) in results.data["players"]:
            continue
        say(f"{config.game} of width {width}: to {minutes:g} processor minutes")
        workdir = folder / "runs" / f"{config.game}-{config.model}-{width}"
        limits = {"cpu_minutes": minutes, "iterations": iterations}
        for _ in loop.run(training_config(config, width), workdir, **limits):
            pass
        agent = load_agent(workdir)
        agent.export(path)
        results.data["players"][str(path)] = {
            "width": width,
            "parameters": sum(np.size(leaf) for leaf in jax.tree.leaves(agent.variables["params"])),
            "minutes": minutes,
            "cpu_seconds": round(agent.meta["cpu_seconds"], 1),
            "seconds": round(agent.meta["seconds"], 1),
            "iteration": agent.meta["iteration"],
            "positions": agent.meta.get("positions"),
        }
        results.save()


def player_path(config: ScalingConfig, folder: Path, width: int, minutes: float) -> Path:
    """Where a stage of a network is kept."""
    return folder / "players" / f"{config.game}-{config.model}-{width}-{minutes:g}.npz"


def meeting(config: ScalingConfig, folder: Path) -> Tournament:
    """The round robin of all stages and greedy, begun or continued."""
    players = [str(player_path(config, folder, *step)) for step in config.steps]
    robin = TournamentConfig(
        game=config.game,
        players=(*players, "greedy"),
        size=config.size,
        games=config.games,
        simulations=config.simulations,
        opening_moves=config.opening_moves,
        seed=config.seed,
    )
    return tournament.prepare(robin, folder / "games.json")


def conclude(results: ResultsFile, played: Mapping[str, Any]) -> dict[str, Any]:
    """Stores the ratings of a round robin beside the players, and the fit."""
    results.data["ratings"] = played["ratings"]
    results.data["fit"] = fit(points(results.data))
    results.save()
    return results.data


def points(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The players of a file of results with their ratings."""
    rated = {row["player"]: row for row in data["ratings"]}
    return [{**about, **rated[path]} for path, about in data["players"].items() if path in rated]


def fit(known: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """rating = constant + per_doubling_of_time log2(minutes) + per_doubling_of_parameters log2(parameters).

    Least squares; `explained` is the share of the ratings' variance.  The parameters' share is left out where
    all networks are of one size, the time's where there is one stage.
    """
    ratings = np.array([point["points"] for point in known])
    columns = {
        "per_doubling_of_time": np.log2([point["cpu_seconds"] / 60 for point in known]),
        "per_doubling_of_parameters": np.log2([point["parameters"] for point in known]),
    }
    used = {name: column for name, column in columns.items() if np.ptp(column) > 1e-9}
    matrix = np.stack([np.ones(len(ratings)), *used.values()], axis=1)
    solution, *_ = np.linalg.lstsq(matrix, ratings)
    left, spread = ((ratings - matrix @ solution) ** 2).sum(), ((ratings - ratings.mean()) ** 2).sum()
    fitted = dict(zip(("constant", *used), solution.round(2).tolist(), strict=True))
    return {**fitted, "explained": round(float(1 - left / spread), 4) if spread > 0 else 1.0}


def table(data: Mapping[str, Any]) -> str:
    """A row for each width, a column for each stage; then the fit in a sentence."""
    known = points(data)
    stages = sorted({point["minutes"] for point in known})
    rows = []
    for parameters in sorted({point["parameters"] for point in known}):
        mine = {point["minutes"]: point for point in known if point["parameters"] == parameters}
        width = next(iter(mine.values()))["width"]
        cells = [_cell(mine[stage]) if stage in mine else "-" for stage in stages]
        rows.append([f"{width} ({parameters:,} parameters)", *cells])
    greedy = next(row for row in data["ratings"] if row["player"] == "greedy")
    header = ["width", *(f"{stage:g} CPU minutes" for stage in stages)]
    fitted = data["fit"]
    told = [
        f"{fitted[name]:+.0f} points for each {name.removeprefix('per_').replace('_', ' ')}"
        for name in ("per_doubling_of_time", "per_doubling_of_parameters")
        if name in fitted
    ]
    return (
        f"{figures.markdown_table(header, rows)}\ngreedy: {greedy['points']:+.0f}.  "
        f"Fit: {', '.join(told)}; it explains {fitted['explained']:.0%} of the variance.\n"
    )


def _cell(point: Mapping[str, Any]) -> str:
    return f"{point['points']:+.0f} ({point['low']:+.0f} to {point['high']:+.0f})"


def figure(data: Mapping[str, Any], path: Path) -> Path:
    """Ratings over time and over parameters with intervals, and the fit as thin lines, as a PNG."""
    known, config, fitted = points(data), data["config"], data["fit"]
    drawn, axes = figures.figure(2)
    views = (("cpu_seconds", "parameters", 60.0), ("parameters", "minutes", 1.0))
    for axis, (along, by, unit) in zip(axes, views, strict=True):
        for number, value in enumerate(sorted({point[by] for point in known})):
            mine = sorted((point for point in known if point[by] == value), key=lambda point: point[along])
            x, y = [point[along] / unit for point in mine], [point["points"] for point in mine]
            ends = [[p["points"] - p["low"] for p in mine], [p["high"] - p["points"] for p in mine]]
            label = f"{value:,} parameters" if by == "parameters" else f"{value:g} CPU minutes"
            axis.errorbar(x, y, yerr=ends, fmt="o", capsize=3, color=f"C{number}", label=label)
            axis.plot(x, [_predicted(fitted, point) for point in mine], color=f"C{number}", linewidth=0.8)
        axis.set_xscale("log")
        axis.legend(frameon=False, fontsize="small")
    title = f"{config['game']} {config['size']}x{config['size']}, {config['games']} games a pair"
    axes[0].set(title=title, xlabel="CPU minutes of training", ylabel="rating (Elo points)")
    axes[1].set(title="lines: the fit", xlabel="parameters")
    drawn.savefig(path, dpi=150)
    return path


def _predicted(fitted: Mapping[str, float], point: Mapping[str, Any]) -> float:
    time = fitted.get("per_doubling_of_time", 0.0) * np.log2(point["cpu_seconds"] / 60)
    return (
        fitted["constant"]
        + time
        + fitted.get("per_doubling_of_parameters", 0.0) * np.log2(point["parameters"])
    )
