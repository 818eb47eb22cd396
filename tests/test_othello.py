"""Othello against pgx, a plain oracle, known counts and hand-drawn positions."""

import dataclasses
import functools
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saz_jax import make_game
from saz_jax.games.board import COMPASS8
from saz_jax.games.playthrough import random_games
from saz_jax.render import text
from tests.oracles.othello import Othello

PERFT = [4, 12, 56, 244, 1396, 8200, 55092]


def jitted(game):
    return dataclasses.replace(
        game, init=jax.jit(game.init), setup=jax.jit(game.setup), step=jax.jit(game.step)
    )


GAME8 = jitted(make_game("othello", 8))
GAME9 = jitted(make_game("othello", 9))


def position(game, drawing, to_play=1):
    return text.parse(game, textwrap.dedent(drawing), to_play)


def place(game, state, name):
    return game.step(state, text.parse_move(name, int(state.size), game.max_size))


def test_every_move_of_random_games_agrees_with_pgx():
    env = pgx.make("othello")
    states, actions = random_games(GAME8, np.full(300, 8), seed=0, length=70)

    @jax.jit
    def follow(start, actions):
        def move(state, action):
            state = jax.vmap(env.step)(state, action)
            # pgx keeps the board as the player to move sees it.
            inside = state._x  # pyright: ignore[reportAttributeAccessIssue]
            board = jnp.where(inside.turn == 0, 1, -1)[:, None] * inside.board
            return state, (board, state.legal_action_mask, state.terminated)

        return jax.lax.scan(move, start, actions)[1]

    start = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 300))
    board, legal, terminated = jax.device_get(follow(start, actions))
    going = ~states.terminated[1:]
    assert (states.board[1:].reshape(board.shape) == board)[~states.terminated[:-1]].all()
    assert (states.legal[1:] == legal)[going].all()
    # Ours ends as soon as nobody can place; pgx may ask for two passes first.
    assert not terminated[going].any()
    stuck = legal[..., -1] & ~terminated
    assert (terminated | stuck)[~going].all()


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 9, 10, 13])
def test_every_move_of_random_games_agrees_with_the_oracle(size):
    game = make_game("othello", 13)
    states, actions = random_games(game, np.full(12, size), seed=size, length=2 * size * size)
    for b in range(12):
        oracle = Othello(size)
        for t, action in enumerate(actions[:, b].tolist()):
            assert_same(game, jax.tree.map(lambda x, t=t, b=b: x[t, b], states), oracle)
            if oracle.over:
                break
            oracle.play(None if action == game.num_actions - 1 else divmod(action, game.max_size))
        assert oracle.over


@given(st.integers(3, 9), st.integers(0, 2**32 - 1), st.sampled_from([1, -1]))
def test_any_arrangement_of_stones_is_read_as_the_oracle_reads_it(size, seed, to_play):
    rng = np.random.default_rng(seed)
    board = np.zeros((9, 9), np.int8)
    board[:size, :size] = rng.choice([0, 1, -1], (size, size), p=rng.dirichlet([1, 1, 1]))
    stones = {(r, c): int(board[r, c]) for r, c in np.argwhere(board).tolist()}
    oracle = Othello(size, stones, to_play)
    state = GAME9.setup(board, size, to_play)
    assert_same(GAME9, state, oracle)
    if not oracle.over:
        action = rng.choice(np.flatnonzero(state.legal))
        oracle.play(None if action == 81 else divmod(int(action), 9))
        assert_same(GAME9, GAME9.step(state, action), oracle)


def assert_same(game, state, oracle):
    side = game.max_size
    board = np.zeros((side, side), np.int8)
    for point, stone in oracle.stones.items():
        board[point] = stone
    legal = np.zeros(game.num_actions, bool)
    for point in {None} if oracle.over else oracle.legal:
        legal[game.num_actions - 1 if point is None else point[0] * side + point[1]] = True
    assert (np.asarray(state.board) == board).all()
    assert (np.asarray(state.legal) == legal).all()
    assert int(state.to_play) == oracle.to_play
    assert bool(state.terminated) == oracle.over
    assert float(state.outcome) == oracle.outcome


@functools.cache
def batched_step(game):
    return jax.jit(jax.vmap(game.step))


def expand(game, positions, chunk=4096):
    """(parent[M], children[M]): every legal move of every unfinished position, in batches of one shape."""
    parents, actions = np.nonzero(positions.legal & ~positions.terminated[:, None])
    children = []
    for start in range(0, len(actions), chunk):
        count = min(chunk, len(actions) - start)
        rows = np.resize(np.arange(start, start + count), chunk)
        before = jax.tree.map(lambda x, rows=rows: x[parents[rows]], positions)
        after = jax.device_get(batched_step(game)(before, actions[rows]))
        children.append(jax.tree.map(lambda x, count=count: x[:count], after))
    return parents, jax.tree.map(lambda *parts: np.concatenate(parts), *children)


def opening(game, size):
    return jax.tree.map(lambda x: np.asarray(x)[None], game.init(size))


def test_the_number_of_move_sequences_is_the_known_one():
    positions, counts = opening(GAME8, 8), []
    for _ in PERFT[1:]:
        _, positions = expand(GAME8, positions)
        counts.append(len(positions.size))
    counts.append(int((positions.legal & ~positions.terminated[:, None]).sum()))
    assert counts == PERFT


def test_the_second_player_wins_on_four_by_four():
    """Solved through `step`: all positions forwards, depth by depth, then their values backwards."""
    game = make_game("othello", 4)
    levels, links = [opening(game, 4)], []
    while not levels[-1].terminated.all():
        parents, children = expand(game, levels[-1])
        keys = np.concatenate([children.board.reshape(len(parents), -1), children.to_play[:, None]], axis=1)
        _, first, child = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        levels.append(jax.tree.map(lambda x, first=first: x[first], children))
        links.append((parents, child.reshape(-1)))
    values = levels[-1].outcome
    for level, (parents, child) in zip(levels[-2::-1], links[::-1], strict=True):
        best = np.full(len(level.size), -2.0, np.float32)  # seen by the player to move
        np.maximum.at(best, parents, values[child] * level.to_play[parents])
        values = np.where(level.terminated, level.outcome, best * level.to_play)
    assert values.tolist() == [-1.0]


def test_one_stone_turns_lines_in_all_eight_directions():
    state = position(
        GAME8,
        """
        X..X..X
        .O.O.O.
        ..OOO..
        XOO.OOX
        ..OOO..
        .O.O.O.
        X..X..X
        """,
    )
    after = place(GAME8, state, "D4")
    assert (np.asarray(after.board)[:7, :7] == np.abs(np.asarray(state.board)[:7, :7]) + cross(3, 3)).all()


def cross(row, column):
    point = np.zeros((7, 7), np.int8)
    point[row, column] = 1
    return point


@pytest.mark.parametrize("direction", COMPASS8)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_each_direction_turns_exactly_the_stones_up_to_the_first_own_one(direction, length):
    dr, dc = direction
    board = np.zeros((8, 8), np.int8)
    for distance in range(1, 4):
        board[3 + dr * distance, 3 + dc * distance] = -1
    unbracketed = GAME8.setup(board, 7, 1)
    assert not unbracketed.legal[3 * 8 + 3]  # three stones run into the border
    board[3 + dr * length, 3 + dc * length] = 1
    state = GAME8.setup(board, 7, 1)
    assert bool(state.legal[3 * 8 + 3]) == (length > 1)
    if length > 1:
        after = np.asarray(GAME8.step(state, 3 * 8 + 3).board)
        line = [int(after[3 + dr * distance, 3 + dc * distance]) for distance in range(4)]
        assert line == [1] * (length + 1) + [-1] * (3 - length)


def test_a_gap_keeps_a_line_from_being_turned():
    state = position(GAME8, "XO.O.\n.....\n.....\n.....\n.....")
    after = place(GAME8, state, "C1")
    assert text.draw(after).splitlines()[0] == "XXXO."


def test_who_cannot_place_must_pass_and_the_other_side_goes_on():
    state = position(GAME8, "XO..\n....\n....\n....", to_play=-1)
    assert np.flatnonzero(state.legal).tolist() == [64]
    assert not state.terminated
    passed = GAME8.step(state, 64)
    assert int(passed.to_play) == 1
    assert [text.move_name(int(a), 8) for a in np.flatnonzero(passed.legal)] == ["C1"]
    over = place(GAME8, passed, "C1")
    assert bool(over.terminated)
    assert float(over.outcome) == 1.0


def test_the_game_ends_at_once_when_neither_side_can_place():
    state = position(GAME8, "XX..\n....\n....\n..OO")
    assert bool(state.terminated)
    assert float(state.outcome) == 0.0


def test_a_full_board_is_counted():
    state = position(GAME8, "XOX\nOOX\nXOO", to_play=-1)
    assert bool(state.terminated)
    assert float(state.outcome) == -1.0


def test_the_heuristic_is_the_difference_of_stones():
    state = position(GAME8, "XXO.\nX...\n....\n....")
    assert float(GAME8.heuristic(state, 1)) == 2.0
    assert float(GAME8.heuristic(state, -1)) == -2.0


def test_a_side_of_hundreds_compiles_and_plays():
    game = make_game("othello", 350)
    state = jax.jit(game.init)(350)
    assert np.flatnonzero(state.legal).tolist() == [
        173 * 350 + 174,
        174 * 350 + 173,
        175 * 350 + 176,
        176 * 350 + 175,
    ]
    state = jax.jit(game.step)(state, 173 * 350 + 174)
    assert int(state.board.sum()) == 3
