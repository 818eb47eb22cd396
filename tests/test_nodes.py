"""Node arrays: the pooled maximum and its gradient."""

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.networks.nodes import largest


def test_the_largest_is_taken_among_present_points_only():
    x = jnp.array([[[[-3.0, 1.0], [-1.0, 2.0]], [[5.0, 7.0], [-2.0, 2.0]]]])
    present = jnp.array([[[True, True], [False, True]]])
    np.testing.assert_array_equal(largest(x, present), [[-1.0, 2.0]])
    np.testing.assert_array_equal(largest(x, jnp.zeros_like(present)), [[0.0, 0.0]])


def test_the_points_that_hold_the_maximum_share_its_gradient():
    x = jnp.array([[[[1.0], [4.0]], [[4.0], [4.0]]]])
    present = jnp.array([[[True, True], [True, False]]])
    gradient = jax.grad(lambda x: 6 * largest(x, present).sum())(x)
    np.testing.assert_array_equal(gradient[0, :, :, 0], [[0.0, 3.0], [3.0, 0.0]])
