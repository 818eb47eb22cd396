"""The anytime search: any budget from one compilation, equal trees however grown, subtrees kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import SearchConfig
from saz_jax.games import make_game
from saz_jax.games.actions import action_symmetry
from saz_jax.models.symmetric import symmetric, turned
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


@pytest.fixture(autouse=True, scope="module")
def quick_compilation():
    """Programs that run for a second are not worth optimising."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def visits(growth):
    """Simulations of the game that has had the fewest."""
    return int(growth.tree.node_visits[:, ROOT].min()) - 1


@pytest.mark.parametrize("kind", KINDS)
def test_trees_do_not_depend_on_how_the_simulations_are_portioned(kind):
    search, growth = grown(kind)
    at_once = search.grow((), search.aim(growth, 40), 40)
    by_and_by = search.aim(search.begin((), KEY, STATES), 40)
    for count in (1, 16, 0):
        by_and_by = search.grow((), by_and_by, count)
    by_and_by = search.grow((), by_and_by, 40 - visits(by_and_by))
    leaves_agree(at_once.tree, by_and_by.tree)
    assert visits(by_and_by) == 40


def test_a_search_that_nobody_aims_halves_again_and_again():
    search, growth = grown("gumbel", 50, capacity=512)
    assert 50 <= visits(growth) < 58
    growth = search.grow((), growth, 100)
    assert 150 <= visits(growth) < 166
    assert growth.halving is not None
    assert int(growth.halving.budget[0]) == 128  # the third halving, as long as both before it
    considered = np.asarray(growth.tree.children_visits[0, ROOT])
    assert (considered[np.asarray(STATES.legal[0])] > 0).sum() == min(16, int(STATES.legal[0].sum()))


def test_a_solved_game_is_searched_no_further():
    """One empty point: whatever is asked for, the search ends and knows the outcome."""
    game = make_game("gomoku", 3, k=3)
    state, step = game.init(3), jax.jit(game.step)
    for action in (0, 2, 1, 3, 5, 4, 6, 7):
        state = step(state, action)
    states = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
    search = make_anytime(game, opinionated, SearchConfig("gumbel", solve=True), 32)
    growth = search.grow((), search.begin((), KEY, states), 20)
    assert visits(growth) == 1
    found = search.conclude(growth)
    assert int(found.action[0]) == 8
    assert float(found.value[0]) == float(step(state, 8).outcome) * int(state.to_play)


def test_puct_finds_what_the_search_of_a_fixed_budget_finds():
    search, growth = grown("puct", 40)
    fixed, _ = jax.jit(make_tree_search(GAME, opinionated, SearchConfig("puct", 40)))((), KEY, STATES, 0.0)
    found = search.conclude(growth)
    for name in ("action", "policy", "value", "visits", "qvalues", "principal_variation"):
        np.testing.assert_allclose(getattr(found, name), getattr(fixed, name), atol=1e-6, err_msg=name)


def test_one_compilation_serves_every_budget_and_kept_trees():
    search, growth = grown("gumbel", 3)
    for count in (1, 7, jnp.int32(5)):
        growth = search.grow((), search.aim(growth, jnp.int32(count)), jnp.int32(count))
    growth = search.keep((), growth, search.conclude(growth).action)
    growth = search.grow((), search.aim(growth, jnp.int32(4)), jnp.int32(4))
    search.keep((), growth, search.conclude(growth).action)
    sizes = [f._cache_size() for f in (search.aim, search.keep, search.conclude)]  # pyright: ignore
    assert sizes == [1, 1, 1]
    assert search.grow._cache_size() == 2  # pyright: ignore  # once for a Python number, in `grown`


def test_a_full_tree_stops_growing():
    search, growth = grown("puct", 10, 30, capacity=16)
    used = np.asarray(growth.used)
    assert used.max() == 16
    assert int(growth.steps) >= 15
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
    kept = search.keep((), growth, action)
    for game in range(2):
        child = before.children_index[game, ROOT, int(action[game])]
        expected = subtree_facts(before, game, child)
        assert subtree_facts(kept.tree, game, ROOT) == expected
        assert int(kept.used[game]) == len(expected) > 1
        assert int(kept.tree.parents[game, ROOT]) == -1


@pytest.mark.parametrize("kind", KINDS)
def test_growing_a_kept_subtree_is_growing_on_below_the_move(kind):
    """As often as the kept root visits each of its moves, the whole tree visits it below the move played."""
    search, growth = grown(kind, 30)
    action = search.conclude(growth).action
    kept = search.aim(search.keep((), growth, action), 12)
    before = np.asarray(kept.tree.children_visits[:, ROOT])
    kept = search.grow((), kept, 12)
    gained = np.asarray(kept.tree.children_visits[:, ROOT]) - before
    assert (gained.sum(1) == 12).all()
    if kind == "gumbel":  # what was visited for another root does not decide
        best = np.asarray(search.conclude(kept).action)[:, None]
        assert (np.take_along_axis(gained, best, 1) == gained.max(1, keepdims=True)).all()
    script = jnp.asarray([np.repeat(np.arange(len(row)), row) for row in gained])

    config = SearchConfig(kind)
    rules = STRATEGIES[config.kind](config)
    _, expand = judging(GAME, opinionated, config, ())

    def follow(tree, node):
        played, then = tree.extra_data
        return jnp.where(node == tree.children_index[ROOT, played], then, rules.select(tree, node))

    @jax.jit
    def grow_below(tree, used):
        def one(number, carry):
            tree, used = carry
            tree = tree._replace(extra_data=(action, script[:, number]))
            tree, fresh = simulate(
                KEY,
                tree,
                used,
                expand=expand,
                select_root=lambda tree, node: tree.extra_data[0],
                select=follow,
            )
            return tree, used + fresh

        start = tree._replace(extra_data=(action, script[:, 0])), used
        return jax.lax.fori_loop(0, 12, one, start)

    plain = grown(kind, 30)[1]
    tree, _ = grow_below(plain.tree, plain.used)
    for game in range(2):
        child = tree.children_index[game, ROOT, int(action[game])]
        facts, expected = subtree_facts(kept.tree, game, ROOT), subtree_facts(tree, game, child)
        assert facts.keys() == expected.keys()
        for path, fact in facts.items():
            assert fact[0] == expected[path][0]
            np.testing.assert_allclose(fact[1], expected[path][1], atol=1e-5)


def test_what_is_said_of_a_root_can_be_averaged_over_symmetries():
    """Turned boards get turned priors, from a network that is not symmetric itself; kept roots as well."""
    averaged = symmetric(GAME, opinionated)
    said = averaged((), KEY, STATES)
    other = averaged((), KEY, jax.vmap(lambda state: turned(GAME, state, jnp.int32(5)))(STATES))
    source = jax.vmap(lambda size: action_symmetry(5, size, 6))(STATES.size)
    turned_logits = jnp.take_along_axis(said.logits, source, axis=1)
    np.testing.assert_allclose(turned_logits, other.logits, atol=1e-4)
    np.testing.assert_allclose(said.value, other.value, atol=1e-5)
    plain = opinionated((), KEY, STATES)
    assert not np.allclose(jax.nn.log_softmax(plain.logits), said.logits, atol=0.1)

    search = make_anytime(GAME, opinionated, SearchConfig("gumbel"), 64, averaged)
    growth = search.begin((), KEY, STATES)
    np.testing.assert_allclose(growth.tree.children_prior_logits[:, ROOT], said.logits, atol=1e-5)
    growth = search.grow((), growth, 20)
    kept = search.keep((), growth, search.conclude(growth).action)
    states = jax.tree.map(lambda x: x[:, ROOT], kept.tree.states)
    expected = averaged((), KEY, states).logits
    np.testing.assert_allclose(kept.tree.children_prior_logits[:, ROOT], expected, atol=1e-4)


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
