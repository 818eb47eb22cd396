"""The web face without a network: what its messages may hold, and what a table does with them."""

import json
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saz_jax.play.web.house import House
from saz_jax.play.web.messages import MAX_MESSAGE, MESSAGES, parse
from saz_jax.play.web.table import Table
from tests.tiny_agents import tiny_agent

SIDE = 4


@pytest.fixture(scope="module")
def agent_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("agents") / "tiny.npz"
    tiny_agent("othello", "model3", (SIDE,)).export(path)
    return str(path)


@pytest.fixture(scope="module")
def house(agent_file):
    made = House("othello", SIDE, [agent_file])
    made.load()
    assert made.error is None
    for about in made.welcome["games"]:
        about["agent"] = agent_file if about["name"] == "othello" else "random"
    return made


class Visitor:
    """A table with a list of what it told."""

    def __init__(self, house):
        self.events = []
        self.table = Table(house, self.events.append)

    def say(self, do, **fields):
        self.hear(json.dumps({"do": do, **fields}))

    def hear(self, text):
        self.table.hear(text)
        while not self.table._heard.empty():
            self.table.step()

    def open(self, game="othello", size=SIDE, dark="person", light="person", simulations=2, **more):
        self.say("open", game=game, size=size, dark=dark, light=light, simulations=simulations, **more)

    def last(self, kind):
        return next(event for event in reversed(self.events) if event["is"] == kind)

    def work(self, steps=30):
        for _ in range(steps):
            if self.table._has_work():
                self.table.step()

    @property
    def errors(self):
        return [event["text"] for event in self.events if event["is"] == "error"]


@pytest.fixture
def visitor(house):
    return Visitor(house)


def test_a_person_plays_a_player_that_answers(visitor, agent_file):
    visitor.open(light=agent_file)
    game = visitor.last("game")
    assert (game["moves"], game["to_play"], game["over"]) == ([], 1, False)
    first = game["legal"].index("1")
    visitor.say("play", move="ABCD"[first % SIDE] + str(first // SIDE + 1))
    visitor.work()
    game, analysis = visitor.last("game"), visitor.last("analysis")
    assert not visitor.errors
    assert len(game["moves"]) == 2
    assert (analysis["ply"], analysis["to_play"], analysis["move"]) == (1, -1, game["moves"][1])
    assert len(analysis["visits"]) == len(analysis["prior"]) == SIDE * SIDE + 1
    assert sum(analysis["visits"]) == analysis["simulations"] == 2
    assert game["curve"][1] == analysis["chance"]


def test_two_players_play_to_the_end_and_pause(visitor, monkeypatch):
    monkeypatch.setattr("saz_jax.play.web.table.SLOWEST_WATCHED", 0.0)
    visitor.open(dark="random", light="random")
    visitor.say("pause", on=True)
    assert not visitor.table._has_work()
    visitor.say("pause", on=False)
    visitor.work(100)
    assert visitor.last("game")["over"]
    assert visitor.last("game")["result"]


def test_undo_goes_back_to_the_person(visitor, agent_file):
    visitor.open(light=agent_file)
    visitor.say("go")
    visitor.work()
    assert len(visitor.last("game")["moves"]) == 2
    visitor.say("undo")
    assert visitor.last("game")["moves"] == []
    assert not visitor.table._has_work()
    visitor.say("redo")
    assert len(visitor.last("game")["moves"]) == 2
    visitor.say("undo", all=True)
    visitor.say("undo")
    assert visitor.errors == ["there is nothing to take back"]


def test_sides_are_switched_in_the_middle_of_a_game(visitor, agent_file):
    visitor.open(light=agent_file)
    visitor.say("go")
    visitor.say("seats", dark=agent_file, light="person", simulations=2)
    game = visitor.last("game")
    assert (len(game["moves"]), game["dark"], game["light"]) == (1, agent_file, "person")
    visitor.say("go")
    visitor.work()
    assert len(visitor.last("game")["moves"]) == 3


def test_a_network_explains_a_position(visitor, agent_file):
    visitor.open()
    visitor.say("analyse", on=False, insight=True)
    visitor.work()
    insight = visitor.last("insight")
    assert insight["player"] == agent_file
    assert insight["ownership"] is None
    assert len(insight["subgraphs"]) == 2
    assert 0 <= insight["disagreement"] <= 1
    for subgraph in insight["subgraphs"]:
        pairs = zip(subgraph["prior"][:-1], subgraph["nodes"], strict=True)
        assert not any(value for value, held in pairs if held == "0")
    visitor.open("hex", dark="random")
    visitor.work()
    assert visitor.last("insight")["network"] is False


def test_analysis_ends_when_the_tree_is_full_and_begins_again_after_a_move(visitor):
    visitor.open()
    visitor.say("analyse", on=True, insight=False)
    thread = visitor.table.start()
    wait_for(lambda: any(e["is"] == "analysis" for e in visitor.events))
    visitor.table.hear(json.dumps({"do": "play", "move": "A2"}))
    visitor.table.hear(json.dumps({"do": "go"}))
    wait_for(lambda: len(visitor.last("game")["moves"]) >= 1)
    wait_for(lambda: visitor.last("analysis")["ply"] >= 1)
    visitor.table.close()
    thread.join(5)
    assert not thread.is_alive()


def test_a_closed_table_frees_its_search_at_once(visitor, agent_file):
    visitor.open(dark=agent_file, simulations=100000)
    thread = visitor.table.start()
    wait_for(lambda: any(e["is"] == "analysis" for e in visitor.events))
    began = time.monotonic()
    visitor.table.close()
    thread.join(5)
    assert not thread.is_alive()
    assert time.monotonic() - began < 3


def test_a_move_at_once_is_played(visitor, agent_file):
    visitor.open(dark=agent_file, simulations=100000)
    thread = visitor.table.start()
    wait_for(lambda: any(e["is"] == "analysis" for e in visitor.events))
    visitor.table.hear('{"do": "stop"}')
    wait_for(lambda: len(visitor.last("game")["moves"]) == 1)
    visitor.table.close()
    thread.join(5)


def test_a_game_is_saved_and_loaded(visitor, agent_file):
    visitor.open(shape="..../..../..../....", light="random")
    visitor.say("go")
    visitor.say("save")
    record = visitor.last("record")
    visitor.open("hex", 3)
    visitor.say("load", sgf=record["text"])
    game = visitor.last("game")
    assert (game["game"], game["size"], len(game["moves"])) == ("othello", SIDE, 1)
    visitor.say("load", sgf="(;GM[1")
    assert "SGF" in visitor.errors[-1]
    assert visitor.last("game") == game


def test_a_drawn_board_is_played(visitor):
    visitor.open("gomoku", 3, shape="...../.###./.....")
    game = visitor.last("game")
    assert (game["size"], game["points"].count("1")) == (5, 12)
    visitor.say("play", move="C2")
    assert "no point there" in visitor.errors[-1]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dark": "gtp:touch /tmp/never"}, "is a program"),
        ({"dark": "gomocup:rm x"}, "is a program"),
        ({"game": "os:system"}, "no game"),
        ({"game": "chess"}, "no game"),
        ({"size": 1000}, "side 1000"),
        ({"dark": "/dev/zero/x"}, "unknown player"),
        ({"dark": "mcts:0"}, "mcts"),
        ({"moves": ["A1"]}, "do not fit"),
        ({"options": {"komi": 3}}, "no option"),
        ({"shape": "../...."}, "drawing"),
    ],
)
def test_what_cannot_be_opened_is_refused_and_the_game_stays(visitor, fields, words):
    visitor.open()
    before = visitor.last("game")
    visitor.open(**fields)
    visitor.work()
    assert words in visitor.errors[0]
    assert visitor.table.session is not None
    if "mcts" not in words:
        assert visitor.last("game") == before


def test_files_are_not_named_from_elsewhere(agent_file):
    house = House("othello", SIDE, [agent_file], paths=False)
    house.load()
    house.check_player(agent_file)
    house.check_player("mcts:7")
    house.check_player("raw:othello@model3")
    with pytest.raises(ValueError, match="not offered"):
        house.check_player("./secret.npz")


def test_searches_wait_for_a_slot(house):
    closed = threading.Event()
    closed.set()
    slots = [house.slot(closed.is_set) for _ in range(20)]
    got = [slot.__enter__() for slot in slots]
    assert any(got)
    assert not all(got)
    for slot in slots:
        slot.__exit__(None, None, None)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", '{"do": 1}', '{"do": "dance"}', '{"do": "play"}',
     '{"do": "play", "move": 3}', '{"do": "play", "move": "D3", "x": 1}', '{"do": "undo", "all": 1}',
     "NaN", "[" * 100000, "9" * 9999,
     '{"do": "play", "move": "' + "A" * 21 + '"}', '{"do": "load", "sgf": "' + "A" * MAX_MESSAGE + '"}'],
)  # fmt: skip
def test_messages_that_fit_no_schema_are_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse(text)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PLAYER = st.sampled_from(["person", "random", "mcts:x", "gtp:ls", "", "\0", "raw:", "/etc/passwd", "@"])
MOVES = st.sampled_from(["A1", "B2", "C3", "A2", "pass", "Z99", "", "a1", "A0", "AA1", "٣"])
SENSIBLE = {
    "game": st.sampled_from(["othello", "gomoku", "go", "hex", "chess", "a:b", ""]),
    "size": st.sampled_from([SIDE, SIDE, SIDE, 0, -1, 1, 100, 1000, 10**9]),
    "shape": st.sampled_from([None, "", "4x3", "#", "999x999", "holes:4:0.1", ".", "../."]),
    "options": st.sampled_from([None, {}, {"k": 3}, {"k": -1}, {"k": "x"}, {"komi": 1e300}, {"swap": 1}]),
    "dark": PLAYER,
    "light": PLAYER,
    "simulations": st.sampled_from([None, 1, 2, 0, -5, 10**9]),
    "seconds": st.sampled_from([None, 0.05, 0, -1, 1e9]),
    "moves": st.none() | st.lists(MOVES, max_size=3),
    "resigned": st.sampled_from([None, 1, -1, 0, True]),
    "move": MOVES,
    "all": st.sampled_from([None, True, False]),
    "on": st.booleans(),
    "insight": st.booleans(),
    "player": st.sampled_from([None, "random", "nobody", "gtp:x"]),
    "sgf": st.text(max_size=20) | st.sampled_from(["(;GM[11]SZ[4])", "(;GM[11]SZ[99])"]),
}


@st.composite
def said(draw):
    """Something that a page might say: sensible, nearly so, or junk."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.text(max_size=30))
    if kind == 1:
        return json.dumps(draw(JUNK))
    do = draw(st.sampled_from(list(MESSAGES)))
    message = {name: draw(SENSIBLE[name]) for name in MESSAGES[do]}
    if kind == 2 and message:
        message[draw(st.sampled_from(list(message)))] = draw(JUNK)
    if kind == 3 and message:
        del message[draw(st.sampled_from(list(message)))]
    return json.dumps({"do": do, **message})


def test_whatever_is_said_the_table_goes_on(house, monkeypatch):
    monkeypatch.setattr("saz_jax.play.web.table.SLOWEST_WATCHED", 0.0)
    visitor = Visitor(house)

    @settings(max_examples=2000)
    @given(st.lists(said(), min_size=1, max_size=3))
    def fuzz(texts):
        for text in texts:
            visitor.hear(text)
            visitor.work(2)
        assert not [event for event in visitor.events if event.get("defect")]
        json.dumps(visitor.events, allow_nan=False)
        visitor.events.clear()

    fuzz()
    visitor.open()
    visitor.say("play", move="A2")
    assert visitor.last("game")["moves"] == ["A2"]


def wait_for(condition, seconds=60.0):
    """Until something holds; an assertion fails if that takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")
