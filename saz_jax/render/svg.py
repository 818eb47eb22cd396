"""Positions as SVG pictures: stones on green squares, on hexagons, or where the lines of a board cross."""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from saz_jax.games.actions import PLACING, source_and_target
from saz_jax.games.notation import column_name, draw, live_board, live_shape, move_name
from saz_jax.games.registry import look_at
from saz_jax.render import text
from saz_jax.types import Game, GameState, Steps

__all__ = ["Picture", "parse", "render"]

CELL = 40
"""Side of a cell in the picture's own units."""
MARGIN = 24
"""Room for the coordinates on each side."""
RADIUS = CELL / math.sqrt(3)
"""From the middle of a hexagon to its corners; CELL is its width."""
BAND = 6
"""Width of the coloured sides of a board of hexagons."""

STONES = {1: "dark", -1: "light"}
TURN = {1: "dark to play", -1: "light to play"}
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
SLATE = Palette(frame="#8797a0", text="#26343b", warm="#d7301f", cold="#2166ac")


class Style(NamedTuple):
    """One kind of board: its colours, and where its cells lie."""

    palette: Palette
    grid: Callable[[np.ndarray], Iterator[str]]
    """points bool[rows, columns] -> what lies under the stones."""
    cell: Callable[[float, float], tuple[str, str]]
    """(x, y) -> (tag, attributes): the outline of the cell around that middle."""
    half: tuple[float, float] = (CELL / 2, CELL / 2)
    """From the middle of a cell at the edge to the margin, to the left and upwards."""
    row_height: float = CELL
    slant: float = 0.0
    """How many cells each row lies to the right of the one above."""

    def centre(self, row: int, column: int) -> tuple[float, float]:
        """Where the middle of a cell lies."""
        x = MARGIN + self.half[0] + CELL * (int(column) + self.slant * int(row))
        return x, MARGIN + self.half[1] + self.row_height * int(row)

    def extent(self, rows: int, columns: int) -> tuple[float, float]:
        """Width and height of a picture."""
        x, y = self.centre(rows - 1, columns - 1)
        return x + self.half[0] + MARGIN, y + self.half[1] + MARGIN


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

    game: the game or its name; it says whether stones lie on squares, on hexagons or where lines cross.
    heat: float[A], float[N, N] or float[rows, columns], one number per action or point, for example a policy
      or Q-values.  The largest magnitude is painted in full colour, positive warm and negative blue; NaN and
      pass are left out.  Moves along edges are painted as lines from where they start to where they end.
    last_move: the action to mark.
    """
    board, points, max_size = live_board(state), live_shape(state), state.board.shape[0]
    about = game if isinstance(game, Game) else look_at(game)
    style, moves = STYLES[about.stones_on], about.moves
    num_actions = len(moves) * max_size * max_size + 1
    edge_heat = None
    if heat is not None and moves != PLACING and np.shape(heat) == (num_actions,):
        heat, edge_heat = None, np.asarray(heat, float)
    across, down = style.extent(*points.shape)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg"',
        f'     width="{width}" height="{round(width * down / across)}" viewBox="0 0 {across:g} {down:g}">',
        f"<desc>{TURN[int(state.to_play)]}\n{draw(state)}</desc>",
        DEFINITIONS,
        f'<rect width="{across:g}" height="{down:g}" rx="6" fill="{style.palette.frame}"/>',
        *style.grid(points),
        *_coordinates(points, style),
    ]
    if heat is not None:
        parts += _heat(_live_heat(heat, points, max_size), max_size, style)
    for row, column in np.argwhere(board):
        parts.append(_circle(*style.centre(row, column), 0.45, f"url(#{STONES[int(board[row, column])]})"))
    if edge_heat is not None:
        parts += _edge_heat(edge_heat, max_size, moves, style)
    if last_move is not None and 0 <= last_move < num_actions - 1:
        source, target = source_and_target(last_move, max_size, moves)
        if source != target:
            parts.append(_line(style.centre(*source), style.centre(*target), 'class="last" stroke="#e5482d"'))
        parts.append(_circle(*style.centre(*target), 0.12, "#e5482d"))
    return Picture("\n".join([*parts, "</svg>"]))


def parse(game: Game, picture: str) -> GameState:
    """The position of a picture that `render` made, as `game.setup` makes it; its description holds it."""
    found = re.search(r"<desc>(dark|light) to play\n([XO.#\n]+)</desc>", picture)
    if found is None:
        raise ValueError("this picture does not tell its position; use one that svg.render made")
    return text.parse(game, found[2], to_play=1 if found[1] == "dark" else -1)


def _circle(x: float, y: float, radius: float, fill: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius * CELL:g}" fill="{fill}"/>'


def _line(start: tuple[float, float], end: tuple[float, float], style: str, title: str = "") -> str:
    (x, y), (to_x, to_y) = start, end
    inside = f"><title>{title}</title></line>" if title else "/>"
    ends = f'x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}"'
    return f'<line {ends} stroke-width="{CELL / 10:g}" stroke-linecap="round" {style}{inside}'


def _square(x: float, y: float) -> tuple[str, str]:
    return "rect", f'x="{x - CELL / 2:g}" y="{y - CELL / 2:g}" width="{CELL}" height="{CELL}"'


def _hexagon(x: float, y: float) -> tuple[str, str]:
    return "polygon", f'points="{" ".join(_corner(x, y, which) for which in range(6))}"'


def _corner(x: float, y: float, which: int) -> str:
    """A corner of a hexagon, clockwise from its top."""
    angle = math.radians(60 * which)
    return f"{x + RADIUS * math.sin(angle):.2f},{y - RADIUS * math.cos(angle):.2f}"


def _squares(points: np.ndarray) -> Iterator[str]:
    """Green squares in their frame: a whole board is one rectangle with lines across it."""
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
    ticks = [MARGIN + CELL * (i + 0.5) for i in range(max(rows, columns))]
    path = "".join(
        part
        for down, across in itertools.zip_longest(_runs(points.T), _runs(points), fillvalue=None)
        for part in (
            f"M{ticks[down[0]]:g} {ticks[down[1]]:g}V{ticks[down[2]]:g}" if down else "",
            f"M{ticks[across[1]]:g} {ticks[across[0]]:g}H{ticks[across[2]]:g}" if across else "",
        )
    )
    yield f'<path d="{path}" stroke="#5c4019" stroke-width="1.2" stroke-linecap="square"/>'
    if points.all() and rows == columns:
        for row, column in _star_points(rows):
            yield _circle(ticks[column], ticks[row], 0.09, "#5c4019")


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


def _hexagons(points: np.ndarray) -> Iterator[str]:
    """Cells, and around them the sides of their rectangle: dark's above and below, light's left and right."""
    rows, columns = (np.flatnonzero(points.any(axis)).tolist() for axis in (1, 0))
    rows, columns = range(rows[0], rows[-1] + 1), range(columns[0], columns[-1] + 1)
    for colour, cells, corners in (
        ("#fdfcf8", [(row, columns[0]) for row in rows], (5, 4)),
        ("#fdfcf8", [(row, columns[-1]) for row in rows], (1, 2)),
        ("#1b1b1b", [(rows[0], column) for column in columns], (5, 0, 1)),
        ("#1b1b1b", [(rows[-1], column) for column in columns], (4, 3, 2)),
    ):
        way = [_corner(*HEXAGONS.centre(*cell), which) for cell in cells for which in corners]
        stroke = f'stroke="{colour}" stroke-width="{2 * BAND}" stroke-linejoin="round"'
        yield f'<polyline points="{" ".join(way)}" fill="none" {stroke}/>'
    yield '<g fill="#d0d8da" stroke="#6f7f87" stroke-width="1.2">'
    for row, column in np.argwhere(points):
        tag, outline = _hexagon(*HEXAGONS.centre(row, column))
        yield f"<{tag} {outline}/>"
    yield "</g>"


HEXAGONS = Style(
    SLATE,
    _hexagons,
    _hexagon,
    half=(CELL / 2 + BAND, RADIUS + BAND),
    row_height=1.5 * RADIUS,
    slant=0.5,
)
STYLES = {
    "squares": Style(GREEN, _squares, _square),
    "lines": Style(WOOD, _lines, _square),
    "hexagons": HEXAGONS,
}
"""By `Game.stones_on`."""


def _coordinates(points: np.ndarray, style: Style) -> Iterator[str]:
    rows, columns = points.shape
    font = f'font-family="sans-serif" font-size="13" fill="{style.palette.text}" text-anchor="middle"'
    left, above = style.half[0] + MARGIN * 0.5, style.half[1] + MARGIN * 0.32
    for column in range(columns):
        x, top = style.centre(0, column)
        yield f'<text x="{x:g}" y="{top - above:g}" {font}>{column_name(column)}</text>'
    for row in range(rows):
        first, y = style.centre(row, 0)
        yield f'<text x="{first - left:g}" y="{y + 4:g}" {font}>{row + 1}</text>'


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


def _edge_heat(values: np.ndarray, max_size: int, moves: Steps, style: Style) -> Iterator[str]:
    """A tinted line per move; hovering over it shows the number."""
    palette, finite = style.palette, np.isfinite(values)
    finite[-1] = False
    largest = np.abs(values[finite]).max(initial=0.0)
    for action in np.flatnonzero(finite & (values != 0)).tolist():
        source, target = source_and_target(action, max_size, moves)
        colour = palette.warm if values[action] > 0 else palette.cold
        paint = f'class="heat" stroke="{colour}" stroke-opacity="{0.85 * abs(values[action]) / largest:.3f}"'
        title = f"{move_name(action, max_size, moves)} {values[action]:.3g}"
        yield _line(style.centre(*source), style.centre(*target), paint, title)


def _heat(values: np.ndarray, max_size: int, style: Style) -> Iterator[str]:
    """A tinted cell per point; hovering over it shows the number."""
    palette = style.palette
    finite = np.isfinite(values)
    largest = np.abs(values[finite]).max(initial=0.0)
    for row, column in np.argwhere(finite & (values != 0)):
        value = values[row, column]
        colour, opacity = palette.warm if value > 0 else palette.cold, 0.85 * abs(value) / largest
        name = move_name(row * max_size + column, max_size)
        tag, outline = style.cell(*style.centre(row, column))
        yield (
            f'<{tag} class="heat" {outline} '
            f'fill="{colour}" fill-opacity="{opacity:.3f}"><title>{name} {value:.3g}</title></{tag}>'
        )
