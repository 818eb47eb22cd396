"""How the rate and the time left are told."""

import io

from rich.console import Console

from saz_jax.cli import games_bar


def test_a_line_tells_rate_and_time_left_before_the_first_game_is_over(monkeypatch):
    clock = iter([0.0, 0.0, 20.0, 25.0, 40.0])
    monkeypatch.setattr(games_bar.time, "monotonic", lambda: next(clock))
    out = io.StringIO()
    with games_bar.GamesBar(Console(file=out, width=200), total=300, done=100) as bar:
        bar.begin("othello 20x20, run 2 of 3")
        bar.played(0.5)
        bar.played(0.7)  # too soon for another line
        bar.played(2.0)
    assert out.getvalue().splitlines() == [
        "othello 20x20, run 2 of 3: 100/300 games, 0.03 games/s, 133.0 min left",
        "othello 20x20, run 2 of 3: 102/300 games, 0.05 games/s, 66.0 min left",
    ]
