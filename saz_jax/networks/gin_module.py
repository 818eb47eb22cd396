"""The paper's graph isomorphism network as a flax module over any layout of nodes (Sec. 3.1, App. "GIN").

One GIN layer maps node states h to
    h' = ReLU(LN(MLP(x)))      x_i = (1 + eps) h_i + sum_{j in N(i)} h_j      MLP = Linear, ReLU, Linear
where the dummy node is a neighbour of every present point and every present point one of the dummy node.
With typed edges the MLP's first linear layer is split by edge type, a relational GIN:
    W x_i + b   becomes   W_self (1 + eps) h_i + sum_t W_t sum_{j in N_t(i)} h_j + b
The types are the eight compass directions, point to dummy and dummy to point.  Where all W_t equal W_self it
is the untyped layer again.  The outputs of all layers, not the input features, are concatenated per node and
pass through two fully-connected layers (norm, ReLU, dropout); their result is the node's embedding.  The
policy head gives one logit per node (the dummy node's is pass), the value head one number per node, of which
the mean over all present nodes, dummy included, goes through tanh; `readout.py` has other ways to read it.

Where stones are moved, a move from i to j along an edge of type t is read from the embeddings e of both ends:
    logit(i -> j, t) = l_i + w_t . ReLU(P e_i + Q e_j + b_t)
with l_i the policy head's number at i.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import flax.linen as nn
import jax.numpy as jnp

from saz_jax.config import GINConfig
from saz_jax.games.board import COMPASS8
from saz_jax.graphs.topology import NUM_EDGE_TYPES
from saz_jax.networks.kernels.product import product
from saz_jax.networks.neighbours import SELF, Neighbours
from saz_jax.networks.nodes import Nodes, along_features, each, zero_absent
from saz_jax.networks.norm import CentredDense, CentredNorm, MaskedBatchNorm
from saz_jax.networks.readout import CERTAINTY, head_init, node_heads
from saz_jax.types import Array

EDGE_WIDTH = 32
"""D, the width of the edge head."""


class EdgeHead(NamedTuple):
    """What both ends of every edge have to say about a move along it."""

    start: Nodes
    """float32[..., D]: P e, by the nodes where moves start."""
    end: Nodes
    """float32[..., D]: Q e, by the nodes where they end."""
    bias: Array
    """float32[8, D]: b by edge type."""
    weight: Array
    """float32[8, D]: w by edge type."""

    def logit(self, start: Array, end: Array, edge_type: Any) -> Array:
        """float32[...]: the second term of a move's logit, from float32[..., D] at its ends."""
        bias, weight = (jnp.broadcast_to(x[edge_type], start.shape) for x in (self.bias, self.weight))
        return (nn.relu(start + end + bias) * weight).sum(-1)


class NodeOutput(NamedTuple):
    """What the network says about every node, in the layout of its input."""

    embedding: Nodes
    """float32[..., H]"""
    logits: Nodes
    """float32[...]"""
    value: Nodes
    """float32[...]: its mean over the present nodes of a graph, or the dummy's, is the value before tanh."""
    heads: Mapping[str, Nodes]
    """float32[...] by name: what the other heads say."""
    certainty: Array | None
    """float32[2]: what a sum of ownership is worth; see `readout.ownership_advantage`."""
    edges: Mapping[str, EdgeHead]
    """By name, for `logits` and the other heads that speak of moves; empty where stones are placed."""


class GINLayer(nn.Module):
    """One GIN layer; h: [..., F] -> [..., hidden], zero at absent nodes before and after."""

    config: GINConfig

    @nn.compact
    def __call__(self, h: Nodes, present: Nodes, neighbours: Neighbours) -> Nodes:
        learned = self.config.epsilon == "learned"
        epsilon = self.param("epsilon", nn.initializers.zeros, ()) if learned else 0.0
        mix = self._mix_typed if self.config.edges == "compass8" else self._mix
        x = mix(h, neighbours, epsilon)
        second = CentredDense(self.config.hidden, name="second")
        norm = CentredNorm(name="norm")
        x = each(lambda z: norm(second(nn.relu(z))), x)
        if self.config.residual and x[0].shape == h[0].shape:
            x = each(jnp.add, x, h)
        return each(zero_absent, x, present)

    def _mix(self, h: Nodes, neighbours: Neighbours, epsilon: Array | float) -> Nodes:
        first = nn.Dense(self.config.hidden, dot_general=product, name="first")
        return each(lambda own, others: first((1 + epsilon) * own + others), h, neighbours.total(h))

    def _mix_typed(self, h: Nodes, neighbours: Neighbours, epsilon: Array | float) -> Nodes:
        shape = (NUM_EDGE_TYPES + 1, h[0].shape[-1], self.config.hidden)
        kernels = jnp.asarray(self.param("kernels", nn.initializers.lecun_normal(), shape))
        bias = self.param("bias", nn.initializers.zeros, shape[-1:])
        x = neighbours.typed(h, kernels.at[SELF].multiply(1 + epsilon))
        return each(lambda z: z + along_features(bias, z), x)


class GIN(nn.Module):
    """The whole network; features: float[..., F] and present: bool[...] in the layout of `neighbours`."""

    config: GINConfig
    moving: bool = False
    """Whether moves go along edges."""

    @nn.compact
    def __call__(self, features: Nodes, present: Nodes, neighbours: Neighbours, train: bool) -> NodeOutput:
        h = each(zero_absent, features, present)
        layers = []
        for index in range(self.config.layers):
            h = GINLayer(self.config, name=f"gin_{index}")(h, present, neighbours)
            layers.append(h)
        x = each(lambda *outputs: jnp.concatenate(outputs, axis=-1), *layers)
        for index in range(2):
            if self.config.norm == "batch":
                x = each(nn.Dense(self.config.head, dot_general=product, name=f"dense_{index}"), x)
                x = each(nn.relu, MaskedBatchNorm(name=f"norm_{index}")(x, present, train))
            else:
                x = each(CentredDense(self.config.head, name=f"dense_{index}"), x)
                x = each(CentredNorm(name=f"norm_{index}"), x)
            dropout = nn.Dropout(self.config.dropout, deterministic=not train)
            x = each(dropout, x)
        heads = each(nn.Dense(2, dot_general=product, name="policy_and_value"), x)
        more = {}
        for name in node_heads(self.config):
            head = nn.Dense(1, kernel_init=head_init(name), dot_general=product, name=name)
            more[name] = each(lambda z: z[..., 0], each(head, x))
        reads_ownership = self.config.readout == "ownership"
        certainty = self.param(CERTAINTY, nn.initializers.zeros, (2,)) if reads_ownership else None
        edges = {}
        if self.moving:
            spoken = ("logits", *(name for name in more if name in ("reply", "soft")))
            edges = {name: self._edge_head(name, x) for name in spoken}
        return NodeOutput(
            x, each(lambda z: z[..., 0], heads), each(lambda z: z[..., 1], heads), more, certainty, edges
        )

    def _edge_head(self, name: str, x: Nodes) -> EdgeHead:
        start, end = (
            each(nn.Dense(EDGE_WIDTH, use_bias=False, dot_general=product, name=f"{name}_{which}"), x)
            for which in ("start", "end")
        )
        shape = (len(COMPASS8), EDGE_WIDTH)
        bias = self.param(f"{name}_edge_bias", nn.initializers.zeros, shape)
        weight = self.param(f"{name}_edge_weight", nn.initializers.lecun_normal(in_axis=1, out_axis=0), shape)
        return EdgeHead(start, end, jnp.asarray(bias), jnp.asarray(weight))
