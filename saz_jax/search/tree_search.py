"""Tree search guided by an `EvaluateFn`: AlphaZero's PUCT and Gumbel MuZero, on mctx.

Both are exact about the rules: a finished game is worth its outcome and nothing else, the sign of a value
follows `to_play` before and after each move, and no illegal move is ever expanded.  Nothing depends on the
padding: ties fall to the first move on the board, and noise is drawn by the rank of an action.
"""

import functools
import math
import typing
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import mctx
from jax.core import Tracer
from mctx._src import seq_halving

from saz_jax.config import SearchConfig
from saz_jax.config.choices import check_choice
from saz_jax.config.registry import SEARCHES
from saz_jax.games.actions import action_ranks
from saz_jax.games.board import for_every_move
from saz_jax.search import memory
from saz_jax.search.proofs import open_moves, sound_moves
from saz_jax.search.rounds import RoundState, ScoreFn, grow_by_rounds, plan
from saz_jax.search.tree import (
    ROOT,
    ExpandFn,
    SelectFn,
    Tree,
    grow_tree,
    most_visited,
    plant,
    principal_variation,
)
from saz_jax.types import Array, EvaluateFn, Evaluation, Game, GameState, SearchFn, SearchOutput, Variables

# Typed for mctx's own tree; ours has the fields that they read.
sequential_halving: Any = mctx.gumbel_muzero_root_action_selection
follow_improved_policy: Any = mctx.gumbel_muzero_interior_action_selection
considered_visits: Any = seq_halving.get_table_of_considered_visits

UNVISITED = typing.get_args(typing.get_type_hints(SearchConfig)["unvisited"])

MASKED = jnp.finfo(jnp.float32).min
"""Log-probability of an illegal move: finite, since 0 * -inf would be nan."""

TreeSearchFn: TypeAlias = Callable[[Variables, Array, GameState, Any], tuple[SearchOutput, Tree]]
"""Like a `SearchFn`, but also returns its trees."""


class GumbelRoot(NamedTuple):
    """What a Gumbel search keeps of its root."""

    root_gumbel: Array
    """float32[A]: the noise; mctx finds it by this name."""
    prior: Array
    """float32[A]: the log prior before exploration noise, which the policy learned must not contain."""
    before: Array
    """int32[A]: visits of a kept tree, made for another root: they tell of values, not which move is best."""


class Strategy(NamedTuple):
    """What distinguishes one kind of search from another; the functions see one game."""

    prepare: Callable[[Array, Array, GameState, Array], tuple[Array, Any]]
    """(key, log prior[A], root, temperature) -> (log prior[A] with noise, data kept in the tree)."""
    select_root: SelectFn
    """(tree, node) -> the action to follow at the root, int32[]."""
    select: SelectFn
    """The same at every other node."""
    conclude: Callable[[Array, Tree, GameState, Array], tuple[Array, Array]]
    """(key, tree, root, temperature) -> (policy[A], action)."""
    score: ScoreFn | None = None
    """Ranks the root's moves where they are visited in rounds; None: one at a time, as `select_root` says."""


def register_search(
    name: str, make: Callable[[Game, EvaluateFn, Any], SearchFn], settings: type = SearchConfig
) -> None:
    """Makes a search known by `name`: to training as `--search.kind name`, to agents and to files.

    `make(game, evaluate, settings) -> SearchFn`; `settings` is a frozen dataclass that derives from
    `SearchConfig` and has `name` as the default of its `kind`.  `search_with` makes one from a `Strategy`.
    """
    if not issubclass(settings, SearchConfig):
        raise ValueError(
            f"the settings of search {name!r} must derive from SearchConfig, as {settings} do not"
        )
    SEARCHES.add(name, make, settings)


def make_search(
    game: Game, evaluate: EvaluateFn, config: SearchConfig, memory_limit: int | None = None
) -> SearchFn:
    """A search of `config.kind` that asks `evaluate` about every new position.

    puct (App. "MCTS", Alg. 1 and 2): `policy` is N^(1/temperature), and `action` is drawn from it; at
    temperature 0 it is the most visited move.  Each simulation adds one visit to a move of the root.
    gumbel: `policy` is the prior improved by the completed Q-values, whatever the temperature; the
    temperature scales the noise at the root, so that at 0 `action` is the best move found.
    Trees that need more than `memory_limit` bytes (what is available if None) are refused.
    """
    make = SEARCHES.find(config.kind).make
    return (
        make(game, evaluate, config) if memory_limit is None else make(game, evaluate, config, memory_limit)
    )


def search_with(strategy: Callable[[Any], Strategy]) -> Callable[..., SearchFn]:
    """`strategy(settings) -> Strategy` as what `register_search` takes: a search of our trees."""

    def make(
        game: Game, evaluate: EvaluateFn, config: SearchConfig, memory_limit: int | None = None
    ) -> SearchFn:
        search_trees = make_tree_search(game, evaluate, config, memory_limit, strategy)

        def search(variables: Variables, key: Array, states: GameState, temperature: Any) -> SearchOutput:
            output, _ = search_trees(variables, key, states, temperature)
            return output

        return search

    return functools.wraps(strategy)(make)


def make_tree_search(
    game: Game,
    evaluate: EvaluateFn,
    config: SearchConfig,
    memory_limit: int | None = None,
    strategy: Callable[[Any], Strategy] | None = None,
) -> TreeSearchFn:
    """Like `make_search`, but its function also returns the trees, for inspection."""
    check(config)
    if strategy is None:
        if config.kind not in STRATEGIES:
            raise ValueError(f"search {config.kind!r} hands out no trees; use one of {', '.join(STRATEGIES)}")
        strategy = STRATEGIES[config.kind]
    rules = strategy(config)

    def search(
        variables: Variables, key: Array, states: GameState, temperature: Any
    ) -> tuple[SearchOutput, Tree]:
        batch = check_states(game, states, temperature)
        copies = memory.COMPILED if isinstance(states.board, Tracer) else memory.EAGER
        memory.check_memory(game, batch, config.simulations, memory_limit, copies, config.solve)
        temperature = jnp.broadcast_to(jnp.asarray(temperature, jnp.float32), (batch,))
        root_key, noise_key, tree_key, action_key = jax.random.split(key, 4)

        judge, expand = judging(game, evaluate, config, variables)
        root = judge(root_key, states)
        said = root.logits
        prior = jax.vmap(functools.partial(prefer_wins, game))(states, said) if config.take_wins else said
        noise_keys = jax.random.split(noise_key, batch)
        prior, extra_data = jax.vmap(rules.prepare)(noise_keys, prior, states, temperature)
        root = root._replace(logits=prior)
        if config.batched_rounds and rules.score is not None:
            tree = plant(root, states, config.simulations, extra_data, config.solve)
            halving = plan(tree, config.simulations, config.max_considered_actions)
            state = RoundState(tree, halving, jnp.ones(batch, jnp.int32), jnp.int32(0))
            tree = grow_by_rounds(
                tree_key, state, config.simulations, expand=expand, select=rules.select, score=rules.score
            ).tree
        else:
            tree = grow_tree(
                tree_key,
                root,
                states,
                expand=expand,
                select_root=rules.select_root,
                select=rules.select,
                simulations=config.simulations,
                extra_data=extra_data,
                solve=config.solve,
            )
        return summary(rules, action_key, tree, states, temperature, said), tree

    return search


def judging(
    game: Game, evaluate: EvaluateFn, config: SearchConfig, variables: Variables
) -> tuple[Callable[[Array, GameState], Evaluation], ExpandFn]:
    """(key, states[B]) -> what a search believes about them, and the same for the positions after moves."""

    def judge(key: Array, states: GameState) -> Evaluation:
        evaluation = evaluate(variables, key, states)
        if config.heuristic_weight:
            score = jax.vmap(functools.partial(share_of_stones, game))(states)
            value = (1 - config.heuristic_weight) * evaluation.value + config.heuristic_weight * score
            evaluation = evaluation._replace(value=value)
        return exact(evaluation, states)

    def expand(key: Array, states: GameState, action: Array) -> tuple[Evaluation, GameState]:
        after = jax.vmap(game.step)(states, action)
        return judge(key, after), after

    return judge, expand


def summary(
    rules: Strategy, key: Array, tree: Tree, states: GameState, temperature: Array, said: Array
) -> SearchOutput:
    """What B trees tell about their roots `states`; `said: float32[B, A]` is the network's log prior."""
    keys = jax.random.split(key, len(states.size))
    policy, action = jax.vmap(rules.conclude)(keys, tree, states, temperature)
    return SearchOutput(
        action=action,
        policy=policy,
        value=tree.node_values[:, ROOT],
        surprise=jnp.sum(jax.scipy.special.rel_entr(policy, jnp.exp(said)), axis=-1),
        visits=tree.children_visits[:, ROOT],
        qvalues=tree.children_qvalues[:, ROOT],
        principal_variation=jax.vmap(principal_variation)(tree),
    )


def exact(evaluation: Evaluation, states: GameState) -> Evaluation:
    """The evaluation with log-probabilities over legal moves; a finished game's value is its outcome."""
    logits = jax.nn.log_softmax(jnp.where(states.legal, evaluation.logits, MASKED))
    return evaluation._replace(
        logits=jnp.where(states.legal, logits, MASKED),
        value=jnp.where(states.terminated, states.outcome * states.to_play, evaluation.value),
    )


def prefer_wins(game: Game, state: GameState, prior: Array) -> Array:
    """The log prior [A] of moves that win at once, if there are any; else the prior as it is."""

    def wins_at_once(action: Array) -> Array:
        after = game.step(state, action)
        return after.terminated & (after.outcome * state.to_play > 0)

    wins = state.legal & for_every_move(wins_at_once, game.num_actions)
    # The others keep a little, so that they stay above illegal moves.
    return jnp.where(state.legal, jax.nn.log_softmax(prior + 100.0 * wins), MASKED)


def share_of_stones(game: Game, state: GameState) -> Array:
    """float32[] in [-1, 1]: the greedy player's score for the player to move, per stone on the board."""
    stones = jnp.maximum(jnp.sum(state.board != 0), 1)
    return jnp.clip(game.heuristic(state, state.to_play) / stones, -1, 1)


def live_noise(draw: Callable[[Array, tuple[int]], Array], key: Array, state: GameState) -> Array:
    """float32[A]: noise drawn by rank among the actions, so that one gets the same whatever the padding."""
    num_actions = state.legal.shape[0]
    return draw(key, (num_actions,))[action_ranks(state.points, num_actions)]


def explore(config: SearchConfig, key: Array, prior: Array, state: GameState) -> Array:
    """The root's log prior [A] with its share of Dirichlet noise over the legal moves."""
    if config.dirichlet_fraction == 0:
        return prior
    alpha = config.dirichlet_total / jnp.sum(state.legal)
    gamma = live_noise(lambda key, shape: jax.random.loggamma(key, alpha, shape), key, state)
    dirichlet = jax.nn.log_softmax(jnp.where(state.legal, gamma, MASKED))
    share = config.dirichlet_fraction
    mixed = jnp.logaddexp(jnp.log1p(-share) + prior, jnp.log(share) + dirichlet)
    return jnp.where(state.legal, mixed, MASKED)


def puct(config: SearchConfig) -> Strategy:
    """AlphaZero's search with raw Q in [-1, 1] (App. "MCTS")."""

    def prepare(key: Array, prior: Array, state: GameState, temperature: Array) -> tuple[Array, None]:
        return explore(config, key, prior, state), None

    def select(tree: Tree, node: Array) -> Array:
        visits = tree.children_visits[node]
        # Before the first visit U is 0 and all Q are equal: counting one visit lets the prior decide.
        total = jnp.maximum(jnp.sum(visits), 1)
        unvisited = tree.raw_values[node] if config.unvisited == "parent" else 0.0
        qvalues = jnp.where(visits > 0, tree.children_qvalues[node], unvisited)
        prior = jnp.exp(tree.children_prior_logits[node])
        score = qvalues + config.c_puct * prior * jnp.sqrt(total) / (1 + visits)
        return jnp.argmax(jnp.where(worth_searching(tree, node), score, -jnp.inf)).astype(jnp.int32)

    def conclude(key: Array, tree: Tree, state: GameState, temperature: Array) -> tuple[Array, Array]:
        visits = tree.children_visits[ROOT]
        if tree.proofs is not None:
            sound = worth_playing(tree)
            # Where all that was visited is proven to lose, the prior chooses among the others.
            prior = jax.nn.softmax(jnp.where(sound, tree.children_prior_logits[ROOT], MASKED))
            visits = jnp.where(sound, jnp.where(jnp.any(sound & (visits > 0)), visits, prior), 0)
        best = jax.nn.one_hot(most_visited(visits, tree.children_qvalues[ROOT]), visits.shape[0])
        power = (visits / jnp.max(visits)) ** (1 / jnp.where(temperature > 0, temperature, 1.0))
        policy = jnp.where(temperature > 0, power / jnp.sum(power), best)
        drawn = jnp.argmax(jnp.log(policy) + live_noise(jax.random.gumbel, key, state))
        return policy, drawn.astype(jnp.int32)

    return Strategy(prepare, select, select, conclude)


def gumbel(config: SearchConfig) -> Strategy:
    """Gumbel MuZero: sequential halving at the root, the improved policy below it."""

    def prepare(key: Array, prior: Array, state: GameState, temperature: Array):
        noise = live_noise(jax.random.gumbel, key, state) * temperature
        explored = explore(config, jax.random.fold_in(key, 0), prior, state)
        return explored, GumbelRoot(noise, prior, jnp.zeros(prior.shape, jnp.int32))

    def select_root(tree: Tree, node: Array) -> Array:
        if tree.proofs is not None:
            return halve_open_moves(config, tree)
        return sequential_halving(
            None,
            tree,
            node,
            num_simulations=config.simulations,
            max_num_considered_actions=config.max_considered_actions,
            qtransform=completed_qvalues,
        )

    def select(tree: Tree, node: Array) -> Array:
        # Never illegal: an illegal move scores 0 here, and the legal scores have a positive sum.
        if tree.proofs is None:
            return follow_improved_policy(None, tree, node, None, qtransform=completed_qvalues)
        alive, visits = worth_searching(tree, node), tree.children_visits[node]
        improved = tree.children_prior_logits[node] + completed_qvalues(tree, node)
        score = jax.nn.softmax(jnp.where(alive, improved, MASKED)) - visits / (1 + jnp.sum(visits))
        return jnp.argmax(jnp.where(alive, score, -jnp.inf)).astype(jnp.int32)

    def conclude(key: Array, tree: Tree, state: GameState, temperature: Array) -> tuple[Array, Array]:
        visits, prior = tree.children_visits[ROOT] - tree.extra_data.before, tree.extra_data.prior
        qvalues = completed_qvalues(tree, ROOT)
        score = root_score(tree)
        if tree.proofs is not None:
            sound = worth_playing(tree)
            visits, prior = jnp.where(sound, visits, -1), jnp.where(sound, prior, MASKED)
        action = jnp.argmax(jnp.where(visits == jnp.max(visits), score, -jnp.inf))
        return jax.nn.softmax(prior + qvalues), action.astype(jnp.int32)

    return Strategy(prepare, select_root, select, conclude, root_score)


def root_score(tree: Tree) -> Array:
    """float32[V]: Gumbel's score of the moves of one game's root."""
    return tree.extra_data.root_gumbel + tree.children_prior_logits[ROOT] + completed_qvalues(tree, ROOT)


def worth_searching(tree: Tree, node: Any) -> Array:
    """bool[A]: the legal moves of one game's `node`, less those of which everything is proven."""
    legal = tree.states.legal[node]
    return legal if tree.proofs is None else open_moves(tree.proofs, node, legal)


def worth_playing(tree: Tree) -> Array:
    """bool[A]: the moves of one game's root that what is proven leaves."""
    assert tree.proofs is not None
    return sound_moves(
        tree.proofs,
        ROOT,
        tree.states.legal[ROOT],
        tree.children_visits[ROOT],
        tree.children_qvalues[ROOT],
    )


def halve_open_moves(config: SearchConfig, tree: Tree) -> Array:
    """Gumbel's sequential halving at one game's root, among the moves of which not everything is proven.

    The schedule says how many visits the next move has had.  Where no open move has had as many, those that
    come nearest take its place.
    """
    visits, alive = tree.children_visits[ROOT], worth_searching(tree, ROOT)
    table = jnp.array(considered_visits(config.max_considered_actions, config.simulations))
    legal = jnp.sum(tree.states.legal[ROOT])
    wanted = table[jnp.minimum(config.max_considered_actions, legal), jnp.sum(visits)]
    distance = jnp.where(alive, jnp.abs(visits - wanted), jnp.iinfo(jnp.int32).max)
    return jnp.argmax(jnp.where(distance == jnp.min(distance), root_score(tree), -jnp.inf)).astype(jnp.int32)


def completed_qvalues(tree: Tree, node: Any) -> Array:
    """float32[A]: Q-values scaled to compare with logits, the mixed value where unvisited, 0 where illegal.

    As `mctx.qtransform_completed_by_mix_value`, whose scale would also count illegal moves, and so padding.
    """
    visits, qvalues = tree.children_visits[node], tree.children_qvalues[node]
    legal, visited, total = tree.states.legal[node], visits > 0, jnp.sum(visits)
    weight = jnp.where(visited, jnp.exp(tree.children_prior_logits[node]), 0.0)
    average = jnp.sum(weight * qvalues) / jnp.maximum(jnp.sum(weight), jnp.finfo(weight.dtype).tiny)
    completed = jnp.where(visited, qvalues, (tree.raw_values[node] + total * average) / (total + 1))
    low = jnp.min(completed, where=legal, initial=jnp.inf)
    high = jnp.max(completed, where=legal, initial=-jnp.inf)
    scale = 0.1 * (50 + jnp.max(visits)) / jnp.maximum(high - low, 1e-8)
    return jnp.where(legal, scale * (completed - low), 0.0)


def check(config: SearchConfig) -> None:
    """Refuse settings that no search can run with."""
    check_choice("unvisited", config.unvisited, UNVISITED)
    if (
        isinstance(config.simulations, bool)
        or not isinstance(config.simulations, int)
        or config.simulations < 1
    ):
        raise ValueError(f"simulations={config.simulations!r}; a search needs a whole number of at least 1")
    if config.max_considered_actions < 1:
        raise ValueError(
            f"max_considered_actions={config.max_considered_actions}; gumbel needs at least 1 root move"
        )
    if not 0 <= config.dirichlet_fraction < 1:
        raise ValueError(f"dirichlet_fraction={config.dirichlet_fraction}; use a share from 0 to below 1")
    if not 0 <= config.heuristic_weight <= 1:
        raise ValueError(
            f"heuristic_weight={config.heuristic_weight}; use a weight from 0 (the network alone) to 1"
        )
    if not 0 <= config.c_puct < math.inf:
        raise ValueError(f"c_puct={config.c_puct}; use 0 or more")
    if not config.dirichlet_total > 0:
        raise ValueError(f"dirichlet_total={config.dirichlet_total}; use a positive number")


def check_states(game: Game, states: GameState, temperature: Any) -> int:
    """B, after refusing positions of another padding, single positions and negative temperatures."""
    if states.board.ndim != 3:
        raise ValueError(f"states.board has shape {states.board.shape}; search takes a batch [B, N, N]")
    if states.board.shape[1] != game.max_size:
        raise ValueError(
            f"positions are padded to side {states.board.shape[1]}, the search to max_size={game.max_size}; "
            "make both from the same game"
        )
    if isinstance(temperature, int | float) and not temperature >= 0:
        raise ValueError(f"temperature={temperature}; use 0 (best move) or more")
    return states.board.shape[0]


STRATEGIES: dict[str, Callable[[Any], Strategy]] = {"puct": puct, "gumbel": gumbel}
for _name, _strategy in STRATEGIES.items():
    register_search(_name, search_with(_strategy))
