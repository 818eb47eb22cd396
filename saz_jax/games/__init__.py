"""The rules of the games as pure functions on padded boards, and `make_game`."""

from saz_jax.games.registry import GAMES, checked, make_game

__all__ = ["GAMES", "checked", "make_game"]
