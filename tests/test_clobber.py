"""Clobber, the smallest game of moves along edges: against OpenSpiel and an oracle, and its score."""

import random

import jax
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.games.actions import source_and_target
from saz_jax.games.contract import trial_boards
from saz_jax.games.notation import draw, move_name, parse_move
from saz_jax.games.playthrough import random_games
from saz_jax.games.shapes import rectangle
from tests.oracles import clobber as oracle

SIDE = 6
GAME = make_game("clobber", SIDE)
INIT, STEP = jax.jit(GAME.init), jax.jit(GAME.step)


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (4, 5), (6, 6)])
def test_games_agree_with_open_spiel(rows, columns):
    pyspiel = pytest.importorskip("pyspiel")
    rng = random.Random(rows)
    for _ in range(2):
        theirs = pyspiel.load_game(f"clobber(rows={rows},columns={columns})").new_initial_state()
        ours = INIT(np.pad(rectangle(rows, columns), [(0, SIDE - rows), (0, SIDE - columns)]))
        while not theirs.is_terminal():
            assert not ours.terminated
            by_name = {theirs.action_to_string(a): a for a in theirs.legal_actions()}
            names = [move_name(a, SIDE, GAME.moves) for a in np.flatnonzero(ours.legal).tolist()]
            assert sorted(name.replace("-", "").lower() for name in names) == sorted(by_name)
            name = rng.choice(sorted(by_name))
            theirs.apply_action(by_name[name])
            ours = STEP(ours, parse_move(name, np.asarray(ours.points), SIDE, GAME.moves))
        assert ours.terminated
        assert float(ours.outcome) == theirs.returns()[0]


def test_every_move_of_random_games_on_all_shapes_agrees_with_the_oracle():
    boards = trial_boards(GAME)
    states, actions = random_games(GAME, boards, seed=3, length=GAME.max_moves)
    heuristic = np.asarray(jax.jit(jax.vmap(jax.vmap(GAME.heuristic, (0, None)), (0, None)))(states, 1))
    winners = set()
    for b, points in enumerate(boards):
        stones, player = oracle.start(np.argwhere(points).tolist()), 1
        for t in range(GAME.max_moves + 1):
            state = jax.tree.map(lambda x, t=t, b=b: x[t, b], states)
            assert {(r, c): int(state.board[r, c]) for r, c in np.argwhere(state.board).tolist()} == stones
            moves = oracle.moves(stones, player)
            assert bool(state.terminated) == (not moves)
            if state.terminated:
                assert float(state.outcome) == -player
                winners.add(-player)
                break
            legal = np.flatnonzero(state.legal).tolist()
            assert sorted(source_and_target(action, SIDE, GAME.moves) for action in legal) == moves
            lead = oracle.stones_that_move(stones, 1) - oracle.stones_that_move(stones, -1)
            assert heuristic[t, b] == lead
            stones = oracle.play(stones, source_and_target(actions[t, b], SIDE, GAME.moves))
            player = -player
    assert winners == {1, -1}
    assert len(boards) > 10


def test_a_game_from_its_record():
    """A golden record: moves by name, the board at the end, and who could not move."""
    state = INIT((3, 4))
    assert draw(state).split() == ["XOXO", "OXOX", "XOXO"]
    for name in ("B2-B1", "A2-A1", "C3-B3", "D1-D2", "B1-A1"):
        assert not state.terminated
        state = STEP(state, parse_move(name, np.asarray(state.points), SIDE, GAME.moves))
    assert draw(state).split() == ["X.X.", "..OO", "XX.O"]
    assert not state.terminated
    for name in ("C2-C1",):
        state = STEP(state, parse_move(name, np.asarray(state.points), SIDE, GAME.moves))
    assert draw(state).split() == ["X.O.", "...O", "XX.O"]
    assert state.terminated
    assert float(state.outcome) == -1.0


def test_it_is_played_on_any_shape_with_two_neighbours():
    points = np.array([[1, 1, 0], [0, 1, 1]], bool)
    state = GAME.init(points)
    assert draw(state).split() == ["XO#", "#XO"]
    names = [move_name(action, SIDE, GAME.moves) for action in np.flatnonzero(state.legal).tolist()]
    assert names == ["B2-B1", "A1-B1", "B2-C2"]
    state = STEP(state, parse_move("B2-C2", points, SIDE, GAME.moves))
    assert draw(state).split() == ["XO#", "#.X"]
    assert float(GAME.heuristic(state, 1)) == 0  # one stone of each side can move
    state = STEP(state, parse_move("b1a1", points, SIDE, GAME.moves))
    assert state.terminated
    assert float(state.outcome) == -1.0
    assert float(GAME.heuristic(state, -1)) == SIDE * SIDE
    with pytest.raises(ValueError, match="no two of its points are neighbours"):
        GAME.init(np.eye(3, dtype=bool))
