"""Search trees of a whole batch of games: growth, results and memory.

`grow_tree` does what `mctx.search` does, node for node, on a leaner tree with the same field names, so that
mctx's selection functions read it.  It is ours for three reasons.  Its backup writes B numbers per level,
where mctx's vmapped loop rewrites [B, M, A] arrays per level: on a CPU and a large board that costs more than
a network.  It draws no random numbers.  And a finished game is never entered: its node is visited again,
where mctx grows a chain of equal nodes below it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from saz_jax.search.proofs import Proofs, no_proofs, prove, solved, sound_moves
from saz_jax.types import Array, Evaluation, Game, GameState

ROOT = 0
"""Index of the root node."""
NONE = -1
"""Index of a missing node: the root's parent, or a child not yet visited."""
MAX_VARIATION = 16
"""Longest principal variation that is reported."""


class Tree(NamedTuple):
    """B trees with room for M = simulations + 1 nodes; a value is seen by the player to move at its node."""

    states: GameState
    """[B, M, ...]"""
    raw_values: Array
    """float32[B, M]: what the evaluation said, or the outcome of a finished game."""
    node_values: Array
    """float32[B, M]: mean of the raw values of the node and of all that was visited below it."""
    node_visits: Array
    """int32[B, M]"""
    parents: Array
    """int32[B, M]"""
    action_from_parent: Array
    """int32[B, M]"""
    children_index: Array
    """int32[B, M, A]"""
    children_prior_logits: Array
    """float32[B, M, A]"""
    children_visits: Array
    """int32[B, M, A]"""
    children_qvalues: Array
    """float32[B, M, A]: the children's values, seen by the player to move here; 0 where unvisited."""
    root_invalid_actions: Array
    """bool[B, A]"""
    extra_data: Any
    """What a selection function needs besides."""
    proofs: Proofs | None = None
    """Proven bounds; None: they are not kept."""


SelectFn = Callable[[Tree, Array], Array]
"""(the tree of one game, a node) -> the action to follow from there."""
ExpandFn = Callable[[Array, GameState, Array], tuple[Evaluation, GameState]]
"""(key, states[B], actions[B]) -> (evaluation of the positions after them, these positions)."""


def grow_tree(
    key: Array,
    root: Evaluation,
    states: GameState,
    *,
    expand: ExpandFn,
    select_root: SelectFn,
    select: SelectFn,
    simulations: int,
    extra_data: Any = None,
    solve: bool = False,
) -> Tree:
    """B trees after `simulations` rounds of selection, expansion and backup.

    With `solve` they keep proofs, and a game whose root is solved is searched no further.
    """
    batch = jnp.arange(states.size.shape[0])

    def one(simulation: Array, tree: Tree) -> Tree:
        fresh = jnp.full_like(batch, simulation + 1)
        key_here = jax.random.fold_in(key, simulation)
        return simulate(key_here, tree, fresh, expand=expand, select_root=select_root, select=select)[0]

    tree = plant(root, states, simulations, extra_data, solve)
    if not solve:
        return jax.lax.fori_loop(0, simulations, one, tree)

    def goes_on(progress: tuple[Array, Tree]) -> Array:
        simulation, tree = progress
        assert tree.proofs is not None
        return (simulation < simulations) & ~jnp.all(solved(tree.proofs, jnp.full_like(batch, ROOT)))

    def go_on(progress: tuple[Array, Tree]) -> tuple[Array, Tree]:
        simulation, tree = progress
        return simulation + 1, one(simulation, tree)

    return jax.lax.while_loop(goes_on, go_on, (jnp.int32(0), tree))[1]


def simulate(
    key: Array, tree: Tree, fresh: Array, *, expand: ExpandFn, select_root: SelectFn, select: SelectFn
) -> tuple[Tree, Array]:
    """One round of selection, expansion and backup: the trees, and bool[B] where node `fresh` is now in use.

    `fresh: int32[B]` is where a new node goes; a finished game is visited again and takes no new one, and
    neither does a game whose root is solved.
    """
    batch = jnp.arange(fresh.shape[0])
    parent, action = descend(tree, jax.vmap(select_root)(tree, jnp.full_like(batch, ROOT)), select)
    before = jax.tree.map(lambda x: x[batch, parent], tree.states)
    evaluation, after = expand(key, before, action)
    return attach(tree, fresh, parent, action, evaluation, after)


def attach(
    tree: Tree,
    fresh: Array,
    parent: Array,
    action: Array,
    evaluation: Evaluation,
    after: GameState,
    there: Array | None = None,
) -> tuple[Tree, Array]:
    """Enter the position after `action` at node `parent` of each game and count it in all nodes above.

    `there: bool[B]`, games in which there is one; the trees, and bool[B] where node `fresh` is now in use.
    """
    batch, outside = jnp.arange(fresh.shape[0]), tree.parents.shape[1]
    child = tree.children_index[batch, parent, action]
    node, new = jnp.where(child == NONE, fresh, child), child == NONE
    if tree.proofs is not None:
        unsolved = ~solved(tree.proofs, jnp.full_like(node, ROOT))
        there = unsolved if there is None else there & unsolved
    if there is not None:
        # Writes outside of the tree are dropped.
        node, parent, new = jnp.where(there, node, outside), jnp.where(there, parent, outside), new & there
    tree = write_node(tree, node, evaluation, after)
    tree = tree._replace(
        parents=tree.parents.at[batch, node].set(parent),
        action_from_parent=tree.action_from_parent.at[batch, node].set(action),
        children_index=tree.children_index.at[batch, parent, action].set(node),
    )
    if there is not None:
        node = jnp.where(node == outside, ROOT, node)
    if tree.proofs is not None:
        tree = prove(tree, node, outside)
    return back_up(tree, node), new


def plant(
    root: Evaluation, states: GameState, simulations: int, extra_data: Any = None, solve: bool = False
) -> Tree:
    """Trees that hold the root alone, with room for one node per simulation."""
    (batch, actions), nodes = root.logits.shape, simulations + 1
    per_node, per_child = (batch, nodes), (batch, nodes, actions)
    tree = Tree(
        states=jax.tree.map(lambda x: jnp.zeros((batch, nodes, *x.shape[1:]), x.dtype), states),
        raw_values=jnp.zeros(per_node),
        node_values=jnp.zeros(per_node),
        node_visits=jnp.zeros(per_node, jnp.int32),
        parents=jnp.full(per_node, NONE, jnp.int32),
        action_from_parent=jnp.full(per_node, NONE, jnp.int32),
        children_index=jnp.full(per_child, NONE, jnp.int32),
        children_prior_logits=jnp.zeros(per_child),
        children_visits=jnp.zeros(per_child, jnp.int32),
        children_qvalues=jnp.zeros(per_child),
        root_invalid_actions=~states.legal,
        extra_data=extra_data,
        proofs=no_proofs(batch, nodes, actions) if solve else None,
    )
    return write_node(tree, jnp.full(batch, ROOT), root, states)


def write_node(tree: Tree, node: Array, evaluation: Evaluation, states: GameState) -> Tree:
    """Enter one node per game (`node: int32[B]`): its position and what the evaluation says about it."""
    at = jnp.arange(node.shape[0]), node
    return tree._replace(
        states=jax.tree.map(lambda x, y: x.at[at].set(y), tree.states, states),
        raw_values=tree.raw_values.at[at].set(evaluation.value),
        node_values=tree.node_values.at[at].set(evaluation.value),
        node_visits=tree.node_visits.at[at].add(1),
        children_prior_logits=tree.children_prior_logits.at[at].set(evaluation.logits),
    )


def descend(tree: Tree, action: Array, select: SelectFn) -> tuple[Array, Array]:
    """Follow the root's moves `action` up to one that is new or ends the game: nodes and actions.

    All are int32[B], one path of each game, or int32[B, L]; paths of one game see the same tree.
    """
    games = jnp.arange(action.shape[0]).reshape(-1, *[1] * (action.ndim - 1))
    choose = jax.vmap(select) if action.ndim == 1 else jax.vmap(jax.vmap(select, (None, 0)))

    def into(node: Array, action: Array) -> tuple[Array, Array]:
        child = tree.children_index[games, node, action]
        return child, (child != NONE) & ~tree.states.terminated[games, child]

    def follow(path: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        node, action, child, going = path
        node = jnp.where(going, child, node)
        action = jnp.where(going, choose(tree, node), action)
        child, inside = into(node, action)
        return node, action, child, going & inside

    root = jnp.full_like(action, ROOT)
    path = (root, action, *into(root, action))
    node, action, _, _ = jax.lax.while_loop(lambda path: jnp.any(path[-1]), follow, path)
    return node, action


def back_up(tree: Tree, leaf: Array) -> Tree:
    """Count the value of each game's leaf in every node above it; signs follow the player to move.

    What is solved is worth its outcome, and so is the leaf to all nodes above one that is solved.
    """
    batch = jnp.arange(leaf.shape[0])
    outside = tree.node_visits.shape[1]
    to_play, proofs = tree.states.to_play, tree.proofs
    leaf_value, leaf_player = tree.node_values[batch, leaf], to_play[batch, leaf]

    def certain(node: Array, value: Array) -> Array:
        """`value`, or the outcome of each game's node where it is known."""
        if proofs is None:
            return value
        lower, upper = proofs.lower[batch, node], proofs.upper[batch, node]
        return jnp.where(lower == upper, lower.astype(value.dtype), value)

    def ascend(climb: tuple[Tree, Array, Array]) -> tuple[Tree, Array, Array]:
        tree, node, found = climb
        # A game that has reached its root writes outside of the tree, and such writes are dropped.
        parent = jnp.where(node == ROOT, outside, tree.parents[batch, node])
        above, edge = (batch, parent), (batch, parent, tree.action_from_parent[batch, node])
        player = to_play.at[above].get(mode="fill", fill_value=0)
        visits = tree.node_visits.at[above].get(mode="fill", fill_value=0)
        value = tree.node_values.at[above].get(mode="fill", fill_value=0)
        mean = certain(parent, (value * visits + found * (leaf_player * player)) / (visits + 1))
        qvalue = tree.node_values[batch, node] * (to_play[batch, node] * player)
        tree = tree._replace(
            node_values=tree.node_values.at[above].set(mean, mode="drop"),
            node_visits=tree.node_visits.at[above].add(1, mode="drop"),
            children_visits=tree.children_visits.at[edge].add(1, mode="drop"),
            children_qvalues=tree.children_qvalues.at[edge].set(qvalue, mode="drop"),
        )
        if proofs is not None:  # seen by the leaf's player all the way up
            found = certain(parent, found * (leaf_player * player)) * (leaf_player * player)
        return tree, jnp.where(node == ROOT, ROOT, parent), found

    climb = (tree, leaf, leaf_value)
    return jax.lax.while_loop(lambda climb: jnp.any(climb[1] != ROOT), ascend, climb)[0]


def most_visited(visits: Array, qvalues: Array) -> Array:
    """int32[]: the action of most visits; of equals the one of highest Q, then the first on the board."""
    # |Q| <= 1: a quarter of it orders equal counts and overturns no unequal ones.
    return jnp.argmax(jnp.where(visits > 0, visits + qvalues / 4, -1.0)).astype(jnp.int32)


def principal_variation(tree: Tree, node: Any = ROOT) -> Array:
    """int32[D]: the most visited path of one game's tree from its root, or a node; -1 after its end.

    Where proofs are kept it follows the moves that they leave.
    """

    def follow(node: Array, _: None) -> tuple[Array, Array]:
        visits, qvalues = tree.children_visits[node], tree.children_qvalues[node]
        if tree.proofs is not None:
            sound = sound_moves(tree.proofs, node, tree.states.legal[node], visits, qvalues)
            visits = jnp.where(sound, visits, 0)
        action = most_visited(visits, qvalues)
        child = jnp.where(node == NONE, NONE, tree.children_index[node, action])
        return child, jnp.where(child == NONE, -1, action)

    depth = min(tree.parents.shape[0] - 1, MAX_VARIATION)
    return jax.lax.scan(follow, jnp.asarray(node, jnp.int32), None, length=depth)[1]


def tree_memory(game: Game, batch: int, simulations: int, solve: bool = False) -> int:
    """Bytes that the trees of `batch` games take; nothing is allocated to find out, however many they are."""

    def planted(simulations: int) -> int:
        def plant_one() -> Tree:
            states = jax.vmap(game.init)(jnp.full(1, game.max_size))
            root = Evaluation(jnp.zeros((1, game.num_actions)), jnp.zeros(1))
            return plant(root, states, simulations, solve=solve)

        return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(jax.eval_shape(plant_one)))

    # Every further node takes the same: shapes of 10^9 games would overflow the indices that jax counts with.
    root, node = planted(0), planted(1) - planted(0)
    return batch * (root + simulations * node)
