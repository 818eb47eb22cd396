"""Sums over neighbours: shifted adds and convolutions on boards, `segment_sum` on general graphs.

Both offer the same two functions of the node array h, whose absent nodes are zero:
  total(h)              sum over all neighbours, (A h)_i, all edges alike
  typed(h, kernels)     sum over edge types t of W_t (A_t h)_i, plus W_self h_i; kernels: [T + 1, F, H], self last
With `mean`, what points send to a dummy node is averaged over them instead of summed.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jraph

from saz_jax.games.board import COMPASS8
from saz_jax.graph import DIRECTIONS, FROM_DUMMY, NUM_EDGE_TYPES, TO_DUMMY
from saz_jax.types import Array

SELF = NUM_EDGE_TYPES
"""Index of a node's own kernel, after those of the edge types."""


class Neighbours(NamedTuple):
    """How a network asks for neighbour sums, whatever the layout of its nodes."""

    total: Callable[[Array], Array]
    typed: Callable[[Array, Array], Array]


def board_neighbours(nodes: Array, edges: str, mean: bool) -> Neighbours:
    """Neighbours on B padded boards: h is [B, V, F], nodes: bool[B, V] the present ones."""
    batch, side = nodes.shape[0], round((nodes.shape[1] - 1) ** 0.5)
    share = 1 / jnp.maximum(nodes[:, :-1].sum(1), 1).astype(jnp.float32)[:, None] if mean else 1.0

    def split(h: Array) -> tuple[Array, Array, Array]:
        points = h[:, :-1].reshape(batch, side, side, -1)
        return points, h[:, -1], points.sum((1, 2)) * share

    def join(points: Array, dummy: Array) -> Array:
        return jnp.concatenate([points.reshape(batch, side * side, -1), dummy[:, None]], axis=1)

    def total(h: Array) -> Array:
        points, dummy, pooled = split(h)
        padded = jnp.pad(points, ((0, 0), (1, 1), (1, 1), (0, 0)))
        shifted = [padded[:, 1 + r : 1 + r + side, 1 + c : 1 + c + side] for r, c in DIRECTIONS[edges]]
        return join(sum(shifted, start=dummy[:, None, None, :]), pooled)

    def typed(h: Array, kernels: Array) -> Array:
        points, dummy, pooled = split(h)
        taps = {step: index for index, step in enumerate(COMPASS8)} | {(0, 0): SELF}
        order = jnp.array([taps[row, column] for row in (-1, 0, 1) for column in (-1, 0, 1)])
        window = kernels[order].reshape(3, 3, *kernels.shape[1:])
        around = jax.lax.conv_general_dilated(
            points, window, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        from_dummy = dummy @ kernels[FROM_DUMMY]
        return join(around + from_dummy[:, None, None, :], dummy @ kernels[SELF] + pooled @ kernels[TO_DUMMY])

    return Neighbours(total, typed)


def graph_neighbours(graphs: jraph.GraphsTuple, mean: bool) -> Neighbours:
    """Neighbours in any `GraphsTuple`: h is [nodes, F], `graphs.edges` holds the edge types, int32[E].

    Edge types matter for `typed` and for `mean`; without either, `graphs.edges` is not read.
    """
    senders, receivers, types = graphs.senders, graphs.receivers, graphs.edges

    def messages(h: Array) -> Array:
        sent = h[senders]
        if not mean:
            return sent
        to_dummy = types == TO_DUMMY
        received = jraph.segment_sum(to_dummy.astype(h.dtype), receivers, h.shape[0])
        return jnp.where(to_dummy[:, None], sent / jnp.maximum(received, 1)[receivers, None], sent)

    def total(h: Array) -> Array:
        return jraph.segment_sum(messages(h), receivers, h.shape[0])

    def typed(h: Array, kernels: Array) -> Array:
        num_nodes = h.shape[0]
        sums = jraph.segment_sum(messages(h), types * num_nodes + receivers, NUM_EDGE_TYPES * num_nodes)
        sums = sums.reshape(NUM_EDGE_TYPES, num_nodes, -1)
        return jnp.einsum("tnf,tfh->nh", sums, kernels[:SELF]) + h @ kernels[SELF]

    return Neighbours(total, typed)
