"""Shapes of boards: the points that exist, as masks bool[rows, columns] that `game.init` takes.

    game.init(shapes.rectangle(6, 9)); game.init(shapes.from_text("..../.##./...."))

Any other mask does as well.  Text names shapes for settings and command lines, see `config.shape_text`.
"""

from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.config.shape_text import MAX_SHARE, OUTLINES, ShapeText, parse_shape, parse_shapes
from saz_jax.games.board import COMPASS4, ranks, shift
from saz_jax.games.notation import PLAIN, crop, draw_points
from saz_jax.types import Array, Game

__all__ = [
    "Boards",
    "cross",
    "diamond",
    "draw_boards",
    "from_text",
    "holes",
    "make_boards",
    "random_holes",
    "rectangle",
    "ring",
    "to_text",
]


def rectangle(rows: int, columns: int) -> np.ndarray:
    """bool[rows, columns]: all points."""
    if min(rows, columns) < 1:
        raise ValueError(f"a rectangle of {rows} x {columns} has no points; use 1 or more rows and columns")
    return np.ones((rows, columns), bool)


def diamond(side: int) -> np.ndarray:
    """bool[side, side]: a square that stands on its corner."""
    from_middle = np.abs(2 * np.arange(len(rectangle(side, side))) - (side - 1))
    return from_middle[:, None] + from_middle[None, :] <= 2 * (side // 2)


def cross(side: int) -> np.ndarray:
    """bool[side, side]: a square without its four corners, each a third of the side wide."""
    arm = _middle(side)
    return arm[:, None] | arm[None, :]


def ring(side: int) -> np.ndarray:
    """bool[side, side]: a square without its middle, which begins a third of the side from the edge."""
    middle = _middle(side)
    return ~(middle[:, None] & middle[None, :])


def _middle(side: int) -> np.ndarray:
    index = np.arange(len(rectangle(side, side)))
    return (index >= side // 3) & (index < side - side // 3)


def holes(key: Array, side: int, share: float) -> Array:
    """bool[side, side]: a square of which about `share` of the points is missing; see `random_holes`."""
    if not 0 <= share <= MAX_SHARE:
        raise ValueError(f"share={share} of holes; use 0 to {MAX_SHARE}, beyond which boards fall to pieces")
    return random_holes(key, jnp.asarray(rectangle(side, side)), share)


@jax.jit
def random_holes(key: Array, points: Array, share: Array | float) -> Array:
    """bool[N, N]: `points` without a share of them, drawn at random, and without what that cuts off.

    What remains is connected: the largest part, of equal ones that whose last point comes first.  The same
    key gives the same holes however far the board is padded.
    """
    noise = jax.random.bits(key, (points.size + 1,))[ranks(points)][:-1].reshape(points.shape)
    order = jnp.argsort(jnp.where(points, noise, jnp.uint32(0xFFFFFFFF)).reshape(-1), stable=True)
    removed = jnp.arange(points.size) < jnp.round(share * points.sum())
    kept = points & ~jnp.zeros(points.size, bool).at[order].set(removed).reshape(points.shape)
    return _largest_part(kept)


def _largest_part(points: Array) -> Array:
    """bool[N, N]: the most points that are connected by steps in the four directions."""
    number = jnp.arange(1, points.size + 1, dtype=jnp.int32).reshape(points.shape)

    def spread(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        label, _ = carry
        near = jnp.stack([label, *(shift(label, step) for step in COMPASS4)]).max(0)
        grown = jnp.where(points, near, 0)
        return grown, (grown != label).any()

    start = jnp.where(points, number, 0), jnp.bool_(True)
    label, _ = jax.lax.while_loop(lambda carry: carry[1], spread, start)
    count = jnp.zeros(points.size + 1, jnp.int32).at[label.reshape(-1)].add(1).at[0].set(0)
    return points & (label == jnp.argmax(count))


def from_text(text: str) -> np.ndarray:
    """bool[rows, columns]: a shape by name, such as 7x11 or diamond:9, or a drawing.

    A drawing has a character for each point, `.` where there is one and `#` where there is none, and a line
    or a part between slashes for each row; spaces around rows do not count.
    """
    drawing = "/".join(line.strip() for line in text.split("\n") if line.strip())
    said = parse_shape(drawing)
    if said.share:
        raise ValueError(f"{text!r} is drawn at random; use shapes.holes(key, side, share)")
    return outline(said)


def to_text(points: np.ndarray) -> str:
    """The shortest text of a shape, bool[N, N]: 7x11, or a drawing between slashes; `from_text` reads it."""
    points = np.asarray(points)
    cropped = crop(points, points)
    if cropped.all():
        return "x".join(map(str, cropped.shape))
    return draw_points(points).replace("\n", "/")


def outline(said: ShapeText) -> np.ndarray:
    """bool[rows, columns]: the points that the text of a shape names, before any of them go missing."""
    if said.kind == "drawing":
        rows = [[character == PLAIN[0] for character in row] for row in said.text.split("/")]
        return np.array(rows)
    if said.kind in OUTLINES:
        return {"diamond": diamond, "cross": cross, "ring": ring}[said.kind](said.rows)
    return rectangle(said.rows, said.columns)


class Boards(NamedTuple):
    """S kinds of boards that games are played on."""

    points: np.ndarray
    """bool[S, N, N]"""
    shares: np.ndarray
    """float32[S]: of the points that are missing at random, drawn anew for each game."""


def make_boards(shapes: Iterable[int | str], max_size: int) -> Boards:
    """Sides of squares and texts of shapes as boards of padded side `max_size`."""
    said = parse_shapes(map(str, shapes))
    for shape in said:
        if shape.side > max_size:
            raise ValueError(f"shape {shape.text} exceeds max_size={max_size}; raise max_size")
    pads = [[(0, max_size - length) for length in (shape.rows, shape.columns)] for shape in said]
    points = [np.pad(outline(shape), pad) for shape, pad in zip(said, pads, strict=True)]
    return Boards(np.stack(points), np.array([shape.share for shape in said], np.float32))


def draw_boards(game: Game, key: Array, boards: Boards, which: Array) -> Array:
    """bool[B, N, N]: the boards `which` (int32[B]), each with holes of its own where its kind has some.

    Where a game could not begin on what the holes leave, its board has none.
    """
    whole = jnp.asarray(boards.points)[which]
    if not boards.shares.any():
        return whole
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(which.shape[0]))
    shares = jnp.asarray(boards.shares)[which]
    drawn = jax.vmap(random_holes)(keys, whole, shares)
    usable = (shares > 0) & ~jax.vmap(game.init)(drawn).terminated
    return jnp.where(usable[:, None, None], drawn, whole)
