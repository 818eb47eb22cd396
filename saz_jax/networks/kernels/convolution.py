"""3x3 convolutions that keep the board's side and whose gradients are also fast on a CPU."""

from typing import Any

import jax
import jax.numpy as jnp

from saz_jax.types import Array


def convolve(points: Array, window: Array, *_: Any, **__: Any) -> Array:
    """[B, N, N, C] by a window [3, 3, C, H] to [B, N, N, H], zeros beyond the board.

    The arguments are those that `nn.Conv` hands on; the further ones are the same for every such window.
    """
    return _convolve(points, window)


def _plain(points: Array, window: Array) -> Array:
    return jax.lax.conv_general_dilated(
        points, window, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


_convolve = jax.custom_vjp(_plain)


def _forward(points: Array, window: Array) -> tuple[Array, tuple[Array, Array]]:
    return _plain(points, window), (points, window)


def _backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    """What jax derives, but for one thing: XLA's CPU computes a window's gradient inside of a loop some ten
    times slower than the matrix product of the nine shifted boards, side by side, with the gradient."""
    points, window = kept
    of_points = _plain(gradient, window[::-1, ::-1].swapaxes(2, 3))
    of_window = jax.lax.platform_dependent(
        points, window, gradient, cpu=_window_by_product, default=_window_by_convolution
    )
    return of_points, of_window


def _window_by_product(points: Array, window: Array, gradient: Array) -> Array:
    side = points.shape[1]
    padded = jnp.pad(points, ((0, 0), (1, 1), (1, 1), (0, 0)))
    around = [padded[:, row : row + side, column : column + side] for row in range(3) for column in range(3)]
    return jnp.einsum("bijc,bijh->ch", jnp.concatenate(around, axis=-1), gradient).reshape(window.shape)


def _window_by_convolution(points: Array, window: Array, gradient: Array) -> Array:
    _, pull_back = jax.vjp(lambda window: _plain(points, window), window)
    return pull_back(gradient)[0]


_convolve.defvjp(_forward, _backward)
