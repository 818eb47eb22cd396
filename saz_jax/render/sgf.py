"""Games to and from SGF (FF[4]), the only importer of sgfmill.

SGF numbers the kinds of game, Go is GM[1]; a game says its number and the properties it needs in `Game.sgf`.
sgfmill reads and writes the tree and leaves GM alone.  Moves are two letters as in Go, column then row from
the top left, or a letter and a number as in SGF's Hex; pass is empty, or what the game calls it.  They are
written and read here, as sgfmill knows Go's alone and its writer has no letter for the 26th line.  A move
along an edge is written as its two ends, one after the other, as in SGF's Lines of Action.

A board that is no square has `SZ[columns:rows]`, as FF[4] says.  Points that are missing from that rectangle
stand in the root in a private property, `XH` (holes): a list of points as in moves, such as `XH[aa][ba]`.
Programs that do not know it show the whole rectangle.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import numpy as np

from saz_jax.config.registry import GAMES
from saz_jax.games.actions import PLACING, action_of, source_and_target
from saz_jax.games.notation import live_board, live_shape, move_name
from saz_jax.games.registry import look_at, make_game
from saz_jax.types import Game, GameState, SGFFormat

__all__ = ["Record", "from_sgf", "to_sgf"]

MAX_SIZE = 26
"""sgfmill's limit: the small letters."""
COLOURS = {1: "B", -1: "W"}
HOLES = "XH"
"""Our private property: points that are missing from the rectangle of SZ."""


class Record(NamedTuple):
    """One game, from its opening position."""

    game: Game
    size: int
    """Live side n."""
    actions: tuple[int, ...]
    """Actions on the padded board of `game`, passes included."""
    points: np.ndarray
    """bool[N, N]: the points of the board, as `game.init` takes them."""


def to_sgf(game: Game, shape: Any, actions: Iterable[int], dark: str = "", light: str = "") -> str:
    """The game of `actions` (padded, passes included) as SGF; its result if it has ended, and the names.

    shape: of the board, as `game.init` takes it.
    """
    if game.sgf is None:
        raise ValueError(
            f"{game.name} has no game type in SGF; give its maker `sgf=SGFFormat(game_type=...)`"
        )
    state, step = game.init(shape), jax.jit(game.step)
    size = int(state.size)
    if size > MAX_SIZE:
        raise ValueError(f"board side {size} exceeds what SGF can hold here; use at most {MAX_SIZE}")
    tree = _sgfmill().Sgf_game(size)
    root = tree.get_root()
    root.set("GM", game.sgf.game_type)
    _write_shape(root, game.sgf, live_shape(state))
    for identifier, value in {"PB": dark, "PW": light, **game.sgf.write(np.asarray(state.points))}.items():
        if value != "":
            root.set(identifier, value)
    if live_board(state).any():
        _write_stones(root, live_board(state))
    for number, action in enumerate(map(int, actions), start=1):
        _check(game, state, action, number)
        raw = _move(game, action).encode()
        tree.extend_main_sequence().set_raw(COLOURS[int(state.to_play)], raw)
        state = step(state, action)
    if state.terminated:
        root.set("RE", {1: "B+", -1: "W+", 0: "0"}[int(state.outcome)])
    return tree.serialise().decode()


def from_sgf(text: str, max_size: int | None = None, **options: Any) -> Record:
    """The main line of an SGF game, replayed under the rules of `make_game(name, max_size, **options)`.

    max_size: the padded side of the actions; the board's own side if None.
    options: of the game; Go's komi and Gomoku's k default to what the file says.

    A side that must pass passes even if the file leaves that out.  Variations and comments are skipped.
    """
    file = _read(text)
    size = max(file.points.shape)
    game = make_game(file.name, size if max_size is None else max_size, **(file.options | options))
    is_square = file.points.all() and file.points.shape == (size, size)
    state, step = game.init(size if is_square else file.points), jax.jit(game.step)
    skip = game.num_actions - 1
    opening = np.asarray(state.board)[:size, :size]
    if any(not _are_stones(group, opening) for group in file.stones):
        raise ValueError("the file sets up stones (AB, AW, AE); only games from the opening are read")
    actions = []
    for number, (player, raw) in enumerate(file.moves, start=1):
        must_pass = state.legal[skip] and state.legal.sum() == 1 and not state.terminated
        if must_pass and state.to_play != player:
            actions.append(skip)
            state = step(state, skip)
        if state.to_play != player and not state.terminated:
            raise ValueError(f"move {number} is {COLOURS[player]}'s out of turn; the sides must alternate")
        actions.append(_action(game, raw, number, file.points.shape))
        _check(game, state, actions[-1], number)
        state = step(state, actions[-1])
    return Record(game, size, tuple(actions), np.asarray(state.points))


class _File(NamedTuple):
    """What a file says, before the rules have seen it."""

    name: str
    points: np.ndarray
    """bool[rows, columns]"""
    options: dict[str, Any]
    moves: list[tuple[int, bytes]]
    """(player, raw value)"""
    stones: list[tuple[set, set, set]]
    """Dark, light and empty points of each node that sets some up; sgfmill counts rows from the bottom."""


def _read(text: str) -> _File:
    try:
        tree, shape = _read_tree(text)
        root, nodes = tree.get_root(), tree.get_main_sequence()
        kind = root.get("GM") if root.has_property("GM") else 1
        properties = {name: root.get(name) for name in ("KM", "RU") if root.has_property(name)}
        stones = [node.get_setup_stones() for node in nodes if node.has_setup_stones()]
    except ValueError as error:
        raise ValueError(f"not a game in SGF ({error}); give one (;FF[4]GM[...]SZ[...] ...) tree") from error
    known = game_types()
    if kind not in known:
        listed = ", ".join(f"GM[{number}] ({name})" for number, name in known.items())
        raise ValueError(f"GM[{kind}] is another game; those read here are {listed}")
    name = known[kind]
    about = look_at(name).sgf
    assert about is not None
    if shape is None:
        if about.default_size is None:
            raise ValueError(
                f"this game of {name} does not tell its board side; add SZ[...] to its first node"
            )
        shape = about.default_size, about.default_size
    points = _read_shape(root, about, *shape)
    options = dict(about.read(properties))
    moves = [(1 if colour == "b" else -1, raw) for colour, raw in (n.get_raw_move() for n in nodes) if colour]
    return _File(name, points, options, moves, stones)


def _read_tree(text: str) -> tuple[Any, tuple[int, int] | None]:
    """sgfmill's tree of a game, and its rows and columns if it tells them; sgfmill knows squares only."""
    coarse = _sgfmill().sgf_grammar.parse_sgf_game(text.encode())
    root = coarse.sequence[0]
    rectangle = re.fullmatch(rb"\s*(\d{1,3})\s*:\s*(\d{1,3})\s*", root.get("SZ", [b""])[0])
    if rectangle:
        root["SZ"] = [str(max(map(int, rectangle.groups()))).encode()]
    tree = _sgfmill().Sgf_game.from_coarse_game_tree(coarse, override_encoding="utf-8")
    if "SZ" not in root:
        return tree, None
    size = tree.get_size()
    return tree, (int(rectangle[2]), int(rectangle[1])) if rectangle else (size, size)


def _read_shape(root: Any, about: SGFFormat, rows: int, columns: int) -> np.ndarray:
    """bool[rows, columns]: the rectangle without its holes."""
    points = np.ones((rows, columns), bool)
    for raw in root.get_raw_list(HOLES) if root.has_property(HOLES) else ():
        name = raw.decode(errors="replace")
        row, column = _read_point(about, name)
        if not (0 <= row < rows and 0 <= column < columns):
            raise ValueError(
                f"{HOLES}[{name}] is off its {rows} x {columns} board; {_points(about, (rows, columns))}"
            )
        points[row, column] = False
    return points


def _write_shape(root: Any, about: SGFFormat, points: np.ndarray) -> None:
    rows, columns = points.shape
    if rows != columns:
        # Not by `set_raw`, which refuses what is no square.
        root.get_raw_property_map()["SZ"] = [f"{columns}:{rows}".encode()]
    if not points.all():
        root.set_raw_list(HOLES, [_write_point(about, *point).encode() for point in np.argwhere(~points)])


def game_types() -> dict[int, str]:
    """{GM number: name} of all registered games that have one."""
    formats = {name: look_at(name).sgf for name in GAMES.names()}
    return {sgf.game_type: name for name, sgf in formats.items() if sgf is not None}


def _sgfmill() -> Any:
    try:
        from sgfmill import sgf
    except ImportError as error:
        raise ImportError("SGF needs sgfmill; pip install 'saz_jax[sgf]'") from error
    return sgf


def _check(game: Game, state: GameState, action: int, number: int) -> None:
    """An action that the rules refuse, named by its place in the game."""
    if state.terminated:
        raise ValueError(f"move {number} comes after the end of the game; leave it out or check the options")
    if not 0 <= action < game.num_actions or not state.legal[action]:
        name = move_name(action, game.max_size, game.moves) if 0 <= action < game.num_actions else action
        raise ValueError(f"move {number} ({name}) is illegal in {game.name}; check the moves and the options")


def _letters(row: int, column: int) -> str:
    return chr(ord("a") + column) + chr(ord("a") + row)


def _write_point(about: SGFFormat, row: int, column: int) -> str:
    return f"{chr(ord('a') + column)}{row + 1}" if about.points == "a1" else _letters(row, column)


def _read_point(about: SGFFormat, name: str) -> tuple[int, int]:
    """(row, column), which may lie off the board; (-1, -1) if it is no point at all."""
    if about.points == "aa":
        return (ord(name[1]) - ord("a"), ord(name[0]) - ord("a")) if len(name) == 2 else (-1, -1)
    found = re.fullmatch(r"([a-z])([0-9]{1,2})", name.lower())
    return (int(found[2]) - 1, ord(found[1]) - ord("a")) if found else (-1, -1)


def _points(about: SGFFormat, shape: tuple[int, int]) -> str:
    """What may be written, for messages."""
    kind, last = "points" if about.points == "a1" else "letters", _write_point(about, *(n - 1 for n in shape))
    return f"use {kind} from {about.points} to {last}"


def _move(game: Game, action: int) -> str:
    assert game.sgf is not None
    if action == game.num_actions - 1:
        return game.sgf.pass_as
    source, target = source_and_target(action, game.max_size, game.moves)
    ends = (source,) if source == target else (source, target)
    return "".join(_write_point(game.sgf, *point) for point in ends)


def _action(game: Game, raw: bytes, number: int, shape: tuple[int, int]) -> int:
    assert game.sgf is not None
    name, max_size, (rows, columns) = raw.decode(errors="replace"), game.max_size, shape
    # tt is how older files of Go pass.
    if name.lower() == game.sgf.pass_as or (name == "tt" and max(shape) <= 19 and game.sgf.points == "aa"):
        return game.num_actions - 1
    moved = re.fullmatch(r"([a-z][0-9]{1,2})([a-z][0-9]{1,2})", name) if game.sgf.points == "a1" else None
    if game.moves != PLACING and (moved or (game.sgf.points == "aa" and len(name) == 4)):
        names = moved.groups() if moved else (name[:2], name[2:])
    else:
        names = (name,)
    ends = [_read_point(game.sgf, point) for point in names]
    action = action_of(ends[0], ends[-1], max_size, game.moves)
    if action is None or any(not (0 <= row < rows and 0 <= column < columns) for row, column in ends):
        board = f"of side {rows}" if rows == columns else f"of {rows} rows and {columns} columns"
        passes = f", or {game.sgf.pass_as}" if game.sgf.pass_as else ""
        raise ValueError(f"move {number} [{name}] is off a board {board}; {_points(game.sgf, shape)}{passes}")
    return action


def _write_stones(root: Any, board: np.ndarray) -> None:
    """As in Go for every game, since sgfmill reads them."""
    for identifier, stone in (("AB", 1), ("AW", -1)):
        root.set_raw_list(identifier, [_letters(*point).encode() for point in np.argwhere(board == stone)])


def _are_stones(group: tuple[set, set, set], board: np.ndarray) -> bool:
    """Whether set-up stones are just those of the opening position."""
    dark, light, empty = ({(len(board) - 1 - row, column) for row, column in points} for points in group)
    expected = ({tuple(point) for point in np.argwhere(board == stone).tolist()} for stone in (1, -1))
    return not empty and [dark, light] == list(expected)
