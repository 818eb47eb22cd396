"""From what a network says about every node to the value of a position, the tanh of its advantage.

    mean        mean of v                                       over all present nodes
    dummy       v of the dummy node
    scaled      mean of v + mean of w * (side - 10) / 10        over the points, as all below
    max         largest v
    ownership   softplus(a + b * share of filled points) * sum of o / side

v, w and o are numbers per node, o within -1 and 1; a and b are learned, and side is the root of the number of
points.  Where the network is told the margin (Go's komi), it is added to the sum of o.  A sum of ownership
counts points, so it means the same on boards of every size; what it is worth depends on how much is open.

Where the network says how likely a win, a tie and a loss are, it is by the softmax of advantage, t and minus
advantage, t being another number.  Without ties (t = -inf) the value that one expects is the tanh again.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp

from saz_jax.networks.features import MARGIN, MARGIN_SCALE
from saz_jax.networks.nodes import Nodes, each
from saz_jax.types import Array

TYPICAL_SIDE = 10
"""The side at which a size-scaled mean is zero; it is 1 mean at twice that side."""
CERTAINTY = "certainty"
"""Name of the parameters a and b."""
SCALED = "scaled_value"
"""Name of the head that says w."""
TIE = "tie"
"""Name of the head that says t."""


class Pooling(NamedTuple):
    """How the nodes of each graph are pooled, whatever their layout; absent nodes hold zeros."""

    total: Callable[[Nodes], Array]
    """float32[...] per node -> float32[graphs]"""
    largest: Callable[[Nodes, Nodes], Array]
    """(float32[...], bool[...]: which nodes count) -> float32[graphs]"""


class Reading(NamedTuple):
    """What is read out of the nodes."""

    value: Array
    """float32[graphs]"""
    ownership: Nodes | None
    """float32[...]: 0 at absent and dummy nodes."""
    score: Array | None
    """float32[graphs]"""
    outcomes: Array | None
    """float32[graphs, 3]"""


def extra_heads(config: Any) -> tuple[str, ...]:
    """What a network with these settings says beside prior and value, as `Network.heads` names it."""
    wanted = {
        "ownership": config.ownership or config.readout == "ownership",
        "reply": config.reply,
        "soft": config.soft,
    }
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


def node_heads(config: Any) -> tuple[str, ...]:
    """The numbers per node that these settings ask for, beside logit and value."""
    needed = {SCALED: config.readout == "scaled", TIE: config.outcomes}
    return (*extra_heads(config), *(name for name, is_needed in needed.items() if is_needed))


def head_init(name: str) -> Any:
    """How the weights of a head begin: ownership at 0, since a sum over the board would be far from it."""
    return nn.initializers.zeros if name == "ownership" else nn.initializers.lecun_normal()


def ownership_advantage(total: Array, filled: Array, points: Array, certainty: Array) -> Array:
    """That of a sum of ownership on boards of so many points, of which `filled` hold a stone."""
    points = jnp.maximum(points, 1)
    slope = jax.nn.softplus(certainty[0] + certainty[1] * filled / points)
    return slope * total / jnp.sqrt(points)


def expected(advantage: Array, tie: Array | None) -> tuple[Array, Array | None]:
    """(value, outcomes) of an advantage, and of t if ties are told apart."""
    if tie is None:
        return jnp.tanh(advantage), None
    outcomes = jax.nn.log_softmax(jnp.stack([advantage, tie, -advantage], axis=-1))
    return jnp.exp(outcomes[..., 0]) - jnp.exp(outcomes[..., 2]), outcomes


def read_nodes(
    config: Any, output: Any, features: Nodes, present: Nodes, dummies: Nodes, pooling: Pooling
) -> Reading:
    """A value, and the ownership if there is such a head, from `output` (a `NodeOutput`).

    `features`: float32[..., F]; `present` and `dummies`: bool[...].
    """
    readout = config.readout
    points = each(lambda here, dummy: here & ~dummy, present, dummies)

    def total(x: Nodes, where: Nodes) -> Array:
        return pooling.total(each(lambda v, w: jnp.where(w, v, 0), x, where))

    def mean(x: Nodes, where: Nodes) -> Array:
        return total(x, where) / jnp.maximum(_count(where, pooling), 1)

    ownership = score = None
    if "ownership" in output.heads:
        ownership = each(lambda o, here: jnp.where(here, jnp.tanh(o), 0), output.heads["ownership"], points)
        score = pooling.total(ownership)
    if readout == "mean":
        advantage = mean(output.value, present)
    elif readout == "dummy":
        advantage = mean(output.value, each(jnp.logical_and, present, dummies))
    elif readout == "scaled":
        side = jnp.sqrt(_count(points, pooling))
        scaled = mean(output.heads[SCALED], points) * (side - TYPICAL_SIDE) / TYPICAL_SIDE
        advantage = mean(output.value, points) + scaled
    elif readout == "max":
        advantage = pooling.largest(output.value, points)
    else:
        assert score is not None
        final = score
        if config.features == "stones_legal_margin":
            final += mean(each(lambda x: x[..., MARGIN], features), points) * MARGIN_SCALE
        filled = total(each(lambda x: jnp.abs(x[..., 0]), features), points)
        advantage = ownership_advantage(final, filled, _count(points, pooling), output.certainty)
    value, outcomes = expected(advantage, mean(output.heads[TIE], points) if config.outcomes else None)
    return Reading(value, ownership, score, outcomes)


def _count(where: Nodes, pooling: Pooling) -> Array:
    return pooling.total(each(lambda w: w.astype(jnp.float32), where))
