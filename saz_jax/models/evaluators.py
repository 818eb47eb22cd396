"""Ways to ask a network for a prior and a value (Sec. 4.2).

Every evaluator gives log-probabilities renormalised over legal moves, and a value seen by the player to move.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from saz_jax.config import SubgraphConfig
from saz_jax.games.actions import PLACING, within
from saz_jax.graphs.priors import combine, legal_logits
from saz_jax.graphs.subgraphs import sample_subgraph, subgraph_counts
from saz_jax.graphs.topology import live_nodes, observe
from saz_jax.types import Array, EvaluateFn, Evaluation, GameState, Network, Steps, Variables


def whole_board(network: Network) -> EvaluateFn:
    """The network on the whole board, nothing else (Model 3)."""

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        del key
        said = network.infer(variables, observe(states), jax.vmap(live_nodes)(states))
        return said._replace(logits=legal_logits(said.logits, states.legal))

    return evaluate


def subgraph_ensemble(
    network: Network, config: SubgraphConfig, max_size: int, moves: Steps = PLACING
) -> EvaluateFn:
    """The network on the whole board and on sampled subgraphs; the value is the whole board's (Sec. 3.2).

    A move along an edge belongs to the subgraphs that hold both of its ends; `moves` are those of the game.
    The subgraphs of a state follow from the key and the state's place in the batch.  The passes run one after
    another, the whole board first, as many as the largest board of the batch asks for: memory is that of one
    pass, however many there are, and small boards do not pay for their padding.
    """
    counts = subgraph_counts(config, max_size)
    # Pooled pass by pass, to what `scatter_mean` and `scatter_max` say of all passes at once.
    pool = {"mean": jnp.add, "max": jnp.maximum}[config.pool]

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(len(states.size)))
        live, observations = jax.vmap(live_nodes)(states), observe(states)
        sample = functools.partial(sample_subgraph, config=config, max_size=max_size)

        def nodes_of(which: Any) -> Array:
            subgraphs = jax.vmap(sample, (0, None, 0))
            return jax.lax.cond(which > 0, lambda: subgraphs(keys, which - 1, live), lambda: live)

        def ask(which: Any, known: tuple[Evaluation, Array, Array]) -> tuple[Evaluation, Array, Array]:
            whole, pooled, count = known
            nodes = nodes_of(which)
            said = network.infer(variables, observations, nodes)
            whole = jax.tree.map(functools.partial(jnp.where, which > 0), whole, said)
            held = within(nodes, moves) & (which > 0)
            pooled = pool(pooled, jnp.where(held, jax.nn.softmax(said.logits), 0))
            return whole, pooled, count + held

        one = jax.eval_shape(network.infer, variables, observations, live)
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), one)
        unseen = jnp.zeros_like(nothing.logits), jnp.zeros(nothing.logits.shape, jnp.int32)
        passes = 1 + jnp.asarray(counts)[states.points.sum((1, 2))].max()
        whole, p2, count = jax.lax.fori_loop(0, passes, ask, (nothing, *unseen))
        if config.pool == "mean":
            p2 = p2 / jnp.maximum(count, 1)
        prior = combine(jax.nn.log_softmax(whole.logits), p2, states.legal, config.combine)
        return whole._replace(logits=prior)

    return evaluate


def sliding_window(network: Network, side: int) -> EvaluateFn:
    """A network for unpadded boards of `side`, slid over every sub-board of that side (Model 5).

    The prior of a point is the mean over the windows that hold it; pass and the value are means over all
    windows.  Windows run one after another, those that lie on the largest live board of the batch.
    """

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        del key
        places = states.size.max() - side + 1

        def add_window(which: Any, sums: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            row, column = which // places, which % places
            window = sub_boards(states, row, column, side)
            logits, value, *_ = network.infer(variables, observe(window), jnp.ones(window.legal.shape, bool))
            # A window that leaves a state's own live board, or sees none of it, counts nothing there.
            inside = (jnp.maximum(row, column) + side <= states.size) & window.points.any((1, 2))
            weight = inside.astype(value.dtype)
            held = jnp.broadcast_to(weight[:, None], logits.shape)
            prior = place(jax.nn.softmax(logits) * held, row, column, states.board.shape)
            count = place(held, row, column, states.board.shape)
            return sums[0] + prior, sums[1] + count, sums[2] + value * weight

        zeros = jnp.zeros(states.legal.shape)
        prior, count, value = jax.lax.fori_loop(0, places**2, add_window, (zeros, zeros, zeros[:, 0]))
        log_prior = jnp.log(prior / jnp.maximum(count, 1))
        return Evaluation(legal_logits(log_prior, states.legal), value / jnp.maximum(count[:, -1], 1))

    return evaluate


def sub_boards(states: GameState, row: Any, column: Any, side: int) -> GameState:
    """The B sub-boards of `side` whose corner is (row, column), as positions of their own."""
    batch = len(states.size)
    legal_points = states.legal[:, :-1].reshape(states.board.shape)
    board, points, legal = (
        jax.lax.dynamic_slice(x, (0, row, column), (batch, side, side))
        for x in (states.board, states.points, legal_points)
    )
    legal = jnp.concatenate([legal.reshape(batch, -1), states.legal[:, -1:]], axis=1)
    return states._replace(board=board, points=points, size=jnp.full_like(states.size, side), legal=legal)


def place(x: Array, row: Any, column: Any, shape: tuple[int, ...]) -> Array:
    """float[B, V]: node values of sub-boards at (row, column) on boards of `shape` [B, N, N], 0 elsewhere."""
    side = round((x.shape[1] - 1) ** 0.5)
    points = x[:, :-1].reshape(-1, side, side)
    board = jax.lax.dynamic_update_slice(jnp.zeros(shape, x.dtype), points, (0, row, column))
    return jnp.concatenate([board.reshape(len(x), -1), x[:, -1:]], axis=1)
