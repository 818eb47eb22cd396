"""Solved boards: known values of games, an oracle's, and what is stored."""

import json
from pathlib import Path

import pytest

from experiments import solve as script
from saz_jax import make_game, shapes
from saz_jax.studies import solved
from tests.oracles import breakthrough as oracle

STORED = Path(__file__).parent.parent / "results" / "solved"


@pytest.mark.parametrize(("rows", "columns", "winner"), [(3, 3, 1), (4, 2, -1), (4, 3, 1), (4, 4, 1)])
def test_breakthrough_is_solved_as_the_oracle_solves_it(rows, columns, winner):
    found = solved.solve(make_game("breakthrough", 4), (rows, columns))
    assert found.outcome == winner
    assert oracle.solve(oracle.start(rows, columns), rows, columns, 1, {}) == winner


def test_tic_tac_toe_is_a_tie():
    assert solved.solve(make_game("gomoku", 3, k=3), 3).outcome == 0


def test_a_side_that_moves_twice_in_a_row_is_understood():
    """Othello has passes; on 4x4 light is known to win."""
    assert solved.solve(make_game("othello", 4), 4).outcome == -1


def test_a_game_that_remembers_more_than_its_board_is_refused():
    with pytest.raises(ValueError, match="go remembers more than its board"):
        solved.solve(make_game("go", 3), 3)


def test_boards_are_solved_once_and_the_page_follows(tmp_path, capsys):
    arguments = ["--game", "clobber", "--results", str(tmp_path), "--shapes"]
    script.main([*arguments, "1x2", "2x2"])
    assert "clobber 1x2: won by dark, who moves first; 1 positions" in capsys.readouterr().err
    script.main([*arguments, "1x2", "##./#../..#"])
    said = capsys.readouterr()
    assert "1x2" not in said.err
    data = json.loads((tmp_path / "clobber.json").read_text())
    assert list(data["boards"]) == ["1x2", "2x2", "##./#../..#"]
    assert "| 1x2 | dark, who moves first | 1 |" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize(
    ("shape", "message"), [("holes:4:0.1", "without random holes"), ("2x5", "too small"), ("4y", "no shape")]
)
def test_shapes_that_cannot_be_solved_are_named(shape, message, tmp_path, capsys):
    with pytest.raises(SystemExit):
        script.main(["--results", str(tmp_path), "--shapes", shape])
    assert message in capsys.readouterr().err


def test_stored_boards_of_breakthrough_have_the_outcomes_of_the_oracle():
    boards = json.loads((STORED / "breakthrough.json").read_text())["boards"]
    small = {text: shapes.from_text(text).shape for text in boards if shapes.from_text(text).size <= 12}
    assert len(small) > 4
    for text, (rows, columns) in small.items():
        assert boards[text]["outcome"] == oracle.solve(oracle.start(rows, columns), rows, columns, 1, {})
