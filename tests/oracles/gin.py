"""The GIN in plain numpy and float64, one graph at a time, written from the formulas."""

from typing import Any

import numpy as np


def gin(variables, config, features, edges):
    """(logits[n], value) of one graph; features: [n, F]; edges: list of (sender, receiver, type)."""
    params = _as_numpy(variables["params"])
    h = np.asarray(features, np.float64)
    outputs = []
    for index in range(config.layers):
        layer = params[f"gin_{index}"]
        own = 1 + (layer["epsilon"] if config.epsilon == "learned" else 0.0)
        x = np.zeros((len(h), config.hidden))
        for node in range(len(h)):
            x[node] = _first_linear(layer, config, h, edges, node, own)
        x = _linear(layer["second"], np.maximum(x, 0))
        x = np.maximum(_layer_norm(layer["norm"], x), 0)
        h = x + h if config.residual and h.shape == x.shape else x
        outputs.append(h)
    x = np.concatenate(outputs, axis=1)
    for index in range(2):
        x = _linear(params[f"dense_{index}"], x)
        norm = params[f"norm_{index}"]
        if config.norm == "layer":
            x = _layer_norm(norm, x)
        else:
            running = _as_numpy(variables["batch_stats"][f"norm_{index}"])
            x = norm["scale"] * (x - running["mean"]) / np.sqrt(running["var"] + 1e-5) + norm["bias"]
        x = np.maximum(x, 0)
    logits, values = _linear(params["policy_and_value"], x).T
    if config.readout == "dummy":
        values = values[sorted({receiver for _, receiver, kind in edges if kind == 8})]
    return logits, np.tanh(values.mean() if len(values) else 0.0)


def _first_linear(layer, config, h, edges, node, own):
    """W x + b of one node, with x = own h + sum of neighbours, or one W for every edge type."""
    to_dummy = sum(receiver == node and kind == 8 for _, receiver, kind in edges)
    incoming = []
    for sender, receiver, kind in edges:
        if receiver == node:
            share = to_dummy if config.dummy == "mean" and kind == 8 else 1
            incoming.append((kind, h[sender] / share))
    if config.dummy == "max" and to_dummy:
        most = np.max([message for kind, message in incoming if kind == 8], axis=0)
        incoming = [(kind, message) for kind, message in incoming if kind != 8] + [(8, most)]
    if config.edges == "compass8":
        total = own * h[node] @ layer["kernels"][10] + layer["bias"]
        for kind, message in incoming:
            total = total + message @ layer["kernels"][kind]
        return total
    x = own * h[node]
    for _, message in incoming:
        x = x + message
    return x @ layer["first"]["kernel"] + layer["first"]["bias"]


def _linear(params, x):
    return x @ params["kernel"] + params["bias"]


def _layer_norm(params, x):
    mean, var = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return params["scale"] * (x - mean) / np.sqrt(var + 1e-5) + params["bias"]


def _as_numpy(tree) -> Any:
    return (
        {k: _as_numpy(v) for k, v in tree.items()} if isinstance(tree, dict) else np.asarray(tree, np.float64)
    )


def board_edges(present, side, diagonal):
    """All edges between present nodes of a board of padded side `side`, its dummy node last."""
    compass = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
    dummy = side * side
    edges = []
    for row in range(side):
        for column in range(side):
            here = row * side + column
            if not present[here]:
                continue
            for kind, (dr, dc) in enumerate(compass):
                if (dr and dc and not diagonal) or not (0 <= row + dr < side and 0 <= column + dc < side):
                    continue
                there = (row + dr) * side + column + dc
                if present[there]:
                    edges.append((there, here, kind))
            if present[dummy]:
                edges += [(here, dummy, 8), (dummy, here, 9)]
    return edges
