"""Go: hand-drawn positions, whole games against a slow oracle, and against pgx where the rules agree."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx.go
import pytest

from saz_jax.games import go, make_game
from saz_jax.games.board import padded_to_live
from saz_jax.types import Game, GameState
from tests.oracles.go import GoOracle

SIDE = 9
PASS = SIDE * SIDE
COLOURS = {"X": 1, "O": -1, ".": 0}


def draw(text: str, to_play: int = 1, **options) -> tuple[Game, GameState]:
    """The position of an ASCII drawing: X dark, O light, '.' free; padded to side 9."""
    rows = text.split()
    board = np.zeros((SIDE, SIDE), np.int8)
    board[: len(rows), : len(rows)] = [[COLOURS[c] for c in row] for row in rows]
    game = make_game("go", SIDE, **options)
    return game, setup(game, board, len(rows), to_play)


def text(state: GameState) -> list[str]:
    n = int(state.size)
    return ["".join(".XO"[c] for c in row[:n]) for row in np.asarray(state.board)[:n]]


setup = jax.jit(lambda game, *args: game.setup(*args), static_argnums=0)
step = jax.jit(lambda game, *args: game.step(*args), static_argnums=0)


def play(game: Game, state: GameState, *moves: tuple[int, int] | None) -> GameState:
    for move in moves:
        assert may(state, move), f"{move} is illegal"
        state = step(game, state, PASS if move is None else move[0] * SIDE + move[1])
    return state


def may(state: GameState, move: tuple[int, int] | None) -> bool:
    return bool(state.legal[PASS if move is None else move[0] * SIDE + move[1]])


KO = """
    .XO..
    XO.O.
    .XO..
    .....
    ....."""


@pytest.mark.parametrize("superko", [True, False])
def test_a_ko_may_not_be_retaken_at_once_but_after_a_threat(superko):
    game, state = draw(KO, superko=superko)
    state = play(game, state, (1, 2))
    assert text(state)[1] == "X.XO."
    assert not may(state, (1, 1))
    state = play(game, state, (4, 4), (4, 0), (1, 1))
    assert text(state)[1] == "XO.O."


def test_a_position_that_is_set_up_has_no_history():
    game, state = draw(KO)
    taken = play(game, state, (1, 2))
    fresh = setup(game, taken.board, taken.size, taken.to_play)
    assert not may(taken, (1, 1))
    assert may(fresh, (1, 1))


@pytest.mark.parametrize("superko", [True, False])
def test_sending_two_returning_one_is_forbidden_by_superko_only(superko):
    game, state = draw(".X.XX OOX.. ..... ..... .....", superko=superko)
    start = text(state)
    state = play(game, state, (0, 0), (0, 2))
    assert text(state)[0] == "..OXX"
    assert may(state, (0, 1)) == (not superko)
    if not superko:
        assert text(play(game, state, (0, 1))) == start


TRIPLE_KO = """
    XO.O.OX.X
    .XO...OX.
    .........
    .........
    .........
    .........
    .........
    .XO......
    XO.O....."""


@pytest.mark.parametrize("superko", [True, False])
def test_a_triple_ko_ends_where_it_would_come_full_circle(superko):
    game, state = draw(TRIPLE_KO, superko=superko)
    start = text(state)
    state = play(game, state, (0, 2), (0, 7), (8, 2), (0, 1), (0, 6))
    assert may(state, (8, 1)) == (not superko)
    if not superko:
        assert text(play(game, state, (8, 1))) == start


def test_a_snapback_takes_more_than_it_gave():
    game, state = draw("..OX. OOOX. XXX.. ..... .....")
    state = play(game, state, (0, 0), (0, 1), (0, 0))
    assert text(state)[:2] == ["X..X.", "...X."]


CROSS = """
    ..X..
    .XOX.
    XO.OX
    .XOX.
    ..X.."""


def test_one_stone_captures_four_chains_though_it_has_no_liberty():
    game, state = draw(CROSS)
    state = play(game, state, (2, 2))
    assert text(state) == ["..X..", ".X.X.", "X.X.X", ".X.X.", "..X.."]


def test_suicide_of_one_stone_or_of_several_is_illegal():
    _, state = draw(CROSS, to_play=-1)
    assert not may(state, (2, 2))
    _, state = draw(".X... X.... ..... ..... .....", to_play=-1)
    assert not may(state, (0, 0))
    _, state = draw(".X... X.... ..... ..... .....", to_play=1)
    assert may(state, (0, 0))


def test_a_big_chain_met_from_two_sides_is_captured_once():
    game, state = draw(".OX.. OOX.. XX... ..... .....")
    state = play(game, state, (0, 0))
    assert text(state)[:3] == ["X.X..", "..X..", "XX..."]
    assert not may(state, (0, 0))
    assert may(state, (0, 1))


def test_two_passes_in_a_row_end_the_game_and_a_move_between_prevents_it():
    game, state = draw("..... ..... ..... ..... .....")
    state = play(game, state, None, (2, 2), None)
    assert not state.terminated
    assert state.outcome == 0
    state = play(game, state, None)
    assert state.terminated
    assert np.flatnonzero(state.legal).tolist() == [PASS]


@pytest.mark.parametrize(
    ("drawing", "area"),
    [
        ("..... ..... ..... ..... .....", 0),
        ("..... ..... ..X.. ..... .....", 25),
        ("..... .X... ..... ...O. .....", 0),
        (".XO.. .XO.. .XO.. .XO.. .XO..", -5),
        ("X.OX. X.OX. OOOX. XXXX. .....", 13),  # the liberties that a seki shares count for nobody
        (".X.O. XX.OO ..... XX.OO .X.O.", 0),
        (".X... X.... ..... ..... ...OO", 1),
    ],
)
def test_the_heuristic_is_the_difference_in_area_without_komi(drawing, area):
    game, state = draw(drawing, komi=50)
    assert game.heuristic(state, 1) == area
    assert game.heuristic(state, -1) == -area


def test_the_board_is_scored_when_the_move_cap_is_reached():
    game, state = draw("..... ..... ..... ..... .....", move_cap=3, komi=0.5)
    assert game.max_moves == 3
    state = play(game, state, (2, 2), (0, 0))
    assert not state.terminated
    state = play(game, state, (4, 4))
    assert state.terminated
    assert state.outcome == 1


def ended(drawing: list[str], **options) -> float:
    game, state = draw(" ".join(drawing), **options)
    return float(play(game, state, None, None).outcome)


@pytest.mark.parametrize(("size", "komi"), [(2, 1), (4, 2), (6, 4), (7, 9), (8, 10), (9, 7)])
def test_the_default_komi_ties_a_game_that_best_play_would_reach(size, komi):
    def outcome(dark: int) -> float:
        """Dark has `dark` stones and light one; all free points are neutral."""
        line = ("X" * dark).ljust(size * size - 1, ".") + "O"
        return ended([line[i : i + size] for i in range(0, size * size, size)])

    assert outcome(komi + 1) == 0
    assert outcome(komi) == -1
    assert outcome(komi + 2) == 1


@pytest.mark.parametrize("size", [3, 5])
def test_where_dark_can_own_the_board_only_the_whole_board_wins(size):
    free = "." * size
    assert ended(["X".ljust(size, ".")] + [free] * (size - 1)) == 1
    assert ended(["X" * size] + [free] * (size - 2) + ["O".ljust(size, ".")]) == -1


def test_boards_larger_than_the_table_take_its_last_komi():
    game = make_game("go", 13)
    board = np.zeros((13, 13), np.int8)
    board[0, :8], board[12, 12] = 1, -1
    state = setup(game, board, 13, 1)
    for _ in range(2):
        state = step(game, state, 169)
    assert state.terminated
    assert state.outcome == 0


@pytest.mark.parametrize(
    "options",
    [
        {"komi": float("nan")},
        {"komi": float("inf")},
        {"komi": "7.5"},
        {"komi": True},
        {"superko": 1},
        {"superko": None},
        {"move_cap": 0},
        {"move_cap": -3},
        {"move_cap": 10.0},
        {"move_cap": True},
    ],
)
def test_a_bad_option_is_named_with_its_value(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=name) as error:
        make_game("go", 5, **options)
    assert repr(value) in str(error.value)


def test_boards_beyond_sixteen_bits_are_refused():
    with pytest.raises(ValueError, match="128"):
        make_game("go", 128)


@functools.partial(jax.jit, static_argnums=(0, 1))
def random_games(game: Game, length: int, sizes, key):
    """(states[T + 1, B], actions[T, B]) of random games whose players seldom pass."""
    starts = jax.vmap(game.init)(sizes)

    def move(states, key):
        wish = jnp.where(states.legal, 0.0, -jnp.inf).at[:, -1].add(-3.0)
        actions = jax.random.categorical(key, wish)
        return jax.vmap(game.step)(states, actions), (states, actions)

    last, (states, actions) = jax.lax.scan(move, starts, jax.random.split(key, length))
    return jax.tree.map(lambda x, y: jnp.concatenate([x, y[None]]), states, last), actions


def check_against_oracle(game: Game, sizes: list[int], seed: int, every: int = 1) -> tuple[int, int]:
    """Replays random games in the oracle; returns how many moves superko alone forbade, and games capped."""
    options = dict(game.options)
    length = options["move_cap"] or 2 * max(sizes) ** 2
    states, actions = random_games(game, length, jnp.array(sizes), jax.random.key(seed))
    states, actions = jax.tree.map(np.asarray, (states._replace(aux=()), actions))
    forbidden = capped = 0
    for b, n in enumerate(sizes):
        komi = go.FAIR_KOMI[n] if n < len(go.FAIR_KOMI) else 7
        oracle = GoOracle(n, komi=komi, superko=options["superko"], move_cap=options["move_cap"])
        for t in range(length + 1):
            point = states.legal[t, b, :-1].reshape(game.max_size, game.max_size)
            board = np.zeros_like(states.board[t, b])
            for place, colour in oracle.stones.items():
                board[place] = colour
            np.testing.assert_array_equal(states.board[t, b], board)
            assert states.to_play[t, b] == oracle.to_play
            assert states.terminated[t, b] == oracle.ended()
            assert states.outcome[t, b] == oracle.outcome()
            assert states.move_count[t, b] == oracle.moves
            assert states.legal[t, b, -1]
            if t % every == 0 or oracle.ended():
                legal = oracle.legal()
                assert {tuple(p) for p in np.argwhere(point).tolist()} == legal
                oracle.superko, before = False, oracle.superko
                forbidden += len(oracle.legal() - legal)
                oracle.superko = before
            if oracle.ended():
                capped += oracle.passes < 2
                break
            row, column = divmod(int(actions[t, b]), game.max_size)
            oracle.play(None if row == game.max_size else (row, column))
        assert oracle.ended()
    return forbidden, capped


@pytest.mark.parametrize("superko", [True, False])
def test_random_games_on_small_boards_follow_the_oracle_move_by_move(superko):
    game = make_game("go", 6, superko=superko)
    sizes = [2] * 20 + [3] * 30 + [4] * 30 + [5] * 10 + [6] * 5
    forbidden, capped = check_against_oracle(game, sizes, seed=superko)
    assert (forbidden > 0) == superko
    assert capped > 10


def test_long_games_on_tiny_boards_are_full_of_superko_and_follow_the_oracle():
    game = make_game("go", 4, move_cap=80)
    forbidden, _ = check_against_oracle(game, [2] * 30 + [3] * 40 + [4] * 10, seed=3)
    assert forbidden > 100


@pytest.mark.slow
def test_random_games_on_larger_boards_follow_the_oracle():
    game = make_game("go", 12)
    check_against_oracle(game, [7] * 4 + [8] * 3 + [10, 11, 12], seed=5, every=7)


def test_what_a_game_keeps_up_equals_what_its_board_says():
    game = make_game("go", 6)
    sizes = jnp.arange(2, 7).repeat(20)
    states, _ = random_games(game, 50, sizes, jax.random.key(9))
    fresh_start = jax.jit(jax.vmap(game.setup))
    for t in (10, 25, 50):
        state = jax.tree.map(lambda x, t=t: x[t], states)
        fresh = fresh_start(state.board, state.size, state.to_play)
        stones = np.abs(fresh.aux.chain) > go.WALL
        assert stones.any()
        np.testing.assert_array_equal(np.abs(state.aux.chain) > go.WALL, stones)
        np.testing.assert_array_equal(state.aux.liberties[stones], fresh.aux.liberties[stones])
        np.testing.assert_array_equal(state.aux.keys, fresh.aux.keys)
        now = (np.arange(100), slice(None), np.asarray(state.move_count))
        np.testing.assert_array_equal(state.aux.hashes[now], fresh.aux.hashes[:, :, 0])
        np.testing.assert_array_equal(state.aux.sums[now], fresh.aux.sums[:, :, 0])
        going = ~np.asarray(state.terminated)
        assert (np.asarray(fresh.legal) >= np.asarray(state.legal))[going].all()  # history only forbids


@pytest.fixture(scope="module")
def games_of_three_sizes():
    """Random games on three sizes in one batch: (sizes, states, what simple ko would allow, actions)."""
    sizes = np.array([5] * 64 + [9] * 32 + [13] * 8)
    game, simple = (make_game("go", 13, komi=7.5, superko=superko) for superko in (True, False))
    states, actions = random_games(game, 338, jnp.array(sizes), jax.random.key(1))

    @jax.jit
    def replay(sizes, actions):
        def move(states, actions):
            return jax.vmap(simple.step)(states, actions), states.legal

        return jax.lax.scan(move, jax.vmap(simple.init)(sizes), actions)[1]

    legal = replay(jnp.array(sizes), actions)
    states, legal, actions = jax.tree.map(np.asarray, (states._replace(aux=()), legal, actions))
    return sizes, states, legal, actions


@pytest.mark.parametrize("size", [5, 9, 13])
def test_games_agree_with_pgx_where_the_rules_do(size, games_of_three_sizes):
    sizes, states, simple_legal, actions = games_of_three_sizes
    length, which = 2 * size * size, sizes == size
    env = pgx.go.Go(size=size, komi=7.5)
    live = np.asarray(padded_to_live(actions[:length, which], size, 13))

    @jax.jit
    def replay(starts, live):
        def move(state: Any, action) -> Any:
            state = jax.vmap(env.step)(state, action)
            return state, (state._x.board, state.legal_action_mask, state.terminated, state.rewards)

        return jax.lax.scan(move, starts, live)[1]

    starts: Any = jax.vmap(env.init)(jax.random.split(jax.random.key(0), which.sum()))
    with jax.numpy_rank_promotion("allow"):  # pgx relies on it
        board, legal, terminated, rewards = map(np.asarray, replay(starts, live))
    ours = jax.tree.map(lambda x: x[1 : length + 1, which], states)

    going = ~ours.terminated
    assert going.sum() > 1000
    np.testing.assert_array_equal(terminated, ours.terminated)
    np.testing.assert_array_equal(
        np.sign(board).reshape(length, -1, size, size), ours.board[:, :, :size, :size]
    )

    def on_live(mask):
        points = mask[..., :-1].reshape(*mask.shape[:2], 13, 13)[:, :, :size, :size]
        return np.concatenate([points.reshape(*mask.shape[:2], -1), mask[..., -1:]], axis=-1)

    last = length - 1  # the simple-ko record stops one position earlier
    np.testing.assert_array_equal(
        legal[:last][going[:last]], on_live(simple_legal[1:length, which])[going[:last]]
    )
    assert (on_live(ours.legal) <= legal)[going].all()
    ends = np.argmax(terminated, axis=0), np.arange(which.sum())
    dark = np.take_along_axis(rewards[ends], np.asarray(starts._player_order[:, :1]), axis=1)[:, 0]
    np.testing.assert_array_equal(dark, ours.outcome[ends])
