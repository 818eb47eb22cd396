"""The rules of the games as pure functions on padded boards, and `make_game`."""

from saz_jax.games.contract import BrokenPromise, check_game
from saz_jax.games.registry import make_game, register_game

__all__ = ["BrokenPromise", "check_game", "make_game", "register_game"]
