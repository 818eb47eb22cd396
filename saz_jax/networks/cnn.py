"""The paper's AlphaZero network for one board side (App. "CNN architecture")."""

import math

import flax.linen as nn
import jax.numpy as jnp

from saz_jax.config import CNNConfig
from saz_jax.games.actions import PLACING
from saz_jax.networks.features import Planes
from saz_jax.networks.network import Output, make_network
from saz_jax.networks.nodes import split_board
from saz_jax.types import Array, Network, Steps

MIN_SIDE = 5
"""Two convolutions without padding leave side - 4 points."""


class CNN(nn.Module):
    """Two padded and two unpadded 3x3 convolutions, two fully-connected layers, a policy and a value head."""

    config: CNNConfig
    kinds: int = 1
    """Kinds of moves."""

    @nn.compact
    def __call__(self, features: Array, nodes: Array, train: bool) -> Output:
        side, batch = self.config.side, features.shape[0]
        x = split_board(features)[0][:, :side, :side]
        for padding in ("SAME", "SAME", "VALID", "VALID"):
            x = nn.Conv(self.config.channels, (3, 3), padding=padding)(x)
            x = nn.relu(nn.BatchNorm(not train, momentum=0.9)(x))
        x = x.reshape(batch, -1)
        for width in self.config.dense:
            x = nn.Dropout(self.config.dropout, deterministic=not train)(nn.Dense(width)(x))
            x = nn.relu(nn.BatchNorm(not train, momentum=0.9)(x))
        live = nn.Dense(self.kinds * side * side + 1, name="policy")(x)
        value = jnp.tanh(nn.Dense(1, name="value")(x)[:, 0])
        beyond = math.isqrt(nodes.shape[1] - 1) - side
        by_kind = live[:, :-1].reshape(batch, self.kinds, side, side)
        padded = jnp.pad(by_kind, ((0, 0), (0, 0), (0, beyond), (0, beyond)))
        logits = jnp.concatenate([padded.reshape(batch, -1), live[:, -1:]], axis=1)
        embedding = jnp.broadcast_to(x[:, None], (*nodes.shape, x.shape[-1]))
        return Output(embedding, logits, value)


def make_cnn(config: CNNConfig, max_size: int, planes: Planes = (), moves: Steps = PLACING) -> Network:
    """The CNN for live boards of side `config.side` alone, in the corner of padded boards.

    It reads nothing beyond that corner, so a live board of another side goes unnoticed: callers look at
    `sizes`.  It has no embedding per node: `embed` gives the board's last hidden layer at every node.
    planes, moves: those of the game.
    """
    side = config.side
    if side < MIN_SIDE:
        raise ValueError(f"a CNN cannot read boards of side {side}; the smallest is {MIN_SIDE}")
    if side > max_size:
        raise ValueError(f"CNN of side {side} exceeds max_size={max_size}; raise max_size")
    return make_network(
        CNN(config, len(moves)),
        CNN.__call__,
        max_size,
        init_side=side,
        sizes=(side, side),
        planes=planes,
        moves=moves,
    )
