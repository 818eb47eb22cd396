"""Trees are measured against the memory that is there."""

import time

import jax
import jax.numpy as jnp
import pytest

from saz_jax import make_game
from saz_jax.config import SearchConfig
from saz_jax.search import memory
from saz_jax.search.tree import tree_memory
from saz_jax.search.tree_search import make_search
from saz_jax.types import Evaluation

GAME = make_game("gomoku", max_size=9)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 GB available, in a container that does not say anything."""
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n")
    return tmp_path


def test_what_others_use_is_not_available(machine):
    assert memory.available_memory() == 8_000_000 * 1024


@pytest.mark.parametrize(
    ("limit", "available"), [("max", 8_000_000 * 1024), ("2000000000", 700_000_000), ("1000000000", 0)]
)
def test_a_container_has_what_its_limit_leaves_and_its_cached_files(machine, limit, available):
    (machine / "memory.max").write_text(f"{limit}\n")
    (machine / "memory.current").write_text("1500000000\n")
    (machine / "memory.stat").write_text("anon 1\ninactive_file 200000000\n")
    assert memory.available_memory() == available


def test_a_system_without_these_files_has_what_is_built_in(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "none")
    assert memory.available_memory() > 10**8


def test_a_refusal_says_what_would_fit_and_that_fits():
    limit = 10**8
    with pytest.raises(
        memory.TooLargeError, match=r"100000 games x 50 .* need .* 0\.1 GB are available"
    ) as no:
        memory.check_memory(GAME, 100_000, 50, limit)
    fitting = no.value.fitting
    assert f"; {fitting} games would fit" in str(no.value)
    memory.check_memory(GAME, fitting, 50, limit)
    with pytest.raises(memory.TooLargeError):
        memory.check_memory(GAME, fitting + 1, 50, limit)
    with pytest.raises(memory.TooLargeError, match=r"; \d+ simulations would fit") as no:
        memory.check_memory(GAME, 1, 10**11, limit)
    assert no.value.fitting == 0
    memory.check_memory(GAME, 1, int(str(no.value).split("; ")[1].split()[0]), limit)


def test_any_number_of_games_is_measured_at_once_and_without_overflow():
    began = time.process_time()
    one = tree_memory(GAME, 1, 100)
    assert tree_memory(GAME, 10**12, 100) == 10**12 * one
    with pytest.raises(memory.TooLargeError, match="1000000000 games x 99999999999 simulations"):
        memory.check_memory(GAME, 10**9, 99_999_999_999)
    assert time.process_time() - began < 5


def test_a_search_outside_of_a_compiled_program_needs_room_for_its_copies():
    def neutral(variables, key, states):
        return Evaluation(jnp.zeros(states.legal.shape), jnp.zeros(states.size.shape))

    states = jax.vmap(GAME.init)(jnp.full(2, 9, jnp.int32))
    search = make_search(GAME, neutral, SearchConfig(simulations=2), 2 * tree_memory(GAME, 2, 2))
    with pytest.raises(memory.TooLargeError):
        search((), jax.random.key(0), states, 0.0)
    jax.eval_shape(lambda states: search((), jax.random.key(0), states, 0.0), states)
