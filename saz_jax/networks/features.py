"""What every network sees of a position."""

import jax.numpy as jnp

from saz_jax.config import Features
from saz_jax.types import Array, Observation

NUM_FEATURES: dict[Features, int] = {
    "stones": 1,
    "stones_legal": 2,
    "stones_legal_turn": 3,
    "stones_legal_margin": 3,
}
MARGIN, MARGIN_SCALE = 2, 10
"""The feature of `stones_legal_margin` that holds the margin, and how many points are 1 there."""


def node_features(seen: Observation, features: Features) -> Array:
    """float32[B, V, F]: canonical node features, seen by the player to move (Sec. 3.1).

    Feature 0 is +1 for an own stone, -1 for the other side's, 0 for an empty point and the dummy node.
    `stones_legal` adds whether the node is a legal action, pass for the dummy node; `stones_legal_turn` that
    and +1 at every node where dark is to move, -1 where light is.  Without it a position of Go and the same
    one with the colours exchanged look alike, though komi tells them apart: a pass then seems to hand the
    komi over.  `stones_legal_margin` tells how much it is: at every node, a tenth of the points that the
    player to move is given before the count.
    """
    batch = seen.board.shape[0]
    own = (seen.board * seen.to_play[:, None, None]).reshape(batch, -1)
    planes = [jnp.pad(own, ((0, 0), (0, 1)))]
    if features != "stones":
        planes.append(seen.legal)
    if features == "stones_legal_turn":
        planes.append(jnp.broadcast_to(seen.to_play[:, None], seen.legal.shape))
    if features == "stones_legal_margin":
        margin = jnp.zeros(batch) if seen.margin is None else seen.margin
        given = margin * seen.to_play / MARGIN_SCALE
        planes.append(jnp.broadcast_to(given[:, None], seen.legal.shape))
    return jnp.stack([plane.astype(jnp.float32) for plane in planes], axis=-1)
