"""Self-play: sizes as weighted, games that restart at once, records that tell what happened."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import SearchConfig, SelfPlayConfig
from saz_jax.games import make_game
from saz_jax.training import devices
from saz_jax.training.iteration import as_positions
from saz_jax.training.replay import Positions, release
from saz_jax.training.selfplay import make_new_games, make_play, size_weights
from saz_jax.types import Evaluation

GUMBEL = SearchConfig(kind="gumbel", simulations=4)


def uniform(variables, key, states):
    """Knows nothing: every legal move alike, every position even."""
    logits = jnp.where(states.legal, 0.0, jnp.finfo(jnp.float32).min)
    return Evaluation(logits, jnp.zeros(states.size.shape))


def new_games(game, sizes, key, count, **settings):
    """B = count new games, by one program: operation by operation they would take seconds to compile."""
    return jax.jit(make_new_games(game, sizes, SelfPlayConfig(**settings)), static_argnums=1)(key, count)


def played(game, sizes, moves, games=8, seed=0, **settings):
    """(opening states, states after, Moves as numpy) of self-play with `uniform`."""
    config = SelfPlayConfig(games=games, favour="none", **settings)
    play = make_play(game, uniform, GUMBEL, config, sizes, moves, devices.make_mesh())
    states = new_games(game, sizes, jax.random.key(seed), games, favour="none")
    after, record = play({}, jax.random.key(seed + 1), states)
    return states, after, jax.device_get(record)


@pytest.mark.parametrize(
    ("favour", "weights"),
    [("small", [0.4, 0.3, 0.2, 0.1]), ("large", [0.1, 0.2, 0.3, 0.4]), ("none", [0.25] * 4)],
)
def test_new_games_draw_their_side_with_the_stated_weights(favour, weights):
    np.testing.assert_allclose(size_weights(4, favour), weights, rtol=1e-6)
    states = new_games(make_game("gomoku", 9), (9, 6, 8, 7), jax.random.key(0), 4000, favour=favour)
    drawn = np.asarray(states.size)
    share = [(drawn == side).mean() for side in (6, 7, 8, 9)]
    np.testing.assert_allclose(share, weights, atol=0.04)  # five standard deviations


def test_explicit_weights_go_with_the_sides_as_they_are_listed():
    game, weights = make_game("othello", 12), (1.0, 3.0, 2.0)
    drawn = np.asarray(new_games(game, (12, 6, 8), jax.random.key(0), 3000, size_weights=weights).size)
    share = [(drawn == side).mean() for side in (6, 8, 12)]
    np.testing.assert_allclose(share, [3 / 6, 2 / 6, 1 / 6], atol=0.05)


def test_a_game_that_ends_restarts_at_once_on_a_side_of_the_list():
    game = make_game("gomoku", 4, k=3)
    _, _, record = played(game, (3, 4), moves=24)
    assert record.ended.sum() > 8
    for t, b in zip(*np.nonzero(record.ended[:-1]), strict=True):
        fresh = game.init(int(record.observation.size[t + 1, b]))
        assert not record.observation.board[t + 1, b].any()
        assert record.observation.size[t + 1, b] in (3, 4)
        np.testing.assert_array_equal(record.observation.legal[t + 1, b], fresh.legal)
        assert record.observation.to_play[t + 1, b] == 1


def test_policies_are_distributions_over_legal_moves():
    _, _, record = played(make_game("othello", 6), (4, 5, 6), moves=16)
    np.testing.assert_allclose(record.policy.sum(-1), 1, atol=1e-5)
    assert not record.policy[~record.observation.legal].any()


def test_targets_have_the_right_sign_for_both_colours_and_through_forced_passes():
    game = make_game("othello", 4)
    _, _, record = played(game, (4,), moves=40, games=16)
    ended, _ = release(Positions.blank(4), as_positions(record), record.ended, record.outcome)
    passes = 0
    for lane in range(16):
        ours = ended.take(ended.lane == lane)
        stops = np.nonzero(record.ended[:, lane])[0]
        games = np.split(np.arange(len(ours.observation.size)), stops[:-1] + 1)
        for stop, positions in zip(stops, games, strict=True):
            dark = record.outcome[stop, lane]
            assert (ours.outcome[positions] == dark * ours.observation.to_play[positions]).all()
            only_pass = ~ours.observation.legal[positions][:, :-1].any(1)
            passes += only_pass.sum()
            # A forced pass is a move like any other: the side changes, and so does the sign.
            signs = ours.observation.to_play[positions]
            assert (signs[1:] == -signs[:-1]).all()
    assert passes > 0
    assert {-1.0, 1.0} <= set(ended.outcome.tolist())


def test_moves_are_drawn_before_temperature_moves_and_the_best_after_it():
    """With a uniform prior and no values to tell moves apart, all games play alike once they stop drawing."""
    game = make_game("gomoku", 5, k=4)

    def actions(temperature_moves):
        _, _, record = played(game, (5,), 4, games=16, temperature_moves=temperature_moves)
        stones = np.abs(np.asarray(record.observation.board[1:], np.int8) - record.observation.board[:-1])
        return [len({board.tobytes() for board in move}) for move in stones]

    assert actions(0)[0] == 1
    assert actions(25)[0] > 4


def test_new_games_may_begin_with_random_plies_but_never_end_with_them():
    game = make_game("gomoku", 4, k=2)
    states = new_games(game, (4,), jax.random.key(0), 400, favour="none", max_opening_moves=3)
    stones = (np.asarray(states.board) != 0).sum((1, 2))
    assert not np.any(states.terminated)
    # Three of four games are to have 0, 1 or 2 stones; a third one would often be the second in a row.
    np.testing.assert_allclose([(stones == n).mean() for n in (0, 1)], [0.25, 0.25], atol=0.1)
    assert set(stones.tolist()) == {0, 1, 2, 3}
    np.testing.assert_array_equal(states.move_count, stones)
    np.testing.assert_array_equal(states.to_play, np.where(stones % 2 == 0, 1, -1))
    assert len({tuple(board.reshape(-1).tolist()) for board in np.asarray(states.board)}) > 50


def test_a_share_of_the_moves_slips_to_any_legal_one():
    """Without slips, a policy that is sure of one move plays it."""

    def sure(variables, key, states):
        first = jax.nn.one_hot(jnp.argmax(states.legal, axis=1), states.legal.shape[1])
        return Evaluation(100.0 * first, jnp.zeros(states.size.shape))

    game = make_game("gomoku", 7)
    states = new_games(game, (7,), jax.random.key(0), 64, favour="none")

    def strayed(slips):
        """Share of the games whose first move was another one; and how many different moves there were."""
        config = SelfPlayConfig(games=64, random_move_share=slips)
        play = make_play(game, sure, GUMBEL, config, (7,), 1, devices.make_mesh())
        after, _ = play({}, jax.random.key(1), states)
        moves = np.asarray(after.board).reshape(64, -1).argmax(1)
        return np.mean(moves != 0), len(set(moves.tolist()))

    assert strayed(0.0) == (0, 1)
    share, different = strayed(0.5)
    assert 0.25 < share < 0.75
    assert different > 10


def test_new_games_may_branch_off_games_under_way():
    """By a stone of the side to move, which its own game need not have seen; else on an empty board."""
    game = make_game("gomoku", 4, k=3)
    _, _, record = played(game, (4,), moves=24, games=16, fork_share=0.5)
    seen, forked, fresh, other_moves = record.observation, 0, 0, 0
    for t, b in zip(*np.nonzero(record.ended[:-1]), strict=True):
        begun = seen.board[t + 1, b]
        changes = begun[None] - seen.board[t]
        by_one_stone = ((changes != 0).sum((1, 2)) == 1) & (changes.sum((1, 2)) == seen.to_play[t])
        if not begun.any():
            assert seen.to_play[t + 1, b] == 1
            fresh += 1
            continue
        (origins,) = np.nonzero(by_one_stone)
        assert len(origins) > 0
        assert (seen.to_play[t + 1, b] == -seen.to_play[t, origins]).all()
        other_moves += all((begun != seen.board[t + 1, c]).any() for c in origins if c != b)
        forked += 1
    assert forked > 10
    assert fresh > 10
    assert other_moves > 5


def test_an_earlier_self_has_one_side_of_a_share_of_the_games():
    """It likes the last legal move, the newest the first; what is learned is the newest's policy."""

    def likes(variables, key, states):
        far = jnp.arange(states.legal.shape[1])[None] * variables["taste"]
        return Evaluation(jnp.where(states.legal, far, -1e9), jnp.zeros(states.size.shape))

    game, newest, earlier = make_game("gomoku", 5), {"taste": jnp.float32(-9)}, {"taste": jnp.float32(9)}
    config = SelfPlayConfig(games=8, earlier_share=0.4, temperature_moves=0)
    play = make_play(game, likes, GUMBEL, config, (5,), 4, devices.make_mesh())
    states = new_games(game, (5,), jax.random.key(0), 8, favour="none")
    after, record = jax.device_get(play(newest, jax.random.key(1), states, earlier))
    boards = np.concatenate([record.observation.board, after.board[None]]).reshape(5, 8, 25)
    moves = np.abs(boards[1:] - boards[:-1]).argmax(2)
    np.testing.assert_array_equal(moves[:, 0], [24, 0, 23, 1])  # the earlier self is dark
    np.testing.assert_array_equal(moves[:, 1], [0, 24, 1, 23])  # or light
    np.testing.assert_array_equal(moves[:, 2:4], moves[:, :2])
    np.testing.assert_array_equal(moves[:, 4:], np.tile([[0], [1], [2], [3]], 4))
    first = record.observation.legal.argmax(2)
    np.testing.assert_array_equal(record.policy.argmax(2), first)


def test_play_goes_on_from_where_it_stopped():
    """The second stretch begins with the positions that the first one ended on."""
    game = make_game("gomoku", 5, k=4)
    config = SelfPlayConfig(games=4)
    play = make_play(game, uniform, GUMBEL, config, (5,), 8, devices.make_mesh())
    states = new_games(game, (5,), jax.random.key(0), 4, favour="none")
    middle, _ = play({}, jax.random.key(1), states)
    _, second = play({}, jax.random.key(2), middle)
    np.testing.assert_array_equal(second.observation.board[0], middle.board)
    np.testing.assert_array_equal(second.observation.legal[0], middle.legal)


def test_komi_varies_by_whole_points_around_the_games_own():
    game = make_game("go", 5)
    margin = game.init(5).margin
    assert margin is not None
    fair = -float(margin)
    states = new_games(game, (5,), jax.random.key(0), 400, margin_noise=4.0)
    change = -np.asarray(states.margin) - fair
    assert np.all(change == np.round(change))
    assert 3.4 < change.std() < 4.6
    assert abs(change.mean()) < 0.8
    same = new_games(game, (5,), jax.random.key(0), 4)
    assert np.all(np.asarray(same.margin) == -fair)
