"""Tree search guided by an `EvaluateFn`."""

from saz_jax.search.mctx_bridge import mctx_qtransform, mctx_recurrent, mctx_root

__all__ = ["mctx_qtransform", "mctx_recurrent", "mctx_root"]
