"""Positions as text: plain drawings and Unicode boards, to and from, and names of moves.

A plain drawing is the live part of the board, one line per row: X dark, O light, . empty, # where there is no
point.  Columns are lettered A, B, ... Z, AA, ... from the left and rows numbered 1, 2, ... from the top, for
every game alike.
"""

import re
import textwrap
from typing import NamedTuple

import numpy as np

from saz_jax.games.actions import source_and_target
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
    """One position in Unicode with coordinates and whose turn it is; the ends of `last_move` in brackets.

    game: the game or its name, which says what `last_move` means; if its stones lie on hexagons, each row
    begins half a cell to the right of the one above, so that the six neighbours of a cell are next to it.
    Where there is no point it shows nothing.
    """
    board, points, max_size = live_board(state), live_shape(state), state.board.shape[0]
    about = game if isinstance(game, Game) else look_at(game)
    slanted = about.stones_on == "hexagons"
    rows, columns = board.shape
    marked = ()
    if last_move is not None and last_move < len(about.moves) * max_size * max_size:
        marked = source_and_target(last_move, max_size, about.moves)
    layout = _layout(rows, columns, slanted)
    width, margin = layout.width, " " * layout.margin
    lines = [margin + "".join(f" {column_name(column):>{width}}" for column in range(columns))]
    for row, stones in enumerate(board.tolist()):
        line = " " * layout.indent(row) + f"{row + 1:>{layout.margin}}"
        for column, stone in enumerate(stones):
            before = "(" if (row, column) in marked else ")" if (row, column - 1) in marked else " "
            line += " " * (width - 1) + before + (UNICODE[stone] if points[row, column] else " ")
        lines.append((line + (")" if (row, columns - 1) in marked else "")).rstrip())
    name = None if last_move is None else move_name(last_move, max_size, about.moves)
    return "\n".join([*lines, _status(state, name)])


def parse(game: Game, text: str, to_play: int | None = None) -> GameState:
    """The position of a plain drawing, as `game.setup` makes it; spaces and empty lines do not count.

    A board as `show` prints it for this game does as well, coordinates included.
    to_play: None is whoever that board says, dark for a plain drawing.
    """
    if any(character in text for character in UNICODE.values()):
        text, turn = _plain(game, text)
        to_play = turn if to_play is None else to_play
    to_play = 1 if to_play is None else to_play
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


def _plain(game: Game, shown: str) -> tuple[str, int]:
    """(plain drawing, player to move) of a board that `show` printed: cells are found by their places."""
    lines = textwrap.dedent(shown).strip("\n").splitlines()
    numbered = [line for line in lines[1:] if re.match(r" *\d+( |\(|$)", line)]
    columns = len(lines[0].split())
    if not numbered or lines[0].split() != [column_name(column) for column in range(columns)]:
        raise ValueError("this is no board as text.show prints it; give it whole, with its coordinates")
    layout = _layout(len(numbered), columns, game.stones_on == "hexagons")
    plain = {character: PLAIN[stone] for stone, character in UNICODE.items()} | {" ": HOLE}
    drawing = []
    for row, line in enumerate(numbered):
        places = [layout.place(row, column) for column in range(columns)]
        cells = [line[place] if place < len(line) else " " for place in places]
        if odd := next((cell for cell in cells if cell not in plain), ""):
            raise ValueError(f"row {row + 1} has {odd!r} where a point should be; give the board as it was")
        drawing.append("".join(plain[cell] for cell in cells))
    return "\n".join(drawing), -1 if "light ○ to play" in lines[-1] else 1


class _Layout(NamedTuple):
    """Where `show` prints what."""

    margin: int
    """Characters of the row numbers."""
    width: int
    """Characters of a cell, beside the one that separates it."""
    slanted: bool

    def indent(self, row: int) -> int:
        """Characters before the number of a row; a slanted one begins half a cell further to the right."""
        return row * (self.width + 1) // 2 if self.slanted else 0

    def place(self, row: int, column: int) -> int:
        """The character of a point in its line."""
        return self.indent(row) + self.margin + (column + 1) * (self.width + 1) - 1


def _layout(rows: int, columns: int, slanted: bool) -> _Layout:
    width = len(column_name(columns - 1))
    # Half a cell, width + 1 characters, has to be a whole number.
    return _Layout(len(str(rows)), width + (slanted and width % 2 == 0), slanted)


def _status(state: GameState, last_move: str | None) -> str:
    if state.terminated:
        result = {1: "dark wins", -1: "light wins", 0: "tie"}[int(state.outcome)]
    else:
        result = "dark ● to play" if state.to_play == 1 else "light ○ to play"
    played = f" ({last_move})" if last_move is not None else ""
    return f"after move {int(state.move_count)}{played}: {result}"
