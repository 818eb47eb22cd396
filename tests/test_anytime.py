"""The anytime search: any budget from one compilation, equal trees however grown, subtrees kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import SearchConfig
from saz_jax.games import make_game
from saz_jax.search.anytime import make_anytime, subtree
from saz_jax.search.tree import ROOT, simulate
from saz_jax.search.tree_search import STRATEGIES, judging, make_tree_search
from tests.test_search import KEY, KINDS, opinionated, wander

GAME = make_game("othello", 6)
STATES = wander(GAME, [6, 5], moves=6, seed=1)


def grown(kind, *simulations, capacity=64, **settings):
    search = make_anytime(GAME, opinionated, SearchConfig(kind, **settings), capacity)
    growth = search.begin((), KEY, STATES)
    for count in simulations:
        growth = search.grow((), growth, count)
    return search, growth


def leaves_agree(one, other):
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("kind", KINDS)
def test_trees_do_not_depend_on_how_the_simulations_are_portioned(kind):
    _, at_once = grown(kind, 40)
    _, by_and_by = grown(kind, 1, 16, 0, 23)
    leaves_agree(at_once.tree, by_and_by.tree)
    assert int(by_and_by.simulations) == 40


def test_puct_finds_what_the_search_of_a_fixed_budget_finds():
    search, growth = grown("puct", 40)
    fixed, _ = jax.jit(make_tree_search(GAME, opinionated, SearchConfig("puct", 40)))((), KEY, STATES, 0.0)
    found = search.conclude(growth)
    for name in ("action", "policy", "value", "visits", "qvalues", "principal_variation"):
        np.testing.assert_allclose(getattr(found, name), getattr(fixed, name), atol=1e-6, err_msg=name)


def test_one_compilation_serves_every_budget():
    search, growth = grown("gumbel", 3)
    compiled = search.grow._cache_size()  # pyright: ignore[reportFunctionMemberAccess]
    for count in (1, 7, jnp.int32(5)):
        growth = search.grow((), growth, count)
    assert search.grow._cache_size() <= compiled + 1  # pyright: ignore[reportFunctionMemberAccess]


def test_a_full_tree_stops_growing():
    search, growth = grown("puct", 10, 30, capacity=16)
    used = np.asarray(growth.used)
    assert used.max() == 16
    assert int(growth.simulations) >= 15
    before = np.asarray(growth.tree.node_visits)
    after = search.grow((), growth, 8)
    np.testing.assert_array_equal(before, np.asarray(after.tree.node_visits))


def subtree_facts(tree, game, node):
    """{path of actions: (visits, value, Q-values)} of a tree's nodes at and below `node`."""
    facts, waiting = {}, [((), int(node))]
    while waiting:
        path, here = waiting.pop()
        children = np.asarray(tree.children_index[game, here])
        facts[path] = (
            int(tree.node_visits[game, here]),
            float(tree.node_values[game, here]),
            np.asarray(tree.children_visits[game, here]).tolist(),
            np.asarray(tree.children_qvalues[game, here]).tolist(),
            np.asarray(tree.states.board[game, here]).tolist(),
        )
        waiting += [((*path, a), int(children[a])) for a in np.flatnonzero(children >= 0).tolist()]
    return facts


@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_subtree_has_the_statistics_that_it_had(kind):
    search, growth = grown(kind, 50)
    action = search.conclude(growth).action
    before = jax.tree.map(np.asarray, growth.tree)
    kept = search.keep(growth, action)
    for game in range(2):
        child = before.children_index[game, ROOT, int(action[game])]
        expected = subtree_facts(before, game, child)
        assert subtree_facts(kept.tree, game, ROOT) == expected
        assert int(kept.used[game]) == len(expected) > 1
        assert int(kept.tree.parents[game, ROOT]) == -1


@pytest.mark.parametrize("kind", KINDS)
def test_growing_a_kept_subtree_is_growing_on_below_the_move(kind):
    search, growth = grown(kind, 30)
    action = search.conclude(growth).action
    kept = search.grow((), search.keep(growth, action), 12)

    config = SearchConfig(kind)
    rules = STRATEGIES[config.kind](config)
    _, expand = judging(GAME, opinionated, config, ())

    @jax.jit
    def grow_below(tree, used, actions):
        def one(_, carry):
            tree, used = carry
            # A tree whose root always follows the move that was played.
            tree = tree._replace(extra_data=actions)
            follow = {"select_root": lambda tree, node: tree.extra_data, "select": rules.select}
            tree, fresh = simulate(KEY, tree, used, expand=expand, **follow)
            return tree, used + fresh

        return jax.lax.fori_loop(0, 12, one, (tree, used))

    plain = grown(kind, 30)[1]
    tree, _ = grow_below(plain.tree._replace(extra_data=action), plain.used, action)
    for game in range(2):
        child = tree.children_index[game, ROOT, int(action[game])]
        facts, expected = subtree_facts(kept.tree, game, ROOT), subtree_facts(tree, game, child)
        assert facts.keys() == expected.keys()
        for path, fact in facts.items():
            assert fact[0] == expected[path][0]
            np.testing.assert_allclose(fact[1], expected[path][1], atol=1e-5)


def test_room_left_by_the_rest_of_a_tree_is_free_again():
    _, growth = grown("puct", 50, capacity=64)
    one = jax.tree.map(lambda x: x[0], growth.tree)
    action = jnp.argmax(one.children_visits[ROOT])
    tree, used = jax.jit(subtree)(one, action)
    rest = np.asarray(tree.node_visits)[int(used) :]
    assert not rest.any()
    assert (np.asarray(tree.children_index)[int(used) :] == -1).all()


def test_settings_that_cannot_grow_are_refused():
    with pytest.raises(ValueError, match="tree of 1 nodes"):
        make_anytime(GAME, opinionated, SearchConfig("puct"), 1)
    with pytest.raises(ValueError, match="cannot be stopped"):
        make_anytime(GAME, opinionated, SearchConfig("another"), 64)
