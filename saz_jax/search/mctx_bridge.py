"""Our games and evaluations for the policies of plain mctx, exact about ends, turns and illegal moves.

    root, recurrent = mctx_root(evaluate), mctx_recurrent(game, evaluate)
    start = root(variables, root_key, states)
    output = mctx.gumbel_muzero_policy(
        variables, search_key, start, recurrent, simulations, invalid_actions=~states.legal
    )

mctx values a move at Q = reward + discount * (value of the position after it).  A reward is seen by the
player who moves, a value by the player to move.

- The outcome of a game is the reward of the move that ends it.  A move that wins at once has Q = +1, one that
  loses -1, one that ties 0, however often it is visited.
- After the end everything is 0: value, reward and discount.  A root that is already over has value 0 too: its
  outcome was the reward of the move that led there.
- Before the end the discount is -1 where the turn goes to the other side, +1 where the same side moves again.

Illegal moves: mctx masks them at the root only, and only if told, so always pass
`invalid_actions=~states.legal`.  Below the root they are masked through the prior logits, which hold the
dtype's minimum there: probability 0.  That is enough for the default q-transforms of both policies,
`qtransform_completed_by_mix_value` and `qtransform_by_parent_and_siblings`, which never rate an unvisited
move above all others.  It is not enough for raw Q-values, under which an unvisited move has Q = 0 and beats
legal moves of negative Q; `mctx_qtransform` gives raw Q-values without that flaw.

Embeddings: a q-transform sees only the tree, so the embedding is the whole position, and the legal moves of a
node are `tree.embeddings.legal[node]`.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import mctx

from saz_jax.search.tree_search import check_states, exact
from saz_jax.types import Array, EvaluateFn, Evaluation, Game, GameState, Variables

RootFn: TypeAlias = Callable[[Variables, Array, GameState], mctx.RootFnOutput]
"""(variables, key, states[B]) -> the root of a search."""

# Type checkers cannot see the fields of a chex dataclass.
_RootFnOutput: Any = mctx.RootFnOutput
_RecurrentFnOutput: Any = mctx.RecurrentFnOutput


def mctx_root(evaluate: EvaluateFn) -> RootFn:
    """(variables, key, states[B]) -> `mctx.RootFnOutput`, whose embedding is the states themselves.

    The policy needs `invalid_actions=~states.legal` besides.
    """

    def root(variables: Variables, key: Array, states: GameState) -> mctx.RootFnOutput:
        if states.board.ndim != 3:
            raise ValueError(f"states.board has shape {states.board.shape}; mctx takes a batch [B, N, N]")
        said = _remaining(evaluate(variables, key, states), states)
        return _RootFnOutput(prior_logits=said.logits, value=said.value, embedding=states)

    return root


def mctx_recurrent(game: Game, evaluate: EvaluateFn) -> mctx.RecurrentFn:
    """(variables, key, action[B], states[B]) -> (`mctx.RecurrentFnOutput`, the positions after the moves).

    `reward` is seen by the player who moves, `value` by the player to move afterwards.
    """

    def recurrent(
        variables: Variables, key: Array, action: Any, states: Any
    ) -> tuple[mctx.RecurrentFnOutput, Any]:
        check_states(game, states, temperature=0)
        after = jax.vmap(game.step)(states, action)
        said = _remaining(evaluate(variables, key, after), after)
        turn = (states.to_play * after.to_play).astype(said.value.dtype)
        output = _RecurrentFnOutput(
            reward=jnp.where(states.terminated, 0, after.outcome * states.to_play),
            discount=jnp.where(after.terminated, 0, turn),
            prior_logits=said.logits,
            value=said.value,
        )
        return output, after

    return recurrent


def mctx_qtransform(tree: mctx.Tree, node_index: Any) -> Array:
    """float32[A]: raw Q in [-1, 1], the node's own value where unvisited (Alg. 1), -inf where illegal.

    For `mctx.muzero_policy`, whose default rescales Q among siblings and takes unvisited moves for the worst;
    not for `mctx.gumbel_muzero_policy`, which adds the transformed values to logits.  `tree` is one game's,
    grown by `mctx_root` and `mctx_recurrent`.
    """
    visited = jnp.asarray(tree.children_visits)[node_index] > 0
    qvalues = jnp.where(visited, tree.qvalues(node_index), jnp.asarray(tree.raw_values)[node_index])
    return jnp.where(tree.embeddings.legal[node_index], qvalues, -jnp.inf)


def _remaining(evaluation: Evaluation, states: GameState) -> Evaluation:
    """Log-probabilities over legal moves, and the value of what is still to come: 0 after the end."""
    evaluation = exact(evaluation, states)
    return evaluation._replace(value=jnp.where(states.terminated, 0, evaluation.value))
