"""The padded board as a graph: its topology, its present nodes, `jraph.GraphsTuple` in and out.

Nodes are the points of the board and one dummy node joined to all of them in both directions (Sec. 3.1).
Every edge has a type: an edge of type d < 8 brings a message from the neighbour that lies in direction
`COMPASS8[d]` of its receiver; `TO_DUMMY` edges lead from a point to the dummy node, `FROM_DUMMY` edges back.
"""

import functools
from typing import TypeAlias

import jax.numpy as jnp
import jraph
import numpy as np

from saz_jax.config.choices import check_choice
from saz_jax.games.board import COMPASS4, COMPASS8
from saz_jax.types import Array, GameState, Observation, Steps

Directions: TypeAlias = tuple[tuple[int, int], ...]
EDGES = ("grid4", "grid8", "compass8")
"""The choices of `GINConfig.edges`."""
TO_DUMMY = 8
FROM_DUMMY = 9
NUM_EDGE_TYPES = 10


def live_nodes(state: GameState | Observation) -> Array:
    """bool[V]: the live points and the dummy node of one position."""
    return jnp.append(state.points.reshape(-1), True)


def observe(state: GameState) -> Observation:
    """What a network sees of a position, or of a batch of them."""
    return Observation(*(getattr(state, field) for field in Observation._fields))


def steps(edges: str, directions: Directions = COMPASS4) -> Directions:
    """Steps to the neighbours of a point by `GINConfig.edges`: the `directions` of the game, or all eight."""
    check_choice("edges", edges, EDGES)
    return directions if edges == "grid4" else COMPASS8


@functools.cache
def topology(
    max_size: int, edges: str = "grid4", directions: Directions = COMPASS4
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(senders, receivers, types), each int32[E]: all edges of the padded board of side N.

    directions: `Game.directions`, which `grid4` follows.
    """
    points = np.arange(max_size * max_size, dtype=np.int32)
    row, column = np.divmod(points, max_size)
    dummy = np.full_like(points, max_size * max_size)
    parts = [(points, dummy, TO_DUMMY), (dummy, points, FROM_DUMMY)]
    for dr, dc in steps(edges, directions):
        on_board = np.isin(row + dr, np.arange(max_size)) & np.isin(column + dc, np.arange(max_size))
        receivers = points[on_board]
        parts.append((receivers + dr * max_size + dc, receivers, COMPASS8.index((dr, dc))))
    senders, receivers, types = zip(*((s, r, np.full_like(s, t)) for s, r, t in parts), strict=True)
    return np.concatenate(senders), np.concatenate(receivers), np.concatenate(types)


def edge_type(step: tuple[int, int]) -> int:
    """The type of the edges along which a move makes this step, from their sender to their receiver."""
    return COMPASS8.index((-step[0], -step[1]))


def to_graphs_tuple(
    features: Array, nodes: Array, edges: str = "grid4", directions: Directions = COMPASS4
) -> jraph.GraphsTuple:
    """B boards as B graphs of their present nodes, in order, and one padding graph.

    features: float[B, V, F]; nodes: bool[B, V], which ones are present.  An edge is kept where both of its
    ends are present.  Shapes depend on B and V only, so this works under `jit`: as in
    `jraph.pad_with_graphs`, everything absent ends up in the last graph, which has at least one node, and
    `jraph.unpad_with_graphs` takes it away again.  `edges` of the result holds the edge types, int32.
    """
    batch, num_nodes, _ = features.shape
    senders, receivers, types = topology(_side(num_nodes), edges, directions)
    kept = nodes[:, senders] & nodes[:, receivers]
    n_node, n_edge = nodes.sum(1, dtype=jnp.int32), kept.sum(1, dtype=jnp.int32)
    index, padding_node = _graph_index(nodes), n_node.sum()
    edge_order = jnp.argsort(~kept.reshape(-1), stable=True)

    def kept_first(x: Array, otherwise: Array | int) -> Array:
        return jnp.where(kept, x, otherwise).reshape(-1)[edge_order]

    slots = jnp.zeros((batch * num_nodes + 1, features.shape[-1]), features.dtype)
    return jraph.GraphsTuple(
        nodes=slots.at[jnp.where(nodes, index, len(slots))].set(features, mode="drop"),
        edges=kept_first(jnp.asarray(types)[None, :], 0),
        senders=kept_first(index[:, senders], padding_node),
        receivers=kept_first(index[:, receivers], padding_node),
        n_node=jnp.append(n_node, len(slots) - padding_node),
        n_edge=jnp.append(n_edge, batch * len(types) - n_edge.sum()),
        globals=None,
    )


def from_graphs_tuple(values: Array, nodes: Array, fill: float = 0.0) -> Array:
    """[B, V, ...]: values per node of `to_graphs_tuple(_, nodes)`, back in place; `fill` at absent ones."""
    present = nodes.reshape(nodes.shape + (1,) * (values.ndim - 1))
    return jnp.where(present, values[_graph_index(nodes)], fill)


def edges_to_actions(
    values: Array,
    nodes: Array,
    moves: Steps,
    edges: str = "grid4",
    directions: Directions = COMPASS4,
    fill: float = 0.0,
) -> Array:
    """[B, A]: values per node and edge, [nodes + E], of `to_graphs_tuple(_, nodes, edges, directions)`.

    A move along an edge has the value of that edge, one that places a stone that of its node, pass that of
    the dummy node; `fill` where an end is absent.
    """
    batch, num_nodes = nodes.shape
    side = _side(num_nodes)
    senders, receivers, _ = topology(side, edges, directions)
    kept = nodes[:, senders] & nodes[:, receivers]
    place = jnp.cumsum(kept.reshape(-1), dtype=jnp.int32).reshape(kept.shape) - 1
    at_edges = jnp.where(kept, values[batch * num_nodes + 1 :][place], fill)
    at_nodes = from_graphs_tuple(values[: batch * num_nodes + 1], nodes, fill)
    number = {
        ends: index for index, ends in enumerate(zip(senders.tolist(), receivers.tolist(), strict=True))
    }
    here = range(num_nodes - 1)
    columns = []
    for dr, dc in moves:
        if (dr, dc) == (0, 0):
            columns.append(at_nodes[:, :-1])
            continue
        on_board = [0 <= node // side + dr < side and 0 <= node % side + dc < side for node in here]
        ends = [
            (node, node + dr * side + dc) if fine else None for node, fine in zip(here, on_board, strict=True)
        ]
        which = np.array([len(number) if end is None else number[end] for end in ends])
        columns.append(jnp.pad(at_edges, ((0, 0), (0, 1)), constant_values=fill)[:, which])
    return jnp.concatenate([*columns, at_nodes[:, -1:]], axis=1)


def _graph_index(nodes: Array) -> Array:
    """int32[B, V]: where each present node stands among all present nodes of the batch."""
    return jnp.cumsum(nodes.reshape(-1), dtype=jnp.int32).reshape(nodes.shape) - nodes.astype(jnp.int32)


def _side(num_nodes: int) -> int:
    side = round((num_nodes - 1) ** 0.5)
    if side * side + 1 != num_nodes:
        raise ValueError(f"{num_nodes} nodes are no padded board; a board of side N has N * N + 1")
    return side
