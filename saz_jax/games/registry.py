"""`make_game` and `register_game`: games by name, with arguments checked before tracing starts."""

import dataclasses
import functools
import inspect
import numbers
import typing
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from saz_jax.config.json_form import fitting
from saz_jax.config.registry import GAMES, import_plugin
from saz_jax.games import breakthrough, clobber, go, gomoku, hex, notation, othello
from saz_jax.games.actions import source_and_target
from saz_jax.games.precision import check_precision
from saz_jax.types import Array, Game, GameState

GameMaker: typing.TypeAlias = Callable[..., Game]
"""(max_size, **options) -> Game; options are keyword-only and have defaults."""
LOOK_AT_SIDES = (26, 100)
"""Padded sides to try for a game whose properties are looked up without playing it."""


def register_game(name: str, make: GameMaker) -> None:
    """Makes a game known by `name` to `make_game`, to training, agents, matches and command lines.

    `make(max_size, **options) -> Game`: options are keyword-only arguments with defaults; annotate them with
    their type, and with a text for `--help`: `k: Annotated[int, "stones in a row that win"] = 5`.
    """
    GAMES.add(name, make)


def make_game(name: str, max_size: int, **options: Any) -> Game:
    """The game `name` on padded boards of side `max_size`; equal arguments give the same object.

    options: keyword arguments of the game's maker, such as `k` of gomoku or `komi` of go.  Outside `jit`, the
    functions of the game check their arguments and raise `ValueError`; inside, an illegal or out-of-range
    action changes nothing.
    """
    check_precision()
    name = find_game(name)
    if isinstance(max_size, bool) or not isinstance(max_size, numbers.Integral):
        raise ValueError(f"max_size must be a whole number, not {max_size!r}")
    entry = GAMES.find(name)
    return _build(entry.make, name, entry.origin, int(max_size), **full_options(name, options))


def find_game(text: str) -> str:
    """The name of the game that `text` means: a registered name, or `module:make` of a maker of one's own.

    The latter registers the maker under the name that its games have.
    """
    if not isinstance(text, str) or ":" not in text:
        return GAMES.find(text).name
    module, _, function = text.partition(":")
    make: Any = getattr(import_plugin(module), function, None)
    if make is None or not callable(make):
        raise ValueError(f"{module} has no function {function!r}; name a maker, make(max_size) -> Game")
    game: Any = _first_that_fits(typing.cast(GameMaker, make))
    if not isinstance(game, Game):
        raise ValueError(f"{text} makes {type(game).__name__}, no Game; name a maker, make(max_size) -> Game")
    register_game(game.name, typing.cast(GameMaker, make))
    return game.name


def look_at(name: str, **options: Any) -> Game:
    """The game `name` on some padded side, to ask what it says about itself."""
    entry = GAMES.find(find_game(name))
    return _first_that_fits(functools.partial(make_game, entry.name, **options))


def _first_that_fits(make: GameMaker) -> Game:
    for side in LOOK_AT_SIDES[:-1]:
        try:
            return make(side)
        except ValueError:  # too small for this game, or an error in its maker, which the last try raises
            continue
    return make(LOOK_AT_SIDES[-1])


def option_types(name: str) -> dict[str, tuple[Any, Any]]:
    """{option: (type, default)} of a game, from the signature of its maker."""
    make = GAMES.find(find_game(name)).make
    hints = typing.get_type_hints(make, include_extras=True)
    parameters = inspect.signature(make).parameters.values()
    return {p.name: (hints.get(p.name, Any), p.default) for p in parameters if p.kind is p.KEYWORD_ONLY}


def full_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a game: those given, checked, and the defaults of the others."""
    known = option_types(name)
    for option in options:
        if option not in known:
            remedy = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"{name} has no option {option!r}; {remedy}")
    plain = {o: x.item() if isinstance(x, np.generic) else x for o, x in options.items()}
    given = {o: fitting(known[o][0], x, f"option {o} of {name}") for o, x in plain.items()}
    return {option: default for option, (_, default) in known.items()} | given


@functools.lru_cache(maxsize=None, typed=True)  # typed: k=5.0 must not pass as the k=5 of an earlier call
def _build(make: GameMaker, name: str, origin: str, max_size: int, **options: Any) -> Game:
    game = make(max_size, **options)
    if not isinstance(game, Game):
        raise ValueError(f"the maker of {name}, {origin}, makes {type(game).__name__}; let it return a Game")
    about = {"name": name, "options": tuple(options.items()), "origin": origin}
    return checked(dataclasses.replace(game, **about))


def checked(game: Game) -> Game:
    """`game` with its arguments checked where they are concrete; traced ones pass unchecked."""
    if game.max_size < game.min_size:
        raise ValueError(
            f"board side {game.max_size} is too small for {game.name}; the smallest is {game.min_size}"
        )

    def init(shape: Any) -> GameState:
        return game.init(_checked_shape(game, shape))

    def setup(board: Any, shape: Any, to_play: Any) -> GameState:
        shape, side = _checked_shape(game, shape), game.max_size
        if np.shape(board) != (side, side):
            raise ValueError(f"board has shape {np.shape(board)}; pad it to ({side}, {side}) with zeros")
        if _concrete(board):
            _check_stones(np.asarray(board), shape)
        if _concrete(to_play) and to_play not in (1, -1):
            raise ValueError(f"to_play={to_play!r} is nobody; use 1 for dark or -1 for light")
        return game.setup(jnp.asarray(board, jnp.int8), shape, jnp.asarray(to_play, jnp.int8))

    def step(state: GameState, action: Any) -> GameState:
        return game.step(state, _checked_action(game, state, action))

    return dataclasses.replace(game, init=init, setup=setup, step=step)


def points_of(game: Game, shape: Any) -> np.ndarray:
    """bool[N, N]: the points of a concrete shape; `ValueError` if the game cannot be played on it."""
    checked_shape, index = np.asarray(_checked_shape(game, shape)), np.arange(game.max_size)
    if checked_shape.ndim == 2:
        return checked_shape
    return (index[:, None] < checked_shape) & (index[None, :] < checked_shape)


def _concrete(x: Any) -> bool:
    return not isinstance(x, Tracer)


def _checked_shape(game: Game, shape: Any) -> Any:
    """A side as int32[], rows and columns or a mask as bool[N, N]; concrete ones as numpy, and checked."""
    if isinstance(shape, tuple):
        return _checked_points(game, _rectangle(game, shape))
    if np.ndim(shape) == 2:
        return _checked_points(game, shape)
    return _checked_size(game, shape)


def _rectangle(game: Game, shape: tuple[Any, ...]) -> Any:
    """bool[N, N]: the points of (rows, columns)."""
    if len(shape) != 2 or not all(map(_is_whole, shape)):
        raise ValueError(f"a rectangle is a pair of whole numbers (rows, columns), not {shape!r}")
    (rows, columns), index = shape, np.arange(game.max_size)
    for name, number in (("rows", rows), ("columns", columns)):
        if _concrete(number) and not 1 <= number <= game.max_size:
            remedy = "use 1 or more" if number < 1 else "raise max_size"
            raise ValueError(f"{number} {name} do not fit max_size={game.max_size}; {remedy}")
    return (index[:, None] < rows) & (index[None, :] < columns)


def _checked_points(game: Game, points: Any) -> Any:
    """The mask `points` (bool[r, c]), padded to [N, N]; checked against the rules if it is concrete."""
    points = points if hasattr(points, "dtype") else np.asarray(points)
    side, (rows, columns) = game.max_size, points.shape
    if not jnp.issubdtype(points.dtype, jnp.bool_):
        raise ValueError(f"a mask of points is bool[rows, columns], not {points.dtype}[{rows}, {columns}]")
    if max(rows, columns) > side:
        drawn = f"\n{notation.draw_points(np.asarray(points))}" if _concrete(points) else ""
        raise ValueError(
            f"a mask of {rows} x {columns} points exceeds max_size={side}; raise max_size{drawn}"
        )
    pad = ((0, side - rows), (0, side - columns))
    if not _concrete(points):
        return jnp.pad(points, pad)
    points = np.pad(np.asarray(points), pad)
    used = np.flatnonzero(points.any(0) | points.any(1))
    if not used.size:
        raise ValueError("a mask without points is no board; set some to True")
    if used.max() + 1 < game.min_size:
        problem = f"its side is {used.max() + 1}; the smallest is {game.min_size}"
    else:
        with jax.ensure_compile_time_eval():  # a game's own check may use jnp, and somebody may be tracing
            problem = game.shape_problem(points)
    if problem:
        drawn = notation.draw_points(points)
        raise ValueError(f"{game.name} cannot be played on this shape: {problem}\n{drawn}")
    return points


def _checked_size(game: Game, size: Any) -> Array:
    if not _concrete(size):
        if size.ndim or not jnp.issubdtype(size.dtype, jnp.integer):
            raise ValueError(
                f"board side is {size.dtype}{list(size.shape)}; use one int32, or jax.vmap for several"
            )
        return size.astype(jnp.int32)
    if not _is_whole(size):
        raise ValueError(
            f"board side must be one whole number, not {size!r}; use jax.vmap for several, "
            "and a tuple (rows, columns) or a mask of points for other shapes"
        )
    value = int(size)
    if value < game.min_size:
        raise ValueError(f"board side {value} is too small for {game.name}; the smallest is {game.min_size}")
    if value > game.max_size:
        raise ValueError(f"board side {value} exceeds max_size={game.max_size}; raise max_size")
    return jnp.asarray(value, jnp.int32)


def _is_whole(x: Any) -> bool:
    """Whether x is one whole number, traced or not."""
    if hasattr(x, "dtype"):
        return not np.ndim(x) and jnp.issubdtype(x.dtype, jnp.integer)
    return isinstance(x, numbers.Integral) and not isinstance(x, bool)


def _check_stones(board: np.ndarray, shape: Any) -> None:
    if not np.isin(board, (-1, 0, 1)).all():
        odd = board[~np.isin(board, (-1, 0, 1))][0]
        raise ValueError(f"board holds {odd}; use 1 for dark, -1 for light and 0 for an empty point")
    if not _concrete(shape):
        return
    if np.ndim(shape) == 2:
        if board[~shape].any():
            drawn = notation.draw_points(shape)
            raise ValueError(f"board has stones where its shape has no points; remove them\n{drawn}")
    elif board[int(shape) :].any() or board[:, int(shape) :].any():
        raise ValueError(
            f"board has stones outside its live {shape} x {shape} corner; raise size or remove them"
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
        names = [
            notation.move_name(legal, game.max_size, game.moves)
            for legal in np.flatnonzero(state.legal).tolist()
        ]
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        mover = "dark (X)" if state.to_play == 1 else "light (O)"
        raise ValueError(
            f"action {action} ({_described(game, action, np.asarray(state.points))}) is illegal for {mover} "
            f"here; legal are {shown}\n{notation.draw(state)}"
        )
    return jnp.asarray(action, jnp.int32)


def _described(game: Game, action: int, points: np.ndarray) -> str:
    """The name of a move, or what is wrong with it as one."""
    if action == game.num_actions - 1:
        return notation.move_name(action, game.max_size, game.moves)
    source, target = source_and_target(action, game.max_size, game.moves)
    ends = [all(0 <= x < game.max_size for x in end) and bool(points[end]) for end in (source, target)]
    if all(ends):
        return notation.move_name(action, game.max_size, game.moves)
    if ends[0]:
        return f"a step from {notation.point_name(*source)} off the board"
    return f"{notation.point_name(*source)}, which is off the board"


for _module in (othello, gomoku, go, hex, breakthrough, clobber):
    register_game(_module.__name__.rpartition(".")[2], _module.make)
