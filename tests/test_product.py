"""The matrix product and the norm with their own gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.networks.kernels.product import FEW, product
from saz_jax.networks.norm import EPSILON, normalise


def gradients(function, weight, *inputs):
    return jax.grad(lambda *inputs: jnp.sum(weight * function(*inputs)), range(len(inputs)))(*inputs)


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape)


@pytest.mark.parametrize("width", [1, FEW, FEW + 1, 16])
def test_a_product_and_its_gradient_are_those_of_matmul(width):
    x, kernel, weight = normal(0, 2, 4, 4, 3), normal(1, 3, width), normal(2, 2, 4, 4, width)
    np.testing.assert_allclose(product(x, kernel), x @ kernel, atol=1e-5)
    found, expected = (gradients(f, weight, x, kernel) for f in (product, jnp.matmul))
    for ours, derived in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, derived, atol=1e-4)


def test_the_norm_and_its_gradient_are_those_of_the_formula():
    def formula(x, scale, bias):
        root = jnp.sqrt((x**2).mean(-1, keepdims=True) + EPSILON)
        return jnp.maximum(x / root * scale.reshape(1, 1, -1) + bias.reshape(1, 1, -1), 0)

    inputs, weight = (normal(0, 5, 4, 6), normal(1, 6), normal(2, 6)), normal(3, 5, 4, 6)
    np.testing.assert_allclose(normalise(*inputs), formula(*inputs), atol=1e-5)
    found, expected = (gradients(f, weight, *inputs) for f in (normalise, formula))
    for ours, derived in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, derived, atol=1e-4)
