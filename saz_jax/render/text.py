"""Positions as text: plain drawings to and from, Unicode boards to look at, and names of moves.

A plain drawing is the live part of the board, one line per row: X dark, O light, . empty.  Columns are
lettered A, B, ... Z, AA, ... from the left and rows numbered 1, 2, ... from the top, for every game alike.
"""

import numpy as np

from saz_jax.games.notation import PLAIN, column_name, draw, live_board, move_name, parse_move
from saz_jax.types import Game, GameState

__all__ = ["live_board", "move_name", "parse", "parse_move", "show"]

__all__ = ["draw", "move_name", "parse", "parse_move", "show"]

UNICODE = {1: "●", -1: "○", 0: "·"}
STONES = {character: stone for stone, character in PLAIN.items()}


def show(state: GameState, last_move: int | None = None) -> str:
    """One position in Unicode with coordinates and whose turn it is; the action `last_move` in brackets."""
    board, max_size = live_board(state), state.board.shape[0]
    size = len(board)
    marked = divmod(last_move, max_size) if last_move is not None else None
    width = len(column_name(size - 1))
    margin = " " * len(str(size))
    lines = [margin + "".join(f" {column_name(column):>{width}}" for column in range(size))]
    for row, stones in enumerate(board.tolist()):
        line = f"{row + 1:>{len(margin)}}"
        for column, stone in enumerate(stones):
            before = "(" if (row, column) == marked else ")" if (row, column - 1) == marked else " "
            line += " " * (width - 1) + before + UNICODE[stone]
        lines.append(line + (")" if (row, size - 1) == marked else ""))
    return "\n".join([*lines, _status(state, last_move)])


def parse(game: Game, text: str, to_play: int = 1) -> GameState:
    """The position of a plain drawing, as `game.setup` makes it; spaces and empty lines do not count."""
    if to_play not in (1, -1):
        raise ValueError(f"to_play={to_play!r} is nobody; use 1 for dark (X) or -1 for light (O)")
    rows: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        row = []
        for place, character in enumerate(line, start=1):
            if character.isspace():
                continue
            if character not in STONES:
                raise ValueError(
                    f"line {number}, character {place}: {character!r} is not a point; "
                    "use X for dark, O for light and . for empty"
                )
            row.append(STONES[character])
        if rows and row and len(row) != len(rows[0]):
            raise ValueError(
                f"line {number} has {len(row)} points and the first has {len(rows[0])}; make them equal"
            )
        if row:
            rows.append(row)
    if not rows or len(rows) != len(rows[0]):
        columns = len(rows[0]) if rows else 0
        raise ValueError(
            f"a drawing of {len(rows)} rows and {columns} columns is not a square board; make them equal"
        )
    size = len(rows)
    if size > game.max_size:
        raise ValueError(f"board side {size} exceeds max_size={game.max_size}; raise max_size")
    board = np.zeros((game.max_size, game.max_size), np.int8)
    board[:size, :size] = rows
    return game.setup(board, size, to_play)


def _status(state: GameState, last_move: int | None) -> str:
    if state.terminated:
        result = {1: "dark wins", -1: "light wins", 0: "tie"}[int(state.outcome)]
    else:
        result = "dark ● to play" if state.to_play == 1 else "light ○ to play"
    played = f" ({move_name(last_move, state.board.shape[0])})" if last_move is not None else ""
    return f"after move {int(state.move_count)}{played}: {result}"
