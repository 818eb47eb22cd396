"""The padded board: indices, shifts, rays and symmetries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saz_jax.games import board as boards

SIDE = 9
sides = st.integers(1, SIDE)


def nodes(size):
    """int[n * n + 1]: the padded numbers of the live points, row by row, and of pass."""
    points = [row * SIDE + column for row in range(size) for column in range(size)]
    return np.array([*points, SIDE * SIDE])


@given(sides)
def test_live_points_are_the_top_left_corner(size):
    live = np.asarray(boards.live_points(size, SIDE))
    assert live[:size, :size].all()
    assert live.sum() == size * size


@given(sides)
def test_live_and_padded_numbers_are_each_other_s_inverse(size):
    live = jnp.arange(size * size + 1)
    padded = boards.live_to_padded(live, size, SIDE)
    assert (np.asarray(padded) == nodes(size)).all()
    assert (boards.padded_to_live(padded, size, SIDE) == live).all()


@pytest.mark.parametrize("action", [-1, 0, 40, 80, 81, 82])
def test_a_point_is_marked_unless_the_action_is_none(action):
    marked = np.flatnonzero(boards.point(action, SIDE))
    assert marked.tolist() == ([action] if 0 <= action < 81 else [])


@given(st.integers(-3, 3), st.integers(-3, 3))
def test_shift_shows_what_lies_away_and_fills_beyond(dr, dc):
    x = np.arange(1, 26).reshape(5, 5)
    shifted = np.asarray(boards.shift(jnp.asarray(x), (dr, dc), fill=-7))
    for row in range(5):
        for column in range(5):
            inside = 0 <= row + dr < 5 and 0 <= column + dc < 5
            assert shifted[row, column] == (x[row + dr, column + dc] if inside else -7)


@given(st.sampled_from(boards.COMPASS8), st.integers(-4, 4))
def test_a_reader_sees_along_rays_what_shift_shows(direction, distance):
    x = jnp.arange(1, 26).reshape(5, 5)
    read = boards.reader(x, 4)
    step = (direction[0] * distance, direction[1] * distance)
    assert (read(direction, distance) == boards.shift(x, step)).all()


def test_opposite_directions_are_four_apart():
    for d in range(8):
        dr, dc = boards.COMPASS8[d]
        assert boards.COMPASS8[(d + 4) % 8] == (-dr, -dc)


@given(sides, st.integers(0, boards.NUM_SYMMETRIES - 1))
def test_symmetries_turn_and_mirror_the_live_board_only(size, which):
    x = np.arange(SIDE * SIDE + 1)
    expected = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    corner = expected[:size, :size].T if which >= 4 else expected[:size, :size]
    expected = expected.copy()
    expected[:size, :size] = np.rot90(corner, which % 4)
    moved = x[np.asarray(boards.symmetry(which, size, SIDE))]
    assert (moved == [*expected.reshape(-1), SIDE * SIDE]).all()


@given(sides, st.integers(0, boards.NUM_SYMMETRIES - 1))
def test_every_symmetry_is_undone_by_its_inverse(size, which):
    there = boards.symmetry(which, size, SIDE)
    back = boards.symmetry(boards.INVERSE_SYMMETRY[which], size, SIDE)
    assert (there[back] == jnp.arange(SIDE * SIDE + 1)).all()


def test_the_eight_symmetries_differ_and_work_traced():
    every = jax.jit(jax.vmap(lambda which: boards.symmetry(which, 3, SIDE)))(jnp.arange(8))
    assert len(np.unique(np.asarray(every), axis=0)) == 8
