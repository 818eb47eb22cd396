"""Positions with their search policies and, once their game has ended, their outcomes: the history of Alg. 3.

Host side and plain numpy: a game that ends releases all its positions, a game under way waits in `pending`
for as many iterations as it takes, and nothing is lost or invented in between.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
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
    """float32[M, A]: the search's policy."""
    surprise: np.ndarray
    """float32[M]: how far that policy is from what the network said."""
    outcome: np.ndarray
    """float32[M]: z, seen by the player to move; meaningless while the game is under way."""
    lane: np.ndarray
    """int32[M]: which of the games played side by side it belongs to."""
    ownership: np.ndarray | None = None
    """float32[M, N, N]: whose each point was in the end, seen by the player to move; meaningless while the
    game is under way.  None if no head learns it."""
    reply: np.ndarray | None = None
    """float32[M, A]: the search's policy of the next move; zeros after the last one, and while the game is
    under way.  None if no head learns it."""

    @property
    def padded_side(self) -> int:
        """N"""
        return self.observation.board.shape[-1]

    def take(self, index: np.ndarray) -> "Positions":
        """The positions at `index`, a mask or an array of indices."""
        return jax.tree.map(lambda x: x[index], self)

    @classmethod
    def blank(cls, max_size: int, count: int = 0, heads: Collection[str] = (), kinds: int = 1) -> "Positions":
        """`count` positions that are all zero, with what a network of these extra heads learns from.

        kinds: of moves, `len(game.moves)`.
        """
        actions = kinds * max_size * max_size + 1
        return cls(
            observation=_seen(
                board=np.zeros((count, max_size, max_size), np.int8),
                points=np.zeros((count, max_size, max_size), bool),
                size=np.zeros(count, np.int32),
                to_play=np.zeros(count, np.int8),
                legal=np.zeros((count, actions), bool),
            ),
            policy=np.zeros((count, actions), np.float32),
            surprise=np.zeros(count, np.float32),
            outcome=np.zeros(count, np.float32),
            lane=np.zeros(count, np.int32),
            ownership=np.zeros((count, max_size, max_size), np.float32) if "ownership" in heads else None,
            reply=np.zeros((count, actions), np.float32) if "reply" in heads else None,
        )

    @classmethod
    def bytes_each(cls, max_size: int, heads: Collection[str] = (), kinds: int = 1) -> int:
        """Memory of one such position."""
        return sum(column.nbytes for column in jax.tree.leaves(cls.blank(max_size, 1, heads, kinds)))

    @classmethod
    def join(cls, parts: "list[Positions]") -> "Positions":
        """All parts, one after the other."""
        # A blank part may lack optional columns that the others have.
        parts = [part for part in parts if len(part.lane)] or parts[:1]
        return jax.tree.map(lambda *columns: np.concatenate(columns), *parts)

    def columns(self) -> dict[str, np.ndarray]:
        """All arrays by name, as checkpoints keep them."""
        own = {k: v for k, v in self._asdict().items() if k != "observation" and v is not None}
        seen = {k: v for k, v in self.observation._asdict().items() if v is not None}
        return {**seen, **own}

    @classmethod
    def from_columns(cls, columns: Mapping[str, np.ndarray]) -> "Positions":
        """The inverse of `columns`; where there are no points, boards are squares, as they once all were."""
        if "points" not in columns:
            side, size = columns["board"].shape[-1], columns["size"]
            columns = {**columns, "points": squares(size, side)}
        seen = _seen(**{name: columns[name] for name in Observation._fields if name in columns})
        return cls(seen, **{name: columns[name] for name in cls._fields if name in columns})


def squares(sizes: np.ndarray, max_size: int) -> np.ndarray:
    """bool[M, N, N]: the points of square boards of sides int[M]."""
    inside = np.arange(max_size)[None, :] < sizes[:, None]
    return inside[:, :, None] & inside[:, None, :]


def release(
    pending: Positions,
    played: Positions,
    ended: ArrayLike,
    outcome: ArrayLike,
    ownership: ArrayLike | None = None,
) -> tuple[Positions, Positions]:
    """(positions whose game has ended, with all that is known then; positions of the games still under way).

    `pending` holds the open positions of earlier calls.  `played` are the T * B positions of B lanes over T
    moves, move by move; `ended` and `outcome` [T, B] say whether that move ended its game, and how for dark;
    so does `ownership` [T, B, N, N].
    """
    ended, outcome = np.asarray(ended), np.asarray(outcome)
    moves, lanes = ended.shape
    end = np.full((moves + 1, lanes), -1)
    for t in reversed(range(moves)):
        end[t] = np.where(ended[t], t, end[t + 1])
    # The game that a lane brought along from earlier calls is the one of its first move here.
    end = np.concatenate([end[0, pending.lane], end[:moves].reshape(-1)])
    everything = Positions.join([pending, played])
    if everything.reply is not None:
        everything = everything._replace(reply=_next_policies(everything, len(pending.lane), ended))
    over = everything.take(end >= 0)
    last, lane, side = end[end >= 0], over.lane, over.observation.to_play.astype(np.float32)
    over = over._replace(outcome=outcome[last, lane].astype(np.float32) * side)
    if over.ownership is not None:
        over = over._replace(ownership=np.asarray(ownership)[last, lane] * side[:, None, None])
    return over, everything.take(end < 0)


def _next_policies(positions: Positions, pending: int, ended: np.ndarray) -> np.ndarray:
    """float32[M, A]: the policy of the next position of the same game, zeros where there is none.

    The first `pending` positions are open ones, those after them as in `release`.
    """
    order = np.argsort(positions.lane, kind="stable")
    here, following = order[:-1], order[1:]
    stops = np.concatenate([np.zeros(pending, bool), ended.reshape(-1)])
    goes_on = (positions.lane[here] == positions.lane[following]) & ~stops[here]
    reply = np.zeros_like(positions.policy)
    reply[here[goes_on]] = positions.policy[following[goes_on]]
    return reply


class Replay:
    """The positions of the last `history` iterations."""

    def __init__(self, history: int):
        self.iterations: deque[Positions] = deque(maxlen=history)

    def add(self, positions: Positions) -> None:
        """One more iteration; beyond `history` the oldest one goes."""
        self.iterations.append(positions)

    def __len__(self) -> int:
        return sum(len(block.outcome) for block in self.iterations)

    def _by_side(self) -> list[Positions]:
        """Everything kept, by padded side, the smallest first."""
        sides = sorted({block.padded_side for block in self.iterations if len(block.lane)})
        return [Positions.join([b for b in self.iterations if b.padded_side == side]) for side in sides]

    def steps(self, batch_size: int, epochs: float) -> int:
        """How many batches `batches` gives."""
        return sum(_steps(len(kept.outcome), batch_size, epochs) for kept in self._by_side())

    def batches(
        self, seed: tuple[int, ...], batch_size: int, epochs: float, surprise_weight: float = 0.0
    ) -> Iterator[Positions]:
        """Shuffled batches that run `epochs` times over everything kept; see `shuffled`.

        All positions of a batch have the same padded side; batches of different sides take turns at random.
        """
        kept = self._by_side()
        steps = [_steps(len(positions.outcome), batch_size, epochs) for positions in kept]
        turns = np.repeat(np.arange(len(kept)), steps)
        if len(kept) > 1:
            turns = np.random.default_rng((*seed, len(kept))).permutation(turns)
        streams = [
            shuffled(positions, seed, batch_size, count * batch_size, surprise_weight)
            for positions, count in zip(kept, steps, strict=True)
        ]
        for turn in turns:
            yield next(streams[turn])


def _steps(count: int, batch_size: int, epochs: float) -> int:
    return max(int(epochs * count) // batch_size, 1)


def shuffled(
    positions: Positions, seed: tuple[int, ...], batch_size: int, wanted: int, surprise_weight: float
) -> Iterator[Positions]:
    """Batches of `wanted` positions in all, drawn pass by pass without repetition.

    Batches are whole: what does not fill the last one is left out, and a history smaller than one batch
    repeats positions.  The share `surprise_weight` of a pass is dealt out by how surprising positions are:
    they are then shown more or less often than once, but once on average.
    """
    count, rng = len(positions.outcome), np.random.default_rng(seed)
    expected = np.ones(count)
    if surprise_weight and positions.surprise.any():
        expected += surprise_weight * (positions.surprise / positions.surprise.mean() - 1)
    order = np.zeros(0, int)
    while len(order) < wanted:
        times = np.floor(expected + rng.random(count)) if surprise_weight else expected
        order = np.append(order, rng.permutation(np.repeat(np.arange(count), times.astype(int))))
    for start in range(0, wanted, batch_size):
        yield positions.take(order[start : start + batch_size])
