"""The networks: the paper's GIN and CNN, a masked fully-convolutional rival, and registered ones."""

from saz_jax.networks.cnn import make_cnn
from saz_jax.networks.fcn import make_fcn
from saz_jax.networks.gin import GraphNetwork, make_gin, make_graph_gin
from saz_jax.networks.network import Output, make_network
from saz_jax.networks.registry import register_network

__all__ = [
    "GraphNetwork",
    "Output",
    "make_cnn",
    "make_fcn",
    "make_gin",
    "make_graph_gin",
    "make_network",
    "register_network",
]
