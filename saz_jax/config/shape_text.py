"""Shapes of boards as text, for settings and command lines: what they say, without drawing them.

9  9x9  7x11                      a square, rows x columns
diamond:9  cross:9  ring:9        an outline inside a square of that side
holes:9:0.1  holes:7x11:0.1       that rectangle, each game without a tenth of its points, drawn anew
..#/.../#..                       a drawing: . is a point and # none, rows are separated by /
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

OUTLINES = ("diamond", "cross", "ring")
MAX_SHARE = 0.4
"""Of random holes; a board of which more is missing falls to pieces."""
FORMS = "9x9, 7x11, diamond:9, cross:9, ring:9, holes:9:0.1 or a drawing such as ..#/.../#.."


class ShapeText(NamedTuple):
    """What the text of one shape says."""

    text: str
    kind: str
    """rectangle, drawing, or one of `OUTLINES`."""
    rows: int
    columns: int
    share: float = 0.0
    """Of its points that are missing at random, drawn anew for each game."""

    @property
    def side(self) -> int:
        """Of the smallest square around it."""
        return max(self.rows, self.columns)


def parse_shapes(texts: str | Iterable[str]) -> tuple[ShapeText, ...]:
    """The shapes that `texts` name, separated by spaces; `ValueError` names one that is none."""
    words = " ".join([texts] if isinstance(texts, str) else texts).split()
    return tuple(map(parse_shape, words))


def parse_shape(text: str) -> ShapeText:
    """One shape."""
    if re.fullmatch(r"[.#/]{1,9999}", text):
        return _drawing(text)
    found = re.fullmatch(r"(?:([a-z]+):)?(\d{1,3})(?:x(\d{1,3}))?(?::(0?\.\d{1,9}|0))?", text)
    if found is None:
        raise ValueError(f"{text[:60]!r} is no shape of a board; use {FORMS}")
    kind, rows, columns, share = found[1] or "rectangle", int(found[2]), found[3], found[4]
    if kind not in ("rectangle", "holes", *OUTLINES) or (share is None) == (kind == "holes"):
        raise ValueError(f"{text!r} is no shape of a board; use {FORMS}")
    if kind in OUTLINES and columns is not None:
        raise ValueError(f"{text!r}: a {kind} has one side; use {kind}:{rows}")
    if not rows or columns == "0":
        raise ValueError(f"{text!r} has no points; use 1 row and 1 column or more")
    if share is not None and float(share) > MAX_SHARE:
        raise ValueError(f"{text!r} leaves too few points; use a share of {MAX_SHARE} at most")
    kind = "rectangle" if kind == "holes" else kind
    return ShapeText(text, kind, rows, int(columns or rows), float(share or 0))


def _drawing(text: str) -> ShapeText:
    rows = text.split("/")
    if len({len(row) for row in rows}) != 1 or "." not in text:
        raise ValueError(f"{text[:60]!r} is no drawing of a board; use rows of equal length and a point")
    return ShapeText(text, "drawing", len(rows), len(rows[0]))
