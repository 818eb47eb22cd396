"""The check for other people's games: it passes a good one and names what a bad one does."""

import dataclasses
import functools

import jax.numpy as jnp
import pytest

from saz_jax import make_game
from saz_jax.games import contract
from saz_jax.games.contract import BrokenPromise, check_game

make_tic_tac_toe = functools.partial(make_game, "gomoku", k=3)
LARGEST = 5


def spoilt(change):
    """Tic-tac-toe whose positions, wherever they come from, are changed."""

    def make(max_size):
        game = make_tic_tac_toe(max_size)
        return dataclasses.replace(
            game,
            init=lambda size: change(game.init(size)),
            step=lambda state, action: change(game.step(state, action)),
            setup=lambda board, size, to_play: change(game.setup(board, size, to_play)),
        )

    return make


def stepping(step):
    """Tic-tac-toe with another step: (game, state, action) -> state."""

    def make(max_size):
        game = make_tic_tac_toe(max_size)
        return dataclasses.replace(game, step=functools.partial(step, game))

    return make


def setting(**settings):
    return lambda max_size: dataclasses.replace(make_tic_tac_toe(max_size), **settings)


def fills_the_padding(state):
    outside = jnp.arange(state.board.shape[0]) >= state.size
    return state._replace(board=jnp.where(outside[:, None], jnp.int8(1), state.board))


def allows_stones(state):
    taken = (state.board != 0).reshape(-1) & ~state.terminated
    return state._replace(legal=state.legal | jnp.append(taken, False))


def allows_the_corner_after_the_end(state):
    corner = state.terminated & state.points[0, 0] & (state.board[0, 0] == 0)
    return state._replace(legal=state.legal.at[0].max(corner))


def counts_on(game, state, action):
    return game.step(state, action)._replace(move_count=state.move_count + 1)


def counts_nothing(game, state, action):
    return game.step(state, action)._replace(move_count=state.move_count)


def keeps_the_turn(game, state, action):
    return game.step(state, action)._replace(to_play=state.to_play)


def top_row(state):
    return (jnp.arange(state.board.shape[0]) == 0)[:, None]


SPOILT = {
    "an outcome before the end": spoilt(lambda s: s._replace(outcome=jnp.float32(1))),
    "outcome is int32": spoilt(lambda s: s._replace(outcome=s.outcome.astype(jnp.int32))),
    "a position without a legal action": spoilt(lambda s: s._replace(legal=s.legal & ~s.terminated)),
    "a legal action on a stone": spoilt(allows_stones),
    "a stone off the live board": spoilt(fills_the_padding),
    "another action than pass": spoilt(allows_the_corner_after_the_end),
    "move_count changes after the end": stepping(counts_on),
    "a side that moves twice in a row": stepping(keeps_the_turn),
    "an action that does not count": stepping(counts_nothing),
    "a game longer than max_moves": setting(max_moves=6),
    "do not cancel": setting(heuristic=lambda state, player: jnp.float32(1)),
    "always 0": setting(heuristic=lambda state, player: jnp.float32(0)),
    "a direction that leads to no adjacent point": setting(directions=((0, 2), (0, -2))),
    "a direction that is named twice": setting(directions=((0, 1), (0, -1), (0, 1))),
    "a direction without its opposite": setting(directions=((0, 1), (1, 0), (0, -1))),
    "symmetry 1 changes the neighbours": setting(directions=((0, 1), (0, -1))),
    "ownership is float32\\(\\)": setting(ownership=lambda state: jnp.float32(0)),
    "ownership beyond": setting(ownership=lambda state: 2.0 * state.board),
    "ownership off the live board": setting(ownership=lambda state: jnp.ones(state.board.shape)),
    "symmetry 1 changes the ownership": setting(ownership=lambda state: 1.0 * state.board * top_row(state)),
}


def test_a_good_game_keeps_every_promise():
    kept = check_game(make_tic_tac_toe, largest=LARGEST)
    assert len(kept) == len(contract.PROMISES)
    assert "padding changes nothing" in kept


@pytest.mark.parametrize("problem", SPOILT)
def test_a_bad_game_is_told_what_it_does(problem):
    with pytest.raises(BrokenPromise, match=problem):
        check_game(SPOILT[problem], largest=LARGEST)


def moving(change=lambda state: state, **settings):
    """Breakthrough with other settings, whose steps lead to changed positions."""

    def make(max_size):
        game = dataclasses.replace(make_game("breakthrough", max_size), **settings)
        return dataclasses.replace(game, step=lambda state, action: change(game.step(state, action)))

    return make


ends = contract.stones_are_placed_on_free_points_and_only_own_ones_are_moved
stays = contract.a_placed_stone_stays_and_a_pass_leaves_the_board_alone
edges = contract.neighbours_are_mutual_and_the_symmetries_keep_them
turns = contract.the_symmetries_commute_with_step
MOVING = {
    "a legal move of another's stone": (ends, moving(lambda s: s._replace(legal=~s.legal))),
    "a stone that stays": (stays, moving(lambda s: s._replace(board=s.board.at[3].set(1)))),
    "a move that goes along no edge": (edges, moving(directions=((-1, 0), (0, 1), (1, 0), (0, -1)))),
    "symmetry 1 changes the kinds of moves": (edges, moving(symmetries=(0, 1))),
    "symmetry 7 changes the stones": (turns, moving(light_view=7)),
}


@pytest.mark.parametrize("problem", MOVING)
def test_a_bad_game_whose_stones_move_is_told_what_it_does(problem):
    promise, make = MOVING[problem]
    sample = contract.play_sample(make, 4)
    with pytest.raises(BrokenPromise, match=problem):
        promise(sample)
