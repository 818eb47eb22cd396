"""Drawings of positions and names of moves."""

import time

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import saz_jax
from saz_jax.render import text

GOMOKU = saz_jax.make_game("gomoku", max_size=9)
OTHELLO = saz_jax.make_game("othello", max_size=8)


@st.composite
def drawings(draw):
    size = draw(st.integers(5, 9))
    row = st.text("XO.", min_size=size, max_size=size)
    return "\n".join(draw(st.lists(row, min_size=size, max_size=size)))


@given(drawings(), st.sampled_from([1, -1]))
def test_a_drawing_survives_the_round_trip(drawing, to_play):
    state = text.parse(GOMOKU, drawing, to_play)
    assert text.draw(state) == drawing
    assert int(state.to_play) == to_play
    assert int(state.size) == len(drawing.splitlines())


def test_dark_is_x_light_is_o_and_only_the_live_part_is_drawn():
    assert text.draw(OTHELLO.init(4)) == "....\n.OX.\n.XO.\n...."


def test_rows_of_hexagons_are_slanted():
    game = saz_jax.make_game("hex", max_size=11)
    state = text.parse(game, "X..\n .O.\n  ..X", to_play=-1)
    assert text.show(state, last_move=12, game=game).splitlines()[:-1] == [
        "  A B C",
        "1 ● · ·",
        " 2 ·(○)·",
        "  3 · · ●",
    ]
    assert text.show(state, last_move=12).splitlines()[2] == "2 ·(○)·"
    rows = text.show(game.init(11), game="hex").splitlines()[1:12]
    assert [row.index("·") for row in rows] == list(range(3, 14))


def test_spaces_indentation_and_empty_lines_do_not_count():
    drawing = """

        . . . .
        . O X .
        . X O .
        . . . .
    """
    assert text.draw(text.parse(OTHELLO, drawing)) == text.draw(OTHELLO.init(4))


def test_a_drawn_position_has_the_rules_legal_moves():
    state, start = text.parse(OTHELLO, "....\n.OX.\n.XO.\n...."), OTHELLO.init(4)
    np.testing.assert_array_equal(state.legal, start.legal)


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("", "the drawing is empty"),
        ("....\n....", "gomoku cannot be played on this shape"),
        ("...\n..\n...", "line 2 has 2 points"),
        (".....\n..+..\n.....\n.....\n.....", r"line 2, character 3: '\+'.*use X"),
        ("\n.....\n x...\n", r"line 3, character 2: 'x'"),
        ("\n".join(["." * 10] * 10), "exceeds max_size=9"),
        ("...\n...\n...", "too small for gomoku"),
    ],
)
def test_a_malformed_drawing_is_refused_with_its_place(drawing, message):
    with pytest.raises(ValueError, match=message):
        text.parse(GOMOKU, drawing)


def test_nobody_to_play_is_refused():
    with pytest.raises(ValueError, match="to_play=0"):
        text.parse(GOMOKU, "\n".join(["....."] * 5), to_play=0)


def test_a_batch_cannot_be_drawn():
    states = jax.vmap(GOMOKU.init)(np.array([5, 6], np.int32))
    with pytest.raises(ValueError, match="take one position"):
        text.draw(states)


def test_the_board_on_screen_marks_the_last_move_and_tells_whose_turn_it_is():
    state = OTHELLO.step(OTHELLO.init(4), 1)
    assert text.show(state, last_move=1).splitlines() == [
        "  A B C D",
        "1 ·(●)· ·",
        "2 · ● ● ·",
        "3 · ● ○ ·",
        "4 · · · ·",
        "after move 1 (B1): light ○ to play",
    ]


def test_a_mark_at_the_border_is_closed():
    state = GOMOKU.step(GOMOKU.init(5), 4)
    assert text.show(state, last_move=4).splitlines()[1] == "1 · · · ·(●)"


@pytest.mark.parametrize(("row", "outcome"), [("XXXXX", "dark wins"), ("OOOOO", "light wins")])
def test_the_board_on_screen_tells_the_winner(row, outcome):
    state = text.parse(GOMOKU, "\n".join([row, *["....."] * 4]))
    assert outcome in text.show(state)


def test_rows_and_columns_line_up_on_boards_beyond_the_alphabet():
    game = saz_jax.make_game("gomoku", max_size=28)
    lines = text.show(game.step(game.init(28), 27), last_move=27).splitlines()
    assert lines[0].endswith("  Z AA AB")
    assert lines[1].endswith("  · (●)")
    assert len({len(line) for line in [lines[0], *lines[2:-1]]}) == 1


@given(st.integers(2, 30), st.data())
def test_the_name_of_a_move_survives_the_round_trip(size, data):
    max_size = data.draw(st.integers(size, 30))
    row, column = data.draw(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)))
    for action in (row * max_size + column, max_size * max_size):
        assert text.parse_move(text.move_name(action, max_size), size, max_size) == action


def test_moves_are_named_by_column_and_row_from_the_top():
    assert text.move_name(2 * 8 + 3, max_size=8) == "D3"
    assert text.move_name(64, max_size=8) == "pass"
    assert text.parse_move(" d3 ", size=8, max_size=8) == 19


@pytest.mark.parametrize("name", ["", "D", "3", "D0", "I1", "A9", "3D", "D-3", "resign"])
def test_a_move_off_the_board_is_refused(name):
    with pytest.raises(ValueError, match="A1 to H8, or pass"):
        text.parse_move(name, size=8, max_size=9)


@pytest.mark.parametrize(
    "name", ["A²", "A\u0661", "\uff211", "A\uff11", "ß1", "\ufb011", "A1\x00", "AAAAAAAAA1", "A0000000001"]
)
def test_only_plain_letters_and_digits_name_a_move(name):
    with pytest.raises(ValueError, match="A1 to H8, or pass"):
        text.parse_move(name, size=8, max_size=9)


def test_a_text_of_any_length_is_refused_at_once_and_in_one_line():
    began = time.monotonic()
    for name in ("A" * 1_000_000 + "1", "A" + "1" * 1_000_000):
        with pytest.raises(ValueError, match="A1 to H8, or pass") as refusal:
            text.parse_move(name, size=8, max_size=8)
        assert len(str(refusal.value)) < 200
    assert time.monotonic() - began < 1
