"""Hex of the notebooks: its rules against a plain oracle, its score, and the contract of all games."""

import dataclasses
import itertools

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebooks import hex
from saz_jax.games import contract
from saz_jax.games.playthrough import random_games
from saz_jax.render import text

GAME = hex.make_hex(8)
NEIGHBOURS = [(-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1)]
SIZES = np.repeat(np.arange(4, 9), 12)


@pytest.fixture(scope="module")
def played():
    return random_games(GAME, SIZES, seed=5, length=GAME.max_moves)


def joined(cells, colour):
    """Whether a chain of `colour` on the cells, ring left out, joins its two sides."""
    n = len(cells)
    along = (lambda r, c: r) if colour == 1 else (lambda r, c: c)
    points = [p for p in itertools.product(range(n), repeat=2) if cells[p] == colour]
    reached = [p for p in points if along(*p) == 0]
    for r, c in reached:
        near = [(r + dr, c + dc) for dr, dc in NEIGHBOURS]
        reached += [p for p in near if p in points and p not in reached]
    return any(along(*p) == n - 1 for p in reached)


def cells(board, size):
    return board[1 : size - 1, 1 : size - 1]


def test_hex_keeps_what_every_game_promises():
    contract.check_game(hex.make_hex, largest=8)


def test_a_quarter_turn_is_no_symmetry_of_hex():
    with pytest.raises(contract.BrokenPromise, match="symmetry 1"):
        contract.check_game(lambda n: dataclasses.replace(hex.make_hex(n), symmetries=(0, 1)), largest=8)


def test_the_mistake_of_the_notebook_is_found():
    with pytest.raises(contract.BrokenPromise, match="move_count changes after the end"):
        contract.check_game(hex.make_endless_hex, largest=8)


def test_the_game_ends_exactly_when_a_chain_joins_two_sides(played):
    states, _ = played
    for t, b in np.ndindex(states.size.shape):
        inside = cells(states.board[t, b], SIZES[b])
        wins = {colour: joined(inside, colour) for colour in (1, -1)}
        assert states.terminated[t, b] == (wins[1] or wins[-1])
        assert states.outcome[t, b] == wins[1] - wins[-1]


def test_no_game_is_a_tie_and_both_sides_win_some(played):
    states, _ = played
    assert set(states.outcome[-1].tolist()) == {1.0, -1.0}


def test_the_ring_shows_what_each_side_wants():
    assert text.draw(GAME.init(4)) == ".XX.\nO..O\nO..O\n.XX."
    assert int(GAME.init(6).legal.sum()) == 16


def test_a_drawing_may_leave_the_ring_out():
    bare = text.parse(GAME, ".....\n..X..\n.....\n.....\n.....")
    assert text.draw(bare) == ".XXX.\nO.X.O\nO...O\nO...O\n.XXX."


@pytest.mark.parametrize(
    ("drawing", "dark", "light"),
    [
        (".XXX.\nO...O\nO...O\nO...O\n.XXX.", 3, 3),
        (".XXX.\nO.X.O\nO...O\nO...O\n.XXX.", 2, 3),
        (".XXX.\nO..XO\nO.X.O\nOX..O\n.XXX.", 0, 64),  # this diagonal touches
        (".XXX.\nOX..O\nO.X.O\nO..XO\n.XXX.", 2, 3),  # this one does not
        (".XXX.\nOOOOO\nO...O\nO...O\n.XXX.", 64, 0),
    ],
)
def test_stones_needed(drawing, dark, light):
    state = text.parse(GAME, drawing)
    needed = hex.stones_needed(state.board, state.size).tolist()
    assert needed == [dark, light]
    assert state.terminated == (0 in (dark, light))
    assert float(GAME.heuristic(state, 1)) == needed[1] - needed[0]


@given(st.integers(4, 8), st.randoms(use_true_random=False))
def test_light_s_question_is_dark_s_with_the_colours_exchanged(size, random):
    board = np.zeros((8, 8), np.int8)
    for row, column in itertools.product(range(1, size - 1), repeat=2):
        board[row, column] = random.choice((-1, 0, 1))
    state, other = GAME.setup(board, size, 1), GAME.setup(-board.T, size, -1)
    assert state.outcome == -other.outcome
    needed = jax.jit(hex.stones_needed)
    assert needed(state.board, size).tolist() == needed(other.board, size).tolist()[::-1]
