"""The convolution with its own gradient."""

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.networks.kernels.convolution import convolve


def test_value_and_gradient_are_those_of_a_plain_loop():
    keys = jax.random.split(jax.random.key(0), 3)
    points = jax.random.normal(keys[0], (2, 4, 4, 3))
    window = jax.random.normal(keys[1], (3, 3, 3, 5))
    weight = jax.random.normal(keys[2], (2, 4, 4, 5))

    def shifted(points, window):
        """Sum over the nine neighbours, one board shifted against the other."""
        padded = jnp.pad(points, ((0, 0), (1, 1), (1, 1), (0, 0)))
        return sum(
            padded[:, row : row + 4, column : column + 4] @ window[row, column]
            for row in range(3)
            for column in range(3)
        )

    np.testing.assert_allclose(convolve(points, window), shifted(points, window), atol=1e-5)
    ours, plain = (
        jax.grad(lambda points, window, f=f: jnp.sum(weight * f(points, window)), (0, 1))(points, window)
        for f in (convolve, shifted)
    )
    np.testing.assert_allclose(ours[0], plain[0], atol=1e-5)
    np.testing.assert_allclose(ours[1], plain[1], atol=1e-4)
