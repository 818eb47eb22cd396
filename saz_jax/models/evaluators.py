"""The players' brains by name: a network, and how it is asked for a prior and a value (Sec. 4.2).

Every evaluator gives log-probabilities renormalised over legal moves, and a value seen by the player to move.
"""

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from saz_jax.config import ModelConfig, SubgraphConfig
from saz_jax.graphs.subgraphs import (
    combine,
    legal_logits,
    sample_subgraphs,
    scatter_max,
    scatter_mean,
    smallest_side,
    subgraph_counts,
)
from saz_jax.graphs.topology import live_nodes
from saz_jax.networks.cnn import make_cnn
from saz_jax.networks.fcn import make_fcn
from saz_jax.networks.gin import make_gin
from saz_jax.types import Array, EvaluateFn, Evaluation, Game, GameState, Model, Network, Variables

SIZE_SETTINGS = "cnn.side (model1, model5) or subgraphs.per_side and subgraphs.shrink (saz, model2, model4)"


@functools.cache
def make_model(config: ModelConfig, game: Game) -> Model:
    """The model that `config` names, for the boards of `game`; equal arguments give the same object."""
    if config.name not in MODELS:
        raise ValueError(f"unknown model {config.name!r}; choose one of {', '.join(sorted(MODELS))}")
    make_network, make_evaluate = MODELS[config.name]
    network = make_network(config, game.max_size)
    evaluate, sizes = make_evaluate(network, config, game.max_size)
    model = Model(config.name, network, evaluate, sizes)
    smallest, _ = sizes
    if smallest > game.max_size:
        raise ValueError(
            f"{model.name} needs a board side of {smallest} or more, but max_size={game.max_size}; "
            f"raise max_size, or change {SIZE_SETTINGS}"
        )
    return dataclasses.replace(model, evaluate=_checked(model, game.max_size))


def check_sizes(model: Model, sizes: Iterable[int]) -> None:
    """Raise `ValueError` unless `model` can play on every live side in `sizes`."""
    smallest, largest = model.sizes
    for size in sizes:
        if size < smallest or (largest is not None and size > largest):
            limits = f"{smallest} or more" if largest is None else f"{smallest} to {largest}"
            raise ValueError(
                f"{model.name} cannot play on board side {size}; it plays sides {limits}: "
                f"choose among them, or change {SIZE_SETTINGS}"
            )


def _checked(model: Model, max_size: int) -> EvaluateFn:
    """`model.evaluate` with its states checked as far as they are concrete."""

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        if states.board.shape[1:] != (max_size, max_size):
            raise ValueError(
                f"boards have shape {states.board.shape}; {model.name} reads (batch, {max_size}, {max_size})"
            )
        if not isinstance(states.size, Tracer):
            check_sizes(model, np.unique(states.size).tolist())
        return model.evaluate(variables, key, states)

    return evaluate


def whole_board(network: Network) -> EvaluateFn:
    """The network on the whole board, nothing else (Model 3)."""

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        del key
        logits, value = network.infer(variables, states, jax.vmap(live_nodes)(states))
        return Evaluation(legal_logits(logits, states.legal), value)

    return evaluate


def subgraph_ensemble(network: Network, config: SubgraphConfig, max_size: int) -> EvaluateFn:
    """The network on the whole board and on sampled subgraphs; the value is the whole board's (Sec. 3.2).

    The subgraphs of a state follow from the key and the state's place in the batch.  The passes run one after
    another, as many as the largest live side in the batch asks for: memory stays that of one pass, and
    small boards do not pay for their padding.
    """
    counts = subgraph_counts(config, max_size)
    scatter = {"mean": scatter_mean, "max": scatter_max}[config.pool]

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(len(states.size)))
        live = jax.vmap(live_nodes)(states)
        sample = functools.partial(sample_subgraphs, config=config, max_size=max_size)
        subgraphs = jax.vmap(sample, out_axes=1)(keys, live, states.size)
        nodes = jnp.concatenate([live[None], subgraphs])

        def infer(which: Any, passes: Evaluation) -> Evaluation:
            one = network.infer(variables, states, nodes[which])
            return jax.tree.map(lambda old, new: old.at[which].set(new), passes, one)

        empty = Evaluation(jnp.zeros(nodes.shape), jnp.zeros(nodes.shape[:2]))
        num_passes = 1 + jnp.asarray(counts)[states.size].max()
        logits, value = jax.lax.fori_loop(0, num_passes, infer, empty)
        p2 = scatter(jax.nn.softmax(logits[1:]), subgraphs)
        return Evaluation(combine(jax.nn.log_softmax(logits[0]), p2, states.legal, config.combine), value[0])

    return evaluate


def sliding_window(network: Network, side: int) -> EvaluateFn:
    """A network for unpadded boards of `side`, slid over every sub-board of that side (Model 5).

    The prior of a point is the mean over the windows that hold it; pass and the value are means over all
    windows.  Windows run one after another, those that lie on the largest live board of the batch.
    """

    def evaluate(variables: Variables, key: Array, states: GameState) -> Evaluation:
        del key
        places = states.size.max() - side + 1

        def add_window(which: Any, sums: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            row, column = which // places, which % places
            window = sub_boards(states, row, column, side)
            logits, value = network.infer(variables, window, jnp.ones(window.legal.shape, bool))
            # A window that leaves a state's own live board counts nothing there.
            weight = (jnp.maximum(row, column) + side <= states.size).astype(value.dtype)
            held = jnp.broadcast_to(weight[:, None], logits.shape)
            prior = place(jax.nn.softmax(logits) * held, row, column, states.board.shape)
            count = place(held, row, column, states.board.shape)
            return sums[0] + prior, sums[1] + count, sums[2] + value * weight

        zeros = jnp.zeros(states.legal.shape)
        prior, count, value = jax.lax.fori_loop(0, places**2, add_window, (zeros, zeros, zeros[:, 0]))
        log_prior = jnp.log(prior / jnp.maximum(count, 1))
        return Evaluation(legal_logits(log_prior, states.legal), value / jnp.maximum(count[:, -1], 1))

    return evaluate


def sub_boards(states: GameState, row: Any, column: Any, side: int) -> GameState:
    """The B sub-boards of `side` whose corner is (row, column), as positions of their own."""
    batch = len(states.size)
    legal_points = states.legal[:, :-1].reshape(states.board.shape)
    board, legal = (
        jax.lax.dynamic_slice(x, (0, row, column), (batch, side, side)) for x in (states.board, legal_points)
    )
    legal = jnp.concatenate([legal.reshape(batch, -1), states.legal[:, -1:]], axis=1)
    return states._replace(board=board, size=jnp.full_like(states.size, side), legal=legal)


def place(x: Array, row: Any, column: Any, shape: tuple[int, ...]) -> Array:
    """float[B, V]: node values of sub-boards at (row, column) on boards of `shape` [B, N, N], 0 elsewhere."""
    side = round((x.shape[1] - 1) ** 0.5)
    points = x[:, :-1].reshape(-1, side, side)
    board = jax.lax.dynamic_update_slice(jnp.zeros(shape, x.dtype), points, (0, row, column))
    return jnp.concatenate([board.reshape(len(x), -1), x[:, -1:]], axis=1)


Sizes: TypeAlias = tuple[int, int | None]


def _gin(config: ModelConfig, max_size: int) -> Network:
    return make_gin(config.gin, max_size)


def _cnn(config: ModelConfig, max_size: int) -> Network:
    return make_cnn(config.cnn, max_size)


def _fcn(config: ModelConfig, max_size: int) -> Network:
    return make_fcn(config.fcn, max_size)


def _alone(network: Network, config: ModelConfig, max_size: int) -> tuple[EvaluateFn, Sizes]:
    return whole_board(network), network.sizes


def _with_subgraphs(network: Network, config: ModelConfig, max_size: int) -> tuple[EvaluateFn, Sizes]:
    sizes = (max(network.sizes[0], smallest_side(config.subgraphs)), network.sizes[1])
    return subgraph_ensemble(network, config.subgraphs, max_size), sizes


def _subgraphs_only(network: Network, config: ModelConfig, max_size: int) -> tuple[EvaluateFn, Sizes]:
    only = dataclasses.replace(config.subgraphs, combine="only")
    return _with_subgraphs(network, dataclasses.replace(config, subgraphs=only), max_size)


def _slid(network: Network, config: ModelConfig, max_size: int) -> tuple[EvaluateFn, Sizes]:
    # The network itself reads (and learns from) boards of its side, padded or not; a window needs no padding.
    side = config.cnn.side
    return sliding_window(make_cnn(config.cnn, side), side), (side, None)


MODELS = {
    "saz": (_gin, _with_subgraphs),
    "model1": (_cnn, _alone),
    "model2": (_gin, _with_subgraphs),
    "model3": (_gin, _alone),
    "model4": (_gin, _subgraphs_only),
    "model5": (_cnn, _slid),
    "fcn": (_fcn, _alone),
}
"""Name -> the network, and how it is asked; model2 is saz, trained on the size that it is tested on."""
