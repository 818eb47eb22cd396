"""The padded board as a graph, subgraphs of it, and the prior that they make together."""

from saz_jax.graphs.priors import register_prior
from saz_jax.graphs.subgraphs import sample_subgraphs, scatter_max, scatter_mean
from saz_jax.graphs.topology import from_graphs_tuple, live_nodes, observe, to_graphs_tuple, topology

__all__ = [
    "from_graphs_tuple",
    "live_nodes",
    "observe",
    "register_prior",
    "sample_subgraphs",
    "scatter_max",
    "scatter_mean",
    "to_graphs_tuple",
    "topology",
]
