"""Hex: dark joins the top to the bottom, light the left to the right; cells have six neighbours.

The cells are sheared into squares, each row half a cell to the right of the one above: (r, c) touches its
neighbours in row and column, (r - 1, c + 1) and (r + 1, c - 1).  The sides of a board of any shape are the
first and last rows and columns of the smallest rectangle around it, and holes are walls for both players.  A
corner belongs to both of its sides.  A full board without holes has exactly one winner; one with holes may
have none, which is a tie.

Swap, the pie rule, is an option: light's first action may then be "pass", which takes over dark's stone.  The
players keep their colours and their sides: the stone is mirrored in the main diagonal, (r, c) to (c, r), and
becomes light's, which is the same position seen from the other side.  Dark moves next.  There is no swap on a
board that is not its own mirror image.  Pass is never legal otherwise while the game lasts.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games import board as boards
from saz_jax.types import Array, Game, GameState, Observation, SGFFormat

DIRECTIONS = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))
"""The six neighbours of a cell, clockwise."""
MIN_SIZE = 2
"""On side 1 the first stone wins."""
MAX_SIZE = 180
"""Chain labels are int16."""


def make(
    max_size: int,
    *,
    swap: Annotated[bool, "pie rule: light's first move may be pass, which takes over dark's stone"] = False,
) -> Game:
    """Hex on padded boards of side `max_size`."""
    if max_size > MAX_SIZE:
        raise ValueError(f"max_size={max_size} is too large for hex; use at most {MAX_SIZE}")
    swap_action = max_size * max_size

    def init(shape: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        chains = jnp.zeros((max_size, max_size), jnp.int16)
        return _position(chains, points, boards.live_side(points), to_play=1, move_count=0, winner=0)

    def setup(board: Array, shape: Array | int, to_play: Array | int) -> GameState:
        points = boards.live_points(shape, max_size)
        chains, winner = _find_chains(board, points)
        return _position(chains, points, boards.live_side(points), to_play, move_count=0, winner=winner)

    def step(state: GameState, action: Array | int) -> GameState:
        chains, at = state.aux, jnp.asarray(action, jnp.int32)
        if swap:
            swaps = at == swap_action
            row, column = jnp.divmod(jnp.argmax(chains.reshape(-1) != 0).astype(jnp.int32), max_size)
            chains, at = jnp.where(swaps, 0, chains), jnp.where(swaps, column * max_size + row, at)
        chains, wins = _place(chains, at, state.to_play, state.points)
        winner = jnp.where(wins, state.to_play, 0)
        after = _position(chains, state.points, state.size, -state.to_play, state.move_count + 1, winner)
        if swap:
            opening = (state.move_count == 0) & (state.to_play == 1) & ~state.board.any()
            offered = opening & (state.points == state.points.T).all() & ~after.terminated
            after = after._replace(legal=after.legal.at[swap_action].set(after.terminated | offered))
        return boards.unless_over_or_illegal(state, action, after)

    return Game(
        name="hex",
        max_size=max_size,
        min_size=MIN_SIZE,
        max_moves=max_size * max_size + swap,
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
        ownership=ownership,
        shape_problem=_shape_problem,
        symmetries=(0, 2),  # half a turn; a quarter turn or a mirror would exchange the players' sides
        directions=DIRECTIONS,
        planes=(own_sides, other_sides),
        stones_on="hexagons",
        sgf=SGFFormat(
            game_type=11,
            default_size=11,
            points="a1",
            pass_as="swap-pieces",
            write=lambda points: {"RU": "swap"} if swap else {},
            read=_read_rules,
        ),
        recipes=RECIPES,
    )


RECIPES = {
    "paper": {"sizes": (5, 6, 7, 8, 9)},
    # A count of missing stones says little about who wins.
    "small": {"sizes": (5, 6, 7), "search.heuristic_weight": 0.0},
}


def _read_rules(properties: Mapping[str, Any]) -> dict[str, bool]:
    return {"swap": True} if properties.get("RU") == "swap" else {}


def _shape_problem(points: np.ndarray) -> str:
    if min(points.any(0).sum(), points.any(1).sum()) < MIN_SIZE:
        return f"the first stone of one side wins there; use {MIN_SIZE} or more rows and columns"
    if not boards.is_connected(points, DIRECTIONS):
        return "its parts are not connected; join them, or leave all but one out"
    return ""


def own_sides(seen: Observation) -> Array:
    """float32[N, N]: 1 on the two sides that the player to move has to join."""
    return _sides(seen, seen.to_play)


def other_sides(seen: Observation) -> Array:
    """float32[N, N]: 1 on the two sides that the other player has to join."""
    return _sides(seen, -seen.to_play)


def _sides(seen: Observation, player: Array) -> Array:
    first, last = _ends(seen.points, player)
    return (first | last).astype(jnp.float32)


def heuristic(state: GameState, player: Array | int) -> Array:
    """float32[]: how many stones fewer than the other side `player` still needs; see `stones_needed`."""
    dark, light = stones_needed(state.board, state.points)
    return jnp.asarray(player, jnp.float32) * (light - dark)


def ownership(state: GameState) -> Array:
    """float32[N, N]: the stones of the chain that joins the winner's sides."""
    winner = state.outcome.astype(jnp.int8)
    own = (state.board == winner) & (winner != 0)
    from_first, from_last = (_joined(own & end, own) for end in _ends(state.points, winner))
    return jnp.where(from_first & from_last, winner, 0).astype(jnp.float32)


def _joined(stones: Array, own: Array) -> Array:
    """bool[N, N]: the stones of `own` whose chains hold some of `stones`."""

    def spread(search: tuple[Array, Array]) -> tuple[Array, Array]:
        reached, _ = search
        near = jnp.stack([boards.shift(reached, direction, fill=False) for direction in DIRECTIONS]).any(0)
        wider = reached | (near & own)
        return wider, (wider != reached).any()

    reached, _ = jax.lax.while_loop(lambda search: search[1], spread, (stones, jnp.bool_(True)))
    return reached


def stones_needed(board: Array, points: Array) -> Array:
    """int32[2]: the fewest stones with which dark and light would join their sides if the other side passed.

    0 once they are joined; a side that is cut off counts as lacking as many stones as the board has points.
    """
    return jax.vmap(_shortest_way, (None, 0, None))(board, jnp.array([1, -1], jnp.int8), points)


def _shortest_way(board: Array, player: Array, points: Array) -> Array:
    """int32[]: the cheapest way from one side to the other; an own stone costs 0, a free cell 1."""
    first, last = _ends(points, player)
    far = jnp.int16(board.size)
    free = points & (board == 0)
    cost = jnp.where(board == player, 0, jnp.where(free, 1, far)).astype(jnp.int16)

    def spread(search: tuple[Array, Array]) -> tuple[Array, Array]:
        reached, _ = search
        nearer = reached
        for direction in DIRECTIONS:
            nearer = jnp.minimum(nearer, boards.shift(nearer, direction, fill=board.size) + cost)
        return nearer, (nearer < reached).any()

    start = jnp.where(first, cost, far)
    reached, _ = jax.lax.while_loop(lambda search: search[1], spread, (start, jnp.bool_(True)))
    shortest = jnp.min(jnp.where(last, reached, far)).astype(jnp.int32)
    return jnp.minimum(shortest, points.sum(dtype=jnp.int32))


def _position(
    chains: Array,
    points: Array,
    size: Array,
    to_play: Array | int,
    move_count: Array | int,
    winner: Array | int,
) -> GameState:
    free = points & (chains == 0)
    terminated = (jnp.asarray(winner) != 0) | ~free.any()
    return GameState(
        board=jnp.sign(chains).astype(jnp.int8),
        points=points,
        size=size,
        to_play=jnp.asarray(to_play, jnp.int8),
        legal=jnp.append(free.reshape(-1) & ~terminated, terminated),
        terminated=terminated,
        outcome=jnp.asarray(winner, jnp.float32),
        move_count=jnp.asarray(move_count, jnp.int32),
        aux=chains,
    )


# Chains are labelled, int16[N, N]: +label for dark, -label for light, 0 where there is no stone.  A side of
# the board counts as a stone of the player who wants it: all chains that touch the first side (the top, or
# the left) have the label FIRST, those that touch the last one LAST, and others the number of one of their
# stones.  A stone joins its neighbours' chains under the largest of their labels, and wins if FIRST and LAST
# are among them.


def _side_labels(max_size: int) -> tuple[int, int]:
    """(FIRST, LAST)"""
    return max_size * max_size + 1, max_size * max_size + 2


def _place(chains: Array, action: Array, player: Array, points: Array) -> tuple[Array, Array]:
    """(chains int16[N, N], wins bool[]): after a stone of `player`, in one pass over the board."""
    side = chains.shape[0]
    row, column = jnp.divmod(action, side)
    own, alone = chains * player, (action + 1).astype(jnp.int16)
    dr, dc = jnp.array(DIRECTIONS, jnp.int32).T
    near = own.at[row + dr, column + dc].get(mode="fill", fill_value=0, wrap_negative_indices=False)
    placed = boards.point(action, side)
    reaches = jnp.stack([(placed & end).any() for end in _ends(points, player)])
    ends = jnp.where(reaches, jnp.array(_side_labels(side), jnp.int16), alone)
    joined = jnp.concatenate([jnp.where(near > 0, near, alone), ends])  # [8]
    merged = (own[..., None] == joined[None, None]).any(-1) | placed
    first, last = _side_labels(side)
    wins = (joined == first).any() & (joined == last).any()
    return jnp.where(merged, joined.max() * player, chains).astype(jnp.int16), wins


def _find_chains(board: Array, points: Array) -> tuple[Array, Array]:
    """(chains int16[N, N], winner int8[]) of any arrangement of stones."""
    side = board.shape[0]
    number = jnp.arange(1, side * side + 1, dtype=jnp.int16).reshape(side, side)
    labels, (first_label, last_label) = jnp.where(board != 0, number, 0), _side_labels(side)
    ends = {player: _ends(points, player) for player in (1, -1)}
    for player, (first, last) in ends.items():
        labels = jnp.where((board == player) & first, jnp.int16(first_label), labels)
        labels = jnp.where((board == player) & last, jnp.int16(last_label), labels)

    def spread(search: tuple[Array, Array]) -> tuple[Array, Array]:
        labels, _ = search
        wider = labels
        for direction in DIRECTIONS:
            same = (boards.shift(board, direction) == board) & (board != 0)
            wider = jnp.where(same, jnp.maximum(wider, boards.shift(wider, direction)), wider)
        return wider, (wider != labels).any()

    labels, _ = jax.lax.while_loop(lambda search: search[1], spread, (labels, jnp.bool_(True)))
    joined = [
        ((board == player) & first & (labels == last_label)).any() for player, (first, _) in ends.items()
    ]
    return labels * board.astype(jnp.int16), joined[0].astype(jnp.int8) - joined[1].astype(jnp.int8)


def _ends(points: Array, player: Array | int) -> tuple[Array, Array]:
    """(bool[N, N], bool[N, N]): the points of the first and of the last side that `player` has to join.

    The sides are those of the smallest rectangle around the points.
    """
    index = jnp.arange(points.shape[0])
    dark = jnp.asarray(player) == 1
    used = jnp.where(dark, points.any(1), points.any(0))
    along = jnp.where(dark, index[:, None], index[None, :])
    first, last = jnp.argmax(used), index.size - 1 - jnp.argmax(used[::-1])
    return points & (along == first), points & (along == last)
