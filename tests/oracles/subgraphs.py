"""Slow, plain loops over nodes, subgraphs and windows."""

import math


def scatter(priors, subgraphs, pool):
    """One prior from K: for every node, `pool` of what the subgraphs that hold it say, 0 if none does."""
    result = []
    for node in range(len(priors[0])):
        held = [prior[node] for prior, subgraph in zip(priors, subgraphs, strict=True) if subgraph[node]]
        result.append(pool(held) if held else 0.0)
    return result


def mean(values):
    return sum(values) / len(values)


def softmax(logits, nodes):
    """Probabilities over the present nodes, 0 elsewhere."""
    top = max(logit for logit, present in zip(logits, nodes, strict=True) if present)
    weights = [
        math.exp(logit - top) if present else 0.0 for logit, present in zip(logits, nodes, strict=True)
    ]
    return [weight / sum(weights) for weight in weights]


def combine(p1, p2, legal, how):
    """The combined prior over legal moves; all legal moves alike where nothing is left of it."""
    formula = {
        "product": lambda a, b: (a + a * b) / 2,
        "mean": lambda a, b: (a + b) / 2,
        "only": lambda a, b: b,
    }
    prior = [formula[how](a, b) if ok else 0.0 for a, b, ok in zip(p1, p2, legal, strict=True)]
    if sum(prior) == 0:
        prior = [float(ok) for ok in legal]
    return [p / sum(prior) for p in prior]


def slide(board, side, ask):
    """(prior[n * n + 1], value) of a live board (a list of rows): means over all its sub-boards of `side`.

    `ask` maps a sub-board to (probabilities of its points and pass, value).
    """
    n = len(board)
    seen = [[] for _ in range(n * n + 1)]
    values = []
    for top in range(n - side + 1):
        for left in range(n - side + 1):
            prior, value = ask([row[left : left + side] for row in board[top : top + side]])
            for r in range(side):
                for c in range(side):
                    seen[(top + r) * n + left + c].append(prior[r * side + c])
            seen[-1].append(prior[-1])
            values.append(value)
    return [mean(held) for held in seen], mean(values)
