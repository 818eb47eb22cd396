"""Sums over neighbours: shifted adds and convolutions on boards, `segment_sum` on general graphs.

Both offer the same two functions of the node array h, whose absent nodes are zero:
  total(h)            sum_{j in N(i)} h_j, all edges alike
  typed(h, kernels)   W_self h_i + sum_t W_t sum_{j in N_t(i)} h_j over edge types t; kernels: [T + 1, F, H],
                      one for every edge type, W_self last
With `mean`, what the points send to a dummy node is averaged over them instead of summed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import jraph
import numpy as np

from saz_jax.games.board import COMPASS8
from saz_jax.graph import DIRECTIONS, FROM_DUMMY, NUM_EDGE_TYPES, TO_DUMMY
from saz_jax.networks.convolution import convolve, convolve_to_learn
from saz_jax.networks.nodes import Nodes
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


def board_neighbours(present: Nodes, edges: str, mean: bool, train: bool) -> Neighbours:
    """Neighbours on B padded boards; present: (bool[B, N, N], bool[B])."""
    count = jnp.maximum(present[0].sum((1, 2)), 1)[:, None].astype(jnp.float32)

    def pooled(points: Array) -> Array:
        total = points.sum((1, 2))
        return total / count if mean else total

    def total(h: Nodes) -> Nodes:
        points, dummy = h
        side = points.shape[1]
        padded = jnp.pad(points, ((0, 0), (1, 1), (1, 1), (0, 0)))
        shifted = [padded[:, 1 + r : 1 + r + side, 1 + c : 1 + c + side] for r, c in DIRECTIONS[edges]]
        return sum(shifted, start=dummy[:, None, None, :]), pooled(points)

    def typed(h: Nodes, kernels: Array) -> Nodes:
        points, dummy = h
        window = kernels[_WINDOW].reshape(3, 3, *kernels.shape[1:])
        around = (convolve_to_learn if train else convolve)(points, window)
        from_dummy = dummy @ kernels[FROM_DUMMY]
        into_dummy = dummy @ kernels[SELF] + pooled(points) @ kernels[TO_DUMMY]
        return around + from_dummy[:, None, None, :], into_dummy

    return Neighbours(total, typed)


def graph_neighbours(graphs: jraph.GraphsTuple, mean: bool) -> Neighbours:
    """Neighbours in any `GraphsTuple`; `graphs.edges` holds the edge types, int32[E].

    Edge types matter for `typed` and for `mean`; without either, `graphs.edges` is not read.
    """
    arrays: tuple[Any, ...] = (graphs.senders, graphs.receivers, graphs.edges)
    senders, receivers, types = arrays

    def messages(h: Array) -> Array:
        sent = h[senders]
        if not mean:
            return sent
        to_dummy = types == TO_DUMMY
        received = jraph.segment_sum(to_dummy.astype(h.dtype), receivers, h.shape[0])
        return jnp.where(to_dummy[:, None], sent / jnp.maximum(received, 1)[receivers, None], sent)

    def total(h: Nodes) -> Nodes:
        return (jraph.segment_sum(messages(h[0]), receivers, h[0].shape[0]),)

    def typed(h: Nodes, kernels: Array) -> Nodes:
        num_nodes = h[0].shape[0]
        sums = jraph.segment_sum(messages(h[0]), types * num_nodes + receivers, NUM_EDGE_TYPES * num_nodes)
        sums = sums.reshape(NUM_EDGE_TYPES, num_nodes, -1)
        return (jnp.einsum("tnf,tfh->nh", sums, kernels[:SELF]) + h[0] @ kernels[SELF],)

    return Neighbours(total, typed)
