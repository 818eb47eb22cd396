"""Hex against pgx, OpenSpiel and a plain oracle; the swap, the greedy score, and what networks are told."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saz_jax import make_game
from saz_jax.config import GINConfig
from saz_jax.games import contract, hex
from saz_jax.games.playthrough import random_games
from saz_jax.graphs.topology import live_nodes, observe
from saz_jax.networks.registry import make_network_of
from saz_jax.render import sgf, text
from tests.oracles.hex import Hex
from tests.positions import noisy_variables

SIDE = 7
GAME, SWAP = make_game("hex", SIDE), make_game("hex", SIDE, swap=True)
SETUP, STEP, HEURISTIC = jax.jit(GAME.setup), jax.jit(GAME.step), jax.jit(GAME.heuristic)
assert GAME.ownership is not None
OWNERSHIP = jax.jit(GAME.ownership)
SWAP_STEP = jax.jit(SWAP.step)
PASS = SIDE * SIDE


def oracle_of(board, size, to_play):
    return Hex(
        size, stones={(r, c): int(board[r, c]) for r, c in np.argwhere(board).tolist()}, to_play=to_play
    )


def assert_same(state, oracle):
    legal = np.zeros(PASS + 1, bool)
    for point in oracle.legal:
        legal[PASS if point is None else point[0] * SIDE + point[1]] = True
    np.testing.assert_array_equal(state.legal, legal)
    assert bool(state.terminated) == oracle.over
    assert float(state.outcome) == oracle.outcome
    assert int(state.to_play) == oracle.to_play
    board = {(r, c): int(state.board[r, c]) for r, c in np.argwhere(np.asarray(state.board)).tolist()}
    assert board == oracle.stones


def assert_owned(state, oracle):
    owned = np.asarray(OWNERSHIP(state))
    assert {(r, c): owned[r, c] for r, c in np.argwhere(owned).tolist()} == oracle.ownership


def random_arrangement(seed, size):
    rng = np.random.default_rng(seed)
    board = np.zeros((SIDE, SIDE), np.int8)
    board[:size, :size] = rng.choice([0, 1, -1], (size, size), p=rng.dirichlet([1, 1, 1]))
    return board, rng


@pytest.mark.parametrize("game", [GAME, SWAP], ids=["plain", "swap"])
def test_every_move_of_random_games_agrees_with_the_oracle(game):
    sizes = np.repeat(np.arange(2, SIDE + 1), 8)
    states, actions = random_games(game, sizes, seed=4, length=game.max_moves)
    swaps = 0
    for b, size in enumerate(sizes.tolist()):
        oracle = Hex(size, swap=game is SWAP)
        for t, action in enumerate(actions[:, b].tolist()):
            assert_same(jax.tree.map(lambda x, t=t, b=b: x[t, b], states), oracle)
            if oracle.over:
                break
            swaps += action == PASS
            oracle.play(None if action == PASS else divmod(action, SIDE))
        end = jax.tree.map(lambda x, b=b: x[-1, b], states)
        assert_same(end, oracle)
        assert_owned(end, oracle)
        assert oracle.ownership
    assert (swaps > 0) == (game is SWAP)


def test_no_game_is_tied_and_both_sides_win_some():
    states, _ = random_games(GAME, np.repeat(np.arange(2, SIDE + 1), 16), seed=5, length=GAME.max_moves)
    assert set(states.outcome[-1].tolist()) == {1.0, -1.0}


@settings(max_examples=60)
@given(st.integers(2, SIDE), st.integers(0, 2**32 - 1), st.sampled_from([1, -1]))
def test_any_arrangement_of_stones_is_read_as_the_oracle_reads_it(size, seed, to_play):
    board, rng = random_arrangement(seed, size)
    oracle, state = oracle_of(board, size, to_play), SETUP(board, size, to_play)
    assert oracle.over or not board[:size, :size].all()  # a full board has a winner
    assert_same(state, oracle)
    assert_owned(state, oracle)  # chains that reach one side alone are nobody's
    dark, light = (size * size if n is None else n for n in map(oracle.needed, (1, -1)))
    assert float(HEURISTIC(state, 1)) == light - dark == -float(HEURISTIC(state, -1))
    for _ in range(3):  # the chains that setup found are those that step goes on with
        action = int(rng.choice(np.flatnonzero(state.legal)))
        if oracle.over:
            break
        oracle.play(divmod(action, SIDE))
        state = STEP(state, action)
        assert_same(state, oracle)


@pytest.mark.parametrize("last", ["G1", "A3", "D4", "G5", "A7"])
def test_a_winding_chain_is_followed_to_its_end(last):
    rows = ["OOOOOOX", "XXXXXXX", "XOOOOOO", "XXXXXXX", "OOOOOOX", "XXXXXXX", "XOOOOOO"]
    board = np.array([[{"X": 1, "O": -1}[stone] for stone in row] for row in rows], np.int8)
    assert float(SETUP(board, SIDE, 1).outcome) == 1.0
    action = text.parse_move(last, SIDE, SIDE)
    board[divmod(action, SIDE)] = 0
    state = SETUP(board, SIDE, 1)
    assert not state.terminated
    assert float(STEP(state, action).outcome) == 1.0


def test_a_recorded_game_ends_as_it_did():
    """Light blocks from too near each time, and dark slips past along the short diagonal."""
    found = sgf.from_sgf("(;FF[4]GM[11]SZ[5];B[c3];W[c4];B[b4];W[b5];B[a5];W[c2];B[d2];W[d1];B[e1])")
    states, step = [found.game.init(5)], jax.jit(found.game.step)
    for action in found.actions:
        states.append(step(states[-1], action))
    assert [bool(state.terminated) for state in states] == [False] * 9 + [True]
    assert float(states[-1].outcome) == 1.0
    assert text.draw(states[-1]) == "...OX\n..OX.\n..X..\n.XO..\nXO..."


def test_games_agree_with_pgx_swaps_included():
    env, game, count = pgx.make("hex"), make_game("hex", 11, swap=True), 32
    rng, step = np.random.default_rng(1), jax.jit(jax.vmap(game.step))
    played, moves = [jax.vmap(game.init)(jnp.full(count, 11))], []
    for t in range(122):
        chosen = [rng.choice(np.flatnonzero(legal)) for legal in np.asarray(played[-1].legal)]
        moves.append(np.where((t == 1) & (np.arange(count) % 2 == 0), 121, chosen))  # every second game swaps
        played.append(step(played[-1], moves[-1]))
    states = jax.tree.map(lambda *x: np.stack(x), *played)
    actions = np.stack(moves)

    @jax.jit
    def follow(starts, actions):
        def move(state: Any, action) -> Any:
            state = jax.vmap(env.step)(state, action)
            colour = jnp.where(state._x.step_count % 2 == 0, 1, -1)
            board = jnp.sign(state._x.board) * colour[:, None]
            first = jnp.take_along_axis(state.rewards, state._player_order[:, :1], axis=1)[:, 0]
            return state, (board, state.legal_action_mask, state.terminated, first)

        return jax.lax.scan(move, starts, actions)[1]

    starts: Any = jax.vmap(env.init)(jax.random.split(jax.random.key(0), count))
    with jax.numpy_rank_promotion("allow"):  # pgx relies on it
        board, legal, terminated, reward = map(np.asarray, follow(starts, actions))
    ended = states.terminated[1:]
    lasts = ~states.terminated[:-1]  # pgx stops paying after the end
    np.testing.assert_array_equal(terminated, ended)
    np.testing.assert_array_equal(board.reshape(states.board[1:].shape)[lasts], states.board[1:][lasts])
    np.testing.assert_array_equal(legal[~ended], states.legal[1:][~ended])
    np.testing.assert_array_equal(reward[lasts & ended], states.outcome[1:][lasts & ended])


@pytest.mark.parametrize("swap", [False, True])
def test_games_agree_with_openspiel(swap):
    """On rectangles without the swap: there OpenSpiel may mirror the stone to a place off the board."""
    pyspiel = pytest.importorskip("pyspiel")
    game = SWAP if swap else GAME
    squares = [(size, size) for size in range(2, SIDE + 1)]
    pairs = squares if swap else [*squares, (2, 5), (5, 2), (3, 7), (7, 4), (6, 5)]
    points = np.zeros((len(pairs), SIDE, SIDE), bool)
    for board, (rows, columns) in zip(points, pairs, strict=True):
        board[:rows, :columns] = True
    states, actions = random_games(game, np.repeat(points, 8, axis=0), seed=9, length=game.max_moves)
    for b, (rows, columns) in enumerate(pair for pair in pairs for _ in range(8)):
        said = f"num_rows={rows},num_cols={columns},swap={swap}"
        theirs = pyspiel.load_game(f"hex({said})").new_initial_state()
        for t in range(game.max_moves + 1):
            ours = jax.tree.map(lambda x, t=t, b=b: x[t, b], states)
            assert bool(ours.terminated) == theirs.is_terminal()
            if ours.terminated:
                assert float(ours.outcome) == theirs.returns()[0]
                break
            assert int(ours.to_play) == (1, -1)[theirs.current_player()]
            legal = np.asarray(ours.legal[:-1]).reshape(SIDE, SIDE)[:rows, :columns]
            assert np.flatnonzero(np.append(legal, ours.legal[-1])).tolist() == theirs.legal_actions()
            action = int(actions[t, b])
            row, column = divmod(action, SIDE)
            theirs.apply_action(rows * columns if action == PASS else row * columns + column)


def test_the_swap_mirrors_the_stone_in_the_other_colour_and_hands_the_move_back():
    state = SWAP_STEP(SWAP.init(4), text.parse_move("D2", 4, SIDE))
    assert state.legal[PASS]
    assert int(state.legal.sum()) == 16
    swapped = SWAP_STEP(state, PASS)
    assert text.draw(swapped) == "....\n....\n....\n.O.."
    assert (int(swapped.to_play), int(swapped.move_count)) == (1, 2)
    assert not swapped.legal[PASS]
    declined = SWAP_STEP(state, 0)
    assert text.draw(declined) == "O...\n...X\n....\n...."
    assert not declined.legal[PASS]


def test_a_stone_where_the_swapped_one_lay_is_another_chain():
    state = SWAP.init(5)
    for name in ("D2", "pass", "A1", "D2", "B1", "A4", "C1", "E2"):
        state = SWAP_STEP(state, text.parse_move(name, 5, SIDE))
    assert text.draw(state) == "XXX..\n...OO\n.....\nOO...\n....."
    assert not state.terminated


def test_the_swap_is_offered_once_and_only_if_the_game_has_it():
    assert not STEP(GAME.init(4), 0).legal[PASS]
    assert not SWAP.init(4).legal[PASS]
    drawn = text.parse(SWAP, "X...\n....\n....\n....", to_play=-1)
    assert not drawn.legal[PASS]
    assert not SWAP_STEP(drawn, 1).legal[PASS]
    assert not SWAP_STEP(text.parse(SWAP, "X...\nO...\n....\n....", to_play=1), 1).legal[PASS]


@pytest.mark.parametrize(
    ("drawing", "dark", "light"),
    [
        ("...\n...\n...", 3, 3),
        (".X.\n...\n...", 2, 3),
        ("..X\n.X.\nX..", 0, 9),  # this diagonal touches
        ("X..\n.X.\n..X", 2, 3),  # this one does not
        ("OOO\n...\n...", 9, 0),
        (".O..\n.O..\n.OOO\n....", 4, 1),
    ],
)
def test_the_greedy_score_counts_the_stones_that_are_missing(drawing, dark, light):
    state = text.parse(GAME, drawing)
    points = jnp.arange(SIDE) < state.size
    assert hex.stones_needed(state.board, points[:, None] & points[None, :]).tolist() == [dark, light]
    assert float(GAME.heuristic(state, 1)) == light - dark


def test_stones_needed_and_the_score_do_not_depend_on_the_padding():
    wide = make_game("hex", 10)
    for drawing in ("OOO\n...\n...", ".X.\n...\nO.."):
        narrow_state, wide_state = text.parse(GAME, drawing), text.parse(wide, drawing)
        assert float(GAME.heuristic(narrow_state, 1)) == float(wide.heuristic(wide_state, 1))


@settings(max_examples=30)
@given(st.integers(2, SIDE), st.integers(0, 2**32 - 1))
def test_light_s_question_is_dark_s_in_the_mirror(size, seed):
    board, _ = random_arrangement(seed, size)
    state, other = SETUP(board, size, 1), SETUP(-board.T, size, -1)
    assert state.outcome == -other.outcome
    assert float(HEURISTIC(state, 1)) == float(HEURISTIC(other, -1))
    np.testing.assert_array_equal(OWNERSHIP(state), -OWNERSHIP(other).T)


def test_holes_block_both_sides_and_the_sides_are_those_of_the_rectangle():
    """The rules take a mask of points: here 3 rows and 4 columns, the middle row nearly cut out."""
    points = np.zeros((5, 5), bool)
    points[:3, :4] = True
    points[1, :3] = False
    board = np.zeros((5, 5), np.int8)
    assert hex.stones_needed(jnp.asarray(board), jnp.asarray(points)).tolist() == [3, 4]
    first, last = hex._ends(jnp.asarray(points), -1)
    assert np.argwhere(first).tolist() == [[0, 0], [2, 0]]
    assert np.argwhere(last).tolist() == [[0, 3], [1, 3], [2, 3]]
    points[1, 3] = False
    assert hex.stones_needed(jnp.asarray(board), jnp.asarray(points)).tolist() == [8, 4]


def test_a_quarter_turn_is_no_symmetry_of_hex():
    turned = dataclasses.replace(hex.make(5), symmetries=(0, 1))
    sample = contract.Sample(lambda n: turned, turned, np.array([5]), None, np.zeros(0))  # pyright: ignore
    with pytest.raises(contract.BrokenPromise, match="symmetry 1 changes the neighbours"):
        contract.neighbours_are_mutual_and_the_symmetries_keep_them(sample)


def test_boards_beyond_the_labels_are_refused():
    with pytest.raises(ValueError, match="max_size=181 is too large for hex; use at most 180"):
        make_game("hex", 181)


def test_a_network_is_told_which_sides_are_whose():
    """The graph alone cannot tell rows from columns: the mirrored game in other colours must look the same,
    and the same stones must look different to the side that wants the other direction."""
    network = make_network_of(GINConfig(hidden=8, head=8), GAME)
    variables = noisy_variables(network)
    board = np.zeros((SIDE, SIDE), np.int8)
    for row, column in ((1, 0), (1, 1), (1, 2)):
        board[row, column] = 1
    states = jax.vmap(GAME.setup, (0, None, 0))(np.stack([board, -board.T, -board]), 5, np.array([1, -1, -1]))
    said = network.infer(variables, observe(states), jax.vmap(live_nodes)(states))
    logits, value = said.logits, said.value
    points = np.asarray(logits[:, :-1]).reshape(3, SIDE, SIDE)[:, :5, :5]
    np.testing.assert_allclose(points[0], points[1].T, atol=1e-5)
    np.testing.assert_allclose(value[0], value[1], atol=1e-5)
    assert abs(float(value[0] - value[2])) > 1e-4


def test_the_planes_are_the_sides_to_join():
    seen = observe(GAME.init(3))
    own, other = np.asarray(hex.own_sides(seen)), np.asarray(hex.other_sides(seen))
    assert own[:3, :3].tolist() == [[1, 1, 1], [0, 0, 0], [1, 1, 1]]
    np.testing.assert_array_equal(own.T, other)
    assert own.sum() == 6
    np.testing.assert_array_equal(hex.own_sides(seen._replace(to_play=jnp.int8(-1))), other)
