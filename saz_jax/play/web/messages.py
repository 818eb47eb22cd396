"""What a page may say: JSON objects, each checked against its schema before anybody acts on it.

{"do": "play", "move": "D3"}.  Nothing here needs jax.
"""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

MAX_MESSAGE = 1 << 17
"""Bytes of a message; a game record is the longest."""
MAX_MOVES = 20_000
MAX_SHAPE = 9_999
MAX_SIMULATIONS = 100_000
MAX_SECONDS = 600


class Kind(NamedTuple):
    """What a field may hold."""

    fits: Callable[[Any], bool]
    meaning: str
    """For messages: "it must be ..."."""
    required: bool = True


def text(most: int) -> Kind:
    """A text of at most so many characters."""
    return Kind(lambda x: isinstance(x, str) and len(x) <= most, f"a text of at most {most} characters")


def whole(low: int, high: int) -> Kind:
    """A whole number."""
    return Kind(
        lambda x: isinstance(x, int) and not isinstance(x, bool) and low <= x <= high,
        f"a whole number from {low} to {high}",
    )


def number(low: float, high: float) -> Kind:
    """A finite number."""
    return Kind(
        lambda x: isinstance(x, int | float) and not isinstance(x, bool) and low <= x <= high,
        f"a number from {low} to {high}",
    )


def texts(count: int, most: int) -> Kind:
    """A list of texts."""
    each = text(most)
    return Kind(
        lambda x: isinstance(x, list) and len(x) <= count and all(map(each.fits, x)),
        f"a list of at most {count} texts of at most {most} characters each",
    )


def maybe(kind: Kind) -> Kind:
    """A field that may be absent or null."""
    return Kind(lambda x: x is None or kind.fits(x), kind.meaning + ", or null", required=False)


SWITCH = Kind(lambda x: isinstance(x, bool), "true or false")
COLOUR = Kind(lambda x: x in (1, -1) and isinstance(x, int), "1 (dark) or -1 (light)")
OPTIONS = Kind(
    lambda x: isinstance(x, dict) and len(x) <= 20 and all(len(k) <= 40 and _plain(v) for k, v in x.items()),
    "an object of at most 20 numbers, texts and truth values",
)


def _plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return len(value) <= 200
    return isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**31)


SEATS = {
    "dark": text(500),
    "light": text(500),
    "simulations": maybe(whole(1, MAX_SIMULATIONS)),
    "seconds": maybe(number(0.05, MAX_SECONDS)),
}
MESSAGES: dict[str, dict[str, Kind]] = {
    "open": {
        "game": text(100),
        "size": whole(1, 1000),
        "shape": maybe(text(MAX_SHAPE)),
        "options": maybe(OPTIONS),
        **SEATS,
        "moves": maybe(texts(MAX_MOVES, 20)),
        "resigned": maybe(COLOUR),
    },
    "seats": SEATS,
    "play": {"move": text(20)},
    "undo": {"all": maybe(SWITCH)},
    "redo": {"all": maybe(SWITCH)},
    "resign": {},
    "go": {},
    "stop": {},
    "pause": {"on": SWITCH},
    "analyse": {"on": SWITCH, "insight": SWITCH, "player": maybe(text(500))},
    "save": {},
    "load": {"sgf": text(MAX_MESSAGE)},
}
"""{what to do: {field: what it may hold}}"""


def parse(said: str) -> dict[str, Any]:
    """The message, its absent fields None; `ValueError` says what is wrong with it."""
    if len(said) > MAX_MESSAGE:
        raise ValueError(f"a message of {len(said)} characters is too long; use at most {MAX_MESSAGE}")
    try:
        message = json.loads(said, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON: {error}") from error
    if not isinstance(message, dict):
        raise ValueError('a message is an object such as {"do": "play", "move": "D3"}')
    do = message.pop("do", None)
    if not isinstance(do, str) or do not in MESSAGES:
        raise ValueError(f"do is {_shown(do)}; use one of {', '.join(MESSAGES)}")
    fields = MESSAGES[do]
    for name in message:
        if name not in fields:
            raise ValueError(f"{do} has no field {_shown(name)}; it has {', '.join(fields) or 'none'}")
    for name, kind in fields.items():
        if name not in message and kind.required:
            raise ValueError(f"{do} needs the field {name}: {kind.meaning}")
        if not kind.fits(message.get(name)):
            raise ValueError(f"{name} is {_shown(message.get(name))}; it must be {kind.meaning}")
    return {"do": do, **{name: message.get(name) for name in fields}}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _shown(value: Any) -> str:
    found = repr(value) if not isinstance(value, dict | list) else type(value).__name__
    return found if len(found) <= 60 else found[:60] + "..."
