"""Points in the words of the line protocols: GTP, Gomocup and NBoard.

A point is (row, column) from the top left, counted from 0; None is pass.  Nothing here needs jax.
"""

import re
from typing import TypeAlias

Point: TypeAlias = tuple[int, int] | None
Move: TypeAlias = tuple[int, int] | tuple[tuple[int, int], tuple[int, int]] | None
"""The point where a stone is placed, or where a stone is moved from and to; None is pass."""

GTP_COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Columns of GTP; there is no I."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def ends(move: Move) -> tuple[tuple[int, int], ...]:
    """The points of a move: none for pass, one where a stone is placed, else two."""
    if move is None:
        return ()
    first, second = move
    if isinstance(first, tuple) and isinstance(second, tuple):
        return first, second
    assert isinstance(first, int)
    assert isinstance(second, int)
    return ((first, second),)


def placed(move: Move) -> Point:
    """A move of a game in which stones are only placed, as a point."""
    points = ends(move)
    assert len(points) < 2
    return points[0] if points else None


def gtp_move(move: Move, size: int, from_top: bool = False) -> str:
    """As `gtp_vertex`; a stone that is moved from B2 to C3 is B2-C3."""
    if move is None:
        return "pass"
    return "-".join(gtp_vertex(point, size, from_top) for point in ends(move))


def read_gtp_move(text: str, size: int, from_top: bool = False) -> Move:
    """The inverse of `gtp_move`."""
    first, dash, second = text.partition("-")
    start = read_gtp_vertex(first, size, from_top)
    if not dash:
        return start
    end = read_gtp_vertex(second, size, from_top)
    if start is None or end is None:
        raise ValueError(f"{text[:20]!r} is no move; use two vertices such as B2-C3, or pass")
    return start, end


def gtp_vertex(point: Point, size: int, from_top: bool = False) -> str:
    """D4 or pass; rows are counted from the bottom as in Go, or `from_top` as in Othello."""
    if point is None:
        return "pass"
    row, column = point
    return f"{GTP_COLUMNS[column]}{row + 1 if from_top else size - row}"


def read_gtp_vertex(text: str, size: int, from_top: bool = False) -> Point:
    """The inverse of `gtp_vertex`."""
    if text.lower() == "pass":
        return None
    found = re.fullmatch(r"([A-HJ-Za-hj-z])([0-9]{1,2})", text)
    if found:
        column, number = GTP_COLUMNS.index(found[1].upper()), int(found[2])
        if column < size and 1 <= number <= size:
            return (number - 1 if from_top else size - number), column
    raise ValueError(f"{text[:20]!r} is no vertex on side {size}; use a letter and a number, or pass")


def gomocup_point(point: tuple[int, int]) -> str:
    """x,y: column and row from 0."""
    return f"{point[1]},{point[0]}"


def read_gomocup_point(text: str, size: int) -> tuple[int, int]:
    """The inverse of `gomocup_point`."""
    found = re.fullmatch(r"\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*", text)
    if not found or int(found[1]) >= size or int(found[2]) >= size:
        raise ValueError(f"{text[:20]!r} is no point on side {size}; use x,y from 0,0")
    return int(found[2]), int(found[1])


def square(point: Point) -> str:
    """d3 of Othello, rows from the top; PA is pass."""
    return "PA" if point is None else f"{LETTERS[point[1]]}{point[0] + 1}"


def read_square(text: str, size: int) -> Point:
    """The inverse of `square`; whatever follows a slash does not count."""
    text = text.partition("/")[0].strip()
    if text.upper() in ("PA", "PASS"):
        return None
    found = re.fullmatch(r"([A-Za-z])([0-9]{1,2})", text)
    if found:
        column, row = LETTERS.index(found[1].upper()), int(found[2]) - 1
        if column < size and 0 <= row < size:
            return row, column
    raise ValueError(f"{text[:20]!r} is no square on side {size}; use a letter and a number, or PA")
