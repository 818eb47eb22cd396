"""GTP: what controllers ask for is answered by the rules of the session, and junk by an error."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saz_jax.play.gtp import GTP
from saz_jax.play.session import Session, Setup
from tests.scripted import converse

make = functools.partial(GTP, name="saz_jax", version="1")


def new(game="go", size=5, **changes):
    return Session(Setup(game, size, dark="random", light="random", **changes))


def answers(session, *lines):
    """The answers to some commands, without the empty lines between them."""
    return [part for part in converse(make, session, lines).split("\n\n") if part]


def test_the_handshake_needs_no_session():
    def never():
        raise ValueError("nobody is at home")

    def face(_, lines, out):
        return make(never, lines, out)

    said = converse(
        face, None, ["1 protocol_version", "name", "version", "known_command play", "2 boardsize 9"]
    )
    assert said.split("\n\n")[:4] == ["=1 2", "= saz_jax", "= 1", "= true"]
    assert "?2 " in said
    assert "nobody is at home" in said


def test_list_commands_names_what_is_asked_for():
    commands = answers(new(), "list_commands")[0].removeprefix("= ").split("\n")
    wanted = """protocol_version name version known_command list_commands quit boardsize rectangular_boardsize
        clear_board komi play genmove reg_genmove undo showboard time_settings time_left final_score
        final_status_list loadsgf printsgf lz-analyze kata-analyze analyze genmove_analyze gogui-rules_game_id
        gogui-rules_board gogui-rules_board_size gogui-rules_legal_moves gogui-rules_side_to_move
        gogui-rules_final_result"""
    assert not set(wanted.split()) - set(commands)


def test_vertices_count_from_the_bottom_and_skip_i():
    session = new(size=9)
    assert answers(session, "play b A1", "play w J9", "play b I5") == [
        "=",
        "=",
        answers(session, "play b I5")[0],
    ]
    assert session.moves == [(1, (8, 0)), (-1, (0, 8))]


def test_othello_counts_from_the_top():
    session = new("othello", 6)
    assert "C2" in answers(session, "gogui-rules_legal_moves")[0]
    assert answers(session, "play b C2")[0] == "="
    assert session.moves == [(1, (1, 2))]
    assert answers(session, "gogui-rules_game_id", "gogui-rules_side_to_move") == ["= Othello", "= white"]
    rows = answers(session, "gogui-rules_board")[0].removeprefix("= ").split("\n")
    assert rows[-2].split()[2] == "X"  # the first line is the row with the highest number


def test_a_game_is_played_scored_and_taken_back():
    session = new()
    said = answers(session, "komi 0.5", "play b C3", "play w C3", "genmove w", "undo", "undo", "undo", "quit")
    assert said[:2] == ["=", "="]
    assert said[2].startswith("? illegal move")
    assert said[3].startswith("= ")
    assert said[4:] == ["=", "=", "? cannot undo", "="]
    assert answers(session, "play b pass", "play w pass", "final_score") == ["=", "=", "= W+0.5"]
    assert answers(session, "genmove b", "gogui-rules_final_result") == ["= pass", "= White wins (W+0.5)"]
    assert answers(session, "clear_board", "final_status_list alive") == ["=", "="]


def test_a_new_komi_keeps_the_moves():
    session = new()
    answers(session, "play b C3", "komi 3.5")
    assert session.moves == [(1, (2, 2))]
    assert answers(session, "final_score") == ["= B+21.5"]
    assert answers(session, "komi nan")[0].startswith("? syntax error")


def test_sizes_are_accepted_or_refused():
    session = new()
    said = answers(
        session, "boardsize 6", "boardsize 26", "boardsize 1000000000", "boardsize 1", "boardsize x"
    )
    assert said[0] == "="
    assert [s.startswith("? unacceptable size") for s in said[1:]] == [True, True, True, False]
    assert answers(session, "rectangular_boardsize 5 5") == ["="]
    assert session.size == 5


def test_rectangles_and_boards_with_holes_are_played():
    session = new()
    said = answers(session, "rectangular_boardsize 6 4", "play b F1", "play w A4", "play b A5", "showboard")
    assert said[:4] == ["=", "=", "=", said[3]]
    assert said[3].startswith("? illegal move")
    assert session.moves == [(1, (3, 5)), (-1, (0, 0))]
    assert said[4].split("\n")[1:6] == [
        "   A B C D E F",
        " 4 O . . . . .",
        " 3 . . . . . .",
        " 2 . . . . . .",
        " 1 . . . . . X",
    ]
    assert answers(session, "gogui-rules_board_size", "rectangular_boardsize 5 1000000000")[0] == "= 6 4"
    session = new("gomoku", shape="..#../...../#...#/...../.....")
    rows = answers(session, "gogui-rules_board")[0].removeprefix("= ").split("\n")
    assert rows == [". . . . ."] * 5  # GoGui skips what is neither stone nor point
    legal = answers(session, "gogui-rules_legal_moves")[0].split()
    assert "C5" not in legal
    assert len(legal) == 1 + 25 - 3
    assert answers(session, "play b C5")[0].startswith("? illegal move")


def test_analysis_tells_moves_and_ends_by_an_empty_line():
    session = new("othello", 6, max_size=6)
    said = converse(make, session, ["3 lz-analyze b 10", "analyze 50", "kata-analyze interval 5", "name"])
    assert said.startswith("=3\ninfo move ")
    assert said.count("info move") == 3
    assert said.endswith("\n\n= saz_jax\n\n")
    said = converse(make, session, ["genmove_analyze b 10"])
    assert "\nplay " in said
    assert len(session.moves) == 1


def test_games_are_saved_and_loaded(tmp_path):
    session = new()
    path = tmp_path / "game.sgf"
    answers(session, "play b C3", "play w D4", f"printsgf {path}", "clear_board")
    assert answers(session, f"loadsgf {path}", "printsgf")[0] == "="
    assert len(session.moves) == 2
    answers(session, f"loadsgf {path} 2")
    assert len(session.moves) == 1
    assert answers(session, "loadsgf /no/such/file")[0].startswith("? cannot load file")


def test_time_is_kept():
    session = new()
    assert answers(session, "time_settings 60 10 5", "time_left b 30 0", "time_left w 10 5") == ["="] * 3
    assert session.clock.left == {1: 30.0, -1: 10.0}
    assert session.clock.stones_left == {-1: 5}
    assert answers(session, "genmove b")[0].startswith("= ")
    assert answers(session, "time_settings 0 1 0") == ["="]
    assert session.clock.main is None


def test_comments_control_characters_and_unknown_commands():
    session = new()
    assert answers(session, "# nothing", "", "7 name # again", "\x01nam\x02e", "9") == [
        "=7 saz_jax",
        "= saz_jax",
        "?9 unknown command",
    ]
    assert answers(session, "what", "play", "play b", "play x A1", "play b Z99", "genmove") == [
        "? unknown command",
        "? syntax error: the colour is black or white",
        "? play takes a colour and a vertex",
        "? syntax error: the colour is black or white",
        "? illegal move: 'Z99' is no vertex on side 5; use a letter and a number, or pass",
        "? syntax error: the colour is black or white",
    ]


WORDS = """b w black white A1 C3 E5 e1 pass resign 0 5 6 7.5 -1 1000000000 alive dead seki nan inf interval"""
COMMANDS = """
    name list_commands boardsize rectangular_boardsize clear_board komi play play genmove reg_genmove undo
    showboard time_settings time_left final_score final_status_list lz-analyze analyze kata-analyze
    genmove_analyze gogui-rules_board gogui-rules_legal_moves gogui-rules_final_result
    gogui-rules_side_to_move gogui-rules_board_size gogui-rules_game_id known_command
"""


def word_of(text):
    return st.sampled_from(text.split())


LINE = st.one_of(
    st.builds(lambda c, w: " ".join([c, *w]), word_of(COMMANDS), st.lists(word_of(WORDS), max_size=3)),
    st.text(max_size=30).filter(lambda text: "quit" not in text and "sgf" not in text),
)
SESSION = {}


@pytest.mark.parametrize("game", ["othello", "gomoku"])
@settings(max_examples=1000)
@given(lines=st.lists(LINE, max_size=8))
def test_every_line_is_answered_and_nothing_breaks(game, lines):
    session = SESSION.setdefault(game, new(game, 5))
    said = converse(make, session, [*lines, "99 name"])
    assert said.endswith("=99 saz_jax\n\n")
    for answer in said.split("\n\n"):
        assert not answer or answer[0] in "=?"
