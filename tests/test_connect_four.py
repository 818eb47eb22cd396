"""Connect Four of the notebooks: against OpenSpiel, pgx and a plain oracle, its score, and the contract."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pgx
import pytest

from notebooks import connect_four
from saz_jax import shapes
from saz_jax.games import BrokenPromise, check_game, contract, symmetry
from saz_jax.games.playthrough import random_games
from saz_jax.games.registry import checked
from saz_jax.render import text

SIDE = 9
GAME = checked(connect_four.make(SIDE))
RECTANGLES = [(6, 7), (7, 6), (4, 9), (9, 4), (5, 5)]
DRAWN = [shapes.diamond(7), shapes.ring(7), shapes.from_text("....#/.#.../...../....."), shapes.cross(9)]


def padded(points):
    return np.pad(np.asarray(points), [(0, SIDE - length) for length in np.shape(points)])


BOARDS = np.stack([padded(shapes.rectangle(*pair)) for pair in RECTANGLES for _ in range(8)])


@pytest.fixture(scope="module")
def played():
    drawn = np.stack([padded(points) for points in DRAWN for _ in range(2)])
    return random_games(GAME, np.concatenate([BOARDS, drawn]), seed=3, length=GAME.max_moves)


class Plain:
    """Columns as lists of points from the top, discs in a dictionary; nothing is padded."""

    def __init__(self, points):
        self.points = {tuple(point) for point in np.argwhere(points).tolist()}
        self.discs: dict[tuple[int, int], int] = {}
        self.to_play, self.winner = 1, 0

    def legal(self):
        if self.winner:
            return set()
        found = set()
        for column in {c for _, c in self.points}:
            row = min(r for r, c in self.points if c == column)
            while (row, column) in self.points and (row, column) not in self.discs:
                row += 1
            if (row - 1, column) in self.points and (row - 1, column) not in self.discs:
                found.add((row - 1, column))
        return found

    def drop(self, point):
        self.discs[point] = self.to_play
        for dr, dc in ((0, 1), (1, 1), (1, 0), (1, -1)):
            line = [(point[0] + i * dr, point[1] + i * dc) for i in range(-3, 4)]
            own = "".join("x" if self.discs.get(p) == self.to_play else " " for p in line)
            if "xxxx" in own:
                self.winner = self.to_play
        self.to_play = -self.to_play


def test_every_move_of_random_games_is_that_of_plain_rules(played):
    states, actions = played
    for b in range(states.size.shape[1]):
        plain = Plain(states.points[0, b])
        for t in range(GAME.max_moves + 1):
            board = states.board[t, b]
            assert {tuple(p): int(board[tuple(p)]) for p in np.argwhere(board).tolist()} == plain.discs
            legal = plain.legal()
            assert bool(states.terminated[t, b]) == (not legal)
            if not legal:
                assert states.outcome[t, b] == plain.winner
                break
            allowed = np.flatnonzero(states.legal[t, b])
            assert {divmod(action, SIDE) for action in allowed.tolist()} == legal
            plain.drop(divmod(int(actions[t, b]), SIDE))
    assert set(states.outcome[-1].tolist()) == {1.0, 0.0, -1.0}


def test_games_on_rectangles_agree_with_openspiel(played):
    pyspiel = pytest.importorskip("pyspiel")
    states, actions = played
    for b, (rows, columns) in enumerate(pair for pair in RECTANGLES for _ in range(8)):
        theirs = pyspiel.load_game(f"connect_four(rows={rows},columns={columns})").new_initial_state()
        for t in range(rows * columns + 1):
            assert bool(states.terminated[t, b]) == theirs.is_terminal()
            if theirs.is_terminal():
                assert theirs.returns()[0] == states.outcome[t, b]
                break
            legal = np.flatnonzero(states.legal[t, b]) % SIDE  # they name columns
            assert sorted(legal.tolist()) == theirs.legal_actions()
            theirs.apply_action(int(actions[t, b]) % SIDE)
        assert theirs.is_terminal()


def test_games_on_the_usual_board_agree_with_pgx(played):
    states, actions = jax.tree.map(lambda x: x[:43, :8], played[0]), played[1][:42, :8]
    env = pgx.make("connect_four")

    @jax.jit
    def follow(starts, columns):
        def move(state: Any, column) -> Any:
            state = jax.vmap(env.step)(state, column)
            first = jax.numpy.take_along_axis(state.rewards, order, axis=1)[:, 0]
            return state, (state.legal_action_mask, state.terminated, first)

        order = starts.current_player[:, None]
        return jax.lax.scan(move, starts, columns)[1]

    starts: Any = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 8))
    with jax.numpy_rank_promotion("allow"):  # pgx relies on it
        legal, terminated, reward = map(np.asarray, follow(starts, actions % SIDE))
    ended, lasts = states.terminated[1:], ~states.terminated[:-1]
    np.testing.assert_array_equal(terminated, ended)
    columns = states.legal[1:, :, :-1].reshape(42, 8, SIDE, SIDE).any(2)[..., :7]
    np.testing.assert_array_equal(legal[~ended], columns[~ended])
    np.testing.assert_array_equal(reward[ended & lasts], states.outcome[1:][ended & lasts])


def test_connect_four_keeps_what_every_game_promises():
    check_game(connect_four.make, largest=7)


def test_an_upside_down_board_is_no_symmetry_of_connect_four():
    turned = checked(dataclasses.replace(connect_four.make(SIDE), symmetries=(0, 5)))
    sample = contract.Sample(lambda n: turned, turned, BOARDS, None, np.zeros(0))  # pyright: ignore
    with pytest.raises(BrokenPromise, match="symmetry 5"):
        contract.the_symmetries_commute_with_step(sample)


def test_the_mistake_of_the_notebook_is_found():
    with pytest.raises(BrokenPromise, match="move_count changes after the end"):
        check_game(connect_four.make_endless, largest=6)


def test_the_mirror_exchanges_left_and_right():
    source = np.asarray(symmetry(connect_four.MIRROR, 3, 3))[:-1]
    assert np.arange(9)[source].reshape(3, 3).tolist() == [[2, 1, 0], [5, 4, 3], [8, 7, 6]]


def test_a_disc_rests_on_whatever_stops_it():
    state = GAME.init(shapes.from_text("....#/.#.../...../....."))
    names = [text.move_name(int(action), SIDE) for action in np.flatnonzero(state.legal)]
    assert names == ["B1", "A4", "C4", "D4", "E4"]  # B3 and B4 lie below a hole
    floating = text.parse(GAME, ".....\n..X..\n.....\n.....\n.....")
    assert text.move_name(int(np.flatnonzero(floating.legal)[0]), SIDE) == "C1"


def test_a_check_of_shapes_that_computes_with_jax_works_while_others_trace():
    state = jax.eval_shape(lambda: GAME.init((6, 7)))
    assert state.board.shape == (SIDE, SIDE)
    with pytest.raises(ValueError, match="discs reach no line of 4 points"):
        jax.eval_shape(lambda: GAME.init(shapes.from_text("..#./####/..../....")))


@pytest.mark.parametrize("shape", [(3, 3), (2, 2)])
def test_a_board_on_which_nobody_can_win_is_refused(shape):
    with pytest.raises(ValueError, match="its side is"):
        GAME.init(shape)


def test_lines_that_no_disc_can_reach_do_not_count():
    with pytest.raises(ValueError, match="discs reach no line of 4 points"):
        GAME.init(shapes.from_text("..#./####/..../...."))


@pytest.mark.parametrize(
    ("drawing", "score"),
    [
        (".....\n.....\n.....\n.....\n.....", 0),
        # In row 5: one disc in each of two lines across, one up, and a diagonal.
        (".....\n.....\n.....\n.....\n.X...", 2 * 4 + 4 + 4),
        ("....\n....\n....\nXXX.", 4**3 + 3 * 4 + 4),  # the row, three columns, one diagonal
        ("....\n....\n....\nXXXO", 2 * 4 + 4 + 4 - 4 - 4),
    ],
)
def test_the_greedy_score_counts_lines_that_only_one_side_can_complete(drawing, score):
    state = text.parse(GAME, drawing)
    assert float(GAME.heuristic(state, 1)) == score == -float(GAME.heuristic(state, -1))
