"""Hex: dark joins top and bottom, light joins left and right, on cells with six neighbours; no ties.

The four sides are stones that lie on the board from the start: a ring of dark above and below, of light left
and right, its corners empty and never played.  So the network, which sees own and other stones but no
colours, sees what the player to move wants; a live side of n leaves (n - 2) x (n - 2) cells to play on.

The cells are sheared into squares: (r, c) touches its neighbours in row and column, (r - 1, c + 1) and
(r + 1, c - 1).
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax import Array

from saz_jax import Game, GameState
from saz_jax.games import live_points, live_side, not_square, point, shift, unless_over_or_illegal

NEIGHBOURS = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))
SYMMETRIES = (0, 2)
"""Half a turn leaves the rules as they are; the other symmetries of the square do not."""


def make_hex(max_size: int) -> Game:
    """Hex on padded boards of side `max_size`, the ring of side stones included."""
    return Game(
        name="hex",
        max_size=max_size,
        min_size=4,
        max_moves=max((max_size - 2) ** 2, 0),
        init=functools.partial(init, max_size=max_size),
        step=step,
        setup=setup,
        heuristic=heuristic,
        shape_problem=not_square,
        symmetries=SYMMETRIES,
        recipes={"small": {"sizes": (5, 6, 7)}},
    )


def init(shape: Array | int, *, max_size: int) -> GameState:
    """The four sides and nothing else."""
    return setup(jnp.zeros((max_size, max_size), jnp.int8), shape, 1)


def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
    """That position; the ring is laid over whatever `board` has there."""
    size = live_side(live_points(shape, board.shape[0]))
    _, ring = _cells(size, board.shape[0])
    return position(jnp.where(ring, _sides(size, board.shape[0]), board), size, to_play, move_count=0)


def step(state: GameState, action: Array | int) -> GameState:
    """A stone on a free cell."""
    board = jnp.where(point(action, state.board.shape[0]), state.to_play, state.board)
    after = position(board, state.size, -state.to_play, state.move_count + 1)
    return unless_over_or_illegal(state, action, after)


def make_endless_hex(max_size: int) -> Game:
    """Hex with a mistake, for `check_game` to find: a finished game goes on."""

    def endless_step(state: GameState, action: Array | int) -> GameState:
        return step(state, action)._replace(move_count=state.move_count + 1)

    return dataclasses.replace(make_hex(max_size), step=endless_step)


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: how many stones fewer than the other side `player` still needs."""
    dark, light = stones_needed(state.board, state.size)
    return jnp.asarray(player, jnp.float32) * (light - dark)


def stones_needed(board: Array, size: Array | int) -> Array:
    """int32[2]: stones that dark and light lack to join their sides, 0 once joined, N * N if cut off.

    Light's question is dark's on the transposed board with the colours exchanged.
    """
    return jax.vmap(stones_to_cross, (0, None))(jnp.stack([board, -board.T]), size)


def stones_to_cross(board: Array, size: Array | int) -> Array:
    """int32[]: the cheapest way from the top ring to the bottom ring; a +1 costs 0, a free cell 1."""
    blocked = jnp.int32(board.size)
    inside, _ = _cells(size, board.shape[0])
    cost = jnp.where(board == 1, 0, jnp.where(inside & (board == 0), 1, blocked)).astype(jnp.int32)
    top = jnp.arange(board.shape[0])[:, None] == 0
    start = jnp.where(top & (board == 1), 0, blocked).astype(jnp.int32)

    def spread(search: tuple[Array, Array]) -> tuple[Array, Array]:
        reached, _ = search
        around = jnp.stack([shift(reached, way, fill=board.size) for way in NEIGHBOURS])
        nearer = jnp.minimum(reached, jnp.minimum(around.min(0) + cost, blocked))
        return nearer, (nearer < reached).any()

    reached, _ = jax.lax.while_loop(lambda search: search[1], spread, (start, jnp.bool_(True)))
    bottom = jnp.arange(board.shape[0])[:, None] == size - 1
    return jnp.min(jnp.where(bottom & (board == 1), reached, blocked))


def position(board: Array, size: Array | int, to_play: Array | int, move_count: Array | int) -> GameState:
    dark, light = stones_needed(board, size) == 0
    terminated = dark | light
    inside, _ = _cells(size, board.shape[0])
    free = inside & (board == 0)
    return GameState(
        board=board.astype(jnp.int8),
        points=live_points(size, board.shape[0]),
        size=jnp.asarray(size, jnp.int32),
        to_play=jnp.asarray(to_play, jnp.int8),
        legal=jnp.append(free.reshape(-1) & ~terminated, terminated),
        terminated=terminated,
        outcome=dark.astype(jnp.float32) - light.astype(jnp.float32),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=(),
    )


def _cells(size: Array | int, max_size: int) -> tuple[Array, Array]:
    """(bool[N, N], bool[N, N]): the cells to play on, and the ring around them."""
    live = live_points(size, max_size)
    index = jnp.arange(max_size)
    within = (index >= 1) & (index <= size - 2)
    inside = within[:, None] & within[None, :]
    return inside, live & ~inside


def _sides(size: Array | int, max_size: int) -> Array:
    """int8[N, N]: +1 along the top and the bottom, -1 along the left and the right, 0 in the corners."""
    index = jnp.arange(max_size)
    end = ((index == 0) | (index == size - 1)).astype(jnp.int8)
    return end[:, None] - end[None, :]
