"""A search that can be stopped at any time: trees that grow by as many simulations a call as are asked for.

`make_search` compiles one program per number of simulations.  Here that number is data: one program serves
every budget, a clock can stop the search between two calls, and the subtree of a move that was played is
kept.  Below the root the trees are those of `make_search`; the root follows the same rule as the nodes below
it, since sequential halving has to know the number of simulations in advance.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from saz_jax.config import SearchConfig
from saz_jax.search import memory
from saz_jax.search.tree import NONE, ROOT, Tree, plant, simulate
from saz_jax.search.tree_search import STRATEGIES, check, judging, prefer_wins, summary
from saz_jax.types import Array, EvaluateFn, Game, GameState, SearchOutput, Variables


class Growth(NamedTuple):
    """B trees that may grow on.  Nodes 0 to `used - 1` are in use; the last one stays blank for ever."""

    tree: Tree
    used: Array
    """int32[B]: nodes in use, the root included."""
    simulations: Array
    """int32[]: simulations so far; numbers their keys."""
    key: Array


@dataclasses.dataclass(frozen=True, eq=False)
class AnytimeSearch:
    """Four compiled functions; none of them compiles again for another budget."""

    capacity: int
    """Nodes that a tree can hold."""
    begin: Callable[[Variables, Array, GameState], Growth]
    """(variables, key, states[B]) -> trees of a root each."""
    grow: Callable[[Variables, Growth, Any], Growth]
    """(variables, growth, simulations: int or int32[]) -> grown trees, full ones at most; the argument
    `growth` is used up."""
    keep: Callable[[Growth, Array], Growth]
    """(growth, actions[B]) -> the subtrees of these actions, each of which the root must have visited."""
    conclude: Callable[[Growth], SearchOutput]
    """growth -> what it found, at temperature 0."""


def make_anytime(game: Game, evaluate: EvaluateFn, config: SearchConfig, capacity: int) -> AnytimeSearch:
    """A search with the settings of `config`, but for their number of simulations, and without noise.

    `ValueError` for fewer than 2 nodes and for more than fit into memory.
    """
    check(config)
    if config.kind not in STRATEGIES:
        raise ValueError(
            f"search {config.kind!r} cannot be stopped and continued; use one of {', '.join(STRATEGIES)}"
        )
    if capacity < 2:
        raise ValueError(f"a tree of {capacity} nodes cannot grow; use 2 or more")
    memory.check_memory(game, 1, capacity)
    rules = STRATEGIES[config.kind](dataclasses.replace(config, dirichlet_fraction=0.0))

    def prepare(said: Array, states: GameState) -> tuple[Array, Any]:
        """The roots' log priors and what the strategy keeps of its roots."""
        batch = len(states.size)
        prior = jax.vmap(lambda s, p: prefer_wins(game, s, p))(states, said) if config.take_wins else said
        keys = jax.random.split(jax.random.key(0), batch)  # no noise is drawn at temperature 0
        return jax.vmap(rules.prepare)(keys, prior, states, jnp.zeros(batch))

    @jax.jit
    def begin(variables: Variables, key: Array, states: GameState) -> Growth:
        root_key, key = jax.random.split(key)
        judge, _ = judging(game, evaluate, config, variables)
        root = judge(root_key, states)
        prior, extra_data = prepare(root.logits, states)
        tree = plant(root._replace(logits=prior), states, capacity, extra_data)
        return Growth(tree, jnp.ones_like(states.size), jnp.int32(0), key)

    def grow(variables: Variables, growth: Growth, simulations: Any) -> Growth:
        _, expand = judging(game, evaluate, config, variables)
        end = growth.simulations + jnp.minimum(simulations, capacity - growth.used.max())

        def one(number: Array, growth: Growth) -> Growth:
            key = jax.random.fold_in(growth.key, number)
            tree, fresh = simulate(
                key, growth.tree, growth.used, expand=expand, select_root=rules.select, select=rules.select
            )
            return growth._replace(tree=tree, used=growth.used + fresh, simulations=number + 1)

        return jax.lax.fori_loop(growth.simulations, end, one, growth)

    @jax.jit
    def keep(growth: Growth, actions: Array) -> Growth:
        tree, used = jax.vmap(subtree)(growth.tree, actions)
        states = jax.tree.map(lambda x: x[:, ROOT], tree.states)
        prior, extra_data = prepare(tree.children_prior_logits[:, ROOT], states)
        tree = tree._replace(
            children_prior_logits=tree.children_prior_logits.at[:, ROOT].set(prior),
            root_invalid_actions=~states.legal,
            extra_data=extra_data,
        )
        return growth._replace(tree=tree, used=used)

    @jax.jit
    def conclude(growth: Growth) -> SearchOutput:
        states = jax.tree.map(lambda x: x[:, ROOT], growth.tree.states)
        said = growth.tree.children_prior_logits[:, ROOT]
        return summary(rules, growth.key, growth.tree, states, jnp.zeros(len(states.size)), said)

    return AnytimeSearch(capacity, begin, jax.jit(grow, donate_argnums=1), keep, conclude)


def subtree(tree: Tree, action: Array) -> tuple[Tree, Array]:
    """One game's tree below `action`, in the same room and the same order; and int32[], its nodes in use.

    What belongs to the root alone (`root_invalid_actions`, `extra_data`) stays as it was.
    """
    nodes = tree.parents.shape[0]
    places, blank = jnp.arange(nodes), nodes - 1
    inside = places == tree.children_index[ROOT, action]
    above = jnp.where(tree.parents == NONE, places, tree.parents)
    for _ in range(nodes.bit_length()):  # each round looks twice as far up
        inside, above = inside | inside[above], above[above]
    used = jnp.sum(inside, dtype=jnp.int32)
    source = jnp.where(places < used, jnp.argsort(~inside, stable=True), blank)
    # The last place tells where "no node" goes: index -1.
    moved = jnp.append(jnp.where(inside, jnp.cumsum(inside) - 1, NONE), NONE).astype(jnp.int32)
    per_node = {
        name: jax.tree.map(lambda x: x[source], value)
        for name, value in tree._asdict().items()
        if name not in ("root_invalid_actions", "extra_data")
    }
    kept = tree._replace(**per_node)
    return kept._replace(
        parents=moved[kept.parents],
        children_index=moved[kept.children_index],
        action_from_parent=kept.action_from_parent.at[ROOT].set(NONE),
    ), used
