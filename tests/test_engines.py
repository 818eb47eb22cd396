"""Programs of others as players: real ones where they are installed, and ones that misbehave in every way."""

import os
import shutil
import sys
import textwrap

import jax
import numpy as np
import pytest

from saz_jax.arena import matches
from saz_jax.arena.contestants import read_contestant
from saz_jax.arena.engines import EngineError, GTPEngine, Ply, Process, engine_player, found_command
from saz_jax.arena.known_engines import KNOWN
from saz_jax.coordinates import placed
from saz_jax.games import make_game
from saz_jax.play.session import Session, Setup
from saz_jax.studies import gnugo
from tests.tiny_agents import tiny_agent

KEY = jax.random.key(0)
OTHELLO8 = make_game("othello", 8)


def installed(command):
    return shutil.which(command, path=f"{os.environ['PATH']}:/usr/games") is not None


needs_gnugo = pytest.mark.skipif(not installed("gnugo"), reason="gnugo is not installed (Debian: gnugo)")
needs_rhino = pytest.mark.skipif(
    not installed("gtp-rhino"), reason="gtp-rhino is not installed (Debian: grhino)"
)
GNUGO = "gtp:gnugo --mode gtp --chinese-rules --positional-superko --level 0 --capture-all-dead"
RHINO = "gtp:gtp-rhino --level 1"


@pytest.fixture
def engine(tmp_path):
    """A program of a few lines: `answer(command)` gives what is printed, None for nothing at all."""

    def make(body, protocol="gtp"):
        path = tmp_path / f"engine{len(list(tmp_path.iterdir()))}.py"
        path.write_text(
            "import sys, time\n"
            + textwrap.dedent(body)
            + textwrap.dedent("""
                for line in sys.stdin:
                    said = answer(line.strip())
                    if said is not None:
                        print(said, flush=True)
                """)
        )
        return f"{protocol}:{sys.executable} {path}"

    return make


POLITE = """
    moves = iter(["A1", "B1", "C1", "D1", "E1", "A2", "B2", "C2", "D2", "E2", "A3", "B3", "C3", "D3", "E3",
                  "A4", "B4", "C4", "D4", "E4", "A5", "B5", "C5", "D5", "E5"])
    taken = set()

    def answer(command):
        words = command.split()
        if words[0] == "clear_board":
            taken.clear()
        if words[0] == "play":
            taken.add(words[2])
        if words[0] == "genmove":
            move = next(m for m in [c + r for r in "12345" for c in "ABCDE"] if m not in taken)
            taken.add(move)
            return "= " + move + "\\n"
        return "=\\n"
    """


def test_a_program_meets_a_player_and_the_games_are_counted(engine):
    game, text = make_game("gomoku", 5), engine(POLITE)
    result = matches.match(
        game,
        read_contestant(text).seat(game, 5),
        read_contestant("random").seat(game, 5),
        KEY,
        size=5,
        games=6,
        opening_moves=2,
        lanes=2,
    )
    assert result.wins + result.ties + result.losses == 6
    assert result.records.asked.min() > 6
    assert (result.records.actions[:, :9] >= 0).all()
    for row, outcome in zip(result.records.actions, result.records.outcomes, strict=True):
        state, step = game.init(5), jax.jit(game.step)
        for action in row[row >= 0]:
            state = step(state, action)
        assert state.terminated
        assert state.outcome == outcome


def test_two_programs_meet(engine):
    game = make_game("gomoku", 5)
    outcomes = matches.play_match(game, engine(POLITE), engine(POLITE), KEY, [5, 5], lanes=1)
    assert np.asarray(outcomes).tolist() == [0.0, 0.0] or set(np.asarray(outcomes).tolist()) <= {1.0, -1.0}


def ask_once(text, game=None, timeout=5.0):
    player = engine_player(text, game or make_game("gomoku", 5), 5, timeout)
    opened = player.open()
    try:
        return opened.choose([], 1)
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def answer(command):\n    sys.exit(3)", r"ended when told .*exit code 3"),
        ("def answer(command):\n    return 'hello\\n'", "nonsense"),
        ("def answer(command):\n    return '? cannot\\n'", "refuses 'boardsize 5': cannot"),
        ("def answer(command):\n    return '= Q77\\n'", "Q77"),
        ("def answer(command):\n    return None", "did not answer .* within 0.5 s"),
        ("sys.stderr.write('no licence\\n')\nsys.exit(1)", "no licence"),
    ],
)
def test_what_goes_wrong_is_said(engine, body, problem):
    timeout = 0.5 if "None" in body else 5.0
    with pytest.raises(EngineError, match=problem):
        ask_once(engine(body), timeout=timeout)


def test_programs_that_are_not_there_are_named():
    with pytest.raises(EngineError, match="no program 'no-such-engine'"):
        found_command("no-such-engine --mode gtp")
    with pytest.raises(EngineError, match="quotes"):
        found_command("gnugo 'half")
    with pytest.raises(EngineError, match="play gomoku"):
        engine_player("gomocup:x", OTHELLO8, 8)
    with pytest.raises(EngineError, match="othello on 8x8"):
        engine_player("nboard:x", make_game("othello", 6), 6)


def test_an_illegal_move_shows_both_boards(engine):
    body = "def answer(command):\n    return '= A1\\n' if 'genmove' in command else '= its own board\\n'"
    game = make_game("gomoku", 5)
    player = read_contestant(engine(body)).seat(game, 5)
    with pytest.raises(EngineError, match=r"(?s)our rules of gomoku refuse.*X.*its board:\nits own board"):
        matches.match(game, player, read_contestant("random").seat(game, 5), KEY, size=5, games=2)


def test_a_program_that_resigns_has_lost(engine):
    body = "def answer(command):\n    return '= resign\\n' if 'genmove' in command else '=\\n'"
    game = make_game("gomoku", 5)
    player = read_contestant(engine(body)).seat(game, 5)
    result = matches.match(game, player, read_contestant("random").seat(game, 5), KEY, size=5, games=2)
    assert result.losses == 2


GOMOCUP = """
    board, size = {}, 5

    def answer(command):
        global board
        if command.startswith(("START", "RESTART")):
            return "MESSAGE hello\\nOK"
        if command == "BOARD":
            board = {}
        elif command == "BEGIN" or command == "DONE":
            free = [f"{x},{y}" for y in range(5) for x in range(5) if f"{x},{y}" not in board]
            return free[0]
        elif command.count(",") == 2:
            board[command.rpartition(",")[0]] = 1
    """
NBOARD = """
    def answer(command):
        if command.startswith("ping"):
            return "pong " + command.split()[1]
        if command == "go":
            return "status thinking\\n=== F5/1.00/0.1"
    """


def test_a_brain_of_the_gomocup_plays(engine):
    game = make_game("gomoku", 5)
    player = read_contestant(engine(GOMOCUP, "gomocup")).seat(game, 5)
    result = matches.match(game, player, read_contestant("random").seat(game, 5), KEY, size=5, games=2)
    assert result.wins + result.ties + result.losses == 2


def test_an_nboard_program_plays(engine):
    opened = engine_player(engine(NBOARD, "nboard"), OTHELLO8, 8, 5.0).open()
    try:
        assert opened.choose([Ply(1, (2, 3))], -1) == (4, 5)
    finally:
        opened.close()


def test_a_program_sits_down_in_a_session_and_is_restarted_after_a_failure(engine):
    body = """
        import os
        count = 0

        def answer(command):
            global count
            if command.startswith("genmove"):
                count += 1
                if count == 2:
                    sys.exit(1)
                return "= C3\\n"
            return "=\\n"
        """
    session = Session(Setup("gomoku", 5, dark=engine(body), light="person"))
    session.move()
    assert session.moves == [(1, (2, 2))]
    session.play((0, 0))
    with pytest.raises(EngineError, match="ended"):
        session.move()
    with pytest.raises(EngineError, match="refuse"):
        session.move()  # started again, and it wants C3 once more
    session.close()


@needs_rhino
def test_whole_games_against_rhino():
    player = read_contestant("greedy").seat(OTHELLO8, 8)
    rhino = read_contestant(RHINO).seat(OTHELLO8, 8)
    result = matches.match(OTHELLO8, player, rhino, KEY, size=8, games=6, opening_moves=4)
    assert result.wins + result.ties + result.losses == 6
    assert result.distinct_games == 6


@needs_gnugo
def test_gnu_go_agrees_about_legality_and_score():
    """Random games on 5x5: at every position GNU Go's legal moves are ours, and at the end its score is."""
    game, side = make_game("go", 5), 5
    engine = GTPEngine(Process(found_command(GNUGO.removeprefix("gtp:"))), game, side)
    rng = np.random.default_rng(0)
    try:
        for _ in range(2):
            session = Session(Setup("go", side))
            for command in ("boardsize 5", "clear_board", "komi 0"):
                engine.ask(command)
            session.set_options(komi=0.0)
            while not session.over and len(session.moves) < 40:
                colour = "b" if session.to_play == 1 else "w"
                theirs = set(engine.ask(f"all_legal {colour}").split())
                names = {session.name(point): point for point in session.legal_points() if point is not None}
                ours = {f"{name[0]}{side + 1 - int(name[1:])}" for name in names}
                assert ours == theirs, session.drawing()
                points = [placed(move) for move in names.values()] or [None]
                point = points[rng.integers(len(points))]
                vertex = "pass" if point is None else f"{'ABCDE'[point[1]]}{side - point[0]}"
                engine.ask(f"play {colour} {vertex}")
                session.play(point)
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("engine", KNOWN, ids=lambda engine: engine.name)
def test_a_short_match_against_each_known_program(engine):
    if not engine.installed:
        pytest.skip(f"{engine.name} is not installed")
    side = engine.sides[0]
    game = make_game(engine.game, side)
    agent = tiny_agent(engine.game, "model3", (side,)).player(game, simulations=2)
    program = read_contestant(engine.at(engine.levels[0])).seat(game, side)
    result = matches.match(game, agent, program, KEY, size=side, games=4, opening_moves=4)
    assert result.wins + result.ties + result.losses == 4
    assert result.distinct_games == 4
    assert result.losses >= 2, "fresh weights lose to a program that can play"


@needs_gnugo
def test_gnugo_agrees_about_legal_moves_and_scores():
    """More of it, and every difference: experiments/gnugo.py."""
    engine = gnugo.open_engine(5)
    try:
        records = [gnugo.random_game(engine, 5, 0.5, seed, 40) for seed in range(3)]
        records += [gnugo.scored_game(engine, 5, 0.5, seed) for seed in range(2)]
    finally:
        engine.close()
    assert [record.differences for record in records] == [[]] * 5
    assert min(record.positions for record in records) > 5
    assert all(record.score["ours"] == record.score["theirs"] for record in records[3:])
