"""JAX's persistent compilation cache for the scripts (extra `cli`): only the first run waits for XLA."""

import logging
import os
import tempfile
from pathlib import Path

import jax
from platformdirs import user_cache_path

logger = logging.getLogger(__name__)

VARIABLE = "SAZ_JAX_CACHE"
"""Environment variable: `off` turns the cache off, anything else is the folder to use."""


def enable() -> Path | None:
    """Keep compiled programs on disk from here on; returns the folder, or None if the cache is off.

    A folder already set for JAX itself (`JAX_COMPILATION_CACHE_DIR`) is left as it is.  A folder that
    cannot be written costs a one-line warning and the compile time, nothing else.
    """
    setting = os.environ.get(VARIABLE, "")
    if setting.lower() == "off":
        return None
    if not setting and (chosen := jax.config.values["jax_compilation_cache_dir"]):
        return Path(chosen)
    try:
        folder = (
            Path(setting).expanduser() if setting else user_cache_path("saz_jax", appauthor=False) / "xla"
        )
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        logger.warning("compiling without a cache: %s; set %s to a folder, or to off", error, VARIABLE)
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # A start compiles many small programs, which together take longer than the large one.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return folder
