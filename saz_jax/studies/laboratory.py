"""The folder of a study: training runs, matches and files of results, all of which can be continued.

RESULTS/runs/BUDGET-GAME-ROLE-SIZE/   training runs
RESULTS/matches/BUDGET-GAME-SIZE-PLAYER-OPPONENT.json   matches; studies that need the same one share it
RESULTS/STUDY.json   what a study found: its tables and figures follow from this file alone
"""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from saz_jax.agents.agent import EXPORT, Agent, load_agent
from saz_jax.arena import series
from saz_jax.arena.contestants import Contestant
from saz_jax.arena.series import MatchConfig
from saz_jax.config import TrainConfig
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile, read_json
from saz_jax.studies.budgets import Budget
from saz_jax.training import loop

TimeLimit: TypeAlias = Literal["minutes", "cpu_minutes"]
TIMES: dict[TimeLimit, str] = {"minutes": "seconds", "cpu_minutes": "cpu_seconds"}
"""What limits a training run, and the fact about its agent that tells how much of it is spent."""


@dataclasses.dataclass(frozen=True)
class Lab:
    """A budget and the folder that its results go to."""

    name: str
    """The budget's name."""
    budget: Budget
    results: Path
    agents: tuple[str, ...] = ()
    """Agents to use where they fit, instead of training any."""
    say: Callable[[str], None] = lambda line: None
    """Called with a line of text about what is being done."""
    progress: Callable[[str, float, float], None] = lambda phase, done, total: None
    """Progress callback: `done` of `total` steps of a phase are over."""

    def open(self, study: str) -> ResultsFile:
        """The study's file of results, begun or continued."""
        config = {"study": study, "budget_name": self.name, "budget": dataclasses.asdict(self.budget)}
        return open_results(self.results / f"{study}.json", config)


def open_results(path: Path, config: dict[str, Any], extends: tuple[str, ...] = ()) -> ResultsFile:
    """The file of results of a study, begun or continued; settings named in `extends` may grow."""
    _make_folder(path.parent)
    if path.exists():
        _check_runs(path, path.parent / "runs")
    return ResultsFile(path, config, extends=extends, players={}, matches={})


def budget_of(config: Any) -> Budget:
    """The budget of a study that has settings of its own; `ValueError` if these make no sense."""
    for name, least in (("games", 2), ("runs", 1), ("simulations", 1)):
        if (number := getattr(config, name)) < least or (name == "games" and number % 2):
            even = "an even number, " if name == "games" else ""
            raise ValueError(f"{name}={number}; use {even}{least} or more")
    return Budget(
        games=config.games,
        runs=config.runs,
        simulations=config.simulations,
        opening_moves=config.opening_moves,
        seed=config.seed,
    )


def _check_runs(path: Path, runs: Path) -> None:
    """Refuses, before hours of training, to continue results whose training runs are elsewhere."""
    data = read_json(path)
    for text in data.get("players", {}) if isinstance(data, dict) else ():
        run = Path(text.partition("@")[0])
        if run.is_relative_to(runs) and not run.exists():
            raise ValueError(
                f"{path} was measured with {run}, which is not here; name another --results folder "
                "to train and measure anew, or see what was found with --report-only"
            )


def facts(contestant: Contestant) -> dict[str, Any]:
    """What a reader of the results should know about a player."""
    agent = contestant.agent
    if agent is None:
        return {"label": contestant.label}
    return {
        "label": contestant.label,
        "game": agent.game_name,
        "plays_as": contestant.model,
        "trained_as": agent.model.name,
        "trained_sizes": list(agent.trained_sizes),
        "minutes": round(agent.meta["seconds"] / 60, 2) if "seconds" in agent.meta else None,
        "cpu_minutes": round(agent.meta["cpu_seconds"] / 60, 2) if "cpu_seconds" in agent.meta else None,
        "positions": agent.meta.get("positions"),
        "iterations": agent.meta.get("iteration"),
        "weights": contestant.weights,
    }


def introduce(file: ResultsFile, contestant: Contestant) -> None:
    """Records a player; `ValueError` if the file has other weights under that name."""
    known = file.data["players"].get(contestant.text, {})
    if known.get("weights", contestant.weights) != contestant.weights:
        raise ValueError(
            f"{file.path} holds results of other weights of {contestant.text}; name another --results folder"
        )
    file.data["players"][contestant.text] = facts(contestant)


def train(
    lab: Lab,
    role: str,
    config: TrainConfig,
    minutes: float,
    init_from: Agent | None = None,
    limit: TimeLimit = "minutes",
) -> Path:
    """The workdir of a finished training run: trained, continued or found."""
    workdir = lab.results / "runs" / f"{lab.name}-{config.game}-{role}-{max(config.sides)}"
    limits: dict[str, Any] = {"iterations": lab.budget.iterations, limit: minutes}
    with loop.hold(workdir, config, init_from):
        if _finished(workdir, lab.budget.iterations, minutes, limit):
            return workdir
    end = f"{minutes:g} {'CPU ' if limit == 'cpu_minutes' else ''}minutes"
    if lab.budget.iterations is not None:
        end = f"{lab.budget.iterations} iterations"
    lab.say(f"training {config.game} {role} as {config.model} on sides {list(config.sides)}: {end}")
    for row in loop.run(config, workdir, init_from=init_from, progress=lab.progress, **limits):
        if row["iteration"] % lab.budget.stage_every == 0:
            lab.say(f"  {role}: iteration {row['iteration']}, {row['seconds'] / 60:.1f} minutes")
    return workdir


def _finished(workdir: Path, iterations: int | None, minutes: float, limit: TimeLimit) -> bool:
    """Whether the newest agent has reached a limit; asking the run itself would compile it."""
    if not (workdir / EXPORT).exists():
        return False
    meta = load_agent(workdir).meta
    return meta["iteration"] == iterations or meta[TIMES[limit]] >= 60 * minutes


def play(
    lab: Lab,
    file: ResultsFile,
    board: tuple[str, int],
    player: Contestant,
    opponent: Contestant,
    opponent_simulations: int | None = None,
    also: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Plays what is missing of a match and stores its result, and what is `also` known, in `file`."""
    (game, size), budget = board, lab.budget
    name = f"{game}-{size}-{player.label}-{opponent.label}"
    config = MatchConfig(
        game=game,
        player=player.text,
        opponent=opponent.text,
        sizes=(size,),
        games=budget.games,
        runs=budget.runs,
        simulations=budget.simulations,
        opponent_simulations=opponent_simulations,
        opening_moves=budget.opening_moves,
        seed=budget.seed,
    )
    for contestant in (player, opponent):
        introduce(file, contestant)
    folder = lab.results / "matches"
    _make_folder(folder)
    prepared = series.prepare(config, folder / f"{lab.name}-{name}.json")
    for text in prepared.lowered():
        lab.say(f"{name}: {text}")
    result = series.play(prepared, _LabReporter(lab, name))["sizes"][str(size)]
    file.data["matches"][name] = {
        "game": game,
        "size": size,
        "player": player.label,
        "opponent": opponent.label,
        "simulations": config.simulations,
        "opponent_simulations": opponent_simulations or config.simulations,
        **{key: value for key, value in result.items() if key != "runs"},
        "runs": [run["outcome"] for run in result["runs"]],
        **also,
    }
    file.save()


class _LabReporter(series.Reporter):
    """Passes the progress of a match on to the lab."""

    def __init__(self, lab: Lab, name: str):
        self._lab, self._name = lab, name

    def played(self, games: float) -> None:
        self._lab.progress(self._name, games, self._lab.budget.games)

    def end(self, size: int | str, summary: Mapping[str, Any]) -> None:
        if len(summary["runs"]) == self._lab.budget.runs:
            self._lab.say(f"{self._name}: {figures.outcome_text(summary)} in {summary['seconds']:.0f} s")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make {path} ({error.strerror}); name another --results folder") from error
