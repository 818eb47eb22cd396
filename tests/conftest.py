"""The harness: on the CPU, rank promotion raises, and compiled programs are kept between runs."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

# Before jax is imported: it reads these once, and so do the processes that tests start.  Compiling takes most
# of the time of these tests, and programs that run for a second are not worth optimising.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

import hypothesis
import jax
import pytest

from saz_jax.cli import compilation_cache

jax.config.update("jax_numpy_rank_promotion", "raise")
compilation_cache.enable()

# Compilation makes the first example slow, whatever the example; CI must not depend on the draw.
hypothesis.settings.register_profile("saz_jax", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.load_profile("saz_jax")

STATUS = Path("/proc/self/statm")
ROOM = 2**31
"""Bytes of memory that a test process may fill with compiled programs before it forgets them."""


@pytest.fixture(autouse=True, scope="module")
def _room_for_programs() -> Iterator[None]:
    """Forgets compiled programs when they fill the memory; those still needed come back from the disk."""
    yield
    if STATUS.exists() and int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") > ROOM:
        jax.clear_caches()
        gc.collect()


@pytest.fixture(scope="module")
def optimised_programs() -> Iterator[None]:
    """For modules whose programs run for longer than they compile."""
    name = "jax_disable_most_optimizations"
    before = jax.config.values[name]
    jax.config.update(name, False)
    yield
    jax.config.update(name, before)
