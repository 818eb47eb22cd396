"""Gomoku against a plain oracle, and lines at every border."""

import operator

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saz_jax import make_game
from saz_jax.games.playthrough import random_games
from saz_jax.render import text
from tests.oracles.gomoku import Gomoku

GAME = make_game("gomoku", 9)
SETUP, STEP, HEURISTIC = jax.jit(GAME.setup), jax.jit(GAME.step), jax.jit(GAME.heuristic)
LINES = [(0, 1), (1, 0), (1, 1), (1, -1)]


def oracle_of(board, size, k, to_play):
    stones = {(r, c): int(board[r, c]) for r, c in np.argwhere(board).tolist()}
    return Gomoku(size, k, stones, to_play)


def assert_same(game, state, oracle):
    side = game.max_size
    legal = np.zeros(game.num_actions, bool)
    for point in oracle.legal:
        legal[game.num_actions - 1 if point is None else point[0] * side + point[1]] = True
    assert (np.asarray(state.legal) == legal).all()
    assert bool(state.terminated) == oracle.over
    assert float(state.outcome) == oracle.outcome
    assert int(state.to_play) == oracle.to_play


@pytest.mark.parametrize(("size", "k"), [(3, 3), (4, 3), (5, 5), (6, 5), (7, 4), (9, 5), (10, 6)])
def test_every_move_of_random_games_agrees_with_the_oracle(size, k):
    game = make_game("gomoku", 10, k=k)
    states, actions = random_games(game, np.full(12, size), seed=size, length=size * size)
    for b in range(12):
        oracle = Gomoku(size, k)
        for t, action in enumerate(actions[:, b].tolist()):
            assert_same(game, jax.tree.map(operator.itemgetter((t, b)), states), oracle)
            if oracle.over:
                break
            oracle.play(divmod(action, game.max_size))
        final = jax.tree.map(operator.itemgetter((-1, b)), states)
        assert_same(game, final, oracle)


@given(st.integers(5, 9), st.integers(0, 2**32 - 1), st.sampled_from([1, -1]))
def test_any_arrangement_of_stones_is_read_as_the_oracle_reads_it(size, seed, to_play):
    rng = np.random.default_rng(seed)
    board = np.zeros((9, 9), np.int8)
    board[:size, :size] = rng.choice([0, 1, -1], (size, size), p=rng.dirichlet([1, 1, 1]))
    oracle = oracle_of(board, size, 5, to_play)
    state = SETUP(board, size, to_play)
    assert_same(GAME, state, oracle)
    assert float(HEURISTIC(state, 1)) == oracle.longest(1) - oracle.longest(-1)


@pytest.mark.parametrize("size", [5, 6, 9])
def test_five_in_a_line_win_wherever_they_lie(size):
    """Every line of five of the live board, those along all borders included; any stone comes last."""
    points = [(row, column) for row in range(size) for column in range(size)]
    lines = [[(r + i * dr, c + i * dc) for i in range(5)] for r, c in points for dr, dc in LINES]
    lines = np.array([line for line in lines if set(line) <= set(points)])
    assert len(lines) == 2 * size * (size - 4) + 2 * (size - 4) ** 2
    which, rng = np.arange(len(lines)), np.random.default_rng(size)
    players, last = rng.choice([1, -1], len(lines)), lines[which, rng.integers(5, size=len(lines))]
    boards = np.zeros((len(lines), 9, 9), np.int8)
    boards[which[:, None], lines[..., 0], lines[..., 1]] = players[:, None]
    boards[which, last[:, 0], last[:, 1]] = 0
    before = jax.jit(jax.vmap(GAME.setup, (0, None, 0)))(boards, size, players)
    assert not before.terminated.any()
    after = jax.jit(jax.vmap(GAME.step))(before, last[:, 0] * 9 + last[:, 1])
    assert after.terminated.all()
    assert (after.outcome == players).all()


@pytest.mark.parametrize("direction", LINES)
def test_an_overline_wins_too(direction):
    (dr, dc), column = direction, 8 if direction == (1, -1) else 0
    board = np.zeros((9, 9), np.int8)
    for i in (0, 1, 2, 3, 5, 6, 7, 8):
        board[i * dr, column + i * dc] = 1
    state = SETUP(board, 9, 1)
    assert not state.terminated
    assert float(HEURISTIC(state, 1)) == 4.0
    after = STEP(state, 4 * dr * 9 + column + 4 * dc)
    assert float(after.outcome) == 1.0
    assert float(HEURISTIC(after, 1)) == 9.0


def test_four_and_a_line_around_the_edge_do_not_win():
    board = np.zeros((9, 9), np.int8)
    board[0, 5:9] = 1
    board[1, 0] = 1  # next in memory, not on the board
    assert not SETUP(board, 9, 1).terminated


def test_a_full_board_without_a_line_is_a_tie():
    game = make_game("gomoku", 4, k=3)
    state = text.parse(game, "XOX\nXOO\nOX.")
    assert not state.terminated
    state = game.step(state, text.parse_move("C3", 3, 4))
    assert bool(state.terminated)
    assert float(state.outcome) == 0.0


def test_pass_is_not_legal_while_the_game_lasts():
    assert not GAME.init(5).legal[-1]
    with pytest.raises(ValueError, match=r"action 81 \(pass\) is illegal"):
        GAME.step(GAME.init(5), 81)


def test_the_smallest_side_is_the_length_of_a_line():
    assert make_game("gomoku", 9, k=3).min_size == 3
    assert make_game("gomoku", 9).min_size == 5


def test_one_in_a_row_is_won_by_the_first_stone():
    game = make_game("gomoku", 1, k=1)
    assert float(game.step(game.init(1), 0).outcome) == 1.0
