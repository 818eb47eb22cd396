"""Players by text, as a command line, a table and a file of results call them.

random, greedy; mcts:100, tree search with random playouts and 100 simulations; an agent, that is an export,
the workdir of a training run or the name of shipped weights; agent@model3, its weights played as another
model; raw:agent, its policy without search.
"""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, get_args

import jax
import numpy as np

from saz_jax.agents.agent import Agent, load_agent
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.config import ModelName
from saz_jax.search.rollouts import rollout_player
from saz_jax.types import Game, Player


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A player that can be seated at any game it knows."""

    text: str
    seat: Callable[[Game, int], Player]
    """(game, live side) -> Player; ValueError if it cannot play there."""
    game: str | None = None
    """The only game that it plays; None: any."""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Options of the game that it was trained with."""
    weights: str | None = None
    """A digest of its weights, if it has any: the same text may later name other weights."""


def read_contestant(
    text: str, simulations: int | None = None, kind: str | None = None, score: float | None = None
) -> Contestant:
    """The player that `text` names; `simulations`, `kind` and `score` are those of agents that search."""
    if text == "random":
        return Contestant(text, lambda game, size: random_player())
    if text == "greedy":
        return Contestant(text, lambda game, size: greedy_player(game))
    if text.startswith("mcts"):
        return _rollouts(text)
    return _agent(text, simulations, kind, score)


def agreed_options(game: str, asked: Mapping[str, Any], contestants: Iterable[Contestant]) -> dict[str, Any]:
    """Options of the game: those asked for (not None), else those that the agents were trained with."""
    options = {name: value for name, value in asked.items() if value is not None}
    for contestant in contestants:
        if contestant.game not in (None, game):
            raise ValueError(f"{contestant.text} was trained on {contestant.game}; it cannot play {game}")
        for name, value in contestant.options.items():
            if options.setdefault(name, value) != value and asked.get(name) is None:
                raise ValueError(
                    f"the players were trained with {name}={options[name]} and {name}={value}; "
                    f"choose one with --{name}"
                )
    return options


def _rollouts(text: str) -> Contestant:
    found = re.fullmatch(r"mcts:([1-9]\d*)", text)
    if not found:
        raise ValueError(f"unknown player {text!r}; write mcts:100 for 100 simulations")
    return Contestant(text, lambda game, size: rollout_player(game, int(found[1])))


def _agent(text: str, simulations: int | None, kind: str | None, score: float | None) -> Contestant:
    raw = text.startswith("raw:")
    path, _, model = text.removeprefix("raw:").partition("@")
    if model and model not in get_args(ModelName):
        raise ValueError(
            f"unknown model {model!r} in {text!r}; choose one of {', '.join(get_args(ModelName))}"
        )
    try:
        agent = load_agent(path)
    except ValueError as error:
        raise ValueError(
            f"unknown player {text!r}: {error}; other players are random, greedy, mcts:100"
        ) from error

    def seat(game: Game, size: int) -> Player:
        name = cast(ModelName, model) if model else None
        return agent.player(
            game, simulations=simulations, kind=kind, score=score, model=name, raw=raw, sizes=(size,)
        )

    return Contestant(text, seat, agent.game_name, agent.game_options, weights_digest(agent))


def weights_digest(agent: Agent) -> str:
    """A short text that changes with any weight."""
    digest = hashlib.blake2b(digest_size=8)
    for leaf in jax.tree.leaves(agent.variables):
        digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()
