"""What carries over to larger boards: the same positions for everybody, figures that are right, kept."""

import dataclasses
import json
from pathlib import Path

import jax
import numpy as np
import pytest

from experiments import transfer as script
from saz_jax.agents import shipped_agents
from saz_jax.config import FCNConfig, ModelConfig
from saz_jax.models import make_model
from saz_jax.studies import transfer
from saz_jax.studies.transfer import PHASES, TransferConfig
from tests.tiny_agents import tiny_agent


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """Two agents of Othello, one of which knows ownership."""
    folder = tmp_path_factory.mktemp("agents")
    plain = tiny_agent("othello", "fcn", (4,))
    model = ModelConfig("fcn", FCNConfig(blocks=1, channels=4, readout="ownership", ownership=True))
    network = make_model(model, plain.game(4)).network
    owner = dataclasses.replace(plain, model=model, variables=network.init(jax.random.key(1)))
    for name, agent in (("plain", plain), ("owner", owner)):
        agent.export(folder / f"{name}.npz")
    players = tuple(str(folder / f"{name}.npz") for name in ("plain", "owner"))
    return TransferConfig(
        players=players, sizes=(4,), games=4, least_games=2, positions=2, searches=3, simulations=3,
        source_simulations=1, random_share=0.3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured(config, tmp_path_factory):
    """A study that was never interrupted, and its file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("saz_jax.agents.agent.SHIPPED", ())
        path = tmp_path_factory.mktemp("study") / "transfer.json"
        return transfer.measure(transfer.prepare(config, path)), path


def test_every_figure_is_there_for_every_phase(measured, config):
    data, path = measured
    assert json.loads(path.read_text()) == data
    plain, owner = (data["found"][f"{name}-4"]["phases"] for name in config.players)
    for phase in PHASES:
        assert "ownership_error" not in plain[phase]
        assert {"ownership_error", "score_error"} <= owner[phase].keys()
        for found in (plain[phase], owner[phase]):
            assert (found["positions"], found["searched"]) == (8, 3)
            assert 0 <= found["brier"]["mean"] <= 1
            assert 0 <= found["agreement"]["mean"] <= 1
    assert "4x4" in transfer.table(data)


def test_without_names_all_shipped_players_are_measured():
    prepared = transfer.prepare(TransferConfig(sizes=(6,)))
    assert {"othello", "othello-gin", "go-fcn"} <= set(prepared.config.players) == set(shipped_agents())


def test_the_stored_games_are_whole_and_end_as_told(measured, config):
    data, _ = measured
    games = data["games"]["othello-4"]
    assert len(games["moves"]) == 4
    agent = tiny_agent("othello", "fcn", (4,))
    game = agent.game(4)
    step = jax.jit(game.step)
    for moves, outcome in zip(games["moves"], games["outcomes"], strict=True):
        state = game.init(4)
        for move in moves.split():
            assert not state.terminated
            state = step(state, int(move))
        assert state.terminated
        assert state.outcome == outcome


def test_a_perfect_value_has_no_error():
    config = TransferConfig(games=4, least_games=2)
    assert [config.games_on(side) for side in (6, 8, 16)] == [4, 4, 2]
    mean = transfer._mean(np.array([0.0, 1.0, np.nan, 1.0]), np.array([0, 0, 1, 2]))
    assert mean["mean"] == pytest.approx(2 / 3, abs=1e-4)
    assert mean["error"] == pytest.approx(np.std([0.5, 1.0], ddof=1) / np.sqrt(2), abs=1e-4)
    assert transfer._mean(np.array([np.nan]), np.array([0])) == {"mean": None, "error": None}


def test_plies_lie_in_their_thirds():
    rng = np.random.default_rng(0)
    for phase, (low, high) in enumerate(((4, 12), (12, 21), (21, 29))):
        plies = [transfer._ply(rng, phase, 30) for _ in range(200)]
        assert low <= min(plies) <= max(plies) <= high
    assert transfer._ply(rng, 2, 1) == 0


def test_a_study_goes_on_and_refuses_other_weights(measured, config, monkeypatch):
    monkeypatch.setattr("saz_jax.agents.agent.SHIPPED", ())
    _, path = measured
    assert transfer.prepare(config, path).missing() == []
    wider = dataclasses.replace(config, sizes=(4, 5))
    assert transfer.prepare(wider, path).missing() == [(name, 5) for name in config.players]
    other = tiny_agent("othello", "fcn", (4,), seed=7)
    file = Path(config.players[0])
    kept = file.read_bytes()
    other.export(file)
    try:
        with pytest.raises(ValueError, match="other weights"):
            transfer.prepare(config, path)
    finally:
        file.write_bytes(kept)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": (6, 6)}, "sizes=6 6"),
        ({"games": 3}, "games=3"),
        ({"simulations": 0}, "simulations=0"),
        ({"random_share": 1.0}, "random_share=1.0"),
        ({"players": ("nobody",)}, "no agent at nobody"),
    ],
)
def test_mistakes_are_named_before_any_game(config, change, message):
    with pytest.raises(ValueError, match=message):
        transfer.prepare(dataclasses.replace(config, **change))


def test_the_script_writes_page_and_figure_from_the_file_alone(measured, capsys):
    _, path = measured
    script.main(["--report-only", "--results", str(path.parent)])
    assert "![curves](transfer.png)" in (path.parent / "README.md").read_text()
    assert (path.parent / "transfer.png").read_bytes().startswith(b"\x89PNG")
