"""Go: area scoring, no suicide, exact positional superko, on boards of every live side.

Rules: Tromp-Taylor area scoring; pass is always legal and two in a row end the game; suicide is illegal; a
move that recreates any earlier position of the game is illegal (`superko=True`) or only one that recreates
the position before the opponent's last move (`superko=False`, simple ko); after `move_cap` actions the board
is scored as it stands.
"""

import math
import numbers
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games.board import COMPASS4, live_points, shift
from saz_jax.types import Array, Game, GameState

MIN_SIZE = 2
FAIR_KOMI = (0.0, 0.0, 1.0, 9.0, 2.0, 25.0, 4.0, 9.0, 10.0, 7.0)


class GoAux(NamedTuple):
    """What Go remembers besides the board."""

    passes: Array
    """int32[]: passes in a row."""
    chain: Array
    """int16[N * N]: one number per chain, the point that joined it last; -1 where no stone is."""
    liberties: Array
    """int16[N * N]: for each stone, how many (stone, free neighbour) pairs its chain has; 0 elsewhere."""
    keys: Array
    """int32[2, N * N]: for each stone, the sum of its chain's hash keys; 0 elsewhere."""
    history: Array
    """int32[2, H]: hashes of the last H positions, position t at t % H."""


def make(
    max_size: int, *, komi: float | None = None, superko: bool = True, move_cap: int | None = None
) -> Game:
    """Go on padded boards of side `max_size`."""
    if komi is not None and (
        isinstance(komi, bool) or not isinstance(komi, numbers.Real) or not math.isfinite(komi)
    ):
        raise ValueError(f"komi must be a finite number, or None for the fair value, not {komi!r}")
    if not isinstance(superko, bool):
        raise ValueError(f"superko must be True or False, not {superko!r}")
    if move_cap is not None and (
        isinstance(move_cap, bool) or not isinstance(move_cap, numbers.Integral) or move_cap < 1
    ):
        raise ValueError(f"move_cap must be a whole number of at least 1, or None for 2 * n * n, not {move_cap!r}")

    points = max_size * max_size
    max_moves = 2 * points if move_cap is None else int(move_cap)
    memory = max_moves + 1 if superko else 2
    key = np.random.default_rng(20210701).integers(-(2**31), 2**31, (2, points), dtype=np.int32)
    key = jnp.asarray(key)
    neighbours = _neighbours(max_size)

    def around(x: Array, fill) -> Array:
        grid = x.reshape(max_size, max_size)
        return jnp.stack([shift(grid, step, fill).reshape(-1) for step in COMPASS4])

    def legal_moves(board, size, to_play, aux, move_count):
        live = live_points(size, max_size).reshape(-1)
        stones = board.reshape(-1)
        free = (stones == 0) & live
        colour, chain, liberties = around(stones, 0), around(aux.chain, -1), around(aux.liberties, 0)
        touching = (chain[:, None] == chain[None, :]).sum(1)
        taken = (colour == -to_play) & (liberties == touching)
        breathes = around(free, False) | ((colour == to_play) & (liberties > touching)) | taken
        first = _first(chain)
        current = jax.lax.dynamic_index_in_dim(aux.history, move_count % memory, 1)
        repeated = jnp.ones((points, memory), bool)
        for word in range(2):
            gone = jnp.where(taken & first, around(aux.keys[word], 0), 0).sum(0)
            after = current[word] + to_play * (key[word] + gone)
            repeated &= after[:, None] == aux.history[word][None, :]
        return jnp.append(free & breathes.any(0) & ~repeated.any(1), True)

    def place(board, size, to_play, aux, action):
        live = live_points(size, max_size).reshape(-1)
        stones, here = board.reshape(-1), jnp.arange(points) == action
        near = neighbours[action]
        colour = stones.at[near].get(mode="fill", fill_value=0)
        chain = aux.chain.at[near].get(mode="fill", fill_value=-1)
        liberties = aux.liberties.at[near].get(mode="fill", fill_value=0)
        keys = aux.keys.at[:, near].get(mode="fill", fill_value=0)
        own, foe, first = colour == to_play, colour == -to_play, _first(chain)
        touching = (chain[:, None] == chain[None, :]).sum(1)
        taken = foe & (liberties == touching)
        free_near = ((stones == 0) & live).at[near].get(mode="fill", fill_value=False)
        same = aux.chain[None, :] == chain[:, None]
        captured = (same & taken[:, None]).any(0)
        joined = (same & own[:, None]).any(0) | here
        stones = jnp.where(captured, 0, jnp.where(here, to_play, stones))
        chains = jnp.where(captured, -1, jnp.where(joined, action, aux.chain)).astype(jnp.int16)
        total = jnp.where(own & first, liberties, 0).sum() - own.sum() + free_near.sum()
        lib = jnp.where(joined, total, aux.liberties - (same & foe[:, None]).sum(0))
        gain = jnp.where(stones == to_play, around(captured, False).sum(0), 0)
        gain = jax.ops.segment_sum(gain, chains.astype(jnp.int32), points)[chains]
        lib = jnp.where(stones == 0, 0, lib + gain).astype(jnp.int16)
        mine = key[:, action] + jnp.where((own & first)[None, :], keys, 0).sum(1)
        ckeys = jnp.where(captured[None, :], 0, jnp.where(joined[None, :], mine[:, None], aux.keys))
        delta = to_play * (key[:, action] + jnp.where((taken & first)[None, :], keys, 0).sum(1))
        return stones.reshape(board.shape), aux._replace(chain=chains, liberties=lib, keys=ckeys), delta

    def setup(board: Array, size: Array, to_play: Array) -> GameState:
        live = live_points(size, max_size)
        board = jnp.where(live, board, 0).astype(jnp.int8)
        to_play = jnp.asarray(to_play, jnp.int8)
        stones = board.reshape(-1)
        start = jnp.where(stones != 0, jnp.arange(points, dtype=jnp.int16), -1)

        def spread(carry):
            chain, _ = carry
            near = jnp.where(around(stones, 0) == stones[None, :], around(chain, -1), -1)
            new = jnp.where(stones != 0, jnp.maximum(chain, near.max(0)), -1)
            return new, (new != chain).any()

        chain, _ = jax.lax.while_loop(lambda c: c[1], spread, (start, True))
        index = jnp.where(stones != 0, chain, points).astype(jnp.int32)

        def total(x):
            return jnp.where(stones != 0, jax.ops.segment_sum(x, index, points + 1)[index], 0)

        free = (board == 0).reshape(-1) & live.reshape(-1)
        hashes = (key * stones[None, :]).sum(1)
        aux = GoAux(
            passes=jnp.int32(0),
            chain=chain,
            liberties=total(around(free, False).sum(0)).astype(jnp.int16),
            keys=jnp.stack([total(k) for k in key]),
            history=jnp.zeros((2, memory), jnp.int32).at[:, 0].set(hashes),
        )
        return GameState(
            board, size, to_play, legal_moves(board, size, to_play, aux, jnp.int32(0)), jnp.bool_(False),
            jnp.float32(0), jnp.int32(0), aux,
        )  # fmt: skip

    def init(size: Array) -> GameState:
        size = jnp.asarray(size, jnp.int32)
        return setup(jnp.zeros((max_size, max_size), jnp.int8), size, jnp.int8(1))

    def score(board, size, wanted):
        live = live_points(size, max_size).reshape(-1)
        stones = board.reshape(-1)
        reach = jnp.stack([stones == 1, stones == -1])
        free = (stones == 0) & live

        def spread(carry):
            reach, _ = carry
            new = jnp.stack([r | (free & around(r, False).any(0)) for r in reach])
            return new, (new != reach).any()

        reach, _ = jax.lax.while_loop(lambda c: c[1], spread, (reach, wanted))
        return (reach[0].sum() - reach[1].sum()).astype(jnp.float32)

    def step(state: GameState, action: Array) -> GameState:
        action = jnp.asarray(action, jnp.int32)
        playable = ~state.terminated & state.legal.at[action].get(mode="fill", fill_value=False) & (action >= 0)
        passed = action == points
        board, aux, delta = place(state.board, state.size, state.to_play, state.aux, action)
        aux = aux._replace(passes=jnp.int32(0))
        stay = (state.board, state.aux._replace(passes=state.aux.passes + 1), jnp.zeros(2, jnp.int32))
        board, aux, delta = jax.tree.map(lambda a, b: jnp.where(passed, a, b), stay, (board, aux, delta))
        current = jax.lax.dynamic_index_in_dim(aux.history, state.move_count % memory, 1, keepdims=False)
        move_count = state.move_count + 1
        history = aux.history.at[:, move_count % memory].set(current + delta)
        aux = aux._replace(history=history)
        cap = 2 * state.size**2 if move_cap is None else move_cap
        terminated = (aux.passes == 2) | (move_count >= cap)
        if komi is None:
            k = jnp.asarray(FAIR_KOMI)[jnp.minimum(state.size, len(FAIR_KOMI) - 1)]
        else:
            k = komi
        outcome = jnp.where(
            terminated, jnp.sign(score(board, state.size, terminated & playable) - k), 0
        ).astype(jnp.float32)
        legal = legal_moves(board, state.size, -state.to_play, aux, move_count)
        legal = jnp.where(terminated, jnp.arange(points + 1) == points, legal)
        moved = GameState(board, state.size, -state.to_play, legal, terminated, outcome, move_count, aux)
        return jax.tree.map(lambda a, b: jnp.where(playable, a, b), moved, state)

    def heuristic(state: GameState, player: Array) -> Array:
        return player * score(state.board, state.size, True)

    return Game(
        "go", max_size, MIN_SIZE, max_moves,
        (("komi", komi), ("superko", superko), ("move_cap", move_cap)), init, step, setup, heuristic,
    )  # fmt: skip


def _first(chain: Array) -> Array:
    """bool[4, ...]: neighbours whose chain none of the neighbours before has."""
    return jnp.stack([~(chain[:i] == chain[i][None]).any(0) for i in range(4)])


def _neighbours(max_size: int) -> Array:
    """int32[V, 4]: the points next to each; N * N + 1 (out of range) where there is none."""
    points = max_size * max_size
    table = np.full((points + 1, 4), points + 1, np.int32)
    for point in range(points):
        for d, (dr, dc) in enumerate(COMPASS4):
            row, column = point // max_size + dr, point % max_size + dc
            if 0 <= row < max_size and 0 <= column < max_size:
                table[point, d] = row * max_size + column
    return jnp.asarray(table)
