"""Ratings that reproduce what was played, and round robins that continue."""

import dataclasses
import json
import sys

import pytest

from saz_jax.arena import tournament
from saz_jax.arena.ratings import PairResult, expected_outcome, rate
from saz_jax.arena.tournament import TournamentConfig
from saz_jax.cli import round_robin

TIC_TAC_TOE = TournamentConfig(
    game="gomoku", players=("random", "greedy", "mcts:4"), size=3, game_options={"k": 3}, games=4, lanes=2
)


def test_a_rating_difference_predicts_the_average_outcome_it_came_from():
    strong, weak = rate(2, [PairResult(0, 1, 700, 100, 200)])
    assert expected_outcome(strong.points - weak.points) == pytest.approx(0.75, abs=0.001)
    assert strong.points + weak.points == pytest.approx(0, abs=1e-6)


def test_400_points_are_ten_times_the_score():
    assert expected_outcome(400) / expected_outcome(-400) == pytest.approx(10)
    assert expected_outcome(0) == 0.5


def test_players_that_never_met_are_compared_through_others():
    a, b, c = rate(3, [PairResult(0, 1, 75, 0, 25), PairResult(1, 2, 75, 0, 25)])
    assert a.points - c.points == pytest.approx(2 * (a.points - b.points), rel=0.01)


def test_a_player_that_won_every_game_has_a_finite_rating():
    first, second = rate(2, [PairResult(0, 1, 20, 0, 0)])
    assert 400 < first.points - second.points < 4000


def test_intervals_hold_the_rating_and_shrink_with_more_games():
    few, many = (rate(2, [PairResult(0, 1, 6 * games, 0, 4 * games)])[0] for games in (2, 50))
    for rating in (few, many):
        assert rating.low < rating.points < rating.high
    assert many.high - many.low < 0.5 * (few.high - few.low)


def test_a_player_that_lost_its_few_games_is_not_rated_with_certainty():
    _, loser = rate(2, [PairResult(0, 1, 4, 0, 0)])
    assert loser.high - loser.low > 200
    assert loser.low <= loser.points <= loser.high


def test_who_won_or_lost_everything_lies_inside_its_interval():
    won = [PairResult(a, b, 10, 0, 0) for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))]
    for rating in rate(4, won):
        assert rating.low + 20 < rating.points < rating.high - 20


def test_the_same_seed_gives_the_same_intervals():
    results = [PairResult(0, 1, 6, 1, 3)]
    assert rate(2, results, seed=1) == rate(2, results, seed=1) != rate(2, results, seed=2)


def test_nobody_is_rated_without_games():
    with pytest.raises(ValueError, match="no games"):
        rate(2, [])
    with pytest.raises(ValueError, match=r"players \[2\] have no games"):
        rate(3, [PairResult(0, 1, 1, 0, 0)])


def test_an_interrupted_round_robin_ends_like_one_that_was_not(tmp_path):
    def stop(result):
        raise KeyboardInterrupt

    whole = tournament.play(tournament.prepare(TIC_TAC_TOE))
    path = tmp_path / "robin.json"
    with pytest.raises(KeyboardInterrupt):
        tournament.play(tournament.prepare(TIC_TAC_TOE, path), end=stop)
    assert len(json.loads(path.read_text())["pairs"]) == 1
    met = []
    continued = tournament.play(tournament.prepare(TIC_TAC_TOE, path), begin=met.append)
    assert met == [("random", "mcts:4"), ("greedy", "mcts:4")]
    for pair in (*whole["pairs"], *continued["pairs"]):
        del pair["seconds"]
    assert continued["pairs"] == whole["pairs"]
    assert continued["ratings"] == whole["ratings"]
    assert json.loads(path.read_text())["ratings"] == whole["ratings"]


def test_a_round_robin_on_shapes_plays_every_pair_on_each_and_continues(tmp_path):
    config = dataclasses.replace(
        TIC_TAC_TOE, players=("random", "greedy"), shapes=("3x4", "holes:4:0.1"), games=2, opening_moves=0
    )
    path = tmp_path / "robin.json"
    data = tournament.play(tournament.prepare(config, path))
    assert [pair["shape"] for pair in data["pairs"]] == ["3x4", "holes:4:0.1"]
    assert all(pair["wins"] + pair["ties"] + pair["losses"] == 2 for pair in data["pairs"])
    assert tournament.prepare(config, path).results.data["pairs"] == data["pairs"]
    assert "3x4, holes:4:0.1" in str(round_robin.table(data).title)
    assert "random against greedy on 3x4: " in round_robin.line(data["pairs"][0])


def test_the_plot_and_the_table_are_made_from_the_file_alone(tmp_path):
    pairs = [("a", "b", 3, 1, 0), ("a", "c", 4, 0, 0), ("b", "c", 2, 1, 1)]
    data = {
        "config": {"game": "go", "size": 9, "games": 4},
        "pairs": [
            {"players": [a, b], "wins": w, "ties": t, "losses": x, "outcome": (w + t / 2) / 4}
            for a, b, w, t, x in pairs
        ],
    }
    data["ratings"] = tournament.ratings(("a", "b", "c"), data["pairs"], seed=0)
    assert [row["player"] for row in data["ratings"]] == ["a", "b", "c"]
    path = tournament.plot(data, tmp_path / "robin.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 5000
    assert round_robin.table(data).row_count == 3


def test_ratings_tell_the_score_with_each_colour():
    colours = {
        "as_dark": {"wins": 2, "ties": 0, "losses": 0},
        "as_light": {"wins": 0, "ties": 1, "losses": 1},
    }
    pair = {"players": ["a", "b"], "wins": 2, "ties": 1, "losses": 1, **colours}
    first, second = tournament.ratings(("a", "b"), [pair], seed=0)
    assert (first["player"], first["outcome"], first["as_dark"], first["as_light"]) == ("a", 0.625, 1.0, 0.25)
    assert (second["player"], second["outcome"], second["as_dark"], second["as_light"]) == (
        "b",
        0.375,
        0.75,
        0.0,
    )
    without = {key: value for key, value in pair.items() if key not in colours}
    assert "as_dark" not in tournament.ratings(("a", "b"), [without], seed=0)[0]


def test_a_round_robin_grows_by_players_and_keeps_what_was_played(tmp_path):
    path = tmp_path / "robin.json"
    few = dataclasses.replace(TIC_TAC_TOE, players=("random", "greedy"))
    first = tournament.play(tournament.prepare(few, path))["pairs"]
    met = []
    data = tournament.play(tournament.prepare(TIC_TAC_TOE, path), begin=met.append)
    assert met == [("random", "mcts:4"), ("greedy", "mcts:4")]
    assert data["pairs"][0] == first[0]
    assert len(data["ratings"]) == 3
    again = tournament.play(tournament.prepare(few, path), begin=met.append)
    assert len(met) == 2
    assert len(again["ratings"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--game othello --players greedy", "two or more different"),
        ("--game othello --players greedy greedy", "two or more different"),
        ("--game othello --players greedy nobody", "unknown player 'nobody'"),
        ("--game othello --players greedy random --games 5", "games=5"),
        ("--game othello --players greedy random --lanes 0", "lanes=0"),
        ("--game othello --players greedy random --opening-moves 1000000", "opening_moves=1000000"),
        ("--game othello --players greedy random --simulations 0", "simulations=0"),
        ("--game othello --players greedy random --shapes 5x6 5x6", "5x6, 5x6 must be different"),
        ("--game othello --players greedy random --shapes star:9", "'star:9' is no shape of a board"),
        ("--game othello --players greedy random --plot /nowhere/x.png", "there is no folder /nowhere"),
    ],
)
def test_mistakes_end_in_one_sentence(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit:
        round_robin.main(arguments.split())
    assert exit.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_choix_the_extra_is_named_before_any_game(monkeypatch):
    monkeypatch.setitem(sys.modules, "choix", None)
    with pytest.raises(ValueError, match=r"saz_jax\[ratings\]"):
        tournament.prepare(TIC_TAC_TOE)
