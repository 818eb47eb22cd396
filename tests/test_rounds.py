"""Sequential halving by rounds: the schedule of mctx, and the trees of the search that goes one by one."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import SearchConfig
from saz_jax.games import make_game
from saz_jax.search.rounds import RoundState, advance, grow_by_rounds, plan
from saz_jax.search.tree import ROOT, plant
from saz_jax.search.tree_search import considered_visits, gumbel, judging, make_tree_search
from saz_jax.types import Evaluation
from tests.test_search import KEY, opinionated, wander

GAME = make_game("othello", 6)
STATES = wander(GAME, [6, 5, 6], moves=6, seed=1)
SIMULATIONS = 40
STEP = jax.jit(advance)
CONFIG = SearchConfig("gumbel", SIMULATIONS, max_considered_actions=8)


@pytest.fixture(autouse=True, scope="module")
def quick_compilation():
    """Programs that run for a second are not worth optimising."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def start(config=CONFIG, solve=False):
    """Trees of a root each, and a halving of the whole budget; what a search does before it grows."""
    rules = gumbel(config)
    judge, expand = judging(GAME, opinionated, config, ())
    root = judge(KEY, STATES)
    keys = jax.random.split(KEY, 3)
    prior, extra = jax.vmap(rules.prepare)(keys, root.logits, STATES, jnp.zeros(3))
    tree = plant(root._replace(logits=prior), STATES, config.simulations, extra, solve)
    halving = plan(tree, config.simulations, config.max_considered_actions)
    return rules, expand, RoundState(tree, halving, jnp.ones(3, jnp.int32), jnp.int32(0))


@functools.cache
def grown(lanes, solve=False):
    @jax.jit
    def grow():
        rules, expand, progress = start(solve=solve)
        assert rules.score is not None
        return grow_by_rounds(
            KEY, progress, SIMULATIONS, expand=expand, select=rules.select, score=rules.score, lanes=lanes
        )

    return grow()


@functools.cache
def one_by_one(solve=False):
    config = SearchConfig("gumbel", SIMULATIONS, max_considered_actions=8, solve=solve)
    return jax.jit(make_tree_search(GAME, opinionated, config))((), KEY, STATES, 0.0)[1]


def facts(tree, game):
    """{path of actions: (visits, value)} of all nodes of a tree."""
    found, waiting = {}, [((), ROOT)]
    while waiting:
        path, node = waiting.pop()
        found[path] = int(tree.node_visits[game, node]), float(tree.node_values[game, node])
        children = np.asarray(tree.children_index[game, node])
        waiting += [((*path, a), int(children[a])) for a in np.flatnonzero(children >= 0).tolist()]
    return found


def assert_equal_trees(one, other):
    for game in range(3):
        mine, yours = facts(one, game), facts(other, game)
        assert mine.keys() == yours.keys()
        for path, (visits, value) in mine.items():
            assert visits == yours[path][0], path
            np.testing.assert_allclose(value, yours[path][1], atol=1e-5)


@pytest.mark.parametrize("solve", [False, True])
def test_rounds_of_one_lane_are_the_sequential_search(solve):
    assert_equal_trees(grown((1,), solve).tree, one_by_one(solve))


def test_every_lane_goes_where_it_would_have_gone_alone():
    """The same root moves, as often: below them, the trees are those of the search that goes one by one."""
    batched, alone = grown((8, 2)).tree, one_by_one()
    same = [
        game
        for game in range(3)
        if np.array_equal(batched.children_visits[game, ROOT], alone.children_visits[game, ROOT])
    ]
    assert same
    for game in same:
        mine, yours = facts(batched, game), facts(alone, game)
        assert mine.keys() == yours.keys()
        for path, (visits, value) in mine.items():
            assert visits == yours[path][0]
            np.testing.assert_allclose(value, yours[path][1], atol=1e-5)


@pytest.mark.parametrize("solve", [False, True])
def test_a_tree_counts_what_was_visited(solve):
    tree = jax.tree.map(np.asarray, grown((8, 2), solve).tree)
    for game in range(3):
        assert tree.node_visits[game, ROOT] == SIMULATIONS + 1
        used = int(grown((8, 2), solve).used[game])
        for node in range(used):
            below = int(tree.children_visits[game, node].sum())
            children = tree.children_index[game, node]
            assert tree.states.legal[game, node][children >= 0].all()
            if node == ROOT or not tree.states.terminated[game, node]:
                assert tree.node_visits[game, node] == below + 1
            for action in np.flatnonzero(children >= 0):
                child = children[action]
                assert tree.parents[game, child] == node
                assert tree.node_visits[game, child] == tree.children_visits[game, node, action]
                sign = tree.states.to_play[game, node] * tree.states.to_play[game, child]
                np.testing.assert_allclose(
                    tree.children_qvalues[game, node, action], tree.node_values[game, child] * sign, atol=1e-5
                )


@pytest.mark.parametrize(("considered", "simulations"), [(16, 100), (16, 10), (5, 37), (2, 7)])
def test_the_schedule_is_that_of_mctx(considered, simulations):
    """By one lane at a time: how many visits the next move has had, for every number of legal moves."""
    table = considered_visits(considered, simulations)
    for legal in sorted({1, 2, considered // 2 + 1, considered}):
        halving = plan_for(legal, considered, simulations)
        wanted = []
        for _ in range(simulations):
            wanted.append(int(halving.visits[0]))
            halving = STEP(halving, jnp.ones(1, jnp.int32))
        assert wanted == list(table[legal])


def plan_for(legal, considered, simulations):
    game = make_game("gomoku", 5)
    states = jax.tree.map(lambda x: jnp.asarray(x)[None], game.init(5))
    states = states._replace(legal=jnp.arange(game.num_actions)[None] < legal)
    tree = plant(Evaluation(jnp.zeros((1, game.num_actions)), jnp.zeros(1)), states, 1)
    return plan(tree, simulations, considered)


def test_wide_rounds_come_first():
    halving = plan_for(16, 16, 100)
    widths = []
    while int(halving.spent[0]) < 100:
        step = min(int(halving.left[0]), 100 - int(halving.spent[0]))
        widths.append(step)
        halving = STEP(halving, jnp.full(1, step, jnp.int32))
    runs = [(width, len(list(group))) for width, group in itertools.groupby(widths)]
    assert runs == [(16, 1), (8, 3), (4, 6), (2, 18)]


def test_a_batched_search_takes_wins_and_spends_its_budget():
    game = make_game("gomoku", 5, k=4)
    state = game.init(5)
    for row, column in ((0, 0), (4, 0), (0, 1), (4, 1), (0, 2), (4, 2)):
        state = jax.jit(game.step)(state, row * 5 + column)
    states = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
    config = SearchConfig("gumbel", 50, batched_rounds=True)
    search = jax.jit(make_tree_search(game, opinionated, config))
    output, tree = search((), KEY, states, 0.0)
    assert int(output.action[0]) == 3
    assert int(tree.node_visits[0, ROOT]) == 51
