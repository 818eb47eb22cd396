"""`make_game`: the games by name, with checks that speak before tracing starts."""

import dataclasses
import functools
import inspect
import numbers
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games import go, gomoku, othello
from saz_jax.types import Game, GameState

GAMES: dict[str, Callable[..., Game]] = {"othello": othello.make, "gomoku": gomoku.make, "go": go.make}


def make_game(name: str, max_size: int, **options: Any) -> Game:
    """The rules of `name` on padded boards of side `max_size`; equal arguments give the same object.

    Options: gomoku `k`; go `komi`, `superko`, `move_cap`.  Outside `jit`, the functions of the game check
    their arguments and raise `ValueError`; inside, an illegal or out-of-range action changes nothing.
    """
    if name not in GAMES:
        raise ValueError(f"unknown game {name!r}; choose one of {', '.join(sorted(GAMES))}")
    known = [p.name for p in inspect.signature(GAMES[name]).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            remedy = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"{name} has no option {option!r}; {remedy}")
    if isinstance(max_size, bool) or not isinstance(max_size, numbers.Integral):
        raise ValueError(f"max_size must be a whole number, not {max_size!r}")
    return _build(name, int(max_size), tuple(sorted(options.items())))


@functools.cache
def _build(name: str, max_size: int, options: tuple[tuple[str, Any], ...]) -> Game:
    return checked(GAMES[name](max_size, **dict(options)))


def checked(game: Game) -> Game:
    """`game` with arguments checked wherever they are concrete; traced ones are taken as they come."""
    if game.max_size < game.min_size:
        raise ValueError(
            f"max_size={game.max_size} is too small for {game.name}; its smallest board side is {game.min_size}"
        )

    def init(size: Any) -> GameState:
        return game.init(_checked_size(game, size))

    def setup(board: Any, size: Any, to_play: Any) -> GameState:
        board = jnp.asarray(board, jnp.int8)
        if board.shape != (game.max_size, game.max_size):
            raise ValueError(
                f"board has shape {board.shape}; pad it to ({game.max_size}, {game.max_size}) with zeros"
            )
        return game.setup(board, _checked_size(game, size), to_play)

    def step(state: GameState, action: Any) -> GameState:
        action = jnp.asarray(action)
        if not jnp.issubdtype(action.dtype, jnp.integer):
            raise ValueError(f"action has dtype {action.dtype}; use an integer from 0 to {game.num_actions - 1}")
        if _concrete(action) and action.ndim == 0:
            _check_action(game, state, int(action))
        return game.step(state, action)

    return dataclasses.replace(game, init=init, setup=setup, step=step)


def _concrete(x: Any) -> bool:
    return not isinstance(x, jax.core.Tracer)


def _checked_size(game: Game, size: Any) -> Any:
    if not _concrete(size):
        if not jnp.issubdtype(size.dtype, jnp.integer):
            raise ValueError(f"board side has dtype {size.dtype}; use int32")
        return size.astype(jnp.int32)
    value = np.asarray(size)
    if value.ndim or not np.issubdtype(value.dtype, np.integer):
        raise ValueError(f"board side must be one whole number, not {size!r}; use jax.vmap for several")
    if value < game.min_size:
        raise ValueError(f"board side {value} is too small for {game.name}; the smallest is {game.min_size}")
    if value > game.max_size:
        raise ValueError(f"board side {value} exceeds max_size={game.max_size}; raise max_size")
    return jnp.asarray(value, jnp.int32)


def _check_action(game: Game, state: GameState, action: int) -> None:
    if not 0 <= action < game.num_actions:
        raise ValueError(f"action {action} is out of range; use 0 to {game.num_actions - 1} (the last is pass)")
    if _concrete(state.legal) and not state.terminated and not state.legal[action]:
        legal = np.flatnonzero(state.legal).tolist()
        raise ValueError(f"action {action} is illegal here; legal actions are {legal}")
