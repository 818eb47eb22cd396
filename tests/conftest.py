"""The harness: on the CPU, rank promotion raises, and compiled programs are kept between runs."""

import os
from collections.abc import Iterator
from pathlib import Path

# Before jax is imported: it reads these once.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import hypothesis
import jax
import pytest

from saz_jax.cli import compilation_cache

jax.config.update("jax_numpy_rank_promotion", "raise")
compilation_cache.enable()

# Compilation makes the first example slow, whatever the example; CI must not depend on the draw.
hypothesis.settings.register_profile("saz_jax", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.load_profile("saz_jax")

MEMORY_MAPS = Path("/proc/self/maps")


@pytest.fixture(autouse=True, scope="module")
def _room_for_programs() -> Iterator[None]:
    """Forget compiled programs in time: each holds some ten memory maps, and Linux allows a process 65530."""
    yield
    if MEMORY_MAPS.exists() and MEMORY_MAPS.read_bytes().count(b"\n") > 20_000:
        jax.clear_caches()
