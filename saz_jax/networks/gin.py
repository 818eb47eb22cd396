"""The GIN on padded boards and, with the same variables, on any `jraph.GraphsTuple`."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jraph

from saz_jax.config import GINConfig
from saz_jax.games.board import COMPASS4
from saz_jax.graphs.topology import TO_DUMMY, Directions, steps
from saz_jax.networks.checks import check_config
from saz_jax.networks.features import Planes, num_features
from saz_jax.networks.gin_module import GIN, NodeOutput
from saz_jax.networks.kernels.chunks import CONVOLUTION_NODES, PRODUCT_NODES
from saz_jax.networks.neighbours import board_neighbours, graph_neighbours
from saz_jax.networks.network import Output, make_network
from saz_jax.networks.nodes import Nodes, join_board, largest, split_board
from saz_jax.networks.readout import Pooling, extra_heads, read_nodes
from saz_jax.types import Array, Evaluation, Network, Variables


def make_gin(
    config: GINConfig, max_size: int, directions: Directions = COMPASS4, planes: Planes = ()
) -> Network:
    """The GIN on padded boards of side `max_size`; its variables fit every board size and every graph.

    directions, planes: those of the game.
    """
    check_config(config, max_size)
    neighbours = steps(config.edges, directions)

    def read(gin: GIN, features: Array, nodes: Array, train: bool) -> Output:
        return _read_boards(gin, features, nodes, neighbours, train)

    chunk_nodes = CONVOLUTION_NODES if config.edges == "compass8" else PRODUCT_NODES
    return make_network(
        GIN(config), read, max_size, chunk_nodes=chunk_nodes, planes=planes, heads=extra_heads(config)
    )


def _read_boards(gin: GIN, features: Array, nodes: Array, directions: Directions, train: bool) -> Output:
    present = split_board(nodes)
    neighbours = board_neighbours(present, directions, gin.config.dummy)
    output = gin(split_board(features), present, neighbours, train)
    dummies = jnp.zeros_like(present[0]), jnp.ones_like(present[1])
    pooling = Pooling(lambda x: join_board(x).sum(1), _largest_on_boards)
    read = read_nodes(gin.config, output, split_board(features), present, dummies, pooling)
    more = {name: join_board(head) for name, head in output.heads.items() if name in ("reply", "soft")}
    if read.ownership is not None and read.score is not None:
        more |= {"ownership": read.ownership[0], "score": read.score}
    return Output(join_board(output.embedding), join_board(output.logits), read.value, more)


def _largest_on_boards(x: Nodes, where: Nodes) -> Array:
    return largest(x[0][..., None], where[0])[:, 0]


@dataclasses.dataclass(frozen=True, eq=False)
class GraphNetwork:
    """The GIN on graphs; the functions of `Network` for a `GraphsTuple` instead of boards.

    `graphs.nodes`: float32[nodes, F], features as on boards; `graphs.edges`: int32[E], edge types as in
    `graph.py` (ignored by untyped edges with a summing dummy node); `present`: bool[nodes], False for
    padding, for example `jraph.get_node_padding_mask(graphs)`, or None if there is none.  An `Evaluation`
    of graphs has logits and ownership per node, a value and a score per graph.
    """

    infer: Callable[..., Evaluation]
    """(variables, graphs, present=None) -> Evaluation"""
    fit: Callable[..., tuple[Evaluation, Variables]]
    """(variables, key, graphs, present=None) -> (Evaluation, variables with updated statistics)"""
    embed: Callable[..., Array]
    """(variables, graphs, present=None) -> float32[nodes, H]"""


def make_graph_gin(config: GINConfig, num_planes: int = 0) -> GraphNetwork:
    """The GIN on any graphs, with the variables that `make_gin(config, ...).init` makes.

    num_planes: how many features the game adds to those of `config`.
    """
    check_config(config)
    gin = GIN(config)
    evaluate = functools.partial(_evaluate_graphs, config)
    checked = functools.partial(_checked, config, num_planes)

    def forward(
        variables: Variables, graphs: jraph.GraphsTuple, present: Array, train: bool, **options: Any
    ) -> Any:
        neighbours = graph_neighbours(graphs, config.dummy)
        return gin.apply(variables, (graphs.nodes,), (present,), neighbours, train, **options)

    def infer(variables: Variables, graphs: jraph.GraphsTuple, present: Array | None = None) -> Evaluation:
        present = checked(graphs, present)
        return evaluate(forward(variables, graphs, present, False), graphs, present)

    def fit(
        variables: Variables, key: Array, graphs: jraph.GraphsTuple, present: Array | None = None
    ) -> tuple[Evaluation, Variables]:
        present = checked(graphs, present)
        rngs = {"dropout": key}
        output, updated = forward(variables, graphs, present, True, rngs=rngs, mutable=["batch_stats"])
        return evaluate(output, graphs, present), {**variables, **updated}

    def embed(variables: Variables, graphs: jraph.GraphsTuple, present: Array | None = None) -> Array:
        present = checked(graphs, present)
        return forward(variables, graphs, present, False).embedding[0]

    return GraphNetwork(infer, fit, embed)


def _evaluate_graphs(
    config: GINConfig, output: NodeOutput, graphs: jraph.GraphsTuple, present: Array
) -> Evaluation:
    inputs: Any = (graphs.nodes, graphs.edges, graphs.receivers)
    features, types, receivers = inputs
    num_graphs, num_nodes = graphs.n_node.shape[0], present.shape[0]
    owner = jnp.repeat(jnp.arange(num_graphs), graphs.n_node, total_repeat_length=num_nodes)
    dummies = jnp.zeros_like(present)
    if config.readout != "mean" or "ownership" in output.heads:
        # A dummy node is one that is sent messages of the type to-dummy.
        received = jraph.segment_sum((types == TO_DUMMY).astype(jnp.int32), receivers, num_nodes)
        dummies = received > 0

    def largest_of_graphs(x: Nodes, where: Nodes) -> Array:
        most = jraph.segment_max(jnp.where(where[0], x[0], -jnp.inf), owner, num_graphs)
        return jnp.where(jnp.isneginf(most), 0, most)

    def masked(logits: Nodes) -> Array:
        return jnp.where(present, logits[0], jnp.finfo(logits[0].dtype).min)

    pooling = Pooling(lambda x: jraph.segment_sum(x[0], owner, num_graphs), largest_of_graphs)
    read = read_nodes(config, output, (features,), (present,), (dummies,), pooling)
    return Evaluation(
        masked(output.logits),
        read.value,
        ownership=None if read.ownership is None else read.ownership[0],
        score=read.score,
        **{name: masked(head) for name, head in output.heads.items() if name in ("reply", "soft")},
    )


def _checked(config: GINConfig, num_planes: int, graphs: jraph.GraphsTuple, present: Array | None) -> Array:
    """The mask of present nodes, after a look at the graphs."""
    nodes: Any = graphs.nodes
    shape, wanted = nodes.shape, num_features(config.features, num_planes)
    if len(shape) != 2 or shape[1] != wanted:
        raise ValueError(f"nodes have shape {shape}; {config.features!r} takes [nodes, {wanted}]")
    plain = config.readout == "mean" and not config.ownership
    untyped = config.edges != "compass8" and config.dummy == "sum" and plain
    if graphs.edges is None and not untyped:
        raise ValueError(
            "edges is None; compass8 edges, a mean or max dummy, readouts other than the mean and ownership "
            "need edge types, int32[E]"
        )
    return jnp.ones(shape[0], bool) if present is None else present
