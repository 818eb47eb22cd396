"""What an agent thinks of one position: each part of its prior, the search, and every subgraph by itself."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from saz_jax import Agent, Game, GameState, SearchOutput
from saz_jax.config import SearchConfig
from saz_jax.graphs import live_nodes, observe, sample_subgraphs
from saz_jax.models import make_model
from saz_jax.search import Tree, make_tree_search

PRIORS = {"whole board": "model3", "subgraphs": "model4", "both": "saz"}
"""Ways to ask the same weights: p1, p2 and their combination (Sec. 3.2)."""
ABSENT = -1.0
"""The heat of a point that is not in a subgraph."""


def priors(agent: Agent, game: Game, state: GameState, key: Array) -> dict[str, np.ndarray]:
    """{way to ask: float32[V]}, probabilities over legal moves."""
    found = {}
    for name, model_name in PRIORS.items():
        model = make_model(dataclasses.replace(agent.model, name=model_name), game)
        evaluation = jax.jit(model.evaluate)(agent.variables, key, _batch(state))
        found[name] = np.asarray(jax.nn.softmax(evaluation.logits[0]))
    return found


def network_value(agent: Agent, game: Game, state: GameState) -> float:
    """The network's value without any search, seen by the player to move."""
    model = make_model(dataclasses.replace(agent.model, name="model3"), game)
    return float(jax.jit(model.evaluate)(agent.variables, jax.random.key(0), _batch(state)).value[0])


def search(
    agent: Agent, game: Game, state: GameState, key: Array, simulations: int, kind: str = "puct"
) -> tuple[SearchOutput, Tree]:
    """One position searched with the agent's settings, and its tree, both without a batch axis.

    `policy` is in proportion to the visits of puct, and `action` is the most visited move.
    """
    config = dataclasses.replace(agent.search, kind=kind, simulations=simulations, dirichlet_fraction=0.0)
    found = _compiled(game, agent, config)(agent.variables, key, _batch(state), 1.0)
    output, tree = jax.tree.map(lambda x: x[0], found)
    return output._replace(action=output.principal_variation[0]), tree


def subgraphs(agent: Agent, game: Game, state: GameState, key: Array) -> tuple[np.ndarray, np.ndarray]:
    """(bool[K, V], float32[K, V]): the subgraphs drawn by the key, and the prior of each one by itself."""
    config, model = agent.model.ensemble, make_model(dataclasses.replace(agent.model, name="model3"), game)
    nodes = sample_subgraphs(key, live_nodes(state), config, game.max_size)
    nodes = nodes[nodes.any(axis=1)]  # none beyond the count for this side
    seen = jax.tree.map(lambda x: jnp.repeat(x[None], len(nodes), axis=0), observe(state))
    evaluation = jax.jit(model.network.infer)(agent.variables, seen, nodes)
    return np.asarray(nodes), np.asarray(jax.nn.softmax(evaluation.logits))


def subgraph_heat(nodes: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """float[V]: the prior up to 1 where a point is present, the same negative number where it is not."""
    points = nodes & (np.arange(len(nodes)) < len(nodes) - 1)
    return np.where(points, prior / prior[points].max(), ABSENT)


@functools.cache
def _compiled(game: Game, agent: Agent, config: SearchConfig):
    return jax.jit(make_tree_search(game, make_model(agent.model, game).evaluate, config))


def _batch(state: GameState) -> GameState:
    return jax.tree.map(lambda x: x[None], state)
