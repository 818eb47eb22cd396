"""Optimisation: the loss (App. A, Alg. 3) and one step of Adam over all devices."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from saz_jax.config import LearnerConfig
from saz_jax.games.actions import PLACING, action_symmetry
from saz_jax.games.board import ALL_SYMMETRIES, symmetry
from saz_jax.graphs.topology import live_nodes
from saz_jax.training.replay import Positions
from saz_jax.types import Array, Evaluation, Network, Observation, Steps, Variables


class Batch(NamedTuple):
    """B positions to learn from; the fields of `replay.Positions` that learning needs."""

    observation: Observation
    policy: Array
    outcome: Array
    ownership: Array | None = None
    reply: Array | None = None


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
    """Squared error of the value, or cross-entropy of the outcomes where the network tells them."""
    gradient: Array
    """Global norm of the gradient, before clipping."""
    heads: Mapping[str, Array]
    """Losses of the other heads by name, before their weights."""


StepFn = Callable[[LearnerState, Array, Batch], tuple[LearnerState, Losses]]


def make_learner(
    network: Network,
    config: LearnerConfig,
    symmetries: tuple[int, ...] = ALL_SYMMETRIES,
    moves: Steps = PLACING,
) -> tuple[Callable[[Variables], LearnerState], StepFn]:
    """(init, step), pure; jit `step` on a batch split over devices and it averages the gradient over them.

    `symmetries` are those of the game, one of which `config.symmetries` draws for each position, and `moves`
    its kinds of moves.
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
        losses = {
            "policy": cross_entropy(logits, piece.policy),
            "value": value_loss(evaluation, piece.outcome),
            **head_losses(evaluation, piece, nodes),
        }
        losses = {name: jnp.sum(each) / whole.outcome.shape[0] for name, each in losses.items()}
        return weighted(losses), (losses, updated)

    def weighted(losses: Mapping[str, Array]) -> Array:
        total = losses["policy"] + losses["value"]
        for name in sorted(losses.keys() - {"policy", "value"}):
            total += getattr(config, f"{name}_weight") * losses[name]
        return total

    def gradients(
        variables: Variables, key: Array, batch: Batch
    ) -> tuple[Any, Mapping[str, Array], Variables]:
        """(gradient, losses by name, variables with updated statistics); piece by piece on a CPU."""
        params = variables["params"]

        def add(sums: Any, step: tuple[Array, Batch]) -> tuple[Any, None]:
            gradient, losses, variables = sums
            (_, (more_losses, updated)), more = jax.value_and_grad(loss, has_aux=True)(
                params, variables, *step, batch
            )
            gradient, losses = jax.tree.map(jnp.add, (gradient, losses), (more, more_losses))
            return (gradient, losses, updated), None

        heads = [x for head in network.heads for x in (head, *(["score"] if head == "ownership" else []))]
        zeros = {name: jnp.zeros(()) for name in ("policy", "value", *heads)}
        nothing = jax.tree.map(jnp.zeros_like, params), zeros, variables

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
            turn = functools.partial(transformed, moves=moves)
            batch = jax.vmap(turn)(batch, jnp.asarray(symmetries)[drawn])
        params = state.variables["params"]
        gradient, losses, updated = gradients(state.variables, dropout_key, batch)
        total = weighted(losses)
        if config.l2:
            total += config.l2 * optax.tree.norm(params, squared=True)
            gradient = jax.tree.map(lambda g, p: g + 2 * config.l2 * p, gradient, params)
        change, optimiser_state = optimiser.update(gradient, state.optimiser, params)
        variables = {**updated, "params": optax.apply_updates(params, change)}
        average = variables
        if config.ema_decay:
            # Early on the average moves faster, to forget its random start.
            decay = jnp.minimum(config.ema_decay, (1 + state.step) / (10 + state.step))
            average = optax.incremental_update(variables, state.average, 1 - decay)
        heads = {name: x for name, x in losses.items() if name not in ("policy", "value")}
        norm = optax.tree.norm(gradient)
        found = Losses(total, losses["policy"], losses["value"], norm, heads)
        return LearnerState(variables, optimiser_state, average, state.step + 1), found

    return init, step


def cross_entropy(logits: Array, policy: Array) -> Array:
    """float32[B]: between policy and the softmax of logits, both [B, A]; 0 where the policy is all zero."""
    # Masked nodes have a log-probability of -inf, and 0 * -inf is no number.
    log_prior = jnp.where(policy > 0, jax.nn.log_softmax(logits), 0.0)
    return -jnp.sum(policy * log_prior, axis=-1)


def value_loss(evaluation: Evaluation, outcome: Array) -> Array:
    """float32[B]: of outcomes +1, 0 and -1."""
    if evaluation.outcomes is None:
        return jnp.square(evaluation.value - outcome)
    which = (1 - outcome).astype(jnp.int32)
    return -jnp.take_along_axis(evaluation.outcomes, which[:, None], axis=1)[:, 0]


def head_losses(evaluation: Evaluation, batch: Batch, nodes: Array) -> dict[str, Array]:
    """float32[B] by name: the losses of the heads that the network has beside policy and value."""
    losses = {}
    if evaluation.ownership is not None:
        assert batch.ownership is not None
        assert evaluation.score is not None
        points = jnp.maximum(nodes[:, :-1].sum(1), 1)
        error = jnp.square(evaluation.ownership - batch.ownership).sum((1, 2))
        losses["ownership"] = error / points
        losses["score"] = jnp.square(evaluation.score - batch.ownership.sum((1, 2))) / points
    if evaluation.reply is not None:
        assert batch.reply is not None
        losses["reply"] = cross_entropy(evaluation.reply, batch.reply)
    if evaluation.soft is not None:
        softened = jnp.sqrt(jnp.sqrt(batch.policy))
        losses["soft"] = cross_entropy(evaluation.soft, softened / softened.sum(1, keepdims=True))
    return losses


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
    """The fields of these positions that learning needs."""
    return Batch(*(getattr(positions, field) for field in Batch._fields))


def transformed(position: Batch, which: Array, moves: Steps = PLACING) -> Batch:
    """One position turned and mirrored by symmetry `which`, moves and policy along with it."""
    seen = position.observation
    side = seen.board.shape[0]
    nodes = symmetry(which, seen.size, side)
    source = action_symmetry(which, seen.size, side, moves)

    def turn(grid: Array) -> Array:
        return grid.reshape(-1)[nodes[:-1]].reshape(side, side)

    turned = seen._replace(board=turn(seen.board), points=turn(seen.points), legal=seen.legal[source])
    changes: dict[str, Any] = {"observation": turned, "policy": position.policy[source]}
    if position.ownership is not None:
        changes["ownership"] = turn(position.ownership)
    if position.reply is not None:
        changes["reply"] = position.reply[source]
    return position._replace(**changes)
