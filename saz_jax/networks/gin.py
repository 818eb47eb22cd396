"""The paper's graph isomorphism network, for boards of every side and for any graph (Sec. 3.1, App. "GIN").

One GIN layer maps node states h to
    h' = ReLU(LN(MLP(x)))      x_i = (1 + eps) h_i + sum_{j in N(i)} h_j      MLP = Linear, ReLU, Linear
where the dummy node is a neighbour of every present point and every present point one of the dummy node.
With typed edges the MLP's first linear layer is split by edge type, a relational GIN:
    W x_i + b   becomes   W_self (1 + eps) h_i + sum_t W_t sum_{j in N_t(i)} h_j + b
The types are the eight compass directions, point to dummy and dummy to point.  If all W_t equal W_self it
is the untyped layer again.  The outputs of all layers, not the input features, are concatenated per node and
pass through two fully-connected layers (norm, ReLU, dropout); their result is the node's embedding.  The
policy head gives one logit per node (the dummy node's is pass), the value head one number per node, of which
the mean over all present nodes, dummy included, goes through tanh.
"""

from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import jraph

from saz_jax.config import GINConfig
from saz_jax.graph import NUM_EDGE_TYPES
from saz_jax.networks.features import NUM_FEATURES, mask_logits, node_features
from saz_jax.networks.neighbours import Neighbours, board_neighbours, graph_neighbours
from saz_jax.types import Array, Evaluation, GameState, Network, Variables


class NodeOutput(NamedTuple):
    """What the module says about every node, [...] being B, V on boards and the nodes of a GraphsTuple."""

    embedding: Array
    """float32[..., H]"""
    logits: Array
    """float32[...]"""
    value: Array
    """float32[...]: to be averaged over the nodes of a graph, then tanh."""


class GINLayer(nn.Module):
    """One GIN layer; h: [..., F] -> [..., hidden], zero at absent nodes before and after."""

    config: GINConfig

    @nn.compact
    def __call__(self, h: Array, nodes: Array, neighbours: Neighbours) -> Array:
        hidden = self.config.hidden
        learned = self.config.epsilon == "learned"
        epsilon = self.param("epsilon", nn.initializers.zeros, ()) if learned else 0.0
        if self.config.edges == "compass8":
            shape = (NUM_EDGE_TYPES + 1, h.shape[-1], hidden)
            kernels = self.param("kernels", nn.initializers.lecun_normal(), shape)
            bias = self.param("bias", nn.initializers.zeros, (hidden,))
            scaled = kernels.at[-1].multiply(1 + epsilon)
            x = neighbours.typed(h, scaled) + bias.reshape((1,) * (h.ndim - 1) + (-1,))
        else:
            x = nn.Dense(hidden)((1 + epsilon) * h + neighbours.total(h))
        out = nn.relu(nn.LayerNorm(epsilon=1e-5)(nn.Dense(hidden)(nn.relu(x))))
        if self.config.residual and h.shape == out.shape:
            out = out + h
        return jnp.where(nodes[..., None], out, 0)


class GIN(nn.Module):
    """The whole network; features: float[..., F], nodes: bool[...], the present ones."""

    config: GINConfig

    @nn.compact
    def __call__(self, features: Array, nodes: Array, neighbours: Neighbours, train: bool) -> NodeOutput:
        config = self.config
        h = jnp.where(nodes[..., None], features, 0)
        outputs = []
        for _ in range(config.layers):
            h = GINLayer(config)(h, nodes, neighbours)
            outputs.append(h)
        x = jnp.concatenate(outputs, axis=-1)
        for _ in range(2):
            x = nn.Dense(config.head)(x)
            if config.norm == "batch":
                x = nn.BatchNorm(not train, momentum=0.9)(x, mask=nodes[..., None])
            else:
                x = nn.LayerNorm(epsilon=1e-5)(x)
            x = nn.Dropout(config.dropout, deterministic=not train)(nn.relu(x))
        logits = nn.Dense(1, name="policy")(x)[..., 0]
        value = nn.Dense(1, name="value")(x)[..., 0]
        return NodeOutput(x, logits, value)


def make_gin(config: GINConfig, max_size: int) -> Network:
    """The GIN on padded boards of side `max_size`; its variables fit every board size and `make_graph_gin`."""
    module = _module(config)

    def forward(variables: Variables, states: GameState, nodes: Array, train: bool, **kwargs: Any) -> Any:
        neighbours = board_neighbours(nodes, config.edges, config.dummy == "mean")
        features = node_features(states, config.features)
        return module.apply(variables, features, nodes, neighbours, train, **kwargs)

    def read(output: NodeOutput, nodes: Array) -> Evaluation:
        mean = jnp.where(nodes, output.value, 0).sum(1) / jnp.maximum(nodes.sum(1), 1)
        return Evaluation(mask_logits(output.logits, nodes), jnp.tanh(mean))

    def init(key: Array) -> Variables:
        nodes = jnp.ones((1, 2), bool)
        features = jnp.zeros((1, 2, NUM_FEATURES[config.features]))
        neighbours = board_neighbours(nodes, config.edges, config.dummy == "mean")
        return module.init(key, features, nodes, neighbours, False)

    def infer(variables: Variables, states: GameState, nodes: Array) -> Evaluation:
        return read(forward(variables, states, nodes, False), nodes)

    def fit(variables: Variables, key: Array, states: GameState, nodes: Array) -> tuple[Evaluation, Variables]:
        output, updated = forward(
            variables, states, nodes, True, rngs={"dropout": key}, mutable=["batch_stats"]
        )
        return read(output, nodes), {**variables, **updated}

    def embed(variables: Variables, states: GameState, nodes: Array) -> Array:
        return forward(variables, states, nodes, False).embedding

    return Network(init, infer, fit, embed)


def _module(config: GINConfig) -> GIN:
    return GIN(config)
