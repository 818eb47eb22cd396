"""The synthetic Othello boards of the embedding figure (Sec. 4.2), built from their description; numpy only.

Dark is to move.  The first column holds light stones between a free top-left corner and a dark stone in the
bottom-left corner: the good action, the top-left corner, turns the whole column.  The bad action, the
bottom-right corner, turns nothing.
"""

import numpy as np

SMALLEST = 6


def synthetic_board(size: int, max_size: int | None = None) -> np.ndarray:
    """int8[N, N]: the board of live side `size`, padded to side `max_size`; +1 dark, -1 light, 0 free."""
    side = size if max_size is None else max_size
    if not SMALLEST <= size <= side:
        raise ValueError(f"there is no synthetic board of side {size}; use {SMALLEST} to max_size={side}")
    board = np.zeros((side, side), np.int8)
    board[1 : size - 1, 0] = -1
    board[size - 1, 0] = 1
    return board


def good_and_bad(size: int, max_size: int | None = None) -> tuple[int, int]:
    """The actions: the top-left and the bottom-right corner of the live board."""
    side = size if max_size is None else max_size
    return 0, (size - 1) * side + size - 1
