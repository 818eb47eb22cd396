"""The models by name: whole board, subgraphs, sliding window; priors, values, and what is refused."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.config import CNNConfig, FCNConfig, GINConfig, ModelConfig, SubgraphConfig
from saz_jax.config.registry import MODELS
from saz_jax.graphs.subgraphs import sample_subgraphs
from saz_jax.graphs.topology import live_nodes
from saz_jax.models.evaluators import sliding_window, subgraph_ensemble, whole_board
from saz_jax.models.registry import check_sizes, make_model
from saz_jax.types import Evaluation, Network
from tests.oracles import subgraphs as oracle

SIDE = 5
SMALL = {
    "gin": GINConfig(layers=1, hidden=8, head=8),
    "cnn": CNNConfig(side=SIDE, channels=4, dense=(8, 8)),
    "fcn": FCNConfig(blocks=1, channels=4),
}
LOWEST = jnp.finfo(jnp.float32).min


def named(name):
    return ModelConfig(name, SMALL[MODELS.find(name).network])


@functools.partial(jax.jit, static_argnames=("game", "moves"))
def positions(game, sizes, moves=3):
    """One position per live side, after a few arbitrary moves; padding does not change them."""

    def play(move, state):
        live_index = jnp.cumsum(live_nodes(state))
        taste = jnp.sin((move + 2.0) * live_index)
        return game.step(state, jnp.argmax(jnp.where(state.legal, taste, -2)))

    return jax.vmap(lambda size: jax.lax.fori_loop(0, moves, play, game.init(size)))(jnp.asarray(sizes))


def some(states, which):
    return jax.tree.map(lambda x: x[jnp.array(which)], states)


def to_live(x, size, max_size):
    """Node values [V] of a padded board on the live board, [n * n + 1]."""
    x = np.asarray(x)
    return np.append(x[:-1].reshape(max_size, max_size)[:size, :size].reshape(-1), x[-1])


def counting_network(passes: list | None = None):
    """A network without weights whose answer depends on stones, on their place and on how many nodes it sees.

    Every pass is appended to the list `passes`.
    """

    def infer(variables, states, nodes):
        batch, side = states.board.shape[:2]
        row, column = jnp.divmod(jnp.arange(side * side), side)
        place = jnp.append(jnp.cos(1.0 + row * 1.7 + column * 0.9), 0.3)
        stones = jnp.pad(states.board.reshape(batch, -1), ((0, 0), (0, 1)))
        share = nodes.sum(axis=1) / 7.0
        logits = variables * place[None, :] + stones + jnp.sin(place[None, :] * share[:, None])
        if passes is not None:
            jax.debug.callback(passes.append, share)
        value = jnp.tanh(jnp.where(nodes, logits, 0).mean(axis=1) + stones.sum(axis=1))
        return Evaluation(jnp.where(nodes, logits, LOWEST), value)

    def unused(*_):
        raise AssertionError("evaluators only infer")

    return Network(unused, infer, unused, unused)


@pytest.fixture(scope="module")
def gomoku():
    return make_game("gomoku", max_size=7, k=4)


@functools.cache
def evaluated(name, sizes, max_size=8):
    """(model, variables, states, evaluation) of a small model with fresh weights; the last state may pass."""
    game = make_game("othello", max_size=max_size)
    model = make_model(named(name), game)
    variables = jax.jit(model.network.init)(jax.random.key(1))
    states = positions(game, sizes)
    states = states._replace(legal=states.legal.at[-1, -1].set(True))
    return model, variables, states, jax.jit(model.evaluate)(variables, jax.random.key(2), states)


def sizes_of(name):
    return (SIDE, SIDE) if name == "model1" else (5, 6, 8)


@pytest.mark.parametrize("name", MODELS.names())
def test_every_model_gives_a_prior_over_legal_moves_and_a_value(name):
    _, _, states, (logits, value, *_) = evaluated(name, sizes_of(name))
    assert jnp.isfinite(logits).all()
    assert (logits[~states.legal] == LOWEST).all()
    assert (logits[-1, -1] > LOWEST) & (logits[0, -1] == LOWEST)
    np.testing.assert_allclose(jnp.exp(logits).sum(axis=1), 1, rtol=1e-5)
    assert (jnp.abs(value) <= 1).all()


@pytest.mark.parametrize("name", ["saz", "model1", "model3", "model5", "fcn"])
def test_padding_changes_nothing(name):
    sizes = sizes_of(name)
    _, _, _, small = evaluated(name, sizes)
    _, _, _, large = evaluated(name, sizes, max_size=9)
    np.testing.assert_allclose(small.value, large.value, atol=1e-5)
    for near, far, size in zip(small.logits, large.logits, sizes, strict=True):
        np.testing.assert_allclose(to_live(near, size, 8), to_live(far, size, 9), atol=1e-5)


@pytest.mark.parametrize("name", ["saz", "model4", "model5"])
def test_a_mixed_batch_equals_its_states_alone(name):
    """Subgraphs go by the place in the batch, so each state keeps its place among copies of itself."""
    model, variables, states, mixed = evaluated(name, sizes_of(name))
    evaluate = jax.jit(model.evaluate)
    for place in range(len(states.size)):
        alone = evaluate(variables, jax.random.key(2), some(states, [place] * len(states.size)))
        np.testing.assert_allclose(alone.logits[place], mixed.logits[place], atol=1e-5)
        np.testing.assert_allclose(alone.value[place], mixed.value[place], atol=1e-5)


def test_model2_is_saz_and_model3_is_the_network_alone():
    _, _, _, saz = evaluated("saz", sizes_of("saz"))
    _, _, _, model2 = evaluated("model2", sizes_of("saz"))
    model3, variables, states, alone = evaluated("model3", sizes_of("saz"))
    assert (saz.logits == model2.logits).all()
    full = model3.network.infer(variables, states, jax.vmap(live_nodes)(states))
    expected = jax.nn.log_softmax(jnp.where(states.legal, full.logits, LOWEST))
    np.testing.assert_allclose(alone.logits[states.legal], expected[states.legal], atol=1e-5)
    np.testing.assert_allclose(alone.value, full.value, atol=1e-6)
    assert not np.allclose(saz.logits, alone.logits, atol=1e-4)


@pytest.mark.parametrize("name", ["saz", "model4"])
def test_the_value_is_that_of_the_whole_board(name):
    _, _, _, alone = evaluated("model3", sizes_of(name))
    _, _, _, ensemble = evaluated(name, sizes_of(name))
    np.testing.assert_allclose(ensemble.value, alone.value, atol=1e-6)


@pytest.mark.parametrize(
    "config",
    [
        SubgraphConfig(),
        SubgraphConfig(combine="mean", pool="max", shrink=2),
        SubgraphConfig(combine="only", nodes="window", largest="m+1"),
    ],
    ids=str,
)
def test_the_ensemble_equals_a_loop_over_its_subgraphs(gomoku, config):
    network, weight, key = counting_network(), 2.0, jax.random.key(4)
    states = positions(gomoku, (5, 7, 4))
    logits, value, *_ = jax.jit(subgraph_ensemble(network, config, 7))(weight, key, states)
    sample = jax.jit(functools.partial(sample_subgraphs, config=config, max_size=7))
    for which in range(3):
        one = some(states, [which])
        nodes = live_nodes(jax.tree.map(lambda x: x[0], one))
        drawn = sample(jax.random.fold_in(key, which), nodes)
        drawn = [subgraph for subgraph in drawn if subgraph.any()]
        assert len(drawn) == round(int(one.size[0]) / 2)
        full, *asked = [network.infer(weight, one, mask[None]) for mask in (nodes, *drawn)]
        priors = [
            oracle.softmax(answer.logits[0].tolist(), mask.tolist())
            for answer, mask in zip(asked, drawn, strict=True)
        ]
        p2 = oracle.scatter(priors, drawn, {"mean": oracle.mean, "max": max}[config.pool])
        p1 = oracle.softmax(full.logits[0].tolist(), nodes.tolist())
        expected = oracle.combine(p1, p2, one.legal[0].tolist(), config.combine)
        np.testing.assert_allclose(jnp.exp(logits[which]), expected, atol=1e-5)
        np.testing.assert_allclose(value[which], full.value[0], atol=1e-5)


def test_model4_does_not_search_a_move_that_no_subgraph_drew(gomoku):
    config, key = SubgraphConfig(shrink=3, combine="only"), jax.random.key(0)
    states = positions(gomoku, (5, 5))
    logits, *_ = jax.jit(subgraph_ensemble(counting_network(), config, 7))(2.0, key, states)
    sample = jax.jit(functools.partial(sample_subgraphs, config=config, max_size=7))
    for which, nodes in enumerate(jax.vmap(live_nodes)(states)):
        drawn = sample(jax.random.fold_in(key, which), nodes).any(axis=0)
        assert (states.legal[which] & ~drawn).any(), "two subgraphs of at most 4 points leave most undrawn"
        assert ((logits[which] > LOWEST) == (states.legal[which] & drawn)).all()


def test_memory_does_not_grow_with_the_number_of_subgraphs(gomoku):
    states, needed = positions(gomoku, (7, 5), moves=0), []
    for per_side in (0.5, 50.0):
        evaluate = subgraph_ensemble(counting_network(), SubgraphConfig(per_side=per_side), 7)
        compiled: Any = jax.jit(evaluate).lower(2.0, jax.random.key(0), states).compile()
        needed.append(compiled.memory_analysis().temp_size_in_bytes)
    assert needed[1] < 2 * needed[0]


def test_small_boards_do_not_pay_for_padding():
    passes = []
    game = make_game("gomoku", max_size=13)
    evaluate = jax.jit(subgraph_ensemble(counting_network(passes), SubgraphConfig(), 13))
    for sizes, expected in (((5, 5), 1 + 2), ((5, 9), 1 + 4), ((13, 5), 1 + 6)):
        passes.clear()
        jax.block_until_ready(evaluate(2.0, jax.random.key(0), positions(game, sizes, moves=0)))
        jax.effects_barrier()
        assert len(passes) == expected


def test_subgraphs_differ_between_states_and_between_keys(gomoku):
    evaluate = jax.jit(subgraph_ensemble(counting_network(), SubgraphConfig(), 7))
    states = positions(gomoku, (7, 7), moves=0)
    first, again, other = (evaluate(2.0, jax.random.key(seed), states).logits for seed in (0, 0, 1))
    assert (first == again).all()
    assert not np.allclose(first[0], first[1], atol=1e-6)
    assert not np.allclose(first[0], other[0], atol=1e-6)


def test_the_sliding_window_equals_a_loop_over_all_sub_boards(gomoku):
    network, sizes, side = counting_network(), (7, 4, 5), 4
    states = positions(gomoku, sizes, moves=6)
    logits, value, *_ = jax.jit(sliding_window(network, side))(2.0, jax.random.key(0), states)
    template = some(states, [0])

    def ask(sub_board):
        state = template._replace(board=jnp.array([sub_board], jnp.int8), size=jnp.array([side]))
        nodes = jnp.ones((1, side * side + 1), bool)
        answer = network.infer(2.0, state, nodes)
        return oracle.softmax(answer.logits[0].tolist(), nodes[0].tolist()), float(answer.value[0])

    for which, size in enumerate(sizes):
        board = np.asarray(states.board[which])[:size, :size].tolist()
        prior, expected_value = oracle.slide(board, side, ask)
        legal = to_live(states.legal[which], size, 7)
        expected = oracle.combine(prior, prior, legal, "only")
        np.testing.assert_allclose(to_live(jnp.exp(logits[which]), size, 7), expected, atol=1e-5)
        np.testing.assert_allclose(value[which], expected_value, atol=1e-5)


def test_a_window_as_large_as_the_board_is_the_plain_cnn():
    _, _, _, model1 = evaluated("model1", (SIDE, SIDE))
    _, _, _, model5 = evaluated("model5", (SIDE, SIDE))
    np.testing.assert_allclose(model5.logits, model1.logits, atol=1e-5)
    np.testing.assert_allclose(model5.value, model1.value, atol=1e-6)


def test_the_small_cnn_learns_from_padded_boards_of_its_side():
    model, variables, states, plain = evaluated("model5", (SIDE, SIDE))
    nodes = jax.vmap(live_nodes)(states)
    logits, value, *_ = jax.jit(model.network.infer)(variables, states, nodes)
    np.testing.assert_allclose(value, plain.value, atol=1e-6)
    np.testing.assert_allclose(
        jax.nn.log_softmax(jnp.where(states.legal, logits, LOWEST))[states.legal],
        plain.logits[states.legal],
        atol=1e-5,
    )
    _, updated = jax.jit(model.network.fit)(variables, jax.random.key(0), states, nodes)
    assert jax.tree.structure(updated) == jax.tree.structure(variables)


def test_one_compilation_serves_all_sizes(gomoku):
    traces = []
    inner = whole_board(counting_network())

    @jax.jit
    def evaluate(states):
        traces.append(1)
        return inner(2.0, jax.random.key(0), states)

    for size in (4, 5, 7):
        evaluate(positions(gomoku, (size,), moves=0))
    assert len(traces) == 1


def test_equal_settings_give_the_same_model(gomoku):
    assert make_model(named("model3"), gomoku) is make_model(named("model3"), gomoku)


def test_the_sizes_of_a_model_follow_from_its_parts():
    game = make_game("gomoku", max_size=9)
    sizes = {name: make_model(named(name), game).sizes for name in MODELS.names()}
    assert sizes == {
        "saz": (3, None),
        "model1": (SIDE, SIDE),
        "model2": (3, None),
        "model3": (1, None),
        "model4": (3, None),
        "model5": (SIDE, None),
        "fcn": (1, None),
    }


@pytest.mark.parametrize(
    ("name", "size", "limits"),
    [("saz", 2, "3 or more"), ("model1", 6, "5 to 5"), ("model1", 4, "5 to 5"), ("model5", 4, "5 or more")],
)
def test_a_size_that_the_model_cannot_play_is_refused(name, size, limits):
    model = make_model(named(name), make_game("othello", max_size=8))
    with pytest.raises(ValueError, match=f"{name} cannot play on board side {size}; it plays sides {limits}"):
        check_sizes(model, (5, size))
    check_sizes(model, (5,))


def test_evaluating_refuses_a_wrong_size_or_padding_before_tracing():
    model, variables, states, _ = evaluated("model1", (SIDE, SIDE))
    with pytest.raises(ValueError, match="model1 cannot play on board side 6"):
        model.evaluate(variables, jax.random.key(0), positions(make_game("othello", max_size=8), (6, 5)))
    with pytest.raises(ValueError, match=r"shape \(2, 9, 9\); model1 reads \(batch, 8, 8\)"):
        model.evaluate(variables, jax.random.key(0), positions(make_game("othello", max_size=9), (5, 5)))
    with pytest.raises(ValueError, match=r"shape \(8, 8\); model1 reads \(batch, 8, 8\)"):
        model.evaluate(variables, jax.random.key(0), jax.tree.map(lambda x: x[0], states))


def test_unknown_models_and_impossible_settings_are_refused():
    game = make_game("gomoku", max_size=4, k=3)
    with pytest.raises(ValueError, match="unknown model 'model9'; choose one of fcn, model1"):
        make_model(ModelConfig(name="model9"), game)
    with pytest.raises(ValueError, match="max_size=4; raise max_size"):
        make_model(ModelConfig("saz", ensemble=SubgraphConfig(shrink=3)), game)
    with pytest.raises(ValueError, match="per_side=0"):
        make_model(ModelConfig("model4", ensemble=SubgraphConfig(per_side=0)), game)
    for name in ("model1", "model5"):
        with pytest.raises(ValueError, match="side 5 exceeds max_size=4"):
            make_model(named(name), game)
