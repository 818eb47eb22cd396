"""Gumbel's sequential halving, several root moves at a time: one game need not ask about one board at a time.

Sequential halving visits known root moves in known numbers: m of them in rounds of one visit each, then the
better half of them, and so on.  The subtrees of different root moves have nothing in common, so the visits of
one round are made and evaluated together, and each goes where it would have gone alone.  Only where the moves
of a new half are chosen does it matter that the visits of a step do not see each other's results.

The schedule is data: one program serves every number of simulations and of legal moves.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from saz_jax.search.proofs import open_moves, solved
from saz_jax.search.tree import ROOT, ExpandFn, SelectFn, Tree, attach, descend
from saz_jax.types import Array

ScoreFn: TypeAlias = Callable[[Tree], Array]
"""(the tree of one game) -> float32[A]: which of the root's moves are better."""
LANES = (8, 2)
"""Moves that are visited together: a round of more than `NARROW` takes the first number, others the second.
Each number is a network of its own to the compiler; on a CPU of two cores more of them gained nothing."""
NARROW = 4


class Halving(NamedTuple):
    """How far the halvings of B games have come."""

    budget: Array
    """int32[B]: simulations that it is planned for."""
    spent: Array
    """int32[B]: simulations so far."""
    phases: Array
    """int32[B]: how often the moves considered at first can be halved."""
    width: Array
    """int32[B]: moves visited in each round of this phase."""
    left: Array
    """int32[B]: moves still to visit in this round."""
    rounds: Array
    """int32[B]: rounds of this phase, this one included."""
    visits: Array
    """int32[B]: how often the moves of this round were visited before it, since the beginning."""
    before: Array
    """int32[B, A]: visits of the root's moves at the beginning, in a tree that was kept."""


def plan(tree: Tree, budget: Any, max_considered: int) -> Halving:
    """A halving of `budget` simulations (int32[] or int32[B]) of the roots as they are."""
    legal = jnp.sum(tree.states.legal[:, ROOT], axis=-1)
    width = jnp.clip(legal, 1, max_considered)
    budget = jnp.broadcast_to(jnp.asarray(budget, jnp.int32), width.shape)
    # ceil(log2(width)), without rounding errors.
    powers = 2 ** jnp.arange(max_considered.bit_length())
    phases = jnp.sum(width[:, None] > powers[None], axis=-1)
    none = jnp.zeros_like(width)
    rounds = rounds_of(budget, phases, width)
    return Halving(budget, none, phases, width, width, rounds, none, tree.children_visits[:, ROOT])


def rounds_of(budget: Array, phases: Array, width: Array) -> Array:
    """int32[B]: rounds of a phase that visits `width` moves in each; phases share the budget equally."""
    return jnp.maximum(budget // jnp.maximum(phases * width, 1), 1)


def advance(halving: Halving, visited: Array) -> Halving:
    """After `visited` (int32[B]) more moves of the round."""
    left = halving.left - visited
    next_round = (left <= 0) & (visited > 0)
    next_phase = next_round & (halving.rounds <= 1)
    # The last two are compared until the budget is spent; a single legal move stays alone.
    half = jnp.maximum(halving.width // 2, jnp.minimum(halving.width, 2))
    width = jnp.where(next_phase, half, halving.width)
    in_phase = rounds_of(halving.budget, halving.phases, width)
    rounds = jnp.where(next_phase, in_phase, halving.rounds - next_round)
    return halving._replace(
        spent=halving.spent + visited,
        width=width,
        left=jnp.where(next_round, width, left),
        rounds=rounds,
        visits=halving.visits + next_round,
    )


def choose_moves(tree: Tree, score: Array, halving: Halving, lanes: int) -> tuple[Array, Array]:
    """One game's next root moves: int32[L], best first, and bool[L] where there is one.

    `score: float32[A]` ranks the moves that have had as many visits as the round wants.  Where proofs leave
    too few of them, those that come nearest take their place.
    """
    alive = tree.states.legal[ROOT]
    alive = alive if tree.proofs is None else open_moves(tree.proofs, ROOT, alive)
    count = jnp.minimum(jnp.minimum(halving.left, halving.budget - halving.spent), jnp.sum(alive))
    had, taken = tree.children_visits[ROOT] - halving.before, jnp.iinfo(jnp.int32).max
    distance = jnp.where(alive, jnp.abs(had - halving.visits), taken)
    moves = []
    for _ in range(lanes):  # cheaper than to sort all moves
        best = jnp.argmax(jnp.where(distance == jnp.min(distance), score, -jnp.inf)).astype(jnp.int32)
        moves.append(best)
        distance = distance.at[best].set(taken)
    return jnp.stack(moves), jnp.arange(lanes) < count


def visit(
    key: Array,
    tree: Tree,
    used: Array,
    moves: Array,
    there: Array,
    *,
    expand: ExpandFn,
    select: SelectFn,
) -> tuple[Tree, Array]:
    """One simulation below each of L different root moves at once.

    `moves: int32[B, L]`, and `there: bool[B, L]` where there is one; `used: int32[B]` are the nodes in use.
    The trees, and how many nodes are in use now.
    """
    games = jnp.arange(moves.shape[0])[:, None]
    parent, action = descend(tree, moves, select)
    flat = jax.tree.map(lambda x: x[games, parent].reshape(-1, *x.shape[2:]), tree.states)
    answer = expand(key, flat, action.reshape(-1))
    answer = jax.tree.map(lambda x: x.reshape(*moves.shape, *x.shape[1:]), answer)

    def enter(lane: Array, state: tuple[Tree, Array]) -> tuple[Tree, Array]:
        """Writes of one node per game: XLA's CPU writes a single place at once, several in a slow loop."""
        tree, used = state
        here = jax.tree.map(lambda x: x[:, lane], (parent, action, *answer, there))
        tree, new = attach(tree, used, *here)
        return tree, used + new

    return jax.lax.fori_loop(0, jnp.max(jnp.sum(there, axis=-1)), enter, (tree, used))


class RoundState(NamedTuple):
    """B trees in the middle of a halving."""

    tree: Tree
    halving: Halving
    used: Array
    """int32[B]: nodes in use, the root included."""
    steps: Array
    """int32[]: numbers the keys."""


def grow_by_rounds(
    key: Array,
    state: RoundState,
    simulations: Any,
    *,
    expand: ExpandFn,
    select: SelectFn,
    score: ScoreFn,
    lanes: Sequence[int] = LANES,
) -> RoundState:
    """At least `simulations` (int32[]) more of every game, in whole steps, none beyond a halving's budget.

    `score` ranks the root's moves.  A step visits as many moves as there are lanes, or what is left of the
    round.  A game whose root is solved is searched no further.
    """
    goal = jnp.minimum(state.halving.spent + simulations, state.halving.budget)

    def waiting(state: RoundState) -> Array:
        short = state.halving.spent < goal
        if state.tree.proofs is None:
            return short
        return short & ~solved(state.tree.proofs, jnp.full_like(state.used, ROOT))

    def step(state: RoundState, lanes: int) -> RoundState:
        tree, halving, used, number = state
        moves, there = jax.vmap(lambda t, h: choose_moves(t, score(t), h, lanes))(tree, halving)
        there &= waiting(state)[:, None]
        step_key = jax.random.fold_in(key, number)
        tree, used = visit(step_key, tree, used, moves, there, expand=expand, select=select)
        return RoundState(tree, advance(halving, jnp.sum(there, axis=-1)), used, number + 1)

    # Wide rounds come before narrow ones in every halving.
    for number, count in enumerate(lanes):
        narrowest = NARROW if number < len(lanes) - 1 else 0
        state = jax.lax.while_loop(
            lambda p, narrowest=narrowest: jnp.any(waiting(p) & (p.halving.width > narrowest)),
            lambda p, count=count: step(p, count),
            state,
        )
    return state
