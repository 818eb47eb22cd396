"""Breakthrough against OpenSpiel, a plain oracle and solved boards; its score, names and planes."""

import dataclasses
import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import saz_jax
from saz_jax import make_game
from saz_jax.agents.players import greedy_player
from saz_jax.games import breakthrough, shapes
from saz_jax.games.actions import action_of, source_and_target
from saz_jax.games.notation import draw, move_name, parse_move
from saz_jax.games.playthrough import random_games
from saz_jax.graphs.topology import observe
from saz_jax.render import svg, text
from tests.oracles import breakthrough as oracle

SIDE = 8
GAME = make_game("breakthrough", SIDE)
INIT, SETUP, STEP = jax.jit(GAME.init), jax.jit(GAME.setup), jax.jit(GAME.step)
SMALL = make_game("breakthrough", 4)
STEPS = jax.jit(jax.vmap(jax.vmap(SMALL.step, (None, 0)), (0, None)))
BOARDS = [(3, 3), (4, 4), (4, 7), (5, 5), (5, 8), (6, 2), (7, 3), (8, 8)]


def mask(rows, columns, side=SIDE):
    return np.pad(shapes.rectangle(rows, columns), [(0, side - rows), (0, side - columns)])


def stones_of(state):
    board = np.asarray(state.board)
    return {(r, c): int(board[r, c]) for r, c in np.argwhere(board).tolist()}


def legal_moves(state, game=GAME):
    actions = np.flatnonzero(state.legal).tolist()
    return sorted(
        source_and_target(a, game.max_size, game.moves) for a in actions if a < len(state.legal) - 1
    )


def test_every_move_of_random_games_agrees_with_the_oracle():
    states, actions = random_games(GAME, np.stack([mask(*b) for b in BOARDS]), seed=1, length=GAME.max_moves)
    lengths = []
    for b, (rows, columns) in enumerate(BOARDS):
        stones, player, length = oracle.start(rows, columns), 1, 0
        for t, action in enumerate(actions[:, b].tolist()):
            state = jax.tree.map(lambda x, t=t, b=b: x[t, b], states)
            assert stones_of(state) == stones
            assert float(state.outcome) == oracle.winner(stones, rows)
            if state.terminated:
                break
            assert int(state.to_play) == player
            assert legal_moves(state) == oracle.moves(stones, rows, columns, player)
            assert not state.legal[-1], "there is always a move, so nobody passes"
            stones = oracle.play(stones, source_and_target(action, SIDE, GAME.moves))
            player, length = -player, length + 1
        lengths.append(length)
    assert min(lengths) >= 2
    assert max(lengths) > 20


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (4, 5), (6, 6), (7, 4), (8, 8), (6, 2)])
def test_games_agree_with_open_spiel(rows, columns):
    pyspiel = pytest.importorskip("pyspiel")
    other = pyspiel.load_game(f"breakthrough(rows={rows},columns={columns})")
    rng = random.Random(rows * 10 + columns)
    for _ in range(2):
        theirs, ours = other.new_initial_state(), INIT(mask(rows, columns))
        while not theirs.is_terminal():
            by_name = {theirs.action_to_string(a).rstrip("*"): a for a in theirs.legal_actions()}
            names = [move_name(a, SIDE, GAME.moves) for a in np.flatnonzero(ours.legal).tolist()]
            assert sorted(name.replace("-", "").lower() for name in names) == sorted(by_name)
            name = rng.choice(sorted(by_name))
            theirs.apply_action(by_name[name])
            ours = STEP(ours, parse_move(name, np.asarray(ours.points), SIDE, GAME.moves))
        assert ours.terminated
        assert float(ours.outcome) == theirs.returns()[0]


def test_open_spiel_plays_the_oracle_with_one_row_on_five():
    """OpenSpiel begins with two rows from side 6, we from side 5: there the oracle is compared instead."""
    pyspiel = pytest.importorskip("pyspiel")
    theirs, stones, player = (
        pyspiel.load_game("breakthrough(rows=5,columns=5)").new_initial_state(),
        oracle.start(5, 5, deep=1),
        1,
    )
    rng = random.Random(5)
    while not theirs.is_terminal():
        moves = {theirs.action_to_string(a).rstrip("*"): a for a in theirs.legal_actions()}
        ours = {f"{'abcde'[b]}{a + 1}{'abcde'[d]}{c + 1}": m for m in oracle.moves(stones, 5, 5, player)
                for (a, b), (c, d) in [m]}  # fmt: skip
        assert sorted(moves) == sorted(ours)
        name = rng.choice(sorted(moves))
        theirs.apply_action(moves[name])
        stones, player = oracle.play(stones, ours[name]), -player
    assert oracle.winner(stones, 5) == theirs.returns()[0]


@pytest.mark.parametrize(("rows", "columns", "winner"), [(4, 2, -1), (4, 3, 1)])
def test_small_boards_are_solved_through_step(rows, columns, winner):
    """Every position that can arise, level by level, and backwards from the ends."""
    start = SMALL.init((rows, columns))
    levels, edges, batch = [[start]], [], 128
    every = jnp.arange(SMALL.num_actions)
    while levels[-1]:
        found, after, links = {}, [], []
        for first in range(0, len(levels[-1]), batch):
            chunk = levels[-1][first : first + batch]
            states = jax.tree.map(lambda *x: jnp.stack(x), *(chunk + [chunk[-1]] * (batch - len(chunk))))
            nexts, legal, over = jax.device_get((STEPS(states, every), states.legal, states.terminated))
            for b in range(len(chunk)):
                children = []
                for action in [] if over[b] else np.flatnonzero(legal[b]).tolist():
                    key = nexts.board[b, action].tobytes()
                    if key not in found:
                        found[key] = len(after)
                        after.append(jax.tree.map(lambda x, b=b, a=action: x[b, a], nexts))
                    children.append(found[key])
                links.append(children)
        levels.append(after)
        edges.append(links)
    values: list[float] = []
    for level, links in zip(reversed(levels[:-1]), reversed(edges), strict=True):
        below, values = values, []
        for state, children in zip(level, links, strict=True):
            best = max if state.to_play == 1 else min
            values.append(best(below[c] for c in children) if children else float(state.outcome))
    assert values == [winner]
    assert oracle.solve(oracle.start(rows, columns), rows, columns, 1, {}) == winner


def test_larger_boards_are_solved_by_the_oracle():
    assert oracle.solve(oracle.start(4, 4), 4, 4, 1, {}) == 1
    assert oracle.solve(oracle.start(5, 2), 5, 2, 1, {}) == -1


def test_a_game_from_its_record():
    """A golden record: moves by name, the boards between, and the end."""
    state = INIT(5)
    assert draw(state).split() == ["OOOOO", "OOOOO", ".....", "XXXXX", "XXXXX"]
    for name in ("c4-c3", "D2xC3", "b4c3", "B2-C3", "D4-C3", "E2-E3", "C3-B2", "A2-A3", "B2-A1"):
        assert not state.terminated
        state = STEP(state, parse_move(name, 5, SIDE, GAME.moves))
    assert draw(state).split() == ["XOOOO", "..O..", "O...O", "X...X", "XXXXX"]
    assert state.terminated
    assert float(state.outcome) == 1.0
    assert np.flatnonzero(state.legal).tolist() == [GAME.num_actions - 1]


def test_a_side_without_stones_has_lost():
    state = SETUP(parse_board("...", ".O.", "X..", "..."), mask(4, 3), 1)
    state = STEP(state, action_of((2, 0), (1, 1), SIDE, GAME.moves))
    assert stones_of(state) == {(1, 1): 1}
    assert state.terminated
    assert float(state.outcome) == 1.0


def parse_board(*rows):
    board = np.zeros((SIDE, SIDE), np.int8)
    for r, row in enumerate(rows):
        board[r, : len(row)] = [{"X": 1, "O": -1, ".": 0}[x] for x in row]
    return board


def test_the_score_counts_stones_and_how_far_they_have_come():
    state = SETUP(parse_board(".O.", "...", "X.X", "..."), mask(4, 3), 1)
    # A stone is worth 4, the rows of the board; dark's have come one row each, light's none.
    assert float(GAME.heuristic(state, 1)) == 2 * (4 + 1) - 4
    assert float(GAME.heuristic(state, -1)) == 4 - 2 * (4 + 1)


def test_the_greedy_player_wins_at_once_else_captures_else_goes_on():
    play = jax.jit(greedy_player(GAME))
    for rows, allowed in (
        (("O..O", "..X.", ".O..", "X..."), {"C2-C1", "C2-D1", "C2-B1"}),
        (("OO..", "....", ".O..", "X..."), {"A4-B3"}),
        (("OO..", "....", "....", "X.X."), {"A4-A3", "A4-B3", "C4-B3", "C4-C3", "C4-D3"}),
    ):
        state = SETUP(parse_board(*rows), 4, 1)
        for seed in range(4):
            assert move_name(int(play(jax.random.key(seed), state)), SIDE, GAME.moves) in allowed


def test_networks_are_told_how_far_the_goals_are():
    seen = observe(INIT(mask(4, 3)))
    column = np.asarray(breakthrough.near_own_goal(seen))[:5, 0]
    np.testing.assert_allclose(column, [1, 1 / 2, 1 / 3, 1 / 4, 0])
    np.testing.assert_allclose(
        np.asarray(breakthrough.near_other_goal(seen))[:5, 0], [1 / 4, 1 / 3, 1 / 2, 1, 0]
    )
    light = seen._replace(to_play=jnp.int8(-1))
    np.testing.assert_array_equal(breakthrough.near_own_goal(light), breakthrough.near_other_goal(seen))


@pytest.mark.parametrize("points", [np.array([[1, 1], [1, 0], [1, 1]], bool), np.ones((5, 1), bool)])
def test_other_shapes_are_refused(points):
    with pytest.raises(ValueError, match="breakthrough cannot be played on this shape: it is"):
        GAME.init(points)


def test_an_action_off_the_board_is_named():
    with pytest.raises(ValueError, match="a step from A4 off the board"):
        GAME.step(GAME.init(5), 3 * SIDE)
    east = action_of((3, 4), (2, 5), SIDE, GAME.moves)
    with pytest.raises(ValueError, match="a step from E4 off the board"):
        GAME.step(GAME.init(5), east)  # on the padded board there is a point
    with pytest.raises(ValueError, match="H8, which is off the board"):
        GAME.step(GAME.init(5), SIDE * SIDE - 1)
    with pytest.raises(ValueError, match="out of range; use 0 to 384"):
        GAME.step(GAME.init(5), 385)
    for name, told in (("B4-B2", "no stone moves that way"), ("B4", "no stone moves"), ("B4-J3", "A1 to E5")):
        with pytest.raises(ValueError, match=told):
            parse_move(name, 5, SIDE, GAME.moves)
    with pytest.raises(ValueError, match="a stone is placed on one point"):
        parse_move("A1-A2", 5, 5)


def test_pictures_show_where_a_move_went():
    action = parse_move("B4-C3", 5, SIDE, GAME.moves)
    state = STEP(INIT(5), action)
    lines = text.show(state, action, GAME).splitlines()
    assert lines[3:5] == ["3 · ·(●)· ·", "4 ●(·)● ● ●"]
    assert "after move 1 (B4-C3)" in lines[-1]
    heat = np.zeros(GAME.num_actions)
    heat[action] = 0.5
    picture = svg.render(state, GAME, heat=heat, last_move=action)
    assert "<title>B4-C3 0.5</title>" in picture
    assert picture.count('class="last"') == 1


def test_agents_and_models_of_placing_games_refuse_it():
    agent = saz_jax.load_agent("gomoku")
    with pytest.raises(ValueError, match="trained on gomoku; it cannot play breakthrough"):
        agent.player(GAME)
    config: Any = dataclasses.replace(agent.model, name="model5")
    with pytest.raises(ValueError, match="whose moves have two ends; use model3"):
        saz_jax.models.make_model(config, GAME)
