"""The padded board as a graph."""

from typing import Any

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saz_jax.graphs.topology import from_graphs_tuple, live_nodes, to_graphs_tuple, topology
from tests.oracles.gin import board_edges
from tests.positions import random_positions


@pytest.mark.parametrize(("edges", "diagonal"), [("grid4", False), ("grid8", True), ("compass8", True)])
@pytest.mark.parametrize("side", [1, 2, 5])
def test_the_topology_is_that_of_a_plain_loop(edges, diagonal, side):
    found = sorted(zip(*(x.tolist() for x in topology(side, edges)), strict=True))
    assert found == sorted(board_edges([True] * (side * side + 1), side, diagonal))


def test_untyped_edges_follow_the_directions_of_the_game():
    hexagonal = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))
    senders, receivers, _ = topology(4, "grid4", hexagonal)
    near = {divmod(s, 4) for s, r in zip(senders.tolist(), receivers.tolist(), strict=True) if r == 5}
    assert near == {(0, 1), (0, 2), (1, 2), (2, 1), (2, 0), (1, 0), (4, 0)}  # (4, 0) is the dummy node
    for edges in ("grid8", "compass8"):
        assert len(topology(4, edges, hexagonal)[0]) == len(topology(4, edges)[0])


def test_live_nodes_are_the_corner_and_the_dummy_node():
    states, _ = random_positions(0, [2], 3)
    nodes = live_nodes(jax.tree.map(lambda x: x[0], states))
    np.testing.assert_array_equal(nodes, [True, True, False, True, True, False, False, False, False, True])


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_a_subgraph_becomes_a_graphs_tuple_and_comes_back(seed):
    rng = np.random.default_rng(seed)
    nodes = rng.random((2, 10)) < rng.random()
    nodes[:, -1] = True
    features = rng.normal(size=(2, 10, 3)).astype(np.float32)
    graphs: Any = to_graphs_tuple(jnp.asarray(features), jnp.asarray(nodes), "compass8")
    unpadded: Any = jraph.unpad_with_graphs(graphs)
    assert jraph.get_number_of_padding_with_graphs_graphs(graphs) == 1

    np.testing.assert_array_equal(unpadded.n_node, nodes.sum(1))
    np.testing.assert_array_equal(unpadded.nodes, np.concatenate([features[b][nodes[b]] for b in range(2)]))
    expected = []
    for b in range(2):
        number = np.cumsum(nodes[b]) - 1 + (nodes[0].sum() if b else 0)
        expected += [(number[s], number[r], t) for s, r, t in board_edges(nodes[b], 3, True)]
    ends = (np.asarray(x).tolist() for x in (unpadded.senders, unpadded.receivers, unpadded.edges))
    assert sorted(zip(*ends, strict=True)) == sorted(expected)

    back = from_graphs_tuple(graphs.nodes, jnp.asarray(nodes), fill=7.0)
    np.testing.assert_array_equal(back, np.where(nodes[..., None], features, 7.0))


def test_one_compilation_makes_graphs_of_every_size():
    convert: Any = jax.jit(to_graphs_tuple, static_argnames="edges")
    for sizes in ([3, 5], [4, 4]):
        _, nodes = random_positions(0, sizes, 5)
        graphs = convert(jnp.zeros((*nodes.shape, 1)), nodes, edges="grid4")
        assert graphs.n_node.tolist()[:2] == [n * n + 1 for n in sizes]
    assert convert._cache_size() == 1


def test_unknown_edges_and_crooked_boards_are_refused():
    with pytest.raises(ValueError, match="edges='grid6' is unknown; choose one of grid4"):
        topology(3, "grid6")
    with pytest.raises(ValueError, match="7 nodes are no padded board"):
        to_graphs_tuple(jnp.zeros((1, 7, 1)), jnp.ones((1, 7), bool))
