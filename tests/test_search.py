"""Search: exact against a plain PUCT, honest about the rules, blind to padding."""

import functools
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.config import SearchConfig
from saz_jax.games import make_game
from saz_jax.games.board import live_to_padded, padded_to_live
from saz_jax.search.tree import tree_memory
from saz_jax.search.tree_search import MASKED, make_search, puct, share_of_stones
from saz_jax.types import Array, Evaluation, Game, GameState
from tests.oracles import puct as oracle
from tests.oracles import tictactoe

KEY = jax.random.key(0)
KINDS: tuple[Literal["puct", "gumbel"], ...] = ("puct", "gumbel")


def neutral(variables: Any, key: Array, states: GameState) -> Evaluation:
    """Knows nothing: every legal move alike, value 0."""
    return Evaluation(jnp.where(states.legal, 0.0, MASKED), jnp.zeros(states.size.shape))


def opinionated(variables: Any, key: Array, states: GameState) -> Evaluation:
    """A definite, arbitrary opinion on every position that does not depend on the padding."""
    side = states.board.shape[1]
    row, column = jnp.divmod(jnp.arange(side * side), side)
    own = (states.board * states.to_play[:, None, None]).reshape(-1, side * side).astype(jnp.int32)
    mass = jnp.sum(own * ((31 * row + 17 * column) % 23 - 11)[None], axis=1)
    phase = (5 * row + 11 * column)[None] + 3 * mass[:, None]
    logits = jnp.concatenate([2 * jnp.sin(phase), jnp.cos(mass)[:, None]], axis=1)
    return Evaluation(jnp.where(states.legal, logits, MASKED), jnp.tanh(jnp.sin(mass)))


@functools.cache
def searcher(game: Game, evaluate: Any, config: SearchConfig) -> Any:
    return jax.jit(make_search(game, evaluate, config))


def stack(states: list[GameState]) -> GameState:
    return jax.tree.map(lambda *x: jnp.stack(x), *states)


@functools.cache
def stepper(game: Game) -> Any:
    return jax.jit(game.step)


def replay(game: Game, size: int, actions: list[int]) -> GameState:
    """The position after these actions, numbered on the live board."""
    state = game.init(size)
    for action in actions:
        state = stepper(game)(state, live_to_padded(action, size, game.max_size))
    return state


@functools.cache
def wanderer(game: Game) -> Any:
    def play(key: Array, size: Array, moves: Array) -> GameState:
        live = padded_to_live(jnp.arange(game.num_actions), size, game.max_size)

        def move(ply: Array, state: GameState) -> GameState:
            score = jax.random.uniform(jax.random.fold_in(key, ply), (game.num_actions,))[live]
            return game.step(state, jnp.argmax(jnp.where(state.legal, score, -1.0)))

        return jax.lax.fori_loop(0, moves, move, game.init(size))

    return jax.jit(jax.vmap(play, in_axes=(0, 0, None)))


def wander(game: Game, sizes: list[int], moves: int, seed: int) -> GameState:
    """One position per size, after random legal moves that are the same whatever the padding."""
    keys = jax.random.split(jax.random.key(seed), len(sizes))
    return wanderer(game)(keys, jnp.asarray(sizes), moves)


def random_trees() -> tuple[Game, Any]:
    """A game without rhyme: moves, ends, outcomes and whose turn it is are hashes of the path."""
    actions = 10

    def position(path: Array, move_count: Any) -> GameState:
        bits = jax.random.bits(jax.random.key(path), (actions + 4,))
        terminated = (bits[-1] % 6 == 0) & (jnp.asarray(move_count) > 0)
        legal = (bits[:actions] % 3 > 0).at[bits[-2] % actions].set(True)
        return GameState(
            board=jnp.zeros((3, 3), jnp.int8),
            points=jnp.ones((3, 3), bool),
            size=jnp.int32(3),
            to_play=jnp.where(bits[-3] % 2 == 0, 1, -1).astype(jnp.int8),
            legal=jnp.where(terminated, jnp.arange(actions) == actions - 1, legal),
            terminated=terminated,
            outcome=jnp.where(terminated, bits[-4] % 3 - 1.0, 0.0),
            move_count=jnp.asarray(move_count, jnp.int32),
            aux=path,
        )

    def step(state: GameState, action: Any) -> GameState:
        after = position(state.aux * jnp.uint32(actions) + jnp.uint32(action + 1), state.move_count + 1)
        return jax.tree.map(lambda old, new: jnp.where(state.terminated, old, new), state, after)

    def evaluate(variables: Any, key: Array, states: GameState) -> Evaluation:
        def one(path: Array) -> tuple[Array, Array]:
            logits_key, value_key = jax.random.split(jax.random.key(path + jnp.uint32(1 << 31)))
            return jax.random.normal(logits_key, (actions,)), jax.random.uniform(value_key, (), minval=-1)

        logits, value = jax.vmap(one)(states.aux)
        return Evaluation(jnp.where(states.legal, logits, MASKED), value)

    def init(path: Any) -> GameState:
        return position(jnp.asarray(path, jnp.uint32), 0)

    def setup(board: Any, size: Any, to_play: Any) -> GameState:
        return init(size)

    def heuristic(state: GameState, player: Any) -> Array:
        return jnp.float32(0)

    return Game("random trees", 3, 3, 100, init, step, setup, heuristic), evaluate


class PlainRules:
    """A `Game` as the oracle wants it, one position at a time."""

    def __init__(self, game: Game, evaluate: Any) -> None:
        self._step = stepper(game)
        self._evaluate = jax.jit(lambda state: evaluate(None, KEY, jax.tree.map(lambda x: x[None], state)))

    def legal(self, state: GameState) -> list[int]:
        return np.flatnonzero(state.legal).tolist()

    def step(self, state: GameState, action: int) -> GameState:
        return jax.device_get(self._step(state, action))

    def player(self, state: GameState) -> int:
        return int(state.to_play)

    def result(self, state: GameState) -> float | None:
        return float(state.outcome) if state.terminated else None

    def evaluate(self, state: GameState) -> tuple[dict[int, float], float]:
        logits, value, *_ = jax.device_get(self._evaluate(state))
        legal = self.legal(state)
        weights = np.exp(logits[0, legal].astype(np.float64))
        return dict(zip(legal, weights / weights.sum(), strict=True)), float(value[0])


def assert_equals_plain_puct(game: Game, evaluate: Any, states: GameState, config: SearchConfig) -> None:
    found = searcher(game, evaluate, config)(None, KEY, states, 1.0)
    rules = PlainRules(game, evaluate)
    for index in range(len(states.size)):
        state = jax.device_get(jax.tree.map(lambda x, index=index: x[index], states))
        root = oracle.search(
            rules, state, rules.evaluate, config.simulations, config.c_puct, config.unvisited
        )
        visits, qvalues = np.zeros(game.num_actions, int), np.zeros(game.num_actions)
        for action, count in root.count.items():
            visits[action], qvalues[action] = count, root.q(action, 0.0)
        np.testing.assert_array_equal(found.visits[index], visits)
        np.testing.assert_allclose(found.qvalues[index], qvalues, atol=1e-5)
        np.testing.assert_allclose(found.policy[index], visits / config.simulations, atol=1e-6)
        value = (root.value + sum(root.total.values())) / (1 + config.simulations)
        assert found.value[index] == pytest.approx(value, abs=1e-5)
        node, path = root, []
        while node is not None and any(node.count.values()):
            path.append(max(sorted(node.count), key=lambda a, node=node: (node.count[a], node.q(a, 0.0))))
            node = node.children[path[-1]]
        variation = found.principal_variation[index]
        assert variation[variation >= 0].tolist() == path[: len(variation)]


@pytest.mark.parametrize("unvisited", ["parent", "zero"])
def test_puct_equals_plain_python_on_random_trees_where_turns_do_not_alternate(unvisited):
    game, evaluate = random_trees()
    states = jax.vmap(game.init)(jnp.arange(16))
    assert_equals_plain_puct(game, evaluate, states, SearchConfig("puct", 60, unvisited=unvisited))


@pytest.mark.parametrize(
    ("name", "options", "moves"), [("othello", {}, 6), ("gomoku", {"k": 3}, 3), ("go", {"komi": 0.5}, 5)]
)
def test_puct_equals_plain_python_on_real_positions(name, options, moves):
    game = make_game(name, 5, **options)
    states = wander(game, [4, 4, 5, 5], moves, seed=1)
    assert_equals_plain_puct(game, opinionated, states, SearchConfig("puct", 50))


PUZZLES = {
    "gomoku": (
        {"max_size": 6, "k": 4},
        5,
        {
            "win in 1": [0, 10, 1, 11, 2, 22],
            "win in 3": [22, 12, 5, 8, 4, 17, 9, 15, 11, 24, 10, 14, 16, 18, 23, 20],
            "block": [0, 10, 1, 11, 2],
        },
    ),
    "othello": (
        {"max_size": 5},
        4,
        {
            "win in 1": [14, 13, 12, 7, 0, 4, 8, 15],
            "win in 3": [14, 7, 0, 13, 3, 2, 1, 4],
            "block": [14, 13, 8, 7, 1, 15, 11, 4, 2],
        },
    ),
    "go": (
        {"max_size": 4, "komi": 0.5},
        3,
        {
            "win in 1": [2, 5, 3, 9],
            "win in 3": [9, 4, 8, 1, 6, 5, 7],
            "block": [8, 5, 9, 0, 2, 3, 4, 6, 1, 9, 5, 7, 8, 9, 1, 9],
        },
    ),
}
"""Game -> options, live side, and for each kind of puzzle the actions that lead to it."""


def solutions(game: Game, state: GameState) -> dict[str, set[int]]:
    """By plain looking ahead: the moves that win at once, that win in 3 plies, that do not lose in 2."""
    step_all = jax.jit(jax.vmap(game.step, in_axes=(None, 0)))

    def children(state: GameState) -> dict[int, GameState]:
        after = jax.device_get(step_all(state, jnp.arange(game.num_actions)))
        return {int(a): jax.tree.map(lambda x, a=a: x[a], after) for a in np.flatnonzero(state.legal)}

    def wins(state: GameState) -> set[int]:
        return {a for a, after in children(state).items() if after.outcome == state.to_play}

    mine = children(state)
    lasting = {a: after for a, after in mine.items() if not after.terminated}
    return {
        "win in 1": wins(state),
        "win in 3": {a for a, after in lasting.items() if all(map(wins, children(after).values()))},
        "block": {a for a, after in lasting.items() if not wins(after)},
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PUZZLES)
def test_a_search_that_knows_nothing_wins_in_1_and_in_3_and_blocks_a_loss(name, kind):
    options, size, puzzles = PUZZLES[name]
    game = make_game(name, **options)
    states = [replay(game, size, actions) for actions in puzzles.values()]
    found = searcher(game, neutral, SearchConfig(kind, 400))(None, KEY, stack(states), 0.0)
    for index, (puzzle, state) in enumerate(zip(puzzles, states, strict=True)):
        good = solutions(game, state)[puzzle]
        assert 0 < len(good) < np.sum(state.legal), "not a puzzle"
        assert int(found.action[index]) in good, puzzle


def poisoned(game: Game) -> Game:
    """The game, with a value of nan behind every illegal move."""

    def step(state: GameState, action: Any) -> GameState:
        after, illegal = game.step(state, action), ~state.legal[action]
        return after._replace(
            terminated=after.terminated | illegal, outcome=jnp.where(illegal, jnp.nan, after.outcome)
        )

    return Game(**{**vars(game), "step": step})


def adverse(variables: Array, key: Array, states: GameState) -> Evaluation:
    """Four ways to make illegal moves look good, one per game of the batch: `variables: int32[B]`."""
    way = variables[:, None]
    logits = opinionated(None, key, states).logits
    logits = jnp.where(way == 1, jnp.where(states.legal, -50.0, 1e30), logits)
    logits = jnp.where(way == 2, MASKED, logits)
    # After each move the other side is said to win (ways 0 to 2): every visited Q is -1.
    return Evaluation(logits, jnp.where(variables == 3, -1.0, 1.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "options"),
    [("othello", {}), ("gomoku", {"k": 4}), pytest.param("go", {"komi": 0.5}, marks=pytest.mark.slow)],
)
def test_no_illegal_move_is_ever_expanded(name, options, kind):
    game = poisoned(make_game(name, 5, **options))
    assert np.isnan(stepper(game)(game.init(4), 4).outcome), "point 4 is off a board of side 4"
    batch = 128
    states = wander(game, [4, 5] * (batch // 2), 7, seed=3)
    config = SearchConfig(kind, 24, unvisited="zero", dirichlet_fraction=0.25)
    found = searcher(game, adverse, config)(jnp.arange(batch) % 4, KEY, states, 1.0)
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.policy).all()
    assert not np.any(np.asarray(found.visits)[~np.asarray(states.legal)])
    assert not np.any(np.asarray(found.policy)[~np.asarray(states.legal)])
    assert np.take_along_axis(np.asarray(states.legal), np.asarray(found.action)[:, None], 1).all()


def perfect_play() -> tuple[Array, Array]:
    """Tic-tac-toe by position number in base 3: the value and those of the moves, for the player to move."""
    values, moves = np.zeros(3**9, np.float32), np.zeros((3**9, 10), np.float32)
    for board in tictactoe.reachable():
        number = sum((stone + 1) * 3**point for point, stone in enumerate(board))
        values[number] = tictactoe.perfect(board)
        for move in tictactoe.moves(board) if tictactoe.result(board) is None else ():
            moves[number, move] = -tictactoe.perfect(tictactoe.play(board, move))
    return jnp.asarray(values), jnp.asarray(moves)


# Gumbel's search fills in unvisited moves with the mean of the visited ones, and under a prior that knows
# nothing it can overlook the one good reply for long: it gets a prior that leans towards good moves.
@pytest.mark.parametrize(("kind", "lean"), [("puct", 0.0), ("gumbel", 2.0)])
def test_with_perfect_values_tic_tac_toe_is_never_lost(kind, lean):
    game = make_game("gomoku", 3, k=3)

    def perfect(tables: tuple[Array, Array], key: Array, states: GameState) -> Evaluation:
        digits = states.board.reshape(-1, 9).astype(jnp.int32) + 1
        number = jnp.sum(digits * (3 ** jnp.arange(9))[None], axis=1)
        values, moves = tables
        return Evaluation(jnp.where(states.legal, lean * moves[number], MASKED), values[number])

    boards = sorted(board for board in tictactoe.reachable() if tictactoe.result(board) is None)
    stones = jnp.asarray(boards, jnp.int8).reshape(-1, 3, 3)
    players = jnp.asarray([tictactoe.player(board) for board in boards], jnp.int8)
    states = jax.vmap(game.setup, in_axes=(0, None, 0))(stones, 3, players)
    search = searcher(game, perfect, SearchConfig(kind, 32))
    actions = dict(zip(boards, search(perfect_play(), KEY, states, 0.0).action.tolist(), strict=True))

    def outcomes(board: tictactoe.Board, side: int) -> set[int]:
        """Every result, seen by `side`, that the search as `side` allows against all replies."""
        result = tictactoe.result(board)
        if result is not None:
            return {result * side}
        mine = tictactoe.player(board) == side
        moves = [actions[board]] if mine else tictactoe.moves(board)
        return set().union(*(outcomes(tictactoe.play(board, move), side) for move in moves))

    assert outcomes(tictactoe.EMPTY, 1) == {0, 1}
    assert outcomes(tictactoe.EMPTY, -1) == {0, 1}


@pytest.mark.parametrize("kind", KINDS)
def test_the_score_weighs_stones_against_the_network(kind):
    """The network says 0 everywhere, so the search reports the weighted share of stones."""
    game = make_game("othello", 6)
    states = wander(game, [6, 5, 4, 6], 6, seed=3)
    shares = jax.vmap(functools.partial(share_of_stones, game))(states)
    difference = np.asarray(states.board).sum((1, 2)) * np.asarray(states.to_play)
    stones = (np.asarray(states.board) != 0).sum((1, 2))
    np.testing.assert_allclose(shares, difference / stones, rtol=1e-6)
    found = {
        weight: searcher(game, neutral, SearchConfig(kind, 1, heuristic_weight=weight))(
            None, KEY, states, 0.0
        )
        for weight in (0.0, 0.5, 1.0)
    }
    after = jax.vmap(game.step)(states, found[1.0].action)
    # The value is the mean of the root's own and its one successor's.
    own = np.asarray(jax.vmap(functools.partial(share_of_stones, game))(after))
    own = own * np.asarray(after.to_play * states.to_play)
    np.testing.assert_allclose(found[1.0].value, (own + np.asarray(shares)) / 2, atol=1e-6)
    np.testing.assert_allclose(found[0.5].value, np.asarray(found[1.0].value) / 2, atol=1e-6)
    np.testing.assert_array_equal(found[0.0].value, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_moves_that_win_at_once_can_be_left_to_the_rules(kind):
    """Dark has four on the diagonal, both ends open, and a network that would play anything but the ends."""
    game, dark, light = make_game("gomoku", 6), [7, 14, 21, 28], [1, 3, 5, 11]
    moves = [move for pair in zip(dark, light, strict=True) for move in pair]
    states = stack([replay(game, 6, moves), replay(game, 6, moves[:-2]), replay(game, 6, moves[:-1])])
    ends = jnp.isin(jnp.arange(37), jnp.array([0, 35]))

    def averse(variables: Any, key: Array, states: GameState) -> Evaluation:
        logits = jnp.where(states.legal, jnp.where(ends, -30.0, 0.0), MASKED)
        return Evaluation(logits, jnp.zeros(states.size.shape))

    missed, found = (
        searcher(game, averse, SearchConfig(kind, 8, max_considered_actions=4, take_wins=take))(
            None, KEY, states, 1.0
        )
        for take in (False, True)
    )
    assert missed.policy[0, ends].sum() < 0.01
    assert found.policy[0, ends].sum() > 0.99
    assert ends[found.action[0]]
    # Without a win for the player to move, nothing changes.
    np.testing.assert_array_equal(found.policy[1:], missed.policy[1:])
    np.testing.assert_array_equal(found.action[1:], missed.action[1:])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_more_simulations_are_stronger(kind):
    game, batch = make_game("gomoku", 5, k=4), 64
    weak, strong = (searcher(game, neutral, SearchConfig(kind, n)) for n in (8, 128))
    states = wander(game, [5] * batch, 2, seed=4)
    step = jax.jit(jax.vmap(game.step))
    strong_side = np.where(np.arange(batch) % 2 == 0, 1, -1)
    for move in range(23):
        if np.all(states.terminated):
            break
        key = jax.random.key(move)
        actions = np.where(
            states.to_play == strong_side,
            strong(None, key, states, 0.0).action,
            weak(None, key, states, 0.0).action,
        )
        states = step(states, actions)
    score = np.mean(np.asarray(states.outcome) * strong_side) / 2 + 0.5
    assert score > 0.6


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing_even_with_noise(kind):
    config = SearchConfig(kind, 32, dirichlet_fraction=0.25)
    sizes = [4, 5, 6, 6]
    found = []
    for max_size in (6, 9):
        game = make_game("othello", max_size)
        output = searcher(game, opinionated, config)(None, KEY, wander(game, sizes, 4, seed=5), 1.0)
        to_padded = [live_to_padded(jnp.arange(n * n + 1), n, max_size) for n in sizes]
        live = {
            name: [np.asarray(getattr(output, name)[i, at]) for i, at in enumerate(to_padded)]
            for name in ("visits", "policy", "qvalues")
        }
        moves = jnp.concatenate([output.action[:, None], output.principal_variation], axis=1)
        numbers = padded_to_live(moves, jnp.asarray(sizes)[:, None], max_size)
        found.append((live, np.where(moves < 0, -1, numbers), np.asarray(output.value)))
    for live, moves, value in found[1:]:
        np.testing.assert_array_equal(moves, found[0][1])
        np.testing.assert_allclose(value, found[0][2], atol=1e-5)
        for name, per_game in live.items():
            for here, there in zip(per_game, found[0][0][name], strict=True):
                np.testing.assert_allclose(here, there, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_mixed_sizes_equals_its_games_one_by_one(kind):
    game = make_game("othello", 6)
    search = searcher(game, opinionated, SearchConfig(kind, 32))
    states = wander(game, [4, 5, 6, 5], 5, seed=6)
    together = search(None, KEY, states, 0.0)
    for index in range(4):
        alone = search(None, KEY, jax.tree.map(lambda x, i=index: x[i : i + 1], states), 0.0)
        for one, all_of_them in zip(alone, together, strict=True):
            np.testing.assert_allclose(one[0], all_of_them[index], atol=1e-5)


TIC_TAC_TOE = make_game("gomoku", 3, k=3)
BATCH = 2048


def ask(kind: Literal["puct", "gumbel"], states: list[GameState], temperature: Any, seed: int = 0) -> Any:
    """A search of tic-tac-toe positions, each repeated through a large batch."""
    batch = jax.tree.map(lambda x: jnp.tile(x, (BATCH // len(states),) + (1,) * (x.ndim - 1)), stack(states))
    search = searcher(TIC_TAC_TOE, opinionated, SearchConfig(kind, 24))
    temperature = jnp.broadcast_to(jnp.asarray(temperature, jnp.float32), (BATCH,))
    return jax.device_get(search(None, jax.random.key(seed), batch, temperature))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_key_gives_the_same_result_and_another_key_another_one(kind):
    empty = TIC_TAC_TOE.init(3)
    first, again, other = (ask(kind, [empty], 1.0, seed) for seed in (1, 1, 2))
    jax.tree.map(np.testing.assert_array_equal, first, again)
    assert np.any(first.action != other.action)


@pytest.mark.parametrize("kind", KINDS)
def test_finished_games_are_worth_exactly_their_outcome(kind):
    won, about_to_win = (replay(TIC_TAC_TOE, 3, moves) for moves in ([0, 3, 1, 4, 2], [0, 3, 1, 4]))
    assert won.terminated
    assert won.to_play == -1
    found = ask(kind, [won, about_to_win], 1.0)
    assert found.value[0] == -1
    assert found.action[0] == TIC_TAC_TOE.num_actions - 1
    assert found.policy[0, -1] == 1
    assert found.visits[1, 2] > 5
    assert found.qvalues[1, 2] == 1
    assert found.principal_variation[1].tolist() == [2] + [-1] * 15


def test_the_temperature_is_each_games_own():
    temperature = np.resize([0.0, 0.5, 1.0, 2.0], BATCH)
    found = ask("puct", [TIC_TAC_TOE.init(3)], temperature)
    visits = found.visits[0].astype(np.float64)
    assert (found.visits == visits).all()
    for index in (1, 2, 3):
        power = visits ** (1 / temperature[index])
        np.testing.assert_allclose(found.policy[index], power / power.sum(), atol=1e-6)
    assert found.policy[0].max() == 1
    assert found.visits[0, found.policy[0].argmax()] == visits.max()
    assert (found.action[::4] == found.policy[0].argmax()).all()
    assert len(set(found.action[1::4].tolist())) > 1


def test_puct_draws_its_moves_from_the_policy():
    found = ask("puct", [TIC_TAC_TOE.init(3)], 1.0)
    frequency = np.bincount(found.action, minlength=10) / BATCH
    np.testing.assert_allclose(frequency, found.policy[0], atol=0.05)


def test_gumbel_plays_the_best_move_at_temperature_0_and_varies_at_1():
    found = ask("gumbel", [TIC_TAC_TOE.init(3)], np.resize([0.0, 1.0], BATCH))
    assert (found.action[::2] == found.policy[0].argmax()).all()
    assert len(set(found.action[1::2].tolist())) > 2
    np.testing.assert_allclose(found.policy.sum(axis=1), 1, atol=1e-5)


def test_dirichlet_noise_falls_on_legal_moves_only_with_alpha_scaled_by_their_number():
    game, concentration, draws = make_game("gomoku", 5, k=4), 10.0, 4000
    state = replay(game, 4, [0, 1, 2])
    legal, count = np.asarray(state.legal), int(state.legal.sum())
    config = SearchConfig("puct", dirichlet_fraction=0.5, dirichlet_total=concentration)
    prior = jnp.where(state.legal, -jnp.log(count), MASKED)
    keys = jax.random.split(KEY, draws)
    noisy = jax.jit(jax.vmap(lambda key: puct(config).prepare(key, prior, state, jnp.float32(1))[0]))(keys)
    assert (np.asarray(noisy)[:, ~legal] == MASKED).all()
    probability = np.exp(np.asarray(noisy)[:, legal].astype(np.float64))
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(probability.mean(axis=0), 1 / count, atol=0.005)
    # The variance of one share of a Dirichlet whose alphas sum to `concentration`, halved in amplitude.
    variance = (1 / count) * (1 - 1 / count) / (concentration + 1) / 4
    np.testing.assert_allclose(probability.var(axis=0).mean(), variance, rtol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_surprise_is_the_divergence_of_the_policy_from_what_the_network_said(kind):
    game = make_game("gomoku", 5, k=4)
    states = wander(game, [5, 4, 5, 4], 6, seed=2)
    config = SearchConfig(kind, 16, dirichlet_fraction=0.25, take_wins=True)
    found = searcher(game, opinionated, config)(None, KEY, states, 1.0)
    said = jax.nn.log_softmax(opinionated(None, KEY, states).logits)
    for policy, log_prior, surprise in zip(found.policy, said, found.surprise, strict=True):
        moves = np.flatnonzero(np.asarray(policy))
        divergence = sum(policy[move] * (np.log(policy[move]) - log_prior[move]) for move in moves)
        np.testing.assert_allclose(surprise, divergence, rtol=1e-4)
        assert surprise > 0


def test_gumbel_explores_with_noise_but_does_not_teach_it():
    """The prior knows one move only: noise makes the others be tried, and the policy shows none of it."""
    game = make_game("gomoku", 5, k=4)
    states = wander(game, [5] * 256, 0, seed=0)

    def stubborn(variables: Any, key: Array, states: GameState) -> Evaluation:
        logits = jnp.where(jnp.arange(26) == 7, 20.0, 0.0)
        return Evaluation(jnp.broadcast_to(logits, states.legal.shape), jnp.zeros(states.board.shape[0]))

    def ask(share: float) -> Any:
        config = SearchConfig("gumbel", 4, max_considered_actions=2, dirichlet_fraction=share)
        return searcher(game, stubborn, config)(None, KEY, states, 1.0)

    quiet, noisy = ask(0.0), ask(0.5)
    tried = (np.asarray(noisy.visits) > 0).sum(axis=0)
    assert (np.asarray(quiet.visits)[:, 7] > 0).all()
    assert (tried[:25] > 0).all(), "every point of the board is tried by some game"
    assert np.mean(np.asarray(noisy.action) != 7) > 0.2
    assert np.mean(np.asarray(quiet.action) != 7) == 0
    np.testing.assert_allclose(noisy.policy, quiet.policy, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "alphabeta"}, "unknown search 'alphabeta'; choose one of gumbel, puct"),
        ({"simulations": 0}, "simulations=0"),
        ({"simulations": -3}, "simulations=-3"),
        ({"max_considered_actions": 0}, "max_considered_actions=0"),
        ({"unvisited": "best"}, "best.*parent, zero"),
        ({"dirichlet_fraction": 1.5}, "dirichlet_fraction=1.5"),
        ({"dirichlet_total": 0.0}, "dirichlet_total=0.0"),
        ({"c_puct": -1.0}, "c_puct=-1.0"),
    ],
)
def test_impossible_settings_are_refused_before_anything_runs(settings, message):
    with pytest.raises(ValueError, match=message):
        make_search(make_game("gomoku", 5), neutral, SearchConfig(**settings))


def test_positions_that_the_search_was_not_made_for_are_refused():
    search = make_search(make_game("gomoku", 5), neutral, SearchConfig())
    with pytest.raises(ValueError, match=r"side 6.*max_size=5"):
        search(None, KEY, wander(make_game("gomoku", 6), [5], 0, seed=0), 1.0)
    with pytest.raises(ValueError, match="takes a batch"):
        search(None, KEY, make_game("gomoku", 5).init(5), 1.0)
    with pytest.raises(ValueError, match=r"temperature=-0\.5"):
        search(None, KEY, wander(make_game("gomoku", 5), [5], 0, seed=0), -0.5)


def test_tree_memory_counts_four_numbers_per_move_and_the_positions():
    game = make_game("gomoku", 19)
    per_node = 4 * 4 * game.num_actions + 5 * 4 + (2 * 19 * 19 + 4 + 1 + game.num_actions + 1 + 4 + 4)
    assert tree_memory(game, 8, 99) == 8 * (100 * per_node + game.num_actions)


def test_trees_that_cannot_fit_are_refused_before_they_are_allocated():
    game, batch = make_game("gomoku", 20), 100_000
    states = jax.eval_shape(jax.vmap(game.init), jax.ShapeDtypeStruct((batch,), jnp.int32))
    search = make_search(game, neutral, SearchConfig("gumbel", 10_000))
    with pytest.raises(ValueError, match=r"need .* GB .* available; .* would fit"):
        jax.eval_shape(lambda states: search(None, KEY, states, 0.0), states)
    small = make_search(game, neutral, SearchConfig("gumbel", 2), memory_limit=1000)
    with pytest.raises(ValueError, match="1 games x 2 simulations on side 20"):
        small(None, KEY, wander(game, [20], 0, seed=0), 0.0)
