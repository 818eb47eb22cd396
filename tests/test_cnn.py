"""The paper's CNN for one board side."""

import dataclasses

import jax
import numpy as np
import pytest

from saz_jax.config import CNNConfig
from saz_jax.networks import make_cnn
from tests.positions import learns_by_heart, live_logits, noisy_variables, random_positions

SMALL = CNNConfig(side=5, channels=8, dense=(16, 12), features="stones_legal")


def test_padding_changes_nothing():
    variables = noisy_variables(make_cnn(SMALL, 5))
    results = []
    for max_size in (5, 9):
        states, nodes = random_positions(3, [5, 5], max_size)
        logits, value, *_ = jax.jit(make_cnn(SMALL, max_size).infer)(variables, states, nodes)
        assert np.all(np.asarray(logits)[~np.asarray(nodes)] == np.finfo(np.float32).min)
        results.append(np.concatenate([*(live_logits(row, 5, max_size) for row in logits), value]))
    np.testing.assert_allclose(results[0], results[1], atol=1e-5)


def test_it_reads_nothing_beyond_its_corner():
    network = make_cnn(SMALL, 8)
    infer = jax.jit(network.infer)
    variables = noisy_variables(network)
    states, nodes = random_positions(3, [5], 8)
    cluttered = states._replace(board=states.board.at[:, 5:, :].set(1).at[:, :, 5:].set(-1))
    expected, found = (infer(variables, s, nodes) for s in (states, cluttered))
    np.testing.assert_array_equal(found.logits, expected.logits)
    changed = states._replace(board=states.board.at[:, 4, 4].add(1))
    assert np.abs(infer(variables, changed, nodes).logits - expected.logits).max() > 1e-4


def test_batch_norm_is_updated_when_fitting_and_frozen_when_inferring():
    network = make_cnn(SMALL, 5)
    variables = jax.jit(network.init)(jax.random.key(0))
    states, nodes = random_positions(4, [5] * 8, 5)
    _, updated = jax.jit(network.fit)(variables, jax.random.key(0), states, nodes)
    for before, after in zip(
        *map(jax.tree.leaves, (variables["batch_stats"], updated["batch_stats"])), strict=True
    ):
        assert np.abs(before - after).max() > 1e-4
    infer = jax.jit(network.infer)
    one, many = (infer(updated, *jax.tree.map(lambda x, n=n: x[:n], (states, nodes))) for n in (1, 8))
    np.testing.assert_allclose(one.logits, many.logits[:1], atol=1e-5)


def test_the_papers_sizes():
    network = make_cnn(CNNConfig(side=8), 8)
    variables = jax.eval_shape(network.init, jax.random.key(0))
    convolutions = sum(9 * f * 512 + 512 + 2 * 512 for f in (1, 512, 512, 512))
    dense = sum(f * width + width + 2 * width for f, width in ((4 * 4 * 512, 1024), (1024, 512)))
    heads = 512 * 65 + 65 + 512 + 1
    count = sum(x.size for x in jax.tree.leaves(variables["params"]))
    assert count == convolutions + dense + heads
    states, nodes = random_positions(0, [8, 8], 8)
    evaluation = jax.eval_shape(network.infer, variables, states, nodes)
    assert evaluation.logits.shape == (2, 65)
    assert evaluation.value.shape == (2,)
    assert jax.eval_shape(network.embed, variables, states, nodes).shape == (2, 65, 512)
    assert network.sizes == (8, 8)


def test_one_batch_can_be_learned_by_heart():
    network = make_cnn(dataclasses.replace(SMALL, dropout=0.0, channels=16, dense=(32, 32)), 6)
    first, last = learns_by_heart(network, *random_positions(9, [5] * 8, 6))
    assert last < 0.2 < 2 < first


@pytest.mark.parametrize(
    ("config", "max_size", "message"),
    [
        (CNNConfig(side=4), 8, "cannot read boards of side 4; the smallest is 5"),
        (CNNConfig(side=9), 8, "side 9 exceeds max_size=8; raise max_size"),
        (CNNConfig(dense=(0, 5)), 8, r"CNNConfig.dense=\(0, 5\) is no size"),
        (CNNConfig(dropout=-0.1), 8, "CNNConfig.dropout=-0.1 is no rate"),
    ],
)
def test_bad_settings_are_refused(config, max_size, message):
    with pytest.raises(ValueError, match=message):
        make_cnn(config, max_size)


def test_weights_for_another_side_are_refused():
    states, nodes = random_positions(0, [6], 6)
    weights = make_cnn(SMALL, 6).init(jax.random.key(0))
    with pytest.raises(ValueError, match="these weights belong to another network"):
        make_cnn(dataclasses.replace(SMALL, side=6), 6).infer(weights, states, nodes)
