"""Proofs in the tree: never wrong, as much as the tree shows, and obeyed by the moves and policies chosen."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import SearchConfig
from saz_jax.games import make_game
from saz_jax.search.tree import ROOT, tree_memory
from saz_jax.search.tree_search import MASKED, make_search, make_tree_search
from saz_jax.types import Array, Evaluation, Game, GameState
from tests.oracles import proofs as oracle
from tests.oracles import tictactoe
from tests.test_search import KEY, KINDS, neutral, opinionated, wander


def mixed(x: Array) -> Array:
    x = (x ^ (x >> 16)) * jnp.uint32(0x45D9F3B)
    x = (x ^ (x >> 16)) * jnp.uint32(0x45D9F3B)
    return x ^ (x >> 16)


def small_games() -> Game:
    """The oracle's games, one for each start."""

    def position(path: Array, move_count: Any) -> GameState:
        move_count = jnp.asarray(move_count, jnp.int32)
        ended = (move_count > 0) & ((move_count == oracle.DEPTH) | (mixed(path) % 5 == 0))
        actions = jnp.stack([mixed(path + jnp.uint32(3 + i)) % oracle.ACTIONS for i in range(3)])
        legal = jnp.zeros(oracle.ACTIONS, bool).at[actions].set(True)
        return GameState(
            board=jnp.zeros((3, 3), jnp.int8),
            points=jnp.ones((3, 3), bool),
            size=jnp.int32(3),
            to_play=jnp.where(mixed(path + jnp.uint32(1)) % 2 == 0, 1, -1).astype(jnp.int8),
            legal=jnp.where(ended, jnp.arange(oracle.ACTIONS) == oracle.ACTIONS - 1, legal),
            terminated=ended,
            outcome=jnp.where(ended, (mixed(path + jnp.uint32(2)) % 3).astype(jnp.float32) - 1, 0.0),
            move_count=move_count,
            aux=path,
        )

    def init(start: Any) -> GameState:
        return position(mixed(jnp.asarray(start, jnp.uint32)), 0)

    def step(state: GameState, action: Any) -> GameState:
        path = state.aux * jnp.uint32(oracle.ACTIONS) + jnp.asarray(action, jnp.uint32) + jnp.uint32(1)
        after = position(path, state.move_count + 1)
        return jax.tree.map(lambda old, new: jnp.where(state.terminated, old, new), state, after)

    def setup(board: Any, size: Any, to_play: Any) -> GameState:
        return init(size)

    return Game("small", 3, 3, oracle.DEPTH, init, step, setup, lambda state, player: jnp.float32(0))


def hashed(variables: Any, key: Array, states: GameState) -> Evaluation:
    """An opinion that follows from the path alone."""
    moves = jnp.arange(oracle.ACTIONS, dtype=jnp.uint32)
    logits = (mixed(states.aux[:, None] + 100 + moves[None]) % 1000).astype(jnp.float32) / 500
    value = (mixed(states.aux + jnp.uint32(99)) % 2001).astype(jnp.float32) / 1000 - 1
    return Evaluation(jnp.where(states.legal, logits, MASKED), 0.9 * value)


@functools.cache
def searched(kind: str, simulations: int, games: int = 2000) -> tuple[Any, Any, GameState]:
    game = small_games()
    states = jax.vmap(game.init)(jnp.arange(games))
    search = jax.jit(make_tree_search(game, hashed, SearchConfig(kind, simulations, solve=True)))
    return *jax.device_get(search(None, KEY, states, 1.0)), jax.device_get(states)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_never_wrong_and_as_tight_as_the_tree_allows(kind):
    _, tree, states = searched(kind, 12)
    solved = 0
    for index, root in enumerate(states.aux.tolist()):
        nodes = np.flatnonzero(tree.node_visits[index])
        paths = tree.states.aux[index, nodes].tolist()
        depths = tree.states.move_count[index, nodes].tolist()
        for node, path, depth in zip(nodes, paths, depths, strict=True):
            low, high = tree.proofs.lower[index, node], tree.proofs.upper[index, node]
            assert low <= oracle.minimax(path, depth) <= high
        known = oracle.bounds(root, 0, frozenset(paths))
        assert (tree.proofs.lower[index, ROOT], tree.proofs.upper[index, ROOT]) == known
        solved += known[0] == known[1]
    assert 500 < solved < 1900


@pytest.mark.parametrize("kind", KINDS)
def test_enough_simulations_solve_every_game_and_play_it_perfectly(kind):
    output, tree, states = searched(kind, 100)
    for index, root in enumerate(states.aux.tolist()):
        best = oracle.minimax(root, 0)
        assert tree.proofs.lower[index, ROOT] == tree.proofs.upper[index, ROOT] == best
        assert output.value[index] == best
        assert oracle.move_value(root, int(output.action[index]), 0) == best
        if best > -1:  # of lost moves none is better
            for action in np.flatnonzero(output.policy[index] > 1e-6).tolist():
                assert oracle.move_value(root, action, 0) == best
        np.testing.assert_allclose(output.policy[index].sum(), 1, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_proven_is_played_and_learned(kind):
    """After few simulations: a proven win is chosen, a proven loss only where all are."""
    output, tree, states = searched(kind, 12)
    lower, upper = tree.proofs.children_lower[:, ROOT], tree.proofs.children_upper[:, ROOT]
    chosen = np.arange(len(lower)), output.action
    won, lost = (lower == 1).any(1), (upper == -1) & states.legal
    assert 100 < won.sum() < 1900
    assert (lower[chosen][won] == 1).all()
    np.testing.assert_allclose(np.where(lower == 1, output.policy, 0).sum(1)[won], 1, atol=1e-5)
    escapes = lost.any(1) & (states.legal & ~lost).any(1)
    assert 100 < escapes.sum() < 1900
    assert not lost[chosen][escapes].any()
    assert np.where(lost, output.policy, 0)[escapes].max() < 1e-6
    exact = lower == upper
    visited = tree.children_visits[:, ROOT] > 0
    np.testing.assert_array_equal(tree.children_qvalues[:, ROOT][exact & visited], lower[exact & visited])


def test_a_solved_game_is_searched_no_further_and_the_others_are():
    output, tree, _ = searched("puct", 12)
    solved = tree.proofs.lower[:, ROOT] == tree.proofs.upper[:, ROOT]
    visits = output.visits.sum(1)
    assert (visits[~solved] == 12).all()
    assert visits[solved].mean() < 10


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_ends_proofs_change_nothing(kind):
    game = make_game("othello", 8)
    states = wander(game, [6, 8], 4, seed=0)
    config = SearchConfig(kind, 24, dirichlet_fraction=0.25)
    plain, proving = (
        jax.jit(make_search(game, opinionated, dataclasses.replace(config, solve=solve)))(
            None, KEY, states, 1.0
        )
        for solve in (False, True)
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), plain, proving)


@pytest.mark.parametrize("kind", KINDS)
def test_tic_tac_toe_is_solved_and_never_lost(kind):
    """From every position of five stones or more, by a search that knows nothing."""
    game = make_game("gomoku", 3, k=3)
    boards = sorted(b for b in tictactoe.reachable() if tictactoe.result(b) is None and sum(map(abs, b)) >= 5)
    stones = jnp.asarray(boards, jnp.int8).reshape(-1, 3, 3)
    players = jnp.asarray([tictactoe.player(board) for board in boards], jnp.int8)
    states = jax.vmap(game.setup, in_axes=(0, None, 0))(stones, 3, players)
    config = SearchConfig(kind, 100, solve=True)
    output, tree = jax.device_get(jax.jit(make_tree_search(game, neutral, config))(None, KEY, states, 0.0))
    for index, board in enumerate(boards):
        best = tictactoe.perfect(board)
        low, high = tree.proofs.lower[index, ROOT], tree.proofs.upper[index, ROOT]
        assert low == high == best == output.value[index]
        assert -tictactoe.perfect(tictactoe.play(board, int(output.action[index]))) == best


@pytest.mark.slow
def test_tic_tac_toe_is_solved_from_the_empty_board():
    game, simulations = make_game("gomoku", 3, k=3), 20_000
    states = jax.tree.map(lambda x: x[None], game.init(3))
    config = SearchConfig("puct", simulations, solve=True)
    output, tree = jax.device_get(jax.jit(make_tree_search(game, neutral, config))(None, KEY, states, 0.0))
    assert tree.proofs.lower[0, ROOT] == tree.proofs.upper[0, ROOT] == output.value[0] == 0
    assert output.visits.sum() < simulations


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_plies_of_othello_are_solved(kind):
    game = make_game("othello", 4)
    states = wander(game, [4] * 16, 7, seed=2)
    search = jax.jit(make_tree_search(game, neutral, SearchConfig(kind, 300, solve=True)))
    output, tree = jax.device_get(search(None, KEY, states, 0.0))
    step_all = jax.jit(jax.vmap(game.step, in_axes=(None, 0)))

    known: dict[tuple[bytes, int], int] = {}

    def best(state: GameState) -> int:
        """Seen by dark."""
        if state.terminated:
            return int(state.outcome)
        side = int(state.to_play)
        position = np.asarray(state.board).tobytes(), side
        if position not in known:
            after = jax.device_get(step_all(state, jnp.arange(game.num_actions)))
            moves = [jax.tree.map(lambda x, a=a: x[a], after) for a in np.flatnonzero(state.legal)]
            known[position] = side * max(side * best(move) for move in moves)
        return known[position]

    for index in range(16):
        state = jax.tree.map(lambda x, index=index: x[index], jax.device_get(states))
        value = best(state) * int(state.to_play)
        assert tree.proofs.lower[index, ROOT] == tree.proofs.upper[index, ROOT] == value
        assert output.value[index] == value


@pytest.mark.parametrize("kind", KINDS)
def test_a_forced_win_of_five_plies_is_found_in_gomoku(kind):
    """Three in a row that have to be answered make an open three, by a prior that likes long lines."""
    game = make_game("gomoku", 6, k=4)
    board = np.zeros((6, 6), np.int8)
    board[2, 0] = board[2, 1] = board[1, 2] = 1
    board[5, 5] = board[5, 0] = board[0, 5] = -1
    states = jax.tree.map(lambda x: x[None], game.setup(jnp.asarray(board), 6, 1))

    def likes_lines(variables: Any, key: Array, states: GameState) -> Evaluation:
        def longest(state: GameState) -> Array:
            after = jax.vmap(game.step, (None, 0))(state, jnp.arange(game.num_actions))
            return jax.vmap(game.heuristic, (0, None))(after, state.to_play)

        logits = 6 * jax.vmap(longest)(states)
        return Evaluation(jnp.where(states.legal, logits, MASKED), jnp.zeros(states.size.shape))

    config = SearchConfig(kind, 4000, solve=True)
    search = jax.jit(make_tree_search(game, likes_lines, config))
    output, tree = jax.device_get(search(None, KEY, states, 0.0))
    assert tree.proofs.lower[0, ROOT] == output.value[0] == 1
    assert output.action[0] == 2 * 6 + 2
    assert output.principal_variation[0, :2].tolist() == [14, 15]
    assert output.visits.sum() < 4000


def test_the_memory_of_proofs_is_counted():
    game = make_game("gomoku", 5, k=4)
    assert tree_memory(game, 4, 9, solve=True) - tree_memory(game, 4, 9) == 4 * 10 * (2 + 2 * 26)
