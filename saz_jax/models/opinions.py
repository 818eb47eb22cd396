"""What a network says about the whole board and about sampled subgraphs of it, and how far they disagree.

The search uses the mean of the subgraphs; here each one is kept, for people who want to see how sure it is.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from saz_jax.config import SubgraphConfig
from saz_jax.games.actions import PLACING, within
from saz_jax.graphs.priors import legal_logits
from saz_jax.graphs.subgraphs import sample_subgraphs, subgraph_counts
from saz_jax.graphs.topology import live_nodes, observe
from saz_jax.types import Array, Evaluation, GameState, Network, Steps, Variables


class Opinions(NamedTuple):
    """About one position; subgraphs beyond those of the live side hold no node at all."""

    whole: Evaluation
    """Of the whole board, without a batch; logits over legal moves."""
    nodes: Array
    """bool[K, V]"""
    priors: Array
    """float32[K, A]: each subgraph's probabilities of the legal moves in it."""
    distances: Array
    """float32[K]: how far each is from the whole board's, in [0, 1]: half the sum of the differences between
    two distributions over the legal moves in the subgraph; 0 for one without any."""
    spread: Array
    """float32[A]: standard deviation of a move's probability over the subgraphs that hold it."""


def make_opinions(
    network: Network, config: SubgraphConfig | None, max_size: int, moves: Steps = PLACING
) -> Callable[[Variables, Array, GameState], Opinions]:
    """(variables, key, state) -> Opinions; without a config no subgraphs are drawn (K = 0).

    A move along an edge is in the subgraphs that hold both of its ends; `moves` are those of the game.
    """

    def opinions(variables: Variables, key: Array, state: GameState) -> Opinions:
        live = live_nodes(state)
        seen = jax.tree.map(lambda x: x[None], observe(state))
        if config is None or not subgraph_counts(config, max_size)[-1]:
            nodes = jnp.zeros((0, live.size), bool)
        else:
            nodes = sample_subgraphs(key, live, config, max_size)

        def ask(held: Array) -> Evaluation:
            said = network.infer(variables, seen, held[None])
            said = jax.tree.map(lambda x: x[0], said)
            return said._replace(logits=legal_logits(said.logits, state.legal & within(held, moves)))

        # One after another: memory stays that of one pass.
        passes = jax.lax.map(ask, jnp.concatenate([live[None], nodes]))
        whole = jax.tree.map(lambda x: x[0], passes)
        there = within(nodes, moves) & state.legal[None]
        priors = jnp.where(there, jnp.exp(passes.logits[1:]), 0)
        expected = jnp.where(there, jnp.exp(whole.logits)[None], 0)
        expected = expected / jnp.maximum(expected.sum(1, keepdims=True), 1e-9)
        distances = jnp.abs(priors - expected).sum(1) / 2
        count = jnp.maximum(there.sum(0), 1)
        mean = priors.sum(0) / count
        spread = jnp.sqrt(jnp.where(there, jnp.square(priors - mean[None]), 0).sum(0) / count)
        return Opinions(whole, nodes, priors, distances, spread)

    return opinions
