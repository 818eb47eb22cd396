"""Pictures of positions, read back through an XML parser."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import saz_jax
from saz_jax.render import svg, text
from tests.built_in import NAMES

SPACE = "{http://www.w3.org/2000/svg}"
DRAWING = "X....\n.O...\n..X..\n.....\n....O"


@pytest.fixture(scope="module")
def state():
    return text.parse(saz_jax.make_game("gomoku", max_size=7), DRAWING)


def elements(picture: str, tag: str, **attributes: str) -> list[ElementTree.Element]:
    found = ElementTree.fromstring(picture).iter(SPACE + tag)
    return [e for e in found if all(e.get(name) == value for name, value in attributes.items())]


def stones(picture: str, colour: str) -> list[ElementTree.Element]:
    return elements(picture, "circle", fill=f"url(#{colour})")


@pytest.mark.parametrize("game", NAMES)
@pytest.mark.parametrize("size", [5, 7, 9, 13, 19])
def test_every_style_and_size_is_well_formed(game, size):
    state = saz_jax.make_game("gomoku", max_size=19).init(size)
    picture = svg.render(state, game)
    assert len(elements(picture, "text")) == 2 * size
    assert ElementTree.fromstring(picture).tag == SPACE + "svg"


def test_every_stone_is_a_circle_of_its_colour(state):
    picture = svg.render(state)
    assert len(stones(picture, "dark")) == 2
    assert len(stones(picture, "light")) == 2


def test_rows_go_down_and_columns_go_right(state):
    (upper, lower) = stones(svg.render(state), "light")
    assert float(upper.attrib["cx"]) == float(upper.attrib["cy"]) == svg.MARGIN + 1.5 * svg.CELL
    assert float(lower.attrib["cx"]) == float(lower.attrib["cy"]) == svg.MARGIN + 4.5 * svg.CELL


def test_the_games_look_different(state):
    assert svg.render(state, "othello") != svg.render(state, "go") == svg.render(state, "gomoku")
    assert svg.render(state, "hex") != svg.render(state, "othello")


def test_hexagons_touch_their_six_neighbours_and_no_others(state):
    cells = [e.attrib["points"].split() for e in elements(svg.render(state, "hex"), "polygon")]
    assert len(cells) == 25
    middle = set(cells[12])
    shared = {divmod(i, 5): len(middle & set(cell)) for i, cell in enumerate(cells)}
    assert {cell for cell, corners in shared.items() if corners == 2} == {
        (2 + row, 2 + column) for row, column in saz_jax.make_game("hex", 7).directions
    }


def test_a_board_of_hexagons_is_wider_than_high_and_shows_whose_sides_are_which(state):
    picture = svg.render(state, "hex", heat=np.ones((5, 5)), width=300)
    root = ElementTree.fromstring(picture)
    assert int(root.attrib["width"]) == 300 > int(root.attrib["height"])
    assert len(elements(picture, "polyline", stroke="#1b1b1b")) == 2
    assert len(elements(picture, "polyline", stroke="#fdfcf8")) == 2
    assert len(elements(picture, "polygon", **{"class": "heat"})) == 25
    (_, lower) = stones(picture, "light")
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert svg.MARGIN < float(lower.attrib["cx"]) < width - svg.MARGIN
    assert svg.MARGIN < float(lower.attrib["cy"]) < height - svg.MARGIN


@pytest.mark.parametrize(("size", "dots"), [(5, 0), (8, 4), (9, 5), (13, 5), (19, 9)])
def test_boards_carry_their_star_points(size, dots):
    state = saz_jax.make_game("gomoku", max_size=19).init(size)
    assert len(elements(svg.render(state, "go"), "circle")) == dots
    assert not elements(svg.render(state, "othello"), "circle")


def test_the_last_move_is_marked_and_pass_is_not(state):
    plain = svg.render(state)
    assert len(elements(svg.render(state, last_move=8), "circle")) == len(elements(plain, "circle")) + 1
    assert svg.render(state, last_move=49) == plain


def test_all_shapes_of_heat_paint_the_same_picture(state):
    live = np.linspace(-1, 1, 25).reshape(5, 5)
    padded = np.pad(live, ((0, 2), (0, 2)), constant_values=7.0)
    actions = np.append(padded.reshape(-1), 9.0)
    picture = svg.render(state, heat=live)
    assert picture == svg.render(state, heat=padded) == svg.render(state, heat=actions)
    assert len(elements(picture, "rect", **{"class": "heat"})) == 24  # the middle is 0


def test_heat_is_strongest_at_the_largest_magnitude_and_shows_its_number(state):
    heat = np.full((5, 5), np.nan)
    heat[0, 1], heat[3, 2] = 0.25, -0.5
    warm, cold = elements(svg.render(state, heat=heat), "rect", **{"class": "heat"})
    assert [next(iter(e)).text for e in (warm, cold)] == ["B1 0.25", "C4 -0.5"]
    weak, strong = (float(e.attrib["fill-opacity"]) for e in (warm, cold))
    assert strong == pytest.approx(2 * weak, abs=1e-3)
    assert warm.get("fill") != cold.get("fill")


def test_heat_of_nothing_paints_nothing(state):
    assert svg.render(state, heat=np.zeros(50)) == svg.render(state)


def test_heat_of_another_board_is_refused(state):
    with pytest.raises(ValueError, match=r"shape \(6, 6\); give \(50,\), \(7, 7\) or \(5, 5\)"):
        svg.render(state, heat=np.zeros((6, 6)))


def test_a_notebook_shows_the_picture_itself(state):
    picture = svg.render(state)
    assert picture._repr_svg_() == picture
    assert picture.startswith("<svg")
