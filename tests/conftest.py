"""The harness: on the CPU, rank promotion raises, and compiled programs are kept between runs."""

import os

# Before jax is imported: it reads these once.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import hypothesis
import jax

from saz_jax import compilation_cache

jax.config.update("jax_numpy_rank_promotion", "raise")
compilation_cache.enable()

# Compilation makes the first example slow, whatever the example; CI must not depend on the draw.
hypothesis.settings.register_profile("saz_jax", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.load_profile("saz_jax")
