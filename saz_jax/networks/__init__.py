"""The networks: the paper's GIN and CNN, and a masked fully-convolutional rival."""

from saz_jax.networks.gin import make_gin

__all__ = ["make_gin"]
