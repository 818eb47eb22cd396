"""Tree search guided by an `EvaluateFn`: AlphaZero's PUCT and Gumbel MuZero, on mctx.

Both searches are exact about the rules: a terminal node is worth its outcome and nothing else, the sign of
a value follows `to_play` before and after each move, and no illegal move is ever expanded.  Nothing
depends on the padding: ties fall to the first move in board order, noise is drawn by live index.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import mctx

from saz_jax.config import SearchConfig
from saz_jax.games.board import padded_to_live
from saz_jax.types import Array, EvaluateFn, Evaluation, Game, GameState, SearchFn, SearchOutput, Variables

MASKED = jnp.finfo(jnp.float32).min
"""Logit of an illegal move; finite, so that softmax and sums stay finite."""
MAX_VARIATION = 16
"""Longest principal variation reported."""


def make_search(game: Game, evaluate: EvaluateFn, config: SearchConfig) -> SearchFn:
    """A search of `config.kind` that asks `evaluate` about every new position.

    puct (App. "MCTS", Alg. 1 and 2): `policy` is N^(1/temperature), and `action` is drawn from it; at
    temperature 0 it is the most visited move, the higher Q first among equals.
    gumbel: `policy` is the prior improved by the completed Q-values, whatever the temperature; the
    temperature scales the noise at the root that makes `action` vary.
    """
    check(config)

    def recurrent(variables: Variables, key: Array, action: Array, states: GameState):
        after = jax.vmap(game.step)(states, action)
        evaluation = masked(evaluate(variables, key, after), after)
        step = mctx.RecurrentFnOutput(
            reward=jnp.zeros_like(evaluation.value),
            discount=jnp.where(after.to_play == states.to_play, 1.0, -1.0),
            prior_logits=evaluation.logits,
            value=evaluation.value,
        )
        return step, after

    def search(variables: Variables, key: Array, states: GameState, temperature: Any) -> SearchOutput:
        root_key, noise_key, tree_key, action_key = jax.random.split(key, 4)
        batch = states.to_play.shape[0]
        temperature = jnp.broadcast_to(jnp.asarray(temperature, jnp.float32), (batch,))
        logits, value = masked(evaluate(variables, root_key, states), states)
        noise_keys = jax.random.split(noise_key, batch)
        if config.kind == "puct":
            logits = jax.vmap(functools.partial(noisy_prior, config=config))(noise_keys, logits, states)
            extra = None
            select_root = functools.partial(puct_action, depth=0, config=config)
            select = functools.partial(puct_action, config=config)
        else:
            gumbel = jax.vmap(functools.partial(live_noise, jax.random.gumbel))(noise_keys, states)
            gumbel = gumbel * (config.gumbel_scale * temperature)[:, None]
            extra = mctx.GumbelMuZeroExtraData(root_gumbel=gumbel)  # type: ignore[call-arg]
            select_root = functools.partial(
                mctx.gumbel_muzero_root_action_selection,
                num_simulations=config.simulations,
                max_num_considered_actions=config.considered,
                qtransform=completed_qvalues,
            )
            select = functools.partial(
                mctx.gumbel_muzero_interior_action_selection, qtransform=completed_qvalues
            )
        tree = mctx.search(
            variables,
            tree_key,
            root=mctx.RootFnOutput(prior_logits=logits, value=value, embedding=states),
            recurrent_fn=recurrent,
            root_action_selection_fn=select_root,
            interior_action_selection_fn=select,
            num_simulations=config.simulations,
            invalid_actions=~states.legal,
            extra_data=extra,
        )
        visits = tree.children_visits[:, 0]
        qvalues = jnp.where(visits > 0, tree.qvalues(jnp.zeros(batch, jnp.int32)), 0.0)
        if config.kind == "puct":
            policy = jax.vmap(visit_policy)(visits, qvalues, temperature)
            action = jax.vmap(jax.random.categorical)(jax.random.split(action_key, batch), jnp.log(policy))
        else:
            improved = logits + jax.vmap(completed_qvalues, in_axes=(0, None))(tree, 0)
            policy = jax.nn.softmax(jnp.where(states.legal, improved, MASKED))
            most = visits == jnp.max(visits, axis=-1, keepdims=True)
            action = jnp.argmax(jnp.where(most & states.legal, gumbel + improved, -jnp.inf), axis=-1)
        return SearchOutput(
            action=action.astype(jnp.int32),
            policy=policy,
            value=tree.node_values[:, 0],
            visits=visits,
            qvalues=qvalues,
            principal_variation=jax.vmap(principal_variation)(tree),
        )

    return search


def check(config: SearchConfig) -> None:
    """Raise `ValueError` for settings that no search can run with."""
    if config.kind not in ("puct", "gumbel"):
        raise ValueError(f"unknown search {config.kind!r}; choose puct or gumbel")
    if config.simulations < 1:
        raise ValueError(f"simulations={config.simulations}; a search needs at least 1")
    if config.considered < 1:
        raise ValueError(f"considered={config.considered}; gumbel needs at least 1 root move")


def masked(evaluation: Evaluation, states: GameState) -> Evaluation:
    """The evaluation with illegal moves masked and the exact outcome as the value of finished games."""
    outcome = states.outcome * states.to_play
    return Evaluation(
        logits=jnp.where(states.legal, jnp.maximum(evaluation.logits, MASKED / 2), MASKED),
        value=jnp.where(states.terminated, outcome, evaluation.value),
    )


def live_noise(draw: Any, key: Array, state: GameState) -> Array:
    """float32[V] noise by live index: the same for a move whatever the padding."""
    points = state.legal.shape[0]
    index = padded_to_live(jnp.arange(points), state.size, state.board.shape[0])
    return draw(key, (points,))[index]


def noisy_prior(key: Array, logits: Array, state: GameState, *, config: SearchConfig) -> Array:
    """One root's logits with Dirichlet noise mixed in, over legal moves only."""
    if config.noise_fraction == 0:
        return logits
    alpha = config.noise_concentration / jnp.sum(state.legal)
    log_gamma = live_noise(lambda k, shape: jax.random.loggamma(k, alpha, shape), key, state)
    noise = jax.nn.softmax(jnp.where(state.legal, log_gamma, MASKED))
    prior = (1 - config.noise_fraction) * jax.nn.softmax(logits) + config.noise_fraction * noise
    return jnp.where(state.legal, jnp.log(prior), MASKED)


def puct_action(key: Array, tree: mctx.Tree, node: Array, depth: Any, *, config: SearchConfig) -> Array:
    """The move of highest Q + U at one node (App. "MCTS"); the first one in board order among equals.

    At a fresh node every U is 0 and every Q alike: there the prior decides, as it would with any small
    number added under the root of sum N.
    """
    del key, depth
    logits = tree.children_prior_logits[node]
    visits = tree.children_visits[node]
    total = jnp.maximum(tree.node_visits[node] - 1, 1).astype(jnp.float32)
    unvisited = tree.raw_values[node] if config.unvisited == "parent" else 0.0
    qvalues = jnp.where(visits > 0, tree.qvalues(node), unvisited)
    score = qvalues + config.c_puct * jax.nn.softmax(logits) * jnp.sqrt(total) / (1 + visits)
    return jnp.argmax(jnp.where(logits > MASKED, score, -jnp.inf)).astype(jnp.int32)


def completed_qvalues(tree: mctx.Tree, node: Any) -> Array:
    """mctx's completed Q-values; illegal moves far below all others."""
    legal = tree.children_prior_logits[node] > MASKED
    return jnp.where(legal, mctx.qtransform_completed_by_mix_value(tree, node), 0.0)


def visit_policy(visits: Array, qvalues: Array, temperature: Array) -> Array:
    """N^(1/temperature), normalised (Alg. 2); at temperature 0 all on the most visited move."""
    share = visits / jnp.max(visits)
    power = jnp.where(visits > 0, share ** (1 / jnp.where(temperature > 0, temperature, 1.0)), 0.0)
    # |Q| <= 1, so a quarter of it orders equal counts and never overturns unequal ones.
    best = jnp.argmax(visits + qvalues / 4)
    greedy = jax.nn.one_hot(best, visits.shape[0])
    return jnp.where(temperature > 0, power / jnp.sum(power), greedy)


def principal_variation(tree: mctx.Tree) -> Array:
    """int32[D]: the most visited path of one tree, -1 after its end."""

    def follow(node: Array, _: None) -> tuple[Array, Array]:
        visits = tree.children_visits[node]
        action = jnp.argmax(visits).astype(jnp.int32)
        inside = (node >= 0) & (visits[action] > 0)
        child = jnp.where(inside, tree.children_index[node, action], -1)
        return child, jnp.where(inside, action, -1)

    depth = min(tree.num_simulations, MAX_VARIATION)
    return jax.lax.scan(follow, jnp.int32(0), None, length=depth)[1]
