"""The loss and one step of optimisation."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import FCNConfig, GINConfig, LearnerConfig
from saz_jax.games import make_game
from saz_jax.games.board import INVERSE_SYMMETRY, symmetry
from saz_jax.graphs.topology import live_nodes, observe
from saz_jax.networks.fcn import make_fcn
from saz_jax.networks.gin import make_gin
from saz_jax.training.learner import Batch, make_learner, make_optimiser, transformed

GIN = GINConfig(layers=2, hidden=8, head=8, edges="compass8", dropout=0.0)
FCN = FCNConfig(blocks=2, channels=8, outcomes=True)
NETWORK = make_gin(GIN, 5)


@functools.cache
def fresh():
    """Untrained weights."""
    return jax.jit(NETWORK.init)(jax.random.key(0))


@functools.cache
def positions(count=6, side=5, size=4, seed=0):
    """A batch of Gomoku positions after two moves, with random targets."""
    game = make_game("gomoku", side, k=4)
    start, step = jax.jit(game.init)(size), jax.jit(game.step)
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(count):
        state = start
        for _ in range(2):
            state = step(state, int(rng.choice(np.flatnonzero(state.legal))))
        states.append(state)
    states = jax.tree.map(lambda *x: jnp.stack(x), *states)
    policy = rng.random(states.legal.shape) * np.asarray(states.legal)
    return Batch(
        observation=observe(states),
        policy=jnp.asarray(policy / policy.sum(1, keepdims=True), jnp.float32),
        outcome=jnp.asarray(rng.choice([-1.0, 0.0, 1.0], count), jnp.float32),
    )


def one_step(batch, **settings):
    config = dataclasses.replace(LearnerConfig(learning_rate=1e-2), **settings)
    init, step = make_learner(NETWORK, config)
    return step(init(fresh()), jax.random.key(1), batch)


def test_one_batch_is_learned_by_heart():
    batch = positions()
    init, step = make_learner(NETWORK, LearnerConfig(learning_rate=3e-3, policy_over="legal"))
    step, state = jax.jit(step), init(fresh())
    losses = []
    for i in range(400):
        state, loss = step(state, jax.random.key(i), batch)
        losses.append(loss)
    entropy = -jnp.sum(batch.policy * jnp.log(jnp.where(batch.policy > 0, batch.policy, 1)), 1).mean()
    assert losses[-1].value < 0.02 < losses[0].value
    assert losses[-1].policy - entropy < 0.1 * (losses[0].policy - entropy)


@pytest.mark.parametrize("make", [make_gin, make_fcn])
def test_wins_ties_and_losses_are_learned_by_heart(make):
    config = dataclasses.replace(GIN, outcomes=True) if make is make_gin else FCN
    network, batch = make(config, 5), positions()
    assert set(batch.outcome.tolist()) == {1.0, 0.0, -1.0}
    init, step = make_learner(network, LearnerConfig(learning_rate=1e-2, policy_over="legal"))
    step, state, losses = jax.jit(step), init(jax.jit(network.init)(jax.random.key(0))), []
    seen, nodes = batch.observation, jax.vmap(live_nodes)(batch.observation)
    said = network.fit(state.variables, jax.random.key(1), seen, nodes)[0]
    chances = np.exp(said.outcomes)[np.arange(6), 1 - np.asarray(batch.outcome, int)]
    for i in range(300):
        state, loss = step(state, jax.random.key(i), batch)
        losses.append(loss)
    np.testing.assert_allclose(losses[0].value, -np.log(chances).mean(), rtol=1e-4)
    assert losses[-1].value < 0.1
    value = jax.jit(network.infer)(state.variables, seen, nodes).value
    if make is make_fcn:  # batch norm knows other statistics when it plays
        np.testing.assert_allclose(value, batch.outcome, atol=0.2)


def test_the_loss_is_the_hand_computed_one():
    batch = positions()
    variables = fresh()
    nodes = jnp.concatenate([jnp.pad(jnp.ones((4, 4), bool), (0, 1)).reshape(-1), jnp.array([True])])
    evaluation, _ = NETWORK.fit(
        variables, jax.random.key(1), batch.observation, jnp.tile(nodes[None], (6, 1))
    )
    log_prior = np.asarray(jax.nn.log_softmax(evaluation.logits))
    policy = np.asarray(batch.policy)
    cross_entropy = -np.sum(np.where(policy > 0, policy * log_prior, 0), 1).mean()
    squared = np.mean((np.asarray(evaluation.value) - np.asarray(batch.outcome)) ** 2)
    _, losses = one_step(batch)
    np.testing.assert_allclose(losses.policy, cross_entropy, rtol=1e-5)
    np.testing.assert_allclose(losses.value, squared, rtol=1e-5)
    np.testing.assert_allclose(losses.total, cross_entropy + squared, rtol=1e-5)
    params = jax.tree.leaves(variables["params"])
    _, decayed = one_step(batch, l2=0.5)
    extra = 0.5 * sum(float(jnp.sum(p**2)) for p in params)
    np.testing.assert_allclose(decayed.total - losses.total, extra, rtol=1e-4)


@pytest.mark.parametrize("edges", ["grid4", "compass8"])
def test_pieces_add_up_to_the_gradient_of_the_whole_batch(edges):
    network = make_gin(dataclasses.replace(GIN, edges=edges, norm="layer"), 5)
    batch = positions()
    results = []
    for piece in (0, 2):
        init, step = make_learner(network, LearnerConfig(l2=0.1, microbatch=piece))
        state, losses = jax.jit(step)(init(network.init(jax.random.key(0))), jax.random.key(1), batch)
        results.append((state.optimiser[1][0].mu, losses))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), *results)


@pytest.mark.parametrize(("platform", "loops"), [("cpu", True), ("cuda", False), ("tpu", False)])
def test_only_a_cpu_learns_piece_by_piece(platform, loops):
    init, step = make_learner(NETWORK, LearnerConfig(microbatch=2))
    state = init(fresh())
    traced = jax.jit(step).trace(state, jax.random.key(1), positions())
    assert ("stablehlo.while" in traced.lower(lowering_platforms=(platform,)).as_text()) == loops


def test_over_legal_moves_illegal_logits_do_not_matter():
    batch = positions()
    _, everything = one_step(batch)
    _, legal = one_step(batch, policy_over="legal")
    assert legal.policy < everything.policy


def test_the_average_follows_slowly_and_without_averaging_it_is_the_weights():
    batch = positions()
    plain, _ = one_step(batch)
    jax.tree.map(np.testing.assert_array_equal, plain.average, plain.variables)
    init, step = make_learner(NETWORK, LearnerConfig(learning_rate=1e-2, ema_decay=0.9))
    state = start = init(fresh())
    for i in range(3):
        state, _ = step(state, jax.random.key(i), batch)

    def kernel(variables):
        return np.asarray(variables["params"]["policy_and_value"]["kernel"])

    moved = np.abs(kernel(state.variables) - kernel(start.variables)).sum()
    lagging = np.abs(kernel(state.average) - kernel(start.variables)).sum()
    assert 0 < lagging < moved


@pytest.mark.parametrize("which", range(8))
def test_a_transformed_position_keeps_its_moves_together(which):
    batch = positions(count=1)
    (one,) = [jax.tree.map(lambda x: x[0], batch)]
    turned = transformed(one, jnp.int32(which))
    moved = np.asarray(symmetry(INVERSE_SYMMETRY[which], 4, 5))
    for node in range(26):
        assert turned.policy[moved[node]] == one.policy[node]
        assert turned.observation.legal[moved[node]] == one.observation.legal[node]
    stones = np.append(np.asarray(one.observation.board).reshape(-1), 0)
    turned_stones = np.append(np.asarray(turned.observation.board).reshape(-1), 0)
    assert (turned_stones[moved] == stones).all()
    again = transformed(turned, jnp.int32(INVERSE_SYMMETRY[which]))
    jax.tree.map(np.testing.assert_array_equal, again, one)


def test_the_schedule_warms_up_and_decays():
    config = LearnerConfig(learning_rate=1.0, warmup_steps=10, schedule="cosine", decay_steps=10)
    optimiser = make_optimiser(config)
    params = jnp.ones(())
    state, sizes = optimiser.init(params), []
    for _ in range(25):
        change, state = optimiser.update(jnp.ones(()), state, params)
        sizes.append(-np.asarray(change).item())
    np.testing.assert_allclose(sizes[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(sizes[5], 0.5, rtol=1e-3)
    np.testing.assert_allclose(sizes[10], 1.0, rtol=1e-3)
    np.testing.assert_allclose(sizes[24], 0.1, rtol=1e-2)
