"""Optimisation: the loss (App. A, Alg. 3) and one step of Adam over all devices."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from saz_jax.config import LearnerConfig
from saz_jax.games.board import ALL_SYMMETRIES, symmetry
from saz_jax.graphs.topology import live_nodes
from saz_jax.training.replay import Positions
from saz_jax.types import Array, Network, Observation, Variables


class Batch(NamedTuple):
    """B positions to learn from; the fields of `replay.Positions` that learning needs."""

    observation: Observation
    policy: Array
    outcome: Array


class LearnerState(NamedTuple):
    """What changes from step to step."""

    variables: Variables
    optimiser: Any
    average: Variables
    """The weights that play: a running average, or `variables` themselves without averaging."""
    step: Array


class Losses(NamedTuple):
    """Means over one batch."""

    total: Array
    policy: Array
    """Cross-entropy between the search's policy and the network's."""
    value: Array
    """Squared error of the value."""
    gradient: Array
    """Global norm of the gradient, before clipping."""


StepFn = Callable[[LearnerState, Array, Batch], tuple[LearnerState, Losses]]


def make_learner(
    network: Network, config: LearnerConfig, symmetries: tuple[int, ...] = ALL_SYMMETRIES
) -> tuple[Callable[[Variables], LearnerState], StepFn]:
    """(init, step), pure; jit `step` on a batch split over devices and it averages the gradient over them.

    `symmetries` are those of the game, one of which `config.symmetries` draws for each position.
    """
    optimiser = make_optimiser(config)

    def init(variables: Variables) -> LearnerState:
        return LearnerState(variables, optimiser.init(variables["params"]), variables, jnp.int32(0))

    def loss(params: Any, variables: Variables, key: Array, piece: Batch, whole: Batch) -> tuple[Array, Any]:
        """The piece's share of the loss of the whole batch."""
        seen = piece.observation
        nodes = jax.vmap(live_nodes)(seen)
        evaluation, updated = network.fit({**variables, "params": params}, key, seen, nodes)
        logits = evaluation.logits
        if config.policy_over == "legal":
            logits = jnp.where(seen.legal, logits, jnp.finfo(logits.dtype).min)
        # Masked nodes have a log-probability of -inf, and 0 * -inf is no number.
        log_prior = jnp.where(piece.policy > 0, jax.nn.log_softmax(logits), 0.0)
        entropy = -jnp.sum(piece.policy * log_prior, axis=-1)
        policy = jnp.sum(entropy) / whole.outcome.shape[0]
        value = jnp.sum(jnp.square(evaluation.value - piece.outcome)) / whole.outcome.shape[0]
        return policy + value, (policy, value, updated)

    def gradients(variables: Variables, key: Array, batch: Batch) -> tuple[Any, Array, Array, Variables]:
        """(gradient, policy loss, value loss, variables with updated statistics); piece by piece on a CPU."""
        params = variables["params"]

        def add(sums: Any, step: tuple[Array, Batch]) -> tuple[Any, None]:
            gradient, policy, value, variables = sums
            (_, (more_policy, more_value, updated)), more = jax.value_and_grad(loss, has_aux=True)(
                params, variables, *step, batch
            )
            gradient = jax.tree.map(jnp.add, gradient, more)
            return (gradient, policy + more_policy, value + more_value, updated), None

        nothing = jax.tree.map(jnp.zeros_like, params), jnp.zeros(()), jnp.zeros(()), variables

        def at_once(key: Array, batch: Batch) -> Any:
            return add(nothing, (key, batch))[0]

        def in_pieces(key: Array, batch: Batch) -> Any:
            # Every piece takes its share from every device: the split axis of the batch stays in front.
            count = batch.outcome.shape[0] // config.microbatch
            pieces = jax.tree.map(lambda x: x.reshape(-1, count, *x.shape[1:]).swapaxes(0, 1), batch)
            return jax.lax.scan(add, nothing, (jax.random.split(key, count), pieces))[0]

        if config.microbatch in (0, batch.outcome.shape[0]):
            return at_once(key, batch)
        return jax.lax.platform_dependent(key, batch, cpu=in_pieces, default=at_once)

    def step(state: LearnerState, key: Array, batch: Batch) -> tuple[LearnerState, Losses]:
        symmetry_key, dropout_key = jax.random.split(key)
        if config.symmetries:
            drawn = jax.random.randint(symmetry_key, batch.outcome.shape, 0, len(symmetries))
            batch = jax.vmap(transformed)(batch, jnp.asarray(symmetries)[drawn])
        params = state.variables["params"]
        gradient, policy, value, updated = gradients(state.variables, dropout_key, batch)
        total = policy + value
        if config.l2:
            total += config.l2 * optax.tree.norm(params, squared=True)
            gradient = jax.tree.map(lambda g, p: g + 2 * config.l2 * p, gradient, params)
        change, optimiser_state = optimiser.update(gradient, state.optimiser, params)
        variables = {**updated, "params": optax.apply_updates(params, change)}
        average = variables
        if config.ema_decay:
            # A young average forgets its random start quickly.
            decay = jnp.minimum(config.ema_decay, (1 + state.step) / (10 + state.step))
            average = optax.incremental_update(variables, state.average, 1 - decay)
        losses = Losses(total, policy, value, optax.tree.norm(gradient))
        return LearnerState(variables, optimiser_state, average, state.step + 1), losses

    return init, step


def make_optimiser(config: LearnerConfig) -> optax.GradientTransformation:
    """Adam with the configured schedule and clipping."""
    rate = optax.constant_schedule(config.learning_rate)
    if config.schedule == "cosine":
        rate = optax.cosine_decay_schedule(config.learning_rate, config.decay_steps, alpha=0.1)
    if config.warmup_steps:
        warmup = optax.linear_schedule(0.0, config.learning_rate, config.warmup_steps)
        rate = optax.join_schedules([warmup, rate], [config.warmup_steps])
    clip = optax.clip_by_global_norm(config.max_grad_norm) if config.max_grad_norm else optax.identity()
    return optax.chain(clip, optax.adam(rate))


def as_batch(positions: Positions) -> Batch:
    """What learning needs of these positions."""
    return Batch(*(getattr(positions, field) for field in Batch._fields))


def transformed(position: Batch, which: Array) -> Batch:
    """One position turned and mirrored by symmetry `which`, moves and policy along with it."""
    seen = position.observation
    side = seen.board.shape[0]
    source = symmetry(which, seen.size, side)
    board, points = (x.reshape(-1)[source[:-1]].reshape(side, side) for x in (seen.board, seen.points))
    turned = seen._replace(board=board, points=points, legal=seen.legal[source])
    return position._replace(observation=turned, policy=position.policy[source])
