"""Large batches in pieces that fit the CPU's cache."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from saz_jax.types import Array

PRODUCT_NODES = 3072
"""Nodes of a piece for networks made of matrix products: its arrays stay in the second-level cache."""
CONVOLUTION_NODES = 7168
"""The same for convolutions, which share their work between cores only above some 4500 nodes."""


def in_chunks(
    function: Callable[..., Any],
    variables: Any,
    batch: tuple[Array, ...],
    *,
    num_nodes: int,
    chunk_nodes: int,
) -> Any:
    """`function(variables, *batch)`, computed a chunk of the batch at a time when it runs on a CPU.

    Normalisation and activations are bound by memory, so a CPU gains up to 2x from chunks that fit its cache;
    other devices want the whole batch.  Each item of the batch must be treated alone: not for training.
    """
    size = batch[0].shape[0]
    pieces = min(max(round(size * num_nodes / chunk_nodes), 1), size)
    if pieces == 1:
        return function(variables, *batch)
    chunk = -(-size // pieces)
    pieces = -(-size // chunk)

    def cut(x: Array) -> Array:
        # The last piece is filled up with copies of the last item.
        spare = [(0, pieces * chunk - size)] + [(0, 0)] * (x.ndim - 1)
        return jnp.pad(x, spare, mode="edge").reshape(pieces, chunk, *x.shape[1:])

    def chunked(variables: Any, *batch: Array) -> Any:
        out = jax.lax.map(lambda piece: function(variables, *piece), tuple(map(cut, batch)))
        return jax.tree.map(lambda x: x.reshape(pieces * chunk, *x.shape[2:])[:size], out)

    return jax.lax.platform_dependent(variables, *batch, cpu=chunked, default=function)
