"""The synthetic Othello boards, under two sets of rules, and what is made of their embeddings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saz_jax import make_game
from saz_jax.config import GINConfig
from saz_jax.graphs.topology import live_nodes
from saz_jax.models.registry import make_model
from saz_jax.studies.embedding import PADDING, action_embeddings, principal_components, separability
from saz_jax.studies.synthetic import good_and_bad, synthetic_board
from tests.oracles.othello import Othello
from tests.tiny_agents import tiny_agent


def column(size):
    """The points between the two corners of the first column."""
    return {(row, 0) for row in range(1, size - 1)}


@pytest.mark.parametrize("size", range(6, 351))
def test_the_good_action_turns_the_whole_first_column_and_the_bad_one_nothing(size):
    board = synthetic_board(size)
    stones = {(int(r), int(c)): int(board[r, c]) for r, c in np.argwhere(board)}
    oracle = Othello(size, stones)
    good, bad = (divmod(action, size) for action in good_and_bad(size))
    assert (good, bad) == ((0, 0), (size - 1, size - 1))
    assert good not in stones
    assert bad not in stones
    assert set(oracle.turned(good, 1)) == column(size)
    assert oracle.turned(bad, 1) == []


def test_the_game_itself_agrees_on_padded_boards():
    game, sizes = make_game("othello", 20), range(6, 21)
    boards = np.stack([synthetic_board(size, 20) for size in sizes])
    good, bad = np.array([good_and_bad(size, 20) for size in sizes]).T

    @jax.jit
    @jax.vmap
    def follow(board, size, good, bad):
        state = game.setup(board, size, jnp.int8(1))
        return state.legal[good], state.legal[bad], state.legal.sum(), game.step(state, good).board

    good_legal, bad_legal, legal, after = follow(boards, np.array(sizes), good, bad)
    assert good_legal.all()
    assert not bad_legal.any()
    assert (legal == 1).all(), "the good action is the only one"
    for size, board in zip(sizes, after, strict=True):
        assert (board[:size, 0] == 1).all()
        assert board.sum() == size


@pytest.mark.slow
def test_the_game_itself_agrees_on_the_largest_board():
    game, size = make_game("othello", 350), 350
    state = jax.jit(game.setup)(synthetic_board(size), size, 1)
    assert np.flatnonzero(state.legal).tolist() == [0]
    assert (jax.jit(game.step)(state, 0).board[:, 0] == 1).all()


def test_padding_adds_only_free_points():
    padded = synthetic_board(8, 20)
    assert (padded[:8, :8] == synthetic_board(8)).all()
    assert np.abs(padded).sum() == np.abs(synthetic_board(8)).sum()
    assert good_and_bad(8, 20) == (0, 7 * 20 + 7)


@pytest.mark.parametrize(("size", "side"), [(5, 5), (9, 8)])
def test_boards_that_do_not_exist_are_refused(size, side):
    with pytest.raises(ValueError, match=f"no synthetic board of side {size}"):
        synthetic_board(size, side)


def test_embeddings_are_the_networks_own_whatever_the_padding():
    agent = tiny_agent("othello", "model3", (6,), gin=GINConfig(layers=2, hidden=8, head=8))
    heard = []
    found = action_embeddings(agent, (6, 9), heard.append)
    assert found.shape == (2, 2, 8)
    assert heard == [1, 2]
    assert PADDING > 9
    game = agent.game(9)
    network = make_model(agent.model, game).network
    for row, size in zip(found, (6, 9), strict=True):
        state = jax.jit(game.setup)(synthetic_board(size, 9), size, 1)
        states = jax.tree.map(lambda x: x[None], state)
        direct = network.embed(agent.variables, states, jax.vmap(live_nodes)(states))[0]
        np.testing.assert_allclose(row, direct[np.array(good_and_bad(size, 9))], atol=1e-4)


def test_points_on_a_line_have_one_component_and_keep_their_distances():
    line = np.arange(6.0).reshape(3, 2, 1) * np.array([3.0, 0.0, 4.0])[None, None]
    projected, shares = principal_components(line)
    assert projected.shape == (3, 2, 2)
    np.testing.assert_allclose(shares, [1, 0], atol=1e-12)
    np.testing.assert_allclose(projected[..., 0].ravel(), 5 * (np.arange(6) - 2.5))
    np.testing.assert_allclose(projected[..., 1], 0, atol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_components_are_centred_uncorrelated_and_in_order(seed):
    x = np.random.default_rng(seed).normal(size=(7, 2, 5)) * np.array([5.0, 1, 1, 1, 1])[None, None]
    projected, shares = principal_components(x)
    flat = projected.reshape(-1, 2)
    np.testing.assert_allclose(flat.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(flat[:, 0] @ flat[:, 1], 0, atol=1e-8)
    assert 1 >= shares.sum() >= shares[0] >= shares[1] >= 0
    np.testing.assert_allclose(flat.var(0) / x.reshape(-1, 5).var(0).sum(), shares)


def test_separability_by_hand():
    apart = np.array([[[10.0], [0.0]], [[11.0], [1.0]], [[12.0], [2.0]]])
    measured = separability(apart)
    assert measured["accuracy"] == measured["ordered"] == 1
    assert measured["gap"] == pytest.approx(10 / np.sqrt(2 / 3))
    # The last size is an outlier: both of its actions look bad, and the wrong way round.
    outlier = np.array([[[10.0], [0.0]], [[11.0], [1.0]], [[1.0], [2.0]]])
    measured = separability(outlier)
    assert measured["accuracy"] == pytest.approx(5 / 6)
    assert measured["ordered"] == pytest.approx(2 / 3)


def test_equal_actions_are_not_separable():
    measured = separability(np.ones((4, 2, 3)))
    assert measured == {"accuracy": 0, "ordered": 0, "gap": 0}
