"""The paper's GIN and its options, on boards and on general graphs."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import pytest

from saz_jax.config import CNNConfig, FCNConfig, GINConfig
from saz_jax.games.board import COMPASS8, INVERSE_SYMMETRY, NUM_SYMMETRIES, symmetry
from saz_jax.graphs.topology import from_graphs_tuple, to_graphs_tuple
from saz_jax.networks import make_cnn, make_fcn, make_gin, make_graph_gin
from saz_jax.networks.features import NUM_FEATURES, node_features
from saz_jax.networks.kernels.chunks import in_chunks
from tests.oracles.gin import board_edges, gin
from tests.positions import learns_by_heart, live_logits, noisy_variables, random_positions

SMALL = GINConfig(hidden=16, head=12, features="stones_legal")
KINDS = [
    SMALL,
    dataclasses.replace(SMALL, edges="grid8", dummy="mean", residual=True),
    dataclasses.replace(SMALL, edges="compass8"),
    dataclasses.replace(SMALL, dummy="max"),
    dataclasses.replace(SMALL, edges="compass8", dummy="max", residual=True, norm="layer", readout="dummy"),
    dataclasses.replace(
        SMALL,
        features="stones_legal_turn",
        edges="compass8",
        dummy="mean",
        epsilon="fixed",
        norm="layer",
        layers=2,
    ),
]
each_kind = pytest.mark.parametrize("config", KINDS, ids=lambda c: f"{c.edges}-{c.dummy}")
MIN = float(np.finfo(np.float32).min)


def with_holes(nodes, seed=0):
    """The same nodes without about a fifth of the points."""
    kept = jax.random.uniform(jax.random.key(seed), nodes.shape) < 0.8
    return nodes & kept.at[:, -1].set(True)


@each_kind
def test_boards_with_holes_equal_the_plain_numpy_network(config):
    network = make_gin(config, 5)
    variables = noisy_variables(network)
    states, nodes = random_positions(1, [3, 5], 5)
    nodes = with_holes(nodes)
    logits, value, *_ = jax.jit(network.infer)(variables, states, nodes)
    features = np.asarray(node_features(states, config.features))
    for b in range(2):
        present = np.asarray(nodes[b])
        number = np.cumsum(present) - 1
        edges = [(number[s], number[r], t) for s, r, t in board_edges(present, 5, config.edges != "grid4")]
        expected_logits, expected_value = gin(variables, config, features[b][present], edges)
        np.testing.assert_allclose(logits[b][present], expected_logits, atol=1e-5)
        np.testing.assert_allclose(value[b], expected_value, atol=1e-5)
        assert np.all(np.asarray(logits[b])[~present] == MIN)


@each_kind
def test_the_grid_path_equals_message_passing_on_a_graphs_tuple(config):
    network, on_graphs = make_gin(config, 6), make_graph_gin(config)
    variables = noisy_variables(network)
    states, nodes = random_positions(2, [4, 6, 5], 6)
    nodes = with_holes(nodes)
    graphs: Any = to_graphs_tuple(node_features(states, config.features), nodes, config.edges)
    logits, value, *_ = jax.jit(network.infer)(variables, states, nodes)
    graph_logits, graph_value, *_ = jax.jit(on_graphs.infer)(variables, graphs)
    np.testing.assert_allclose(from_graphs_tuple(graph_logits, nodes, MIN), logits, atol=1e-5)
    np.testing.assert_allclose(graph_value[:-1], value, atol=1e-5)
    embedding = from_graphs_tuple(jax.jit(on_graphs.embed)(variables, graphs), nodes)
    on_board = jax.jit(network.embed)(variables, states, nodes)
    np.testing.assert_allclose(jnp.where(nodes[..., None], on_board, 0), embedding, atol=1e-5)


def corner_plane(seen):
    """1 at the first point, where light is to move."""
    return jnp.zeros(seen.board.shape).at[0, 0].set(seen.to_play == -1)


@pytest.mark.parametrize("edges", ["grid4", "grid8", "compass8"])
def test_directions_and_planes_of_a_game_reach_both_paths(edges):
    config = dataclasses.replace(SMALL, edges=edges)
    hexagonal = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))
    network, on_graphs = make_gin(config, 5, hexagonal, (corner_plane,)), make_graph_gin(config, num_planes=1)
    variables = noisy_variables(network)
    states, nodes = random_positions(2, [4, 5, 5], 5)
    features = node_features(states, config.features, (corner_plane,))
    np.testing.assert_array_equal(features[:, 0, -1], states.to_play == -1)
    assert not features[:, 1:, -1].any()
    logits, value, *_ = jax.jit(network.infer)(variables, states, nodes)
    graphs: Any = to_graphs_tuple(features, nodes, edges, hexagonal)
    graph_logits, graph_value, *_ = jax.jit(on_graphs.infer)(variables, graphs)
    np.testing.assert_allclose(from_graphs_tuple(graph_logits, nodes, MIN), logits, atol=1e-5)
    np.testing.assert_allclose(graph_value[:-1], value, atol=1e-5)
    square = jax.jit(make_gin(config, 5, planes=(corner_plane,)).infer)(variables, states, nodes)
    assert np.allclose(square.value, value, atol=1e-5) == (edges != "grid4")


@pytest.mark.parametrize("make", [make_cnn, make_fcn])
def test_planes_of_a_game_reach_the_convolutions(make):
    network = make(
        CNNConfig(side=5, channels=4, dense=(4, 4)) if make is make_cnn else FCNConfig(channels=4),
        5,
        planes=(corner_plane,),
    )
    states, nodes = random_positions(2, [5, 5], 5)
    variables = noisy_variables(network)
    seen = [states._replace(board=0 * states.board, to_play=jnp.full(2, who, jnp.int8)) for who in (1, -1)]
    dark, light = (jax.jit(network.infer)(variables, observations, nodes).value for observations in seen)
    assert (dark != light).all()


def test_the_two_paths_agree_while_training():
    config = dataclasses.replace(SMALL, dropout=0.0, edges="compass8")
    network, on_graphs = make_gin(config, 6), make_graph_gin(config)
    variables = noisy_variables(network)
    states, nodes = random_positions(2, [4, 6, 5], 6)
    graphs: Any = to_graphs_tuple(node_features(states, config.features), nodes, config.edges)
    key = jax.random.key(0)
    (_, value, *_), updated = jax.jit(network.fit)(variables, key, states, nodes)
    present = jraph.get_node_padding_mask(graphs)
    (_, graph_value, *_), graph_updated = jax.jit(on_graphs.fit)(variables, key, graphs, present)
    np.testing.assert_allclose(graph_value[:-1], value, atol=1e-5)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), updated, graph_updated)


@each_kind
def test_padding_changes_nothing(config):
    variables = noisy_variables(make_gin(config, 6))
    results = []
    for max_size in (6, 9, 13):
        states, nodes = random_positions(3, [6, 5], max_size)
        logits, value, *_ = jax.jit(make_gin(config, max_size).infer)(variables, states, nodes)
        lived = [live_logits(logits[b], size, max_size) for b, size in enumerate([6, 5])]
        results.append(np.concatenate([*lived, value]))
    np.testing.assert_allclose(results[1], results[0], atol=1e-5)
    np.testing.assert_allclose(results[2], results[0], atol=1e-5)


def test_embeddings_of_a_350x350_board_are_made_and_padding_to_it_changes_nothing():
    variables = noisy_variables(make_gin(SMALL, 9))
    embedded = {}
    for side in (9, 350):
        states, nodes = random_positions(3, [9], side)
        embedded[side] = np.asarray(jax.jit(make_gin(SMALL, side).embed)(variables, states, nodes))
    assert embedded[350].shape == (1, 350 * 350 + 1, SMALL.head)
    corner = embedded[350][0, :-1].reshape(350, 350, -1)[:9, :9].reshape(81, -1)
    np.testing.assert_allclose(corner, embedded[9][0, :-1], atol=1e-5)
    states, nodes = random_positions(3, [350], 350)
    whole = np.asarray(jax.jit(make_gin(SMALL, 350).embed)(variables, states, nodes))
    assert np.isfinite(whole).all()
    assert whole[0].std(0).max() > 0


def test_masked_batch_norm_has_the_statistics_of_unpadded_boards():
    config = dataclasses.replace(SMALL, dropout=0.0)
    variables = make_gin(config, 5).init(jax.random.key(0))
    updated = []
    for max_size in (5, 9):
        states, nodes = random_positions(4, [5, 5, 5], max_size)
        _, after = jax.jit(make_gin(config, max_size).fit)(variables, jax.random.key(0), states, nodes)
        updated.append(after["batch_stats"])
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), *updated)


def test_batch_norm_moves_a_tenth_towards_the_batch_when_fitting_and_is_frozen_when_inferring():
    config = dataclasses.replace(SMALL, dropout=0.0, layers=1)
    network = make_gin(config, 5)
    variables = jax.jit(network.init)(jax.random.key(0))
    states, nodes = random_positions(5, [5] * 8, 5)
    _, after = jax.jit(network.fit)(variables, jax.random.key(0), states, nodes)
    graphs: Any = to_graphs_tuple(node_features(states, config.features), nodes)
    layer = variables["params"]
    x = np.asarray(graphs.nodes)[: 8 * 26]
    expected = x + jraph.segment_sum(graphs.nodes[graphs.senders], graphs.receivers, len(x))
    x = np.maximum(expected @ layer["gin_0"]["first"]["kernel"], 0) @ layer["gin_0"]["second"]["kernel"]
    x = np.maximum((x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5), 0)
    x = x @ layer["dense_0"]["kernel"]
    np.testing.assert_allclose(after["batch_stats"]["norm_0"]["mean"], 0.1 * x.mean(0), atol=1e-5)
    np.testing.assert_allclose(after["batch_stats"]["norm_0"]["var"], 0.9 + 0.1 * x.var(0), atol=1e-5)

    infer = jax.jit(network.infer)
    one, many = (infer(after, *jax.tree.map(lambda x, n=n: x[:n], (states, nodes))) for n in (1, 8))
    np.testing.assert_allclose(one.value, many.value[:1], atol=1e-6)


def test_dropout_follows_its_key_and_is_off_when_inferring():
    network = make_gin(SMALL, 5)
    variables = jax.jit(network.init)(jax.random.key(0))
    states, nodes = random_positions(5, [5] * 4, 5)
    fit = jax.jit(network.fit)
    first, same, other = (fit(variables, jax.random.key(k), states, nodes)[0].value for k in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert np.abs(first - other).max() > 1e-4


@pytest.mark.parametrize("edges", ["grid4", "grid8"])
def test_the_untyped_network_turns_with_the_board(edges):
    check_symmetries(dataclasses.replace(SMALL, edges=edges), lambda variables, which: variables)


def test_the_typed_network_turns_with_the_board_if_its_relations_turn_too():
    def turned(variables, which):
        # What lay in direction d of a node lies in direction moved[d] after the turn.
        source = np.asarray(symmetry(INVERSE_SYMMETRY[which], 3, 3))
        moved = [COMPASS8.index(tuple(np.subtract(divmod(source[4 + 3 * r + c], 3), 1))) for r, c in COMPASS8]
        order = np.arange(11)
        order[moved] = np.arange(8)
        return jax.tree.map(lambda x: x[order] if x.ndim == 3 else x, variables)

    config = dataclasses.replace(SMALL, edges="compass8")
    check_symmetries(config, turned)
    with pytest.raises(AssertionError):
        check_symmetries(config, lambda variables, which: variables)


def check_symmetries(config, turn):
    """Logits of turned boards are the turned logits, at live side 4 of 5, with the weights `turn`ed along."""
    network = make_gin(config, 5)
    variables = noisy_variables(network)
    states, nodes = random_positions(6, [4], 5)
    logits, value, *_ = jax.jit(network.infer)(variables, states, nodes)
    infer = jax.jit(network.infer)
    for which in range(NUM_SYMMETRIES):
        source = symmetry(which, 4, 5)
        board = states.board.reshape(1, -1)[:, source[:-1]].reshape(1, 5, 5)
        turned = states._replace(board=board, legal=states.legal[:, source])
        turned_logits, turned_value, *_ = infer(turn(variables, which), turned, nodes)
        np.testing.assert_allclose(turned_logits, logits[:, source], atol=1e-5)
        np.testing.assert_allclose(turned_value, value, atol=1e-5)


@each_kind
@pytest.mark.parametrize("seed", [0, 1])
def test_the_numbering_of_nodes_in_random_graphs_does_not_matter(config, seed):
    rng = np.random.default_rng(seed)
    n_node, n_edge = np.array([7, 4]), np.array([20, 9])
    features = rng.normal(size=(11, NUM_FEATURES[config.features])).astype(np.float32)
    senders = np.concatenate([rng.integers(0, 7, 20), rng.integers(7, 11, 9)])
    receivers = np.concatenate([rng.integers(0, 7, 20), rng.integers(7, 11, 9)])
    types = rng.integers(0, 10, 29)
    arrays: Any = (features, types, receivers, senders, None, n_node, n_edge)
    graphs: Any = jraph.GraphsTuple(*arrays)
    order = np.concatenate([rng.permutation(7), 7 + rng.permutation(4)])
    place = np.argsort(order)
    renumbered = graphs._replace(nodes=features[order], senders=place[senders], receivers=place[receivers])

    variables = noisy_variables(make_gin(config, 1), seed)
    infer = jax.jit(make_graph_gin(config).infer)
    (logits, value, *_), (other_logits, other_value, *_) = (
        infer(variables, graphs),
        infer(variables, renumbered),
    )
    np.testing.assert_allclose(other_logits, logits[order], atol=1e-5)
    np.testing.assert_allclose(other_value, value, atol=1e-5)

    edges = list(zip(senders[:20], receivers[:20], types[:20], strict=True))
    expected, expected_value = gin(variables, config, features[:7], edges)
    np.testing.assert_allclose(logits[:7], expected, atol=1e-5)
    np.testing.assert_allclose(value[0], expected_value, atol=1e-5)

    padded: Any = jraph.pad_with_graphs(graphs, n_node=16, n_edge=40, n_graph=4)
    padded_logits, padded_value, *_ = infer(variables, padded, jraph.get_node_padding_mask(padded))
    np.testing.assert_allclose(padded_logits[:11], logits, atol=1e-5)
    np.testing.assert_allclose(padded_value[:2], value, atol=1e-5)


def test_equal_kernels_make_the_typed_network_the_untyped_one():
    untyped, typed = (make_gin(dataclasses.replace(SMALL, edges=e), 5) for e in ("grid8", "compass8"))
    variables = noisy_variables(untyped)
    layers = {name: dict(layer) for name, layer in variables["params"].items()}
    for name in ("gin_0", "gin_1", "gin_2"):
        first = layers[name].pop("first")
        layers[name] |= {"kernels": jnp.stack([first["kernel"]] * 11), "bias": first["bias"]}
    states, nodes = random_positions(7, [4, 5], 5)
    expected = jax.jit(untyped.infer)(variables, states, nodes)
    found = jax.jit(typed.infer)({**variables, "params": layers}, states, nodes)
    np.testing.assert_allclose(found.logits, expected.logits, atol=1e-5)


def test_a_large_batch_in_chunks_equals_its_positions_one_by_one():
    network = make_gin(SMALL, 9)
    variables = noisy_variables(network)
    states, nodes = random_positions(8, [9, 6, 7, 8] * 16, 9)
    jaxpr = str(jax.make_jaxpr(network.infer)(variables, states, nodes))
    assert "scan" in jaxpr, "the batch was meant to be large enough for chunks"
    logits, value, *_ = jax.jit(network.infer)(variables, states, nodes)
    few = jax.tree.map(lambda x: x[::9], (states, nodes))
    few_logits, few_value, *_ = jax.jit(network.infer)(variables, *few)
    np.testing.assert_allclose(logits[::9], few_logits, atol=1e-5)
    np.testing.assert_allclose(value[::9], few_value, atol=1e-5)


@pytest.mark.parametrize(
    ("size", "nodes", "pieces"), [(1, 30, 1), (2, 30, 2), (2, 5, 1), (5, 8, 3), (7, 5, 4), (64, 5, 32)]
)
def test_a_batch_has_as_many_chunks_as_fit_the_cache_but_none_without_an_item(size, nodes, pieces):
    seen = []

    def double(scale, x):
        seen.append(x.shape[0])
        return scale * x

    x = jnp.arange(3.0 * size).reshape(size, 3)
    found = in_chunks(double, 2.0, (x,), num_nodes=nodes, chunk_nodes=10)
    np.testing.assert_array_equal(found, 2 * x)
    assert set(seen) == {-(-size // pieces)}
    jaxpr = str(jax.make_jaxpr(lambda x: in_chunks(double, 2.0, (x,), num_nodes=nodes, chunk_nodes=10))(x))
    assert (f"length={pieces}" in jaxpr) == (pieces > 1)


@each_kind
def test_one_batch_can_be_learned_by_heart(config):
    network = make_gin(dataclasses.replace(config, hidden=32, head=32, dropout=0.0), 5)
    first, last = learns_by_heart(network, *random_positions(9, [5, 4] * 4, 5))
    assert last < 0.2 < 2 < first


def test_the_papers_network_has_the_papers_size_at_every_board_side():
    network = make_gin(GINConfig(), 9)
    variables = jax.eval_shape(network.init, jax.random.key(0))
    width, layers = 512, 3
    per_layer = [1 + (f * width + width) + (width * width + width) + 2 * width for f in (1, width, width)]
    dense = sum(f * width + width + 2 * width for f in (layers * width, width))
    heads = 2 * (width + 1)
    count = sum(x.size for x in jax.tree.leaves(variables["params"]))
    assert count == sum(per_layer) + dense + heads == 2_370_053
    for max_size in (9, 20):
        states, nodes = random_positions(0, [9], max_size)
        network = make_gin(GINConfig(), max_size)
        evaluation = jax.eval_shape(network.infer, variables, states, nodes)
        assert evaluation.logits.shape == (1, max_size**2 + 1)
        assert evaluation.value.shape == (1,)
        assert jax.eval_shape(network.embed, variables, states, nodes).shape == (1, max_size**2 + 1, 512)


def test_features_are_seen_by_the_player_to_move():
    states, _ = random_positions(0, [3], 3)
    swapped = states._replace(board=-states.board, to_play=-states.to_play)
    features = node_features(states, "stones_legal")
    np.testing.assert_array_equal(features, node_features(swapped, "stones_legal"))
    own = (states.board * states.to_play[:, None, None]).reshape(-1)
    np.testing.assert_array_equal(features[0, :, 0], np.append(own, 0))
    np.testing.assert_array_equal(features[0, :, 1], states.legal[0])


def test_a_network_that_is_told_whose_turn_it_is_tells_the_colours_apart():
    states, nodes = random_positions(0, [3, 4], 4)
    swapped = states._replace(board=-states.board, to_play=-states.to_play)
    features = node_features(states, "stones_legal_turn")
    np.testing.assert_array_equal(features[..., :2], node_features(states, "stones_legal"))
    np.testing.assert_array_equal(features[..., 2], np.repeat(states.to_play[:, None], 17, axis=1))
    for kind, apart in (("stones_legal", False), ("stones_legal_turn", True)):
        network = make_gin(dataclasses.replace(SMALL, features=kind), 4)
        variables = noisy_variables(network)
        values = [network.infer(variables, x, nodes).value for x in (states, swapped)]
        assert np.all((values[0] != values[1]) == apart)


@pytest.mark.parametrize("platform", ["cpu", "cuda", "tpu"])
@pytest.mark.parametrize("edges", ["grid4", "compass8"])
def test_it_lowers_for_every_platform(platform, edges):
    network = make_gin(dataclasses.replace(SMALL, edges=edges), 9)
    variables = jax.jit(network.init)(jax.random.key(0))
    states, nodes = random_positions(8, [9] * 64, 9)
    exported = jax.export.export(jax.jit(network.infer), platforms=[platform])(variables, states, nodes)
    assert exported.platforms == (platform,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": "grid6"}, "GINConfig.edges='grid6' is unknown; choose one of grid4, grid8, compass8"),
        ({"layers": 0}, "GINConfig.layers=0 is no size"),
        ({"dropout": 1.0}, "GINConfig.dropout=1.0 is no rate"),
    ],
)
def test_bad_settings_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        make_gin(dataclasses.replace(SMALL, **change), 5)
    with pytest.raises(ValueError, match=message):
        make_graph_gin(dataclasses.replace(SMALL, **change))


def test_weights_of_another_network_are_refused():
    states, nodes = random_positions(0, [5], 5)
    network = make_gin(SMALL, 5)
    for change in ({"hidden": 8}, {"features": "stones"}, {"edges": "compass8"}, {"layers": 2}):
        weights = make_gin(dataclasses.replace(SMALL, **change), 5).init(jax.random.key(0))
        for call in (network.infer, network.embed):
            with pytest.raises(ValueError, match=r"these weights belong to another network: .*params/"):
                call(weights, states, nodes)


def test_boards_and_graphs_of_the_wrong_shape_are_refused():
    network, on_graphs = make_gin(SMALL, 5), make_graph_gin(KINDS[1])
    variables = jax.jit(network.init)(jax.random.key(0))
    states, nodes = random_positions(0, [5], 6)
    with pytest.raises(ValueError, match=r"boards have shape \(1, 6, 6\); this network reads \[B, 5, 5\]"):
        network.infer(variables, states, nodes)
    states, nodes = random_positions(0, [5], 5)
    with pytest.raises(ValueError, match=r"use bool\[1, 26\]"):
        network.infer(variables, states, nodes[:, :-1])
    graphs: Any = to_graphs_tuple(node_features(states, "stones"), nodes)
    with pytest.raises(ValueError, match=r"'stones_legal' takes \[nodes, 2\]"):
        on_graphs.infer(variables, graphs)
    graphs: Any = to_graphs_tuple(node_features(states, "stones_legal"), nodes)._replace(edges=None)
    with pytest.raises(ValueError, match="edges is None"):
        on_graphs.infer(variables, graphs)
