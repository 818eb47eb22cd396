"""The games that come with the package, for tests that try each of them."""

import saz_jax.games  # noqa: F401  registers them
from saz_jax.config.registry import GAMES

NAMES = [name for name in GAMES.names() if GAMES.find(name).origin.startswith("saz_jax.")]
