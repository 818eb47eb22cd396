"""Go: how short of liberties each chain is, from the board alone."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from saz_jax.games.board import COMPASS4
from saz_jax.types import Array, Observation


def shortage(seen: Observation) -> Array:
    """float32[N, N]: 1 on stones of chains with one liberty, 0.5 with two, 0 with more and where no stone is.

    Every stone learns the first and the last liberty of its chain from its neighbours, then whether there is
    another one between them: shifts of whole boards, which a CPU does faster than it follows chains.
    """
    board, side = seen.board, seen.board.shape[0]
    free = seen.points & (board == 0)
    index = jnp.arange(side * side, dtype=jnp.int32).reshape(side, side)
    nowhere = side * side
    alike = [(board != 0) & (_from(board, step, 0) == board) for step in COMPASS4]

    def spread(start: Array, fill: int, better: Callable[[Array, Array], Array]) -> Array:
        """The best of each chain's `start`, at every one of its stones."""

        def go_on(best: Array) -> Array:
            for same, step in zip(alike, COMPASS4, strict=True):
                best = jnp.where(same, better(best, _from(best, step, fill)), best)
            return best

        def body(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            after = go_on(carry[0])
            return after, jnp.any(after != carry[0])

        return jax.lax.while_loop(lambda carry: carry[1], body, (start, jnp.bool_(True)))[0]

    def best_neighbour(of: Array, fill: int, better: Callable[[Array, Array], Array]) -> Array:
        best = _from(of, COMPASS4[0], fill)
        for step in COMPASS4[1:]:
            best = better(best, _from(of, step, fill))
        return best

    first = best_neighbour(jnp.where(free, index, nowhere), nowhere, jnp.minimum)
    first = spread(jnp.where(board != 0, first, nowhere), nowhere, jnp.minimum)
    last = best_neighbour(jnp.where(free, index, -1), -1, jnp.maximum)
    last = spread(jnp.where(board != 0, last, -1), -1, jnp.maximum)
    between = jnp.zeros((side, side), jnp.int32)
    for step in COMPASS4:
        here = _from(jnp.where(free, index, -1), step, -1)
        between |= (here >= 0) & (here != first) & (here != last)
    third = spread(jnp.where(board != 0, between, 0), 0, jnp.maximum)
    stone = board != 0
    few = jnp.where(first == last, 1.0, jnp.where(third == 0, 0.5, 0.0))
    return jnp.where(stone, few, 0.0).astype(jnp.float32)


def _from(grid: Array, step: tuple[int, int], fill: int) -> Array:
    """What each point sees at `step` (row, column) from it; `fill` beyond the edge."""
    rows, columns = step
    padded = jnp.pad(grid, 1, constant_values=fill)
    side = grid.shape[0]
    return jax.lax.slice(padded, (1 + rows, 1 + columns), (1 + rows + side, 1 + columns + side))
