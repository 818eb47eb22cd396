"""Positions as text: plain drawings to and from, Unicode boards to look at, and names of moves.

A plain drawing is the live part of the board, one line per row: X dark, O light, . empty, # where there is no
point.  Columns are lettered A, B, ... Z, AA, ... from the left and rows numbered 1, 2, ... from the top, for
every game alike.
"""

import numpy as np

from saz_jax.games.notation import (
    HOLE,
    PLAIN,
    column_name,
    draw,
    live_board,
    live_shape,
    move_name,
    parse_move,
)
from saz_jax.games.registry import look_at
from saz_jax.types import Game, GameState

__all__ = ["draw", "move_name", "parse", "parse_move", "show"]

UNICODE = {1: "●", -1: "○", 0: "·"}
STONES = {character: stone for stone, character in PLAIN.items()}


def show(state: GameState, last_move: int | None = None, game: Game | str = "gomoku") -> str:
    """One position in Unicode with coordinates and whose turn it is; the action `last_move` in brackets.

    game: the game or its name; if its stones lie on hexagons, each row begins half a cell to the right of the
    one above, so that the six neighbours of a cell are next to it.  Where there is no point it shows nothing.
    """
    board, points, max_size = live_board(state), live_shape(state), state.board.shape[0]
    slanted = (game if isinstance(game, Game) else look_at(game)).stones_on == "hexagons"
    rows, columns = board.shape
    marked = divmod(last_move, max_size) if last_move is not None else None
    width = len(column_name(columns - 1))
    if slanted and width % 2 == 0:
        width += 1  # half a cell, width + 1 characters, is then a whole number
    margin = " " * len(str(rows))
    lines = [margin + "".join(f" {column_name(column):>{width}}" for column in range(columns))]
    for row, stones in enumerate(board.tolist()):
        line = " " * (row * (width + 1) // 2 if slanted else 0) + f"{row + 1:>{len(margin)}}"
        for column, stone in enumerate(stones):
            before = "(" if (row, column) == marked else ")" if (row, column - 1) == marked else " "
            line += " " * (width - 1) + before + (UNICODE[stone] if points[row, column] else " ")
        lines.append((line + (")" if (row, columns - 1) == marked else "")).rstrip())
    return "\n".join([*lines, _status(state, last_move)])


def parse(game: Game, text: str, to_play: int = 1) -> GameState:
    """The position of a plain drawing, as `game.setup` makes it; spaces and empty lines do not count."""
    if to_play not in (1, -1):
        raise ValueError(f"to_play={to_play!r} is nobody; use 1 for dark (X) or -1 for light (O)")
    rows: list[list[int | None]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        row = []
        for place, character in enumerate(line, start=1):
            if character.isspace():
                continue
            if character not in (*STONES, HOLE):
                raise ValueError(
                    f"line {number}, character {place}: {character!r} is not a point; "
                    f"use X for dark, O for light and . for empty, {HOLE} where there is no point"
                )
            row.append(STONES.get(character))
        if rows and row and len(row) != len(rows[0]):
            raise ValueError(
                f"line {number} has {len(row)} points and the first has {len(rows[0])}; make them equal"
            )
        if row:
            rows.append(row)
    if not rows:
        raise ValueError("the drawing is empty; give a line for each row of the board")
    side = max(len(rows), len(rows[0]))
    if side > game.max_size:
        raise ValueError(f"board side {side} exceeds max_size={game.max_size}; raise max_size")
    board = np.zeros((game.max_size, game.max_size), np.int8)
    points = np.array([[stone is not None for stone in row] for row in rows])
    board[: len(rows), : len(rows[0])] = [[stone or 0 for stone in row] for row in rows]
    is_square = points.all() and len(rows) == len(rows[0])
    return game.setup(board, side if is_square else points, to_play)


def _status(state: GameState, last_move: int | None) -> str:
    if state.terminated:
        result = {1: "dark wins", -1: "light wins", 0: "tie"}[int(state.outcome)]
    else:
        result = "dark ● to play" if state.to_play == 1 else "light ○ to play"
    played = f" ({move_name(last_move, state.board.shape[0])})" if last_move is not None else ""
    return f"after move {int(state.move_count)}{played}: {result}"
