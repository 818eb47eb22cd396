"""How a network is asked for a prior and a value: alone, with subgraphs, or slid over the board."""

from saz_jax.models.evaluators import sliding_window, subgraph_ensemble, whole_board
from saz_jax.models.registry import make_model, register_model

__all__ = ["make_model", "register_model", "sliding_window", "subgraph_ensemble", "whole_board"]
