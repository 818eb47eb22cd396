"""A game in progress: what may be played, taken back, saved and loaded, and how its players think."""

import dataclasses
import json
import threading
import time

import jax
import numpy as np
import pytest

from saz_jax.coordinates import gtp_move, read_gtp_move
from saz_jax.play.clock import Clock
from saz_jax.play.limits import Limits
from saz_jax.play.passing import is_own_eye, sensible
from saz_jax.play.screen import Screen, picture
from saz_jax.play.seats import cached_agent
from saz_jax.play.session import Session, Setup
from saz_jax.play.thinking import Analysis, Candidate, Pace, TreeThinker, agent_thinker, room_for
from saz_jax.play.web import events
from tests.tiny_agents import tiny_agent

SIDE = 6


@pytest.fixture(scope="module")
def agent_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("agents") / "tiny.npz"
    tiny_agent("othello", "model3", (SIDE,)).export(path)
    return str(path)


def othello(**changes):
    return Session(Setup("othello", SIDE, **changes))


def test_moves_are_played_taken_back_and_played_again():
    session = othello()
    first, second = session.legal_points()[:1], []
    session.play(first[0])
    second = session.legal_points()[0]
    session.play(second)
    assert session.moves == [(1, first[0]), (-1, second)]
    board = session.drawing()
    session.undo(2)
    assert session.moves == []
    session.redo(2)
    assert session.drawing() == board
    session.undo()
    session.play(session.legal_points()[-1])
    with pytest.raises(ValueError, match="nothing to play again"):
        session.redo()


def test_a_mistake_leaves_the_game_as_it_was():
    session = othello()
    before = session.version
    for point in ((0, 0), None, (9, 9), (-1, 0)):
        with pytest.raises(ValueError, match=r"illegal|off a board"):
            session.play(point)
    with pytest.raises(ValueError, match="turn"):
        session.play((2, 2), colour=-1)
    with pytest.raises(ValueError, match="take back"):
        session.undo()
    assert (session.version, session.moves) == (before, [])


@pytest.mark.parametrize("size", [0, 2, 100, 10**9, -5])
def test_sides_that_cannot_be_played_are_refused(size):
    with pytest.raises(ValueError, match="side"):
        Session(Setup("othello", size))


def test_a_side_may_move_twice_where_the_other_may_pass():
    session = Session(Setup("go", 5))
    session.play((0, 0), colour=-1)
    assert session.moves == [(1, None), (-1, (0, 0))]


def test_json_and_sgf_give_the_game_back(tmp_path):
    session = othello(dark="greedy", light="random")
    session.record = tmp_path / "game.sgf"
    for _ in range(5):
        session.move()
    again, other = othello(), othello()
    again.load_json(json.loads(json.dumps(session.to_json())))
    assert again.moves == session.moves
    assert again.setup.dark == "greedy"
    other.load_sgf(session.record.read_text())
    assert other.moves == session.moves
    other.load_sgf(session.to_sgf(), moves=2)
    assert other.moves == session.moves[:2]
    before = other.to_json()
    for broken in ({}, [], {**before, "moves": ["A1"]}, {**before, "size": "6"}, {**before, "resigned": 7}):
        with pytest.raises(ValueError, match=r"."):
            other.load_json(broken)
    assert other.to_json() == before


def test_two_players_play_a_whole_game_and_the_result_is_the_score():
    session = othello(dark="greedy", light="random")
    while not session.over:
        session.move()
    score = int(session.view.board.sum())
    assert session.outcome == np.sign(score)
    assert session.result() in (f"B+{abs(score)}", f"W+{abs(score)}", "0")
    with pytest.raises(ValueError, match="the game is over"):
        session.move()


def test_resigning_ends_the_game_and_is_taken_back():
    session = othello()
    session.resign()
    assert (session.over, session.outcome, session.result()) == (True, -1, "W+R")
    assert "RE[W+R]" in session.to_sgf()
    session.undo()
    assert not session.over


def test_an_agent_thinks_within_its_limits_and_keeps_its_subtree(agent_file):
    session = othello(dark=agent_file, light="random", limits=Limits(40))
    session.prepare()
    analysis = session.think()
    assert analysis.simulations == 40
    assert sum(c.visits for c in analysis.candidates) <= 40
    assert analysis.candidates[0].action == analysis.action == analysis.candidates[0].variation[0]
    assert sum(np.asarray(analysis.policy)) == pytest.approx(1, abs=1e-4)
    thinker = session._thinkers[agent_file]
    assert isinstance(thinker, TreeThinker)
    session.move()
    session.move()
    growth = thinker._rooted(session._position())
    assert int(growth.tree.node_visits[0, 0]) >= 1
    board = np.asarray(growth.tree.states.board[0, 0])
    np.testing.assert_array_equal(board, session.view.board)


def test_an_agent_stops_when_it_is_told_to_and_when_its_time_is_over(agent_file):
    session = othello(dark=agent_file, light=agent_file, analysis=True)
    session.prepare()
    stop, reports = threading.Event(), []

    def hear(analysis):
        reports.append(analysis)
        stop.set()

    analysis = session.think(Limits(seconds=20.0), stop, hear)
    assert analysis.simulations >= reports[-1].simulations
    assert analysis.seconds < 15
    began = time.monotonic()
    session.think(Limits(seconds=0.3))
    assert time.monotonic() - began < 1.0


def test_an_endless_search_of_the_last_moves_ends():
    session = Session(Setup("gomoku", 3, options={"k": 3}, dark="mcts:100", light="mcts:100"))
    for point in ((0, 0), (0, 2), (0, 1), (1, 0), (1, 2), (1, 1), (2, 0)):
        session.play(point)
    stop, capacity = threading.Event(), room_for(session.game, Limits(100))
    timer = threading.Timer(60, stop.set)
    timer.start()
    analysis = session.think(Limits(), stop)
    timer.cancel()
    assert not stop.is_set()
    assert analysis.simulations <= capacity


@pytest.mark.parametrize("slower", [1, 2])
def test_calls_that_take_twice_as_long_as_they_should_end_in_time(slower, agent_file):
    session = othello(dark=agent_file, light=agent_file, analysis=True)
    session.prepare()
    thinker = session._thinkers[agent_file]
    assert isinstance(thinker, TreeThinker)
    thinker._pace = Pace(now=0.001, usual=0.001, mean=0.001, step=0.008, telling=0.001)
    elapsed, limits = 0.0, Limits(seconds=0.2)
    while count := thinker._next(limits, 1, elapsed):
        elapsed += slower * 0.001 * count
    assert 0.18 < elapsed < 0.2 + 0.008  # fewer simulations than the smallest step make no sense


def test_after_getting_ready_a_move_compiles_nothing(agent_file):
    compiled = []

    def listen(event: str, duration_secs: float, **_: str | int) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(duration_secs)

    # A padding that no other test uses: what they compiled must not hide what this one needs.
    session = othello(dark=agent_file, light=agent_file, limits=Limits(8), max_size=SIDE + 5)
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        session.prepare()
        before = len(compiled)
        session.move()
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert before > 0
    assert len(compiled) == before


def test_a_forced_move_is_not_thought_about():
    session = Session(Setup("gomoku", 3, options={"k": 3}, dark="mcts:1000000", light="greedy"))
    for point in ((0, 0), (0, 2), (0, 1), (1, 0), (1, 2), (1, 1), (2, 0), (2, 1)):
        session.play(point)
    assert session.point(session.think().action) == (2, 2)


def test_an_agent_of_another_game_is_refused(agent_file):
    with pytest.raises(ValueError, match="was trained on othello"):
        Session(Setup("gomoku", 6, dark=agent_file))


def test_agents_that_resign_do_so_after_hopeless_moves(agent_file):
    session = othello(dark=agent_file, light="random", limits=Limits(2), resign=1.0)
    for _ in range(20):
        session.move()
        if session.over:
            break
    assert session.resigned == 1
    assert len(session.moves) == 4  # two hopeless moves of each side's turn, then the third


def test_the_clock_shares_out_its_time():
    clock = Clock(main=60.0)
    first = clock.allows(1, 30)
    assert first is not None
    assert first == pytest.approx(1.9)
    clock.spend(1, 10)
    clock.left[1] = 30.0
    assert clock.allows(1, 30) == pytest.approx(0.9)
    assert Clock(per_move=5.0).allows(-1, 3) == pytest.approx(4.4)
    assert Clock().allows(1, 3) is None
    overtime = Clock(main=0.0, overtime=10.0, stones=5)
    assert overtime.allows(1, 100) == pytest.approx(1.7)
    assert Clock(main=0.0).limits(Limits(50), 1, 40) == Limits(50, 0.0)
    assert Clock().limits(Limits(50), 1, 40) == Limits(50)


def board_of(*rows):
    return np.array([[{"X": 1, "O": -1, ".": 0}[c] for c in row] for row in rows], np.int8)


def test_a_won_game_is_ended_and_a_lost_score_never_passed_into():
    board = board_of(".X.", "XXX", "OO.")
    legal = np.append((board == 0).reshape(-1), True)
    analysis = Analysis(9, 0.0, candidates=(Candidate(0, 5, 0.0, 0.1, (0,)), Candidate(8, 3, 0.0, 0.1, (8,))))
    asked = {"board": board, "legal": legal, "side": 3, "to_play": 1}
    assert sensible(analysis, **asked, margin=3.0, ends=False) == 9
    assert sensible(dataclasses.replace(analysis, action=8), **asked, margin=3.0, ends=True) == 9
    assert is_own_eye(board, (0, 0), 1)
    assert sensible(analysis, **asked, margin=-3.0, ends=True) == 8  # the most visited one fills an eye
    assert sensible(analysis, **{**asked, "legal": legal & (np.arange(10) != 8)}, margin=-3.0, ends=True) == 9


def test_searches_of_similar_limits_share_one_program():
    agent = tiny_agent("othello", "model3", (SIDE,))
    game = agent.game(SIDE)
    rooms = {room_for(game, Limits(n)) for n in (40, 50, 60)}
    assert rooms == {64}
    one, other = (agent_thinker("a", agent, game, SIDE, Limits(n)) for n in (40, 60))
    assert one._search is other._search
    assert room_for(game, Limits(seconds=1)) >= 1024


def test_agents_are_read_once(agent_file):
    assert cached_agent(agent_file) is cached_agent(agent_file)
    assert jax.tree.leaves(cached_agent(agent_file).variables)


def test_a_drawn_board_is_played_and_saved():
    session = Session(Setup("gomoku", shape="...../.###./...../.###./....."))
    assert session.size == 5
    assert session.points.sum() == 19
    with pytest.raises(ValueError, match="no point"):
        session.play((1, 1))
    with pytest.raises(ValueError, match="no point"):
        session.read_move("B2")
    session.play(session.read_move("A1"))
    again = Session(Setup("gomoku", 7))
    again.load_sgf(session.to_sgf())
    assert again.drawing() == session.drawing()
    other = Session(Setup("othello", 6))
    other.load_json(session.to_json())
    assert other.drawing() == session.drawing()
    other.restart(size=6)
    assert other.points.all()


def test_a_square_by_its_shape_is_one_by_its_side():
    assert Session(Setup("othello", 4, shape="6x6")).to_json() == othello().to_json()


@pytest.mark.parametrize("shape", ["#", "..", "999x999", "holes:9:0.1", "diamond", "../..."])
def test_shapes_that_cannot_be_played_are_refused(shape):
    with pytest.raises(ValueError, match=r"shape|drawing|side|random"):
        Session(Setup("othello", shape=shape))


def test_a_network_is_asked_about_subgraphs_too(agent_file):
    session = othello(light=agent_file)
    found = session.opinions(agent_file)
    assert found is not None
    legal = session.view.legal
    assert found.nodes.shape == (3, SIDE * SIDE + 1)
    assert found.priors.sum(1) == pytest.approx(1, abs=1e-5)
    assert not found.priors[~(found.nodes & legal)].any()
    assert ((found.distances >= 0) & (found.distances <= 1)).all()
    assert found.spread[~legal].max() == 0
    held = found.nodes & legal
    for action in np.flatnonzero(legal):
        assert found.spread[action] == pytest.approx(np.std(found.priors[held[:, action], action]), abs=1e-5)
    assert session.opinions("greedy") is None


def test_stones_are_moved_from_point_to_point(tmp_path):
    record = tmp_path / "game.json"
    session = Session(Setup(game="breakthrough", size=5), record=record)
    session.play(session.read_move("b4c3"))
    session.play(((1, 1), (2, 2)))  # light takes the stone
    assert [session.name(move) for _, move in session.moves] == ["B4-C3", "B2-C3"]
    assert session.drawing().split() == ["OOOOO", "O.OOO", "..O..", "X.XXX", "XXXXX"]
    assert ((3, 2), (2, 1)) in session.legal_points()
    refused = {((3, 0), (1, 0)): "A4-A2 is no move", (3, 0): "A4 is no move", ((3, 2), (2, 2)): "illegal"}
    for move, told in refused.items():
        with pytest.raises(ValueError, match=told):
            session.play(move)
    other = Session(Setup(game="breakthrough", size=6))
    other.load_record(record.read_text())
    assert (other.size, other.moves) == (5, session.moves)
    with pytest.raises(ValueError, match="no game in JSON"):
        other.load_record("{")


def test_faces_make_a_move_of_two_points():
    session = Session(Setup(game="breakthrough", size=5))
    told = events.game(session)
    assert told["ends"]["B4"] == ["A3", "B3", "C3"]
    assert told["legal"] == "0" * 15 + "1" * 5 + "0" * 5
    assert sum(events.on_board(session, session.view.legal, 1)) == 13
    screen = Screen(session)
    screen.scene = screen.scene._replace(cursor=(3, 1), show_legal=True)
    screen.press(ord("\n"))
    assert screen.scene.start == (3, 1)
    drawn = {(cell.row, cell.column): cell.text for cell in picture(session, screen.scene)}
    assert [drawn[3, 2 + 2 * column] for column in range(5)] == ["+", "+", "+", "·", "·"]
    screen.scene = screen.scene._replace(cursor=(2, 2))
    screen.press(ord("\n"))
    assert session.moves == [(1, ((3, 1), (2, 2)))]
    assert screen.scene.start is None
    assert gtp_move(session.last_move, 5) == "B2-C3"
    assert read_gtp_move("b2-c3", 5) == session.last_move
    with pytest.raises(ValueError, match="two vertices such as B2-C3"):
        read_gtp_move("pass-c3", 5)
