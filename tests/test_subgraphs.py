"""Sampled subgraphs: who is drawn, how often, and what the ensemble makes of it."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saz_jax.config import SubgraphConfig
from saz_jax.games.board import live_points
from saz_jax.graphs.priors import combine, legal_logits
from saz_jax.graphs.subgraphs import (
    lowest,
    sample_subgraphs,
    scatter_max,
    scatter_mean,
    smallest_side,
    subgraph_counts,
)
from tests.oracles import subgraphs as oracle

CONFIGS = [
    SubgraphConfig(shrink=shrink, largest=largest, nodes=nodes)
    for shrink, largest, nodes in itertools.product((1, 2), ("m", "m+1"), ("uniform", "window"))
]


def board_nodes(size, max_size):
    return jnp.append(live_points(size, max_size).reshape(-1), True)


@functools.partial(jax.jit, static_argnames=("config", "max_size", "draws"))
def many(seed, size, config, max_size, draws):
    """bool[draws, K, V]: the subgraphs of a board under as many keys."""
    keys = jax.random.split(jax.random.key(seed), draws)
    sample = functools.partial(sample_subgraphs, config=config, max_size=max_size)
    return jax.vmap(sample, (0, None))(keys, board_nodes(size, max_size))


def drawn_points(size, config, draws, seed=0):
    """bool[subgraphs, n, n]: the points of the active subgraphs of unpadded boards."""
    subgraphs = np.asarray(many(seed, size, config, size, draws))
    return subgraphs[..., :-1].reshape(-1, size, size)


def assert_uniform(counts):
    """Every cell within five standard deviations of the mean, and chi-square within five of its own."""
    counts = np.asarray(counts).reshape(-1)
    expected = counts.sum() / counts.size
    assert expected > 20, "too few draws to judge"
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)
    chi_square, freedom = ((counts - expected) ** 2 / expected).sum(), counts.size - 1
    assert chi_square <= freedom + 5 * np.sqrt(2 * freedom)


def test_the_paper_counts_half_the_side_rounded():
    counts = subgraph_counts(SubgraphConfig(), 20)[np.arange(21) ** 2]
    by_hand = [0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, 8, 8, 8, 9, 10, 10]
    assert counts.tolist() == by_hand
    assert counts.tolist() == [round(n / 2) for n in range(21)]


@settings(max_examples=15, deadline=None)
@given(per_side=st.sampled_from([0.3, 0.5]), size=st.integers(3, 10), seed=st.integers(0, 99))
def test_the_number_of_subgraphs_follows_the_live_side(per_side, size, seed):
    config = SubgraphConfig(per_side=per_side)
    subgraphs = np.asarray(many(seed, size, config, 10, 2))
    assert subgraphs.shape[1] == round(per_side * 10)
    asked = np.arange(subgraphs.shape[1]) < round(per_side * size)
    for one in subgraphs:
        assert (one[:, -1] == asked).all(), "the dummy node is in every subgraph that counts"
        assert (one[:, :-1].any(axis=1) == asked).all(), "the others hold no node"


@pytest.mark.parametrize("config", [config for config in CONFIGS if config.nodes == "uniform"], ids=str)
def test_subgraph_sizes_are_uniform_over_the_stated_range(config):
    size = 5
    m = size - config.shrink
    largest = m if config.largest == "m" else m + 1
    points = drawn_points(size, config, draws=2000).sum(axis=(1, 2))
    assert points.min() == (m - 1) ** 2
    assert points.max() == min(largest, size) ** 2
    assert_uniform(np.bincount(points)[(m - 1) ** 2 :])


def test_every_point_is_drawn_equally_often():
    assert_uniform(drawn_points(6, SubgraphConfig(shrink=2), draws=1500).sum(axis=0))


def test_every_pair_of_points_is_drawn_equally_often():
    points = drawn_points(3, SubgraphConfig(shrink=1), draws=4000).reshape(-1, 9)
    pairs = [np.flatnonzero(one) for one in points if one.sum() == 2]
    assert_uniform(
        [sum(tuple(pair) == which for pair in pairs) for which in itertools.combinations(range(9), 2)]
    )


def test_subgraphs_larger_than_the_board_are_clipped_to_it():
    points = drawn_points(4, SubgraphConfig(shrink=0, largest="m+1"), draws=500).sum(axis=(1, 2))
    assert points.max() == 16
    assert points.min() == 9
    assert_uniform(np.bincount(points)[9:])


@pytest.mark.parametrize("config", [config for config in CONFIGS if config.nodes == "window"], ids=str)
def test_a_window_is_a_contiguous_square_anywhere_on_the_board(config):
    size = 6
    m = size - config.shrink
    largest = min(m if config.largest == "m" else m + 1, size)
    squares = []
    for one in drawn_points(size, config, draws=800):
        rows, columns = np.flatnonzero(one.any(axis=1)), np.flatnonzero(one.any(axis=0))
        side = rows.size
        assert one.sum() == side * columns.size == side**2
        assert rows.tolist() == list(range(rows[0], rows[0] + side))
        assert columns.tolist() == list(range(columns[0], columns[0] + side))
        squares.append((side, rows[0], columns[0]))
    sides = [side for side, _, _ in squares]
    assert_uniform([sides.count(side) for side in range(m - 1, largest + 1)])
    assert set(sides) == set(range(m - 1, largest + 1))
    for side in set(sides):
        places = range(size - side + 1)
        assert_uniform([squares.count((side, row, column)) for row in places for column in places])


@pytest.mark.parametrize("config", CONFIGS[:2], ids=str)
def test_padding_draws_the_same_subgraphs(config):
    small, large = (np.asarray(many(3, 7, config, max_size, 5)) for max_size in (7, 11))
    cropped = large[..., :-1].reshape(5, -1, 11, 11)
    assert not cropped[:, :, 7:].any()
    assert not cropped[:, :, :, 7:].any()
    assert (cropped[:, : small.shape[1], :7, :7].reshape(5, -1, 49) == small[..., :-1]).all()
    assert not large[:, small.shape[1] :].any()


@pytest.mark.parametrize("nodes", ["uniform", "window"])
def test_holes_are_never_drawn(nodes):
    config = SubgraphConfig(shrink=1, nodes=nodes)
    holes = np.ones((6, 6), bool)
    holes[2, 1:4] = holes[5, 5] = False
    present = jnp.append(jnp.asarray(holes).reshape(-1), True)
    keys = jax.random.split(jax.random.key(0), 20)
    subgraphs = jax.jit(jax.vmap(lambda key: sample_subgraphs(key, present, config, 6)))(keys)
    assert not (subgraphs & ~present[None, None, :]).any()
    if nodes == "uniform":
        points = np.asarray(subgraphs)[..., :-1].sum(axis=-1)
        side = (36 - 4) ** 0.5 - 1
        assert points.min() >= round((side - 1) ** 2)
        assert points.max() <= round(side**2)


def test_keys_decide_and_subgraphs_differ():
    config = SubgraphConfig()
    first, again, other = (many(seed, 9, config, 9, 1)[0] for seed in (0, 0, 1))
    assert (first == again).all()
    assert not (first == other).all()
    assert len({one.tobytes() for one in np.asarray(first)}) == len(first)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=8, max_size=8), st.integers(1, 8))
def test_ties_of_noise_still_give_the_exact_number(cells, count):
    noise, points = (np.array(column) for column in zip(*cells, strict=True))
    # The highest noise is also what absent points are filled with.
    noise = np.where(noise == 3, 0xFFFFFFFF, noise).astype(np.uint32)
    chosen = np.asarray(lowest(jnp.asarray(noise), jnp.asarray(points), count))
    in_order = sorted(np.flatnonzero(points), key=lambda point: noise[point])
    assert np.flatnonzero(chosen).tolist() == sorted(in_order[:count])


@pytest.mark.parametrize(
    ("config", "side"),
    [
        (SubgraphConfig(), 3),
        (SubgraphConfig(shrink=2), 4),
        (SubgraphConfig(shrink=0), 2),
        (SubgraphConfig(per_side=0.1), 6),
    ],
)
def test_the_smallest_side_has_a_subgraph_with_a_point(config, side):
    assert smallest_side(config) == side
    drawn = drawn_points(side, config, draws=300).sum(axis=(1, 2))
    assert drawn.size >= 300
    assert drawn.min() >= 1


@pytest.mark.parametrize(
    "config",
    [
        SubgraphConfig(per_side=0.0),
        SubgraphConfig(per_side=-1.0),
        SubgraphConfig(per_side=float("nan")),
        SubgraphConfig(per_side=float("inf")),
        SubgraphConfig(shrink=-1),
        SubgraphConfig(pool="median"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_settings_that_make_no_subgraphs_are_refused(config):
    with pytest.raises(ValueError, match=r"(per_side|shrink|pool)=.*; (use|choose)"):
        smallest_side(config)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_scatters_equal_their_loops(seed):
    generator = np.random.default_rng(seed)
    prior = generator.random((3, 2, 7)).astype(np.float32)
    subgraphs = generator.random((3, 2, 7)) < 0.5
    for scatter, pool in ((scatter_mean, oracle.mean), (scatter_max, max)):
        result = scatter(jnp.asarray(prior), jnp.asarray(subgraphs))
        for state in range(2):
            expected = oracle.scatter(prior[:, state], subgraphs[:, state], pool)
            np.testing.assert_allclose(result[state], expected, rtol=1e-6)


@pytest.mark.parametrize("scatter", [scatter_mean, scatter_max])
def test_a_node_that_no_subgraph_drew_gets_zero_whatever_the_network_said(scatter):
    prior = jnp.array([[0.5, jnp.nan, 0.25], [0.1, 0.7, 0.2]])
    subgraphs = jnp.array([[True, False, True], [True, False, False]])
    result = scatter(prior, subgraphs)
    assert result[1] == 0
    assert result[2] == 0.25


P1, P2 = [0.1, 0.2, 0.3, 0.4], [0.5, 0.0, 0.2, 0.1]
LEGAL = [True, True, False, True]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("product", [0.15 / 0.79, 0.2 / 0.79, 0, 0.44 / 0.79]),
        ("mean", [0.6 / 1.3, 0.2 / 1.3, 0, 0.5 / 1.3]),
        ("only", [0.5 / 0.6, 0, 0, 0.1 / 0.6]),
    ],
)
def test_priors_combine_as_computed_by_hand(how, expected):
    logits = combine(jnp.log(jnp.array(P1)), jnp.array(P2), jnp.array(LEGAL), how)
    np.testing.assert_allclose(jnp.exp(logits), expected, rtol=1e-5, atol=1e-7)
    assert logits[2] == jnp.finfo(logits.dtype).min
    np.testing.assert_allclose(oracle.combine(P1, P2, LEGAL, how), expected, rtol=1e-5)


def test_where_no_legal_move_was_drawn_subgraphs_alone_leave_all_legal_moves_alike():
    legal = jnp.array([False, True, False, True])
    p2 = jnp.array([0.9, 0.0, 0.1, 0.0])
    log_p1 = jnp.log(jnp.array(P1))
    np.testing.assert_allclose(jnp.exp(combine(log_p1, p2, legal, "only")), [0, 0.5, 0, 0.5], rtol=1e-6)
    for how in ("product", "mean"):
        np.testing.assert_allclose(jnp.exp(combine(log_p1, p2, legal, how)), [0, 1 / 3, 0, 2 / 3], rtol=1e-5)


def test_a_prior_lost_in_illegal_moves_is_not_lost():
    """An illegal move may hold all of the probability that a float can show; its rivals stay ordered."""
    log_p1 = jax.nn.log_softmax(jnp.array([1000.0, 1.0, 0.0, -5.0]))
    legal = jnp.array([False, True, True, False])
    logits = combine(log_p1, jnp.zeros(4), legal, "product")
    np.testing.assert_allclose(logits[1:3], jax.nn.log_softmax(jnp.array([1.0, 0.0])), rtol=1e-4)


def test_logits_of_absent_legal_moves_are_alike():
    """A legal move is never absent on a board, but a hole may be all that is legal on a user's graph."""
    lowest_logit = jnp.finfo(jnp.float32).min
    logits = legal_logits(jnp.array([0.0, -jnp.inf, -jnp.inf]), jnp.array([False, True, True]))
    np.testing.assert_allclose(logits, [lowest_logit, np.log(0.5), np.log(0.5)], rtol=1e-6)
