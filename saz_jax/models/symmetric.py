"""An evaluation that does not depend on how the board is turned: the mean over the game's symmetries."""

import jax
import jax.numpy as jnp

from saz_jax.games.actions import action_symmetry
from saz_jax.games.board import INVERSE_SYMMETRY, symmetry
from saz_jax.graphs.priors import legal_logits
from saz_jax.types import Array, EvaluateFn, Evaluation, Game, GameState, Variables


def symmetric(game: Game, evaluate: EvaluateFn) -> EvaluateFn:
    """`evaluate` asked about every position in each of the game's symmetries, all in one batch.

    Probabilities and values are averaged; what else a network says is left out.
    """
    each = jnp.asarray(game.symmetries, jnp.int32)
    back = jnp.asarray([INVERSE_SYMMETRY[which] for which in game.symmetries], jnp.int32)

    def averaged(variables: Variables, key: Array, states: GameState) -> Evaluation:
        over_all = jax.vmap(jax.vmap(lambda which, state: turned(game, state, which), (None, 0)), (0, None))
        every = over_all(each, states)  # [S, B, ...]
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), every)
        said = evaluate(variables, key, flat)
        prior = jax.nn.softmax(legal_logits(said.logits, flat.legal)).reshape(len(each), len(states.size), -1)

        def turned_back(which: Array, state: GameState, prior: Array) -> Array:
            return prior[action_symmetry(which, state.size, game.max_size, game.moves)]

        prior = jax.vmap(jax.vmap(turned_back, (None, 0, 0)), (0, None, 0))(back, states, prior).mean(0)
        tiny = jnp.finfo(prior.dtype).tiny
        return Evaluation(
            logits=legal_logits(jnp.log(jnp.maximum(prior, tiny)), states.legal),
            value=said.value.reshape(len(each), -1).mean(0),
        )

    return averaged


def turned(game: Game, state: GameState, which: Array) -> GameState:
    """One position as a network would see it on a turned board; what the rules remember is not turned."""
    nodes = symmetry(which, state.size, game.max_size)[:-1]
    source = action_symmetry(which, state.size, game.max_size, game.moves)
    return state._replace(
        board=state.board.reshape(-1)[nodes].reshape(state.board.shape),
        points=state.points.reshape(-1)[nodes].reshape(state.points.shape),
        legal=state.legal[source],
    )
