"""All records and function types of the package; no logic.

Shape letters, the same everywhere:
  B  batch          T  moves        N  padded side (static)    n  live side (data, n <= N)
  V  nodes, V = N * N + 1           E  edges                   F  features     K  subgraphs

Action i is node i: point (row, column) of the padded board is node `row * N + column`, and the last
node, the dummy node, is also the action "pass".  Live points are the top-left n x n corner.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax

Array: TypeAlias = jax.Array
Variables: TypeAlias = Any
"""A network's flax variables: `params` and, where it has batch norm, `batch_stats`."""


class GameState(NamedTuple):
    """One position of a game; `vmap` adds B in front of every field."""

    board: Array
    """int8[N, N]: +1 dark (moves first), -1 light, 0 empty or off the board."""
    size: Array
    """int32[]: the live side n."""
    to_play: Array
    """int8[]: +1 dark, -1 light."""
    legal: Array
    """bool[V]: for the player to move; never all False, a finished game allows exactly "pass"."""
    terminated: Array
    """bool[]"""
    outcome: Array
    """float32[]: seen by dark, +1 win, 0 tie, -1 loss; 0 until the end."""
    move_count: Array
    """int32[]: actions taken so far, passes included."""
    aux: Any
    """What a game's own rules remember besides (Go: passes and position hashes); () if nothing."""


@dataclasses.dataclass(frozen=True, eq=False)
class Game:
    """The rules of one game on boards of every live side from `min_size` to `max_size`.

    The four functions take one position and are pure; `jit`, `vmap` and `scan` them at will.
    """

    name: str
    max_size: int
    """N, the padded side; static."""
    min_size: int
    """The smallest live side on which the rules make sense."""
    max_moves: int
    """No game is longer than this many actions, whatever its live side."""
    options: tuple[tuple[str, Any], ...]
    """The keyword options of `make_game`, defaults filled in: what is needed to build it again."""
    init: Callable[[Any], GameState]
    """size -> the opening position."""
    step: Callable[[GameState, Any], GameState]
    """(state, action) -> the next position; a finished game no longer changes, and neither does a
    position whose action is illegal or out of range."""
    setup: Callable[[Any, Any, Any], GameState]
    """(board int8[N, N], size, to_play) -> that position, as if the game had just reached it with no
    history: terminated and outcome follow from the board alone."""
    heuristic: Callable[[GameState, Any], Array]
    """(state, player) -> float32[]: the greedy player's score of the board, seen by `player` (+1 / -1)."""

    @property
    def num_actions(self) -> int:
        """V: every padded point, and pass."""
        return self.max_size * self.max_size + 1


class Evaluation(NamedTuple):
    """What a network or an ensemble says about B positions."""

    logits: Array
    """float32[B, V]: unnormalised log-probabilities; absent or illegal nodes hold the dtype's minimum."""
    value: Array
    """float32[B]: in [-1, 1], seen by the player to move."""


class SearchOutput(NamedTuple):
    """What a search found in B root positions."""

    action: Array
    """int32[B]: the move to play."""
    policy: Array
    """float32[B, V]: the improved policy, zero on illegal moves; the training target."""
    value: Array
    """float32[B]: the root's value after the search, seen by the player to move."""
    surprise: Array
    """float32[B]: Kullback-Leibler divergence of the policy from what the network said, in nats."""
    visits: Array
    """int32[B, V]: visit counts of the root's children."""
    qvalues: Array
    """float32[B, V]: values of the root's children, seen by the root's player; 0 where unvisited."""
    principal_variation: Array
    """int32[B, D]: the most visited path from the root, -1 after its end."""


EvaluateFn: TypeAlias = Callable[[Variables, Array, GameState], Evaluation]
"""(variables, key, states[B]) -> Evaluation, with illegal moves masked: the seam between networks
(alone, with subgraphs, slid over the board) and everything that plays."""

SearchFn: TypeAlias = Callable[[Variables, Array, GameState, Any], SearchOutput]
"""(variables, key, states[B], temperature: float or float32[B]) -> SearchOutput."""

Player: TypeAlias = Callable[[Array, GameState], Array]
"""(key, states[B]) -> int32[B] actions."""


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    """A network as four pure functions; nobody outside `networks/` knows which one it holds.

    `nodes: bool[B, V]` says which nodes are present: the live points and the dummy node for a whole
    board, fewer for a subgraph.  Batches are already batched; do not `vmap` these.
    """

    init: Callable[[Array], Variables]
    """key -> fresh variables, independent of the board size for scalable networks."""
    infer: Callable[[Variables, GameState, Array], Evaluation]
    """(variables, states[B], nodes[B, V]) -> Evaluation with frozen statistics, no dropout; logits of
    absent nodes are masked, those of illegal moves are not."""
    fit: Callable[[Variables, Array, GameState, Array], tuple[Evaluation, Variables]]
    """(variables, key, states[B], nodes[B, V]) -> (Evaluation, variables with updated statistics):
    the training-mode pass, dropout drawn from key."""
    embed: Callable[[Variables, GameState, Array], Array]
    """(variables, states[B], nodes[B, V]) -> float32[B, V, H]: node embeddings before the heads."""
    sizes: tuple[int, int | None] = (1, None)
    """Smallest and largest live side that it can read; None: no upper limit."""


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A player's brain by name: its network and how that network is asked (`saz`, `model1`, ...)."""

    name: str
    network: Network
    evaluate: EvaluateFn
    sizes: tuple[int, int | None]
    """Smallest and largest live side that it can play; None: no upper limit."""
