"""Settings: frozen dataclasses, their JSON form, and its versions; imports no jax."""

from saz_jax.config.settings import *  # noqa: F403
