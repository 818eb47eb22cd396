"""Othello: bracket the other side's stones to turn them; the majority wins.

The start is the 2x2 at rows and columns n//2-1 and n//2 with dark on the anti-diagonal, on even and odd
sides alike.  Pass is legal only when nothing else is, and the game ends as soon as neither side can place.
"""

import jax
import jax.numpy as jnp

from saz_jax.games import board as boards
from saz_jax.types import Array, Game, GameState, SGFFormat

MIN_SIZE = 3
"""On 2x2 the start fills the board; on 3x3 dark has two first moves."""


def make(max_size: int) -> Game:
    """Othello on padded boards of side `max_size`."""

    def init(size: Array | int) -> GameState:
        index, half = jnp.arange(max_size), jnp.asarray(size, jnp.int32) // 2
        near, far = index == half - 1, index == half
        light = (near[:, None] & near[None, :]) | (far[:, None] & far[None, :])
        dark = (near[:, None] & far[None, :]) | (far[:, None] & near[None, :])
        return setup(dark.astype(jnp.int8) - light.astype(jnp.int8), size, 1)

    def setup(board: Array, size: Array | int, to_play: Array | int) -> GameState:
        return _position(board, size, to_play, move_count=0)

    def step(state: GameState, action: Array | int) -> GameState:
        board = _place(state.board, action, state.to_play)
        after = _position(board, state.size, -state.to_play, state.move_count + 1)
        return boards.unless_over_or_illegal(state, action, after)

    return Game(
        name="othello",
        max_size=max_size,
        min_size=MIN_SIZE,
        # The start leaves N*N - 4 points, and a stone follows every pass.
        max_moves=2 * (max_size * max_size - 4),
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
        ownership=ownership,
        score=lambda state: heuristic(state, 1),
        symmetries=boards.ALL_SYMMETRIES,
        stones_on="squares",
        sgf=SGFFormat(game_type=2),
        recipes={"paper": {"sizes": (5, 6, 7, 8)}, "small": {"sizes": (6, 7, 8)}},
    )


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: `player`'s stones minus the other side's (App. "Greedy players heuristics")."""
    return jnp.asarray(player, jnp.float32) * jnp.sum(state.board, dtype=jnp.float32)


def ownership(state: GameState) -> Array:
    """float32[N, N]: the stones."""
    return state.board.astype(jnp.float32)


def _position(board: Array, size: Array | int, to_play: Array | int, move_count: Array | int) -> GameState:
    to_play = jnp.asarray(to_play, jnp.int8)
    free = boards.live_points(size, board.shape[0]) & (board == 0)
    dark, light = _brackets(board)
    points = (free & jnp.where(to_play == 1, dark, light)).reshape(-1)
    terminated = ~(free & (dark | light)).any()
    majority = jnp.sign(jnp.sum(board, dtype=jnp.float32))
    return GameState(
        board=board,
        size=jnp.asarray(size, jnp.int32),
        to_play=to_play,
        legal=jnp.append(points, ~points.any()),
        terminated=terminated,
        outcome=jnp.where(terminated, majority, 0.0),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=(),
    )


def _brackets(board: Array) -> tuple[Array, Array]:
    """(bool[N, N], bool[N, N]): from where a stone of dark, or of light, would bracket others.

    Both sides come out of one walk inwards along the rays of every point: the run of the neighbour's colour
    is bracketed by the side whose stone ends it.  Turned by half, the board shows the other four directions;
    the loop over the two halves also keeps XLA from working all this out anew for each of its uses.
    """
    last = board.shape[0] - 1

    def look(_: Array, found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        board, dark, light = found
        read = boards.reader(board, last)
        for direction in boards.COMPASS8[:4]:
            neighbour = read(direction, 1)
            end = _run_end(read, direction, neighbour, last)
            dark |= (neighbour == -1) & (end == 1)
            light |= (neighbour == 1) & (end == -1)
        return board[::-1, ::-1], dark[::-1, ::-1], light[::-1, ::-1]

    nowhere = jnp.zeros(board.shape, bool)
    _, dark, light = jax.lax.fori_loop(0, 2, look, (board, nowhere, nowhere))
    return dark, light


def _run_end(read: boards.Reader, direction: tuple[int, int], neighbour: Array, last: int) -> Array:
    """int8[N, N]: the first colour in that direction that is not the neighbour's, read from afar inwards."""

    def walk(i: Array, end: Array) -> Array:
        seen = read(direction, last - i)
        return jnp.where(seen == neighbour, end, seen)

    return jax.lax.fori_loop(0, last - 1, walk, jnp.zeros_like(neighbour), unroll=8)


def _place(board: Array, action: Array | int, player: Array) -> Array:
    """int8[N, N]: the board after `player`'s stone and all that it turns; the same board after pass."""
    side = board.shape[0]
    row, column = jnp.divmod(jnp.asarray(action, jnp.int32), side)
    ahead = jnp.array(boards.COMPASS8)[:, :, None] * jnp.arange(1, side)[None, None, :]
    rays = board.at[row + ahead[:, 0], column + ahead[:, 1]].get(  # [8, N - 1]
        mode="fill", fill_value=0, wrap_negative_indices=False
    )
    # Where a ray shows only the other side's stones, argmax says 0, and no own stone stands there.
    run = jnp.argmax(rays != -player, axis=1)
    bracketed = jnp.take_along_axis(rays, run[:, None], axis=1)[:, 0] == player
    turned = jnp.where(bracketed, run, 0)

    down, right = jnp.arange(side)[:, None] - row, jnp.arange(side)[None, :] - column
    far = jnp.maximum(jnp.abs(down), jnp.abs(right))
    placed = jnp.zeros(board.shape, bool)
    for d, (dr, dc) in enumerate(boards.COMPASS8):
        placed |= (down == dr * far) & (right == dc * far) & (far <= turned[d])
    return jnp.where(placed & (row < side), player, board)
