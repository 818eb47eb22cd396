"""Matrix products over the features whose gradients are also fast on a CPU."""

from typing import Any

import jax
import jax.numpy as jnp

from saz_jax.types import Array

FEW = 4
"""Columns of a kernel that are better treated one by one."""


def product(x: Array, kernel: Array, *_: Any, **__: Any) -> Array:
    """[..., F] by a kernel [F, H] to [..., H].

    The arguments are those that `nn.Dense` hands on; the further ones are the same for every such kernel.
    """
    return _product(x, kernel)


def _plain(x: Array, kernel: Array) -> Array:
    return x @ kernel


_product = jax.custom_vjp(_plain)


def _forward(x: Array, kernel: Array) -> tuple[Array, tuple[Array, Array]]:
    return _plain(x, kernel), (x, kernel)


def _backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    """What jax derives, but for two things in which XLA's CPU is slow: it would copy the gradient transposed,
    and it multiplies into a few columns no faster than into many."""
    x, kernel = kept
    nodes, gradients = x.reshape(-1, x.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
    if kernel.shape[1] <= FEW:
        of_kernel = jnp.stack([column @ nodes for column in gradients.T], axis=1)
    else:
        of_kernel = jax.lax.dot_general(nodes, gradients, (((0,), (0,)), ((), ())))
    return gradient @ kernel.T, of_kernel


_product.defvjp(_forward, _backward)
