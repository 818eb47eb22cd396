"""Plain drawings of positions, and names of moves.

A plain drawing is the live part of the board, one line per row: X dark, O light, . empty.  Columns are
lettered A, B, ... Z, AA, ... from the left and rows numbered 1, 2, ... from the top, for every game alike.
"""

import re

import numpy as np

from saz_jax.types import GameState

PLAIN = {1: "X", -1: "O", 0: "."}


def draw(state: GameState) -> str:
    """The plain drawing of one position; `parse` reads it."""
    return "\n".join("".join(PLAIN[stone] for stone in row) for row in live_board(state).tolist())


def move_name(action: int, max_size: int) -> str:
    """An action as people write it: `D3` is the fourth column of the third row; the last is `pass`."""
    row, column = divmod(int(action), max_size)
    return "pass" if row == max_size else f"{column_name(column)}{row + 1}"


def parse_move(name: str, size: int, max_size: int) -> int:
    """The action that `move_name` names, on a live board of side `size`; small letters do as well."""
    if name.strip().lower() == "pass":
        return max_size * max_size
    column, row = -1, -1
    # Bounded and ASCII alone: no board has longer names, and int() takes other scripts' digits as well.
    if match := re.fullmatch(r"([A-Za-z]{1,8})([0-9]{1,8})", name.strip()):
        letters, digits = match[1].upper(), match[2]
        column = sum(26**power * (ord(letter) - 64) for power, letter in enumerate(reversed(letters))) - 1
        row = int(digits) - 1
    if not (0 <= row < size and 0 <= column < size):
        last = f"{column_name(size - 1)}{size}"
        shown = repr(name) if len(name) <= 32 else f"{name[:32]!r}..."
        raise ValueError(f"{shown} is not a move on side {size}; use a point from A1 to {last}, or pass")
    return row * max_size + column


def column_name(column: int) -> str:
    """A to Z, then AA, AB, ..."""
    return (column_name(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)


def live_board(state: GameState) -> np.ndarray:
    """int8[n, n]: the live part of one position's board, off the device."""
    if state.board.ndim != 2:
        raise ValueError(
            f"board has shape {state.board.shape}, a batch; take one position, "
            "for example jax.tree.map(lambda x: x[0], states)"
        )
    size = int(state.size)
    return np.asarray(state.board)[:size, :size]
