"""What every network sees of a position."""

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp

from saz_jax.config import Features
from saz_jax.games.actions import num_kinds
from saz_jax.types import Array, Observation

NUM_FEATURES: dict[Features, int] = {
    "stones": 1,
    "stones_legal": 2,
    "stones_legal_turn": 3,
    "stones_legal_margin": 3,
}
MARGIN, MARGIN_SCALE = 2, 10
"""The feature of `stones_legal_margin` that holds the margin, and how many points are 1 there."""
Planes: TypeAlias = tuple[Callable[[Observation], Array], ...]
"""`Game.planes`: what one game adds to the features of every position."""


def num_features(features: Features, num_planes: int = 0, kinds: int = 1) -> int:
    """F: features of a node, those included that the game adds, by planes and by further kinds of moves."""
    return NUM_FEATURES[features] + num_planes + (kinds - 1 if features != "stones" else 0)


def node_features(seen: Observation, features: Features, planes: Planes = ()) -> Array:
    """float32[B, V, F]: canonical node features, seen by the player to move (Sec. 3.1).

    Feature 0 is +1 for an own stone, -1 for the other side's, 0 for an empty point and the dummy node.
    `stones_legal` adds whether the node is a legal action, pass for the dummy node; `stones_legal_turn` that
    and +1 at every node where dark is to move, -1 where light is.  Without it a position of Go and the same
    one with the colours exchanged look alike, though komi tells them apart: a pass then seems to hand the
    komi over.  `stones_legal_margin` tells how much it is: at every node, a tenth of the points that the
    player to move is given before the count.  The game's own `planes` follow, 0 at the dummy node.  Where a
    game has several kinds of moves, a node tells which of them may start there: the first kind as above, the
    others last.
    """
    own = seen.board * seen.to_play[:, None, None]
    parts = [_with_dummy(own)]
    legal = _legal_by_kind(seen) if features != "stones" else []
    parts += legal[:1]
    if features == "stones_legal_turn":
        parts.append(jnp.broadcast_to(seen.to_play[:, None], parts[0].shape))
    if features == "stones_legal_margin":
        margin = jnp.zeros(len(own)) if seen.margin is None else seen.margin
        given = margin * seen.to_play / MARGIN_SCALE
        parts.append(jnp.broadcast_to(given[:, None], parts[0].shape))
    parts += [_with_dummy(jax.vmap(plane)(seen)) for plane in planes]
    parts += legal[1:]
    return jnp.stack([part.astype(jnp.float32) for part in parts], axis=-1)


def _legal_by_kind(seen: Observation) -> list[Array]:
    """[B, V] for each kind of move: whether it may start at that node, pass at the dummy node."""
    batch, side, _ = seen.board.shape
    kinds = num_kinds(seen.legal.shape[1], side)
    if kinds == 1:
        return [seen.legal]
    points = seen.legal[:, :-1].reshape(batch, kinds, side * side)
    return [jnp.concatenate([points[:, kind], seen.legal[:, -1:]], axis=1) for kind in range(kinds)]


def _with_dummy(points: Array) -> Array:
    """[B, N, N] -> [B, V], 0 at the dummy node."""
    return jnp.pad(points.reshape(points.shape[0], -1), ((0, 0), (0, 1)))
