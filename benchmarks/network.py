"""The GIN's forward pass: grid sums beside `segment_sum`, beside no sums at all, and a plain matrix product.

python benchmarks/network.py [--json FILE] [--rounds N]

All functions take turns on 256 boards of 9x9; then one evaluation of a single board from 9x9 to 350x350.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jraph
from timing import parser, report, take_turns

from saz_jax.config import GINConfig
from saz_jax.games import make_game
from saz_jax.graphs.topology import live_nodes, observe, topology
from saz_jax.networks.features import node_features
from saz_jax.networks.gin import make_gin, make_graph_gin
from saz_jax.networks.gin_module import GIN
from saz_jax.networks.kernels.chunks import PRODUCT_NODES
from saz_jax.networks.neighbours import Neighbours
from saz_jax.networks.network import Output, make_network
from saz_jax.networks.nodes import Nodes, each, join_board, split_board
from saz_jax.types import Array, Observation

BATCH, SIDE = 256, 9
SIDES = (9, 20, 50, 100, 200, 350)


def boards(side: int, batch: int) -> tuple[Observation, Array]:
    """Opening positions of Othello on full boards, and their nodes."""
    states = jax.vmap(make_game("othello", side).init)(jnp.full(batch, side))
    return observe(states), jax.vmap(live_nodes)(states)


def without_sums(gin: GIN, features: Array, nodes: Array, train: bool) -> Output:
    """The same network, without any messages between nodes."""

    def nothing(h: Nodes, *_: Any) -> Nodes:
        return each(jnp.zeros_like, h)

    output = gin(split_board(features), split_board(nodes), Neighbours(nothing, nothing), train)
    value = jnp.tanh(join_board(output.value).mean(1))
    return Output(join_board(output.embedding), join_board(output.logits), value)


def segment_sums(config: GINConfig, side: int) -> Callable[..., Any]:
    """The usual way: one graph with `segment_sum`, vmapped over the batch."""
    senders, receivers, types = map(jnp.asarray, topology(side, config.edges))
    counts = jnp.array([side * side + 1]), jnp.array([len(senders)])
    infer = make_graph_gin(config).infer

    def run(variables: Any, states: Observation, nodes: Array) -> Any:
        def one(features: Array, present: Array) -> Any:
            graph = jraph.GraphsTuple(features, types, receivers, senders, None, *counts)
            return infer(variables, graph, present)

        return jax.vmap(one)(node_features(states, config.features), nodes)

    return run


def per_node_flops(config: GINConfig) -> int:
    """Multiplications and additions of the untyped network's linear layers, for one node."""
    hidden, head = config.hidden, config.head
    layers = hidden + (2 * config.layers - 1) * hidden * hidden
    return 2 * (layers + config.layers * hidden * head + head * head + 2 * head)


def compare(hidden: int, rounds: int) -> dict[str, float]:
    """Times of the grid path and its rivals at one width, printed; their ratios."""
    config = GINConfig(hidden=hidden, head=hidden)
    network = make_gin(config, SIDE)
    variables = network.init(jax.random.key(0))
    states, nodes = boards(SIDE, BATCH)
    typed = make_gin(GINConfig(hidden=hidden, head=hidden, edges="compass8"), SIDE)
    alone = make_network(GIN(config), without_sums, SIDE, chunk_nodes=PRODUCT_NODES)
    matrix = jnp.ones((nodes.size, hidden)), jnp.ones((hidden, hidden))
    inputs = variables, states, nodes
    seconds = take_turns(
        {
            "grid": functools.partial(jax.jit(network.infer), *inputs),
            "segment": functools.partial(jax.jit(segment_sums(config, SIDE)), *inputs),
            "alone": functools.partial(jax.jit(alone.infer), *inputs),
            "compass8": functools.partial(jax.jit(typed.infer), typed.init(jax.random.key(0)), *inputs[1:]),
            "product": functools.partial(jax.jit(jnp.matmul), *matrix),
        },
        rounds,
    )
    speed = nodes.size * per_node_flops(config) / seconds["grid"] / 1e9
    ceiling = 2 * matrix[0].size * hidden / seconds["product"] / 1e9
    figures = {
        f"gin{hidden}_grid_vs_segment": seconds["segment"] / seconds["grid"],
        f"gin{hidden}_vs_no_aggregation": seconds["grid"] / seconds["alone"],
    }
    times = ", ".join(f"{name} {1e3 * s:.1f} ms" for name, s in seconds.items())
    print(f"hidden {hidden}, {BATCH} boards of {SIDE}x{SIDE}: {times}")
    print(f"  {speed:.0f} GFLOP/s; plain matrix product {ceiling:.0f} GFLOP/s")
    for name, figure in figures.items():
        print(f"  {name} {figure:.2f}")
    return figures


def growth(rounds: int) -> dict[str, float]:
    """Time per node of one evaluation of one board, from 9x9 to 350x350, hidden 64."""
    config = GINConfig(hidden=64, head=64)
    variables = make_gin(config, SIDE).init(jax.random.key(0))
    functions = {
        str(side): functools.partial(jax.jit(make_gin(config, side).infer), variables, *boards(side, 1))
        for side in SIDES
    }
    seconds = take_turns(functions, rounds)
    per_node = {side: seconds[str(side)] / (side * side + 1) for side in SIDES}
    for side in SIDES:
        print(f"one board of {side}x{side}: {1e9 * per_node[side]:.0f} ns per node")
    return {"gin64_per_node_350_vs_9": per_node[350] / per_node[9]}


def main() -> None:
    arguments = parser(__doc__).parse_args()
    figures = compare(64, arguments.rounds) | compare(128, arguments.rounds) | growth(arguments.rounds)
    report(figures, arguments.json)


if __name__ == "__main__":
    main()
