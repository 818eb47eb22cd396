"""The GIN on padded boards and, with the same variables, on any `jraph.GraphsTuple`."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jraph

from saz_jax.config import GINConfig
from saz_jax.games.actions import PLACING
from saz_jax.games.board import COMPASS4
from saz_jax.graphs.topology import TO_DUMMY, Directions, edge_type, steps
from saz_jax.networks.checks import check_config
from saz_jax.networks.features import Planes, num_features
from saz_jax.networks.gin_module import GIN, EdgeHead, NodeOutput
from saz_jax.networks.kernels.chunks import CONVOLUTION_NODES, PRODUCT_NODES
from saz_jax.networks.neighbours import board_neighbours, graph_neighbours
from saz_jax.networks.network import Output, make_network
from saz_jax.networks.nodes import Nodes, join_actions, join_board, largest, split_board
from saz_jax.networks.readout import Pooling, extra_heads, read_nodes
from saz_jax.types import Array, Evaluation, Network, Steps, Variables


def make_gin(
    config: GINConfig,
    max_size: int,
    directions: Directions = COMPASS4,
    planes: Planes = (),
    moves: Steps = PLACING,
) -> Network:
    """The GIN on padded boards of side `max_size`; its variables fit every board size and every graph.

    directions, planes, moves: those of the game.
    """
    check_config(config, max_size)
    module = GIN(config, moving=moves != PLACING)
    neighbours = steps(config.edges, directions)

    def read(gin: GIN, features: Array, nodes: Array, train: bool) -> Output:
        return _read_boards(gin, features, nodes, neighbours, moves, train)

    chunk_nodes = CONVOLUTION_NODES if config.edges == "compass8" else PRODUCT_NODES
    heads = extra_heads(config)
    return make_network(
        module, read, max_size, chunk_nodes=chunk_nodes, planes=planes, heads=heads, moves=moves
    )


def _read_boards(
    gin: GIN, features: Array, nodes: Array, directions: Directions, moves: Steps, train: bool
) -> Output:
    present = split_board(nodes)
    neighbours = board_neighbours(present, directions, gin.config.dummy)
    output = gin(split_board(features), present, neighbours, train)
    dummies = jnp.zeros_like(present[0]), jnp.ones_like(present[1])
    pooling = Pooling(lambda x: join_board(x).sum(1), _largest_on_boards)
    read = read_nodes(gin.config, output, split_board(features), present, dummies, pooling)
    said = {"logits": output.logits} | {x: output.heads[x] for x in ("reply", "soft") if x in output.heads}
    said = {name: _board_actions(head, output.edges.get(name), moves) for name, head in said.items()}
    more = {name: head for name, head in said.items() if name != "logits"}
    if read.ownership is not None and read.score is not None:
        more |= {"ownership": read.ownership[0], "score": read.score}
    if read.outcomes is not None:
        more["outcomes"] = read.outcomes
    return Output(join_board(output.embedding), said["logits"], read.value, more)


def _board_actions(logits: Nodes, head: EdgeHead | None, moves: Steps) -> Array:
    """float32[B, A] from a logit per node and, where moves go along edges, their head."""
    if head is None:
        return join_board(logits)
    (points, dummy), (start, _), (end, _) = logits, head.start, head.end
    side = points.shape[1]
    around = jnp.pad(end, ((0, 0), (1, 1), (1, 1), (0, 0)))

    def of_kind(step: tuple[int, int]) -> Array:
        if step == (0, 0):
            return points
        row, column = 1 + step[0], 1 + step[1]
        there = around[:, row : row + side, column : column + side]
        return points + head.logit(start, there, edge_type(step))

    return join_actions(jnp.stack([of_kind(step) for step in moves], axis=-1), dummy)


def _largest_on_boards(x: Nodes, where: Nodes) -> Array:
    return largest(x[0][..., None], where[0])[:, 0]


@dataclasses.dataclass(frozen=True, eq=False)
class GraphNetwork:
    """The GIN on graphs; the functions of `Network` for a `GraphsTuple` instead of boards.

    `graphs.nodes`: float32[nodes, F], features as on boards; `graphs.edges`: int32[E], edge types as in
    `graph.py` (ignored by untyped edges with a summing dummy node); `present`: bool[nodes], False for
    padding, for example `jraph.get_node_padding_mask(graphs)`, or None if there is none.  An `Evaluation`
    of graphs has logits and ownership per node, a value and a score per graph.  Where moves go along edges,
    logits are float32[nodes + E]: a dummy node's is pass, an edge's the move from its sender to its receiver,
    and all others are masked; `edges_to_actions` puts them in the order of actions.
    """

    infer: Callable[..., Evaluation]
    """(variables, graphs, present=None) -> Evaluation"""
    fit: Callable[..., tuple[Evaluation, Variables]]
    """(variables, key, graphs, present=None) -> (Evaluation, variables with updated statistics)"""
    embed: Callable[..., Array]
    """(variables, graphs, present=None) -> float32[nodes, H]"""


def make_graph_gin(config: GINConfig, num_planes: int = 0, moves: Steps = PLACING) -> GraphNetwork:
    """The GIN on any graphs, with the variables that `make_gin(config, ...).init` makes.

    num_planes: how many features the game adds to those of `config`; moves: its kinds of moves.
    """
    check_config(config)
    gin = GIN(config, moving=moves != PLACING)
    evaluate = functools.partial(_evaluate_graphs, config)
    checked = functools.partial(_checked, config, num_planes, moves)

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
    inputs: Any = (graphs.nodes, graphs.edges, graphs.senders, graphs.receivers)
    features, types, senders, receivers = inputs
    num_graphs, num_nodes = graphs.n_node.shape[0], present.shape[0]
    owner = jnp.repeat(jnp.arange(num_graphs), graphs.n_node, total_repeat_length=num_nodes)
    dummies = jnp.zeros_like(present)
    if config.readout != "mean" or config.outcomes or "ownership" in output.heads or output.edges:
        # A dummy node is one that is sent messages of the type to-dummy.
        received = jraph.segment_sum((types == TO_DUMMY).astype(jnp.int32), receivers, num_nodes)
        dummies = received > 0

    def largest_of_graphs(x: Nodes, where: Nodes) -> Array:
        most = jraph.segment_max(jnp.where(where[0], x[0], -jnp.inf), owner, num_graphs)
        return jnp.where(jnp.isneginf(most), 0, most)

    def masked(logits: Nodes, head: EdgeHead | None) -> Array:
        (at_nodes,) = logits
        lowest = jnp.finfo(at_nodes.dtype).min
        if head is None:
            return jnp.where(present, at_nodes, lowest)
        at_edges = at_nodes[senders] + head.logit(
            head.start[0][senders], head.end[0][receivers], jnp.minimum(types, TO_DUMMY - 1)
        )
        moves = (types < TO_DUMMY) & present[senders] & present[receivers]
        passes = jnp.where(present & dummies, at_nodes, lowest)
        return jnp.concatenate([passes, jnp.where(moves, at_edges, lowest)])

    pooling = Pooling(lambda x: jraph.segment_sum(x[0], owner, num_graphs), largest_of_graphs)
    read = read_nodes(config, output, (features,), (present,), (dummies,), pooling)
    return Evaluation(
        masked(output.logits, output.edges.get("logits")),
        read.value,
        ownership=None if read.ownership is None else read.ownership[0],
        score=read.score,
        outcomes=read.outcomes,
        **{
            name: masked(head, output.edges.get(name))
            for name, head in output.heads.items()
            if name in ("reply", "soft")
        },
    )


def _checked(
    config: GINConfig, num_planes: int, moves: Steps, graphs: jraph.GraphsTuple, present: Array | None
) -> Array:
    """The mask of present nodes, after a look at the graphs."""
    nodes: Any = graphs.nodes
    shape, wanted = nodes.shape, num_features(config.features, num_planes, len(moves))
    if len(shape) != 2 or shape[1] != wanted:
        raise ValueError(f"nodes have shape {shape}; {config.features!r} takes [nodes, {wanted}]")
    plain = config.readout == "mean" and not (config.ownership or config.outcomes) and moves == PLACING
    untyped = config.edges != "compass8" and config.dummy == "sum" and plain
    if graphs.edges is None and not untyped:
        raise ValueError(
            "edges is None; compass8 edges, a mean or max dummy, readouts other than the mean, ownership, "
            "outcomes and moves along edges need edge types, int32[E]"
        )
    return jnp.ones(shape[0], bool) if present is None else present
