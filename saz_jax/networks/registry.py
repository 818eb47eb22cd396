"""`register_network`: networks by name, each with the class of its settings."""

from collections.abc import Callable
from typing import Any

from saz_jax.config import CNNConfig, FCNConfig, GINConfig
from saz_jax.config.registry import NETWORKS
from saz_jax.networks.cnn import make_cnn
from saz_jax.networks.fcn import make_fcn
from saz_jax.networks.gin import make_gin
from saz_jax.types import Network


def register_network(name: str, make: Callable[[Any, int], Network], settings: type) -> None:
    """Makes a network known by `name`: to training as `--network name`, to agents and to files.

    `make(settings, max_size) -> Network`; `settings` is a frozen dataclass with defaults, whose fields become
    flags and JSON.  A setting named `side` is set to the largest trained board side.
    """
    NETWORKS.add(name, make, settings)


def make_network_of(settings: Any, max_size: int) -> Network:
    """The network whose settings these are, on padded boards of side `max_size`."""
    return NETWORKS.find(NETWORKS.name_of(settings)).make(settings, max_size)


register_network("gin", make_gin, GINConfig)
register_network("cnn", make_cnn, CNNConfig)
register_network("fcn", make_fcn, FCNConfig)
