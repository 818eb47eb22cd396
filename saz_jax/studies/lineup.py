"""Who plays in a study: greedy, random, and agents: given, shipped or else trained under the budget."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from saz_jax.agents.agent import Agent, load_agent, shipped_agents
from saz_jax.arena.contestants import Contestant, read_contestant
from saz_jax.models import registry as models
from saz_jax.storage.metrics import read_metrics
from saz_jax.studies.budgets import trained_as, training_config
from saz_jax.studies.laboratory import Lab, train

SUBGRAPH_FAMILY: tuple[str, ...] = ("saz", "model3", "model4")
"""Models of one network: any of them plays with the weights of another."""


def labelled(label: str, text: str) -> Contestant:
    """The contestant that `text` names, with its label for tables; each text has one label."""
    return dataclasses.replace(read_contestant(text), label=label)


GREEDY, RANDOM = labelled("greedy", "greedy"), labelled("random", "random")


@dataclasses.dataclass(frozen=True, eq=False)
class Stage:
    """A training run at one moment."""

    contestant: Contestant
    minutes: float
    positions: int


def scalable(lab: Lab, game: str, model: str) -> Contestant:
    """A player trained on small boards."""
    if found := _fitting(lab, game, model):
        return labelled(model, f"{found}@{model}")
    return labelled(model, f"{_small_run(lab, game, model)}@{model}")


def trained_on_tested(lab: Lab, game: str, model: str, size: int) -> Contestant:
    """Model 1 or 2, trained on the board of the test for at least as long as the scalable players."""
    minutes = training_minutes(lab, game)
    workdir = _on_tested(lab, game, model, size, minutes)
    # AZ's run is model 1's that went on: it may be further than this already.
    return labelled(model, f"{_stage_after(workdir, minutes) or workdir}@{model}")


def az(lab: Lab, game: str, size: int) -> Contestant:
    """AZ: model1 trained on the board of the test for the longer time that Table 3 gives it."""
    minutes = lab.budget.az_times * training_minutes(lab, game)
    return labelled("az", f"{_on_tested(lab, game, 'model1', size, minutes)}@model1")


def fine_tuned(lab: Lab, game: str, before: Contestant, size: int) -> Contestant:
    """The network of `before`, trained further on a larger board, to play as `before` does."""
    agent = before.agent
    if agent is None:
        raise ValueError(f"{before.label} has no weights to fine-tune; choose an agent")
    config = training_config(lab.budget, game, agent.model.name, size)
    config = dataclasses.replace(
        config,
        game_options=dict(agent.game_options),
        network=agent.model.network,
        ensemble=agent.model.ensemble,
    )
    minutes = lab.budget.tuning_share * training_minutes(lab, game)
    workdir = train(lab, "tuned", config, minutes, init_from=agent)
    return labelled("tuned", f"{workdir}@{before.model or agent.model.name}")


def small_stages(lab: Lab, game: str, model: str) -> list[Stage]:
    """The stages of the run that trains `model` on small boards."""
    found = _fitting(lab, game, model, with_stages=True)
    return _stages(lab, Path(found) if found else _small_run(lab, game, model), model)


def az_stages(lab: Lab, game: str, size: int) -> list[Stage]:
    """The stages of AZ's run on the board of the test."""
    return _stages(lab, Path(az(lab, game, size).text.partition("@")[0]), "model1")


def training_minutes(lab: Lab, game: str) -> float:
    """Training minutes of each player of a game: those of the SAZ given or shipped, else the budget's."""
    found = _fitting(lab, game, "saz")
    seconds = load_agent(found).meta.get("seconds") if found else None
    return lab.budget.minutes if seconds is None else seconds / 60


def can_play(contestant: Contestant, size: int) -> bool:
    """Whether the contestant can play on boards of that side."""
    agent = contestant.agent
    if agent is None:
        return True
    config = dataclasses.replace(agent.model, name=contestant.model or agent.model.name)
    game = agent.game(max(size, getattr(config.network, "side", size)))
    smallest, largest = models.make_model(config, game).sizes
    return smallest <= size and (largest is None or size <= largest)


def _small_run(lab: Lab, game: str, model: str) -> Path:
    trained = trained_as(lab.budget, model)
    return train(lab, trained, training_config(lab.budget, game, trained), training_minutes(lab, game))


def _on_tested(lab: Lab, game: str, model: str, size: int, minutes: float) -> str:
    """An agent, given, shipped or trained for so many minutes."""
    config = training_config(lab.budget, game, model, size)
    return _fitting(lab, game, model, size) or str(train(lab, model, config, minutes))


def _stage_after(workdir: str, minutes: float) -> str | None:
    """The first stage of a training run that had at least so many minutes."""
    files = sorted((Path(workdir) / "stages").glob("*.npz"))
    return next((str(file) for file in files if load_agent(file).meta["seconds"] >= 60 * minutes), None)


def _stages(lab: Lab, workdir: Path, model: str) -> list[Stage]:
    """At most `budget.stages` of the stages in `workdir`, evenly spaced, the last one included."""
    files = sorted((workdir / "stages").glob("*.npz"))
    if not files:
        raise ValueError(f"{workdir} keeps no stages of its training; name another run")
    count = min(lab.budget.stages, len(files))
    chosen = [files[round((i + 1) * len(files) / count) - 1] for i in range(count)]
    positions = {row["iteration"]: int(row["positions"]) for row in read_metrics(workdir)}
    stages = []
    for file in chosen:
        contestant = labelled(f"{model}-stage-{file.stem}", f"{file}@{model}")
        assert contestant.agent is not None
        meta = contestant.agent.meta
        stages.append(Stage(contestant, meta["seconds"] / 60, positions[meta["iteration"]]))
    return stages


def _fitting(
    lab: Lab, game: str, model: str, size: int | None = None, with_stages: bool = False
) -> str | None:
    """The first agent, given or shipped, that can stand for `model`; `size`: trained on that side."""
    for text, agent in _known_agents(lab):
        has_stages = not with_stages or (Path(text) / "stages").is_dir()
        if agent.game_name == game and _stands_for(agent, model, size) and has_stages:
            return text
    return None


def _stands_for(agent: Agent, model: str, size: int | None) -> bool:
    if size is not None and agent.trained_sizes != (size,):
        return False
    return agent.model.name == model or {agent.model.name, model} <= set(SUBGRAPH_FAMILY)


def _known_agents(lab: Lab) -> Iterator[tuple[str, Agent]]:
    shipped = sorted(shipped_agents())
    for text in (*lab.agents, *(() if lab.budget.retrain else shipped)):
        yield text, load_agent(text)
