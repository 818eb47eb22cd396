"""Where studies are done: training runs, matches and files of results in one folder, all continued.

RESULTS/runs/BUDGET-GAME-ROLE-SIZE/   training runs
RESULTS/matches/BUDGET-GAME-SIZE-PLAYER-OPPONENT.json   matches; studies that need the same one share it
RESULTS/STUDY.json   what a study found: its tables and figures follow from this file alone
"""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from saz_jax.agents.agent import EXPORT, Agent, load_agent
from saz_jax.arena import series
from saz_jax.arena.contestants import weights_digest
from saz_jax.arena.series import MatchConfig
from saz_jax.config import TrainConfig
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile, read_json
from saz_jax.studies.budgets import Budget
from saz_jax.training import loop


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
    """Hears what is going on."""
    progress: Callable[[str, float, float], None] = lambda phase, done, total: None
    """Hears that `done` of `total` steps of a phase are over."""

    def open(self, study: str) -> ResultsFile:
        """The study's file of results, begun or continued."""
        _make_folder(self.results)
        path = self.results / f"{study}.json"
        if path.exists():
            _check_runs(path, self.results / "runs")
        config = {"study": study, "budget_name": self.name, "budget": dataclasses.asdict(self.budget)}
        return ResultsFile(path, config, players={}, matches={})


def _check_runs(path: Path, runs: Path) -> None:
    """Before hours of training: new runs could not continue the results of others, which are elsewhere."""
    data = read_json(path)
    for text in data.get("players", {}) if isinstance(data, dict) else ():
        run = Path(text.partition("@")[0])
        if run.is_relative_to(runs) and not run.exists():
            raise ValueError(
                f"{path} was measured with {run}, which is not here; name another --results folder "
                "to train and measure anew, or see what was found with --report-only"
            )


@dataclasses.dataclass(frozen=True, eq=False)
class Entrant:
    """A player in a study."""

    label: str
    """What the tables call it; one for each `text` on a board."""
    text: str
    """What `read_contestant` reads."""
    agent: Agent | None = None
    """None: random or greedy."""
    model: str | None = None
    """The model that its agent plays as."""

    def facts(self) -> dict[str, Any]:
        """What a reader of the results should know about it."""
        if self.agent is None:
            return {"label": self.label}
        meta = self.agent.meta
        return {
            "label": self.label,
            "game": self.agent.game_name,
            "plays_as": self.model,
            "trained_as": self.agent.model.name,
            "trained_sizes": list(self.agent.trained_sizes),
            "minutes": round(meta["seconds"] / 60, 2) if "seconds" in meta else None,
            "iterations": meta.get("iteration"),
            "weights": weights_digest(self.agent),
        }


def introduce(file: ResultsFile, entrant: Entrant) -> None:
    """Writes down who `entrant` is; `ValueError` if the file knows other weights under that name."""
    facts, known = entrant.facts(), file.data["players"].get(entrant.text, {})
    if known.get("weights", facts.get("weights")) != facts.get("weights"):
        raise ValueError(
            f"{file.path} holds results of other weights of {entrant.text}; name another --results folder"
        )
    file.data["players"][entrant.text] = facts


def train(lab: Lab, role: str, config: TrainConfig, minutes: float, init_from: Agent | None = None) -> Path:
    """The workdir of a finished training run: trained, continued or found."""
    workdir = lab.results / "runs" / f"{lab.name}-{config.game}-{role}-{max(config.sides)}"
    loop.claim(workdir, config, init_from)
    limits = {"iterations": lab.budget.iterations, "minutes": minutes}
    if _finished(workdir, **limits):
        return workdir
    end = f"{minutes:g} minutes" if lab.budget.iterations is None else f"{lab.budget.iterations} iterations"
    lab.say(f"training {config.game} {role} as {config.model} on sides {list(config.sides)}: {end}")
    for row in loop.run(config, workdir, init_from=init_from, progress=lab.progress, **limits):
        if row["iteration"] % lab.budget.stage_every == 0:
            lab.say(f"  {role}: iteration {row['iteration']}, {row['seconds'] / 60:.1f} minutes")
    return workdir


def _finished(workdir: Path, iterations: int | None, minutes: float) -> bool:
    """Whether the newest agent has reached a limit; asking the run itself would compile it."""
    if not (workdir / EXPORT).exists():
        return False
    meta = load_agent(workdir).meta
    return meta["iteration"] == iterations or meta["seconds"] >= 60 * minutes


def play(
    lab: Lab,
    file: ResultsFile,
    board: tuple[str, int],
    player: Entrant,
    opponent: Entrant,
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
    for entrant in (player, opponent):
        introduce(file, entrant)
    folder = lab.results / "matches"
    _make_folder(folder)
    prepared = series.prepare(config, folder / f"{lab.name}-{name}.json")
    result = series.evaluate(prepared, _Told(lab, name))["sizes"][str(size)]
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


class _Told(series.Progress):
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
