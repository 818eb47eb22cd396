"""Ladders: who takes part, one file for each board that goes on where it stopped, and the page."""

import json

import pytest

from saz_jax.arena import known_engines, ladder
from saz_jax.arena.known_engines import KnownEngine, installed_engines
from saz_jax.arena.ladder import LadderConfig
from saz_jax.cli import ladder as script
from tests.tiny_agents import tiny_agent


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Two shipped players, and no programs of others."""
    folder = tmp_path / "weights"
    for name, game in (("gomoku", "gomoku"), ("othello", "othello")):
        tiny_agent(game, "model3", (5,)).export(folder / name / "agent.npz")
    monkeypatch.setattr("saz_jax.agents.agent.SHIPPED", (folder,))
    monkeypatch.setattr(known_engines, "KNOWN", ())
    return folder


def test_players_of_the_game_and_installed_programs_take_part(shipped, monkeypatch):
    there = KnownEngine("Echo", "gomoku", "gtp:python3 echo.py {level}", sides=(4, 5), levels=(1, 2))
    gone = KnownEngine("Gone", "gomoku", "gtp:no-such-program {level}", sides=(4, 5), levels=(1,))
    monkeypatch.setattr(known_engines, "KNOWN", (there, gone))
    config = LadderConfig(game=("gomoku",), sizes=(5,), mcts=(2,), without=("Echo level 1",))
    wanted = ("gomoku", "greedy", "random", "mcts:2", "gtp:python3 echo.py 2")
    assert ladder.line_up(config, "gomoku", 5) == wanted
    assert ladder.line_up(config, "gomoku", 6) == wanted[:-1]
    assert "gomoku" not in ladder.line_up(config, "othello", 5)


def test_the_known_programs_are_told_apart_by_board():
    texts = {(e.game, e.name) for e in known_engines.KNOWN}
    assert {("go", "GNU Go"), ("othello", "grhino")} <= texts
    assert all(text.startswith("gtp:gnugo") for text in installed_engines("go", 9))
    assert installed_engines("othello", 10) == {}
    assert installed_engines("gomoku", 15) == {}


def test_the_script_plays_writes_the_page_and_continues(shipped, tmp_path, capsys):
    folder = tmp_path / "out"
    arguments = [
        "--game",
        "gomoku",
        "--sizes",
        "5",
        "--games",
        "2",
        "--simulations",
        "2",
        "--mcts",
        "--opening-moves",
        "2",
        "--lanes",
        "1",
    ]
    arguments += ["--results", str(folder)]
    script.main([*arguments, "--without", "random"])
    first = json.loads((folder / "gomoku-5.json").read_text())
    assert [pair["players"] for pair in first["pairs"]] == [["gomoku", "greedy"]]
    assert "as dark" in capsys.readouterr().out
    script.main(arguments)
    data = json.loads((folder / "gomoku-5.json").read_text())
    assert data["pairs"][0] == first["pairs"][0], "not played again"
    assert [pair["players"][1] for pair in data["pairs"]] == ["greedy", "random", "random"]
    page = (folder / "README.md").read_text()
    assert all(f"| {row['player']} | {row['points']:+.0f} |" in page for row in data["ratings"])
    assert (folder / "gomoku-5.png").read_bytes().startswith(b"\x89PNG")
    (folder / "README.md").unlink()
    script.main(["--report-only", "--results", str(folder)])
    assert (folder / "README.md").read_text() == page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--game chess", "unknown game 'chess'"),
        ("--game gomoku --sizes 5 5", "different games and sides"),
        ("--game gomoku --players nobody", "no agent at nobody"),
        ("--game gomoku --without nobody", "nobody called nobody is to play"),
        ("--game gomoku --games 3", "games=3"),
        ("--report-only", "no complete ladder"),
    ],
)
def test_mistakes_end_in_one_sentence(shipped, arguments, message, capsys, tmp_path):
    with pytest.raises(SystemExit) as exit:
        script.main([*arguments.split(), "--results", str(tmp_path / "out")])
    assert exit.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
