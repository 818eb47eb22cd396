"""Tree search guided by an `EvaluateFn`."""

from saz_jax.search.mctx_bridge import mctx_qtransform, mctx_recurrent, mctx_root
from saz_jax.search.rollouts import make_rollout_evaluate, rollout_player
from saz_jax.search.tree import NONE, ROOT, Tree
from saz_jax.search.tree_search import (
    Strategy,
    make_search,
    make_tree_search,
    register_search,
    search_with,
)

__all__ = [
    "NONE",
    "ROOT",
    "Strategy",
    "Tree",
    "make_rollout_evaluate",
    "make_search",
    "make_tree_search",
    "mctx_qtransform",
    "mctx_recurrent",
    "mctx_root",
    "register_search",
    "rollout_player",
    "search_with",
]
