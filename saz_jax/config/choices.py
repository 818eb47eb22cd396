"""The error message for a value that is none of its choices."""

from collections.abc import Iterable
from typing import Any


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise `ValueError` unless `value` is one of the choices."""
    choices = tuple(choices)
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(choices)}")
