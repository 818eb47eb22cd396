"""All records and function types of the package; no logic.

Shape letters, the same everywhere:
  B  batch          T  moves        N  padded side (static)    n  live side (data, n <= N)
  V  nodes, V = N * N + 1           E  edges                   F  features     K  subgraphs
  A  actions, A = kinds of moves * N * N + 1; A = V where stones are placed

Point (row, column) of the padded board is node `row * N + column`, and the last node is the dummy node.  An
action is a node or a typed edge, see `games/actions.py`: where stones are placed, action i is node i; where
they are moved, there is one action per node and step.  The last action is "pass".  A board is a set of live
points, usually the top-left n x n corner; where it has another shape, n is the side of the smallest such
corner around it.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import numpy as np

Array: TypeAlias = jax.Array
Variables: TypeAlias = Any
"""A network's flax variables: `params` and, where it has batch norm, `batch_stats`."""
Steps: TypeAlias = tuple[tuple[int, int], ...]
"""(row, column) steps from point to point."""


class GameState(NamedTuple):
    """One position of a game; `vmap` adds B in front of every field."""

    board: Array
    """int8[N, N]: +1 dark (moves first), -1 light, 0 empty or off the board."""
    points: Array
    """bool[N, N]: the points that exist; the same throughout a game."""
    size: Array
    """int32[]: the live side n, of the smallest top-left square around the points."""
    to_play: Array
    """int8[]: +1 dark, -1 light."""
    legal: Array
    """bool[A]: for the player to move; never all False, a finished game allows exactly "pass"."""
    terminated: Array
    """bool[]"""
    outcome: Array
    """float32[]: seen by dark, +1 win, 0 tie, -1 loss; 0 until the end."""
    move_count: Array
    """int32[]: actions taken so far, passes included."""
    aux: Any
    """What a game's own rules remember besides (Go: passes and position hashes); () if nothing."""
    margin: Array | None = None
    """float32[]: points that dark is given before the count (Go: minus the komi); None: a game without."""


class Observation(NamedTuple):
    """What a network sees of a position; `vmap` adds B in front of every field."""

    board: Array
    """int8[N, N]"""
    points: Array
    """bool[N, N]"""
    size: Array
    """int32[]"""
    to_play: Array
    """int8[]"""
    legal: Array
    """bool[A]"""
    margin: Array | None = None
    """float32[]: as in `GameState`."""


class SGFFormat(NamedTuple):
    """How a game is written in SGF."""

    game_type: int
    """The number of the game, GM[...]."""
    default_size: int | None = None
    """The side of a file that does not tell it; None: such a file is refused."""
    points: Literal["aa", "a1"] = "aa"
    """How the point in column A and row 1 is written: the row as a letter (Go) or as a number (Hex)."""
    pass_as: str = ""
    """How "pass" is written."""
    write: Callable[[np.ndarray], Mapping[str, Any]] = lambda points: {}
    """points bool[N, N] -> root properties, such as KM and RU, that the rules need to be the same again."""
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda properties: {}
    """Root properties KM and RU, as far as a file has them -> options of the game."""


@dataclasses.dataclass(frozen=True, eq=False)
class Game:
    """One game on boards of every shape and live side from `min_size` to `max_size`, and all that is its own.

    The four functions take one position and are pure; `jit`, `vmap` and `scan` them at will.  A shape is the
    side of a square, a pair (rows, columns) or a mask of points; a maker's own `init` and `setup` get a side
    (int32[]) or a mask (bool[N, N]), both of which `games.board.live_points` reads.
    """

    name: str
    max_size: int
    """N, the padded side; static."""
    min_size: int
    """The smallest live side on which the rules make sense."""
    max_moves: int
    """No game is longer than this many actions, whatever its live side."""
    init: Callable[[Any], GameState]
    """shape -> the opening position."""
    step: Callable[[GameState, Any], GameState]
    """(state, action) -> the next position; a finished game no longer changes, and neither does a
    position whose action is illegal or out of range."""
    setup: Callable[[Any, Any, Any], GameState]
    """(board int8[N, N], shape, to_play) -> that position, as if the game had just reached it with no
    history: terminated and outcome follow from the board alone."""
    heuristic: Callable[[GameState, Any], Array]
    """(state, player) -> float32[]: the greedy player's score of the board, seen by `player` (+1 / -1)."""
    ownership: Callable[[GameState], Array] | None = None
    """(finished game) -> float32[N, N] in [-1, 1]: whose each point is in the end, +1 dark's, -1 light's, 0
    nobody's or off the board: what a network may learn besides the outcome.  None: not defined."""
    score: Callable[[GameState], Array] | None = None
    """state -> float32[]: dark's points minus light's, komi included, as the board stands; None: the game
    counts no points."""
    shape_problem: Callable[[np.ndarray], str] = lambda points: ""
    """points bool[N, N] -> why the rules make no sense on that shape; "" if they do."""
    symmetries: tuple[int, ...] = (0,)
    """The symmetries of `games.board.symmetry` that leave the rules as they are; 0 is the identity."""
    directions: Steps = ((-1, 0), (0, 1), (1, 0), (0, -1))
    """Steps to the neighbours of a point, compass directions in opposite pairs: four on a grid, six in Hex.
    They are the edges of its graph."""
    moves: Steps = ((0, 0),)
    """Its kinds of moves, each the step from where a move starts to where it ends: (0, 0) places a stone on a
    point, a step of `directions` moves one along that edge.  See `games/actions.py`."""
    light_view: int = 0
    """The symmetry through which networks look at light's positions, so that both sides seem to move the same
    way (Breakthrough: upside down).  With the colours exchanged it leaves the rules as they are.  0: light's
    positions are seen as they stand, with the colours exchanged."""
    planes: tuple[Callable[[Observation], Array], ...] = ()
    """What a network has to be told besides stones and legal moves: each function makes one more feature per
    point, float32[N, N], of one observation, seen by the player to move (Hex: the sides to join)."""
    extra_planes: tuple[Callable[[Observation], Array], ...] = ()
    """More of the same that a network sees if it asks for it by its setting `extra_planes` (Go: how short of
    liberties each chain is)."""
    stones_on: Literal["lines", "squares", "hexagons"] = "lines"
    """How it is drawn: stones where lines cross, as in Go, on squares, as in Othello, or on hexagons, as in
    Hex, each row half a cell further to the right."""
    sgf: SGFFormat | None = None
    """How it is written in SGF; None: as plain text only."""
    recipes: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    """For training: by preset ("paper", "strong", "small", "smoke"), settings by dotted path that differ from
    those of other games, for example {"small": {"sizes": (6, 7, 8), "gin.dummy": "max"}}."""
    options: tuple[tuple[str, Any], ...] = ()
    """The keyword options of its maker, defaults filled in; `make_game` sets it."""
    origin: str = ""
    """Where its maker lives, as `module:function`; `make_game` sets it."""

    @property
    def num_actions(self) -> int:
        """A: every kind of move from every padded point, and pass."""
        return len(self.moves) * self.max_size * self.max_size + 1


class Evaluation(NamedTuple):
    """What a network or an ensemble says about B positions."""

    logits: Array
    """float32[B, A]: unnormalised log-probabilities; absent or illegal actions hold the dtype's minimum."""
    value: Array
    """float32[B]: in [-1, 1], seen by the player to move."""
    ownership: Array | None = None
    """float32[B, N, N]: in [-1, 1], whose each point will be in the end, seen by the player to move."""
    score: Array | None = None
    """float32[B]: the sum of the ownership, in points; no margin is counted."""
    reply: Array | None = None
    """float32[B, A]: logits of the next player's move, as `logits` but for legality."""
    soft: Array | None = None
    """float32[B, A]: logits of a softened policy, which tells unlikely moves apart."""
    outcomes: Array | None = None
    """float32[B, 3]: log-probabilities of a win, a tie and a loss, of which the value is what one expects."""


class SearchOutput(NamedTuple):
    """What a search found in B root positions."""

    action: Array
    """int32[B]: the move to play."""
    policy: Array
    """float32[B, A]: the improved policy, zero on illegal moves; the training target."""
    value: Array
    """float32[B]: the root's value after the search, seen by the player to move."""
    surprise: Array
    """float32[B]: Kullback-Leibler divergence of the policy from what the network said, in nats."""
    visits: Array
    """int32[B, A]: visit counts of the root's children."""
    qvalues: Array
    """float32[B, A]: values of the root's children, seen by the root's player; 0 where unvisited."""
    principal_variation: Array
    """int32[B, D]: the most visited path from the root, -1 after its end."""


EvaluateFn: TypeAlias = Callable[[Variables, Array, GameState], Evaluation]
"""(variables, key, states[B]) -> Evaluation, with illegal moves masked: the seam between networks
(alone, with subgraphs, slid over the board) and everything that plays."""

SearchFn: TypeAlias = Callable[[Variables, Array, GameState, Any], SearchOutput]
"""(variables, key, states[B], temperature: float or float32[B]) -> SearchOutput."""

Player: TypeAlias = Callable[[Array, GameState], Array]
"""(key, states[B]) -> int32[B] actions; the players of this package take one position, too: -> int32[]."""


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    """A network as four pure functions; only `networks/` knows which network it holds.

    `nodes: bool[B, V]` says which nodes are present: the live points and the dummy node for a whole
    board, fewer for a subgraph.  Batches are already batched; do not `vmap` these.
    """

    init: Callable[[Array], Variables]
    """key -> fresh variables, independent of the board size for scalable networks."""
    infer: Callable[[Variables, Observation, Array], Evaluation]
    """(variables, observations[B], nodes[B, V]) -> Evaluation with frozen statistics, no dropout; logits of
    actions with an absent end are masked, those of illegal moves are not."""
    fit: Callable[[Variables, Array, Observation, Array], tuple[Evaluation, Variables]]
    """(variables, key, observations[B], nodes[B, V]) -> (Evaluation, variables with updated statistics):
    the training-mode pass, dropout drawn from key."""
    embed: Callable[[Variables, Observation, Array], Array]
    """(variables, observations[B], nodes[B, V]) -> float32[B, V, H]: node embeddings before the heads."""
    sizes: tuple[int, int | None] = (1, None)
    """Smallest and largest live side that it can read; None: no upper limit."""
    heads: tuple[str, ...] = ()
    """What its evaluations hold besides: "ownership" (and the score), "reply", "soft"."""


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A network and how it is asked (`saz`, `model1`, ...)."""

    network: Network
    evaluate: EvaluateFn
    sizes: tuple[int, int | None]
    """Smallest and largest live side that it can play; None: no upper limit."""
    evaluate_once: EvaluateFn | None = None
    """The network asked once about the whole board, where `evaluate` asks it several times; else None."""
    name: str = ""
    """`make_model` sets it."""
