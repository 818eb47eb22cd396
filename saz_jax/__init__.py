"""ScalableAlphaZero in JAX: train on small boards, play on large ones."""

from saz_jax import config, sgf, svg, text, training
from saz_jax.agent import Agent, load_agent
from saz_jax.arena import play_match
from saz_jax.games import make_game
from saz_jax.players import greedy_player, random_player
from saz_jax.types import Evaluation, Game, GameState, Player, SearchOutput

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
    "svg",
    "text",
    "training",
]
