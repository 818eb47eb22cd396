"""Agents with fresh weights and networks that compile in no time."""

import jax

from saz_jax.agents.agent import Agent
from saz_jax.config import CNNConfig, FCNConfig, GINConfig, ModelConfig, SearchConfig
from saz_jax.config.registry import MODELS
from saz_jax.games import make_game
from saz_jax.models import make_model

GIN = GINConfig(layers=1, hidden=4, head=4)


def tiny_agent(game_name, model, sizes, gin=GIN, seed=0):
    """An agent that says it was trained on `sizes`."""
    networks = {
        "gin": gin,
        "cnn": CNNConfig(side=max(sizes), channels=2, dense=(4, 4)),
        "fcn": FCNConfig(blocks=1, channels=4),
    }
    config = ModelConfig(model, networks[MODELS.find(model).network])
    game = make_game(game_name, max(sizes))
    variables = jax.jit(make_model(config, game).network.init)(jax.random.key(seed))
    search = SearchConfig(kind="gumbel", simulations=2)
    meta = {"seed": seed, "iteration": 3, "seconds": 90.0}
    return Agent(variables, game_name, dict(game.options), config, search, tuple(sizes), meta)
