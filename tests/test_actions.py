"""Actions as nodes and typed edges: numbers, masks and symmetries, each against a plain loop."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.games import board as boards
from saz_jax.games.actions import (
    MOVING,
    PLACING,
    action_of,
    action_ranks,
    action_symmetry,
    kinds_before,
    num_kinds,
    repadded,
    source_and_target,
    sources,
    within,
)

FORWARD = ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1))
MIXED = ((0, 0), *boards.COMPASS4)
KINDS = [PLACING, boards.COMPASS4, FORWARD, MOVING, MIXED]


def random_nodes(side, seed=0):
    nodes = np.random.default_rng(seed).random(side * side + 1) < 0.6
    nodes[-1] = True
    return nodes


@pytest.mark.parametrize("moves", KINDS)
def test_every_action_but_pass_has_its_source_and_its_target(moves):
    side = 4
    found = [source_and_target(action, side, moves) for action in range(len(moves) * side * side)]
    assert len(set(found)) == len(found)
    for action, (source, target) in enumerate(found):
        assert action_of(source, target, side, moves) == action
        assert sources(side, moves)[action] == source[0] * side + source[1]
    assert sources(side, moves)[-1] == side * side
    assert action_of((0, 0), (3, 2), side, moves) is None
    assert num_kinds(len(found) + 1, side) == len(moves)


@pytest.mark.parametrize("moves", KINDS)
def test_an_action_belongs_to_the_subgraphs_that_hold_both_of_its_ends(moves):
    side = 5
    nodes = np.stack([random_nodes(side, seed) for seed in range(3)])
    expected = np.zeros((3, len(moves) * side * side + 1), bool)
    expected[:, -1] = True
    for which in range(3):
        points = nodes[which, :-1].reshape(side, side)
        for action in range(expected.shape[1] - 1):
            (row, column), (to_row, to_column) = source_and_target(action, side, moves)
            on_board = 0 <= to_row < side and 0 <= to_column < side
            expected[which, action] = points[row, column] and on_board and points[to_row, to_column]
    np.testing.assert_array_equal(within(jnp.asarray(nodes), moves), expected)


def test_where_stones_are_placed_actions_are_nodes():
    nodes = jnp.asarray(random_nodes(6))
    assert within(nodes, PLACING) is nodes
    points = nodes[:-1].reshape(6, 6)
    np.testing.assert_array_equal(action_ranks(points, 37), boards.ranks(points))
    for which in range(8):
        np.testing.assert_array_equal(action_symmetry(which, 5, 6), boards.symmetry(which, 5, 6))


@pytest.mark.parametrize("moves", KINDS)
def test_ranks_and_repadding_agree_on_every_padded_side(moves):
    small, large = 4, 7
    points = random_nodes(small)[:-1].reshape(small, small)
    wide = np.pad(points, (0, large - small))
    actions = np.flatnonzero(np.tile(points.reshape(-1), len(moves)))
    ranks = np.asarray(action_ranks(jnp.asarray(points), len(moves) * small**2 + 1))
    padded = np.asarray(action_ranks(jnp.asarray(wide), len(moves) * large**2 + 1))
    moved = repadded(actions, small, large)
    np.testing.assert_array_equal(ranks[actions], padded[moved])
    assert sorted(ranks[actions]) == list(range(len(actions)))
    assert ranks[-1] == padded[-1] == len(actions)
    for before, after in zip(actions.tolist(), moved.tolist(), strict=True):
        assert source_and_target(before, small, moves) == source_and_target(after, large, moves)


@pytest.mark.parametrize("moves", KINDS)
def test_a_turn_of_the_board_turns_the_directions_of_moves(moves):
    """By the two ends of every action on its own: a stone at `a` goes to the inverse's source of `a`."""
    side, size = 5, 4
    kept = [which for which in range(8) if (kinds_before(moves)[which] >= 0).all()]
    assert kept == ([0, 2, 5, 7] if moves == FORWARD else list(range(8)))
    for which in kept:
        source = np.asarray(action_symmetry(which, size, side, moves))
        goes_to = np.asarray(boards.symmetry(boards.INVERSE_SYMMETRY[which], size, side))
        assert source[-1] == len(source) - 1
        for turned, action in enumerate(source[:-1]):
            start, end = source_and_target(action, side, moves)
            if not all(0 <= x < size for x in (*start, *end)):
                continue
            ends = [divmod(int(goes_to[row * side + column]), side) for row, column in (start, end)]
            assert action_of(ends[0], ends[1], side, moves) == turned
        back = np.asarray(action_symmetry(boards.INVERSE_SYMMETRY[which], size, side, moves))
        np.testing.assert_array_equal(source[back], np.arange(len(source)))


def test_the_symmetry_of_actions_may_be_traced():
    turned = jax.jit(lambda which, size: action_symmetry(which, size, 5, MOVING))(3, 4)
    np.testing.assert_array_equal(turned, action_symmetry(3, 4, 5, MOVING))
