"""Checks of network settings and inputs, with clearer messages than flax's."""

import typing
from typing import Any, Literal

from saz_jax.config.choices import check_choice
from saz_jax.storage.named_arrays import mismatch
from saz_jax.types import Array, Observation, Variables

MAX_DEPTH, MAX_WIDTH = 200, 65536
"""Larger numbers are a mistake, or a crafted file that would keep its reader busy."""


def check_config(config: Any, max_size: int | None = None) -> None:
    """Every choice is a known one, every size at least 1 and every dropout rate below 1."""
    name = type(config).__name__
    for field, hint in typing.get_type_hints(type(config)).items():
        value = getattr(config, field)
        if typing.get_origin(hint) is Literal:
            check_choice(f"{name}.{field}", value, typing.get_args(hint))
        if hint is float and not 0 <= value < 1:
            raise ValueError(f"{name}.{field}={value} is no rate; use at least 0 and less than 1")
        if hint is int or typing.get_origin(hint) is tuple:
            check_sizes(f"{name}.{field}", value)
    if max_size is not None:
        check_sizes("max_size", max_size)


def check_sizes(name: str, value: Any) -> None:
    """A whole number from 1 to what can be built, or a tuple of them."""
    largest = MAX_DEPTH if name.endswith((".layers", ".blocks")) else MAX_WIDTH
    for size in value if isinstance(value, tuple) else (value,):
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= largest:
            raise ValueError(f"{name}={value!r} is no size; use whole numbers from 1 to {largest}")


def check_variables(variables: Variables, expected: Variables) -> None:
    """The variables have the names, dtypes and shapes of the expected ones."""
    if problem := mismatch(variables, expected):
        raise ValueError(
            f"these weights belong to another network: {problem}; "
            "build the network with the settings that the weights were trained with"
        )


def check_boards(seen: Observation, nodes: Array, max_size: int) -> None:
    """Observations [B] and nodes: bool[B, V] of padded boards of side `max_size`."""
    if seen.board.ndim != 3 or seen.board.shape[1:] != (max_size, max_size):
        raise ValueError(
            f"boards have shape {seen.board.shape}; this network reads [B, {max_size}, {max_size}], "
            f"so batch the positions and build game and network with the same max_size"
        )
    wanted = (seen.board.shape[0], max_size * max_size + 1)
    if nodes.shape != wanted or nodes.dtype != bool:
        raise ValueError(f"nodes are {nodes.dtype}{list(nodes.shape)}; use bool{list(wanted)}")
