"""History: games release all their positions when they end, and exactly H iterations are kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saz_jax.training.replay import Positions, Replay, release

N = 3


def numbered(count: int, first: int = 0, lane: np.ndarray | None = None) -> Positions:
    """Positions that can be told apart by their size field."""
    blank = Positions.blank(N, count)
    lanes = np.zeros(count, np.int32) if lane is None else lane.astype(np.int32)
    number = np.arange(first, first + count, dtype=np.int32)
    seen = blank.observation._replace(size=number, to_play=np.where(number % 2, -1, 1).astype(np.int8))
    return blank._replace(observation=seen, lane=lanes)


def test_an_ended_game_releases_all_its_positions_with_the_outcome_seen_by_the_player_to_move():
    played = numbered(3)
    ended, pending = release(
        Positions.blank(N), played, np.array([[0], [0], [1]], bool), np.array([[0], [0], [-1]])
    )
    assert ended.observation.size.tolist() == [0, 1, 2]
    assert ended.outcome.tolist() == [-1, 1, -1]
    assert len(pending.observation.size) == 0


def test_an_open_game_waits_and_is_released_later_with_nothing_invented_before():
    ended, pending = release(
        Positions.blank(N), numbered(2), np.zeros((2, 1), bool), np.zeros((2, 1), np.float32)
    )
    assert len(ended.observation.size) == 0
    assert pending.observation.size.tolist() == [0, 1]
    last = np.array([[False], [True], [False]])
    ended, pending = release(pending, numbered(3, first=2), last, np.array([[0], [1], [0]]))
    assert ended.observation.size.tolist() == [0, 1, 2, 3]
    assert ended.outcome.tolist() == [1, -1, 1, -1]
    assert pending.observation.size.tolist() == [4]


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 4), st.randoms(use_true_random=False)
)
def test_every_position_of_every_ended_game_comes_out_once_with_its_own_outcome(chunks, lanes, random):
    """Against a plain loop over lanes, for games of random lengths cut into chunks of random lengths."""
    total = sum(chunks)
    ended = np.array([[random.random() < 0.3 for _ in range(lanes)] for _ in range(total)], bool)
    outcome = np.array([[random.choice([-1, 0, 1]) for _ in range(lanes)] for _ in range(total)], np.float32)
    lane = np.tile(np.arange(lanes), total)
    everything = numbered(total * lanes, lane=lane)

    expected = {}
    for b in range(lanes):
        game = []
        for t in range(total):
            game.append(t * lanes + b)
            if ended[t, b]:
                for number in game:
                    expected[number] = outcome[t, b] * everything.observation.to_play[number]
                game = []

    pending, found, start = Positions.blank(N), {}, 0
    for chunk in chunks:
        stop = start + chunk
        part = everything.take(np.arange(start * lanes, stop * lanes))
        released, pending = release(pending, part, ended[start:stop], outcome[start:stop])
        for number, z in zip(released.observation.size.tolist(), released.outcome.tolist(), strict=True):
            assert number not in found
            found[number] = z
        start = stop
    assert found == expected
    assert sorted(pending.observation.size.tolist()) == sorted(set(range(total * lanes)) - set(expected))


@pytest.mark.parametrize("history", [1, 3])
def test_replay_keeps_exactly_the_last_iterations(history):
    replay = Replay(history)
    for iteration in range(5):
        replay.add(numbered(2, first=10 * iteration))
    kept = np.concatenate([block.observation.size for block in replay.iterations])
    assert kept.tolist() == [10 * i + j for i in range(5 - history, 5) for j in range(2)]
    assert len(replay) == 2 * history


def test_one_pass_shows_every_position_once_and_another_seed_another_order():
    replay = Replay(20)
    replay.add(numbered(6))
    replay.add(numbered(6, first=6))
    seen = [batch.observation.size.tolist() for batch in replay.batches((0, 1), batch_size=4, epochs=1.0)]
    assert sorted(number for batch in seen for number in batch) == list(range(12))
    assert [len(batch) for batch in seen] == [4] * replay.steps(4, 1.0)
    assert seen == [batch.observation.size.tolist() for batch in replay.batches((0, 1), 4, 1.0)]
    assert seen != [batch.observation.size.tolist() for batch in replay.batches((0, 2), 4, 1.0)]


def test_passes_may_be_a_part_or_several_and_a_small_history_still_fills_a_batch():
    replay = Replay(20)
    replay.add(numbered(8))
    assert replay.steps(2, 0.5) == 2
    twice = np.concatenate([batch.observation.size for batch in replay.batches((0,), 4, 2.0)])
    assert sorted(twice.tolist()) == sorted([*range(8), *range(8)])
    (batch,) = replay.batches((0,), 32, 1.0)
    assert len(batch.observation.size) == 32


def test_surprising_positions_are_shown_more_often_and_all_of_them_once_on_average():
    replay = Replay(20)
    surprise = np.array([0, 0, 1, 1, 2, 8], np.float32)
    replay.add(numbered(6)._replace(surprise=surprise))
    passes = 600
    seen = np.concatenate(
        [batch.observation.size for batch in replay.batches((0,), 6, passes, surprise_weight=0.5)]
    )
    assert len(seen) == 6 * passes
    expected = 0.5 + 0.5 * surprise / surprise.mean()
    np.testing.assert_allclose(np.bincount(seen) / passes, expected, atol=0.1)


def test_where_nothing_is_surprising_everything_is_shown_alike():
    replay = Replay(20)
    replay.add(numbered(6))
    seen = np.concatenate(
        [batch.observation.size for batch in replay.batches((0,), 6, 2.0, surprise_weight=1.0)]
    )
    assert sorted(seen.tolist()) == sorted([*range(6), *range(6)])
