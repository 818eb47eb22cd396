"""The terminal face: line by line, on the screen, and in a real terminal where tmux is installed."""

import curses
import io
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from saz_jax.play.screen import HEIGHT, WIDTH, Screen, picture, side_panel, wait_for
from saz_jax.play.session import Session, Setup
from saz_jax.play.terminal import Terminal, bar, sparkline
from saz_jax.play.thinking import Analysis

ROOT = Path(__file__).parent.parent


def converse(session, *lines):
    out = io.StringIO()
    Terminal(session, out).run(io.StringIO("\n".join(lines)))
    return out.getvalue()


def test_a_script_plays_takes_back_and_saves(tmp_path):
    session = Session(Setup("othello", 6, light="greedy"))
    path = tmp_path / "game.sgf"
    said = converse(session, "moves", "C2", "undo", "redo", f"save {path}", "quit", "C2")
    assert "C2" in said.splitlines()[8]
    assert len(session.moves) == 2
    assert path.read_text().startswith("(;")
    again = Session(Setup("othello", 6, light="greedy"))
    converse(again, f"load {path}")
    assert again.moves == session.moves


def test_mistakes_are_answered_and_the_game_goes_on():
    session = Session(Setup("othello", 6, light="greedy"))
    said = converse(session, "nonsense", "A1", "save", "load /no/such/file", "undo", "help", "hint", "go")
    assert "is not a move on side 6" in said
    assert "A1 is illegal" in said
    assert "save takes the name of a file" in said
    assert "nothing to take back" in said
    assert "take back or play again" in said
    assert len(session.moves) == 2


def test_two_players_play_to_the_end():
    session = Session(Setup("othello", 6, dark="greedy", light="random"))
    said = converse(session)
    assert session.over
    assert "the game is over: " in said


def drawn(session, scene, plain=False):
    rows = [[" "] * WIDTH for _ in range(HEIGHT + 20)]
    for cell in picture(session, scene, plain):
        for place, character in enumerate(cell.text):
            if cell.column + place < WIDTH:
                rows[cell.row][cell.column + place] = character
    return ["".join(row).rstrip() for row in rows]


def test_a_board_of_19_fits_into_80_by_24():
    session = Session(Setup("gomoku", 19, light="greedy"))
    screen = Screen(session)
    screen.tell("a message")
    cells = picture(session, screen.scene)
    assert max(cell.row for cell in cells) < HEIGHT
    assert max(cell.column + len(cell.text) for cell in cells) <= WIDTH
    rows = drawn(session, screen.scene)
    assert "gomoku 19x19" in rows[0]
    assert rows[HEIGHT - 2] == "a message"
    assert all(
        character < "\x7f" for row in drawn(session, screen.scene, plain=True)[1:20] for character in row[:40]
    )


def test_nothing_is_cut_off_beside_a_board_of_19():
    session = Session(Setup("gomoku", 19, light="greedy"))
    scene = Screen(session).scene._replace(thinking=True, ready=False)
    rows = drawn(session, scene)
    for line in side_panel(session, scene):
        assert any(row.endswith(line) for row in rows), line


def test_keys_move_the_cursor_play_and_take_back():
    session = Session(Setup("gomoku", 5, light="greedy"))
    screen = Screen(session)
    for key in (curses.KEY_UP, curses.KEY_LEFT, ord("\n")):
        screen.press(key)
    assert session.moves == [(1, (1, 1))]
    wait_for(screen)
    assert len(session.moves) == 2
    assert screen.scene.message.startswith("it played")
    screen.press(ord("u"))
    assert session.moves == []
    for key in ":B2\n":
        screen.press(ord(key))
    assert session.moves[0] == (1, (1, 1))
    wait_for(screen)
    screen.press(ord("\n"))
    assert "illegal" in screen.scene.message
    screen.press(ord("h"))
    wait_for(screen)
    assert screen.scene.message.startswith("hint: ")
    screen.press(ord("q"))
    assert screen.over


def test_the_value_bar_and_the_curve():
    assert bar(0.5, 10) == "█████░░░░░"
    assert sparkline([0.0, 0.5, 1.0], 2) == "▅█"
    session = Session(Setup("othello", 6, light="greedy"))
    screen = Screen(session)
    session.play((1, 2))
    screen.terminal.note(Analysis(0, value=0.5), -1)
    screen._thread = threading.current_thread()  # nobody is to think here
    screen.advance()
    assert screen.scene.curve == (0.25,)
    session.undo()
    screen.advance()
    assert screen.scene.curve == ()


def test_a_pipe_drives_the_command():
    command = [sys.executable, "-m", "saz_jax.cli.main", "play", "--game", "othello", "--size", "6"]
    run = subprocess.run(
        [*command, "--agent", "greedy"],
        input="C2\nquit\n",
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "after move 2" in run.stdout
    assert "getting ready" in run.stderr


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_terminal_shows_the_game():
    """A whole terminal of 80x24: the board is there, a key plays, and the answer is shown."""
    tmux = ["tmux", "-L", f"saz-test-{os.getpid()}"]
    play = f"{sys.executable} -m saz_jax.cli.main play --game gomoku --size 19 --agent greedy"
    environment = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [*tmux, "-u", "new-session", "-d", "-x", "80", "-y", "24", play],
        check=True,
        cwd=ROOT,
        env=environment,
    )

    def screen_with(text):
        end, shown = time.monotonic() + 120, ""
        while time.monotonic() < end:
            shown = subprocess.run(
                [*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True
            ).stdout
            if text in shown:
                return shown
            time.sleep(0.2)
        raise AssertionError(f"{text!r} never came: {shown}")

    try:
        assert "19 ·" in screen_with("dark to play, move 1")
        subprocess.run([*tmux, "send-keys", "Up", "Enter"], check=True)
        assert "it played" in screen_with("dark to play, move 3")
        subprocess.run([*tmux, "send-keys", "q"], check=True)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)
