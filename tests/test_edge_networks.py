"""Networks for games whose moves go along edges: boards against graphs, padding, symmetries, both colours."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.config import CNNConfig, FCNConfig, GINConfig, SubgraphConfig
from saz_jax.games.actions import action_symmetry, repadded, within
from saz_jax.games.board import COMPASS8, symmetry
from saz_jax.games.playthrough import random_games
from saz_jax.graphs.subgraphs import sample_subgraphs
from saz_jax.graphs.topology import edges_to_actions, live_nodes, observe, to_graphs_tuple
from saz_jax.models.evaluators import subgraph_ensemble
from saz_jax.models.opinions import make_opinions
from saz_jax.models.registry import check_actions
from saz_jax.networks import make_gin, make_graph_gin
from saz_jax.networks.features import node_features
from saz_jax.networks.registry import make_network_of
from saz_jax.types import Evaluation, Network
from tests.positions import learns_by_heart, noisy_variables

GAME = make_game("breakthrough", 6)
LOWEST = float(np.finfo(np.float32).min)
GIN = GINConfig(layers=2, hidden=8, head=8, dropout=0.0, features="stones_legal", reply=True, soft=True)
TYPED = dataclasses.replace(GIN, edges="compass8", norm="layer", dummy="mean")
NETWORKS = {
    "gin": GIN,
    "typed": TYPED,
    "fcn": FCNConfig(blocks=1, channels=8, reply=True),
    "cnn": CNNConfig(side=5, channels=8, dense=(8, 8), dropout=0.0),
}


def positions(sizes, plies=7, game=GAME, seed=0):
    """(observations[B], nodes[B, V]) after random moves; odd numbers of plies leave light to move."""
    states, _ = random_games(game, sizes, seed, plies)
    states = jax.tree.map(lambda x: jnp.asarray(x[-1]), states)
    return observe(states), jax.vmap(live_nodes)(states)


@pytest.mark.parametrize("config", [GIN, TYPED], ids=["grid4", "compass8"])
def test_logits_of_edges_are_the_same_on_boards_and_graphs(config):
    network = make_gin(config, 6, GAME.directions, GAME.planes, GAME.moves)
    on_graphs = make_graph_gin(config, len(GAME.planes), GAME.moves)
    variables = noisy_variables(network)
    seen, nodes = positions([5, 6, 4])
    drawn = jax.random.uniform(jax.random.key(0), nodes.shape) < 0.8
    nodes = (nodes & drawn).at[:, -1].set(True)
    boards = jax.jit(network.infer)(variables, seen, nodes)
    features = node_features(seen, config.features, GAME.planes)
    graphs: Any = to_graphs_tuple(features, nodes, config.edges, GAME.directions)
    count = int(nodes.sum())
    graphs_say = jax.jit(on_graphs.infer)(variables, graphs, jnp.arange(len(graphs.nodes)) < count)
    np.testing.assert_allclose(graphs_say.value[:3], boards.value, atol=1e-5)
    for name in ("logits", "reply", "soft"):
        at_edges = getattr(graphs_say, name)
        assert at_edges.shape == (len(graphs.nodes) + len(graphs.edges),)
        found = edges_to_actions(at_edges, nodes, GAME.moves, config.edges, GAME.directions, LOWEST)
        np.testing.assert_array_equal(found == LOWEST, ~within(nodes, GAME.moves))
        np.testing.assert_allclose(found, getattr(boards, name), atol=1e-5)
    with pytest.raises(ValueError, match="moves along edges need edge types"):
        on_graphs.infer(variables, graphs._replace(edges=None))


@pytest.mark.parametrize("name", NETWORKS)
def test_padding_changes_nothing(name):
    sizes = [5, 5] if name == "cnn" else [6, 4]
    said = {}
    for side in (6, 8):
        game = make_game("breakthrough", side)
        network = make_network_of(NETWORKS[name], game)
        seen, nodes = positions(sizes, game=GAME)
        actions = np.flatnonzero(np.asarray(within(nodes, GAME.moves))[0])[:-1]
        if side != 6:
            pad = ((0, 0), (0, side - 6), (0, side - 6))
            legal = np.zeros((len(sizes), game.num_actions), bool)
            every = np.arange(GAME.num_actions - 1)
            legal[:, repadded(every, 6, side)] = np.asarray(seen.legal)[:, :-1]
            legal[:, -1] = np.asarray(seen.legal)[:, -1]
            board, points = jnp.pad(seen.board, pad), jnp.pad(seen.points, pad)
            seen = seen._replace(board=board, points=points, legal=jnp.asarray(legal))
            nodes, actions = jax.vmap(live_nodes)(seen), repadded(actions, 6, side)
        found = jax.jit(network.infer)(noisy_variables(network), seen, nodes)
        said[side] = np.asarray(found.logits)[0, actions], found.value, found.logits[:, -1]
    for small, large in zip(said[6], said[8], strict=True):
        np.testing.assert_allclose(small, large, atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_both_colours_are_seen_alike(name):
    """Light's position upside down with the colours exchanged is dark's: same value, moves turned along."""
    network = make_network_of(NETWORKS[name], GAME)
    variables = noisy_variables(network)
    seen, nodes = positions([5, 5] if name == "cnn" else [6, 5])
    source = jax.vmap(lambda size: symmetry(GAME.light_view, size, 6))(seen.size)
    actions = jax.vmap(lambda size: action_symmetry(GAME.light_view, size, 6, GAME.moves))(seen.size)
    flat = jnp.take_along_axis(seen.board.reshape(2, -1), source[:, :-1], axis=1)
    other = seen._replace(
        board=-flat.reshape(seen.board.shape),
        to_play=-seen.to_play,
        legal=jnp.take_along_axis(seen.legal, actions, axis=1),
    )
    infer = jax.jit(network.infer)
    one, two = infer(variables, seen, nodes), infer(variables, other, nodes)
    np.testing.assert_allclose(one.value, two.value, atol=1e-6)
    np.testing.assert_allclose(jnp.take_along_axis(one.logits, actions, axis=1), two.logits, atol=1e-5)
    embed = jax.jit(network.embed)
    turned = jnp.take_along_axis(embed(variables, seen, nodes), source[..., None], axis=1)
    np.testing.assert_allclose(turned, embed(variables, other, nodes), atol=1e-5)


@pytest.mark.parametrize("edges", ["grid4", "compass8"])
def test_a_turned_board_has_turned_logits_if_the_types_of_edges_are_turned(edges):
    """Mirrored left to right: what belongs to an edge type has to change places with its mirror image."""
    config = GINConfig(layers=2, hidden=8, head=8, dropout=0.0, edges=edges)
    network = make_gin(config, 6, GAME.directions, moves=GAME.moves)
    variables = noisy_variables(network)
    mirrored = [COMPASS8.index((row, -column)) for row, column in COMPASS8]

    def turned(path, x):
        name = path[-1].key
        if name in ("logits_edge_bias", "logits_edge_weight"):
            return x[np.array(mirrored)]
        return x[np.array([*mirrored, 8, 9, 10])] if name == "kernels" else x

    seen, nodes = positions([6, 6])
    source = np.asarray(action_symmetry(7, 6, 6, GAME.moves))
    mirror = seen._replace(board=seen.board[:, :, ::-1], legal=seen.legal[:, source])
    infer = jax.jit(network.infer)
    one = infer(variables, seen, nodes)
    two = infer(jax.tree_util.tree_map_with_path(turned, variables), mirror, nodes)
    np.testing.assert_allclose(one.value, two.value, atol=1e-5)
    np.testing.assert_allclose(one.logits[:, source], two.logits, atol=1e-5)
    assert np.abs(one.logits[:, source] - infer(variables, mirror, nodes).logits).max() > 0.01


@pytest.mark.parametrize("name", NETWORKS)
def test_one_batch_is_learned_by_heart(name):
    network = make_network_of(NETWORKS[name], GAME)
    seen, nodes = positions([5] * 6)
    moves = within(nodes, GAME.moves)
    first, last = learns_by_heart(network, seen, nodes, steps=150, rate=1e-2, actions=moves)
    assert last < 0.2 * first


def test_the_subgraph_prior_is_the_mean_over_the_subgraphs_that_hold_both_ends():
    """Against a loop, with a network whose logits depend on the action and on the number of nodes."""
    game = make_game("breakthrough", 5)

    def infer(variables, seen, nodes):
        held = within(nodes, game.moves)
        number = jnp.broadcast_to(jnp.arange(held.shape[1]), held.shape)
        logits = jnp.where(held, number % 7 + number * nodes.sum(1)[:, None] % 3, LOWEST)
        return Evaluation(logits.astype(jnp.float32), jnp.zeros(len(nodes)))

    network = blind_network(infer)
    config = SubgraphConfig(combine="only")
    states = jax.tree.map(lambda x: x[None], game.init(5))
    key = jax.random.key(1)
    said = subgraph_ensemble(network, config, 5, game.moves)({}, key, states)
    subgraphs = sample_subgraphs(jax.random.fold_in(key, 0), live_nodes(game.init(5)), config, 5)
    total, count = np.zeros(game.num_actions), np.zeros(game.num_actions)
    for nodes in subgraphs:
        prior = jax.nn.softmax(infer({}, None, nodes[None]).logits[0])
        for action in np.flatnonzero(within(nodes, game.moves)):
            total[action] += prior[action]
            count[action] += 1
    legal = np.asarray(states.legal[0])
    assert set(count[legal]) == {0, 1, 2}, "some moves are in no subgraph, some in several"
    expected = np.where(legal, total / np.maximum(count, 1), 0)
    np.testing.assert_allclose(np.exp(said.logits[0]), expected / expected.sum(), atol=1e-5)


def test_opinions_of_subgraphs_are_about_moves_within_them():
    game = make_game("breakthrough", 5)
    network = make_network_of(TYPED, game)
    state = game.init(5)
    found = jax.jit(make_opinions(network, SubgraphConfig(), 5, game.moves))(
        noisy_variables(network), jax.random.key(0), state
    )
    held = within(found.nodes, game.moves) & state.legal[None]
    assert not np.asarray(found.priors)[~np.asarray(held)].any()
    np.testing.assert_allclose(found.priors.sum(1), held.any(1), atol=1e-5)


def blind_network(infer) -> Network:
    """One that can be asked and nothing else."""
    return Network(lambda key: {}, infer, infer, infer)


def test_a_network_that_knows_no_edges_is_named():
    network = blind_network(lambda _, seen, nodes: Evaluation(nodes.astype(jnp.float32), nodes[:, 0] * 1.0))
    with pytest.raises(ValueError, match="network blind gives 37 logits, and breakthrough has 217 actions"):
        check_actions(network, "blind", GAME)
