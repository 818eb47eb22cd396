"""Players by text as thinkers: what sits down at a game in progress.

person; random, greedy; mcts:100; an agent, agent@model3, raw:agent; gtp:COMMAND, gomocup:COMMAND,
nboard:COMMAND; all but the person as in the arena.
"""

import functools
import re

from saz_jax.agents.agent import Agent, load_agent
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.arena.engines import engine_player, is_engine
from saz_jax.play.limits import Limits
from saz_jax.play.thinking import (
    MAX_TREE_BYTES,
    EngineThinker,
    PlainThinker,
    Thinker,
    agent_thinker,
    rollout_thinker,
)
from saz_jax.types import Game

PERSON = "person"
SHIPPED_DEFAULT = 100
"""Simulations of an agent that is given no other limits."""


@functools.lru_cache(maxsize=8)
def cached_agent(path: str) -> Agent:
    """The agent at a path or of a name; read once."""
    return load_agent(path)


def agent_of(text: str) -> Agent | None:
    """The agent that plays under this text; None: somebody without weights does."""
    if text in (PERSON, "random", "greedy") or text.startswith("mcts") or is_engine(text):
        return None
    path = text.removeprefix("raw:").partition("@")[0]
    try:
        return cached_agent(path)
    except ValueError as error:
        raise ValueError(
            f"unknown player {text!r}: {error}; other players are {PERSON}, random, greedy, mcts:100"
        ) from error


def own_limits(text: str, asked: Limits) -> Limits:
    """What a player spends on a move: as asked for, else its own number of simulations."""
    if asked.simulations is not None or asked.seconds is not None:
        return asked
    found = re.fullmatch(r"mcts:([1-9]\d{0,6})", text)
    return Limits(int(found[1]) if found else SHIPPED_DEFAULT)


# Each one is made once, so that it is compiled once.
_random = functools.cache(random_player)
_greedy = functools.lru_cache(maxsize=32)(greedy_player)


def make_thinker(
    text: str,
    game: Game,
    size: int,
    limits: Limits,
    *,
    reuse: bool = True,
    symmetries: bool = False,
    analysis: bool = False,
    tree_bytes: float = MAX_TREE_BYTES,
    seed: int = 0,
) -> Thinker | None:
    """The player that `text` names, on boards of `game`; None for a person."""
    if text == PERSON:
        return None
    if text == "random":
        return PlainThinker(text, _random(), seed)
    if text == "greedy":
        return PlainThinker(text, _greedy(game), seed)
    if text.startswith("mcts"):
        found = re.fullmatch(r"mcts:([1-9]\d{0,6})", text)
        if not found:
            raise ValueError(f"unknown player {text!r}; write mcts:100 for 100 simulations")
        return rollout_thinker(text, game, int(found[1]), seed)
    if is_engine(text):
        return EngineThinker(engine_player(text, game, size))
    agent = agent_of(text)
    assert agent is not None
    model = text.partition("@")[2] or None
    if text.startswith("raw:"):
        return PlainThinker(text, agent.player(game, model=model, raw=True, sizes=(size,)), seed)
    return agent_thinker(
        text, agent, game, size, limits, model=model, reuse=reuse, symmetries=symmetries, analysis=analysis,
        tree_bytes=tree_bytes, seed=seed,
    )  # fmt: skip
