"""Sums over neighbours: shifted adds and convolutions on boards, `segment_sum` on general graphs.

Both offer the same two functions of the node array h, whose absent nodes are zero:
  total(h)            sum_{j in N(i)} h_j, all edges alike
  typed(h, kernels)   W_self h_i + sum_t W_t sum_{j in N_t(i)} h_j over edge types t; kernels: [T + 1, F, H],
                      one for every edge type, W_self last
What the points send to a dummy node is pooled as `GINConfig.dummy` says: sum, mean or max.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import jraph
import numpy as np

from saz_jax.games.board import COMPASS8
from saz_jax.graphs.topology import FROM_DUMMY, NUM_EDGE_TYPES, TO_DUMMY, Directions
from saz_jax.networks.kernels.convolution import convolve
from saz_jax.networks.nodes import Nodes, largest
from saz_jax.types import Array

SELF = NUM_EDGE_TYPES
"""Index of a node's own kernel, after those of the edge types."""
_TAPS = {(0, 0): SELF} | {step: edge_type for edge_type, step in enumerate(COMPASS8)}
_WINDOW = np.array([_TAPS[row, column] for row in (-1, 0, 1) for column in (-1, 0, 1)])
"""Kernels of a 3x3 convolution, row by row: the neighbour in that direction, or the node itself."""


class Neighbours(NamedTuple):
    """How a network asks for neighbour sums, whatever the layout of its nodes."""

    total: Callable[[Nodes], Nodes]
    typed: Callable[[Nodes, Array], Nodes]


def board_neighbours(present: Nodes, directions: Directions, dummy_pool: str) -> Neighbours:
    """Neighbours on B padded boards; present: (bool[B, N, N], bool[B]).

    `total` adds up the neighbours that lie in `directions`; `typed` tells all eight apart, and its kernels
    learn which of them matter.
    """
    count = jnp.maximum(present[0].sum((1, 2)), 1)[:, None].astype(jnp.float32)

    def pooled(points: Array) -> Array:
        if dummy_pool == "max":
            return largest(points, present[0])
        total = points.sum((1, 2))
        return total / count if dummy_pool == "mean" else total

    def total(h: Nodes) -> Nodes:
        points, dummy = h
        side = points.shape[1]
        padded = jnp.pad(points, ((0, 0), (1, 1), (1, 1), (0, 0)))
        shifted = [padded[:, 1 + r : 1 + r + side, 1 + c : 1 + c + side] for r, c in directions]
        return sum(shifted, start=dummy[:, None, None, :]), pooled(points)

    def typed(h: Nodes, kernels: Array) -> Nodes:
        points, dummy = h
        window = kernels[_WINDOW].reshape(3, 3, *kernels.shape[1:])
        around = convolve(points, window)
        from_dummy = dummy @ kernels[FROM_DUMMY]
        into_dummy = dummy @ kernels[SELF] + pooled(points) @ kernels[TO_DUMMY]
        return around + from_dummy[:, None, None, :], into_dummy

    return Neighbours(total, typed)


def graph_neighbours(graphs: jraph.GraphsTuple, dummy_pool: str) -> Neighbours:
    """Neighbours in any `GraphsTuple`; `graphs.edges` holds the edge types, int32[E].

    Edge types matter for `typed` and for a mean or max; without either, `graphs.edges` is not read.
    """
    arrays: tuple[Any, ...] = (graphs.senders, graphs.receivers, graphs.edges)
    senders, receivers, types = arrays

    def pooled(h: Array) -> Array:
        """What each node gets over its edges of the type to-dummy, 0 where it has none."""
        to_dummy = (types == TO_DUMMY)[:, None]
        if dummy_pool == "max":
            most = jraph.segment_max(jnp.where(to_dummy, h[senders], -jnp.inf), receivers, h.shape[0])
            return jnp.where(jnp.isneginf(most), 0, most)
        total = jraph.segment_sum(jnp.where(to_dummy, h[senders], 0), receivers, h.shape[0])
        return total / jnp.maximum(jraph.segment_sum(to_dummy.astype(h.dtype), receivers, h.shape[0]), 1)

    def total(h: Nodes) -> Nodes:
        (h_all,) = h
        if dummy_pool == "sum":
            return (jraph.segment_sum(h_all[senders], receivers, h_all.shape[0]),)
        others = jnp.where((types == TO_DUMMY)[:, None], 0, h_all[senders])
        return (jraph.segment_sum(others, receivers, h_all.shape[0]) + pooled(h_all),)

    def typed(h: Nodes, kernels: Array) -> Nodes:
        (h_all,) = h
        num_nodes = h_all.shape[0]
        sums = jraph.segment_sum(h_all[senders], types * num_nodes + receivers, NUM_EDGE_TYPES * num_nodes)
        sums = sums.reshape(NUM_EDGE_TYPES, num_nodes, -1)
        if dummy_pool != "sum":
            sums = sums.at[TO_DUMMY].set(pooled(h_all))
        return (jnp.einsum("tnf,tfh->nh", sums, kernels[:SELF]) + h_all @ kernels[SELF],)

    return Neighbours(total, typed)
