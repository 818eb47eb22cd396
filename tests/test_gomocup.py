"""The Gomocup protocol: a manager is answered by moves, OK, ERROR or UNKNOWN."""

import functools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saz_jax.play.gomocup import Gomocup
from saz_jax.play.limits import Limits
from saz_jax.play.session import Session, Setup
from saz_jax.play.thinking import room_for
from tests.scripted import converse

make = functools.partial(Gomocup, name="saz_jax", version="1")


@pytest.fixture
def session():
    return Session(Setup("gomoku", 5, dark="random", light="random"))


def said(session, *lines):
    return converse(make, session, lines).splitlines()


def test_start_is_answered_before_there_is_a_session():
    def face(_, lines, out):
        def slow():
            time.sleep(0.5)
            raise ValueError("too late")

        return make(slow, lines, out)

    began = time.monotonic()
    answers = converse(face, None, ["ABOUT", "START 15"]).splitlines()
    assert time.monotonic() - began < 0.4
    assert answers[0].startswith('name="saz_jax"')
    assert answers[1] == "OK"


def test_a_game_is_played(session):
    answers = said(session, "START 5", "INFO timeout_turn 1000", "INFO rule 0", "BEGIN", "TURN 9,9")
    assert answers[0] == "OK"
    assert len(answers[1].split(",")) == 2
    assert answers[2].startswith("ERROR")
    free = session.legal_points()[0]
    assert len(said(session, "START 5", f"TURN {free[1]},{free[0]}")) == 2
    assert len(session.moves) == 2


def test_points_are_columns_then_rows(session):
    said(session, "START 5", "TURN 3,1")
    assert session.moves[0] == (1, (1, 3))
    assert session.clock.per_move is None


def test_a_board_is_set_up_in_whatever_order_its_stones_come(session):
    answers = said(session, "START 5", "BOARD", "0,0,2", "1,1,1", "2,2,2", "DONE")
    assert answers[0] == "OK"
    assert len(session.moves) == 4
    assert session.moves[0] == (1, (0, 0))
    answers = said(session, "START 5", "BOARD", "0,0,1", "1,1,2", "DONE")
    assert session.moves[0] == (1, (0, 0))
    assert len(session.moves) == 3
    assert said(session, "START 5", "BOARD", "0,0,1", "0,1,1", "DONE")[1].startswith("ERROR")
    assert said(session, "START 5", "BOARD", "0,0,7", "DONE")[1].startswith("ERROR")


def test_take_back_restart_and_swap(session):
    answers = said(session, "START 5", "TURN 0,0")
    x, y = answers[1].split(",")
    assert said(session, "START 5", "TURN 0,0", "RESTART", "TURN 1,1")[2] == "OK"
    last = session.last_move
    assert last is not None
    face_lines = ["START 5", "BEGIN"]
    move = said(session, *face_lines)[1]
    assert said(session, "TAKEBACK 1,1")[0].startswith("ERROR no board")
    assert len(said(session, "START 7", "SWAP2BOARD", "DONE")[1].split()) == 3
    assert move.count(",") == 1
    assert (int(x), int(y)) != (0, 0)
    answer = said(session, "START 5", "SWAP2BOARD", "0,0", "1,1", "2,3", "DONE")[1]
    assert answer == "SWAP" or "," in answer


def test_sizes_and_unknown_commands(session):
    wrong = ("START 4", "START 1000000000", "START x", "RECTSTART 5,4", "RECTSTART 5")
    answers = said(session, *wrong, "RECTSTART 5,5", "WHAT", "TURN")
    assert [a.split()[0] for a in answers] == ["ERROR"] * 5 + ["OK", "UNKNOWN", "ERROR"]
    assert said(session, "START 5", "END", "ABOUT") == ["OK"]


def test_rectangles_are_so_many_columns_wide_and_so_many_rows_high(session):
    assert said(session, "RECTSTART 7,5", "TURN 6,4")[0] == "OK"
    assert session.points.sum() == 35
    assert session.moves[0] == (1, (4, 6))
    assert said(session, "RECTSTART 7,5", "TURN 4,6")[1].startswith("ERROR the board has no point")
    assert said(session, "RECTSTART 9,5", "SWAP2BOARD", "DONE")[1] == "4,2 3,0 6,1"


def test_limits_are_honoured(session):
    said(
        session,
        "START 5",
        "INFO timeout_turn 5000",
        "INFO timeout_match 100000",
        "INFO time_left 8000",
        "BEGIN",
    )
    assert session.clock.per_move == 5.0
    assert session.clock.main == 8.0
    said(session, "START 5", "INFO max_memory 400000000", "BEGIN")
    assert 0 < session.setup.tree_bytes < 15e6
    small, large = (room_for(session.game, Limits(seconds=1), tree_bytes=b) for b in (3e5, 1e8))
    assert small < large / 2


LINE = st.one_of(
    st.sampled_from(
        [
            "START 5",
            "START 5",
            "START 99999999",
            "RESTART",
            "BEGIN",
            "BOARD",
            "SWAP2BOARD",
            "DONE",
            "ABOUT",
            "TURN",
            "RECTSTART 5,5",
            "INFO rule 1",
            "INFO timeout_turn 10",
            "INFO time_left -5",
            "INFO",
            "TAKEBACK 0,0",
            "DONE",
            "PLAY 1,1",
            "INFO timeout_match 99999999999",
            "0,0",
            "4,4",
            "2,1",
            "0,0,1",
            "1,1,2",
            "2,2,3",
            "TURN -1,0",
        ]
    ),
    st.builds(lambda x, y: f"TURN {x},{y}", st.integers(0, 5), st.integers(0, 5)),
    st.text(max_size=30).filter(lambda text: not text.strip().lower().startswith("end")),
)
SESSION = []


@settings(max_examples=2000)
@given(lines=st.lists(LINE, max_size=8))
def test_whatever_a_manager_says_the_brain_lives_on(lines):
    if not SESSION:
        SESSION.append(Session(Setup("gomoku", 5, dark="random", light="random")))
    answers = converse(make, SESSION[0], [*lines, "DONE", "ABOUT"]).splitlines()
    assert answers[-1].startswith("name=")
