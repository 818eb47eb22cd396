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
    """Variables of the usual magnitudes with noise in every leaf, so that no zero or one hides a mistake.

    They are drawn by numpy: a program that draws them would take as long to compile as the network.
    """
    rng = np.random.default_rng(seed)

    def draw(path, leaf):
        mean = 1.0 if path[-1].key in ("scale", "var") else 0.0
        spread = 0.1 + np.prod(leaf.shape[:-1]) ** -0.5 if leaf.ndim > 1 else 0.1
        return jnp.asarray(rng.normal(mean, spread, leaf.shape), leaf.dtype)

    return jax.tree_util.tree_map_with_path(draw, jax.eval_shape(network.init, jax.random.key(0)))


def learns_by_heart(
    network, states, nodes, steps: int = 60, rate: float = 3e-3, actions=None
) -> tuple[float, float]:
    """(first, last) loss of fitting one batch of random targets with adam.

    actions: bool[B, A], which ones there are; the nodes if None.
    """
    actions = nodes if actions is None else actions
    key, value_key, policy_key = jax.random.split(jax.random.key(0), 3)
    value = jax.random.uniform(value_key, nodes.shape[:1], minval=-0.8, maxval=0.8)
    move = jax.random.categorical(policy_key, jnp.where(actions, 0.0, -jnp.inf))
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
