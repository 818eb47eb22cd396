"""`register_network`: networks by name, each with the class of its settings."""

from collections.abc import Callable
from typing import Any

from saz_jax.config import CNNConfig, FCNConfig, GINConfig
from saz_jax.config.registry import NETWORKS
from saz_jax.networks.cnn import make_cnn
from saz_jax.networks.fcn import make_fcn
from saz_jax.networks.features import Planes
from saz_jax.networks.gin import make_gin
from saz_jax.networks.light_view import seen_by_light
from saz_jax.types import Game, Network


def register_network(name: str, make: Callable[[Any, Game], Network], settings: type) -> None:
    """Makes a network known by `name`: to training as `--network name`, to agents and to files.

    `make(settings, game) -> Network`, on boards of side `game.max_size` with the game's `directions`,
    `planes` and `moves`; `settings` is a frozen dataclass with defaults, whose fields become flags and JSON.
    A setting named `side` is set to the largest trained board side.
    """
    NETWORKS.add(name, make, settings)


def make_network_of(settings: Any, game: Game) -> Network:
    """The network whose settings these are, on the padded boards of `game`."""
    entry = NETWORKS.find(NETWORKS.name_of(settings))
    return seen_by_light(entry.make(settings, game), game)


def gin(config: GINConfig, game: Game) -> Network:
    """The paper's graph network, or one with typed edges."""
    return make_gin(config, game.max_size, game.directions, _planes(config, game), game.moves)


def cnn(config: CNNConfig, game: Game) -> Network:
    """The paper's network for one board side."""
    return make_cnn(config, game.max_size, _planes(config, game), game.moves)


def fcn(config: FCNConfig, game: Game) -> Network:
    """The fully-convolutional rival."""
    return make_fcn(config, game.max_size, _planes(config, game), game.moves)


def _planes(config: Any, game: Game) -> Planes:
    if config.extra_planes and not game.extra_planes:
        raise ValueError(f"network.extra_planes: {game.name} offers none; leave the setting out")
    return game.planes + (game.extra_planes if config.extra_planes else ())


register_network("gin", gin, GINConfig)
register_network("cnn", cnn, CNNConfig)
register_network("fcn", fcn, FCNConfig)
