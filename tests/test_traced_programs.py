"""Traced programs on disk: the same bits as without them, and traced again whenever they might differ."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import GINConfig, LearnerConfig, SearchConfig, SelfPlayConfig, TrainConfig
from saz_jax.training import traced_programs
from saz_jax.training.iteration import iterate, make_program, start
from saz_jax.training.traced_programs import remembered
from tests.built_in import NAMES

TINY = TrainConfig(
    model="model3",
    sizes=(5, 6),
    network=GINConfig(layers=1, hidden=8, head=8, edges="compass8"),
    search=SearchConfig(kind="gumbel", simulations=2),
    selfplay=SelfPlayConfig(games=4, moves=8),
    learner=LearnerConfig(batch_size=8),
)


class Double:
    """(settings, x) -> the double of x by a program that is remembered in `folder`; counts its traces."""

    def __init__(self, folder):
        self.folder, self.traced = folder, 0

    def __call__(self, *settings, x=3.0):
        def function(x):
            self.traced += 1
            return {"double": 2 * x}

        return float(remembered(jax.jit(function), self.folder, *settings)(jnp.float32(x))["double"])


@pytest.fixture
def double(tmp_path):
    return Double(tmp_path / "programs")


def test_a_program_is_traced_once(double):
    assert [double(x=x) for x in (3.0, 4.0)] == [6.0, 8.0]
    assert double.traced == 1
    assert len(list(double.folder.iterdir())) == 1


def test_other_settings_are_another_program(double):
    for settings in ("a", "b", "a"):
        double(settings)
    assert double.traced == 2


def test_other_code_or_other_settings_of_jax_are_another_program(double, monkeypatch):
    double()
    monkeypatch.setattr(traced_programs, "_code", lambda: "other code")
    double()
    assert double.traced == 2
    with jax.numpy_rank_promotion("warn"):
        double()
    assert double.traced == 3


@pytest.mark.parametrize("damage", [b"", b"short", bytes(200)])
def test_a_damaged_file_is_written_anew(double, damage):
    double()
    (file,) = double.folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert double() == 6.0
    assert double.traced == 2
    assert len(file.read_bytes()) == len(whole)


def test_a_folder_that_cannot_be_written_costs_a_warning(double, caplog):
    double.folder.write_text("a file")
    assert double() == 6.0
    assert "trace its programs again" in caplog.text


@pytest.mark.parametrize("game", NAMES)
def test_training_takes_the_same_steps_with_and_without_them(game, tmp_path):
    config, ends = dataclasses.replace(TINY, game=game), []
    for folder in (None, tmp_path, tmp_path):
        program = make_program(config, traced=folder)
        state = start(program)
        for _ in range(2):
            state, _ = iterate(program, state, lambda *_: None)
        ends.append((state.learner, state.games))
    assert len(list(tmp_path.iterdir())) == 2
    for other in ends[1:]:
        jax.tree.map(np.testing.assert_array_equal, ends[0], other)
