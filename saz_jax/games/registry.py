"""`make_game`: the games by name, with checks that speak before tracing starts."""

import dataclasses
import functools
import inspect
import numbers
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from saz_jax.games import go, gomoku, notation, othello
from saz_jax.types import Array, Game, GameState

GAMES: dict[str, Callable[..., Game]] = {"othello": othello.make, "gomoku": gomoku.make, "go": go.make}


def make_game(name: str, max_size: int, **options: Any) -> Game:
    """The rules of `name` on padded boards of side `max_size`; equal arguments give the same object.

    Options: gomoku `k`; go `komi`, `superko`, `move_cap`.  Outside `jit`, the functions of the game check
    their arguments and raise `ValueError`; inside, an illegal or out-of-range action changes nothing.
    """
    if name not in GAMES:
        raise ValueError(f"unknown game {name!r}; choose one of {', '.join(sorted(GAMES))}")
    parameters = inspect.signature(GAMES[name]).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    for option, value in options.items():
        if option not in defaults:
            remedy = f"it takes {', '.join(defaults)}" if defaults else "it takes none"
            raise ValueError(f"{name} has no option {option!r}; {remedy}")
        if value is not None and not isinstance(value, numbers.Number):
            raise ValueError(f"option {option}={value!r} of {name} is not a number")
    if isinstance(max_size, bool) or not isinstance(max_size, numbers.Integral):
        raise ValueError(f"max_size must be a whole number, not {max_size!r}")
    return _build(name, int(max_size), **(defaults | options))


@functools.lru_cache(maxsize=None, typed=True)  # typed: k=5.0 must not pass as the k=5 of an earlier call
def _build(name: str, max_size: int, **options: Any) -> Game:
    return checked(GAMES[name](max_size, **options))


def checked(game: Game) -> Game:
    """`game` with arguments checked wherever they are concrete; traced ones are taken as they come."""
    if game.max_size < game.min_size:
        raise ValueError(
            f"max_size={game.max_size} is too small for {game.name}; use at least {game.min_size}, "
            "its smallest board side"
        )

    def init(size: Any) -> GameState:
        return game.init(_checked_size(game, size))

    def setup(board: Any, size: Any, to_play: Any) -> GameState:
        size, side = _checked_size(game, size), game.max_size
        if np.shape(board) != (side, side):
            raise ValueError(f"board has shape {np.shape(board)}; pad it to ({side}, {side}) with zeros")
        if _concrete(board):
            _check_stones(np.asarray(board), size)
        if _concrete(to_play) and to_play not in (1, -1):
            raise ValueError(f"to_play={to_play!r} is nobody; use 1 for dark or -1 for light")
        return game.setup(jnp.asarray(board, jnp.int8), size, jnp.asarray(to_play, jnp.int8))

    def step(state: GameState, action: Any) -> GameState:
        return game.step(state, _checked_action(game, state, action))

    return dataclasses.replace(game, init=init, setup=setup, step=step)


def _concrete(x: Any) -> bool:
    return not isinstance(x, Tracer)


def _checked_size(game: Game, size: Any) -> Array:
    if not _concrete(size):
        if size.ndim or not jnp.issubdtype(size.dtype, jnp.integer):
            raise ValueError(
                f"board side is {size.dtype}{list(size.shape)}; use one int32, or jax.vmap for several"
            )
        return size.astype(jnp.int32)
    value = np.asarray(size)
    if value.ndim or not np.issubdtype(value.dtype, np.integer):
        raise ValueError(f"board side must be one whole number, not {size!r}; use jax.vmap for several")
    if value < game.min_size:
        raise ValueError(f"board side {value} is too small for {game.name}; the smallest is {game.min_size}")
    if value > game.max_size:
        raise ValueError(f"board side {value} exceeds max_size={game.max_size}; raise max_size")
    return jnp.asarray(value, jnp.int32)


def _check_stones(board: np.ndarray, size: Array) -> None:
    if not np.isin(board, (-1, 0, 1)).all():
        odd = board[~np.isin(board, (-1, 0, 1))][0]
        raise ValueError(f"board holds {odd}; use 1 for dark, -1 for light and 0 for an empty point")
    if _concrete(size) and (board[int(size) :].any() or board[:, int(size) :].any()):
        raise ValueError(
            f"board has stones outside its live {size} x {size} corner; raise size or remove them"
        )


def _checked_action(game: Game, state: GameState, action: Any) -> Any:
    shape, dtype = np.shape(action), action.dtype if hasattr(action, "dtype") else np.asarray(action).dtype
    if shape or not jnp.issubdtype(dtype, jnp.integer):
        raise ValueError(
            f"action is {dtype}{list(shape)}; use one integer from 0 to {game.num_actions - 1}, "
            "or jax.vmap for several"
        )
    if not _concrete(action):
        return action.astype(jnp.int32)
    action = int(action)
    if not 0 <= action < game.num_actions:
        raise ValueError(
            f"action {action} is out of range; use 0 to {game.num_actions - 1}, the last is pass"
        )
    if _concrete(state.legal) and not state.terminated and not state.legal[action]:
        names = [notation.move_name(legal, game.max_size) for legal in np.flatnonzero(state.legal).tolist()]
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        mover = "dark (X)" if state.to_play == 1 else "light (O)"
        raise ValueError(
            f"action {action} ({notation.move_name(action, game.max_size)}) is illegal for {mover} here; "
            f"legal are {shown}\n{notation.draw(state)}"
        )
    return jnp.asarray(action, jnp.int32)
