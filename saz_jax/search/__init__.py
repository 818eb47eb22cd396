"""Tree search guided by an `EvaluateFn`."""

from saz_jax.search.rollouts import make_rollout_evaluate, rollout_player
from saz_jax.search.tree import Tree
from saz_jax.search.tree_search import (
    Strategy,
    make_search,
    make_tree_search,
    register_search,
    search_with,
)

__all__ = [
    "Strategy",
    "Tree",
    "make_rollout_evaluate",
    "make_search",
    "make_tree_search",
    "register_search",
    "rollout_player",
    "search_with",
]
