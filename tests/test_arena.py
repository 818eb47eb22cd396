"""Matches: fair, repeatable, and no search where no move is needed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.tree_util import Partial

from saz_jax import make_game
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.arena import lanes, matches
from saz_jax.arena.statistics import wilson_interval
from tests.race import make_race


def strong(key, states):
    return jnp.full(len(states.size), 9, jnp.int32)


def weak(key, states):
    return jnp.full(len(states.size), 1, jnp.int32)


def watched(player, calls):
    """The player, noting the batch size of every call that is really executed."""

    def play(key, states):
        jax.debug.callback(lambda _: calls.append(len(states.size)), states.move_count)
        return player(key, states)

    return play


def play_in(game, player, opponent, sizes, colours=None, **options):
    starts = jax.vmap(game.init)(jnp.asarray(sizes, jnp.int32))
    colours = np.ones(len(sizes), np.int8) if colours is None else np.asarray(colours, np.int8)
    return lanes.play_games(game, player, opponent, jax.random.key(0), starts, colours, **options)


def test_a_player_that_always_wins_gets_one_and_its_opponent_none():
    result = matches.match(make_race(), strong, weak, jax.random.key(0), size=4, games=10)
    assert (result.outcome, result.wins, result.ties, result.losses) == (1.0, 10, 0, 0)
    result = matches.match(make_race(), weak, strong, jax.random.key(0), size=4, games=10)
    assert (result.outcome, result.wins, result.ties, result.losses) == (0.0, 0, 0, 10)


def test_outcomes_are_those_computed_by_hand():
    """Equal players tie over an even number of actions; over an odd one dark names one more."""
    assert matches.match(make_race(), weak, weak, jax.random.key(0), size=4, games=6)[:4] == (0.5, 0, 6, 0)
    assert matches.match(make_race(), weak, weak, jax.random.key(0), size=5, games=6)[:4] == (0.5, 3, 0, 3)


def test_half_the_games_are_played_with_each_colour():
    records = matches.match(make_race(), strong, weak, jax.random.key(0), size=4, games=10).records
    assert records.colours.sum() == 0
    np.testing.assert_array_equal(records.outcomes, records.colours)
    np.testing.assert_array_equal(records.actions[:, 0], np.where(records.colours == 1, 9, 1))


@settings(max_examples=10)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from([1, -1])), min_size=9, max_size=9), st.booleans()
)
def test_every_game_is_played_to_its_end_by_the_right_players_whatever_its_length(games, alternate):
    sizes, colours = zip(*games, strict=True)
    records = play_in(make_race(alternate=alternate), strong, weak, sizes, colours, lanes=3)
    for row, size, colour, outcome in zip(records.actions, sizes, colours, records.outcomes, strict=True):
        turns = np.arange(size) if alternate else np.arange(size) // 2
        dark = turns % 2 == 0
        expected = np.where(dark == (colour == 1), 9, 1)
        np.testing.assert_array_equal(row[:size], expected)
        assert (row[size:] == -1).all()
        assert outcome == np.sign(np.where(dark, expected, -expected).sum())


def test_the_outcomes_of_play_match_are_seen_by_dark_and_in_the_order_of_sizes():
    sizes = [2, 5, 4, 1, 6, 3, 2]
    outcomes = matches.play_match(make_race(), weak, weak, jax.random.key(0), sizes, lanes=2)
    np.testing.assert_array_equal(outcomes, np.array(sizes) % 2)


@pytest.mark.parametrize("sizes", [4, "4x4", np.int32(4)])
def test_boards_that_are_no_list_are_refused(sizes):
    with pytest.raises(ValueError, match=r"sizes=.*4.* is no list; give one board per game, such as \["):
        matches.play_match(make_race(), weak, weak, jax.random.key(0), sizes)


def test_with_games_of_equal_length_nobody_is_asked_about_a_position_in_vain():
    calls = ([], [])
    records = play_in(
        make_race(), watched(strong, calls[0]), watched(weak, calls[1]), [4] * 16, [1, -1] * 8, lanes=4
    )
    jax.effects_barrier()
    assert [sum(noted) for noted in calls] == [16 * 4 // 2] * 2
    np.testing.assert_array_equal(records.asked, [32, 32])


def test_a_finished_game_does_not_wait_for_the_longest():
    """One long game among short ones: the short ones pass through the other lanes meanwhile."""
    game, calls = make_race(max_size=40), []
    sizes = [40] + [2] * 39
    records = play_in(game, watched(strong, calls), weak, sizes, [1, -1] * 20, lanes=2)
    jax.effects_barrier()
    waves = -(-len(sizes) // 4)
    assert sum(calls) == records.asked[0] < 0.25 * waves * 40 / 2 * 2  # the cost of a batch in lockstep
    assert sum(calls) < 1.5 * sum(sizes) / 2


def test_stragglers_are_searched_in_ever_fewer_lanes():
    calls = []
    sizes = [3] * 16 + [8] * 8 + [20] * 4 + [30] * 4
    play_in(make_race(max_size=30), watched(strong, calls), weak, sizes, [1, -1] * 16, lanes=16)
    jax.effects_barrier()
    assert sorted(set(calls), reverse=True) == [16, 8, lanes.MIN_LANES]
    assert calls == sorted(calls, reverse=True)


@pytest.mark.parametrize(("games", "width"), [(2, 1), (5, 3), (64, 32), (100, 25), (66, 17), (1, 1)])
def test_games_come_in_waves_of_equal_size(games, width):
    assert lanes.default_lanes(games) == width


def test_openings_are_random_and_mirrored_for_both_colours():
    game = make_race()
    records = matches.match(game, strong, weak, jax.random.key(0), size=6, games=20, opening_moves=2).records
    opening = records.actions[:, :2]
    np.testing.assert_array_equal(opening[::2], opening[1::2])
    assert len(np.unique(opening[::2], axis=0)) > 5
    assert (opening < game.num_actions - 1).all(), "a pass is no opening while there are points"
    np.testing.assert_array_equal(records.actions[:, 2], np.where(records.colours == 1, 9, 1))


def test_an_opening_of_odd_length_leaves_the_move_to_light():
    records = matches.match(
        make_race(), strong, weak, jax.random.key(0), size=6, games=8, opening_moves=1
    ).records
    np.testing.assert_array_equal(records.actions[:, 1], np.where(records.colours == 1, 1, 9))


def test_an_opening_that_ends_the_game_is_the_whole_game():
    result = matches.match(make_race(), strong, weak, jax.random.key(1), size=2, games=8, opening_moves=4)
    actions = result.records.actions
    assert (actions[:, :2] >= 0).all()
    assert (actions[:, 2:] == -1).all()
    np.testing.assert_array_equal(result.records.outcomes, np.sign(actions[:, 0] - actions[:, 1]))
    assert result.outcome == 0.5


def test_distinct_games_are_counted():
    assert matches.match(make_race(), strong, weak, jax.random.key(0), size=4, games=10).distinct_games == 2
    assert matches.match(make_race(), weak, weak, jax.random.key(0), size=4, games=10).distinct_games == 1
    player = random_player()
    assert (
        matches.match(make_race(), player, player, jax.random.key(0), size=6, games=10).distinct_games == 10
    )


def test_the_same_key_gives_the_same_games_and_another_key_others():
    def actions(seed):
        player = random_player()
        return matches.match(
            make_race(), player, player, jax.random.key(seed), size=6, games=8
        ).records.actions

    np.testing.assert_array_equal(actions(0), actions(0))
    assert (actions(0) != actions(1)).any()


def test_other_weights_of_the_same_player_are_not_compiled_again():
    traces = []

    def play(weights, key, states):
        traces.append(1)
        return jnp.full(len(states.size), weights, jnp.int32)

    def outcome(weights):
        return matches.match(
            make_race(), Partial(play, jnp.int32(weights)), weak, jax.random.key(0), size=4, games=4
        ).outcome

    assert outcome(2) == 1.0
    before = len(traces)
    assert outcome(0) == 0.0
    assert len(traces) == before


def test_progress_goes_up_to_all_games():
    seen = []
    play_in(make_race(), strong, weak, [1, 6, 3, 2, 5] * 5, lanes=2, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-2] < seen[-1] == 25


def test_progress_counts_the_moves_of_games_under_way():
    """Eight games of 20 moves on 20x20, four at a time; told every 8 plies."""
    seen = []
    play_in(make_race(20), strong, weak, [20] * 8, [1, -1] * 4, lanes=2, progress=seen.append)
    assert seen == pytest.approx([4 * 8 / 400, 4 * 16 / 400, 4 + 4 * 4 / 24, 4 + 4 * 12 / 32, 8])


def test_a_short_game_does_not_make_long_ones_seem_nearly_over():
    seen = []
    play_in(make_race(20), strong, weak, [2] + [20] * 9, [1, -1] * 5, lanes=5, progress=seen.append)
    assert seen[0] == pytest.approx(1 + 9 * 8 / (2 + 9 * 8))


@pytest.mark.parametrize("action", [36, 37, -1])
def test_a_player_that_breaks_the_rules_is_named(action):
    """36 is a pass, which the race does not allow before its end; the others do not exist."""

    def outlaw(key, states):
        return jnp.full(len(states.size), action, jnp.int32)

    with pytest.raises(ValueError, match="the opponent chose an illegal action"):
        matches.match(make_race(), strong, outlaw, jax.random.key(0), size=4, games=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": 3}, "3 games cannot be shared"),
        ({"games": 0}, "0 games cannot be shared"),
        ({"size": 7}, "board side 7 is outside 1 to 6"),
        ({"lanes": 0}, "lanes=0"),
        ({"opening_moves": -1}, "opening_moves=-1"),
        ({"opening_moves": 7}, "opening_moves=7"),
    ],
)
def test_mistakes_are_named_before_anything_is_played(options, message):
    with pytest.raises(ValueError, match=message):
        matches.match(make_race(), strong, weak, jax.random.key(0), **{"size": 4, "games": 4, **options})


def test_greedy_against_itself_is_even_and_its_games_replay_to_their_outcomes():
    game = make_game("othello", max_size=6)
    greedy = greedy_player(game)
    result = matches.match(
        game, greedy, greedy, jax.random.key(0), size=6, games=40, opening_moves=2, lanes=4
    )
    low, high = wilson_interval(result.outcome, 40)
    assert low <= 0.5 <= high
    assert result.wins + result.ties + result.losses == 40
    step = jax.jit(game.step)
    for row, outcome in list(zip(result.records.actions, result.records.outcomes, strict=True))[:4]:
        state = game.init(6)
        for action in row[row >= 0]:
            assert not state.terminated
            assert state.legal[action]
            state = step(state, int(action))
        assert state.terminated
        assert state.outcome == outcome
