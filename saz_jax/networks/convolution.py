"""3x3 convolutions that keep the board's side, in a form that also learns quickly on a CPU."""

from typing import Any

import jax
import jax.numpy as jnp

from saz_jax.types import Array


def convolve(points: Array, window: Array, *_: Any, **__: Any) -> Array:
    """[B, N, N, C] by a window [3, 3, C, H] to [B, N, N, H], zeros beyond the board.

    The arguments are those that `nn.Conv` hands on; the further ones are the same for every such window.
    """
    return jax.lax.conv_general_dilated(
        points, window, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def convolve_to_learn(points: Array, window: Array, *_: Any, **__: Any) -> Array:
    """The same, for a training pass.

    XLA's CPU computes a convolution's gradient inside of a loop some ten times slower than the same matrix
    products, so there the nine shifted boards are put side by side and multiplied once.
    """
    return jax.lax.platform_dependent(points, window, cpu=_by_product, default=convolve)


def _by_product(points: Array, window: Array) -> Array:
    side = points.shape[1]
    padded = jnp.pad(points, ((0, 0), (1, 1), (1, 1), (0, 0)))
    around = [padded[:, row : row + side, column : column + side] for row in range(3) for column in range(3)]
    return jnp.concatenate(around, axis=-1) @ window.reshape(-1, window.shape[-1])
