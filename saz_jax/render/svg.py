"""Positions as SVG pictures: stones on green squares, or on a wooden board where its lines cross."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from saz_jax.games.notation import column_name, live_board, live_shape, move_name
from saz_jax.games.registry import look_at
from saz_jax.types import Game, GameState

CELL = 40
"""Side of a cell in the picture's own units."""
MARGIN = 24
"""Room for the coordinates on each side."""

STONES = {1: "dark", -1: "light"}
DEFINITIONS = """<defs>
<radialGradient id="dark" cx="0.35" cy="0.3" r="0.8"><stop offset="0" stop-color="#6b6b6b"/>\
<stop offset="1" stop-color="#0c0c0c"/></radialGradient>
<radialGradient id="light" cx="0.35" cy="0.3" r="0.8"><stop offset="0.2" stop-color="#ffffff"/>\
<stop offset="1" stop-color="#c4c0b6"/></radialGradient>
</defs>"""


class Palette(NamedTuple):
    """The colours of one kind of board."""

    frame: str
    text: str
    warm: str
    """Positive heat."""
    cold: str
    """Negative heat."""


GREEN = Palette(frame="#4a3626", text="#e9dcc9", warm="#ffb000", cold="#3a4fd0")
WOOD = Palette(frame="#e6bc72", text="#5c4019", warm="#d7301f", cold="#2166ac")


class Picture(str):
    """SVG source that a notebook shows as a picture."""

    def _repr_svg_(self) -> str:
        return str(self)


def render(
    state: GameState,
    game: Game | str = "gomoku",
    heat: Any = None,
    last_move: int | None = None,
    width: int = 400,
) -> Picture:
    """A picture of one position, `width` pixels wide.

    game: the game or its name; it says whether stones lie on squares or where lines cross.
    heat: float[V], float[N, N] or float[rows, columns], one number per point, for example a policy or
      Q-values.  The largest magnitude is painted in full colour, positive warm and negative blue; NaN and
      pass are left out.
    last_move: the action to mark.
    """
    board, points, max_size = live_board(state), live_shape(state), state.board.shape[0]
    down, across = (length * CELL + 2 * MARGIN for length in board.shape)
    style = (game if isinstance(game, Game) else look_at(game)).stones_on
    palette, grid = {"squares": (GREEN, _squares), "lines": (WOOD, _lines)}[style]
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg"',
        f'     width="{width}" height="{width * down / across:g}" viewBox="0 0 {across} {down}">',
        DEFINITIONS,
        f'<rect width="{across}" height="{down}" rx="6" fill="{palette.frame}"/>',
        *grid(points),
        *_coordinates(points, palette.text),
    ]
    if heat is not None:
        parts += _heat(_live_heat(heat, points, max_size), max_size, palette)
    for row, column in np.argwhere(board):
        parts.append(_circle(row, column, 0.45, f"url(#{STONES[int(board[row, column])]})"))
    if last_move is not None and 0 <= last_move < max_size * max_size:
        row, column = divmod(last_move, max_size)
        parts.append(_circle(row, column, 0.12, "#e5482d"))
    return Picture("\n".join([*parts, "</svg>"]))


def _centre(index: int) -> float:
    """Where the middle of a row or column lies."""
    return MARGIN + CELL * (int(index) + 0.5)


def _circle(row: int, column: int, radius: float, fill: str) -> str:
    return f'<circle cx="{_centre(column):g}" cy="{_centre(row):g}" r="{radius * CELL:g}" fill="{fill}"/>'


def _squares(points: np.ndarray) -> Iterator[str]:
    """Green squares in their frame, drawn as runs: a whole board is one square with lines across it."""
    rows, columns = points.shape
    if points.all():
        right, low = MARGIN + columns * CELL, MARGIN + rows * CELL
        size = f'width="{columns * CELL}" height="{rows * CELL}"'
        yield f'<rect x="{MARGIN}" y="{MARGIN}" {size} fill="#2e8b57"/>'
        down = [f"M{MARGIN + CELL * i} {MARGIN}V{low}" for i in range(columns + 1)]
        across = [f"M{MARGIN} {MARGIN + CELL * i}H{right}" for i in range(rows + 1)]
        path = "".join(line for lines in itertools.zip_longest(down, across, fillvalue="") for line in lines)
        yield f'<path d="{path}" stroke="#1c5a38" stroke-width="1.5" stroke-linecap="square"/>'
        return
    for row, column in np.argwhere(points).tolist():
        corner = f'x="{MARGIN + column * CELL}" y="{MARGIN + row * CELL}"'
        style = 'fill="#2e8b57" stroke="#1c5a38" stroke-width="1.5"'
        yield f'<rect class="point" {corner} width="{CELL}" height="{CELL}" {style}/>'


def _lines(points: np.ndarray) -> Iterator[str]:
    """Lines from point to point."""
    rows, columns = points.shape
    path = "".join(
        part
        for down, across in itertools.zip_longest(_runs(points.T), _runs(points), fillvalue=None)
        for part in (
            f"M{_centre(down[0]):g} {_centre(down[1]):g}V{_centre(down[2]):g}" if down else "",
            f"M{_centre(across[1]):g} {_centre(across[0]):g}H{_centre(across[2]):g}" if across else "",
        )
    )
    yield f'<path d="{path}" stroke="#5c4019" stroke-width="1.2" stroke-linecap="square"/>'
    if points.all() and rows == columns:
        for row, column in _star_points(rows):
            yield _circle(row, column, 0.09, "#5c4019")


def _runs(points: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(row, first column, last column) of the points that follow one another in a row."""
    for row, there in enumerate(points.tolist()):
        for present, run in itertools.groupby(range(len(there)), there.__getitem__):
            if present:
                first, *rest = run
                yield row, first, rest[-1] if rest else first


def _star_points(size: int) -> list[tuple[int, int]]:
    """Where Go boards carry dots: the third or fourth line, and the middle of odd boards."""
    if size < 7:
        return []
    edge = 2 if size < 12 else 3
    middle = [size // 2] if size % 2 else []
    ticks = [edge, *middle, size - 1 - edge]
    points = [(row, column) for row in ticks for column in ticks]
    corners_and_centre = [(r, c) for r, c in points if ([r] == middle) == ([c] == middle)]
    return points if size >= 17 else corners_and_centre


def _coordinates(points: np.ndarray, colour: str) -> Iterator[str]:
    rows, columns = points.shape
    font = f'font-family="sans-serif" font-size="13" fill="{colour}" text-anchor="middle"'
    for i in range(max(rows, columns)):
        if i < columns:
            yield f'<text x="{_centre(i):g}" y="{MARGIN * 0.68:g}" {font}>{column_name(i)}</text>'
        if i < rows:
            yield f'<text x="{MARGIN * 0.5:g}" y="{_centre(i) + 4:g}" {font}>{i + 1}</text>'


def _live_heat(heat: Any, points: np.ndarray, max_size: int) -> np.ndarray:
    """float[rows, columns] from any of the accepted shapes, 0 where there is no point."""
    rows, columns = points.shape
    values = np.asarray(heat, float)
    if values.shape == (max_size * max_size + 1,):
        values = values[:-1].reshape(max_size, max_size)
    if values.shape not in ((max_size, max_size), (rows, columns)):
        raise ValueError(
            f"heat has shape {values.shape}; give ({max_size * max_size + 1},), ({max_size}, {max_size}) "
            f"or ({rows}, {columns})"
        )
    return np.where(points, values[:rows, :columns], 0)


def _heat(values: np.ndarray, max_size: int, palette: Palette) -> Iterator[str]:
    """A tinted square per point; hovering over it shows the number."""
    finite = np.isfinite(values)
    largest = np.abs(values[finite]).max(initial=0.0)
    for row, column in np.argwhere(finite & (values != 0)):
        value = values[row, column]
        colour, opacity = palette.warm if value > 0 else palette.cold, 0.85 * abs(value) / largest
        x, y = _centre(column) - CELL / 2, _centre(row) - CELL / 2
        name = move_name(row * max_size + column, max_size)
        yield (
            f'<rect class="heat" x="{x:g}" y="{y:g}" width="{CELL}" height="{CELL}" '
            f'fill="{colour}" fill-opacity="{opacity:.3f}"><title>{name} {value:.3g}</title></rect>'
        )
