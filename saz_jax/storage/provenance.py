"""Where a result comes from: command, versions, hardware and date, for every file of results."""

import datetime
import importlib.metadata
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

import jax

import saz_jax

PACKAGES = ("jax", "jaxlib", "flax", "optax", "mctx", "numpy")


def provenance() -> dict[str, Any]:
    """`command`, `versions`, `hardware` and `date` (UTC, when it was called), ready for JSON."""
    program, *rest = sys.argv
    return {
        "command": shlex.join(["saz", *rest] if Path(program).stem == "saz" else ["python", program, *rest]),
        "versions": {
            "python": platform.python_version(),
            "saz_jax": saz_jax.__version__,
            **{name: importlib.metadata.version(name) for name in PACKAGES},
        },
        "hardware": {
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": os.cpu_count(),
            "backend": jax.default_backend(),
            "devices": sorted({device.device_kind for device in jax.devices()}),
            "device_count": jax.device_count(),
        },
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _processor() -> str:
    """The processor's name as the system gives it."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:  # not Linux
        names = []
    return names[0] if names else platform.processor() or platform.machine()
