"""Memory of search trees: trees that would not fit are refused before anything is compiled."""

import os
from pathlib import Path

import jax

from saz_jax.search.tree import tree_memory
from saz_jax.types import Game

COMPILED = 1.2
"""Peak memory of a search inside a compiled program, per byte of its trees.

Measured on CPU, 0.1 to 1.3 GB of trees, puct and gumbel, alone, in a loop over plies and in an arena: 1.00 to
1.04, since XLA updates the trees in place; the rest is for the evaluation.
"""
EAGER = 2.8
"""The same for a search that is called outside of any compiled program: measured 2.1 to 2.6, since the loop's
argument, its result and a copy made while planting live side by side."""
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


class TooLargeError(ValueError):
    """Trees that do not fit into memory; `fitting` games at a time would."""

    def __init__(self, message: str, fitting: int):
        super().__init__(message)
        self.fitting = fitting


def check_memory(
    game: Game,
    batch: int,
    simulations: int,
    limit: int | None = None,
    copies: float = COMPILED,
    solve: bool = False,
) -> None:
    """Refuse trees of `batch` games that do not fit into `limit` bytes, by default what is available now.

    Nothing is allocated or compiled to find out; `copies` is `COMPILED` or `EAGER`, and `solve` says whether
    the trees keep proofs.
    """
    limit = available_memory() if limit is None else limit
    one_tree = tree_memory(game, 1, simulations, solve)
    needed = copies * batch * one_tree
    if needed <= limit:
        return
    fitting = int(limit / (copies * one_tree))
    planted = tree_memory(game, 1, 0, solve)
    node = tree_memory(game, 1, 1, solve) - planted
    shallow = int((limit / copies / batch - planted) / node)
    remedies = [f"{fitting} games"] * (fitting > 0) + [f"{shallow} simulations"] * (shallow > 0)
    raise TooLargeError(
        f"trees of {batch} games x {simulations} simulations on side {game.max_size} need "
        f"{needed / 1e9:.1f} GB of memory, and {limit / 1e9:.1f} GB are available; "
        + (f"{' or '.join(remedies)} would fit" if remedies else "use fewer games or a smaller board"),
        fitting,
    )


def available_memory() -> int:
    """Bytes that can still be allocated: on the device, or on the machine if the device does not tell."""
    if stats := jax.local_devices()[0].memory_stats():
        return max(stats["bytes_limit"] - stats.get("bytes_in_use", 0), 0)
    return machine_memory()


def machine_memory() -> int:
    """Bytes that can still be allocated on the machine, or in the container that this runs in."""
    free = [amount for amount in (_machine(), _container()) if amount is not None]
    return min(free, default=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _machine() -> int | None:
    """What Linux says is available, in bytes."""
    kilobytes = _entry(MEMINFO, "MemAvailable:")
    return None if kilobytes is None else 1024 * kilobytes


def _container() -> int | None:
    """What the limit of a control group leaves, in bytes; cached files do not count, they give way."""
    limit, used = _number(CGROUP / "memory.max"), _number(CGROUP / "memory.current")
    if limit is None or used is None:
        return None
    return max(limit - used + (_entry(CGROUP / "memory.stat", "inactive_file") or 0), 0)


def _number(path: Path) -> int | None:
    text = _read(path).strip()
    return int(text) if text.isdecimal() else None  # "max": no limit


def _entry(path: Path, name: str) -> int | None:
    """The number behind `name` in a file of names and numbers."""
    rows = (line.split() for line in _read(path).splitlines())
    return next((int(row[1]) for row in rows if len(row) > 1 and row[0] == name), None)


def _read(path: Path) -> str:
    """The file's text; none where this system has no such file."""
    try:
        return path.read_text()
    except OSError:
        return ""
