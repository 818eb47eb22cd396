"""The paper's experiments, and two it leaves open: each fills a file of results with all that was found."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import jax

from saz_jax.arena import matches
from saz_jax.arena.contestants import Contestant
from saz_jax.games.registry import find_game
from saz_jax.graphs.subgraphs import subgraph_counts
from saz_jax.storage.results import ResultsFile
from saz_jax.studies import paper
from saz_jax.studies.budgets import synthetic_sizes
from saz_jax.studies.embedding import action_embeddings, principal_components, separability
from saz_jax.studies.laboratory import Lab, introduce, play
from saz_jax.studies.lineup import (
    GREEDY,
    RANDOM,
    az,
    az_stages,
    can_play,
    fine_tuned,
    scalable,
    small_stages,
    trained_on_tested,
)

Games: TypeAlias = Sequence[str]
StudyFn: TypeAlias = Callable[[Lab, ResultsFile, Games], None]
SCALABLE: tuple[str, ...] = ("saz", "model3", "model4", "model5")
TIMED_LANES = 8
"""Positions in a batch while moves are timed."""


def complexity(lab: Lab, file: ResultsFile, games: Games) -> None:
    """Table 1: states and actions of each board."""
    file.data["boards"] = [count_states(game, size) for game, size in paper.COMPLEXITY]


def count_states(game: str, size: int) -> dict[str, Any]:
    """The paper's count of states and actions, and the logarithm of the bound by stones.

    Its numbers are (n * n)**3, the points to the power of the three things that a point can hold; boards
    with one of three things on each of n * n points are 3**(n * n).
    """
    points = size * size
    digits = len(str(3**points)) - 1
    return {"game": game, "size": size, "states": points**3, "actions": points + 1, "stones_log10": digits}


def ablation(lab: Lab, file: ResultsFile, games: Games) -> None:
    """Table 2: one component left out at a time, against greedy."""
    for game in games:
        size = lab.budget.boards.large(game)[0]
        for model in ("saz", "model1", "model2", "model3", "model4"):
            on_tested = model in ("model1", "model2")
            contestant = (
                trained_on_tested(lab, game, model, size) if on_tested else scalable(lab, game, model)
            )
            play(lab, file, (game, size), contestant, GREEDY)


def generalisation(lab: Lab, file: ResultsFile, games: Games) -> None:
    """The generalisation figure: scalable players against random and greedy on boards of all sizes."""
    for game in games:
        for contestant in [scalable(lab, game, model) for model in (*SCALABLE, "fcn")]:
            for size in lab.budget.boards.curve:
                if can_play(contestant, size):
                    for opponent in (RANDOM, GREEDY):
                        play(lab, file, (game, size), contestant, opponent)


def embedding(lab: Lab, file: ResultsFile, games: Games) -> None:
    """The embedding figure: good and bad actions on synthetic boards."""
    contestant = scalable(lab, "othello", "model3")
    assert contestant.agent is not None
    introduce(file, contestant)
    sizes = synthetic_sizes(lab.budget.boards)
    found = action_embeddings(contestant.agent, sizes, lambda done: lab.progress("boards", done, len(sizes)))
    projected, shares = principal_components(found)
    file.data["embedding"] = {
        "features": contestant.agent.model.network.features,
        "width": found.shape[-1],
        "sizes": list(sizes),
        "components": projected.round(6).tolist(),
        "shares": shares.round(6).tolist(),
        "separability": {"embedding": separability(found), "components": separability(projected)},
    }


def training_time(lab: Lab, file: ResultsFile, games: Games) -> None:
    """The training-time figure: model3 and AZ at each stage of their training against greedy."""
    for game in games:
        size = lab.budget.boards.large(game)[0]
        for stages in (small_stages(lab, game, "model3"), az_stages(lab, game, size)):
            for stage in stages:
                when = {"minutes": round(stage.minutes, 3), "positions": stage.positions}
                play(lab, file, (game, size), stage.contestant, GREEDY, also=when)


def against_az(lab: Lab, file: ResultsFile, games: Games) -> None:
    """Table 3: scalable players against AZ trained on the board of the test."""
    _meet_az(lab, file, games, SCALABLE)


def go(lab: Lab, file: ResultsFile, games: Games) -> None:
    """The Go evaluation: SAZ against AZ."""
    _meet_az(lab, file, games, ("saz",))


def _meet_az(lab: Lab, file: ResultsFile, games: Games, models: Sequence[str]) -> None:
    for game in games:
        for size in lab.budget.boards.large(game):
            opponent = az(lab, game, size)
            for contestant in [scalable(lab, game, model) for model in models]:
                if can_play(contestant, size):
                    play(lab, file, (game, size), contestant, opponent)


def equal_compute(lab: Lab, file: ResultsFile, games: Games) -> None:
    """The subgraph ensemble against model3 with as many simulations, network evaluations, and seconds."""
    counts = file.data.setdefault("simulations", {})
    for game in games:
        ensemble, plain = (scalable(lab, game, model) for model in ("saz", "model3"))
        for size in lab.budget.boards.compute:
            # Measured once: a study that goes on later must not choose other numbers.
            if f"{game}-{size}" not in counts:
                counts[f"{game}-{size}"] = fair_simulations(lab, ensemble, plain, size)
                file.save()
            for what in ("simulations", "evaluations", "seconds"):
                rival = dataclasses.replace(plain, label=f"model3-equal-{what}")
                play(lab, file, (game, size), ensemble, rival, counts[f"{game}-{size}"][what])


def fair_simulations(lab: Lab, ensemble: Contestant, plain: Contestant, size: int) -> dict[str, Any]:
    """Simulations of model3 that equal the ensemble's in number, in network evaluations and in seconds."""
    assert ensemble.agent is not None
    own = lab.budget.simulations
    subgraphs = int(subgraph_counts(ensemble.agent.model.ensemble, size)[-1])
    # Each simulation, and the root before them, asks the network for one board and its subgraphs.
    evaluations = (own + 1) * (subgraphs + 1) - 1
    ensemble_seconds = seconds_per_move(ensemble, size, own)
    few, many = (seconds_per_move(plain, size, count) for count in (own, evaluations))
    return {
        "simulations": own,
        "evaluations": evaluations,
        "seconds": interpolate((own, few), (evaluations, many), ensemble_seconds),
        "measured": {"ensemble": ensemble_seconds, "simulations": few, "evaluations": many},
    }


def interpolate(first: tuple[int, float], second: tuple[int, float], seconds: float) -> int:
    """The count that takes `seconds`, on the line through two measured (count, seconds); at least 1."""
    slope = (second[1] - first[1]) / (second[0] - first[0])
    if slope <= 0:  # too quick for the clock to tell apart
        return second[0]
    return max(1, round(first[0] + (seconds - first[1]) / slope))


def seconds_per_move(contestant: Contestant, size: int, simulations: int) -> float:
    """The shortest of three times for one move on each of `TIMED_LANES` boards."""
    assert contestant.agent is not None
    game = contestant.agent.game(size)
    player = contestant.agent.player(game, simulations=simulations, model=contestant.model)
    key = jax.random.key(0)
    states, _ = matches.random_openings(game, key, jax.numpy.full(TIMED_LANES, size), moves=4)
    times = []
    for _ in range(4):  # the first call compiles
        began = time.monotonic()
        jax.block_until_ready(player(key, states))
        times.append(time.monotonic() - began)
    return min(times[1:])


def fine_tuning(lab: Lab, file: ResultsFile, games: Games) -> None:
    """A network trained on small boards and then on a large one: against greedy and against itself."""
    for game in games:
        size = lab.budget.boards.large(game)[0]
        before = scalable(lab, game, "model3")
        after = fine_tuned(lab, game, before, size)
        for player, opponent in ((before, GREEDY), (after, GREEDY), (after, before)):
            play(lab, file, (game, size), player, opponent)


@dataclasses.dataclass(frozen=True)
class Study:
    """One experiment."""

    fill: StudyFn
    """Computes what is missing in the file of results."""
    games: tuple[str, ...] = ("othello", "gomoku")
    """The paper's choice."""
    possible: tuple[str, ...] | None = None
    """Games that one may ask for; None: all that are registered."""


STUDIES: dict[str, Study] = {
    "complexity": Study(complexity, (), ()),
    "ablation": Study(ablation),
    "generalisation": Study(generalisation),
    "embedding": Study(embedding, ("othello",), ("othello",)),
    "training_time": Study(training_time),
    "against_az": Study(against_az),
    "go": Study(go, ("go",), ("go",)),
    "equal_compute": Study(equal_compute),
    "fine_tuning": Study(fine_tuning),
}
"""In the order of the paper; the last two are not in it."""


def run_study(lab: Lab, name: str, games: Games = ()) -> dict[str, Any]:
    """Completes a study, by default on the paper's games; returns the data of its file of results."""
    study = STUDIES[name]
    games = tuple(find_game(game) for game in games)
    for game in games:
        if study.possible is not None and game not in study.possible:
            known = ", ".join(study.possible) or "no game at all"
            raise ValueError(f"{name} is not about {game}; leave out --game, or choose among: {known}")
    file = lab.open(name)
    study.fill(lab, file, games or study.games)
    file.save()
    return cast(dict[str, Any], file.data)
