"""How the benchmarks measure: functions take turns, so that all see the same machine."""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax

from saz_jax.storage import write_json
from saz_jax.storage.provenance import provenance

BEGAN = time.perf_counter()
"""When the benchmark was started."""


def take_turns(functions: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """{name: median seconds of `rounds` calls}; a first call of each, not counted, compiles it."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            began = time.perf_counter()
            jax.block_until_ready(function())
            if turn:
                times[name].append(time.perf_counter() - began)
    return {name: statistics.median(spent) for name, spent in times.items()}


def parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments that every benchmark has."""
    arguments = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--json", type=Path, help="write the figures to this file")
    arguments.add_argument("--rounds", type=int, default=5, help="timed calls of each function")
    return arguments


def report(figures: Mapping[str, float], path: Path | None) -> None:
    """Writes the figures, and where they come from, as one JSON object, if asked to."""
    if path:
        write_json(path, {**figures, **provenance(), "seconds": time.perf_counter() - BEGAN})
