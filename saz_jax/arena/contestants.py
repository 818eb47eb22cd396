"""Players by name, as command lines, tables and files of results write them.

random, greedy; mcts:100, tree search with random playouts and 100 simulations; an agent, that is an export,
the workdir of a training run or the name of shipped weights; agent@model3, its weights played as another
model; agent@simulations=400,solve=true, with other settings of its search; raw:agent, its policy without
search; gtp:COMMAND, gomocup:COMMAND or nboard:COMMAND, another program.
"""

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import numpy as np

from saz_jax.agents.agent import Agent, as_kind, load_agent
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.arena.engines import engine_player, is_engine
from saz_jax.config import SearchConfig, from_json, to_json
from saz_jax.config.registry import MODELS
from saz_jax.games.precision import check_precision
from saz_jax.search.rollouts import rollout_player
from saz_jax.types import Game, Player


@dataclasses.dataclass(frozen=True, eq=False)
class Contestant:
    """A player that can join any game it knows."""

    text: str
    """Its name on the command line and in files of results."""
    seat: Callable[[Game, int], Any]
    """(game, live side) -> Player, or HostPlayer for another program; ValueError if it cannot play there."""
    agent: Agent | None = None
    """The agent whose weights it uses; None: it has no weights and plays any game."""
    model: str | None = None
    """The model that its agent plays as, if not the one it was trained as."""
    label: str = ""
    """A shorter name for tables, where a study gives it one."""

    @property
    def game(self) -> str | None:
        """The only game that it plays; None: any."""
        return self.agent.game_name if self.agent else None

    @property
    def options(self) -> Mapping[str, Any]:
        """Options of the game that it was trained with."""
        return self.agent.game_options if self.agent else {}

    @functools.cached_property
    def weights(self) -> str | None:
        """A digest of its weights, if it has any: the same text may later name other weights."""
        return weights_digest(self.agent) if self.agent else None


def read_contestant(
    text: str | Agent | Player,
    simulations: int | None = None,
    search: str | None = None,
    heuristic_weight: float | None = None,
) -> Contestant:
    """A name, an agent or a player as a contestant; the other arguments are for agents that search."""
    if isinstance(text, Agent):
        name = f"agent-{weights_digest(text)}"
        return _seated(name, text, simulations, search, heuristic_weight)
    if not isinstance(text, str):
        if not callable(text):
            raise ValueError(
                f"{text!r} is no player; give a function (key, states) -> actions, an agent, "
                "or a name such as 'greedy', 'mcts:100' or 'othello'"
            )
        player = text
        return Contestant(getattr(player, "__name__", type(player).__name__), lambda game, size: player)
    if text == "random":
        return Contestant(text, lambda game, size: random_player())
    if text == "greedy":
        return Contestant(text, lambda game, size: greedy_player(game))
    if text.startswith("mcts"):
        return _rollouts(text)
    if is_engine(text):
        return Contestant(text, lambda game, size: engine_player(text, game, size))
    return _agent(text, simulations, search, heuristic_weight)


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


def _agent(
    text: str, simulations: int | None, search: str | None, heuristic_weight: float | None
) -> Contestant:
    check_precision()
    raw = text.startswith("raw:")
    path, _, words = text.removeprefix("raw:").partition("@")
    changes = [word for word in words.split(",") if "=" in word]
    model = ",".join(word for word in words.split(",") if "=" not in word)
    if model:
        MODELS.find(model)
    try:
        agent = load_agent(path)
    except ValueError as error:
        raise ValueError(
            f"unknown player {text!r}: {error}; other players are random, greedy, mcts:100"
        ) from error
    if changes:  # they count more than what all agents of a match are given
        changed = _changed(agent.search, changes, simulations, search, heuristic_weight)
        agent = dataclasses.replace(agent, search=changed)
        simulations = search = heuristic_weight = None
    return _seated(text, agent, simulations, search, heuristic_weight, model or None, raw)


def _changed(
    settings: SearchConfig,
    changes: Iterable[str],
    simulations: int | None,
    search: str | None,
    heuristic_weight: float | None,
) -> SearchConfig:
    """The settings of a search with `changes` such as solve=true, and with those given unless they clash."""
    given = {"kind": search, "simulations": simulations, "heuristic_weight": heuristic_weight}
    told = {name: value for name, value in given.items() if value is not None}
    for change in changes:
        name, _, text = change.partition("=")
        try:
            told[name] = json.loads(text)
        except ValueError:  # a word
            told[name] = text
    settings = as_kind(settings, str(told.get("kind", settings.kind)))
    return from_json(type(settings), {**to_json(settings), **told}, "search")


def _seated(
    text: str,
    agent: Agent,
    simulations: int | None,
    search: str | None,
    heuristic_weight: float | None,
    model: str | None = None,
    raw: bool = False,
) -> Contestant:
    def seat(game: Game, size: int) -> Player:
        return agent.player(
            game,
            simulations=simulations,
            search=search,
            heuristic_weight=heuristic_weight,
            model=model,
            raw=raw,
            sizes=(size,),
        )

    return Contestant(text, seat, agent, model)


def weights_digest(agent: Agent) -> str:
    """A short text that changes with any weight."""
    digest = hashlib.blake2b(digest_size=8)
    for leaf in jax.tree.leaves(agent.variables):
        digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()
