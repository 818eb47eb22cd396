"""Plain drawings of positions and shapes, and names of moves.

A plain drawing is the live part of the board, one line per row: X dark, O light, . empty, # where there is no
point.  Columns are lettered A, B, ... Z, AA, ... from the left and rows numbered 1, 2, ... from the top, for
every game alike.
"""

import re
from collections.abc import Mapping

import numpy as np

from saz_jax.games.actions import PLACING, action_of, source_and_target
from saz_jax.types import GameState, Steps

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


def move_name(action: int, max_size: int, moves: Steps = PLACING) -> str:
    """An action as people write it: `D3` is the fourth column of the third row; the last is `pass`.

    A move along an edge is named by its ends, `B2-C3`; `moves` are those of the game.
    """
    if action == len(moves) * max_size * max_size:
        return "pass"
    source, target = source_and_target(action, max_size, moves)
    return point_name(*source) + (f"-{point_name(*target)}" if target != source else "")


def point_name(row: int, column: int) -> str:
    """`D3` is the fourth column of the third row."""
    return f"{column_name(column)}{row + 1}"


def parse_move(name: str, size: int | np.ndarray, max_size: int, moves: Steps = PLACING) -> int:
    """The action that `move_name` names; small letters do as well, and `b2c3` or `B2 C3` for `B2-C3`.

    size: the side of a square board, or the points of another one, bool[N, N]; moves: those of the game.
    """
    if name.strip().lower() == "pass":
        return len(moves) * max_size * max_size
    points = np.ones((int(size), int(size)), bool) if np.ndim(size) == 0 else np.asarray(size)
    points = crop(points, points)
    rows, columns = points.shape
    shown = repr(name) if len(name) <= 32 else f"{name[:32]!r}..."
    # Bounded and ASCII alone: no board has longer names, and int() takes other scripts' digits as well.
    point = r"([A-Za-z]{1,8})([0-9]{1,8})"
    match = re.fullmatch(rf"{point}(?:[-x ]?{point})?", name.strip())
    ends = [_read_point(*match.group(1, 2)), _read_point(*match.group(3, 4))] if match else []
    ends = [end for end in ends if end is not None]
    places = (0, 0) in moves
    if not ends or any(not (0 <= row < rows and 0 <= column < columns) for row, column in ends):
        board = f"side {rows}" if rows == columns else f"{rows} rows and {columns} columns"
        last = f"{column_name(columns - 1)}{rows}"
        wanted = "a point" if places else "two points, such as B2-C3,"
        raise ValueError(f"{shown} is not a move on {board}; use {wanted} from A1 to {last}, or pass")
    if any(not points[row, column] for row, column in ends):
        drawn = draw_points(points)
        raise ValueError(f"{shown} is not a move, since the board has no point there; use another\n{drawn}")
    action = action_of(ends[0], ends[-1], max_size, moves)
    if action is None or len(ends) != (1 if ends[0] == ends[-1] else 2):
        steps = "a stone is placed on one point" if moves == PLACING else "no stone moves that way"
        raise ValueError(f"{shown} is not a move, since {steps}; use " + ("A1" if places else "B2-C3"))
    return action


def _read_point(letters: str | None, digits: str | None) -> tuple[int, int] | None:
    """(row, column), on the board or off; None where there is no name."""
    if letters is None or digits is None:
        return None
    column = sum(26**power * (ord(x) - 64) for power, x in enumerate(reversed(letters.upper()))) - 1
    return int(digits) - 1, column


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
