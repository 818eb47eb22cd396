"""A search that can be stopped at any time: trees that grow by as many simulations a call as are asked for.

`make_search` compiles one program per number of simulations.  Here that number is data: one program serves
every budget, a clock can stop the search between two calls, and the subtree of a move that was played is
kept.  Gumbel's sequential halving has to know the number of simulations in advance: `aim` tells it, and goes
by rounds, whose root moves are evaluated together.  A search that nobody has aimed, or that goes on beyond
its aim, halves again and again, each time with as many simulations as there were before.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from saz_jax.config import SearchConfig
from saz_jax.search import memory
from saz_jax.search.proofs import solved
from saz_jax.search.rounds import Halving, RoundState, grow_by_rounds, plan
from saz_jax.search.tree import NONE, ROOT, Tree, plant, simulate
from saz_jax.search.tree_search import STRATEGIES, check, judging, prefer_wins, summary
from saz_jax.types import Array, EvaluateFn, Game, GameState, SearchOutput, Variables

FIRST_AIM = 64
"""Simulations of the first halving of a search that nobody has aimed."""
NEVER_SHORT = 2**30
"""More simulations than anybody asks for."""


class Growth(NamedTuple):
    """B trees that may grow further.  Nodes 0 to `used - 1` are in use; the last one always stays blank."""

    tree: Tree
    used: Array
    """int32[B]: nodes in use, the root included."""
    steps: Array
    """int32[]: numbers the keys."""
    key: Array
    halving: Halving | None = None
    """How far sequential halving has come; None: the root's moves are chosen one at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class AnytimeSearch:
    """Five compiled functions; none of them compiles again for another budget."""

    capacity: int
    """Nodes that a tree can hold."""
    begin: Callable[[Variables, Array, GameState], Growth]
    """(variables, key, states[B]) -> trees of a root each."""
    aim: Callable[[Growth, Any], Growth]
    """(growth, simulations: int or int32[]) -> the same trees, about to be searched with so many more."""
    grow: Callable[[Variables, Growth, Any], Growth]
    """(variables, growth, simulations: int or int32[]) -> grown trees, by whole rounds up to the aim, and
    full ones at most; the argument `growth` is used up."""
    keep: Callable[[Variables, Growth, Array], Growth]
    """(variables, growth, actions[B]) -> the subtrees of these actions, all of which the root has visited."""
    conclude: Callable[[Growth], SearchOutput]
    """growth -> what it found, at temperature 0."""


def make_anytime(
    game: Game,
    evaluate: EvaluateFn,
    config: SearchConfig,
    capacity: int,
    evaluate_root: EvaluateFn | None = None,
) -> AnytimeSearch:
    """A search with the settings of `config`, but for their number of simulations, and without noise.

    `evaluate_root` is asked about the priors of roots instead of `evaluate`, such as one that averages over
    symmetries; roots of kept subtrees, too.  `ValueError` for fewer than 2 nodes and for more than fit into
    memory.
    """
    check(config)
    if config.kind not in STRATEGIES:
        raise ValueError(
            f"search {config.kind!r} cannot be stopped and continued; use one of {', '.join(STRATEGIES)}"
        )
    if capacity < 2:
        raise ValueError(f"a tree of {capacity} nodes cannot grow; use 2 or more")
    memory.check_memory(game, 1, capacity, solve=config.solve)
    rules = STRATEGIES[config.kind](dataclasses.replace(config, dirichlet_fraction=0.0))

    def prepare(said: Array, states: GameState) -> tuple[Array, Any]:
        """The roots' log priors and what the strategy keeps of its roots."""
        batch = len(states.size)
        prior = jax.vmap(lambda s, p: prefer_wins(game, s, p))(states, said) if config.take_wins else said
        keys = jax.random.split(jax.random.key(0), batch)  # no noise is drawn at temperature 0
        return jax.vmap(rules.prepare)(keys, prior, states, jnp.zeros(batch))

    def aimed(growth: Growth, simulations: Any) -> Growth:
        if rules.score is None:
            return growth
        room = capacity - growth.used.max()
        halving = plan(growth.tree, jnp.minimum(simulations, room), config.max_considered_actions)
        extra_data = growth.tree.extra_data._replace(before=halving.before)
        return growth._replace(tree=growth.tree._replace(extra_data=extra_data), halving=halving)

    @jax.jit
    def begin(variables: Variables, key: Array, states: GameState) -> Growth:
        root_key, key = jax.random.split(key)
        judge, _ = judging(game, evaluate_root or evaluate, config, variables)
        root = judge(root_key, states)
        prior, extra_data = prepare(root.logits, states)
        tree = plant(root._replace(logits=prior), states, capacity, extra_data, config.solve)
        return aimed(Growth(tree, jnp.ones_like(states.size), jnp.int32(0), key), FIRST_AIM)

    def grow(variables: Variables, growth: Growth, simulations: Any) -> Growth:
        _, expand = judging(game, evaluate, config, variables)
        if growth.halving is not None:
            return grow_halving(expand, growth, simulations)
        end = growth.steps + jnp.minimum(simulations, capacity - growth.used.max())

        def one(number: Array, growth: Growth) -> Growth:
            key = jax.random.fold_in(growth.key, number)
            tree, fresh = simulate(
                key, growth.tree, growth.used, expand=expand, select_root=rules.select, select=rules.select
            )
            return growth._replace(tree=tree, used=growth.used + fresh, steps=number + 1)

        return jax.lax.fori_loop(growth.steps, end, one, growth)

    def grow_halving(expand: Any, growth: Growth, simulations: Any) -> Growth:
        def known(growth: Growth) -> Array:
            """bool[B]: roots that are solved, and so are not searched any more."""
            if growth.tree.proofs is None:
                return jnp.zeros_like(growth.used, bool)
            return solved(growth.tree.proofs, jnp.full_like(growth.used, ROOT))

        def visits(growth: Growth) -> Array:
            """int32[]: simulations of the game that has had the fewest."""
            return jnp.where(known(growth), NEVER_SHORT, growth.tree.node_visits[:, ROOT] - 1).min()

        end = visits(growth) + simulations

        def short(growth: Growth) -> Array:
            return (visits(growth) < end) & (growth.used.max() < capacity)

        def more(growth: Growth) -> Growth:
            assert growth.halving is not None
            assert rules.score is not None
            over = jnp.all((growth.halving.spent >= growth.halving.budget) | known(growth))
            so_far = jnp.maximum(growth.tree.node_visits[:, ROOT].max() - 1, FIRST_AIM)
            again = aimed(growth, so_far).halving
            halving = jax.tree.map(lambda old, new: jnp.where(over, new, old), growth.halving, again)
            extra_data = growth.tree.extra_data._replace(before=halving.before)
            tree = growth.tree._replace(extra_data=extra_data)
            state = RoundState(tree, halving, growth.used, growth.steps)
            grown = grow_by_rounds(
                growth.key,
                state,
                end - visits(growth),
                expand=expand,
                select=rules.select,
                score=rules.score,
            )
            return Growth(grown.tree, grown.used, grown.steps, growth.key, grown.halving)

        return jax.lax.while_loop(short, more, growth)

    @jax.jit
    def keep(variables: Variables, growth: Growth, actions: Array) -> Growth:
        tree, used = jax.vmap(subtree)(growth.tree, actions)
        states = jax.tree.map(lambda x: x[:, ROOT], tree.states)
        said = tree.children_prior_logits[:, ROOT]
        if evaluate_root is not None:
            judge, _ = judging(game, evaluate_root, config, variables)
            said = judge(jax.random.fold_in(growth.key, growth.steps), states).logits
        prior, extra_data = prepare(said, states)
        tree = tree._replace(
            children_prior_logits=tree.children_prior_logits.at[:, ROOT].set(prior),
            root_invalid_actions=~states.legal,
            extra_data=extra_data,
        )
        return aimed(growth._replace(tree=tree, used=used), FIRST_AIM)

    @jax.jit
    def conclude(growth: Growth) -> SearchOutput:
        states = jax.tree.map(lambda x: x[:, ROOT], growth.tree.states)
        said = growth.tree.children_prior_logits[:, ROOT]
        return summary(rules, growth.key, growth.tree, states, jnp.zeros(len(states.size)), said)

    return AnytimeSearch(capacity, begin, jax.jit(aimed), jax.jit(grow, donate_argnums=1), keep, conclude)


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
