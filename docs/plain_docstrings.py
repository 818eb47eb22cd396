"""Our docstrings are plain text with `names` in backticks; Sphinx wants reStructuredText.

Classes that are records show the names of their fields on top; types and meaning follow, field by field.
"""

import dataclasses
import inspect
import re
from typing import Any

CODE = re.compile(r"`([^`\n]+)`")
SPECIAL = re.compile(r"([*|\\])|(?<=\w)_(?=\W|$)")


def record_signature(what: str, obj: Any) -> str | None:
    """The names of a record's fields, with plain defaults; None for everything else."""
    record = isinstance(obj, type) and (dataclasses.is_dataclass(obj) or hasattr(obj, "_fields"))
    if what != "class" or not record:
        return None
    return f"({', '.join(map(_argument, inspect.signature(obj).parameters.values()))})"


def _argument(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if default is parameter.empty:
        return parameter.name
    simple = default is None or isinstance(default, (bool, int, float, str, tuple))
    return f"{parameter.name}={default!r}" if simple else f"{parameter.name}=..."


def to_rst(lines: list[str]) -> None:
    """Changes the lines of a docstring in place."""
    if lines and re.fullmatch(r"Alias for field number \d+", lines[0]):
        lines.clear()
    converted: list[str] = []
    for block in _blocks(lines):
        converted += [*_block(block), ""]
    lines[:] = converted


def _blocks(lines: list[str]) -> list[list[str]]:
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _block(block: list[str]) -> list[str]:
    indented = [line.startswith("  ") for line in block]
    if all(indented):
        return _literal(block)
    if block[0].startswith("- "):
        return [_escape(line) for line in block]
    if any(indented):
        first = indented.index(True)
        if all(indented[first:]) and block[first - 1].endswith(":"):
            return [*map(_escape, block[:first]), "", *_literal(block[first:])]
        # `name: what it is`, one after another, with the continuation of each one indented.
        items: list[str] = []
        for line, inner in zip(block, indented, strict=True):
            if inner and items:
                items[-1] += f" {line.strip()}"
            else:
                items.append(line)
        return [f"- {_escape(item)}" for item in items]
    return [_escape(line) for line in block]


def _literal(block: list[str]) -> list[str]:
    return [".. code-block:: text", "", *(f"    {line}" for line in block)]


def _escape(line: str) -> str:
    """Backticks become code; what else means something to Sphinx becomes plain."""
    parts = CODE.split(line)
    for index, part in enumerate(parts):
        parts[index] = f"``{part}``" if index % 2 else SPECIAL.sub(r"\\\g<0>", part)
    # Code has to stand apart from letters on both sides.
    return (
        re.sub(r"``(?=\w)", r"``\\ ", "".join(parts))
        if len(parts) > 1 and _touches(parts)
        else "".join(parts)
    )


def _touches(parts: list[str]) -> bool:
    return any(re.match(r"\w", part) for part in parts[2::2])
