"""Games in progress, and the faces that show them: terminal, GTP, Gomocup and NBoard."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saz_jax.play.clock import Clock
    from saz_jax.play.limits import Limits
    from saz_jax.play.session import Session, Setup
    from saz_jax.play.thinking import Analysis

__all__ = ["Analysis", "Clock", "Limits", "Session", "Setup"]

_HOMES = {
    "Analysis": "thinking",
    "Limits": "limits",
    "Clock": "clock",
    "Session": "session",
    "Setup": "session",
}
"""Imported on first use: the faces answer before jax is imported."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"saz_jax.play.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'saz_jax.play' has no attribute {name!r}")
