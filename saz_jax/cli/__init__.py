"""What the scripts share: errors in one sentence, progress bars, compilation caches.

The other modules of this folder need the extra `cli`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saz_jax.cli.compilation_cache import enable as enable_compilation_cache

__all__ = ["enable_compilation_cache"]


def __getattr__(name: str) -> Any:
    # Imported on first use: `saz --help` answers before jax is imported.
    if name == "enable_compilation_cache":
        from saz_jax.cli.compilation_cache import enable

        return enable
    raise AttributeError(f"module 'saz_jax.cli' has no attribute {name!r}")
