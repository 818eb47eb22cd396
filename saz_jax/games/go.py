"""Go on boards of every shape: Tromp-Taylor area scoring, no suicide, exact positional superko.

A move may not recreate any earlier position of the game, whoever made it (`superko=True`), or only not the
one before the opponent's last move (`superko=False`, simple ko).  Pass is always legal; two in a row end the
game, and so does the move cap; then the board is scored as it stands.  Points that do not exist are walls.

How it stays cheap.  Every stone carries what its chain has in common, so one round of looking at the four
neighbours tells all legal moves.  A chain of which a point touches t stones loses t (stone, free neighbour)
pairs when that point is filled, hence it is captured if those are all it has: no liberty set is needed.  And
an earlier position can be recreated by one point at most, the one that its stones of the mover's colour have
in excess of today's: the difference of two sums of point numbers.  Superko is one look per earlier position.
"""

import dataclasses
import functools
import math
import numbers
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games.board import ALL_SYMMETRIES, is_connected, live_points, live_side
from saz_jax.games.liberties import shortage
from saz_jax.types import Array, Game, GameState, SGFFormat

MIN_SIZE = 2
"""On a single point every move is suicide."""
MAX_SIZE = 127
"""Chains are numbered and their liberties counted in 16 bits."""

FAIR_KOMI = (0.0, 0.0, 1.0, 8.5, 2.0, 24.5, 4.0, 9.0, 10.0, 7.0)
"""The default komi by live side, its last entry for every larger one: dark's margin under best play, so that
best play ties.  Sides 2 to 5 are solved (van der Werf, van den Herik and Uiterwijk, "Solving Go on small
boards", 2003: +1, +9, +2, +25); 6 and 7 are the results that strong players and programs agree on (+4, +9);
8 and above are estimates of strong programs (10; 7, as on 9x9 and 19x19).  Where dark can take the whole
board (3x3, 5x5) the komi is half a point less, or dark would have nothing to win.  A board of another shape
has the komi of the square of nearest area."""

WALL = 1
"""The chain number of every point off the live board: a chain that never has a liberty."""


class GoAux(NamedTuple):
    """What Go remembers besides the board; stones are numbered along the frame, [L] in all (see `_Frame`)."""

    passed: Array
    """bool[]: the last action was a pass."""
    chain: Array
    """int16[L]: the number of one of the chain's stones, negative for light; 0 free, `WALL` off the board."""
    liberties: Array
    """int16[L]: for each stone, the number of (stone, free neighbour) pairs of its chain."""
    keys: Array
    """int32[2, L]: for each stone, the sum of its chain's hash keys; 0 elsewhere."""
    hashes: Array
    """int32[2, H]: the sum of all stones' keys, light counted negative, of the last H positions; position t
    at t % H.  Two positions agree by chance with probability 2**-62; a 19x19 game compares 2**18 pairs."""
    sums: Array
    """int16[2, H]: of the same positions, the sum of point numbers of dark and of light, modulo 2**16."""


TOLD_WHOSE_TURN = {f"{network}.features": "stones_legal_turn" for network in ("gin", "cnn", "fcn")}
"""The komi makes the colours unlike: without their turn a pass seems to hand it over."""
RECIPES = {
    "paper": {"sizes": (5, 6, 7, 8, 9)},
    "small": {"sizes": (6, 7, 8), **TOLD_WHOSE_TURN},
    "strong": {
        "sizes": (7, 8, 9),
        "selfplay.size_weights": (1.0, 1.0, 2.0),
        # Behind or ahead, a player has to go on: the komi varies, and the network is told.
        "selfplay.margin_noise": 3.0,
        **{f"{network}.features": "stones_legal_margin" for network in ("gin", "cnn", "fcn")},
        **{f"{network}.extra_planes": True for network in ("gin", "cnn", "fcn")},
        "gin.readout": "ownership",
        "fcn.readout": "ownership",
    },
    "smoke": TOLD_WHOSE_TURN,
}


def make(
    max_size: int,
    *,
    komi: Annotated[float | None, "points for light; default: a fair value for the board"] = None,
    superko: Annotated[bool, "forbid every earlier position, not only the last"] = True,
    move_cap: Annotated[int | None, "actions after which the board is scored; default: 2 per point"] = None,
) -> Game:
    """Go on padded boards of side `max_size`.

    `komi`: points given to light; None: `FAIR_KOMI` by area.  `superko`: forbid every earlier position;
    False: simple ko only.  `move_cap`: actions after which the board is scored; None: twice its points.
    """
    _check_options(max_size, komi, superko, move_cap)
    frame = _Frame(max_size)
    points = max_size * max_size
    max_moves = 2 * points if move_cap is None else int(move_cap)
    memory = max_moves + 1 if superko else 2
    fair = [fair_komi(area) if komi is None else komi for area in range(points + 1)]
    komi_by_area = np.array(fair, np.float32)

    def init(shape: Array) -> GameState:
        return setup(jnp.zeros((max_size, max_size), jnp.int8), shape, jnp.int8(1))

    def setup(board: Array, shape: Array, to_play: Array) -> GameState:
        live, to_play = live_points(shape, max_size), jnp.asarray(to_play, jnp.int8)
        board = jnp.where(live, board, 0).astype(jnp.int8)
        aux = _read(frame, board, live, memory)
        return GameState(
            board=board,
            points=live,
            size=live_side(live),
            to_play=to_play,
            legal=_legal(frame, aux, to_play, jnp.int32(0)),
            terminated=jnp.bool_(False),
            outcome=jnp.float32(0),
            move_count=jnp.int32(0),
            aux=aux,
            margin=-jnp.asarray(komi_by_area)[live.sum(dtype=jnp.int32)],
        )

    def step(state: GameState, action: Array) -> GameState:
        action = jnp.asarray(action, jnp.int32)
        legal = state.legal.at[action].get(mode="fill", fill_value=False, wrap_negative_indices=False)
        playable, passing = legal & ~state.terminated, action == points
        now, move_count = state.move_count % memory, state.move_count + 1

        aux, hashes, sums = _place(frame, state.aux, state.to_play, action, playable & ~passing)
        written = jnp.where(playable, move_count % memory, memory)
        aux = aux._replace(
            passed=jnp.where(playable, passing, aux.passed),
            hashes=aux.hashes.at[:, written].set(aux.hashes[:, now] + hashes, mode="drop"),
            sums=aux.sums.at[:, written].set(aux.sums[:, now] + sums, mode="drop"),
        )
        # Without it XLA computes the new chains once for each neighbour that looks at them.
        aux = jax.lax.optimization_barrier(aux)

        assert state.margin is not None
        cap = 2 * state.points.sum(dtype=jnp.int32) if move_cap is None else move_cap
        terminated = (passing & state.aux.passed) | (move_count >= cap)
        score = _area(frame, aux.chain, wanted=terminated & playable) + state.margin
        moved = GameState(
            board=frame.grid(_colour(frame.inner(aux.chain))),
            points=state.points,
            size=state.size,
            to_play=-state.to_play,
            legal=jnp.where(
                terminated, jnp.arange(points + 1) == points, _legal(frame, aux, -state.to_play, move_count)
            ),
            terminated=terminated,
            outcome=jnp.where(terminated, jnp.sign(score), 0.0),
            move_count=move_count,
            aux=(),
            margin=state.margin,
        )
        # An unplayable action has left aux as it was; to select it too would copy the history at every move.
        unmoved = state._replace(aux=())
        return jax.tree.map(functools.partial(jnp.where, playable), moved, unmoved)._replace(aux=aux)

    def heuristic(state: GameState, player: Array) -> Array:
        """Area of `player` minus the opponent's, no komi: stones, and free points that reach one colour only.

        Territory in the paper (App. "Greedy players heuristics").  Stones count too, as in the final score:
        else a stone in one's own area would cost a point, and one among neutral points would gain nothing.
        """
        return jnp.asarray(player, jnp.float32) * _area(frame, state.aux.chain, wanted=jnp.bool_(True))

    def ownership(state: GameState) -> Array:
        """float32[N, N]: the area, stones and the free points that reach one colour only."""
        reached = _reached(frame, state.aux.chain, wanted=state.terminated)
        return frame.grid(frame.inner((reached == 1).astype(jnp.float32) - (reached == 2)))

    def score(state: GameState) -> Array:
        """Dark's area minus light's and the komi."""
        assert state.margin is not None
        return _area(frame, state.aux.chain, wanted=jnp.bool_(True)) + state.margin

    def write_rules(points: np.ndarray) -> dict[str, float]:
        return {"KM": fair_komi(int(points.sum())) if komi is None else komi}

    def read_rules(properties: Mapping[str, Any]) -> dict[str, float]:
        return {"komi": properties["KM"]} if "KM" in properties else {}

    return Game(
        name="go",
        max_size=max_size,
        min_size=MIN_SIZE,
        max_moves=max_moves,
        init=init,
        step=step,
        setup=setup,
        heuristic=heuristic,
        ownership=ownership,
        score=score,
        shape_problem=_shape_problem,
        symmetries=ALL_SYMMETRIES,
        extra_planes=(shortage,),
        sgf=SGFFormat(game_type=1, default_size=19, write=write_rules, read=read_rules),
        recipes=RECIPES,
    )


@dataclasses.dataclass(frozen=True)
class _Frame:
    """The padded board with a wall around it, as one line: a row above, a row below, a column to the right.

    L = (N + 2) * (N + 1), and point (row, column) has number (row + 1) * (N + 1) + column: its neighbours,
    the wall included, lie at fixed distances, so looking at them is a slice.
    """

    side: int

    @property
    def width(self) -> int:
        return self.side + 1

    @property
    def length(self) -> int:
        return (self.side + 2) * self.width

    @property
    def steps(self) -> tuple[int, int, int, int]:
        return -self.width, 1, self.width, -1

    @property
    def numbers(self) -> np.ndarray:
        """int16[L]"""
        return np.arange(self.length, dtype=np.int16)

    @functools.cached_property
    def keys(self) -> np.ndarray:
        """int32[2, L]: the hash keys of the points, fixed once and for all."""
        return np.random.default_rng(7).integers(-(2**31), 2**31, (2, self.length), dtype=np.int32)

    def inner(self, x):
        """[N * (N + 1)]: x without the rows above and below."""
        return x[self.width : self.length - self.width]

    def around(self, x: Array) -> list[Array]:
        """The four neighbours of every inner point, [N * (N + 1)] each."""
        return [x[self.width + step : self.length - self.width + step] for step in self.steps]

    def outer(self, x: Array) -> Array:
        """The inverse of `inner`: zeros above and below."""
        return jnp.pad(x, (self.width, self.width))

    def grid(self, x: Array) -> Array:
        """[N, N]: the points of an inner array."""
        return x.reshape(self.side, self.width)[:, : self.side]

    def line(self, x: Array) -> Array:
        """[L]: a padded board with zeros on the wall."""
        return jnp.pad(x, ((1, 1), (0, 1))).reshape(-1)


def _check_options(max_size, komi, superko, move_cap) -> None:
    if max_size > MAX_SIZE:
        raise ValueError(f"max_size={max_size} is too large for go; the largest board side is {MAX_SIZE}")
    number = isinstance(komi, numbers.Real) and not isinstance(komi, bool)
    if komi is not None and not (number and math.isfinite(komi)):
        raise ValueError(f"komi must be a finite number, or None for a fair value by size, not {komi!r}")
    if not isinstance(superko, bool):
        raise ValueError(f"superko must be True or False, not {superko!r}")
    whole = isinstance(move_cap, numbers.Integral) and not isinstance(move_cap, bool)
    if move_cap is not None and not (whole and int(move_cap) >= 1):
        raise ValueError(f"move_cap must be a positive whole number, or None for 2 * n * n, not {move_cap!r}")


def _shape_problem(points: np.ndarray) -> str:
    return "" if is_connected(points) else "its parts are not connected; join them, or leave all but one out"


def fair_komi(area: int) -> float:
    """The default komi of a board of so many points: that of the square of nearest area."""
    return FAIR_KOMI[min(round(math.sqrt(area)), len(FAIR_KOMI) - 1)]


def _colour(chain: Array) -> Array:
    """int8[...]: +1, -1 or 0, from chain numbers."""
    return (chain > WALL).astype(jnp.int8) - (chain < 0).astype(jnp.int8)


def _per_chain(frame: _Frame, values: Array, chain: Array) -> Array:
    """[L]: for each stone, the sum of the inner `values` over its chain."""
    label = jnp.abs(chain).astype(jnp.int32)
    return jax.ops.segment_sum(values, frame.inner(label), frame.length)[label]


def _count_liberties(frame: _Frame, chain: Array) -> Array:
    free = sum(((x == 0).astype(jnp.int16) for x in frame.around(chain)), start=jnp.int16(0))
    return _per_chain(frame, jnp.where(jnp.abs(frame.inner(chain)) > WALL, free, 0), chain)


def _read(frame: _Frame, board: Array, points: Array, memory: int) -> GoAux:
    """The memory of a game that has seen this board only."""
    stones = frame.line(board).astype(jnp.int16)
    inner = frame.inner(stones)

    def spread(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        chain, _ = carry
        near = [x * inner for x in frame.around(chain)]
        largest = functools.reduce(jnp.maximum, near, jnp.abs(frame.inner(chain)))
        grown = frame.outer(largest * inner)
        return grown, (grown != chain).any()

    chain, _ = jax.lax.while_loop(lambda carry: carry[1], spread, (stones * frame.numbers, jnp.bool_(True)))
    keys = [_per_chain(frame, frame.inner(key), chain) for key in frame.keys]
    chain = jnp.where(frame.line(points), chain, jnp.int16(WALL))
    sums = [jnp.where(stones == colour, frame.numbers, 0).sum(dtype=jnp.int16) for colour in (1, -1)]
    return GoAux(
        passed=jnp.bool_(False),
        chain=chain,
        liberties=_count_liberties(frame, chain),
        keys=jnp.where((stones != 0)[None, :], jnp.stack(keys), 0),
        # A row of zeros stands for the empty board, which no move can recreate.
        hashes=jnp.zeros((2, memory), jnp.int32).at[:, 0].set((frame.keys * stones[None, :]).sum(1)),
        sums=jnp.zeros((2, memory), jnp.int16).at[:, 0].set(jnp.stack(sums)),
    )


def _legal(frame: _Frame, aux: GoAux, to_play: Array, move_count: Array) -> Array:
    """bool[V]: all legal actions of a game that goes on, at once."""
    near = [x * to_play for x in frame.around(aux.chain)]  # > 0 own, < 0 the opponent's, 0 free
    liberties = frame.around(aux.liberties)
    keys = [frame.around(x) for x in aux.keys]
    free = frame.inner(aux.chain) == 0

    breathes = jnp.zeros_like(free)
    gained = [frame.inner(key) for key in frame.keys]  # keys of the stone, and below of what it captures
    for i in range(4):
        touching = sum(((near[i] == x).astype(jnp.int16) for x in near), start=jnp.int16(0))
        captures = (near[i] < 0) & (liberties[i] == touching)
        breathes |= (near[i] == 0) | captures | ((near[i] > 0) & (liberties[i] > touching))
        for x in near[:i]:  # a chain met twice is captured once
            captures &= near[i] != x
        gained = [g + jnp.where(captures, x[i], 0) for g, x in zip(gained, keys, strict=True)]

    now = move_count % aux.sums.shape[1]
    own = jnp.where(to_play > 0, aux.sums[0], aux.sums[1])
    point = (own - own[now]).astype(jnp.int32) - frame.width  # [H], as an inner index
    repeats = (point >= 0) & (point < free.size)
    for g, hashes in zip(gained, aux.hashes, strict=True):
        repeats &= (hashes[now] + to_play * g).at[point].get(mode="clip") == hashes
    legal = (free & breathes).at[jnp.where(repeats, point, free.size)].set(False, mode="drop")
    return jnp.append(frame.grid(legal).reshape(-1), True)


def _place(
    frame: _Frame, aux: GoAux, to_play: Array, action: Array, placed: Array
) -> tuple[GoAux, Array, Array]:
    """A stone on the board if `placed`, else nothing: (aux but for its history, changes of hash and sums)."""
    at = action + action // frame.side + frame.width
    here = (frame.numbers == at) & placed
    near = aux.chain.at[at + np.array(frame.steps)].get(mode="clip")
    liberties = aux.liberties.at[at + np.array(frame.steps)].get(mode="clip")
    touching = (near[:, None] == near[None, :]).sum(1)
    joins = (near * to_play > 0) & (near != WALL) & placed
    captures = (near * to_play < 0) & (liberties == touching) & placed

    captured, joined = jnp.zeros_like(here), here
    for i in range(4):
        same = aux.chain == near[i]
        captured |= same & captures[i]
        joined |= same & joins[i]
    chain = jnp.where(captured, 0, jnp.where(joined, to_play * at.astype(jnp.int16), aux.chain))
    joined_keys = jnp.where(joined[None, :], frame.keys, 0).sum(1, keepdims=True)
    keys = jnp.where(captured[None, :], 0, jnp.where(joined[None, :], joined_keys, aux.keys))

    hashes = to_play * jnp.where((captured | here)[None, :], frame.keys, 0).sum(1)
    gain = jnp.where(here, frame.numbers, 0).sum(dtype=jnp.int16)
    loss = jnp.where(captured, frame.numbers, 0).sum(dtype=jnp.int16)
    sums = jnp.where(to_play > 0, jnp.stack([gain, -loss]), jnp.stack([-loss, gain]))
    return aux._replace(chain=chain, liberties=_count_liberties(frame, chain), keys=keys), hashes, sums


def _area(frame: _Frame, chain: Array, wanted: Array) -> Array:
    """float32[]: dark's area minus light's, or anything at no cost where it is not `wanted`."""
    reached = _reached(frame, chain, wanted)
    return ((reached == 1).sum() - (reached == 2).sum()).astype(jnp.float32)


def _reached(frame: _Frame, chain: Array, wanted: Array) -> Array:
    """int8[L]: 1 in dark's area, 2 in light's, 3 between them; anything at no cost where not `wanted`.

    A free point counts for a colour if a path of free points leads from it to that colour and none to the
    other.  Under `vmap` the loop lasts as long as the slowest wanted board, and not at all on most moves.
    """
    free = frame.inner(chain) == 0

    def spread(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        reached, _ = carry  # two bits: 1 by dark, 2 by light
        near = functools.reduce(jnp.bitwise_or, frame.around(reached))
        grown = frame.outer(frame.inner(reached) | jnp.where(free, near, 0))
        return grown, (grown != reached).any()

    stones = (chain > WALL).astype(jnp.int8) + 2 * (chain < 0).astype(jnp.int8)
    return jax.lax.while_loop(lambda carry: carry[1], spread, (stones, wanted))[0]
