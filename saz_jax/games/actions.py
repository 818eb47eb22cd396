"""What an action is: a node or a typed edge of the board's graph, for every game alike.

A game lists its kinds of moves in `Game.moves`, each the (row, column) step from the point where a move
starts to the point where it ends.  The step (0, 0) places a stone; any other one moves a stone along an edge.
Action `kind * N * N + node` is the move of that kind that starts at `node`, and the last action is "pass":
A = kinds * N * N + 1.  Where placing is the only kind, A = V and action i is node i.
"""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from saz_jax.games.board import COMPASS8, NUM_SYMMETRIES, point, symmetry
from saz_jax.types import Array, Steps

PLACING: Steps = ((0, 0),)
"""One move per node."""
MOVING: Steps = COMPASS8
"""One move per node and compass direction."""

LINEAR = ((1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0))
"""Quarter turns as matrices: the step that becomes (dr, dc) is (a * dr + b * dc, c * dr + d * dc)."""


def num_kinds(num_actions: int, max_size: int) -> int:
    """How many kinds of moves there are, from A and N."""
    return (num_actions - 1) // (max_size * max_size)


def source_and_target(action: int, max_size: int, moves: Steps) -> tuple[tuple[int, int], tuple[int, int]]:
    """((row, column), (row, column)): where an action, not pass, starts and ends, on or off the board."""
    kind, node = divmod(int(action), max_size * max_size)
    (row, column), (dr, dc) = divmod(node, max_size), moves[kind]
    return (row, column), (row + dr, column + dc)


def action_of(source: tuple[int, int], target: tuple[int, int], max_size: int, moves: Steps) -> int | None:
    """The inverse of `source_and_target`; None if no kind of move makes that step."""
    step = target[0] - source[0], target[1] - source[1]
    if step not in moves:
        return None
    return (moves.index(step) * max_size + source[0]) * max_size + source[1]


def start_and_end(action: Array | int, max_size: int, moves: Steps) -> tuple[Array, Array]:
    """(bool[N, N], bool[N, N]): True where the action starts and where it ends; nowhere for pass."""
    action = jnp.asarray(action, jnp.int32)
    kind, node = action // (max_size * max_size), action % (max_size * max_size)
    dr, dc = jnp.asarray(moves, jnp.int32)[jnp.clip(kind, 0, len(moves) - 1)]
    is_move = (kind >= 0) & (kind < len(moves))
    start = point(node, max_size) & is_move
    return start, point(node + dr * max_size + dc, max_size) & is_move


def sources(max_size: int, moves: Steps) -> np.ndarray:
    """int32[A]: the node where each action starts; the dummy node for pass."""
    nodes = np.arange(max_size * max_size, dtype=np.int32)
    return np.append(np.tile(nodes, len(moves)), np.int32(max_size * max_size))


def within(nodes: Array, moves: Steps) -> Array:
    """bool[..., A]: the actions of a subgraph, bool[..., V]: those of which it holds both ends."""
    if moves == PLACING:
        return nodes
    side = round((nodes.shape[-1] - 1) ** 0.5)
    points = nodes[..., :-1].reshape(*nodes.shape[:-1], side, side)
    held = jnp.stack([points & ending_at(points, step) for step in moves], axis=-3)
    return jnp.concatenate([held.reshape(*nodes.shape[:-1], -1), nodes[..., -1:]], axis=-1)


def ending_at(points: Array, step: tuple[int, int]) -> Array:
    """[..., N, N]: at each point the value where a move by `step` ends; 0 or False beyond the board."""
    (dr, dc), (rows, columns) = step, points.shape[-2:]
    pad = [(0, 0)] * (points.ndim - 2) + [(max(-dr, 0), max(dr, 0)), (max(-dc, 0), max(dc, 0))]
    padded = jnp.pad(points, pad)
    return padded[..., max(dr, 0) : max(dr, 0) + rows, max(dc, 0) : max(dc, 0) + columns]


def action_ranks(points: Array, num_actions: int) -> Array:
    """int32[A]: the number of each action among those that start at existing points; pass comes last.

    So numbered, an action is the same however far the board is padded.  Others hold any number.
    """
    kinds = num_kinds(num_actions, points.shape[-1])
    count = jnp.cumsum(points.reshape(-1), dtype=jnp.int32)
    by_kind = [(count - 1) * kinds + kind for kind in range(kinds)]
    return jnp.concatenate([*by_kind, count[-1:] * kinds])


def repadded(action: Any, old_size: int, new_size: int) -> Any:
    """int[...]: actions on boards of padded side `old_size` as actions on `new_size`; not for pass."""
    kind_row, column = action // old_size, action % old_size
    kind, row = kind_row // old_size, kind_row % old_size
    return (kind * new_size + row) * new_size + column


def action_symmetry(which: Array | int, size: Array | int, max_size: int, moves: Steps = PLACING) -> Array:
    """int32[A]: as `symmetry`, over actions: where each action of the transformed board comes from.

    A turn of the board turns the steps of moves as well.  `which` must be one that keeps `moves`.
    """
    nodes = symmetry(which, size, max_size)
    if moves == PLACING:
        return nodes
    kinds = jnp.asarray(kinds_before(moves))[which]
    actions = kinds[:, None] * (max_size * max_size) + nodes[None, :-1]
    return jnp.append(actions.reshape(-1), jnp.int32(len(moves) * max_size * max_size))


@functools.cache
def kinds_before(moves: Steps) -> np.ndarray:
    """int32[8, kinds]: the kind that each kind of move was before each symmetry; -1 where it was none."""
    table = np.full((NUM_SYMMETRIES, len(moves)), -1, np.int32)
    for which in range(NUM_SYMMETRIES):
        a, b, c, d = LINEAR[which % 4]
        for kind, (dr, dc) in enumerate(moves):
            step = a * dr + b * dc, c * dr + d * dc
            step = step[::-1] if which >= 4 else step
            if step in moves:
                table[which, kind] = moves.index(step)
    return table
