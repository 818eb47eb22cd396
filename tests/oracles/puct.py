"""AlphaZero's search in plain Python: one tree of dictionaries, recursion instead of arrays.

Written from the paper's App. "MCTS" and Alg. 1 alone.  A game is anything with `legal(state)`,
`step(state, action)`, `player(state)` and `result(state)` (None, or the value seen by +1).
"""

import math
from collections.abc import Callable, Hashable
from typing import Any, Protocol


class Rules(Protocol):
    def legal(self, state: Any) -> list[int]: ...
    def step(self, state: Any, action: int) -> Any: ...
    def player(self, state: Any) -> int: ...
    def result(self, state: Any) -> float | None: ...


class Node:
    """A position that has been evaluated: its prior, its own value, and N and W of its moves."""

    def __init__(self, state: Any, prior: dict[int, float], value: float) -> None:
        self.state, self.prior, self.value = state, prior, value
        self.children: dict[int, Node] = {}
        self.count = dict.fromkeys(prior, 0)
        self.total = dict.fromkeys(prior, 0.0)

    def q(self, action: int, unvisited: float) -> float:
        return self.total[action] / self.count[action] if self.count[action] else unvisited


def search(
    rules: Rules,
    state: Hashable,
    evaluate: Callable[[Any], tuple[dict[int, float], float]],
    simulations: int,
    c_puct: float = 1.5,
    unvisited: str = "parent",
) -> Node:
    """The root after `simulations` rounds; `evaluate` gives ({legal action: prior}, value for who moves).

    Equal scores fall to the lowest action.  Before a node's first visit all its U are 0 and all its Q alike:
    the prior decides.
    """

    def new(state: Any) -> Node:
        result = rules.result(state)
        prior, value = evaluate(state)
        return Node(state, prior, value if result is None else result * rules.player(state))

    def choose(node: Node) -> int:
        visits = sum(node.count.values())
        if visits == 0:
            return max(sorted(node.prior), key=lambda action: node.prior[action])
        other = node.value if unvisited == "parent" else 0.0

        def score(action: int) -> float:
            bonus = c_puct * node.prior[action] * math.sqrt(visits) / (1 + node.count[action])
            return node.q(action, other) + bonus

        return max(sorted(node.prior), key=score)

    def visit(node: Node) -> float:
        """One round below `node`; returns the value that it found, seen by `node`'s player."""
        action = choose(node)
        child = node.children.get(action)
        if child is None:
            child = node.children[action] = new(rules.step(node.state, action))
            value = child.value
        elif rules.result(child.state) is not None:
            value = child.value
        else:
            value = visit(child)
        value *= rules.player(child.state) * rules.player(node.state)
        node.total[action] += value
        node.count[action] += 1
        return value

    root = new(state)
    for _ in range(simulations):
        visit(root)
    return root
