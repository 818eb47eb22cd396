"""What the notebooks show: galleries, games as snapshots, opinions and trees."""

import xml.etree.ElementTree as ElementTree

import jax
import numpy as np
import pytest

from notebooks.gallery import gallery
from notebooks.moments import positions, snapshots
from notebooks.opinions import ABSENT, network_value, priors, search, subgraph_heat, subgraphs
from notebooks.tree_picture import branches, draw_tree, outline
from saz_jax import make_game
from saz_jax.agents.agent import Agent
from saz_jax.config import GINConfig, ModelConfig, SearchConfig
from saz_jax.models.registry import make_model
from saz_jax.render import text

GAME = make_game("gomoku", 6, k=3)
KEY = jax.random.key(0)
LIGHT_WINS = "......\nXX....\n......\n.OO...\n......\n....X."


@pytest.fixture(scope="module")
def agent():
    config = ModelConfig("saz", GINConfig(hidden=8, head=8, dummy="mean"))
    variables = make_model(config, GAME).network.init(KEY)
    return Agent(variables, "gomoku", {"k": 3}, config, SearchConfig(), (5,))


@pytest.fixture(scope="module")
def position():
    return text.parse(GAME, LIGHT_WINS, to_play=-1)


@pytest.fixture(scope="module")
def searched(agent, position):
    return search(agent, GAME, position, KEY, simulations=200)


def test_a_gallery_shows_its_pictures_in_order_above_their_captions():
    shown = gallery({"a < b": "<svg>1</svg>", "c": "<svg>2</svg>"})._repr_html_()
    places = [shown.index(part) for part in ("<svg>1</svg>", "a &lt; b", "<svg>2</svg>", "c</figcaption>")]
    assert places == sorted(places)


def test_snapshots_run_from_the_start_to_the_end_of_a_game():
    actions = np.array([0, 6, 1, 7, 2, -1, -1])
    states = positions(GAME, GAME.init(6), actions)
    assert len(states) == 6
    assert states[-1].terminated
    captions = list(snapshots(GAME, GAME.init(6), actions, count=3))
    assert captions == ["the start", "move 2: A2", "move 5: C1"]


def test_priors_are_probabilities_of_legal_moves(agent, position):
    found = priors(agent, GAME, position, KEY)
    assert list(found) == ["whole board", "subgraphs", "both"]
    for prior in found.values():
        assert prior.sum() == pytest.approx(1, abs=1e-5)
        assert not prior[~np.asarray(position.legal)].any()
    assert -1 <= network_value(agent, GAME, position) <= 1


def test_subgraphs_and_their_priors_are_those_of_the_ensemble(agent, position):
    nodes, prior = subgraphs(agent, GAME, position, KEY)
    assert nodes.shape == prior.shape == (3, 37)  # round(6 / 2) subgraphs
    assert not prior[~nodes].any()
    heat = subgraph_heat(nodes[0], prior[0])
    assert (heat[:-1][~nodes[0, :-1]] == ABSENT).all()
    assert heat.max() == 1


def test_the_search_finds_the_win_and_its_tree_tells(searched, position):
    output, tree = searched
    assert text.move_name(output.action, 6) in ("A4", "D4")
    assert output.value > 0
    root, *below = branches(tree, depth=1, width=3)
    assert (root.move, root.visits, root.parent) == ("root", 201, None)
    assert [branch.visits for branch in below] == sorted(np.asarray(output.visits))[:-4:-1]
    assert below[0].move == text.move_name(output.action, 6)
    assert below[0].value == 1
    assert outline(tree, depth=1, width=3).count("\n") == 4


def test_values_are_seen_from_the_root_at_every_depth(searched):
    _, tree = searched
    for branch in branches(tree, depth=2, width=40):
        player = int(tree.states.to_play[branch.node]) * int(tree.states.to_play[0])
        assert branch.value == pytest.approx(float(tree.node_values[branch.node]) * player)


def test_no_two_nodes_of_the_picture_lie_on_each_other(searched):
    found = branches(searched[1], depth=3, width=4)
    assert len({(branch.x, branch.depth) for branch in found}) == len(found)
    for branch in found[1:]:
        assert branch.parent is not None
        assert found[branch.parent].depth == branch.depth - 1


def test_the_picture_of_a_tree_is_valid_and_has_a_disc_pair_for_every_node(searched):
    picture = draw_tree(searched[1], depth=2, width=3)
    root = ElementTree.fromstring(picture)
    discs = [element for element in root.iter() if element.tag.endswith("circle")]
    assert len(discs) == 2 * len(branches(searched[1], depth=2, width=3))
