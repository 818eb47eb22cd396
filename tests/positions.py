"""Random boards, legal or not, as states: what networks are tested on."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from saz_jax.games.board import live_points
from saz_jax.graphs.topology import live_nodes
from saz_jax.types import Array, Network, Observation


def random_positions(seed: int, sizes, max_size: int) -> tuple[Observation, Array]:
    """(observations[B], nodes[B, V]) with one random board for each side; the same at every `max_size`."""
    rng = np.random.default_rng(seed)
    batch = len(sizes)
    board = np.zeros((batch, max_size, max_size), np.int8)
    legal = np.zeros((batch, max_size, max_size), bool)
    for index, size in enumerate(sizes):
        board[index, :size, :size] = rng.integers(-1, 2, (size, size))
        legal[index, :size, :size] = (board[index, :size, :size] == 0) & (rng.random((size, size)) < 0.7)
    passes = rng.random((batch, 1)) < 0.5
    states = Observation(
        board=jnp.asarray(board),
        points=jax.vmap(live_points, (0, None))(jnp.asarray(sizes), max_size),
        size=jnp.asarray(sizes, jnp.int32),
        to_play=jnp.asarray(rng.choice([-1, 1], batch), jnp.int8),
        legal=jnp.asarray(np.concatenate([legal.reshape(batch, -1), passes], axis=1)),
    )
    return states, jax.vmap(live_nodes)(states)


def live_logits(logits, size: int, max_size: int) -> np.ndarray:
    """[n * n + 1]: the logits of one position's live points and pass."""
    points = np.asarray(logits)[:-1].reshape(max_size, max_size)[:size, :size]
    return np.append(points.reshape(-1), np.asarray(logits)[-1])


def noisy_variables(network: Network, seed: int = 0):
    """Fresh variables with noise in every leaf, so that no zero or one of them hides a mistake."""

    def make(key):
        leaves, structure = jax.tree.flatten(network.init(key))
        keys = jax.random.split(key, len(leaves))
        noisy = [x + 0.1 * jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)]
        return jax.tree.unflatten(structure, noisy)

    return jax.jit(make)(jax.random.key(seed))


def learns_by_heart(network, states, nodes, steps: int = 60, rate: float = 3e-3) -> tuple[float, float]:
    """(first, last) loss of fitting one batch of random targets with adam."""
    key, value_key, policy_key = jax.random.split(jax.random.key(0), 3)
    value = jax.random.uniform(value_key, nodes.shape[:1], minval=-0.8, maxval=0.8)
    move = jax.random.categorical(policy_key, jnp.where(nodes, 0.0, -jnp.inf))
    optimizer = optax.adam(rate)

    def loss(params, variables, key):
        evaluation, variables = network.fit({**variables, "params": params}, key, states, nodes)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(evaluation.logits), move[:, None], axis=1)
        return jnp.mean((evaluation.value - value) ** 2) - chosen.mean(), variables

    def step(carry, key):
        variables, moments = carry
        params = variables["params"]
        (now, updated), gradient = jax.value_and_grad(loss, has_aux=True)(params, variables, key)
        change, moments = optimizer.update(gradient, moments, params)
        return ({**updated, "params": optax.apply_updates(params, change)}, moments), now

    def run(key):
        init_key, key = jax.random.split(key)
        variables = network.init(init_key)
        carry = variables, optimizer.init(variables["params"])
        return jax.lax.scan(step, carry, jax.random.split(key, steps))[1]

    losses = jax.jit(run)(key)
    return float(losses[0]), float(losses[-1])
