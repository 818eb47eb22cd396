"""A masked fully-convolutional residual network with global pooling: a strong modern baseline.

Every layer treats a point by what lies around it and by pooled sums over the present points, so the same
weights read every board side.  Normalisation is layer norm over the channels of each point: nothing
depends on padding or on the rest of the batch, and training equals inference.
"""

import functools

import flax.linen as nn
import jax.numpy as jnp

from saz_jax.config import FCNConfig
from saz_jax.games.actions import PLACING
from saz_jax.networks.features import MARGIN, MARGIN_SCALE, Planes
from saz_jax.networks.kernels.convolution import convolve
from saz_jax.networks.network import Output, make_network
from saz_jax.networks.nodes import each, join_actions, join_board, largest, split_board, zero_absent
from saz_jax.networks.norm import EPSILON
from saz_jax.networks.readout import (
    CERTAINTY,
    TIE,
    TYPICAL_SIDE,
    expected,
    extra_heads,
    head_init,
    ownership_advantage,
)
from saz_jax.types import Array, Network, Steps


def pool(x: Array, points: Array) -> Array:
    """[B, N, N, C], zero at absent points, -> [B, 3 C]: mean, mean scaled by board side, maximum."""
    count = jnp.maximum(points.sum((1, 2)), 1).astype(x.dtype)[:, None]
    mean = x.sum((1, 2)) / count
    side = jnp.sqrt(count)
    scaled = mean * (side - TYPICAL_SIDE) / TYPICAL_SIDE
    return jnp.concatenate([mean, scaled, largest(x, points)], axis=-1)


class Block(nn.Module):
    """x + Conv(ReLU(Conv(ReLU(LN(x))) + pooled)); the last kernel starts at zero, the block as identity."""

    channels: int
    pooled: bool

    @nn.compact
    def __call__(self, x: Array, points: Array) -> Array:
        conv = functools.partial(nn.Conv, self.channels, (3, 3), conv_general_dilated=convolve)
        active = zero_absent(nn.relu(nn.LayerNorm(epsilon=EPSILON)(x)), points)
        y = conv()(active)
        if self.pooled:
            y = y + nn.Dense(self.channels, use_bias=False)(pool(active, points))[:, None, None, :]
        y = zero_absent(nn.relu(y), points)
        return x + conv(use_bias=False, kernel_init=nn.initializers.zeros)(y)


class FCN(nn.Module):
    """Trunk of residual blocks, then a policy per point, pass and value from the pooled board.

    Each kind of move is a channel of the policy: the convolutions have seen both ends of a move where it
    starts.
    """

    config: FCNConfig
    kinds: int = 1
    """Kinds of moves."""

    @nn.compact
    def __call__(self, features: Array, nodes: Array, train: bool) -> Output:
        del train  # Layer norm and no dropout: both modes compute the same.
        channels = self.config.channels
        planes, dummy = split_board(features)
        points, _ = split_board(nodes)
        # A plane of ones tells the edge of the board from empty points.
        ones = jnp.ones((*planes.shape[:-1], 1), planes.dtype)
        seen = zero_absent(jnp.concatenate([planes, ones], axis=-1), points)
        x = nn.Conv(channels, (3, 3), conv_general_dilated=convolve)(seen)
        for index in range(1, self.config.blocks + 1):
            x = Block(channels, pooled=index % self.config.pool_every == 0)(x, points)
        x = zero_absent(nn.relu(nn.LayerNorm(epsilon=EPSILON)(x)), points)
        board = jnp.concatenate([pool(x, points), dummy], axis=-1)

        here = nn.Dense(channels, name="point")(x) + nn.Dense(channels, name="board")(board)[:, None, None, :]
        embedding = nn.relu(here), nn.relu(nn.Dense(channels, name="pass_board")(board))
        point_logits = nn.Dense(self.kinds, name="policy")(embedding[0])
        pass_logit = nn.Dense(1, name="pass")(embedding[1])[..., 0]
        heads = extra_heads(self.config)
        more = {}
        for name in heads:
            width = 1 if name == "ownership" else self.kinds
            said = each(nn.Dense(width, kernel_init=head_init(name), name=name), embedding)
            more[name] = join_actions(said[0], said[1][..., 0])
            if name == "ownership":
                owned = jnp.where(points, jnp.tanh(said[0][..., 0]), 0)
                more |= {"ownership": owned, "score": owned.sum((1, 2))}
        if self.config.readout == "ownership":
            certainty = self.param(CERTAINTY, nn.initializers.zeros, (2,))
            filled = jnp.where(points, jnp.abs(planes[..., 0]), 0).sum((1, 2))
            final = more["score"]
            if self.config.features == "stones_legal_margin":
                final += dummy[:, MARGIN] * MARGIN_SCALE
            advantage = ownership_advantage(final, filled, points.sum((1, 2)), certainty)
        else:
            hidden = nn.relu(nn.Dense(channels, name="value_board")(board))
            advantage = nn.Dense(1, name="value")(hidden)[:, 0]
        value, outcomes = expected(
            advantage, nn.Dense(1, name=TIE)(board)[:, 0] if self.config.outcomes else None
        )
        if outcomes is not None:
            more["outcomes"] = outcomes
        return Output(join_board(embedding), join_actions(point_logits, pass_logit), value, more)


def make_fcn(config: FCNConfig, max_size: int, planes: Planes = (), moves: Steps = PLACING) -> Network:
    """The network on padded boards of side `max_size`; its variables fit every board size.

    planes, moves: those of the game.
    """
    module, heads = FCN(config, len(moves)), extra_heads(config)
    return make_network(module, FCN.__call__, max_size, planes=planes, heads=heads, moves=moves)
