"""Plain drawings of positions and shapes, and names of moves.

A plain drawing is the live part of the board, one line per row: X dark, O light, . empty, # where there is no
point.  Columns are lettered A, B, ... Z, AA, ... from the left and rows numbered 1, 2, ... from the top, for
every game alike.
"""

import re
from collections.abc import Mapping

import numpy as np

from saz_jax.types import GameState

PLAIN = {1: "X", -1: "O", 0: "."}
HOLE = "#"


def draw(state: GameState) -> str:
    """The plain drawing of one position; `parse` reads it."""
    return picture(live_board(state), live_shape(state), PLAIN, HOLE)


def draw_points(points: np.ndarray) -> str:
    """The plain drawing of a shape, bool[N, N]: . where it has a point; `shapes.from_text` reads it."""
    cropped = crop(points, points)
    return picture(np.zeros(cropped.shape, np.int8), cropped, PLAIN, HOLE)


def picture(board: np.ndarray, points: np.ndarray, stones: Mapping[int, str], hole: str) -> str:
    """A line per row of `board`, a character per point."""
    rows = zip(board.tolist(), points.tolist(), strict=True)
    return "\n".join(
        "".join(stones[stone] if point else hole for stone, point in zip(*row, strict=True)) for row in rows
    )


def move_name(action: int, max_size: int) -> str:
    """An action as people write it: `D3` is the fourth column of the third row; the last is `pass`."""
    row, column = divmod(int(action), max_size)
    return "pass" if row == max_size else f"{column_name(column)}{row + 1}"


def parse_move(name: str, size: int | np.ndarray, max_size: int) -> int:
    """The action that `move_name` names; small letters do as well.

    size: the side of a square board, or the points of another one, bool[N, N].
    """
    if name.strip().lower() == "pass":
        return max_size * max_size
    column, row = -1, -1
    # Bounded and ASCII alone: no board has longer names, and int() takes other scripts' digits as well.
    if match := re.fullmatch(r"([A-Za-z]{1,8})([0-9]{1,8})", name.strip()):
        letters, digits = match[1].upper(), match[2]
        column = sum(26**power * (ord(letter) - 64) for power, letter in enumerate(reversed(letters))) - 1
        row = int(digits) - 1
    points = np.ones((int(size), int(size)), bool) if np.ndim(size) == 0 else np.asarray(size)
    points = crop(points, points)
    rows, columns = points.shape
    shown = repr(name) if len(name) <= 32 else f"{name[:32]!r}..."
    if not (0 <= row < rows and 0 <= column < columns):
        board = f"side {rows}" if rows == columns else f"{rows} rows and {columns} columns"
        last = f"{column_name(columns - 1)}{rows}"
        raise ValueError(f"{shown} is not a move on {board}; use a point from A1 to {last}, or pass")
    if not points[row, column]:
        drawn = draw_points(points)
        raise ValueError(f"{shown} is not a move, since the board has no point there; use another\n{drawn}")
    return row * max_size + column


def column_name(column: int) -> str:
    """A to Z, then AA, AB, ..."""
    return (column_name(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)


def live_board(state: GameState) -> np.ndarray:
    """int8[rows, columns]: the live part of one position's board, off the device."""
    if state.board.ndim != 2:
        raise ValueError(
            f"board has shape {state.board.shape}, a batch; take one position, "
            "for example jax.tree.map(lambda x: x[0], states)"
        )
    return crop(np.asarray(state.board), np.asarray(state.points))


def live_shape(state: GameState) -> np.ndarray:
    """bool[rows, columns]: which points of `live_board` exist."""
    points = np.asarray(state.points)
    return crop(points, points)


def crop(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """x: [N, N] up to the last row and the last column in which there are points."""
    rows, columns = (1 + np.flatnonzero(points.any(axis)).max(initial=-1) for axis in (1, 0))
    return x[:rows, :columns]
