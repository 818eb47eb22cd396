"""What the scripts share: errors in one sentence, progress bars, compilation caches.

The other modules of this folder need the extra `cli`.
"""

from saz_jax.cli.compilation_cache import enable as enable_compilation_cache

__all__ = ["enable_compilation_cache"]
