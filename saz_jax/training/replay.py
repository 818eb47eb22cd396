"""Positions with their search policies and, once their game has ended, their outcomes: the history of Alg. 3.

Host side and plain numpy: a game that ends releases all its positions, a game under way waits in `pending`
for as many iterations as it takes, and nothing is lost or invented in between.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import ArrayLike

from saz_jax.types import Observation

_seen: Any = Observation
"""Typed for jax; here it holds numpy arrays."""


class Positions(NamedTuple):
    """M positions of self-play, in the order in which each game reached them."""

    observation: Any
    """`Observation` of numpy arrays: what the player to move saw."""
    policy: np.ndarray
    """float32[M, V]: the search's policy."""
    surprise: np.ndarray
    """float32[M]: how far that policy is from what the network said."""
    outcome: np.ndarray
    """float32[M]: z, seen by the player to move; meaningless while the game is under way."""
    lane: np.ndarray
    """int32[M]: which of the games played side by side it belongs to."""

    def take(self, index: np.ndarray) -> "Positions":
        """The positions at `index`, a mask or an array of indices."""
        return jax.tree.map(lambda x: x[index], self)

    @classmethod
    def blank(cls, max_size: int, count: int = 0) -> "Positions":
        """`count` positions that are all zero."""
        nodes = max_size * max_size + 1
        return cls(
            observation=_seen(
                board=np.zeros((count, max_size, max_size), np.int8),
                points=np.zeros((count, max_size, max_size), bool),
                size=np.zeros(count, np.int32),
                to_play=np.zeros(count, np.int8),
                legal=np.zeros((count, nodes), bool),
            ),
            policy=np.zeros((count, nodes), np.float32),
            surprise=np.zeros(count, np.float32),
            outcome=np.zeros(count, np.float32),
            lane=np.zeros(count, np.int32),
        )

    @classmethod
    def join(cls, parts: "list[Positions]") -> "Positions":
        """All parts, one after the other."""
        return jax.tree.map(lambda *columns: np.concatenate(columns), *parts)

    def columns(self) -> dict[str, np.ndarray]:
        """All arrays by name, as checkpoints keep them."""
        return {
            **self.observation._asdict(),
            **{k: v for k, v in self._asdict().items() if k != "observation"},
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, np.ndarray]) -> "Positions":
        """The inverse of `columns`; where there are no points, boards are squares, as they once all were."""
        if "points" not in columns:
            side, size = columns["board"].shape[-1], columns["size"]
            columns = {**columns, "points": squares(size, side)}
        seen = _seen(*(columns[name] for name in Observation._fields))
        return cls(seen, *(columns[name] for name in cls._fields[1:]))


def squares(sizes: np.ndarray, max_size: int) -> np.ndarray:
    """bool[M, N, N]: the points of square boards of sides int[M]."""
    inside = np.arange(max_size)[None, :] < sizes[:, None]
    return inside[:, :, None] & inside[:, None, :]


def release(
    pending: Positions, played: Positions, ended: ArrayLike, outcome: ArrayLike
) -> tuple[Positions, Positions]:
    """(positions whose game has ended, with z; positions of the games still under way).

    `pending` holds the open positions of earlier calls.  `played` are the T * B positions of B lanes over T
    moves, move by move; `ended` and `outcome` [T, B] say whether that move ended its game, and how for dark.
    """
    ended, outcome = np.asarray(ended), np.asarray(outcome)
    moves, lanes = ended.shape
    known, result = np.zeros((moves + 1, lanes), bool), np.zeros((moves + 1, lanes), np.float32)
    for t in reversed(range(moves)):
        known[t] = ended[t] | known[t + 1]
        result[t] = np.where(ended[t], outcome[t], result[t + 1])
    # The game that a lane brought along from earlier calls is the one of its first move here.
    known = np.concatenate([known[0, pending.lane], known[:moves].reshape(-1)])
    result = np.concatenate([result[0, pending.lane], result[:moves].reshape(-1)])
    everything = Positions.join([pending, played])
    everything = everything._replace(outcome=result * everything.observation.to_play.astype(np.float32))
    return everything.take(known), everything.take(~known)


class Replay:
    """The positions of the last `history` iterations."""

    def __init__(self, history: int):
        self.iterations: deque[Positions] = deque(maxlen=history)

    def add(self, positions: Positions) -> None:
        """One more iteration; beyond `history` the oldest one goes."""
        self.iterations.append(positions)

    def __len__(self) -> int:
        return sum(len(block.outcome) for block in self.iterations)

    def steps(self, batch_size: int, epochs: float) -> int:
        """How many batches `batches` gives."""
        return max(int(epochs * len(self)) // batch_size, 1)

    def batches(
        self, seed: tuple[int, ...], batch_size: int, epochs: float, surprise_weight: float = 0.0
    ) -> Iterator[Positions]:
        """Shuffled batches that run `epochs` times over everything kept, at least one batch.

        Batches are whole: what does not fill the last one is left out, and a history smaller than one batch
        repeats positions.  The share `surprise_weight` of a pass is dealt out by how surprising positions
        are: they are then shown more or less often than once, but once on average.
        """
        everything = Positions.join(list(self.iterations))
        count = len(everything.outcome)
        rng = np.random.default_rng(seed)
        wanted = self.steps(batch_size, epochs) * batch_size
        expected = np.ones(count)
        if surprise_weight and everything.surprise.any():
            expected += surprise_weight * (everything.surprise / everything.surprise.mean() - 1)
        order = np.zeros(0, int)
        while len(order) < wanted:
            times = np.floor(expected + rng.random(count)) if surprise_weight else expected
            order = np.append(order, rng.permutation(np.repeat(np.arange(count), times.astype(int))))
        for start in range(0, wanted, batch_size):
            yield everything.take(order[start : start + batch_size])
