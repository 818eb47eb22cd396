"""Sampled subgraphs as node masks, and the prior that they make together (Sec. 3.2).

A subgraph is a mask over the nodes of its graph: edges are induced, and the dummy node, the last one, is in
every subgraph.  Everything here is pure and takes any node mask, a board with holes as well.  How many there
are and how large goes by the number of points: n is the side of the square that has as many.
"""

import itertools
import math
import typing

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.config import SubgraphConfig
from saz_jax.config.choices import check_choice
from saz_jax.config.registry import PRIORS
from saz_jax.types import Array

CHOICES = {
    name: typing.get_args(hint)
    for name, hint in typing.get_type_hints(SubgraphConfig).items()
    if typing.get_origin(hint) is typing.Literal
}
"""What the fields of `SubgraphConfig` that name a reading of the paper may be."""


def subgraph_counts(config: SubgraphConfig, max_size: int) -> np.ndarray:
    """int32[N * N + 1]: the number of subgraphs k for every number of points from 0 to N * N.

    k = round(per_side * n) as Python rounds, halves to the even neighbour: n = 5 gives 2, n = 7 gives 4.
    """
    return np.array([round(config.per_side * math.sqrt(p)) for p in range(max_size**2 + 1)], np.int32)


def smallest_side(config: SubgraphConfig) -> int:
    """The smallest live side with at least one subgraph (k >= 1) and at least one point in each (m >= 2)."""
    check(config)
    return next(n for n in itertools.count(config.shrink + 2) if round(config.per_side * n) >= 1)


def check(config: SubgraphConfig) -> None:
    """Raise `ValueError` for settings that make no subgraphs on any board."""
    if not 0.01 <= config.per_side <= 100:
        raise ValueError(
            f"per_side={config.per_side} makes too few or too many subgraphs; use 0.01 to 100, or model3"
        )
    if config.shrink < 0:
        raise ValueError(f"shrink={config.shrink} makes subgraphs larger than the board; use 0 or more")
    PRIORS.find(config.combine)
    for name, choices in CHOICES.items():
        check_choice(name, getattr(config, name), choices)


def sample_subgraphs(key: Array, nodes: Array, config: SubgraphConfig, max_size: int) -> Array:
    """bool[K, V]: subgraphs of the graph `nodes` (bool[V]); `vmap` for a batch.

    K is the count for side N, static; subgraphs beyond the count for n hold no node at all, so they weigh
    nothing in a scatter.  Randomness goes by subgraph and by the rank of a point among the present points:
    the same key draws the same points however far the board is padded.
    """
    index = jnp.arange(subgraph_counts(config, max_size)[-1])
    return jax.vmap(lambda which: sample_subgraph(key, which, nodes, config, max_size))(index)


def sample_subgraph(
    key: Array, which: Array | int, nodes: Array, config: SubgraphConfig, max_size: int
) -> Array:
    """bool[V]: one of the subgraphs of `sample_subgraphs`, the number `which`."""
    draw = {"uniform": _draw_points, "window": _draw_window}[config.nodes]
    points = draw(jax.random.fold_in(key, which), nodes[:-1], config)
    counts = jnp.asarray(subgraph_counts(config, max_size))
    return jnp.append(points, nodes[-1]) & (which < counts[nodes[:-1].sum()])


def _draw_points(key: Array, points: Array, config: SubgraphConfig) -> Array:
    """bool[N * N]: d points, d uniform from (m-1)^2 to m^2 or (m+1)^2 but from 1 to n^2; all sets alike."""
    # Word 0 decides d, word i the i-th present point.
    noise = jax.random.bits(key, (points.size + 1,))
    n = np.sqrt(np.arange(points.size + 1))
    squares = (np.rint(np.square(side)).astype(np.int32) for side in _side_range(n, config))
    fewest, most = (jnp.asarray(np.maximum(square, 1))[points.sum()] for square in squares)
    return lowest(noise[jnp.cumsum(points)], points, _pick(noise[0], fewest, most))


def _draw_window(key: Array, points: Array, config: SubgraphConfig) -> Array:
    """bool[N * N]: the points inside a square, its side uniform from m-1 to m or m+1 but at most n, its place
    uniform among those on the rows and columns in use, as far as they hold it."""
    noise = jax.random.bits(key, (3,))
    n = np.rint(np.sqrt(np.arange(points.size + 1))).astype(np.int32)
    side = _pick(noise[0], *(jnp.asarray(side)[points.sum()] for side in _side_range(n, config)))
    index = jnp.arange(round(points.size**0.5))[None, :]
    grid = points.reshape(index.size, index.size)
    used = jnp.stack([grid.any(1), grid.any(0)])
    first = jnp.min(jnp.where(used, index, index.size), axis=1)
    end = 1 + jnp.max(jnp.where(used, index, 0), axis=1)
    corner = _pick(noise[1:], first, jnp.maximum(end - side, first))[:, None]
    rows, columns = (index >= corner) & (index < corner + side)
    return points & (rows[:, None] & columns[None, :]).reshape(-1)


def _side_range(n: np.ndarray, config: SubgraphConfig) -> tuple[np.ndarray, np.ndarray]:
    """The sides of the squares that have as many points as the smallest and the largest subgraph."""
    m = n - config.shrink
    return np.maximum(m - 1, 0), np.maximum(np.minimum({"m": m, "m+1": m + 1}[config.largest], n), 0)


def _pick(noise: Array, low: Array | int, high: Array | int) -> Array:
    """int32 from low to high, both included, from random uint32; r choices are biased by r / 2^32 at most."""
    span = jnp.asarray(high - low + 1, jnp.uint32)
    return low + (noise % span).astype(jnp.int32)


def lowest(noise: Array, points: Array, count: Array | int) -> Array:
    """The `count` points of lowest noise (uint32), ties in order, all of them if there are fewer: bool[P].

    Sorting the integers alone is several times faster on a CPU than sorting their indices along.
    """
    ordered = jnp.sort(jnp.where(points, noise, jnp.uint32(0xFFFFFFFF)))
    last = ordered[count - 1]
    below, tied = points & (noise < last), points & (noise == last)
    return below | (tied & (jnp.cumsum(tied) <= count - below.sum()))


def scatter_mean(prior: Array, subgraphs: Array) -> Array:
    """Mean over the subgraphs that hold an action, [K, ..., A] -> [..., A]; 0 where none does."""
    total = jnp.where(subgraphs, prior, 0).sum(axis=0)
    return total / jnp.maximum(subgraphs.sum(axis=0), 1)


def scatter_max(prior: Array, subgraphs: Array) -> Array:
    """Maximum over the subgraphs that hold an action, [K, ..., A] -> [..., A]; 0 where none does."""
    return jnp.where(subgraphs, prior, 0).max(axis=0, initial=0)
