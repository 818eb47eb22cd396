"""ScalableAlphaZero in JAX: train on small boards, play on large ones.

What is public stands in `__all__`, here and in the subpackages; everything else may change without notice.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from saz_jax import agents, arena, config, games, graphs, models, networks, render, search, storage
from saz_jax.agents import Agent, greedy_player, load_agent, random_player
from saz_jax.arena import play_match
from saz_jax.games import check_game, make_game, register_game, shapes
from saz_jax.graphs import register_prior
from saz_jax.models import register_model
from saz_jax.networks import register_network
from saz_jax.render import sgf, svg, text
from saz_jax.search import register_search
from saz_jax.types import (
    EvaluateFn,
    Evaluation,
    Game,
    GameState,
    Model,
    Network,
    Observation,
    Player,
    SearchFn,
    SearchOutput,
    SGFFormat,
)

if TYPE_CHECKING:
    from saz_jax import cli, studies, training

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "EvaluateFn",
    "Evaluation",
    "Game",
    "GameState",
    "Model",
    "Network",
    "Observation",
    "Player",
    "SGFFormat",
    "SearchFn",
    "SearchOutput",
    "__version__",
    "agents",
    "arena",
    "check_game",
    "cli",
    "config",
    "games",
    "graphs",
    "greedy_player",
    "load_agent",
    "make_game",
    "models",
    "networks",
    "play_match",
    "random_player",
    "register_game",
    "register_model",
    "register_network",
    "register_prior",
    "register_search",
    "render",
    "search",
    "sgf",
    "shapes",
    "storage",
    "studies",
    "svg",
    "text",
    "training",
]

_LATER = ("cli", "studies", "training")
"""Imported when they are first asked for: training needs orbax, which takes a second or two to import."""


def __getattr__(name: str) -> ModuleType:
    if name in _LATER:
        return importlib.import_module(f"saz_jax.{name}")
    raise AttributeError(f"module 'saz_jax' has no attribute {name!r}")
