"""Training: self-play, replay, optimisation, and the loop around them."""

from saz_jax.training.loop import run, stored_config
from saz_jax.training.presets import preset

__all__ = ["preset", "run", "stored_config"]
