"""ScalableAlphaZero in JAX: train on small boards, play on large ones."""

from saz_jax import config
from saz_jax.games import make_game
from saz_jax.types import Evaluation, Game, GameState, Player, SearchOutput

__version__ = "0.1.0"

__all__ = [
    "Evaluation",
    "Game",
    "GameState",
    "Player",
    "SearchOutput",
    "__version__",
    "config",
    "make_game",
]
