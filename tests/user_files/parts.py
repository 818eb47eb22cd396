"""A network, a model, a search and a prior as a user writes them; importing this file registers them."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

import saz_jax
from saz_jax import (
    EvaluateFn,
    Evaluation,
    Game,
    GameState,
    Model,
    Network,
    Observation,
    SearchFn,
    SearchOutput,
)
from saz_jax.config import ModelConfig, SearchConfig
from saz_jax.models import whole_board


@dataclasses.dataclass(frozen=True)
class LinearConfig:
    """A point's logit is a weighted sum of the stones around it."""

    reach: int = 1
    """How far away a stone may lie."""
    turn: bool = True
    """Whether it knows whose turn it is."""


def make_linear(config: LinearConfig, max_size: int) -> Network:
    """One convolution, for boards of every side."""
    side = 2 * config.reach + 1

    def init(key: Array) -> dict[str, Any]:
        return {"params": {"kernel": 0.1 * jax.random.normal(key, (side, side)), "bias": jnp.zeros(2)}}

    def infer(variables: Any, seen: Observation, nodes: Array) -> Evaluation:
        params = variables["params"]
        board = seen.board * (seen.to_play[:, None, None] if config.turn else 1)
        points = jnp.where(nodes[:, :-1].reshape(board.shape), board, 0).astype(jnp.float32)
        around = jax.lax.conv(points[:, None], params["kernel"][None, None], (1, 1), "SAME")
        logits = jnp.concatenate(
            [around.reshape(len(board), -1), jnp.broadcast_to(params["bias"][:1], (len(board), 1))], axis=1
        )
        value = jnp.tanh(around.mean((1, 2, 3)) + params["bias"][1])
        return Evaluation(logits=jnp.where(nodes, logits, jnp.finfo(jnp.float32).min), value=value)

    def fit(variables: Any, key: Array, seen: Observation, nodes: Array) -> tuple[Evaluation, Any]:
        return infer(variables, seen, nodes), variables

    def embed(variables: Any, seen: Observation, nodes: Array) -> Array:
        return infer(variables, seen, nodes).logits[..., None]

    return Network(init, infer, fit, embed)


@dataclasses.dataclass(frozen=True)
class CautiousConfig:
    """How far a cautious model trusts its network."""

    trust: float = 0.75


def make_cautious(network: Network, config: ModelConfig, max_size: int) -> Model:
    """The network's value, scaled down."""
    evaluate_once = whole_board(network)

    def evaluate(variables: Any, key: Array, states: GameState) -> Evaluation:
        said = evaluate_once(variables, key, states)
        return said._replace(value=config.ensemble.trust * said.value)

    return Model(network, evaluate, network.sizes)


@dataclasses.dataclass(frozen=True)
class OnePlyConfig(SearchConfig):
    """The search that looks at every move once."""

    kind: str = "one-ply"
    sharpness: float = 4.0
    """Weight of a move's value against its prior."""


def make_one_ply(game: Game, evaluate: EvaluateFn, config: OnePlyConfig) -> SearchFn:
    """Each legal move's prior, sharpened by the value of the position after it."""

    def search(variables: Any, key: Array, states: GameState, temperature: Any) -> SearchOutput:
        root_key, next_key, action_key = jax.random.split(key, 3)
        said = evaluate(variables, root_key, states)
        actions = jnp.arange(game.num_actions, dtype=jnp.int32)
        after = jax.vmap(lambda state: jax.vmap(game.step, (None, 0))(state, actions))(states)
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), after)
        value = evaluate(variables, next_key, flat).value
        value = jnp.where(flat.terminated, flat.outcome * flat.to_play, value).reshape(said.logits.shape)
        qvalues = jnp.where(states.legal, value * after.to_play * states.to_play[:, None], 0.0)
        scores = jnp.where(states.legal, said.logits + config.sharpness * qvalues, -jnp.inf)
        best = jnp.argmax(scores, axis=-1)
        drawn = jax.random.categorical(action_key, scores)
        action = jnp.where(jnp.asarray(temperature) > 0, drawn, best).astype(jnp.int32)
        policy = jax.nn.softmax(scores)
        return SearchOutput(
            action=action,
            policy=policy,
            value=jnp.sum(policy * qvalues, axis=-1),
            surprise=jnp.zeros(len(best)),
            visits=states.legal.astype(jnp.int32),
            qvalues=qvalues,
            principal_variation=best[:, None].astype(jnp.int32),
        )

    return search


def geometric(log_p1: Array, p2: Array) -> Array:
    """The square root of p1 * p2."""
    return (log_p1 + jnp.log(p2)) / 2


saz_jax.register_network("linear", make_linear, LinearConfig)
saz_jax.register_model("cautious", make_cautious, network="linear", settings=CautiousConfig)
saz_jax.register_search("one-ply", make_one_ply, OnePlyConfig)
saz_jax.register_prior("geometric", geometric)
