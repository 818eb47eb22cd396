"""What every game promises, whatever its rules; a new game is one more entry in CONTRACT."""

from typing import cast

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.games import GAMES
from saz_jax.games.board import INVERSE_SYMMETRY, live_points, live_to_padded, padded_to_live, symmetry
from tests.playing import random_games, replay

CONTRACT = [("othello", {}), ("gomoku", {}), ("gomoku", {"k": 3}), ("go", {})]
LARGEST = 19


@pytest.fixture(scope="module", params=CONTRACT, ids=lambda entry: "-".join([entry[0], *entry[1]]))
def entry(request):
    return request.param


def make(entry, max_size):
    name, options = entry
    return make_game(name, max_size, **options)


@pytest.fixture(scope="module")
def played(entry):
    """One batch of random games, two on every side from the smallest to 19, to their end and beyond."""
    game = make(entry, LARGEST)
    sizes = np.repeat(np.arange(game.min_size, LARGEST + 1), 2)
    states, actions = random_games(game, sizes, seed=0, length=game.max_moves + 2)
    return game, sizes, states, actions


def batch(states, *index):
    return jax.tree.map(lambda x: x[index], states)


def lasts(states):
    """bool[T, B]: the game still went on when action t was chosen."""
    return ~states.terminated[:-1]


def test_the_contract_covers_every_game():
    assert {name for name, _ in CONTRACT} == set(GAMES)


def test_there_is_always_a_legal_action(played):
    _, _, states, _ = played
    assert states.legal.any(-1).all()


def test_legal_actions_are_free_live_points_or_pass(played):
    game, sizes, states, _ = played
    live = np.asarray(jax.vmap(live_points, (0, None))(sizes, game.max_size))
    free = (states.board == 0) & live[None]
    points = states.legal[..., :-1].reshape(states.board.shape)
    assert not (points & ~free).any()


def test_nothing_is_ever_placed_off_the_live_board(played):
    game, sizes, states, _ = played
    live = np.asarray(jax.vmap(live_points, (0, None))(sizes, game.max_size))
    assert not states.board[:, ~live].any()
    assert (states.size == sizes[None]).all()


def test_a_finished_game_allows_exactly_pass(played):
    game, _, states, _ = played
    only_pass = np.arange(game.num_actions) == game.num_actions - 1
    assert (states.legal[states.terminated] == only_pass[None]).all()


def test_a_finished_game_no_longer_changes(played):
    _, _, states, _ = played
    over = states.terminated[:-1]
    assert over.any()
    for field in states._fields[:-1]:
        before, after = getattr(states, field)[:-1], getattr(states, field)[1:]
        assert (before[over] == after[over]).all(), field


def test_the_sides_alternate_and_every_action_counts(played):
    _, _, states, _ = played
    going = lasts(states)
    assert (states.to_play[0] == 1).all()
    assert (states.to_play[1:][going] == -states.to_play[:-1][going]).all()
    assert (states.move_count[1:][going] == states.move_count[:-1][going] + 1).all()


def test_a_placed_stone_stays_and_a_pass_leaves_the_board_alone(played):
    game, _, states, actions = played
    for t, b in np.argwhere(lasts(states)):
        before, after, action = states.board[t, b], states.board[t + 1, b], actions[t, b]
        if action == game.num_actions - 1:
            assert (before == after).all()
        else:
            assert after.reshape(-1)[action] == states.to_play[t, b]


def test_every_game_ends_within_its_cap_and_not_before_it_says_so(played):
    game, _, states, _ = played
    assert states.terminated[game.max_moves].all()
    assert not states.terminated[0].any()


def test_the_outcome_is_a_win_a_tie_or_a_loss_and_zero_until_the_end(played):
    _, _, states, _ = played
    assert np.isin(states.outcome, (-1, 0, 1)).all()
    assert not states.outcome[~states.terminated].any()
    assert len(np.unique(states.outcome[-1])) > 1


def test_the_heuristic_is_zero_sum(played):
    game, _, states, _ = played
    middle = batch(states, len(states.size) // 3)
    scores = jax.jit(jax.vmap(game.heuristic, (0, None)))
    assert (scores(middle, 1) == -scores(middle, -1)).all()
    assert (scores(middle, 1) != 0).any()


def test_dtypes_and_shapes_are_those_of_the_record(played):
    game, sizes, states, _ = played
    side, nodes, length = game.max_size, game.num_actions, len(states.size)
    expected = {
        "board": ((side, side), np.int8),
        "size": ((), np.int32),
        "to_play": ((), np.int8),
        "legal": ((nodes,), np.bool_),
        "terminated": ((), np.bool_),
        "outcome": ((), np.float32),
        "move_count": ((), np.int32),
    }
    for field, (shape, dtype) in expected.items():
        array = getattr(states, field)
        assert (array.shape, array.dtype) == ((length, len(sizes), *shape), dtype), field


def test_options_are_what_builds_the_game_again(entry):
    game = make(entry, 9)
    assert make_game(game.name, game.max_size, **dict(game.options)) is game


def test_illegal_and_out_of_range_actions_change_nothing_inside_jit(entry):
    game = make(entry, 7)
    states = jax.vmap(game.init)(jnp.arange(game.min_size, 8))
    for t in range(6):
        states = jax.jit(jax.vmap(game.step))(states, jnp.argmax(jnp.roll(states.legal, t, 1), 1) - t)
    actions = jnp.append(jnp.arange(-60, game.num_actions + 60), jnp.array([-(2**31), 2**31 - 1]))
    every = jax.jit(jax.vmap(jax.vmap(game.step, (None, 0)), (0, None)))(states, actions)
    allowed = np.zeros((len(states.size), len(actions)), bool)
    allowed[:, 60 : 60 + game.num_actions] = np.asarray(states.legal & ~states.terminated[:, None])
    assert allowed.any()
    for before, after in zip(jax.tree.leaves(states), jax.tree.leaves(every), strict=True):
        same = np.asarray(after == before[:, None]).reshape(*allowed.shape, -1)
        assert same[~allowed].all()
    assert (np.asarray(every.move_count) == np.asarray(states.move_count)[:, None] + allowed).all()


def test_plain_jit_vmap_and_scan_agree(entry):
    game, size, length = make(entry, 6), 5, 6
    states, actions = random_games(game, [size], seed=3, length=length)
    plain = jitted = game.init(size)
    several = jax.vmap(game.init)(jnp.array([size, 6, size]))
    step, steps = jax.jit(game.step), jax.jit(jax.vmap(game.step))
    for t, (action,) in enumerate(actions):
        plain, jitted = game.step(plain, action), step(jitted, action)
        several = steps(several, jnp.array([action, 0, action]))
        expected = batch(states, t + 1, 0)
        for state in (plain, jitted, batch(several, 0), batch(several, 2)):
            chex.assert_trees_all_equal(jax.device_get(state._replace(aux=())), expected)


def test_one_trace_serves_every_side(entry):
    game = make(entry, LARGEST)
    chex.clear_trace_counter()
    init = jax.jit(chex.assert_max_traces(game.init, n=1))
    step = jax.jit(chex.assert_max_traces(game.step, n=1))
    for size in range(game.min_size, LARGEST + 1):
        state = init(jnp.int32(size))
        state = step(state, jnp.argmax(state.legal))
        assert int(state.size) == size
        assert int(state.move_count) == 1


def test_padding_changes_nothing(entry):
    small, large = make(entry, 9), make(entry, 13)
    sizes = np.repeat(np.arange(small.min_size, 10), 4)
    states, actions = random_games(small, sizes, seed=1, length=small.max_moves)
    sides = jnp.asarray(sizes)[None]
    moved = np.asarray(live_to_padded(padded_to_live(jnp.asarray(actions), sides, 9), sides, 13))
    padded = replay(large, jax.vmap(large.init)(jnp.asarray(sizes)), moved)
    for field in ("size", "to_play", "terminated", "outcome", "move_count"):
        assert (getattr(padded, field) == getattr(states, field)).all(), field
    assert (padded.board[..., :9, :9] == states.board).all()
    points = padded.legal[..., :-1].reshape(padded.board.shape)
    assert (points[..., :9, :9].reshape(states.legal[..., :-1].shape) == states.legal[..., :-1]).all()
    assert not points[..., 9:, :].any()
    assert not points[..., :, 9:].any()
    assert (padded.legal[..., -1] == states.legal[..., -1]).all()


def test_the_eight_symmetries_commute_with_step(entry):
    game = make(entry, 9)
    sizes = jnp.arange(game.min_size, 10)
    states, actions = random_games(game, np.asarray(sizes), seed=2, length=game.max_moves)
    for which in range(8):
        source = np.asarray(jax.vmap(symmetry, (None, 0, None))(which, sizes, 9))  # [B, V]
        target = np.asarray(jax.vmap(symmetry, (None, 0, None))(INVERSE_SYMMETRY[which], sizes, 9))

        def transform(boards, points=source[:, :-1]):
            flat = boards.reshape(*boards.shape[:-2], -1)
            return np.take_along_axis(flat, np.broadcast_to(points, flat.shape), -1).reshape(boards.shape)

        starts = jax.vmap(game.setup)(transform(states.board[0]), sizes, states.to_play[0])
        turned = replay(game, starts, np.take_along_axis(target, actions.T, 1).T)
        assert (turned.board == transform(states.board)).all()
        legal = np.take_along_axis(np.asarray(states.legal), np.broadcast_to(source, states.legal.shape), -1)
        assert (turned.legal == legal).all()
        assert (turned.outcome == states.outcome).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_game("chess", 8), "unknown game 'chess'; choose one of go, gomoku, othello"),
        (lambda: make_game("othello", cast(int, 8.0)), "max_size must be a whole number, not 8.0"),
        (lambda: make_game("othello", True), "max_size must be a whole number, not True"),
        (lambda: make_game("othello", 2), "max_size=2 is too small for othello; use at least 3"),
        (lambda: make_game("gomoku", 4), "max_size=4 is too small for gomoku; use at least 5"),
        (lambda: make_game("othello", 8, k=5), "othello has no option 'k'; it takes none"),
        (lambda: make_game("go", 9, kom=5), "go has no option 'kom'; it takes komi, superko, move_cap"),
        (lambda: make_game("gomoku", 9, k=0), "k=0 .* at least 1"),
        (lambda: make_game("gomoku", 9, k=-5), "k=-5 .* at least 1"),
        (lambda: make_game("gomoku", 9, k=5.0), "k=5.0 .* whole number"),
        (lambda: make_game("gomoku", 9, k=True), "k=True .* whole number"),
        (lambda: make_game("gomoku", 9, k="5"), "k='5' of gomoku is not a number"),
        (lambda: make_game("gomoku", 9, k=[5]), "k=\\[5\\] of gomoku is not a number"),
        (lambda: make_game("othello", 8).init(0), "board side 0 is too small for othello; the smallest is 3"),
        (lambda: make_game("othello", 8).init(-1), "board side -1 is too small"),
        (lambda: make_game("othello", 8).init(9), "board side 9 exceeds max_size=8"),
        (lambda: make_game("gomoku", 9).init(4), "board side 4 is too small for gomoku; the smallest is 5"),
        (lambda: make_game("othello", 8).init(6.0), "board side must be one whole number, not 6.0"),
        (lambda: make_game("othello", 8).init([6, 7]), "not \\[6, 7\\]; use jax.vmap"),
        (lambda: jax.jit(make_game("othello", 8).init)(6.0), "board side is float32\\[\\]"),
    ],
)
def test_bad_settings_and_sizes_are_named_with_the_remedy(call, message):
    make_game("gomoku", 9, k=5)  # an equal number of another type must not be taken for this one
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (-1, "action -1 is out of range; use 0 to 64"),
        (65, "action 65 is out of range; use 0 to 64"),
        (2**40, "action 1099511627776 is out of range"),
        (19.0, "action is float64\\[\\]; use one integer"),
        (jnp.float32(19), "action is float32\\[\\]"),
        (True, "action is bool\\[\\]"),
        (jnp.array([19]), "action is int32\\[1\\]; use one integer from 0 to 64, or jax.vmap"),
        (0, "action 0 .A1. is illegal for dark .X. here; legal are C2, B3, E4, D5\n......\n......\n..OX"),
    ],
)
def test_bad_actions_are_named_with_the_remedy(action, message):
    game = make_game("othello", 8)
    with pytest.raises(ValueError, match=message):
        game.step(game.init(6), action)


def test_a_float_action_is_refused_inside_jit_too():
    game = make_game("othello", 8)
    with pytest.raises(ValueError, match="action is float32"):
        jax.jit(game.step)(game.init(6), 19.0)


@pytest.mark.parametrize(
    ("board", "size", "to_play", "message"),
    [
        (np.zeros((6, 6)), 6, 1, "shape \\(6, 6\\); pad it to \\(8, 8\\)"),
        (np.full((8, 8), 2), 8, 1, "board holds 2"),
        (np.ones((8, 8)), 6, 1, "outside its live 6 x 6 corner"),
        (np.zeros((8, 8)), 9, 1, "board side 9 exceeds max_size=8"),
        (np.zeros((8, 8)), 6, 0, "to_play=0 is nobody"),
    ],
)
def test_impossible_positions_are_named_with_the_remedy(board, size, to_play, message):
    with pytest.raises(ValueError, match=message):
        make_game("othello", 8).setup(board, size, to_play)


def test_equal_arguments_give_the_same_game():
    assert make_game("gomoku", 9) is make_game("gomoku", 9, k=5)
    assert make_game("gomoku", 9) is not make_game("gomoku", 9, k=4)
