"""Node arrays in the layout that each kind of graph computes with.

A node array is a tuple of arrays whose last axis holds the features.  Padded boards are kept as
`(points [B, N, N, F], dummy [B, F])`: neighbour sums on a grid are then shifts without a copy, a third faster
than one array of V nodes.  A `GraphsTuple` is kept as `([nodes, F],)`.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from saz_jax.types import Array

Nodes: TypeAlias = tuple[Array, ...]


def each(function: Callable[..., Array], *nodes: Nodes) -> Nodes:
    """`function` applied to the arrays of one layout, one after the other."""
    return tuple(map(function, *nodes))


def split_board(x: Array) -> Nodes:
    """[B, V, ...] -> points [B, N, N, ...] and dummy node [B, ...]."""
    side = math.isqrt(x.shape[1] - 1)
    return x[:, :-1].reshape(x.shape[0], side, side, *x.shape[2:]), x[:, -1]


def join_board(nodes: Nodes) -> Array:
    """The inverse of `split_board`."""
    points, dummy = nodes
    return jnp.concatenate([points.reshape(points.shape[0], -1, *points.shape[3:]), dummy[:, None]], axis=1)


def join_actions(points: Array, dummy: Array) -> Array:
    """[B, A]: points [B, N, N, kinds], a number for each kind of move that starts there, and pass [B]."""
    by_kind = jnp.moveaxis(points, -1, 1)
    return jnp.concatenate([by_kind.reshape(len(points), -1), dummy[:, None]], axis=1)


def zero_absent(x: Array, present: Array) -> Array:
    """x: [..., F] with zeros where present: bool[...] is False."""
    return jnp.where(present[..., None], x, 0)


@jax.custom_vjp
def largest(x: Array, present: Array) -> Array:
    """The largest value of each feature among the present points, [B, N, N, F] -> [B, F]; 0 without any."""
    most = jnp.where(present[..., None], x, -jnp.inf).max((1, 2))
    return jnp.where(jnp.isneginf(most), 0, most)


def _largest_forward(x: Array, present: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    most = largest(x, present)
    return most, (x, present, most)


def _largest_backward(kept: tuple[Array, Array, Array], gradient: Array) -> tuple[Array, None]:
    """The points that hold the maximum share its gradient.

    The gradient that jax derives divides by their number, which is 0 where the compiler has computed x a
    second time with another rounding.
    """
    x, present, most = kept
    holds = (x == most[:, None, None]) & present[..., None]
    share = gradient / jnp.maximum(holds.sum((1, 2)), 1)
    return jnp.where(holds, share[:, None, None], 0), None


largest.defvjp(_largest_forward, _largest_backward)


def along_features(vector: Array, x: Any) -> Array:
    """vector: [F], with leading axes so that it broadcasts against x: [..., F]."""
    return vector.reshape((1,) * (x.ndim - 1) + vector.shape)
