"""JAX's persistent compilation cache for the scripts, so that only the first run waits for XLA."""

import logging
import os
import sys
import tempfile
from pathlib import Path

import jax

logger = logging.getLogger(__name__)

VARIABLE = "SAZ_JAX_CACHE"
"""Environment variable: `off` turns the cache off, anything else is the folder to use."""


def default_folder() -> Path:
    """The user's cache folder by the custom of the platform; `XDG_CACHE_HOME` wins everywhere."""
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        base = Path(chosen)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path.home() / ".cache"
    return base / "saz_jax" / "xla"


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
        folder = Path(setting).expanduser() if setting else default_folder()
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        logger.warning("compiling without a cache: %s; set %s to a folder, or to off", error, VARIABLE)
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # A start compiles many small programs, which together take longer than the large one.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return folder
