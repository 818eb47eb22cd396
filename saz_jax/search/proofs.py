"""Exact results in a search tree: what is proven about a position by the ends of games found below it.

Every node has bounds on its outcome, seen by the player to move (score bounded MCTS, Cazenave and Saffidine,
2010; with wins and losses alone it is the MCTS-solver).  A finished game is worth its outcome.  Elsewhere the
lower bound is the best that a move is proven to give, the upper bound the best that any move may still give.
Where they meet the position is solved.  A move whose upper bound does not exceed the node's lower bound can
change nothing and is not searched again.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from saz_jax.types import Array

WIN, LOSS = 1, -1


class Proofs(NamedTuple):
    """Bounds on outcomes in B trees of M nodes."""

    lower: Array
    """int8[B, M]"""
    upper: Array
    """int8[B, M]"""
    children_lower: Array
    """int8[B, M, A]: the children's bounds, seen by the player to move here."""
    children_upper: Array
    """int8[B, M, A]: `WIN` where nothing is known, at illegal moves too."""


def no_proofs(batch: int, nodes: int, actions: int) -> Proofs:
    """Nothing is known yet."""
    return Proofs(
        lower=jnp.full((batch, nodes), LOSS, jnp.int8),
        upper=jnp.full((batch, nodes), WIN, jnp.int8),
        children_lower=jnp.full((batch, nodes, actions), LOSS, jnp.int8),
        children_upper=jnp.full((batch, nodes, actions), WIN, jnp.int8),
    )


def solved(proofs: Proofs, node: Any) -> Array:
    """bool[B]: the outcome of each game's `node` (int32[B]) is known; it is `lower` then."""
    batch = jnp.arange(proofs.lower.shape[0])
    return proofs.lower[batch, node] == proofs.upper[batch, node]


def open_moves(proofs: Proofs, node: Any, legal: Array) -> Array:
    """bool[A]: moves of one game's `node` that are worth searching; all legal ones where none is."""
    alive = legal & (proofs.children_upper[node] > proofs.lower[node])
    return jnp.where(alive.any(), alive, legal)


def sound_moves(proofs: Proofs, node: Any, legal: Array, visits: Array, qvalues: Array) -> Array:
    """bool[A]: moves of one game's `node` that may be played, in view of what is proven.

    Proven losses are left out, unless everything loses.  Where a win or a tie is proven, only the moves that
    are proven to give it remain, and those that are still open and look better.
    """
    best = proofs.lower[node]
    proven = (best > LOSS) & (proofs.children_lower[node] == best)
    better = (proofs.children_upper[node] > best) & ((best == LOSS) | ((visits > 0) & (qvalues > best)))
    sound = legal & (proven | better)
    return jnp.where(sound.any(), sound, legal)


def prove(tree: Any, leaf: Array, outside: int) -> Any:
    """The tree after what the leaves (int32[B]) prove about the nodes above them; `outside` is no node.

    Climbs only as far as bounds change, and not at all where no game has ended.
    """
    batch = jnp.arange(leaf.shape[0])
    states, parents, actions = tree.states, tree.parents, tree.action_from_parent
    ended = states.terminated[batch, leaf]
    outcome = (states.outcome[batch, leaf] * states.to_play[batch, leaf]).astype(jnp.int8)
    at_end = batch, jnp.where(ended, leaf, outside)
    proofs = tree.proofs
    proofs = proofs._replace(
        lower=proofs.lower.at[at_end].set(outcome, mode="drop"),
        upper=proofs.upper.at[at_end].set(outcome, mode="drop"),
    )

    def climb(step: tuple[Proofs, Array, Array]) -> tuple[Proofs, Array, Array]:
        proofs, node, going = step
        parent = jnp.where(going, parents[batch, node], outside)
        edge = batch, parent, actions[batch, node]
        same = states.to_play[batch, node] == states.to_play[batch, parent]
        lower, upper = proofs.lower[batch, node], proofs.upper[batch, node]
        children_lower = proofs.children_lower.at[edge].set(jnp.where(same, lower, -upper), mode="drop")
        children_upper = proofs.children_upper.at[edge].set(jnp.where(same, upper, -lower), mode="drop")
        best = children_lower[batch, parent].max(1)
        most = jnp.where(states.legal[batch, parent], children_upper[batch, parent], LOSS).max(1)
        changed = (best != proofs.lower[batch, parent]) | (most != proofs.upper[batch, parent])
        proofs = Proofs(
            lower=proofs.lower.at[batch, parent].set(best, mode="drop"),
            upper=proofs.upper.at[batch, parent].set(most, mode="drop"),
            children_lower=children_lower,
            children_upper=children_upper,
        )
        node = jnp.where(going, parent, node)
        return proofs, node, going & changed & (parents[batch, node] >= 0)

    going = ended & (parents[batch, leaf] >= 0)
    proofs, _, _ = jax.lax.while_loop(lambda step: jnp.any(step[-1]), climb, (proofs, leaf, going))
    return tree._replace(proofs=proofs)
