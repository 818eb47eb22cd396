"""Othello: bracket the other side's stones to turn them; the majority wins.

The start is the 2x2 at rows and columns n//2-1 and n//2 with dark on the anti-diagonal, on even and odd
sides alike.  Pass is legal only when nothing else is, and the game ends as soon as neither side can place.
"""

import jax.numpy as jnp

from saz_jax.games import board as boards
from saz_jax.types import Array, Game, GameState

MIN_SIZE = 3
"""On 2x2 the start fills the board; on 3x3 dark already has two moves."""


def make(max_size: int) -> Game:
    """Othello on padded boards of side `max_size`."""

    def init(size: Array | int) -> GameState:
        half = jnp.asarray(size, jnp.int32) // 2
        index = jnp.arange(max_size)
        near, far = index == half - 1, index == half
        light = (near[:, None] & near[None, :]) | (far[:, None] & far[None, :])
        dark = (near[:, None] & far[None, :]) | (far[:, None] & near[None, :])
        return setup(dark.astype(jnp.int8) - light.astype(jnp.int8), size, 1)

    def setup(board: Array, size: Array | int, to_play: Array | int) -> GameState:
        return _position(board, size, to_play, move_count=0)

    def step(state: GameState, action: Array | int) -> GameState:
        placed = boards.point(action, max_size)
        turned = _turned(state.board, placed, state.to_play)
        board = jnp.where(placed | turned, state.to_play, state.board)
        after = _position(board, state.size, -state.to_play, state.move_count + 1)
        return boards.unless_over_or_illegal(state, action, after)

    return Game(
        name="othello",
        max_size=max_size,
        min_size=MIN_SIZE,
        # The start leaves N*N - 4 points, and no pass follows a pass or ends the game.
        max_moves=2 * (max_size * max_size - 4),
        options=(),
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
    )


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: `player`'s stones minus the other side's (App. "Greedy players heuristics")."""
    return jnp.asarray(player, jnp.float32) * jnp.sum(state.board, dtype=jnp.float32)


def _position(board: Array, size: Array | int, to_play: Array | int, move_count: Array | int) -> GameState:
    to_play = jnp.asarray(to_play, jnp.int8)
    live = boards.live_points(size, board.shape[0])
    dark, light = _placements(board, live)
    points = jnp.where(to_play == 1, dark, light).reshape(-1)
    terminated = ~(dark | light).any()
    majority = jnp.sign(jnp.sum(board, dtype=jnp.int32)).astype(jnp.float32)
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


def _placements(board: Array, live: Array) -> tuple[Array, Array]:
    """(bool[N, N], bool[N, N]): where dark and where light may place."""
    dark = light = jnp.zeros(board.shape, bool)
    for direction in boards.COMPASS8:
        bracket = boards.shift(_run_end(board, direction) * (board != 0), direction)
        dark, light = dark | (bracket == 1), light | (bracket == -1)
    free = live & (board == 0)
    return free & dark, free & light


def _turned(board: Array, placed: Array, player: Array) -> Array:
    """bool[N, N]: the stones that `player` turns by placing there."""
    marked = jnp.where(placed, jnp.int8(2), board)
    ends = [_run_end(marked, direction) for direction in boards.COMPASS8]
    turned = jnp.zeros(board.shape, bool)
    for d in range(8):
        turned |= (ends[d] == 2) & (ends[(d + 4) % 8] == player)
    return turned & (board == -player)


def _run_end(board: Array, direction: tuple[int, int]) -> Array:
    """int8[N, N]: for each stone, what ends the run of its colour in that direction: the other colour or 0.

    A stone whose first `reach` steps all show its own colour reads on where that last one has read, so each
    round doubles the reach.
    """
    end, reach = boards.shift(board, direction), 1
    while reach < board.shape[0] - 1:
        further = boards.shift(end, (direction[0] * reach, direction[1] * reach))
        end, reach = jnp.where(end == board, further, end), 2 * reach
    return end
