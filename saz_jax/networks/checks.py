"""Checks of network settings and inputs that speak before flax does."""

import typing
from typing import Any, Literal

import jax

from saz_jax.types import Array, GameState, Variables


def check_config(config: Any, max_size: int | None = None) -> None:
    """Every choice is a known one, every size at least 1 and every dropout rate below 1."""
    name = type(config).__name__
    for field, hint in typing.get_type_hints(type(config)).items():
        value = getattr(config, field)
        if typing.get_origin(hint) is Literal and value not in typing.get_args(hint):
            choices = ", ".join(typing.get_args(hint))
            raise ValueError(f"{name}.{field}={value!r} is unknown; choose one of {choices}")
        if hint is float and not 0 <= value < 1:
            raise ValueError(f"{name}.{field}={value} is no rate; use at least 0 and less than 1")
        if hint is int or typing.get_origin(hint) is tuple:
            check_sizes(f"{name}.{field}", value)
    if max_size is not None:
        check_sizes("max_size", max_size)


def check_sizes(name: str, value: Any) -> None:
    """A whole number of at least 1, or a tuple of them."""
    for size in value if isinstance(value, tuple) else (value,):
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError(f"{name}={value!r} is no size; use whole numbers of at least 1")


def check_variables(variables: Variables, expected: Variables) -> None:
    """The variables have the names and shapes of the expected ones."""
    found, wanted = _shapes(variables), _shapes(expected)
    remedy = "build the network with the settings that the weights were trained with"
    for path in sorted(found.keys() | wanted.keys()):
        if found.get(path) != wanted.get(path):
            what = f"{path} is {found.get(path, 'missing')} instead of {wanted.get(path, 'absent')}"
            raise ValueError(f"these weights belong to another network: {what}; {remedy}")


def _shapes(variables: Variables) -> dict[str, tuple[int, ...]]:
    leaves = jax.tree_util.tree_leaves_with_path(variables)
    return {jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape for path, leaf in leaves}


def check_boards(states: GameState, nodes: Array, max_size: int) -> None:
    """states[B] and nodes: bool[B, V] of padded boards of side `max_size`."""
    if states.board.ndim != 3 or states.board.shape[1:] != (max_size, max_size):
        raise ValueError(
            f"boards have shape {states.board.shape}; this network reads [B, {max_size}, {max_size}], "
            f"so batch the states and build game and network with the same max_size"
        )
    wanted = (states.board.shape[0], max_size * max_size + 1)
    if nodes.shape != wanted or nodes.dtype != bool:
        raise ValueError(f"nodes are {nodes.dtype}{list(nodes.shape)}; use bool{list(wanted)}")
