"""A network's embeddings of good and bad actions on boards of every size (Sec. 4.2)."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.agents.agent import Agent
from saz_jax.games.actions import sources
from saz_jax.graphs.topology import live_nodes
from saz_jax.models.registry import make_model
from saz_jax.studies.synthetic import good_and_bad, synthetic_board

PADDING = 50
"""Boards are padded to the next multiple of this: seven compilations for all sides up to 350."""
TINY = float(np.finfo(np.float64).tiny)


def action_embeddings(
    agent: Agent, sizes: Sequence[int], progress: Callable[[int], None] = lambda done: None
) -> np.ndarray:
    """float32[sizes, 2, H]: the good and the bad action's embedding on the synthetic board of each side."""
    padded = [-(-size // PADDING) * PADDING for size in sizes]
    embed = {side: _make_embed(agent, side) for side in set(padded)}
    rows = []
    for size, side in zip(sizes, padded, strict=True):
        board, actions = synthetic_board(size, side), np.array(good_and_bad(size, side))
        rows.append(np.asarray(embed[side](agent.variables, board, size, actions)))
        progress(len(rows))
    return np.stack(rows)


def _make_embed(agent: Agent, side: int) -> Callable[..., jax.Array]:
    """(variables, board int8[N, N], size, actions int32[A]) -> float32[A, H], dark to move."""
    game = agent.game(side)
    network, starts = make_model(agent.model, game).network, jnp.asarray(sources(side, game.moves))

    @jax.jit
    def embed(variables: Any, board: jax.Array, size: jax.Array, actions: jax.Array) -> jax.Array:
        states = jax.tree.map(lambda x: x[None], game.setup(board, size, jnp.int8(1)))
        return network.embed(variables, states, jax.vmap(live_nodes)(states))[0, starts[actions]]

    return embed


def principal_components(x: np.ndarray, count: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """(x[..., H] on its first principal components [..., count], their shares of the variance [count])."""
    flat = x.reshape(-1, x.shape[-1]).astype(np.float64)
    centred = flat - flat.mean(0)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    # An axis may point either way; its largest weight is made positive, so that figures agree.
    largest = np.abs(axes).argmax(1)[:, None]
    axes = axes * np.sign(np.take_along_axis(axes, largest, axis=1))
    shares = singular**2 / max(float((singular**2).sum()), TINY)
    return (centred @ axes[:count].T).reshape(*x.shape[:-1], -1), shares[:count]


def separability(x: np.ndarray) -> dict[str, float]:
    """How separable the good actions x[:, 0] and the bad ones x[:, 1] are; x: [sizes, 2, H], sizes >= 2.

    accuracy: share of actions nearer to the mean of their own kind than to that of the other, where means
    are over all other sizes; ordered: share of sizes whose good action lies further than its bad one along
    the line from the bad to the good mean; gap: distance of the two means in units of the spread around
    them.
    """
    x = x.astype(np.float64)
    means = (x.sum(0)[None] - x) / (len(x) - 1)
    own = np.linalg.norm(x - means, axis=-1)
    other = np.linalg.norm(x - means[:, ::-1], axis=-1)
    along = ((x[:, 0] - x[:, 1]) * (means[:, 0] - means[:, 1])).sum(-1)
    spread = np.sqrt(((x - x.mean(0)[None]) ** 2).sum(-1).mean())
    gap = np.linalg.norm(x[:, 0].mean(0) - x[:, 1].mean(0)) / max(spread, TINY)
    return {
        "accuracy": float((own < other).mean()),
        "ordered": float((along > 0).mean()),
        "gap": float(gap),
    }
