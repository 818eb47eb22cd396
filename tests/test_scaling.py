"""The scaling study: a fit that finds what is there, a page from the file alone, and a whole tiny study."""

import json

import pytest

from experiments import scaling as script
from saz_jax.studies import scaling
from saz_jax.studies.scaling import ScalingConfig


def made_up(widths=(8, 16), minutes=(5.0, 15.0, 45.0)):
    """Players whose ratings lie on a plane: 50 points for each doubling of time, 20 of parameters."""
    players, ratings = {}, [{"player": "greedy", "points": 0.0, "low": -9.0, "high": 9.0}]
    for width in widths:
        for time in minutes:
            points = 100 + 50 * scaling.np.log2(time) + 20 * scaling.np.log2(width**2)
            about = {"width": width, "parameters": width**2, "minutes": time, "cpu_seconds": 60 * time}
            players[f"{width}-{time}"] = about
            ratings.append(
                {"player": f"{width}-{time}", "points": points, "low": points - 30, "high": points + 30}
            )
    config = {"game": "othello", "size": 8, "games": 20}
    return {"command": "made up", "config": config, "players": players, "ratings": ratings}


def test_the_fit_finds_the_plane():
    fitted = scaling.fit(scaling.points(made_up()))
    assert fitted["per_doubling_of_time"] == pytest.approx(50, abs=0.02)
    assert fitted["per_doubling_of_parameters"] == pytest.approx(20, abs=0.02)
    assert fitted["explained"] == 1.0
    alone = scaling.fit(scaling.points(made_up(widths=(8,))))
    assert "per_doubling_of_parameters" not in alone
    assert alone["per_doubling_of_time"] == pytest.approx(50, abs=0.02)


def test_page_and_figure_are_made_from_the_file_alone(tmp_path, capsys):
    data = made_up()
    data["fit"] = scaling.fit(scaling.points(data))
    (tmp_path / "scaling.json").write_text(json.dumps(data))
    script.main(["--report-only", "--results", str(tmp_path)])
    page = (tmp_path / "README.md").read_text()
    assert "+50 points for each doubling of time, +20 points for each doubling of parameters" in page
    assert "| 16 (256 parameters) |" in page
    assert (tmp_path / "scaling.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"widths": (8, 8)}, "widths=8 8 must rise"),
        ({"stages": (5.0, 1.0)}, "stages=5.0 1.0 must rise"),
        ({"game": "chess"}, "chess"),
    ],
)
def test_mistakes_are_named_before_any_training(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        scaling.prepare(ScalingConfig(**settings), tmp_path)


def test_networks_differ_in_width_only():
    config = ScalingConfig(preset="smoke")
    small, large = (scaling.training_config(config, width) for width in (8, 16))
    assert small.network.hidden == small.network.head == 8
    assert (large.search, large.learner, large.sizes) == (small.search, small.learner, small.sizes)


@pytest.mark.slow
def test_a_tiny_study_is_trained_played_fitted_and_not_done_twice(tmp_path):
    config = ScalingConfig(
        game="gomoku", preset="smoke", widths=(4, 8), stages=(0.01,), size=5, games=2, simulations=2
    )
    results = scaling.prepare(config, tmp_path)
    said = []
    scaling.train(config, tmp_path, results, said.append, iterations=1)
    assert len(said) == 2
    data = scaling.conclude(results, scaling.tournament.play(scaling.meeting(config, tmp_path)))
    assert [about["width"] for about in data["players"].values()] == [4, 8]
    assert data["players"][next(iter(data["players"]))]["cpu_seconds"] > 0
    assert len(data["ratings"]) == 3
    assert "per_doubling_of_parameters" in data["fit"]
    scaling.train(config, tmp_path, scaling.prepare(config, tmp_path), said.append, iterations=1)
    assert len(said) == 2, "nothing is trained again"
