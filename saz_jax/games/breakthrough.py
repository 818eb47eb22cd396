"""Breakthrough: stones go one step straight or diagonally forward; who reaches the far row first has won.

Dark begins and goes up, light goes down.  A straight step needs an empty point; a diagonal one may also
capture the stone there.  A side that has lost all of its stones has lost as well.  There are no ties, and on
a rectangle of two or more columns the side to move always has a move: its foremost stone can step diagonally.

Each side begins with two full rows of stones, or one where the board has fewer than 5 rows.  Boards are
rectangles of at least 3 rows and 2 columns.
"""

import jax.numpy as jnp
import numpy as np

from saz_jax.games import board as boards
from saz_jax.games.actions import ending_at, start_and_end
from saz_jax.types import Array, Game, GameState, Observation

FORWARD = ((-1, -1), (-1, 0), (-1, 1))
"""Dark's steps: left, straight and right."""
MOVES = (*FORWARD, (1, -1), (1, 0), (1, 1))
"""Dark's kinds of moves, then light's."""
MIN_SIZE = 3
"""On two rows the first move wins."""
TWO_ROWS_FROM = 5
"""Boards of as many rows or more begin with two rows of stones a side."""


def make(max_size: int) -> Game:
    """Breakthrough on padded boards of side `max_size`."""

    def init(shape: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        rows = points.any(1).sum()
        deep = jnp.where(rows >= TWO_ROWS_FROM, 2, 1)
        from_top, from_bottom = _rows_ahead(points, 1), _rows_ahead(points, -1)
        stones = (from_bottom < deep).astype(jnp.int8) - (from_top < deep).astype(jnp.int8)
        board = jnp.where(points, stones, 0).astype(jnp.int8)
        return _position(board, points, boards.live_side(points), to_play=1, move_count=0)

    def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        return _position(board, points, boards.live_side(points), to_play, move_count=0)

    def step(state: GameState, action: Array | int) -> GameState:
        start, end = start_and_end(action, max_size, MOVES)
        board = jnp.where(end, state.to_play, jnp.where(start, 0, state.board)).astype(jnp.int8)
        after = _position(board, state.points, state.size, -state.to_play, state.move_count + 1)
        return boards.unless_over_or_illegal(state, action, after)

    return Game(
        name="breakthrough",
        max_size=max_size,
        min_size=MIN_SIZE,
        # Every move brings a stone one row on, and a side has two rows of them.
        max_moves=2 * max_size * (2 * max_size - 3),
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
        shape_problem=_shape_problem,
        symmetries=(0, 7),  # mirrored left to right; anything else would turn forward round
        light_view=5,  # upside down
        directions=boards.COMPASS8,
        moves=MOVES,
        planes=(near_own_goal, near_other_goal),
        stones_on="squares",
        recipes=RECIPES,
    )


RECIPES = {
    "paper": {"sizes": (5, 6, 7)},
    "small": {
        "sizes": (5, 6, 7),
        # The stones on the board say little about who breaks through first.
        "search.heuristic_weight": 0.0,
        "search.take_wins": True,
        # One stone decides a game: a mean over the board would dilute what it says.
        "gin.dummy": "max",
    },
    "strong": {"sizes": (5, 6, 7), "search.take_wins": True, "gin.dummy": "max"},
}


def _shape_problem(points: np.ndarray) -> str:
    rows, columns = (np.asarray(points.any(axis)) for axis in (1, 0))
    if not (points == rows[:, None] & columns[None, :]).all() or _gaps(rows) or _gaps(columns):
        return "it is no rectangle, and this game knows no other shapes"
    if rows.sum() < MIN_SIZE or columns.sum() < 2:
        return f"it is too small; use {MIN_SIZE} or more rows and 2 or more columns"
    return ""


def _gaps(used: np.ndarray) -> bool:
    where = np.flatnonzero(used)
    return len(where) > 0 and where[-1] - where[0] + 1 > len(where)


def near_own_goal(seen: Observation) -> Array:
    """float32[N, N]: 1 on the row that the player to move has to reach, 1/2 one row before it, and so on."""
    return _nearness(seen.points, seen.to_play)


def near_other_goal(seen: Observation) -> Array:
    """float32[N, N]: the same for the other player."""
    return _nearness(seen.points, -seen.to_play)


def _nearness(points: Array, player: Array | int) -> Array:
    return jnp.where(points, 1.0 / (1 + jnp.maximum(_rows_ahead(points, player), 0)), 0.0)


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: a stone counts as many points as the board has rows, and one for each row it has come.

    So a stone outweighs any advance, and among equal captures the one furthest ahead is preferred.  The
    winner of a finished game has more points besides than all stones together.
    """
    rows = state.points.any(1).sum()
    worth = {side: jnp.where(state.board == side, 2 * rows - 1 - _rows_ahead(state.points, side), 0).sum()
             for side in (1, -1)}  # fmt: skip
    won = state.outcome * (2 * rows * state.points.sum())
    return jnp.asarray(player, jnp.float32) * (worth[1] - worth[-1] + won)


def _rows_ahead(points: Array, player: Array | int) -> Array:
    """int32[N, N]: how many rows lie between each point and the row that `player` has to reach."""
    index, used = jnp.arange(points.shape[0], dtype=jnp.int32), points.any(1)
    first, last = jnp.argmax(used).astype(jnp.int32), jnp.max(jnp.where(used, index, 0))
    ahead = jnp.where(jnp.asarray(player) == 1, index - first, last - index)
    return jnp.broadcast_to(ahead[:, None], points.shape)


def _position(
    board: Array, points: Array, size: Array, to_play: Array | int, move_count: Array | int
) -> GameState:
    player = jnp.asarray(to_play, jnp.int8)
    wins = {
        side: (points & (board == side) & (_rows_ahead(points, side) == 0)).any() | ~(board == -side).any()
        for side in (1, -1)
    }
    # On a board that was set up both may have won: then it is the side that has just moved.
    mover = jnp.where(player == 1, wins[-1], wins[1])
    winner = jnp.where(mover, -player, jnp.where(wins[1] | wins[-1], player, 0))
    terminated = winner != 0
    kinds = []
    for kind, move in enumerate(MOVES):
        side = 1 if kind < len(FORWARD) else -1
        free = ending_at(points & (board == 0), move)
        taken = ending_at(board == -side, move) if move[1] else False
        kinds.append((player == side) & (board == side) & (free | taken))
    legal = jnp.stack(kinds).reshape(-1) & ~terminated
    return GameState(
        board=board,
        points=points,
        size=size,
        to_play=player,
        legal=jnp.append(legal, ~legal.any()),
        terminated=terminated,
        outcome=winner.astype(jnp.float32),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=(),
    )
