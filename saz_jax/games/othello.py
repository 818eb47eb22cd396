"""Othello: bracket the other side's stones to turn them; the majority wins.

The start is the 2x2 at rows and columns n//2-1 and n//2 with dark on the anti-diagonal, on even and odd
sides alike.  On other shapes it is the 2x2 of existing points that is nearest to the middle of the rows and
columns in use, of equally near ones the first, row by row.  Lines end at holes.  Pass is legal only when
nothing else is, and the game ends as soon as neither side can place.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games import board as boards
from saz_jax.types import Array, Game, GameState, SGFFormat

MIN_SIZE = 3
"""On 2x2 the start fills the board; on 3x3 dark has two first moves."""


def make(max_size: int) -> Game:
    """Othello on padded boards of side `max_size`."""

    def init(shape: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        row, column, found = _start(points, jnp)
        rows, columns = jnp.arange(max_size)[:, None] - row, jnp.arange(max_size)[None, :] - column
        inside = (rows >= 0) & (rows < 2) & (columns >= 0) & (columns < 2) & found
        return setup(jnp.where(inside, jnp.where(rows == columns, -1, 1), 0).astype(jnp.int8), points, 1)

    def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        return _position(board, points, boards.live_side(points), to_play, move_count=0)

    def step(state: GameState, action: Array | int) -> GameState:
        board = _place(state.board, action, state.to_play)
        after = _position(board, state.points, state.size, -state.to_play, state.move_count + 1)
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
        shape_problem=_shape_problem,
        symmetries=boards.ALL_SYMMETRIES,
        stones_on="squares",
        sgf=SGFFormat(game_type=2),
        recipes=RECIPES,
    )


RECIPES = {
    "paper": {"sizes": (5, 6, 7, 8)},
    "small": {"sizes": (6, 7, 8)},
    "strong": {
        # Few discs are no danger on a small board, and lose everything on a large one: one game in eight is
        # played where that can be seen.
        "sizes": (6, 7, 8, 12),
        "selfplay.size_weights": (1.0, 2.0, 4.0, 1.0),
        "selfplay.paddings": (8, 12),
        "selfplay.max_opening_moves": 24,
        # A sum of final discs means the same on boards of every size.
        "gin.readout": "ownership",
        "fcn.readout": "ownership",
    },
}


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: `player`'s stones minus the other side's (App. "Greedy players heuristics")."""
    return jnp.asarray(player, jnp.float32) * jnp.sum(state.board, dtype=jnp.float32)


def ownership(state: GameState) -> Array:
    """float32[N, N]: the stones."""
    return state.board.astype(jnp.float32)


def _start(points: Any, xp: Any) -> tuple[Any, Any, Any]:
    """(row, column, found): the upper left point of the 2x2 to start on; `xp` is jnp, or np for np arrays."""
    blocks = points[:-1, :-1] & points[1:, :-1] & points[:-1, 1:] & points[1:, 1:]
    index = xp.arange(points.shape[0])
    # Twice the distances, so that they are whole numbers.
    rows, columns = (
        2 * index[:-1] + 1 - xp.max(xp.where(used, index, 0)) - xp.min(xp.where(used, index, index.size))
        for used in (points.any(1), points.any(0))
    )
    distance = rows[:, None] ** 2 + columns[None, :] ** 2
    nearest = xp.argmin(xp.where(blocks, distance, 8 * index.size**2))
    return nearest // blocks.shape[1], nearest % blocks.shape[1], blocks.any()


def _shape_problem(points: np.ndarray) -> str:
    row, column, found = _start(points, np)
    if not found:
        return "it has no 2x2 of points for the start; add one"
    wide = np.pad(points, 1)
    around = wide[row : row + 4, column : column + 4].copy()
    around[[0, 0, 3, 3], [0, 3, 0, 3]] = around[1:3, 1:3] = False
    return (
        "" if around.any() else "nobody could move from the 2x2 nearest to its middle; add a point beside it"
    )


def _position(
    board: Array, points: Array, size: Array, to_play: Array | int, move_count: Array | int
) -> GameState:
    to_play = jnp.asarray(to_play, jnp.int8)
    free = points & (board == 0)
    dark, light = _brackets(board)
    placements = (free & jnp.where(to_play == 1, dark, light)).reshape(-1)
    terminated = ~(free & (dark | light)).any()
    majority = jnp.sign(jnp.sum(board, dtype=jnp.float32))
    return GameState(
        board=board,
        points=points,
        size=size,
        to_play=to_play,
        legal=jnp.append(placements, ~placements.any()),
        terminated=terminated,
        outcome=jnp.where(terminated, majority, 0.0),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=(),
    )


def _brackets(board: Array) -> tuple[Array, Array]:
    """(bool[N, N], bool[N, N]): from where a stone of dark, or of light, would bracket others.

    Both sides come out of one walk inwards along the rays of every point: the run of the neighbour's colour
    is bracketed by the side whose stone ends it.  The loop over four directions and their opposites keeps XLA
    from working all this out anew for each of its uses.
    """
    last = board.shape[0] - 1

    def look(half: Array, found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        board, dark, light = found
        read, onwards = boards.reader(board, last), 1 - 2 * half
        for direction in boards.COMPASS8[:4]:
            neighbour = read(direction, onwards)
            end = _run_end(read, direction, onwards, neighbour, last)
            dark |= (neighbour == -1) & (end == 1)
            light |= (neighbour == 1) & (end == -1)
        return board, dark, light

    nowhere = jnp.zeros(board.shape, bool)
    _, dark, light = jax.lax.fori_loop(0, 2, look, (board, nowhere, nowhere))
    return dark, light


def _run_end(
    read: boards.Reader, direction: tuple[int, int], onwards: Array, neighbour: Array, last: int
) -> Array:
    """int8[N, N]: the first colour in that direction that is not the neighbour's, read from afar inwards.

    onwards: 1, or -1 for the opposite direction.
    """

    def walk(i: Array, end: Array) -> Array:
        seen = read(direction, onwards * (last - i))
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
