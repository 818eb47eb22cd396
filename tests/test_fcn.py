"""The masked fully-convolutional network."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import FCNConfig
from saz_jax.networks import make_fcn
from saz_jax.networks.fcn import pool
from tests.positions import learns_by_heart, live_logits, noisy_variables, random_positions

SMALL = FCNConfig(blocks=2, channels=16, pool_every=2)


def test_padding_changes_nothing():
    variables = noisy_variables(make_fcn(SMALL, 6))
    results = []
    for max_size in (6, 9, 13):
        states, nodes = random_positions(3, [6, 5], max_size)
        logits, value, *_ = jax.jit(make_fcn(SMALL, max_size).infer)(variables, states, nodes)
        assert np.all(np.asarray(logits)[~np.asarray(nodes)] == np.finfo(np.float32).min)
        lived = [live_logits(logits[b], size, max_size) for b, size in enumerate([6, 5])]
        results.append(np.concatenate([*lived, value]))
    np.testing.assert_allclose(results[1], results[0], atol=1e-5)
    np.testing.assert_allclose(results[2], results[0], atol=1e-5)


def test_absent_points_are_not_seen():
    network = make_fcn(SMALL, 6)
    variables = noisy_variables(network)
    states, nodes = random_positions(3, [6], 6)
    nodes = nodes.at[:, 14].set(False)
    infer = jax.jit(network.infer)
    results = [
        infer(variables, states._replace(board=states.board.at[:, 2, 2].set(s)), nodes) for s in (-1, 1)
    ]
    np.testing.assert_array_equal(results[0].logits, results[1].logits)


def test_pooling_is_that_of_a_plain_loop():
    rng = np.random.default_rng(0)
    points = rng.random((2, 4, 4)) < 0.6
    x = rng.random((2, 4, 4, 3)).astype(np.float32) * points[..., None]
    for b in range(2):
        live = x[b][points[b]]
        mean, side = live.mean(0), len(live) ** 0.5
        expected = np.concatenate([mean, mean * (side - 10) / 10, live.max(0)])
        np.testing.assert_allclose(pool(jnp.asarray(x), jnp.asarray(points))[b], expected, atol=1e-6)


def test_fitting_and_inferring_are_the_same_pass():
    network = make_fcn(SMALL, 6)
    variables = noisy_variables(network)
    states, nodes = random_positions(3, [6, 5, 4], 6)
    fitted, updated = jax.jit(network.fit)(variables, jax.random.key(0), states, nodes)
    np.testing.assert_allclose(
        fitted.logits, jax.jit(network.infer)(variables, states, nodes).logits, atol=1e-5
    )
    jax.tree.map(np.testing.assert_array_equal, updated, variables)


def test_shapes_and_parameters_do_not_depend_on_the_board():
    small, large = (jax.eval_shape(make_fcn(SMALL, n).init, jax.random.key(0)) for n in (5, 20))
    assert jax.tree.map(lambda x: x.shape, small) == jax.tree.map(lambda x: x.shape, large)
    states, nodes = random_positions(0, [7, 20], 20)
    network = make_fcn(SMALL, 20)
    evaluation = jax.eval_shape(network.infer, large, states, nodes)
    assert (evaluation.logits.shape, evaluation.value.shape) == ((2, 401), (2,))
    assert jax.eval_shape(network.embed, large, states, nodes).shape == (2, 401, 16)


def test_one_batch_can_be_learned_by_heart():
    network = make_fcn(SMALL, 5)
    first, last = learns_by_heart(network, *random_positions(9, [5, 4] * 4, 5))
    assert last < 0.2 < 2 < first


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match=r"FCNConfig.blocks=0 is no size"):
        make_fcn(dataclasses.replace(SMALL, blocks=0), 5)
    with pytest.raises(ValueError, match="max_size=0 is no size"):
        make_fcn(SMALL, 0)
