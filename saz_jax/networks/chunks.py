"""Large batches in pieces that fit the CPU's cache."""

from collections.abc import Callable
from typing import Any

import jax

from saz_jax.types import Array

PRODUCT_NODES = 3072
"""Nodes of a piece for networks made of matrix products: its arrays stay in the second-level cache."""
CONVOLUTION_NODES = 6144
"""The same for convolutions, which share their work between cores only above a certain size."""


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
    chunk = _chunk_size(size, max(chunk_nodes // num_nodes, 1))
    if chunk == size:
        return function(variables, *batch)

    def chunked(variables: Any, *batch: Array) -> Any:
        pieces = tuple(x.reshape(size // chunk, chunk, *x.shape[1:]) for x in batch)
        out = jax.lax.map(lambda piece: function(variables, *piece), pieces)
        return jax.tree.map(lambda x: x.reshape(size, *x.shape[2:]), out)

    return jax.lax.platform_dependent(variables, *batch, cpu=chunked, default=function)


def _chunk_size(size: int, most: int) -> int:
    """The largest divisor of the batch up to `most`; the whole batch if that would be tiny pieces."""
    chunk = max(c for c in range(1, min(most, size) + 1) if size % c == 0)
    return chunk if chunk * 4 >= most else size
