"""ScalableAlphaZero in JAX: train on small boards, play on large ones."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from saz_jax import config
from saz_jax.agents.agent import Agent, load_agent
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.arena.matches import play_match
from saz_jax.games import make_game, shapes
from saz_jax.render import sgf, svg, text
from saz_jax.types import Evaluation, Game, GameState, Player, SearchOutput

if TYPE_CHECKING:
    from saz_jax import training

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Evaluation",
    "Game",
    "GameState",
    "Player",
    "SearchOutput",
    "__version__",
    "config",
    "greedy_player",
    "load_agent",
    "make_game",
    "play_match",
    "random_player",
    "sgf",
    "shapes",
    "svg",
    "text",
    "training",
]


def __getattr__(name: str) -> ModuleType:
    # Training needs orbax, which takes a second or two to import.
    if name == "training":
        return importlib.import_module("saz_jax.training")
    raise AttributeError(f"module 'saz_jax' has no attribute {name!r}")
