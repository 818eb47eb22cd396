"""Boards of any shape: what they are called, the rules on them, and that nothing else has to know."""

import functools
import re
from pathlib import Path

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import saz_jax
from experiments import shapes as script
from saz_jax import make_game, shapes
from saz_jax.arena import series
from saz_jax.config import SelfPlayConfig, SubgraphConfig, TrainConfig, from_json, to_json
from saz_jax.config.shape_text import parse_shapes
from saz_jax.games.board import is_connected, symmetry
from saz_jax.games.go import FAIR_KOMI, fair_komi
from saz_jax.games.playthrough import random_games
from saz_jax.graphs.subgraphs import sample_subgraphs, subgraph_counts
from saz_jax.render import sgf, svg, text
from saz_jax.storage.results import write_json
from saz_jax.studies import shapes as study
from saz_jax.training import iteration, loop, selfplay
from saz_jax.training.learner import Batch, transformed
from saz_jax.training.replay import Positions
from saz_jax.types import Observation
from tests.oracles.go import GoOracle
from tests.oracles.gomoku import Gomoku
from tests.oracles.hex import Hex
from tests.oracles.othello import Othello

SIDE = 7
BOOT = """
    ..###
    ..###
    .....
    .....
"""
BOARDS = {
    "rectangle": shapes.rectangle(4, 7),
    "tall": shapes.rectangle(6, 3),
    "diamond": shapes.diamond(7),
    "cross": shapes.cross(7),
    "ring": shapes.ring(7),
    "boot": shapes.from_text(BOOT),
    "holes": np.asarray(shapes.holes(jax.random.key(2), 7, 0.15)),
    "square": shapes.rectangle(5, 5),
}


def padded(points, side=SIDE):
    return np.pad(points, [(0, side - length) for length in points.shape])


# What shapes are called


def test_outlines_are_what_their_names_say():
    assert shapes.to_text(shapes.diamond(5)) == "##.##/#...#/...../#...#/##.##"
    assert shapes.to_text(shapes.diamond(4)) == "#..#/..../..../#..#"
    assert shapes.to_text(shapes.cross(6)) == "##..##/##..##/....../....../##..##/##..##"
    assert shapes.to_text(shapes.ring(6)) == "....../....../..##../..##../....../......"
    assert shapes.to_text(shapes.rectangle(3, 2)) == "3x2"


@pytest.mark.parametrize("name", BOARDS)
def test_the_text_of_a_shape_reads_back(name):
    points = BOARDS[name]
    for wide in (points, padded(points, 9)):
        assert (shapes.from_text(shapes.to_text(wide)) == points).all()


def test_text_names_shapes_for_command_lines():
    said = parse_shapes("9x9 7x11 holes:9:0.1 diamond:8 ..#/...")
    assert [(s.rows, s.columns, s.share) for s in said[:3]] == [(9, 9, 0), (7, 11, 0), (9, 9, 0.1)]
    assert [s.side for s in said] == [9, 11, 9, 8, 3]
    assert parse_shapes(["9x9", "7x11 holes:9:0.1"]) == said[:3]


@pytest.mark.parametrize(
    "bad",
    [
        "9y9",
        "holes:9",
        "9x9:0.1",
        "star:9",
        "holes:9:1",
        "holes:9:.5",
        "ring:3x4",
        "0x3",
        "3x0",
        "../.",
        "#/#",
    ],
)
def test_a_text_that_names_no_shape_is_refused(bad):
    with pytest.raises(ValueError, match=r"use "):
        parse_shapes(bad)


def test_random_shapes_have_no_one_drawing():
    with pytest.raises(ValueError, match="drawn at random"):
        shapes.from_text("holes:9:0.1")
    with pytest.raises(ValueError, match="fall to pieces"):
        shapes.holes(jax.random.key(0), 9, 0.6)


@given(st.integers(0, 1000), st.sampled_from([0.05, 0.1, 0.2, 0.3]))
def test_random_holes_leave_a_connected_board_of_about_that_share(seed, share):
    points = np.asarray(shapes.holes(jax.random.key(seed), 9, share))
    assert is_connected(points)
    assert points.sum() <= 81 - round(81 * share)
    assert points.sum() > 81 * (1 - share) * 0.6


def test_random_holes_do_not_depend_on_the_padding():
    key = jax.random.key(5)
    small = shapes.random_holes(key, jnp.ones((6, 6), bool), 0.2)
    large = shapes.random_holes(key, jnp.pad(jnp.ones((6, 6), bool), (0, 3)), 0.2)
    assert (jnp.pad(small, (0, 3)) == large).all()


# The rules on them


def oracle_of(name, points):
    board = [tuple(point) for point in np.argwhere(points).tolist()]
    area = len(board)
    return {
        "othello": lambda: Othello(board),
        "gomoku": lambda: Gomoku(board, k=4),
        "go": lambda: GoOracle(board, komi=fair_komi(area)),
        "hex": lambda: Hex(board, swap=True),
    }[name]()


OPTIONS = {"othello": {}, "gomoku": {"k": 4}, "go": {}, "hex": {"swap": True}}


@pytest.mark.parametrize("name", OPTIONS)
def test_random_games_on_shapes_are_those_of_plain_rules_without_padding(name):
    game = make_game(name, SIDE + 1, **OPTIONS[name])
    names = [n for n in BOARDS if not game.shape_problem(padded(BOARDS[n], SIDE + 1))]
    assert len(names) >= 7
    boards = np.stack([padded(BOARDS[n], SIDE + 1) for n in names])
    states, actions = random_games(game, boards, seed=4, length=game.max_moves)
    over, state = False, jax.tree.map(lambda x: x[0, 0], states)
    for which, points in enumerate(boards):
        plain = oracle_of(name, points)
        for t in range(game.max_moves):
            state = jax.tree.map(lambda x, t=t, which=which: x[t, which], states)
            stones = {tuple(p): int(state.board[tuple(p)]) for p in np.argwhere(state.board).tolist()}
            assert stones == plain.stones
            over = plain.ended() if name == "go" else plain.over
            assert state.terminated == over
            if over:
                break
            legal = plain.legal() | {None} if name == "go" else plain.legal
            free = np.argwhere(state.legal[:-1].reshape(state.board.shape)).tolist()
            assert {tuple(p) for p in free} | ({None} if state.legal[-1] else set()) == legal
            action = int(actions[t, which])
            plain.play(None if action == game.num_actions - 1 else divmod(action, SIDE + 1))
        assert over
        assert state.outcome == (plain.outcome() if name == "go" else plain.outcome)


REFUSED = {
    "othello": [(".#./#.#/.#.", "no 2x2 of points"), ("..###/..###/###../#####", "nobody could move")],
    "go": [("..#../..#..", "not connected")],
    "gomoku": [("..../..../..../....", "its side is 4"), ("#...#/....#/#..../#....", "no line of 5")],
    "hex": [(".##/..#/##.", "not connected"), ("....", "2 or more rows and columns")],
}


@pytest.mark.parametrize(("name", "drawing", "message"), [(n, *r) for n in REFUSED for r in REFUSED[n]])
def test_a_shape_that_makes_no_sense_is_refused_and_drawn(name, drawing, message):
    points = np.array([[character == "." for character in row] for row in drawing.split("/")])
    with pytest.raises(ValueError, match=message) as refusal:
        make_game(name, 9).init(points)
    drawn = str(refusal.value).partition("\n")[2].replace("\n", "/")
    assert shapes.to_text(points) in (drawn, "4x4", "1x4")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 10), "10 columns do not fit max_size=9; raise max_size"),
        ((0, 3), "0 rows do not fit"),
        ((3, 4, 5), "a pair of whole numbers"),
        ((3.0, 4), "a pair of whole numbers"),
        (("6", 4), "a pair of whole numbers"),
        ((True, 4), "a pair of whole numbers"),
        (jax.random.key(0), "must be one whole number"),
        ([6, 9], "must be one whole number.* a tuple \\(rows, columns\\)"),
        (np.zeros((4, 4), bool), "a mask without points is no board"),
        (np.ones((3, 3)), "not float64\\[3, 3\\]"),
        (np.ones((10, 3), bool), "10 x 3 points exceeds max_size=9"),
    ],
)
def test_what_is_no_shape_is_named_with_the_remedy(shape, message):
    with pytest.raises(ValueError, match=message):
        make_game("othello", 9).init(shape)


def test_stones_outside_the_shape_are_refused():
    with pytest.raises(ValueError, match="stones where its shape has no points"):
        make_game("go", 9).setup(np.ones((9, 9)), (3, 4), 1)


def test_go_takes_its_komi_from_the_number_of_points():
    assert [fair_komi(n * n) for n in range(2, 12)] == [*FAIR_KOMI[2:], 7.0, 7.0]
    assert fair_komi(6 * 8) == FAIR_KOMI[7]


def test_squares_rectangles_and_masks_mix_in_one_batch():
    game = make_game("gomoku", SIDE, k=3)
    boards = jnp.asarray(np.stack([padded(points) for points in BOARDS.values()]))
    states = jax.jit(jax.vmap(game.init))(boards)
    assert states.legal.sum(1).tolist() == [int(points.sum()) for points in BOARDS.values()]
    assert states.size.tolist() == [max(points.shape) for points in BOARDS.values()]


def test_rows_and_columns_may_be_traced():
    game, pairs = make_game("gomoku", SIDE, k=3), jnp.array([(4, 7), (6, 3), (5, 5)])
    chex.clear_trace_counter()
    rectangle = chex.assert_max_traces(lambda pair: game.init((pair[0], pair[1])), n=1)
    traced = jax.jit(jax.vmap(rectangle))(pairs)
    masks = jnp.asarray([padded(shapes.rectangle(*pair)) for pair in pairs.tolist()])
    given = jax.jit(jax.vmap(game.init))(masks)
    assert all((a == b).all() for a, b in zip(*map(jax.tree.leaves, (traced, given)), strict=True))


# What looks at positions


def test_a_turned_position_keeps_its_points():
    seen = Observation(
        board=jnp.zeros((7, 7), jnp.int8),
        points=jnp.asarray(padded(shapes.rectangle(3, 5))),
        size=jnp.int32(5),
        to_play=jnp.int8(1),
        legal=jnp.append(jnp.asarray(padded(shapes.rectangle(3, 5))).reshape(-1), False),
    )
    batch = Batch(seen, seen.legal / 15, jnp.float32(0))
    for which in range(8):
        turned = transformed(batch, jnp.int32(which)).observation
        assert (turned.points.reshape(-1) == turned.legal[:-1]).all()
        assert turned.points.sum() == 15
        assert turned.points[:5, :5].sum() == 15
        expected = seen.points.reshape(-1)[symmetry(which, 5, 7)[:-1]]
        assert (turned.points.reshape(-1) == expected).all()


def test_subgraphs_are_counted_by_points():
    counts = subgraph_counts(SubgraphConfig(), 9)
    assert counts[6 * 6] == counts[4 * 9] == 3
    assert counts[81] > counts[48]


@pytest.mark.parametrize("nodes", ["uniform", "window"])
def test_subgraphs_are_as_large_as_those_of_the_square_of_as_many_points(nodes):
    """On 36 points n is 6, so that a subgraph has from 3 x 3 to 4 x 4 of them where they are all inside."""
    config = SubgraphConfig(shrink=2, nodes=nodes)
    for points in (shapes.rectangle(4, 9), shapes.rectangle(6, 6)):
        live = jnp.append(jnp.asarray(padded(points, 9)).reshape(-1), True)
        keys = jax.random.split(jax.random.key(0), 60)
        drawn = jax.vmap(lambda key, live=live: sample_subgraphs(key, live, config, 9))(keys)
        assert not drawn[..., ~live].any()
        counts = np.asarray(drawn[..., :-1].sum(-1))[np.asarray(drawn[..., -1])]
        assert (counts.min(), counts.max()) == (3 * 3, 4 * 4)


@pytest.mark.parametrize("name", ["diamond", "boot", "rectangle"])
def test_drawings_of_positions_read_back(name):
    game = make_game("othello", 9)
    state = game.init(BOARDS[name])
    again = text.parse(game, text.draw(state))
    for field in ("board", "points", "size", "legal"):
        assert (getattr(again, field) == getattr(state, field)).all()


@pytest.mark.parametrize("kind", ["othello", "hex"])
@pytest.mark.parametrize("name", [*BOARDS, "wide"])
def test_boards_on_screen_and_pictures_read_back(name, kind):
    points = shapes.rectangle(3, 28) if name == "wide" else BOARDS[name]  # columns A to AB
    game = make_game(kind, 28 if name == "wide" else 9)
    start = game.init(points)
    action = int(np.flatnonzero(start.legal)[1])
    for state, last_move in ((start, None), (game.step(start, action), action)):
        shown = text.show(state, last_move, game)
        for again in (text.parse(game, shown), svg.parse(game, svg.render(state, game, last_move=last_move))):
            for field in ("board", "points", "size", "to_play", "legal"):
                assert (getattr(again, field) == getattr(state, field)).all()


def test_what_is_no_board_on_screen_is_refused():
    game = make_game("gomoku", 9, k=3)
    with pytest.raises(ValueError, match=r"as text.show prints it; give it whole"):
        text.parse(game, "●··\n···\n···")
    with pytest.raises(ValueError, match="row 2 has 'o' where a point should be"):
        text.parse(game, "  A B C\n1 · · ·\n2 · o ·\n3 · · ·")
    with pytest.raises(ValueError, match=r"use one that svg.render made"):
        svg.parse(game, "<svg></svg>")


def test_the_board_on_screen_leaves_holes_blank():
    state = make_game("gomoku", 9, k=3).init(shapes.from_text("..#./...."))
    assert text.show(state).splitlines()[:3] == ["  A B C D", "1 · ·   ·", "2 · · · ·"]


def test_slanted_rows_leave_holes_blank():
    game = make_game("hex", 9)
    state = game.init(shapes.from_text("..#./#.../...."))
    assert text.show(state, game=game).splitlines()[:4] == [
        "  A B C D",
        "1 · ·   ·",
        " 2   · · ·",
        "  3 · · · ·",
    ]


def test_moves_are_read_by_shape():
    points = padded(BOARDS["boot"], 9)
    assert text.parse_move("E3", points, 9) == 2 * 9 + 4
    with pytest.raises(ValueError, match="no point there"):
        text.parse_move("E1", points, 9)
    with pytest.raises(ValueError, match="4 rows and 5 columns; use a point from A1 to E4"):
        text.parse_move("A5", points, 9)


def test_pictures_show_the_points_and_no_others():
    state = make_game("gomoku", 9, k=3).init(BOARDS["boot"])
    picture = svg.render(state, "othello", heat=np.ones(82))
    assert picture.count('class="point"') == picture.count('class="heat"') == BOARDS["boot"].sum()
    assert 'viewBox="0 0 248 208"' in picture
    lines = svg.render(state, "go")
    assert lines.count("H") == 4  # a line along each row
    assert lines.count("V") == 5


def test_hexagons_are_drawn_for_the_points_and_sides_for_their_rectangle():
    state = make_game("hex", 9).init(BOARDS["boot"])
    picture = svg.render(state, "hex", heat=np.ones(82))
    assert picture.count("<polygon points=") == picture.count('class="heat"') == BOARDS["boot"].sum()
    top, bottom = re.findall(r'<polyline points="(.*?)" fill="none" stroke="#1b1b1b"', picture)
    assert len(top.split()) == len(bottom.split()) == 3 * 5
    left, right = re.findall(r'<polyline points="(.*?)" fill="none" stroke="#fdfcf8"', picture)
    assert len(left.split()) == len(right.split()) == 2 * 4


@pytest.mark.parametrize("kind", ["othello", "hex"])
@pytest.mark.parametrize("name", ["rectangle", "diamond", "holes", "tall"])
def test_games_on_shapes_survive_sgf(name, kind):
    pytest.importorskip("sgfmill")
    game, points = make_game(kind, SIDE + 2), BOARDS[name]
    _, actions = random_games(game, padded(points, SIDE + 2)[None], seed=1, length=8)
    record = sgf.to_sgf(game, points, actions[:, 0])
    again = sgf.from_sgf(record, max_size=SIDE + 2)
    assert again.actions == tuple(actions[:, 0].tolist())
    assert (again.points == padded(points, SIDE + 2)).all()
    rows, columns = points.shape
    assert (f"SZ[{columns}:{rows}]" in record) == (rows != columns)
    assert ("XH[" in record) == (not points.all())


def test_holes_off_the_board_are_refused():
    pytest.importorskip("sgfmill")
    with pytest.raises(ValueError, match=r"XH.dd. is off its 2 x 3 board"):
        sgf.from_sgf("(;GM[1]SZ[3:2]XH[dd])")


# Players, self-play and matches


@functools.cache
def analyst(max_size):
    agent = saz_jax.load_agent("othello")
    return agent.analyst(agent.game(max_size), simulations=4)


def test_a_shipped_agent_plays_a_drawn_board_and_padding_changes_nothing():
    found = []
    for side in (SIDE, SIDE + 2):
        game = saz_jax.load_agent("othello").game(side)
        states = jax.vmap(game.init)(jnp.asarray([padded(BOARDS[n], side) for n in ("diamond", "boot")]))
        output = analyst(side)(jax.random.key(3), states)
        assert states.legal[jnp.arange(2), output.action].all()
        moves = [text.move_name(int(action), side) for action in output.action]
        policy = output.policy[:, :-1].reshape(2, side, side)[:, :SIDE, :SIDE]
        found.append((moves, np.asarray(output.value), np.asarray(policy)))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-5)
    np.testing.assert_allclose(found[0][2], found[1][2], atol=1e-5)


def test_new_games_draw_shapes_and_other_holes_each_time():
    game = make_game("gomoku", 7, k=3)
    new_games = selfplay.make_new_games(
        game, ("5x7", "holes:6:0.2", "diamond:7"), SelfPlayConfig(favour="none")
    )
    states = jax.jit(new_games, static_argnums=1)(jax.random.key(0), 60)
    points = [shapes.to_text(one) for one in np.asarray(states.points)]
    fixed = {"5x7", shapes.to_text(shapes.diamond(7))}
    assert fixed <= set(points)
    drawn = [text for text in points if text not in fixed]
    assert len(set(drawn)) == len(drawn) > 10
    assert (states.legal.sum(1) == states.points.sum((1, 2))).all()


def test_a_game_that_could_not_begin_among_holes_takes_the_whole_board():
    game = make_game("othello", 3)
    boards = shapes.make_boards(["holes:3:0.4"], 3)
    points = shapes.draw_boards(game, jax.random.key(0), boards, jnp.zeros(40, int))
    states = jax.vmap(game.init)(points)
    assert not states.terminated.any()
    assert points.all((1, 2)).any()


def test_settings_of_shapes_survive_json_and_old_ones_have_none():
    config = TrainConfig(shapes=("9x9 7x11", "holes:9:0.1"))
    assert from_json(TrainConfig, to_json(config)) == config
    assert config.boards == ("9x9", "7x11", "holes:9:0.1")
    assert config.sides == (9, 11)
    old = {name: value for name, value in to_json(TrainConfig()).items() if name != "shapes"}
    assert from_json(TrainConfig, old).boards == (5, 6, 7, 8, 9)


def test_matches_are_played_on_shapes(tmp_path):
    config = series.MatchConfig(
        "gomoku",
        "greedy",
        "random",
        shapes=("3x5", "holes:5:0.2"),
        games=4,
        runs=1,
        game_options={"k": 3},
    )
    records = tmp_path / "records"
    found = series.play(series.prepare(config, tmp_path / "out.json", records))
    assert list(found["sizes"]) == ["3x5", "holes:5:0.2"]
    assert all(
        sum(result[name] for name in ("wins", "ties", "losses")) == 4 for result in found["sizes"].values()
    )
    boards = {sgf.from_sgf(path.read_text()).points.tobytes() for path in records.glob("*holes*.sgf")}
    assert len(boards) == 2  # one for each opening


def test_a_match_takes_any_mix_of_shapes():
    game = make_game("gomoku", 6, k=3)
    boards = [5, (3, 6), shapes.diamond(5), "holes:6:0.1"]
    assert saz_jax.play_match(game, "greedy", "random", jax.random.key(0), boards).shape == (4,)


def test_checkpoints_from_before_shapes_hold_squares():
    games = {
        "state/games/board": np.zeros((2, 5, 5), np.int8),
        "state/games/size": np.array([3, 5], np.int32),
    }
    points = loop.migrated_games(games)["state/games/0/points"]
    assert [shapes.to_text(one) for one in points] == ["3x3", "5x5"]
    columns = Positions.blank(5, 2).columns() | {"size": games["state/games/size"]}
    del columns["points"]
    assert (Positions.from_columns(columns).observation.points == points).all()


@pytest.mark.parametrize(("rows", "columns", "k"), [(3, 5, 3), (6, 4, 4), (5, 9, 5)])
def test_gomoku_on_rectangles_agrees_with_openspiel(rows, columns, k):
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game(f"mnk(m={columns},n={rows},k={k})")
    game = make_game("gomoku", 9, k=k)
    boards = np.repeat(padded(shapes.rectangle(rows, columns), 9)[None], 12, axis=0)
    states, actions = random_games(game, boards, seed=6, length=rows * columns)
    for which in range(len(boards)):
        state = theirs.new_initial_state()
        for t in range(rows * columns + 1):
            assert bool(states.terminated[t, which]) == state.is_terminal()
            if state.is_terminal():
                assert state.returns()[0] == states.outcome[t, which]
                break
            legal = np.argwhere(states.legal[t, which][:-1].reshape(9, 9))
            assert [row * columns + column for row, column in legal.tolist()] == state.legal_actions()
            row, column = divmod(int(actions[t, which]), 9)
            state.apply_action(row * columns + column)
        assert state.is_terminal()


def stored_result(wins, losses):
    return {"wins": wins, "ties": 0, "losses": losses}


def test_the_study_of_shapes_is_rebuilt_from_its_files(tmp_path):
    pytest.importorskip("matplotlib")
    matches = study.matches(study.shipped("othello"), "othello", 12, 10, 1, 8)
    pairs = ("graph-fcn", "graph-greedy", "fcn-greedy")
    assert list(matches) == [f"othello-12-{pair}.json" for pair in pairs]
    assert len(matches["othello-12-graph-fcn.json"].boards) == len(study.KINDS)
    sizes = {
        "12x12": stored_result(90, 10),
        "ring:12": stored_result(80, 20),
        "cross:12": stored_result(10, 90),
    }
    write_json(tmp_path / "othello-12-graph-fcn.json", {"sizes": sizes})
    assert "| ring | 0.80 (0.71 to 0.87) |" in study.table(tmp_path)
    assert "neither wins. graph scores 0.45 (0.38 to 0.52) against fcn in 200" in study.verdict(tmp_path)
    assert "ahead beyond the 95% interval on ring, behind on cross." in study.verdict(tmp_path)
    assert study.figure(tmp_path, tmp_path / "shapes.png").stat().st_size > 1000


def test_the_table_of_the_study_is_that_of_its_files():
    folder = Path(__file__).parent.parent / "results" / "shapes"
    assert (folder / "table.md").read_text() == study.page(folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--seeds 1", "seeds=1 is too few; use 2 or more"),
        ("--seeds 9", "seeds=9 is too many; use at most 8"),
        ("--iterations 0", "iterations=0 is too few"),
        ("--train chess", "unknown game 'chess'"),
    ],
)
def test_mistakes_about_the_study_are_named_before_anything_is_played(arguments, message, capsys, tmp_path):
    with pytest.raises(SystemExit) as exit:
        script.main([*arguments.split(), "--results", str(tmp_path / "none")])
    assert exit.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_seeds_are_one_pairing_and_their_spread_widens_the_interval(tmp_path):
    for seed, wins in enumerate((90, 80, 10)):
        name = f"othello-12-graph.shapes{seed}-fcn.shapes{seed}.json"
        write_json(tmp_path / name, {"sizes": {"ring:12": stored_result(wins, 100 - wins)}})
    (pairing,) = study.results(tmp_path)
    assert (pairing.trained, pairing.player, pairing.opponent) == (True, "graph", "fcn")
    found = pairing.on(["ring:12"])
    assert found is not None
    assert (found["outcome"], found["seeds"]) == (0.6, [0.9, 0.8, 0.1])
    assert found["interval"] == (0.0, 1.0)  # 4.30 times 0.25, the standard error over three seeds
    assert "neither wins" in study.verdict(tmp_path)


@pytest.mark.parametrize("network", study.NETWORKS)
def test_both_networks_of_the_study_train_on_the_same_shapes(network):
    config = study.training("gomoku", network, seed=2)
    assert (config.boards, config.seed, config.evaluation.games) == (study.TRAINED_ON, 2, 0)
    assert config.model == study.NETWORKS[network]
    iteration.make_program(config)
