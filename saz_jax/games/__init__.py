"""The rules of the games as pure functions on padded boards, `make_game`, and parts for rules of your own."""

from saz_jax.games import shapes
from saz_jax.games.board import (
    live_points,
    live_side,
    not_square,
    point,
    random_move,
    shift,
    symmetry,
    unless_over_or_illegal,
    where_states,
)
from saz_jax.games.contract import BrokenPromise, check_game
from saz_jax.games.registry import make_game, register_game

__all__ = [
    "BrokenPromise",
    "check_game",
    "live_points",
    "live_side",
    "make_game",
    "not_square",
    "point",
    "random_move",
    "register_game",
    "shapes",
    "shift",
    "symmetry",
    "unless_over_or_illegal",
    "where_states",
]
