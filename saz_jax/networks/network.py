"""From a flax module to the `Network` record that the other layers use."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from saz_jax.games.actions import PLACING, within
from saz_jax.networks.checks import check_boards, check_config, check_variables
from saz_jax.networks.features import Planes, node_features, num_features
from saz_jax.networks.kernels.chunks import CONVOLUTION_NODES, in_chunks
from saz_jax.types import Array, Evaluation, Network, Observation, Steps, Variables


class Output(NamedTuple):
    """All that a network computes for B padded boards."""

    embedding: Array
    """float32[B, V, H]: every node before the heads."""
    logits: Array
    """float32[B, A]: any value at actions with an absent end."""
    value: Array
    """float32[B]: in [-1, 1], seen by the player to move."""
    more: Mapping[str, Array] = {}
    """Optional fields of `Evaluation` by name; `reply` and `soft` are as `logits`."""


ReadBoards = Callable[[Any, Array, Array, bool], Output]
"""(module, features float32[B, V, F], nodes bool[B, V], train) -> Output."""


def make_network(
    module: Any,
    read: ReadBoards,
    max_size: int,
    init_side: int = 1,
    sizes: tuple[int, int | None] = (1, None),
    chunk_nodes: int = CONVOLUTION_NODES,
    planes: Planes = (),
    heads: tuple[str, ...] = (),
    moves: Steps = PLACING,
) -> Network:
    """The network of a flax module whose `config` names its features, with its inputs checked.

    `read` runs the module on boards; `init_side` is a padded side on which its variables can be made,
    `chunk_nodes` how many nodes a CPU reads at a time, `planes` are the features that the game adds, `moves`
    its kinds of moves, and `heads` as in `Network`.
    """
    check_config(module.config, max_size)
    kind = module.config.features

    def init(key: Array) -> Variables:
        num_nodes = init_side * init_side + 1
        features = jnp.zeros((1, num_nodes, num_features(kind, len(planes), len(moves))))
        return module.init(key, features, jnp.ones((1, num_nodes), bool), False, method=read)

    @functools.cache
    def expected() -> Variables:
        return jax.eval_shape(init, jax.random.key(0))

    def inputs(variables: Variables, seen: Observation, nodes: Array) -> Array:
        check_variables(variables, expected())
        check_boards(seen, nodes, max_size)
        return node_features(seen, kind, planes)

    def evaluate(variables: Variables, features: Array, nodes: Array) -> Evaluation:
        return _evaluation(module.apply(variables, features, nodes, False, method=read), within(nodes, moves))

    def infer(variables: Variables, seen: Observation, nodes: Array) -> Evaluation:
        features = inputs(variables, seen, nodes)
        batch = features, nodes
        return in_chunks(evaluate, variables, batch, num_nodes=nodes.shape[1], chunk_nodes=chunk_nodes)

    def fit(
        variables: Variables, key: Array, seen: Observation, nodes: Array
    ) -> tuple[Evaluation, Variables]:
        features = inputs(variables, seen, nodes)
        output, updated = module.apply(
            variables, features, nodes, True, method=read, rngs={"dropout": key}, mutable=["batch_stats"]
        )
        return _evaluation(output, within(nodes, moves)), {**variables, **updated}

    def embed(variables: Variables, seen: Observation, nodes: Array) -> Array:
        features = inputs(variables, seen, nodes)
        return module.apply(variables, features, nodes, False, method=read).embedding

    return Network(init, infer, fit, embed, sizes, heads)


def _evaluation(output: Output, present: Array) -> Evaluation:
    """`present`: bool[B, A]."""

    def masked(logits: Array) -> Array:
        return jnp.where(present, logits, jnp.finfo(logits.dtype).min)

    more = {name: masked(x) if name in ("reply", "soft") else x for name, x in output.more.items()}
    return Evaluation(masked(output.logits), output.value, **more)
