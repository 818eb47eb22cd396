"""What all games share on the padded square board: live points, shifts, indices, the 8 symmetries.

The padded side N is static; which points exist is data, and so is the live side n: both may be traced.
"""

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.types import Array, GameState

COMPASS4 = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""(row, column) steps to the four neighbours: north, east, south, west."""
COMPASS8 = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
"""The eight neighbours, clockwise from north; direction d + 4 is the opposite of d."""

Reader: TypeAlias = Callable[[tuple[int, int], Array | int], Array]
"""(direction, distance) -> [N, N]: what every point sees that far away."""

NUM_SYMMETRIES = 8
ALL_SYMMETRIES = tuple(range(NUM_SYMMETRIES))
INVERSE_SYMMETRY = (0, 3, 2, 1, 4, 5, 6, 7)
"""Symmetry `INVERSE_SYMMETRY[s]` undoes symmetry s: quarter turns 1 and 3 undo each other."""

CHUNK_POINTS = 2**20
"""Points of the successors of one game computed together, 6 to 20 bytes each; no chunks up to side 32."""


def live_points(shape: Array | int, max_size: int) -> Array:
    """bool[N, N]: the top-left n x n corner for a side n; a mask of points as it is."""
    if jnp.ndim(shape) == 2:
        return jnp.asarray(shape, bool)
    index = jnp.arange(max_size)
    return (index[:, None] < shape) & (index[None, :] < shape)


def live_side(points: Array) -> Array:
    """int32[]: the side n of the smallest top-left square around the points (bool[N, N])."""
    used = points.any(0) | points.any(1)
    return jnp.max(jnp.where(used, jnp.arange(1, used.size + 1, dtype=jnp.int32), 0))


def ranks(points: Array) -> Array:
    """int32[V]: the number of each point among the existing ones, row by row; pass comes after the last.

    So numbered, a point is the same however far the board is padded.  Other nodes hold any number.
    """
    nodes = jnp.append(points.reshape(-1), True)
    return jnp.cumsum(nodes, dtype=jnp.int32) - 1


def not_square(points: np.ndarray) -> str:
    """The `shape_problem` of games that are played on squares only."""
    side = 1 + np.argwhere(points).max(initial=-1)
    return "" if points[:side, :side].all() else "it is no square, and this game knows no other shapes"


def is_connected(points: np.ndarray, directions: tuple[tuple[int, int], ...] = COMPASS4) -> bool:
    """Whether steps in these directions lead from each point to every other one."""
    waiting = [tuple(point) for point in np.argwhere(points)[:1].tolist()]
    left = {tuple(point) for point in np.argwhere(points).tolist()} - set(waiting)
    while waiting:
        row, column = waiting.pop()
        near = {(row + dr, column + dc) for dr, dc in directions} & left
        left -= near
        waiting += near
    return not left


def point(action: Array | int, max_size: int) -> Array:
    """bool[N, N]: True at the point that `action` names; nowhere for pass or an action out of range."""
    nodes = jnp.arange(max_size * max_size, dtype=jnp.int32)
    return (nodes == action).reshape(max_size, max_size)


def shift(x: Array, step: tuple[int, int], fill: int | float | bool = 0) -> Array:
    """What lies one step away: `shift(x, (dr, dc))[r, c] == x[r + dr, c + dc]`, `fill` beyond the array.

    The first two axes of x are the board; `fill` is used outside the padded board only.
    """
    (dr, dc), (rows, columns) = step, x.shape[:2]
    pad = [(max(-dr, 0), max(dr, 0)), (max(-dc, 0), max(dc, 0))] + [(0, 0)] * (x.ndim - 2)
    padded = jnp.pad(x, pad, constant_values=fill)
    return padded[max(dr, 0) : max(dr, 0) + rows, max(dc, 0) : max(dc, 0) + columns]


def reader(board: Array, reach: int) -> Reader:
    """Reads `board` along rays, up to `reach` steps away; 0 beyond the board.

    A negative distance looks the other way.
    """
    wide = jnp.pad(board, reach)

    def read(direction: tuple[int, int], distance: Array | int) -> Array:
        start = (reach + direction[0] * distance, reach + direction[1] * distance)
        return jax.lax.dynamic_slice(wide, start, board.shape)

    return read


def live_to_padded(index: Array | int, size: Array | int, max_size: int) -> Array:
    """An action numbered on the live board (row * n + column, pass = n * n) as an action here."""
    index = jnp.asarray(index)
    padded = index // size * max_size + index % size
    return jnp.where(index == size * size, max_size * max_size, padded)


def padded_to_live(action: Array | int, size: Array | int, max_size: int) -> Array:
    """The inverse of `live_to_padded`, for live points and pass."""
    action = jnp.asarray(action)
    live = action // max_size * size + action % max_size
    return jnp.where(action == max_size * max_size, size * size, live)


def symmetry(which: Array | int, size: Array | int, max_size: int) -> Array:
    """int32[V]: where each node of the transformed board comes from, so `x[symmetry(...)]` transforms x.

    `which` 0 to 3 turns the live board by that many quarter turns counter-clockwise; 4 to 7
    first mirror it in the main diagonal.  Nodes off the live board and the dummy node stay where they
    are.  The stone at node a moves to node `symmetry(INVERSE_SYMMETRY[which], size, max_size)[a]`.
    """
    row, column = jnp.divmod(jnp.arange(max_size * max_size, dtype=jnp.int32), max_size)
    last = jnp.asarray(size, jnp.int32) - 1
    turned_row = jnp.stack([row, column, last - row, last - column])
    turned_column = jnp.stack([column, last - row, last - column, row])
    sources = turned_row * max_size + turned_column
    mirrored = turned_column * max_size + turned_row
    source = jnp.concatenate([sources, mirrored])[which]
    live = (row <= last) & (column <= last)
    here = jnp.arange(max_size * max_size, dtype=jnp.int32)
    return jnp.append(jnp.where(live, source, here), jnp.int32(max_size * max_size))


def random_move(key: Array, allowed: Array) -> Array:
    """int32[...]: one True of each row of `allowed` (bool[..., V]), all equally likely."""
    return jax.random.categorical(key, jnp.where(allowed, 0.0, -jnp.inf)).astype(jnp.int32)


def for_every_move(read: Callable[[Array], Array], num_actions: int) -> Array:
    """[V, ...]: `read` of every action (int32[]), a chunk of them at a time on large boards.

    `read` may look at the position after its move; all successors of a 200x200 board would take 10 GB.
    """
    actions = jnp.arange(num_actions, dtype=jnp.int32)
    chunk = max(CHUNK_POINTS // num_actions, 1)
    return jax.vmap(read)(actions) if chunk >= num_actions else jax.lax.map(read, actions, batch_size=chunk)


def where_states(condition: Array, chosen: GameState, other: GameState) -> GameState:
    """`chosen` in the games where `condition` (bool[B], or bool[] for one position) holds, else `other`."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(condition.reshape(condition.shape + (1,) * (a.ndim - condition.ndim)), a, b)

    return jax.tree.map(pick, chosen, other)


def unless_over_or_illegal(state: GameState, action: Array | int, after: GameState) -> GameState:
    """The last line of every `step`: `after`, or `state` unchanged if it is finished or `action` illegal.

    An action out of range is illegal too.
    """
    in_range = (action >= 0) & (action < state.legal.shape[0])
    allowed = ~state.terminated & in_range & state.legal[action]
    return where_states(allowed, after, state)
