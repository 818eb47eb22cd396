"""Training: self-play, replay, optimisation, and the loop around them."""

from saz_jax.training.loop import run

__all__ = ["run"]
