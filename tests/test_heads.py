"""Heads beside policy and value: right targets, learned by heart, alike on boards and graphs."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import FCNConfig, GINConfig, LearnerConfig, ModelConfig, SearchConfig, SelfPlayConfig
from saz_jax.games import make_game
from saz_jax.games.board import symmetry
from saz_jax.graphs.topology import live_nodes, observe, to_graphs_tuple
from saz_jax.models.registry import make_model
from saz_jax.networks.fcn import make_fcn
from saz_jax.networks.features import node_features
from saz_jax.networks.gin import make_gin, make_graph_gin
from saz_jax.networks.readout import expected
from saz_jax.training import devices
from saz_jax.training.iteration import as_positions
from saz_jax.training.learner import as_batch, make_learner, transformed
from saz_jax.training.replay import Positions, release
from saz_jax.training.selfplay import make_new_games, make_play
from tests.positions import noisy_variables
from tests.test_selfplay import uniform

HEADS = ("ownership", "reply", "soft")
GIN = GINConfig(
    layers=2, hidden=16, head=16, edges="compass8", norm="layer", dropout=0.0, reply=True, soft=True
)
OWNERSHIP = dataclasses.replace(GIN, readout="ownership")
FCN = FCNConfig(blocks=2, channels=16, readout="ownership", reply=True, soft=True)
NETWORKS = {"gin": (make_gin, OWNERSHIP), "fcn": (make_fcn, FCN)}


@functools.cache
def self_play(name, side, moves, sizes=None, games=8, chunk=None, **options):
    """(game, finished positions, the record) of self-play by somebody who knows nothing."""
    game = make_game(name, side, **options)
    sizes = sizes or (side,)
    search, config = SearchConfig(kind="gumbel", simulations=4), SelfPlayConfig(games=games)
    play = make_play(game, uniform, search, config, sizes, moves, devices.make_mesh(), ownership=True)
    states = jax.jit(make_new_games(game, sizes, SelfPlayConfig(favour="none")), static_argnums=1)(
        jax.random.key(0), games
    )
    _, record = jax.device_get(play({}, jax.random.key(1), states))
    pending, ended = Positions.blank(side, heads=HEADS), []
    chunk = chunk or moves
    for start in range(0, moves, chunk):
        part = jax.tree.map(lambda x, start=start: x[start : start + chunk], record)
        released, pending = release(
            pending, as_positions(part, HEADS), part.ended, part.outcome, part.ownership
        )
        ended.append(released)
    return game, Positions.join(ended), record


@pytest.mark.parametrize(
    ("name", "side", "sizes", "moves", "options"),
    [
        ("othello", 4, (4,), 40, {}),
        ("gomoku", 5, (4, 5), 24, {"k": 4}),
        ("go", 4, (3, 4), 40, {"komi": 0.5}),
        ("hex", 4, (3, 4), 24, {}),
    ],
)
def test_ownership_is_that_of_the_final_board_seen_by_the_player_to_move(name, side, sizes, moves, options):
    """Through passes, for both colours and for games that end some calls later."""
    _, ended, record = self_play(name, side, moves, sizes, chunk=3, **options)
    assert ended.ownership is not None
    games = 0
    for lane in range(record.ended.shape[1]):
        ours: Any = ended.take(ended.lane == lane)
        stops = np.nonzero(record.ended[:, lane])[0]
        for stop, positions in zip(
            stops, np.split(np.arange(len(ours.lane)), stops[:-1] + 1)[: len(stops)], strict=True
        ):
            final = record.ownership[stop, lane]
            sign = ours.observation.to_play[positions].astype(np.float32)
            np.testing.assert_array_equal(ours.ownership[positions], final[None] * sign[:, None, None])
            live = record.observation.size[stop, lane]
            assert not final[live:].any()
            assert not final[:, live:].any()
            assert np.abs(final).max() <= 1
            komi = options.get("komi", 0)
            assert np.sign(final.sum() - komi) == record.outcome[stop, lane]
            games += 1
    assert games > 8


def test_ownership_of_gomoku_is_the_winning_line():
    game = make_game("gomoku", 6, k=4)
    board = np.zeros((6, 6), np.int8)
    board[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]] = -1  # five are a line of four, too
    board[5, :3] = board[0, 2:4] = 1
    state = game.setup(jnp.asarray(board), 6, 1)
    assert state.terminated
    assert game.ownership is not None
    np.testing.assert_array_equal(game.ownership(state), np.where(board < 0, -1, 0))


def test_the_reply_is_the_next_policy_of_the_same_game():
    _, ended, record = self_play("gomoku", 4, 24, k=3, chunk=5)
    for lane in range(record.ended.shape[1]):
        ours = ended.take(ended.lane == lane)
        last = np.nonzero(record.ended[:, lane])[0]
        expected = np.zeros_like(record.policy[:, lane])
        expected[:-1] = np.where(record.ended[:-1, lane, None], 0, record.policy[1:, lane])
        np.testing.assert_array_equal(ours.reply, expected[: last[-1] + 1])


def test_positions_without_heads_are_stored_as_before_and_those_with_them_come_back():
    plain, full = Positions.blank(3, 2), Positions.blank(3, 2, HEADS)
    assert not {"ownership", "reply"} & plain.columns().keys()
    for positions in (plain, full):
        again = Positions.from_columns(positions.columns())
        jax.tree.map(np.testing.assert_array_equal, again, positions)


@pytest.mark.parametrize("which", range(8))
def test_ownership_and_reply_turn_with_the_board(which):
    _, ended, _ = self_play("othello", 5, 24, (4,))
    one: Any = jax.tree.map(lambda x: jnp.asarray(x[3]), as_batch(ended))
    turned: Any = jax.jit(transformed)(one, jnp.int32(which))
    source = np.asarray(symmetry(which, 4, 5))
    np.testing.assert_array_equal(
        np.asarray(turned.ownership).reshape(-1), np.asarray(one.ownership).reshape(-1)[source[:-1]]
    )
    np.testing.assert_array_equal(turned.reply, np.asarray(one.reply)[source])


@pytest.mark.parametrize("name", NETWORKS)
def test_all_heads_are_learned_by_heart(name):
    make, config = NETWORKS[name]
    _, ended, _ = self_play("othello", 4, 16, games=4)
    batch = as_batch(jax.tree.map(lambda x: x[:8], ended))
    network = make(config, 4)
    assert network.heads == HEADS
    init, step = make_learner(network, LearnerConfig(learning_rate=1e-2, policy_over="legal"))
    step, state = jax.jit(step), init(jax.jit(network.init)(jax.random.key(0)))
    losses = []
    for i in range(600):
        state, loss = step(state, jax.random.key(i), batch)
        losses.append(loss)
    assert losses[-1].value < 0.1 < losses[0].value
    assert set(losses[0].heads) == {"ownership", "score", "reply", "soft"}
    assert losses[-1].heads["ownership"] < 0.5 * losses[0].heads["ownership"]
    assert losses[-1].heads["reply"] < losses[0].heads["reply"]
    assert losses[-1].heads["soft"] < losses[0].heads["soft"]
    nodes = jax.vmap(live_nodes)(batch.observation)
    said: Any = jax.jit(network.infer)(state.variables, batch.observation, nodes)
    assert np.mean(np.sign(said.ownership) == batch.ownership) > 0.75
    np.testing.assert_allclose(said.score, said.ownership.sum((1, 2)), rtol=1e-4, atol=1e-4)


@functools.cache
def after_three_moves(side):
    """A batch of one position of Othello on 4x4, on boards of that padded side."""
    game = make_game("othello", side)
    state, step = jax.jit(game.init)(4), jax.jit(game.step)
    for _ in range(3):
        state = step(state, jnp.argmax(state.legal))
    return jax.tree.map(lambda x: x[None], observe(state))


@pytest.mark.parametrize(
    ("readout", "outcomes"),
    [(readout, False) for readout in ("mean", "dummy", "scaled", "max", "ownership")] + [("ownership", True)],
)
def test_every_readout_is_the_same_on_boards_and_graphs_and_blind_to_padding(readout, outcomes):
    config = dataclasses.replace(GIN, readout=readout, ownership=True, outcomes=outcomes)
    variables = noisy_variables(make_gin(config, 4))  # neither biases nor certainty are 0
    said: dict[int, Any] = {}
    on_graph: Any = None
    for side in (4, 6):
        seen = after_three_moves(side)
        nodes = jax.vmap(live_nodes)(seen)
        said[side] = jax.jit(make_gin(config, side).infer)(variables, seen, nodes)
        if side == 4:
            graphs = to_graphs_tuple(node_features(seen, config.features), nodes, config.edges)
            on_graph = jax.jit(make_graph_gin(config).infer)(variables, graphs)
    np.testing.assert_allclose(said[4].value, said[6].value, atol=1e-5)
    np.testing.assert_allclose(said[4].ownership, said[6].ownership[:, :4, :4], atol=1e-5)
    assert not said[6].ownership[:, 4:].any()
    np.testing.assert_allclose(said[4].score, said[6].score, atol=1e-4)
    # The last graph is padding.
    np.testing.assert_allclose(on_graph.value[:-1], said[4].value, atol=1e-5)
    np.testing.assert_allclose(on_graph.ownership[:16], said[4].ownership.reshape(-1), atol=1e-5)
    np.testing.assert_allclose(on_graph.score[:-1], said[4].score, atol=1e-4)
    np.testing.assert_allclose(on_graph.reply[:17], said[4].reply[0], atol=1e-4)
    if outcomes:
        np.testing.assert_allclose(said[4].outcomes, said[6].outcomes, atol=1e-5)
        np.testing.assert_allclose(on_graph.outcomes[:-1], said[4].outcomes, atol=1e-5)


@pytest.mark.parametrize("readout", ["pooled", "ownership"])
def test_the_chances_of_the_rival_are_blind_to_padding(readout):
    config = dataclasses.replace(FCN, readout=readout, outcomes=True)
    variables, said = noisy_variables(make_fcn(config, 4)), []
    for side in (4, 6):
        seen = after_three_moves(side)
        said.append(jax.jit(make_fcn(config, side).infer)(variables, seen, jax.vmap(live_nodes)(seen)))
    np.testing.assert_allclose(said[0].outcomes, said[1].outcomes, atol=1e-5)
    chances = np.exp(said[0].outcomes)
    np.testing.assert_allclose(chances.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(said[0].value, chances[:, 0] - chances[:, 2], atol=1e-6)


def test_without_ties_the_value_of_the_chances_is_that_of_the_advantage():
    advantage = jnp.array([-2.0, 0.0, 0.3, 5.0])
    plain, nothing = expected(advantage, None)
    assert nothing is None
    np.testing.assert_allclose(expected(advantage, jnp.full(4, -1e9))[0], plain, atol=1e-6)
    value, outcomes = expected(advantage, jnp.full(4, 1e9))
    np.testing.assert_allclose(value, 0)
    assert outcomes is not None
    assert outcomes[:, 1].tolist() == [0.0] * 4


@pytest.mark.parametrize("name", NETWORKS)
def test_heads_leave_the_weights_of_all_others_as_they_were(name):
    make, config = NETWORKS[name]
    plain = dataclasses.replace(config, readout=type(config)().readout, reply=False, soft=False)
    before, after = (jax.jit(make(c, 4).init)(jax.random.key(0))["params"] for c in (plain, config))
    assert make(plain, 4).heads == ()
    for path, leaf in jax.tree_util.tree_leaves_with_path(before):
        if "value" in path[0].key and name == "fcn":
            continue  # the head that the ownership replaces
        found = after
        for key in path:
            found = found[key.key]
        np.testing.assert_array_equal(found, leaf)


@pytest.mark.parametrize("model", ["saz", "model3"])
def test_an_evaluation_tells_the_ownership(model):
    game = make_game("othello", 6)
    built = make_model(ModelConfig(model, OWNERSHIP), game)
    states = jax.jit(jax.vmap(game.init))(jnp.array([6, 5]))
    variables = jax.jit(built.network.init)(jax.random.key(0))
    said: Any = jax.jit(built.evaluate)(variables, jax.random.key(1), states)
    assert said.ownership.shape == (2, 6, 6)
    alone: Any = jax.jit(built.network.infer)(variables, observe(states), jax.vmap(live_nodes)(states))
    np.testing.assert_allclose(said.ownership, alone.ownership, atol=1e-6)
    np.testing.assert_allclose(said.score, alone.score, atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_komi_counts_against_dark_and_for_light(name):
    """Fresh ownership is 0 everywhere, so the value is that of the komi alone."""
    make, config = NETWORKS[name]
    network = make(dataclasses.replace(config, features="stones_legal_margin"), 6)
    game = make_game("go", 6, komi=3.0)
    states = jax.jit(jax.vmap(game.init))(jnp.array([6, 4]))
    states = jax.tree.map(
        lambda *x: jnp.concatenate(x), states, jax.jit(jax.vmap(game.step))(states, jnp.array([36, 36]))
    )
    np.testing.assert_array_equal(states.margin, [-3.0] * 4)
    variables = jax.jit(network.init)(jax.random.key(0))
    said = jax.jit(network.infer)(variables, observe(states), jax.vmap(live_nodes)(states))
    slope = np.log(2)  # softplus(0)
    expected = np.tanh(slope * np.array([-3 / 6, -3 / 4, 3 / 6, 3 / 4]))
    np.testing.assert_allclose(said.value, expected, atol=1e-5)
    np.testing.assert_allclose(said.score, 0, atol=1e-6)  # area alone
