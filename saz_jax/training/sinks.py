"""Figures of a run sent elsewhere as well: TensorBoard, Weights & Biases; each an extra, none required."""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from saz_jax.storage.metrics import Row

Sink: TypeAlias = Callable[[Row], None]


def check_installed(names: Sequence[str]) -> None:
    """Raise `ValueError` that names the extra of the first sink that is not installed."""
    for name in names:
        if importlib.util.find_spec(MODULES[name]) is None:
            raise ValueError(f"{name} is not installed; pip install 'saz_jax[{name}]'")


def tensorboard(workdir: Path) -> Sink:
    """Event files in `workdir/tensorboard`."""
    writer = importlib.import_module("tensorboardX").SummaryWriter(str(workdir / "tensorboard"))

    def write(row: Row) -> None:
        for name, value in row.items():
            writer.add_scalar(name, value, row["iteration"])
        writer.flush()

    return write


def wandb(workdir: Path) -> Sink:
    """A run of Weights & Biases with its files in `workdir/wandb`."""
    init = importlib.import_module("wandb").init
    run = init(project="saz_jax", id=workdir.name, resume="allow", dir=str(workdir))
    return lambda row: run.log(row, step=int(row["iteration"]))


SINKS: dict[str, Callable[[Path], Sink]] = {"tensorboard": tensorboard, "wandb": wandb}
MODULES = {"tensorboard": "tensorboardX", "wandb": "wandb"}
