"""The page without a server: its programs, rules, networks and search are those of Python, run by node."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from mctx._src.seq_halving import get_sequence_of_considered_visits

from saz_jax.agents import load_agent
from saz_jax.cli import main
from saz_jax.games import make_game
from saz_jax.games.board import random_move
from saz_jax.models.registry import make_model
from saz_jax.play.page.programs import Weights, to_json, trace
from saz_jax.play.page.site import ENGINE, PAGE, judge_of, rules_of, welcome, write_site
from saz_jax.render.sgf import from_sgf, to_sgf
from saz_jax.search.tree_search import judging
from tests.tiny_agents import tiny_agent

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node here; apt-get install nodejs")


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> Path:
    """The modules of the page in a folder that node takes for modules, and what runs them."""
    folder = tmp_path_factory.mktemp("engine")
    for file in [*PAGE.glob("*.js"), *ENGINE.glob("*.js"), Path(__file__).parent / "page" / "check.js"]:
        shutil.copy(file, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def answer(engine: Path, task: str, folder: Path):
    """What `check.js` finds."""
    words = [str(NODE), str(engine / "check.js"), task, str(folder)]
    run = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def flat(state) -> list[np.ndarray]:
    """The arrays of a state as the page holds them."""
    return [np.asarray(leaf, np.float64).reshape(-1) for leaf in jax.tree.leaves(state)]


def random_games(game, shape, games: int, moves: int, seed: int = 0):
    """(actions [games, moves], states [games, moves + 1, ...]) of random games, ended ones included."""

    def play(key):
        def move(state, key):
            action = random_move(key, state.legal)
            return game.step(state, action), (action, state)

        last, (actions, states) = lax.scan(move, game.init(shape), jax.random.split(key, moves))
        states = jax.tree.map(lambda all, end: jnp.concatenate([all, end[None]]), states, last)
        return actions, states

    return jax.device_get(jax.jit(jax.vmap(play))(jax.random.split(jax.random.key(seed), games)))


def positions_of(agent, side: int, count: int):
    """(game, states): so many positions out of random games, none of them at its end."""
    game = agent.game(side)
    _, states = random_games(game, side, count, side * side // 2)
    number = np.arange(count)
    at = number % (side * side // 2)
    found = [jax.tree.map(lambda x, n=n, t=t: x[n, t], states) for n, t in zip(number, at, strict=True)]
    return game, [state for state in found if not state.terminated]


def write_states(folder: Path, states) -> None:
    np.concatenate([leaf for state in states for leaf in flat(state)]).tofile(folder / "states.bin")


random = np.random.default_rng(0)


def floats(*shape):
    return random.normal(size=shape).astype(np.float32)


def whole(*shape, low=-9, high=9):
    return random.integers(low, high, shape).astype(np.int32)


def truths(*shape):
    return random.random(shape) < 0.5


CASES = {
    "reverse": (lambda x: (jnp.flip(x, (0, 1)), jnp.flip(x, 1)), [whole(3, 4)]),
    "scan": (lambda x: lax.scan(lambda c, y: ((c[1] + y, c[0]), c[0]), (x[0], x[1]), x), [whole(4, 3)]),
    "scan backwards": (
        lambda x: lax.scan(lambda c, y: (c + y.sum(), c * 2), 1, x, reverse=True),
        [whole(4, 3)],
    ),
    "swap": (lambda x: lax.fori_loop(0, 3, lambda k, c: (c[1], c[0] + k), (x[0], x[1])), [whole(4, 3)]),
    "while": (
        lambda x: lax.while_loop(lambda s: s[1] < 5, lambda s: (s[0] * 2, s[1] + 1), (x, 0)),
        [whole(3)],
    ),
    "switch": (
        lambda x, k: lax.switch(k, [lambda x: x + 1, lambda x: x * 2, lambda x: -x], x),
        [whole(3), np.int32(7)],
    ),
    "extremes": (
        lambda x: (jnp.argmin(x, 1), jnp.argmax(x), jnp.argmax(x > 0, 0), x.max(0), x.min(), x.prod()),
        [whole(4, 5)],
    ),
    "gather": (lambda x, k: (x[k], x[k, k], x[:, k]), [whole(5, 6), whole(3, low=0, high=5)]),
    "off the array": (
        lambda x, k: (
            x.at[k].get(mode="fill", fill_value=7),
            x.at[k].get(mode="clip"),
            x.at[k].set(3),
            x.at[k].add(3, mode="drop"),
        ),
        [whole(5, 2), whole(4, low=3, high=8)],
    ),
    "along": (lambda x, k: jnp.take_along_axis(x, k, 1), [whole(5, 6), whole(5, 2, low=0, high=6)]),
    "batched gather": (
        lambda x, k: jax.vmap(lambda a, i: (a[i], lax.dynamic_slice(a, (i,), (3,))))(x, k),
        [whole(5, 6), whole(5, low=0, high=6)],
    ),
    "batched scatter": (
        lambda x, k: jax.vmap(lambda a, i: a.at[i].set(0))(x, k),
        [whole(5, 6), whole(5, low=0, high=6)],
    ),
    "scatter": (
        lambda x, k, v: (x.at[k].add(v), x.at[:, k].mul(2), x.at[1, k].max(1), x.at[k].min(0)),
        [whole(5, 6), whole(3, low=0, high=5), whole(3, 6)],
    ),
    "division": (
        lambda x, y: (x // y, x % y, jnp.sign(x), lax.div(x, y), lax.rem(x, y)),
        [whole(20), np.where(whole(20) > 0, 3, -4).astype(np.int32)],
    ),
    "powers": (lambda x: (x**2, x**3, jnp.abs(x), -x), [whole(9)]),
    "overflow": (
        lambda x: (
            x * x * x * 12345,
            x.astype(jnp.int8) + np.int8(100),
            x.astype(jnp.int16) * 3,
            (x * 77777) ^ x,
            x.astype(jnp.uint32) * np.uint32(2654435761),
            ~x,
        ),
        [whole(9, low=-99999, high=99999)],
    ),
    "padding": (
        lambda x: (jnp.pad(x, ((1, 2), (0, 1)), constant_values=5), lax.pad(x, 0, ((0, 1, 2), (1, 0, 0)))),
        [whole(3, 4)],
    ),
    "truth": (
        lambda x, y: (x & ~y, x | y, x ^ y, x.any(0), x.all(1), x.sum(), jnp.where(x, 1, 2.5), x == y),
        [truths(4, 5), truths(4, 5)],
    ),
    "windows": (
        lambda x, k: (
            lax.dynamic_slice(x, (k, k + 1), (2, 3)),
            lax.dynamic_update_slice(x, x[:2, :2], (k, k)),
        ),
        [whole(5, 6), np.int32(4)],
    ),
    "products": (
        lambda x, y, z: (x @ y, jnp.einsum("abc,dc->bda", z, x), jnp.einsum("bij,bkj->bik", z, z)),
        [floats(3, 5), floats(5, 4), floats(2, 4, 5)],
    ),
    "convolutions": (
        lambda x, w: (
            lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
            lax.conv_general_dilated(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (2, 1), "VALID"),
        ),
        [floats(1, 5, 6, 3), floats(3, 3, 3, 4)],
    ),
    "joins": (
        lambda x: (
            jnp.stack([x, x + 1], 1), jnp.concatenate([x, x], 1), x.T, x[1:, ::2], x[None, :, None],
            jnp.repeat(x, 2, 0), x + jnp.arange(4)[None], lax.broadcasted_iota(jnp.int32, (3, 4), 0) * x,
            jnp.clip(x, -2, 3),
        ),
        [whole(3, 4)],
    ),
    "functions": (
        lambda x: (
            jax.nn.log_softmax(x), jnp.tanh(x), jax.nn.softplus(x), lax.rsqrt(x * x + 1), jax.nn.sigmoid(x),
            jnp.max(x, 1, where=x > 0, initial=-jnp.inf), jnp.floor(x), jnp.ceil(x).astype(jnp.int32), x**2.0,
            jnp.sqrt(jnp.abs(x)), jnp.log(jnp.exp(x)),
        ),
        [floats(3, 4)],
    ),
}  # fmt: skip
"""{what: (function, arguments)}"""


@needs_node
def test_programs_compute_what_jax_does(engine, tmp_path):
    weights, cases = Weights(), []
    for function, inputs in CASES.values():
        cases.append(
            {
                "program": to_json(trace(function, *inputs), weights),
                "inputs": [x.tolist() for x in flat(inputs)],
            }
        )
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    (tmp_path / "weights.bin").write_bytes(bytes(weights.data))
    found = answer(engine, "programs", tmp_path)
    for (name, (function, inputs)), outputs in zip(CASES.items(), found, strict=True):
        expected = flat(jax.jit(function)(*inputs))
        for number, (ours, theirs) in enumerate(zip(expected, outputs, strict=True)):
            numbers = np.array(theirs, np.float64)
            np.testing.assert_allclose(
                numbers, ours, rtol=1e-5, atol=1e-6, err_msg=f"{name}, output {number}"
            )


def test_what_the_page_cannot_compute_is_named():
    with pytest.raises(
        ValueError, match="the page cannot compute sort; write the game or the network without"
    ):
        trace(jnp.sort, whole(3))
    with pytest.raises(ValueError, match="cannot pad by"):
        trace(lambda x: lax.pad(x, 0, ((-1, 0, 0),)), whole(3))


def test_what_depends_on_constants_alone_is_computed_once():
    table = jnp.asarray(floats(100, 3))
    product = jax.jit(lambda x, y: x @ jnp.tanh(y - y.mean()).T)
    program = trace(lambda x: product(x, table), floats(2, 3))
    assert {step.name for step in program.steps} == {"product"}
    assert "tanh" in {step.name for step in program.once}


def test_equal_constants_are_stored_once():
    weights, table = Weights(), floats(100)
    for _ in range(2):
        to_json(trace(lambda x: x + table, table), weights)
    assert len(weights.data) == table.nbytes


HOLES = np.array([[1, 1, 1, 1, 1, 0], *[[1] * 6] * 4, [0, 1, 1, 1, 1, 1]], bool)
BOARDS = [
    ("gomoku", 9), ("gomoku", 15), ("othello", 5), ("othello", 8), ("go", 5), ("go", 9), ("hex", 5),
    ("breakthrough", 6), ("clobber", 5), ("gomoku", HOLES), ("othello", HOLES), ("go", HOLES),
]  # fmt: skip


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"), BOARDS, ids=lambda x: "holes" if isinstance(x, np.ndarray) else str(x)
)
def test_rules_are_the_same_over_thousands_of_positions(name, shape, engine, tmp_path):
    points = shape if isinstance(shape, np.ndarray) else np.ones((shape, shape), bool)
    game = make_game(name, len(points))
    moves = min(game.max_moves, 60 if name == "go" and len(points) > 5 else 2 * len(points) ** 2)
    games = math.ceil(2000 / moves)
    actions, states = random_games(game, jnp.asarray(points), games, moves)
    weights = Weights()
    task = {
        "programs": {what: to_json(program, weights) for what, program in rules_of(game).items()},
        "points": points.astype(int).reshape(-1).tolist(),
        "games": games,
        "moves": moves,
        "sizes": [leaf.size for leaf in flat(jax.tree.map(lambda x: x[0, 0], states))],
    }
    (tmp_path / "task.json").write_text(json.dumps(task))
    (tmp_path / "weights.bin").write_bytes(bytes(weights.data))
    actions.astype(np.float64).tofile(tmp_path / "actions.bin")
    write_states(
        tmp_path,
        [jax.tree.map(lambda x, n=n, t=t: x[n, t], states) for n in range(games) for t in range(moves + 1)],
    )
    assert answer(engine, "rules", tmp_path) == {"positions": games * (moves + 1)}


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(("name", "side"), [("gomoku", 15), ("othello", 8), ("go", 9), ("gomoku-fcn", 11)])
def test_networks_say_the_same(name, side, engine, tmp_path):
    agent = load_agent(name)
    game, states = positions_of(agent, side, 32)
    weights = Weights()
    judge = to_json(judge_of(agent, game), weights)
    sizes = [leaf.size for leaf in flat(states[0])]
    (tmp_path / "task.json").write_text(json.dumps({"judge": judge, "sizes": sizes, "count": len(states)}))
    (tmp_path / "weights.bin").write_bytes(bytes(weights.data))
    write_states(tmp_path, states)
    theirs = answer(engine, "judge", tmp_path)
    judging_here, _ = judging(game, make_model(agent.model, game).evaluate, agent.search, agent.variables)
    batch = jax.tree.map(lambda *x: jnp.stack(x), *states)
    ours = jax.jit(judging_here)(jax.random.key(0), batch)
    np.testing.assert_allclose([said["value"] for said in theirs], ours.value, atol=1e-4)
    told = np.array([said["logits"] for said in theirs])
    np.testing.assert_allclose(np.exp(told), np.exp(np.asarray(ours.logits, np.float64)), atol=1e-4)
    legal = np.asarray(batch.legal)
    np.testing.assert_allclose(told[legal], np.asarray(ours.logits)[legal], atol=1e-3)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(("name", "side", "kind"), [("gomoku", 7, "gumbel"), ("othello", 6, "puct")])
def test_the_search_finds_what_ours_finds(name, side, kind, engine, tmp_path):
    agent, simulations = load_agent(name), 40
    settings = {field: getattr(agent.search, field) for field in ("c_puct", "unvisited", "take_wins")}
    settings |= {"kind": kind, "max_considered_actions": 16}
    game, states = positions_of(agent, side, 16)
    weights = Weights()
    task = {
        "about": welcome({name: agent}, {name: (side,)})["games"][0],
        "side": side,
        "programs": {what: to_json(program, weights) for what, program in rules_of(game).items()},
        "judge": to_json(judge_of(agent, game), weights),
        "settings": settings,
        "sizes": [leaf.size for leaf in flat(states[0])],
        "count": len(states),
        "simulations": simulations,
    }
    (tmp_path / "task.json").write_text(json.dumps(task))
    (tmp_path / "weights.bin").write_bytes(bytes(weights.data))
    write_states(tmp_path, states)
    theirs = answer(engine, "search", tmp_path)
    analyst = agent.analyst(game, simulations=simulations, search=kind)
    ours = jax.jit(analyst)(jax.random.key(0), jax.tree.map(lambda *x: jnp.stack(x), *states))
    same = [
        said["visits"] == visits.tolist()
        for said, visits in zip(theirs, np.asarray(ours.visits), strict=True)
    ]
    # Networks agree to a millionth, which decides where two moves are as good as equal.
    assert np.mean(same) > 0.8
    agreed = [said["action"] == int(action) for said, action in zip(theirs, ours.action, strict=True)]
    assert np.mean(agreed) > 0.8


@needs_node
def test_halvings_are_those_of_mctx(engine, tmp_path):
    cases = [(16, 100), (16, 10), (5, 37), (2, 7), (1, 4)]
    (tmp_path / "task.json").write_text(json.dumps(cases))
    expected = [list(get_sequence_of_considered_visits(*case)) for case in cases]
    assert answer(engine, "halvings", tmp_path) == expected


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A page with fresh networks."""
    folder = tmp_path_factory.mktemp("sites") / "site"
    agents = {name: tiny_agent(name, "model3", (5,)) for name in ("gomoku", "othello", "go")}
    write_site(folder, agents, (5, 6), report=lambda line: None)
    return folder


def told(engine: Path, site: Path, messages: list[dict], tmp_path: Path) -> list[list[dict]]:
    """The events of a table after each message, those of its beginning first."""
    shutil.copytree(site / "data", tmp_path / "data")
    (tmp_path / "messages.json").write_text(json.dumps(messages))
    return answer(engine, "table", tmp_path)


def opening(game: str, dark: str, light: str, size: int = 5, **more):
    facts = {
        "do": "open",
        "game": game,
        "size": size,
        "shape": None,
        "options": {},
        "dark": dark,
        "light": light,
    }
    return {**facts, "simulations": 4, "seconds": None, "moves": [], "resigned": None, **more}


def games(events: list[dict]) -> list[dict]:
    return [event for event in events if event["is"] == "game"]


@needs_node
def test_a_table_plays_takes_back_and_keeps_records(engine, site, tmp_path):
    messages = [
        opening("gomoku", "person", "gomoku"),
        {"do": "play", "move": "C3"},
        {"do": "undo"},
        {"do": "redo"},
        {"do": "play", "move": "C3"},
        {"do": "save"},
        {"do": "seats", "dark": "gomoku", "light": "person", "simulations": 2, "seconds": None},
        {"do": "resign"},
        {"do": "play", "move": "A1"},
    ]
    beginning, opened, played, undone, redone, again, saved, _, resigned, over = told(
        engine, site, messages, tmp_path
    )
    assert beginning[0]["is"] == "welcome"
    assert [game["sizes"] for game in beginning[0]["games"]] == [[5, 6]] * 3
    assert games(opened)[-1]["to_play"] == 1
    assert len(games(played)[-1]["moves"]) == 2
    analysis = [event for event in played if event["is"] == "analysis"][-1]
    assert sum(analysis["visits"]) == analysis["simulations"] == 4
    assert 0 < analysis["chance"] < 1
    assert games(undone)[-1]["moves"] == []
    assert games(undone)[-1]["can_redo"]
    assert games(redone)[-1]["moves"] == games(played)[-1]["moves"]
    assert "C3 is illegal" in again[-1]["text"]
    record = from_sgf(saved[0]["text"])
    assert (record.game.name, record.size, len(record.actions)) == ("gomoku", 5, 2)
    assert games(resigned)[-1]["result"].endswith("+R")
    assert "the game is over" in over[-1]["text"]


@needs_node
def test_two_players_play_whole_games_by_the_rules(engine, site, tmp_path):
    names = ("gomoku", "othello", "go")
    messages = [opening(name, "greedy", name, simulations=1) for name in names]
    for name, events in zip(names, told(engine, site, messages, tmp_path)[1:], strict=True):
        last = games(events)[-1]
        assert last["over"], name
        game = make_game(name, 5)
        state, step = game.init(5), jax.jit(game.step)
        for move in last["moves"]:
            action = 25 if move == "pass" else 5 * (int(move[1:]) - 1) + ord(move[0]) - ord("A")
            assert state.legal[action]
            state = step(state, action)
        assert state.terminated
        assert int(state.outcome) == last["outcome"]
        assert np.asarray(state.board).reshape(-1).tolist() == last["board"]


@needs_node
def test_mistakes_leave_the_game_as_it_was(engine, site, tmp_path):
    messages = [
        {"do": "play", "move": "A1"},
        opening("gomoku", "person", "person", moves=["A1"]),
        opening("chess", "person", "person"),
        opening("gomoku", "person", "gomoku", size=9),
        opening("gomoku", "person", "go"),
        opening("gomoku", "person", "person", moves=["A1", "A1"]),
        {"do": "play", "move": "Z9"},
        {"do": "load", "sgf": "junk"},
        {"do": "undo"},
        {"do": "undo"},
        {"do": "dance"},
    ]
    problems = [
        "there is no game yet", None, "no game chess", "on sides 5, 6; 9 is none of them",
        "no player go of gomoku", "do not fit: A1 is illegal", "Z9 is no move", "reads games of", None,
        "nothing to take back", "does not know",
    ]  # fmt: skip
    events = told(engine, site, messages, tmp_path)[1:]
    for problem, heard in zip(problems, events, strict=True):
        if problem:
            assert problem in heard[-1]["text"], heard
    assert games(events[8])[-1]["moves"] == []


@needs_node
def test_records_of_ours_are_read_and_drawn_boards_are_played(engine, site, tmp_path):
    game = make_game("othello", 6)
    actions, _ = random_games(game, 6, 1, 6)
    record = to_sgf(game, 6, actions[0].tolist())
    drawing = "...../...../..#../...../....."
    messages = [
        {"do": "load", "sgf": record},
        {"do": "load", "sgf": "(;GM[1]SZ[5]KM[0.5];B[aa])"},
        opening("gomoku", "person", "gomoku", shape=drawing),
        {"do": "play", "move": "C3"},
        {"do": "play", "move": "B2"},
        opening("gomoku", "person", "gomoku", shape="####./#####/#####/#####/.####"),
    ]
    _, loaded, komi, drawn, hole, played, tiny = told(engine, site, messages, tmp_path)
    assert games(loaded)[-1]["moves"] == [f"{chr(65 + a % 6)}{a // 6 + 1}" for a in actions[0].tolist()]
    assert "this page plays with KM" in komi[-1]["text"]
    assert games(drawn)[-1]["points"].count("0") == 1
    assert "C3 is illegal" in hole[-1]["text"]
    assert len(games(played)[-1]["moves"]) == 2
    assert tiny[-1]["is"] in ("error", "game")


def test_a_folder_is_written_once_and_what_cannot_play_is_named(tmp_path):
    agent = tiny_agent("gomoku", "model3", (5,))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ValueError, match="is not empty; name a new folder"):
        write_site(tmp_path / "full", {"gomoku": agent})
    with pytest.raises(ValueError, match="a page needs a player"):
        write_site(tmp_path / "new", {})
    with pytest.raises(ValueError, match="side 30 is too large for a page"):
        write_site(tmp_path / "new", {"gomoku": agent}, (30,))
    with pytest.raises(ValueError, match="fixed does not play on side 9"):
        write_site(tmp_path / "new", {"fixed": tiny_agent("gomoku", "model1", (5,))}, (9,))
    assert not (tmp_path / "new").exists()


def test_the_command_writes_a_page_and_says_how_to_look_at_it(tmp_path, capsys):
    tiny_agent("gomoku", "model3", (5,)).export(tmp_path / "mine.npz")
    main.main(["export-web", str(tmp_path / "site"), "--agent", str(tmp_path / "mine.npz"), "--sizes", "5"])
    assert "python3 -m http.server" in capsys.readouterr().out
    about = json.loads((tmp_path / "site" / "data" / "about.json").read_text())
    assert list(about["players"]) == ["mine"]
    assert {"index.html", "main.js", "engine.js", "worker.js"} <= {
        p.name for p in (tmp_path / "site").iterdir()
    }
    with pytest.raises(SystemExit):
        main.main(["export-web", str(tmp_path / "site"), "--agent", str(tmp_path / "mine.npz")])
