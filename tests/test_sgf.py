"""Games to and from SGF."""

import dataclasses
import subprocess
import sys

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import saz_jax
from saz_jax.render import sgf
from tests.built_in import NAMES

EVERY = {name: saz_jax.make_game(name, max_size=7) for name in NAMES}
GAMES = {name: game for name, game in EVERY.items() if game.sgf is not None}


def random_game(game: saz_jax.Game, size: int, seed: int) -> tuple[list[int], saz_jax.GameState]:
    random = np.random.default_rng(seed)
    state, step, actions = game.init(size), jax.jit(game.step), []
    while not state.terminated:
        actions.append(int(random.choice(np.flatnonzero(state.legal))))
        state = step(state, actions[-1])
    return actions, state


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("size", "seed"), [(5, 0), (6, 1), (7, 2)])
def test_whole_random_games_survive_the_round_trip(name, size, seed):
    game = GAMES[name]
    actions, _ = random_game(game, size, seed)
    record = sgf.from_sgf(sgf.to_sgf(game, size, actions), max_size=game.max_size)
    assert record.actions == tuple(actions)
    assert (record.game.name, record.size) == (name, size)


@pytest.mark.parametrize("points", ["aa", "a1"])
def test_a_move_along_an_edge_is_written_as_its_two_ends(points):
    game = dataclasses.replace(EVERY["breakthrough"], sgf=saz_jax.SGFFormat(game_type=99, points=points))
    actions, _ = random_game(game, 6, 0)
    assert f"B[{sgf._move(game, actions[0])}]" in sgf.to_sgf(game, 6, actions[:1])
    for action in actions:
        raw = sgf._move(game, action)
        assert len(raw) == 4
        assert sgf._action(game, raw.encode(), 1, (6, 6)) == action
    with pytest.raises(ValueError, match="off a board of side 6"):
        sgf._action(game, sgf._move(game, actions[0]).encode()[:2], 1, (6, 6))


def test_a_game_without_a_number_in_sgf_says_so():
    with pytest.raises(ValueError, match="breakthrough has no game type in SGF"):
        sgf.to_sgf(EVERY["breakthrough"], 6, [])


@pytest.mark.parametrize(("name", "kind"), [("go", 1), ("othello", 2), ("gomoku", 4), ("hex", 11)])
def test_the_file_names_the_kind_of_game_its_side_and_the_players(name, kind):
    text = sgf.to_sgf(GAMES[name], 6, [], dark="greedy", light="a]b")
    for part in (f"GM[{kind}]", "SZ[6]", "FF[4]", "PB[greedy]", r"PW[a\]b]"):
        assert part in text
    assert "RE[" not in text


@pytest.mark.parametrize("seed", range(3))
def test_a_finished_game_carries_its_result(seed):
    actions, state = random_game(GAMES["othello"], 5, seed)
    result = {1: "B+", -1: "W+", 0: "0"}[int(state.outcome)]
    assert f"RE[{result}]" in sgf.to_sgf(GAMES["othello"], 5, actions)


def test_actions_are_padded_for_the_side_that_is_asked_for():
    text = "(;FF[4]GM[1]SZ[5];B[ba];W[];B[ac])"
    assert sgf.from_sgf(text).actions == (1, 25, 10)
    assert sgf.from_sgf(text, max_size=7).actions == (1, 49, 14)


def test_the_first_letter_is_the_column_and_rows_go_down():
    text = sgf.to_sgf(GAMES["go"], 6, [2 * 7 + 5, 49])
    assert ";B[fc]" in text
    assert ";W[]" in text


def test_komi_and_k_come_back_from_the_file_unless_told_otherwise():
    go = saz_jax.make_game("go", max_size=5, komi=3.5)
    text = sgf.to_sgf(go, 5, [12])
    assert dict(sgf.from_sgf(text).game.options)["komi"] == 3.5
    assert dict(sgf.from_sgf(text, komi=0.5).game.options)["komi"] == 0.5
    tictactoe = saz_jax.make_game("gomoku", max_size=3, k=3)
    assert sgf.from_sgf(sgf.to_sgf(tictactoe, 3, [4])).game is tictactoe


def test_hex_is_written_as_sgf_has_it():
    game = saz_jax.make_game("hex", max_size=12, swap=True)
    actions = (10 * 12 + 2, 144, 0)
    written = sgf.to_sgf(game, 11, actions)
    assert ";B[c11];W[swap-pieces];B[a1])" in written
    record = sgf.from_sgf(written, max_size=12)
    assert (record.game, record.size, record.actions) == (game, 11, actions)


def test_hex_files_of_others_are_read():
    assert sgf.from_sgf("(;GM[11];B[K11];W[a1])").actions == (120, 0)  # 11 x 11 unless it says otherwise
    swapped = "(;GM[11]SZ[5];B[b1];W[swap-pieces])"
    assert sgf.from_sgf(swapped, swap=True).actions == (1, 25)
    with pytest.raises(ValueError, match=r"move 2 \(pass\) is illegal in hex"):
        sgf.from_sgf(swapped)
    with pytest.raises(ValueError, match=r"\[bb\] is off .* points from a1 to e5, or swap-pieces"):
        sgf.from_sgf("(;GM[11]SZ[5];B[bb])")


def test_the_komi_of_the_board_side_is_written_where_none_was_chosen():
    assert float(sgf.to_sgf(GAMES["go"], 7, []).split("KM[")[1].split("]")[0]) == 9.0


def test_passes_are_understood_in_both_spellings():
    assert sgf.from_sgf("(;GM[1]SZ[5];B[tt];W[])").actions == (25, 25)


def test_a_forced_pass_that_the_file_leaves_out_is_filled_in():
    game = GAMES["othello"]
    games = (random_game(game, 5, seed)[0] for seed in range(20))
    actions = next(actions for actions in games if 49 in actions)
    text = sgf.to_sgf(game, 5, actions)
    shorter = text.replace(";B[]", "").replace(";W[]", "")
    assert shorter != text
    assert sgf.from_sgf(shorter, max_size=7).actions == tuple(actions)


def test_the_last_line_of_the_largest_board_can_be_written():
    game = saz_jax.make_game("gomoku", max_size=26)
    text = sgf.to_sgf(game, 26, [26 * 26 - 1, 25])
    assert ";B[zz]" in text
    assert sgf.from_sgf(text).actions == (675, 25)


def test_a_larger_board_is_refused():
    with pytest.raises(ValueError, match=r"board side 27 exceeds.*at most 26"):
        sgf.to_sgf(saz_jax.make_game("gomoku", max_size=27), 27, [])
    with pytest.raises(ValueError, match="not a game in SGF"):
        sgf.from_sgf("(;GM[4]SZ[27];B[aa])")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a game in SGF"),
        ("hello", "not a game in SGF"),
        ("(;GM[1]SZ[5];B[aa]", "not a game in SGF"),
        ("(;GM[1]SZ[five];B[aa])", "not a game in SGF"),
        ("(;GM[1]SZ[19:])", "not a game in SGF"),
        ("(;GM[1]SZ[5]KM[much])", "not a game in SGF"),
        ("(;GM[x]SZ[5])", "not a game in SGF"),
        ("(;GM[3]SZ[8])", r"GM\[3\] is another game"),
        ("(;GM[2];B[aa])", "does not tell its board side"),
        ("(;GM[4]SZ[5];B[af])", r"move 1 \[af\] is off a board of side 5; use letters from aa to ee"),
        ("(;GM[4]SZ[5];B[AA])", r"move 1 \[AA\] is off"),
        ("(;GM[4]SZ[5];B[abc])", r"move 1 \[abc\] is off"),
        ("(;GM[4]SZ[5];B[aa];B[ab])", "move 2 is B's out of turn"),
        ("(;GM[4]SZ[5];B[aa];W[aa])", r"move 2 \(A1\) is illegal in gomoku"),
        ("(;GM[4]SZ[5];B[])", r"move 1 \(pass\) is illegal in gomoku"),
        ("(;GM[2]SZ[8];B[aa])", r"move 1 \(A1\) is illegal in othello"),
        ("(;GM[1]SZ[5];B[];W[];B[aa])", "move 3 comes after the end"),
        ("(;GM[1]SZ[5]AB[aa][bb];W[cc])", "sets up stones"),
        ("(;GM[2]SZ[4]AB[bb][cc]AW[bc][cb])", "sets up stones"),
    ],
)
def test_a_file_that_cannot_be_replayed_is_refused_with_the_reason(text, message):
    with pytest.raises(ValueError, match=message):
        sgf.from_sgf(text)


@given(st.one_of(st.text(), st.text("(;)[]GMSZBW125ab\\: ", max_size=40)))
def test_arbitrary_text_is_refused_or_read_but_never_crashes(text):
    try:
        record = sgf.from_sgf(text, max_size=26)
    except ValueError:
        return
    assert 1 <= record.size <= 26


def test_an_illegal_game_is_not_written():
    with pytest.raises(ValueError, match=r"move 2 \(A1\) is illegal in gomoku"):
        sgf.to_sgf(GAMES["gomoku"], 5, [0, 0])
    with pytest.raises(ValueError, match=r"move 1 \(50\) is illegal in gomoku"):
        sgf.to_sgf(GAMES["gomoku"], 5, [50])


def test_without_sgfmill_the_error_names_the_extra():
    script = """
import sys
sys.modules["sgfmill"] = None
from saz_jax.render import sgf
try:
    sgf.from_sgf("(;GM[1]SZ[5])")
except ImportError as error:
    assert "saz_jax[sgf]" in str(error)
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", script], check=True)
