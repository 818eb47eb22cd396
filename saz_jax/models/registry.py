"""`make_model` and `register_model`: a network and a way to ask it, by name.

model2 is saz, trained on the size that it is tested on.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from saz_jax.config import ModelConfig, SubgraphConfig
from saz_jax.config.registry import MODELS, NETWORKS
from saz_jax.games.actions import PLACING
from saz_jax.graphs.subgraphs import smallest_side
from saz_jax.graphs.topology import live_nodes, observe
from saz_jax.models.evaluators import sliding_window, subgraph_ensemble, whole_board
from saz_jax.networks.registry import make_network_of
from saz_jax.types import Array, EvaluateFn, Evaluation, Game, GameState, Model, Network, Variables

SIZE_SETTINGS = "network.side (model1, model5) or ensemble.per_side and ensemble.shrink (saz, model2, model4)"

ModelMaker = Callable[[Network, ModelConfig, Game], Model]
"""(network, config, game) -> Model."""


def register_model(name: str, make: ModelMaker, network: str = "gin", settings: type | None = None) -> None:
    """Makes a way to ask networks known by `name`: to training as `--model name`, to agents and to files.

    `make(network, config, game) -> Model`; `network` is the one that it has unless the settings name
    another; `settings`, if it has any, is a frozen dataclass that comes as `config.ensemble`.
    """
    MODELS.add(name, make, settings, network)


def default_config(name: str) -> ModelConfig:
    """A model with its own network and the defaults of all settings."""
    entry = MODELS.find(name)
    network = NETWORKS.find(entry.network).settings
    assert network is not None
    return ModelConfig(entry.name, network(), (entry.settings or SubgraphConfig)())


@functools.cache
def make_model(config: ModelConfig, game: Game) -> Model:
    """The model that `config` names, for the boards of `game`; equal arguments give the same object."""
    entry = MODELS.find(config.name)
    config = with_own_settings(config)
    model = entry.make(make_network_of(config.network, game), config, game)
    model = dataclasses.replace(model, name=config.name)
    if game.moves != PLACING:
        check_actions(model.network, NETWORKS.name_of(config.network), game)
    smallest, _ = model.sizes
    if smallest > game.max_size:
        raise ValueError(
            f"{model.name} needs a board side of {smallest} or more, but max_size={game.max_size}; "
            f"raise max_size, or change {SIZE_SETTINGS}"
        )
    once = model.evaluate_once
    return dataclasses.replace(
        model,
        evaluate=_checked(model, model.evaluate, game.max_size),
        evaluate_once=_checked(model, once, game.max_size) if once else None,
    )


def check_actions(network: Network, name: str, game: Game) -> None:
    """Raise `ValueError` unless the network gives a logit for each action of the game; computes nothing."""

    def infer(key: Array, shape: Array) -> Evaluation:
        states = jax.vmap(game.init)(shape)
        return network.infer(network.init(key), observe(states), jax.vmap(live_nodes)(states))

    said = jax.eval_shape(infer, jax.random.key(0), jax.ShapeDtypeStruct((1,), jnp.int32))
    if said.logits.shape != (1, game.num_actions):
        raise ValueError(
            f"network {name} gives {said.logits.shape[1]} logits, and {game.name} has {game.num_actions} "
            f"actions, moves along edges; use gin, fcn or cnn, or let it read `game.moves`"
        )


def with_own_settings(config: ModelConfig) -> ModelConfig:
    """`config` with the defaults of its model's ensemble where it holds those of another model."""
    settings = MODELS.find(config.name).settings
    if settings is None or isinstance(config.ensemble, settings):
        return config
    return dataclasses.replace(config, ensemble=settings())


def check_sizes(model: Model, sizes: Iterable[int]) -> None:
    """Raise `ValueError` unless `model` can play on every live side in `sizes`."""
    smallest, largest = model.sizes
    for size in sizes:
        if size < smallest or (largest is not None and size > largest):
            limits = f"{smallest} or more" if largest is None else f"{smallest} to {largest}"
            raise ValueError(
                f"{model.name} cannot play on board side {size}; it plays sides {limits}: "
                f"choose among them, or change {SIZE_SETTINGS}"
            )


def _checked(model: Model, evaluate: EvaluateFn, max_size: int) -> EvaluateFn:
    """`evaluate` with its states checked as far as they are concrete."""

    def checked(variables: Variables, key: Array, states: GameState) -> Evaluation:
        if states.board.shape[1:] != (max_size, max_size):
            raise ValueError(
                f"boards have shape {states.board.shape}; {model.name} reads (batch, {max_size}, {max_size})"
            )
        if not isinstance(states.size, Tracer):
            check_sizes(model, np.unique(states.size).tolist())
        return evaluate(variables, key, states)

    return checked


def alone(network: Network, config: ModelConfig, game: Game) -> Model:
    """The network on the whole board (models 1 and 3, and the fully-convolutional rival)."""
    return Model(network, whole_board(network), network.sizes)


def with_subgraphs(network: Network, config: ModelConfig, game: Game) -> Model:
    """The network on the whole board and on sampled subgraphs (SAZ and model 2)."""
    sizes = (max(network.sizes[0], smallest_side(config.ensemble)), network.sizes[1])
    evaluate = subgraph_ensemble(network, config.ensemble, game.max_size, game.moves)
    return Model(network, evaluate, sizes, evaluate_once=whole_board(network))


def subgraphs_only(network: Network, config: ModelConfig, game: Game) -> Model:
    """The prior of the subgraphs alone (model 4)."""
    only = dataclasses.replace(config.ensemble, combine="only")
    return with_subgraphs(network, dataclasses.replace(config, ensemble=only), game)


def slid(network: Network, config: ModelConfig, game: Game) -> Model:
    """A network for one small side, slid over the board (model 5)."""
    if game.moves != PLACING:
        raise ValueError(f"model5 cannot slide over {game.name}, whose moves have two ends; use model3")
    side, largest = network.sizes
    if side != largest:
        raise ValueError("model5 slides a network for one board side, such as the CNN; use model3 for others")
    # `network` itself reads, and learns from, boards of its side, padded or not; a window needs no padding.
    window = make_network_of(config.network, dataclasses.replace(game, max_size=side))
    return Model(network, sliding_window(window, side), (side, None))


register_model("saz", with_subgraphs, settings=SubgraphConfig)
register_model("model1", alone, network="cnn")
register_model("model2", with_subgraphs, settings=SubgraphConfig)
register_model("model3", alone)
register_model("model4", subgraphs_only, settings=SubgraphConfig)
register_model("model5", slid, network="cnn")
register_model("fcn", alone, network="fcn")
