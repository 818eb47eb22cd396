"""The networks: the paper's GIN and CNN, and a masked fully-convolutional rival."""

from saz_jax.networks.cnn import make_cnn
from saz_jax.networks.fcn import make_fcn
from saz_jax.networks.gin import GraphNetwork, make_gin, make_graph_gin

__all__ = ["GraphNetwork", "make_cnn", "make_fcn", "make_gin", "make_graph_gin"]
