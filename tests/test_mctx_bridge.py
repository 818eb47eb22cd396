"""The bridge to plain mctx: true rewards and signs, no illegal moves, and the same searches as ours."""

import functools
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pytest

import saz_jax.search
from saz_jax.config import GINConfig, ModelConfig, SearchConfig
from saz_jax.games import make_game
from saz_jax.models.registry import make_model
from saz_jax.search import mctx_qtransform
from saz_jax.search.tree_search import MASKED, completed_qvalues, make_tree_search
from saz_jax.types import Array, Evaluation, Game, GameState
from tests.oracles import tictactoe
from tests.test_search import adverse, neutral, opinionated, random_trees, replay, stack, stepper, wander

mctx_root: Any = saz_jax.search.mctx_root  # pyright cannot see into mctx's records
mctx_recurrent: Any = saz_jax.search.mctx_recurrent
KEY = jax.random.key(0)
GUMBEL: Any = functools.partial(mctx.gumbel_muzero_policy, gumbel_scale=0.0)
MUZERO: Any = functools.partial(mctx.muzero_policy, dirichlet_fraction=0.0, temperature=0.0)
RAW_MUZERO: Any = functools.partial(MUZERO, qtransform=mctx_qtransform)
POLICIES = {"gumbel": GUMBEL, "muzero": MUZERO, "muzero, raw Q": RAW_MUZERO}
SIMULATIONS = 40
GO_LOSS = [4, 0, 1, 9, 3, 8, 9]
"""Go 3x3: dark has captured and passed; light is far behind, and its pass would end the game."""


def open_minded(variables: Any, key: Array, states: GameState) -> Evaluation:
    """Definite values, and a prior flat enough for every policy to try every move."""
    said = opinionated(variables, key, states)
    return said._replace(logits=jnp.where(states.legal, 0.1 * said.logits, MASKED))


@functools.cache
def searcher(policy: Any, game: Game, evaluate: Any, simulations: int = SIMULATIONS) -> Any:
    """(variables, states[B]) -> what a policy of mctx finds through the bridge."""
    root, recurrent = mctx_root(evaluate), mctx_recurrent(game, evaluate)

    def search(variables: Any, states: GameState) -> Any:
        start = root(variables, KEY, states)
        return policy(variables, KEY, start, recurrent, simulations, invalid_actions=~states.legal)

    return jax.jit(search)


@functools.cache
def our_searcher(game: Game, evaluate: Any, config: SearchConfig) -> Any:
    """states[B] -> what our search finds, and its trees."""
    search = jax.jit(make_tree_search(game, evaluate, config))
    return lambda states: jax.device_get(search(None, KEY, states, 0.0))


def select(states: GameState, which: Any) -> GameState:
    return jax.tree.map(lambda x: x[np.asarray(which)], states)


def every_move(game: Game, states: GameState) -> GameState:
    """[B, V, ...]: the positions after each action."""
    step = jax.jit(jax.vmap(jax.vmap(game.step, (None, 0)), (0, None)))
    return jax.device_get(step(states, jnp.arange(game.num_actions)))


@functools.cache
def near_the_end(name: str) -> tuple[Game, GameState]:
    """Unfinished positions of a game, many of them with moves that end it."""
    if name == "tic-tac-toe":
        game = make_game("gomoku", 3, k=3)
        played = [wander(game, [3] * 16, moves, seed=moves) for moves in (4, 5, 6, 7, 8)]
    elif name == "gomoku":
        game = make_game("gomoku", 5, k=3)
        played = [wander(game, [4, 5] * 8, moves, seed=moves) for moves in (5, 7)]
    elif name == "othello":
        game = make_game("othello", 5)
        played = [wander(game, [4, 4, 5, 4] * 12, moves, seed=moves) for moves in (9, 10, 11)]
    else:
        game = make_game("go", 3, komi=0.5)
        played = [wander(game, [2, 3] * 8, moves, seed=moves) for moves in (3, 7, 15)]
        one_pass = jax.jit(jax.vmap(game.step))(played[1], jnp.full(16, game.num_actions - 1))
        played += [one_pass, stack([replay(game, 3, [9]), replay(game, 3, GO_LOSS)])]
    states = jax.tree.map(lambda *x: jnp.concatenate(x), *played)
    return game, select(states, ~np.asarray(states.terminated))


ENDINGS = ("tic-tac-toe", "gomoku", "othello", "go")


def assert_true_outputs(game: Game, evaluate: Any, states: GameState, action: Any) -> Any:
    """Rewards, discounts, values and priors as a plain reading of the rules has them."""
    output, after = jax.device_get(jax.jit(mctx_recurrent(game, evaluate))(None, KEY, action, states))
    said = evaluate(None, KEY, after)
    expected = jax.device_get(jax.vmap(game.step)(states, action))
    jax.tree.map(np.testing.assert_array_equal, after, expected)
    for index, ended in enumerate(after.terminated):
        same_side = states.to_play[index] == after.to_play[index]
        reward = 0 if states.terminated[index] else after.outcome[index] * states.to_play[index]
        assert output.reward[index] == reward
        assert output.discount[index] == (0 if ended else 1 if same_side else -1)
        # A traced and an eager evaluation may differ in the last bit; an ended game is worth exactly 0.
        assert output.value[index] == (0 if ended else pytest.approx(float(said.value[index]), rel=1e-6))
    assert (output.prior_logits[~after.legal] == MASKED).all()
    prior = np.where(after.legal, np.exp(output.prior_logits), 0)
    np.testing.assert_allclose(prior, jax.nn.softmax(said.logits), atol=1e-6)
    return output


@pytest.mark.parametrize("name", ENDINGS)
def test_outcomes_are_rewards_on_real_positions(name):
    game, states = near_the_end(name)
    game_index, action = np.nonzero(np.asarray(states.legal))
    some = np.random.default_rng(0).permutation(len(action))[:100]
    output = assert_true_outputs(
        game, open_minded, select(states, game_index[some]), jnp.asarray(action[some])
    )
    assert len(set(output.reward.tolist())) > 1


def test_signs_follow_the_turn_where_the_same_side_may_move_again():
    """Our own games alternate, for their passes are moves; a game need not."""
    game, evaluate = random_trees()
    states = jax.vmap(game.init)(jnp.arange(200))
    output = assert_true_outputs(game, evaluate, states, jnp.argmax(states.legal, axis=1))
    assert set(output.discount.tolist()) == {-1, 0, 1}
    assert set(output.reward.tolist()) == {-1, 0, 1}


def test_a_finished_game_absorbs_without_further_reward():
    game = make_game("gomoku", 3, k=3)
    won = stack([replay(game, 3, [0, 3, 1, 4, 2])])
    assert won.outcome[0] == 1
    assert opinionated(None, KEY, won).value[0] != 0
    assert mctx_root(opinionated)(None, KEY, won).value[0] == 0
    output, after = mctx_recurrent(game, opinionated)(None, KEY, jnp.array([9]), won)
    assert (output.reward[0], output.discount[0], output.value[0]) == (0, 0, 0)
    assert int(jnp.argmax(output.prior_logits[0])) == 9
    jax.tree.map(np.testing.assert_array_equal, after, won)


def test_the_evaluation_gets_the_variables_and_the_key():
    def echo(variables: Array, key: Array, states: GameState) -> Evaluation:
        value = variables + jax.random.uniform(key, states.size.shape)
        return Evaluation(jnp.zeros(states.legal.shape), value)

    game = make_game("gomoku", 3, k=3)
    states, key = wander(game, [3, 3], 1, seed=0), jax.random.key(5)
    expected = 7 + jax.random.uniform(key, (2,))
    np.testing.assert_array_equal(mctx_root(echo)(jnp.float32(7), key, states).value, expected)
    output, _ = mctx_recurrent(game, echo)(jnp.float32(7), key, jnp.argmax(states.legal, 1), states)
    np.testing.assert_array_equal(output.value, expected)


def test_the_subgraph_ensemble_searches_through_the_bridge():
    game = make_game("gomoku", 5, k=4)
    model = make_model(ModelConfig("saz", network=GINConfig(hidden=8, head=8)), game)
    states = wander(game, [4, 5], 3, seed=0)
    found = searcher(GUMBEL, game, model.evaluate, 4)(model.network.init(KEY), states)
    assert np.asarray(states.legal)[[0, 1], found.action].all()
    assert np.isfinite(found.search_tree.node_values).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_win_and_a_tie_keep_their_value_however_often_they_are_visited(policy):
    """Without rewards, the chain of finished positions below a win would average its value to about 0."""
    game = make_game("gomoku", 3, k=3)
    states = stack([replay(game, 3, [0, 3, 1, 4]), replay(game, 3, [0, 1, 2, 4, 3, 5, 7, 6])])
    tree = searcher(POLICIES[policy], game, open_minded)(None, states).search_tree
    for index, move, value in ((0, 2, 1), (1, 8, 0)):
        assert tree.children_visits[index, 0, move] > 5
        assert tree.summary().qvalues[index, move] == value


def pairs(slow: set[tuple[str, str]]) -> list[Any]:
    """(game near its end, policy): all of them; those that take long to compile are slow."""
    return [
        pytest.param(name, policy, marks=[pytest.mark.slow] if (name, policy) in slow else [])
        for name in ENDINGS
        for policy in POLICIES
    ]


@pytest.mark.parametrize(("name", "policy"), pairs(slow={("go", "muzero"), ("gomoku", "muzero")}))
def test_moves_that_end_the_game_are_worth_its_outcome_in_both_searches(name, policy):
    game, states = near_the_end(name)
    tree = searcher(POLICIES[policy], game, open_minded)(None, states).search_tree
    ours, _ = our_searcher(game, open_minded, SearchConfig("gumbel", SIMULATIONS))(states)
    after = every_move(game, states)
    ends = np.asarray(states.legal) & after.terminated
    outcome = after.outcome * np.asarray(states.to_play)[:, None]
    theirs = np.asarray(tree.children_visits[:, 0]), np.asarray(tree.summary().qvalues)
    for visits, qvalues in (theirs, (ours.visits, ours.qvalues)):
        seen = ends & (visits > 0)
        np.testing.assert_array_equal(qvalues[seen], outcome[seen])
        values = set(outcome[seen].tolist())
        assert {"tic-tac-toe": {0, 1}, "gomoku": {1}, "othello": {-1, 1}, "go": {-1, 1}}[name] <= values


def our_scale(tree: Any, node: Any) -> Array:
    """Our completed Q-values, read from a tree of mctx."""
    qvalues = tree.children_rewards + tree.children_discounts * tree.children_values
    fields = {"children_qvalues": qvalues, "states": tree.embeddings}
    kept = ("children_visits", "children_prior_logits", "raw_values")
    seen: Any = SimpleNamespace(**fields, **{name: getattr(tree, name) for name in kept})
    return completed_qvalues(seen, node)


def assert_equal_searches(ours: Any, theirs: Any, which: Any) -> None:
    tree = theirs.search_tree
    np.testing.assert_array_equal(ours.visits[which], tree.children_visits[which, 0])
    np.testing.assert_array_equal(ours.action[which], theirs.action[which])
    np.testing.assert_allclose(ours.policy[which], theirs.action_weights[which], atol=1e-5)
    np.testing.assert_allclose(ours.value[which], tree.node_values[which, 0], atol=1e-5)
    seen = ours.visits[which] > 0
    np.testing.assert_allclose(ours.qvalues[which][seen], tree.summary().qvalues[which][seen], atol=1e-5)


@pytest.mark.parametrize("name", ["random trees", *ENDINGS])
def test_gumbel_equals_ours_if_both_scale_by_legal_moves(name):
    """mctx grows new nodes below the end of a game, where ours visits its node again: the same result."""
    if name == "random trees":
        game, evaluate = random_trees()
        states = jax.vmap(game.init)(jnp.arange(64))
    else:
        evaluate = opinionated
        game, states = near_the_end(name)
    policy = functools.partial(GUMBEL, qtransform=our_scale)
    theirs = jax.device_get(searcher(policy, game, evaluate)(None, states))
    ours, tree = our_searcher(game, evaluate, SearchConfig("gumbel", SIMULATIONS))(states)
    assert_equal_searches(ours, theirs, np.arange(len(ours.action)))
    assert tree.states.terminated.any(axis=1).mean() > 0.5


@pytest.mark.parametrize("name", ["no end", "gomoku", "othello"])
def test_gumbel_with_the_defaults_of_mctx_equals_ours_until_a_node_knows_all_its_moves(name):
    """Only the range by which Q-values are scaled differs: mctx counts illegal moves, too.

    An unvisited move, legal or not, counts with the mixed value of its node.  So the ranges are the same as
    long as one legal move is unvisited, and do not matter where there is but one.
    """
    if name == "no end":
        game = make_game("gomoku", 7)
        states = wander(game, [7, 6, 5, 7], 2, seed=2)
    else:
        game, states = near_the_end(name)
    theirs = jax.device_get(searcher(GUMBEL, game, opinionated)(None, states))
    ours, tree = our_searcher(game, opinionated, SearchConfig("gumbel", SIMULATIONS))(states)
    legal = tree.states.legal
    full = (~legal | (tree.children_visits > 0)).all(axis=2) & (legal.sum(axis=2) > 1)
    comparable = ~full.any(axis=1)
    assert comparable.mean() > 0.3
    assert_equal_searches(ours, theirs, comparable)
    assert np.mean(ours.action == theirs.action) > 0.95


@pytest.mark.parametrize("name", ["tic-tac-toe", "othello"])
def test_muzero_with_raw_qvalues_searches_nearly_as_our_puct(name):
    """mctx explores by sqrt(1 + visits) where ours has sqrt(visits): a visit more or less."""
    game, states = near_the_end(name)
    policy = functools.partial(RAW_MUZERO, pb_c_init=1.5, pb_c_base=1e9)
    theirs = jax.device_get(searcher(policy, game, opinionated)(None, states))
    ours, _ = our_searcher(game, opinionated, SearchConfig("puct", SIMULATIONS))(states)
    moved = np.abs(theirs.search_tree.children_visits[:, 0] - ours.visits).sum(axis=1) / 2
    assert moved.mean() < 1
    assert np.mean(theirs.action == ours.action) > 0.95


def solve(game: Game, state: GameState) -> int:
    """The value of a position under perfect play, seen by the player to move."""
    if state.terminated:
        return int(state.outcome * state.to_play)
    return max(solve_moves(game, state).values())


def solve_moves(game: Game, state: GameState) -> dict[int, int]:
    """The values of the legal moves, seen by the player who makes them."""
    legal = np.flatnonzero(state.legal).tolist()
    after = {action: jax.device_get(stepper(game)(state, action)) for action in legal}
    return {a: solve(game, s) * int(s.to_play * state.to_play) for a, s in after.items()}


def assert_solved(game: Game, states: GameState, policy: Any, solutions: list[dict[int, int]]) -> None:
    """A search that knows nothing plays a best move, and its Q-values have the signs of perfect play."""
    found = jax.device_get(searcher(policy, game, neutral, 160)(None, states))
    visits, qvalues = found.search_tree.children_visits[:, 0], found.search_tree.summary().qvalues
    searched = []
    for index, moves in enumerate(solutions):
        assert moves[int(found.action[index])] == max(moves.values())
        for action, value in moves.items():
            assert value * qvalues[index, action] >= 0
            if visits[index, action] >= 30:
                assert abs(qvalues[index, action] - value) < 0.4
                searched.append(value)
    assert set(searched) == {-1, 0, 1}


@pytest.mark.parametrize("policy", ["gumbel", "muzero, raw Q"])
def test_tic_tac_toe_endgames_agree_with_minimax(policy):
    boards = sorted(
        board for board in tictactoe.reachable() if board.count(0) <= 4 and tictactoe.result(board) is None
    )[::9]
    game = make_game("gomoku", 3, k=3)
    stones = jnp.asarray(boards, jnp.int8).reshape(-1, 3, 3)
    players = jnp.asarray([tictactoe.player(board) for board in boards], jnp.int8)
    states = jax.vmap(game.setup, in_axes=(0, None, 0))(stones, 3, players)
    solutions = [
        {move: -tictactoe.perfect(tictactoe.play(board, move)) for move in tictactoe.moves(board)}
        for board in boards
    ]
    assert {value for moves in solutions for value in moves.values()} == {-1, 0, 1}
    assert_solved(game, states, POLICIES[policy], solutions)


@pytest.mark.parametrize("policy", ["gumbel", "muzero, raw Q"])
def test_othello_endgames_with_forced_passes_agree_with_minimax(policy):
    game, states = near_the_end("othello")
    after = every_move(game, states)
    now = np.asarray(states.legal[:, -1])
    next_move = np.any(np.asarray(states.legal) & after.legal[..., -1] & ~after.terminated, axis=1)
    small = np.asarray(states.size == 4)
    assert np.sum(small & now) > 5
    chosen = select(states, small & (now | next_move))
    one_by_one = [jax.device_get(select(chosen, index)) for index in range(len(chosen.size))]
    assert_solved(game, chosen, POLICIES[policy], [solve_moves(game, state) for state in one_by_one])


def expansions(tree: Any) -> tuple[Any, Any, Any]:
    """Of every expanded node the game, the parent and the move."""
    index, node = np.nonzero(np.asarray(tree.parents) >= 0)
    return index, np.asarray(tree.parents)[index, node], np.asarray(tree.action_from_parent)[index, node]


def count_illegal(policy: Any, game: Game, batch: int = 64) -> int:
    """Illegal expansions below the root, under evaluations that speak for them."""
    states = wander(game, [4, 5] * (batch // 2), 7, seed=3)
    tree = searcher(policy, game, adverse, 24)(jnp.arange(batch) % 4, states).search_tree
    index, parent, action = expansions(tree)
    legal = np.asarray(tree.embeddings.legal)[index, parent, action]
    assert legal[parent == 0].all()
    assert np.sum(parent > 0) > 10 * batch
    return int(np.sum(~legal))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("name", "options"),
    [("othello", {}), ("gomoku", {"k": 4}), pytest.param("go", {"komi": 0.5}, marks=pytest.mark.slow)],
)
def test_no_illegal_move_is_ever_expanded(name, options, policy):
    assert count_illegal(POLICIES[policy], make_game(name, 5, **options)) == 0


def test_raw_qvalues_need_the_q_transform_of_the_bridge():
    """Masked logits alone do not keep raw Q-values from illegal moves."""
    naive = functools.partial(MUZERO, qtransform=lambda tree, node: tree.qvalues(node))
    assert count_illegal(naive, make_game("othello", 5)) > 100


def test_the_embedding_is_the_position_so_that_q_transforms_know_the_legal_moves():
    game, states = near_the_end("othello")
    tree = searcher(RAW_MUZERO, game, open_minded)(None, states).search_tree
    index, parent, action = expansions(tree)
    child = np.asarray(tree.children_index)[index, parent, action]
    before, after = (jax.tree.map(lambda x, at=at: x[index, at], tree.embeddings) for at in (parent, child))
    jax.tree.map(np.testing.assert_array_equal, after, jax.vmap(game.step)(before, action))
    one = jax.tree.map(lambda x: x[0], tree)
    for node in (0, 5, SIMULATIONS):
        transformed, legal = np.asarray(mctx_qtransform(one, node)), np.asarray(one.embeddings.legal[node])
        visited = np.asarray(one.children_visits[node]) > 0
        np.testing.assert_array_equal(np.isneginf(transformed), ~legal)
        np.testing.assert_array_equal(transformed[visited], one.qvalues(node)[visited])
        assert (transformed[legal & ~visited] == one.raw_values[node]).all()


def test_positions_that_the_bridge_was_not_made_for_are_refused():
    game = make_game("gomoku", 5)
    with pytest.raises(ValueError, match="takes a batch"):
        mctx_root(neutral)(None, KEY, game.init(5))
    with pytest.raises(ValueError, match=r"side 6.*max_size=5"):
        mctx_recurrent(game, neutral)(
            None, KEY, jnp.array([0]), wander(make_game("gomoku", 6), [5], 0, seed=0)
        )


def test_the_bridge_is_public():
    assert saz_jax.search.__all__ == sorted(set(saz_jax.search.__all__))
    assert {"mctx_qtransform", "mctx_recurrent", "mctx_root"} <= set(saz_jax.search.__all__)
    for name in saz_jax.search.__all__:
        assert getattr(saz_jax.search, name) is not None
