"""The NBoard protocol: games in GGF, hints and moves."""

import functools
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from saz_jax.play.nboard import NBoard
from saz_jax.play.session import Session, Setup
from tests.scripted import converse

make = functools.partial(NBoard, name="saz_jax")
START = "8 ---------------------------O*------*O--------------------------- *"


def ggf(moves="", board=START):
    return f"(;GM[Othello]PC[NBoard]PB[a]PW[b]RE[?]TI[15:00]TY[8]BO[{board}]{moves};)"


def new():
    return Session(Setup("othello", 8, dark="random", light="random"))


def said(session, *lines):
    return converse(make, session, lines).splitlines()


def test_the_greeting_and_ping():
    assert said(new(), "nboard 2", "ping 7", "unheard of", "learn") == [
        "set myname saz_jax",
        "pong 7",
        "learned",
    ]


def test_a_game_in_ggf_is_followed_and_a_move_is_not_played_by_itself():
    session = new()
    answers = said(session, f"set game {ggf('B[F5]W[F6//0.5]B[D3/1.5]')}", "set depth 1", "go")
    assert [point for _, point in session.moves] == [(4, 5), (5, 5), (2, 3)]
    move = next(re.fullmatch(r"=== ([A-H][1-8])/-?[\d.]+/[\d.]+", a) for a in answers if a.startswith("==="))
    assert move is not None
    said(session, f"move {move[1]}/0.2")
    assert len(session.moves) == 4


def test_hints_are_told():
    answers = said(new(), f"set game {ggf()}", "hint 2")
    assert any(re.fullmatch(r"search ([A-H][1-8]|PA)+ -?[\d.]+ 0 \d+", a) for a in answers)


def test_games_that_cannot_be_played_change_nothing():
    session = new()
    said(session, f"set game {ggf('B[F5]')}")
    for text in (
        ggf("B[A1]"),
        ggf(board="10 " + "-" * 100),
        ggf(board=START.replace("O*", "*O")),
        "junk",
        "(;)",
    ):
        assert said(session, f"set game {text}")[0].startswith("status ")
    assert len(session.moves) == 1
    assert said(session, "move Z9", "hint x", "set depth 0")[0].startswith("status ")


LINE = st.one_of(
    st.sampled_from(
        [
            "nboard 2",
            "nboard 1",
            "ping 1",
            "set depth 3",
            "set depth x",
            "set contempt 1",
            "set game",
            "hint 3",
            "go",
            "move F5",
            "move D3",
            "move PA",
            "move C4//1",
            "learn",
            f"set game {ggf('B[F5]W[F6]')}",
            f"set game {ggf()}",
            f"set game {ggf('B[F5]W[F5]')}",
            "set game (;GM[Go]BO[8 -];)",
            "hint 0",
            "hint 999",
            "set",
        ]
    ),
    st.text(max_size=30).filter(lambda text: "quit" not in text.lower()),
)
SESSION = []


@settings(max_examples=2000)
@given(lines=st.lists(LINE, max_size=8))
def test_whatever_comes_the_engine_lives_on(lines):
    if not SESSION:
        SESSION.append(new())
    assert said(SESSION[0], *lines, "ping 99")[-1] == "pong 99"
