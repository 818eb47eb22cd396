"""Results into tables and figures; imports no jax, and matplotlib only where a figure is drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saz_jax.metrics import Row


def figure(columns: int, size: tuple[float, float] = (5.0, 3.6)) -> tuple[Any, Any]:
    """(figure, axes[columns]), drawn without a screen; `ValueError` names the extra if it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ValueError("figures need matplotlib; pip install 'saz_jax[plots]'") from error
    drawn = Figure(figsize=(size[0] * columns, size[1]), layout="constrained")
    axes = drawn.subplots(1, columns, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.3)
    return drawn, axes


def outcome_names(row: Row) -> list[str]:
    """The figures of a row that are average outcomes against a reference opponent, such as `greedy_16`."""
    return [name for name in row if name.startswith(("random_", "greedy_"))]


def training_curve(rows: Sequence[Row], path: Path, title: str) -> Path:
    """Losses and outcomes against training time, from the rows of `metrics.jsonl`, as a PNG at `path`."""
    drawn, (left, right) = figure(2)
    drawn.suptitle(title)
    for name in ("policy_loss", "value_loss"):
        known = [row for row in rows if name in row]
        left.plot([row["seconds"] / 60 for row in known], [row[name] for row in known], label=name[:-5])
    left.set(xlabel="minutes of training", ylabel="loss")
    for name in sorted({name for row in rows for name in outcome_names(row)}):
        known = [row for row in rows if name in row]
        opponent, size = name.split("_")
        style = {"marker": "o", "linestyle": "-" if opponent == "greedy" else ":"}
        minutes, values = [row["seconds"] / 60 for row in known], [row[name] for row in known]
        right.plot(minutes, values, label=f"{opponent}, {size}x{size}", **style)
    right.axhline(0.5, color="grey", linewidth=0.8)
    right.set(xlabel="minutes of training", ylabel="average outcome", ylim=(-0.03, 1.03))
    for axis in (left, right):
        if axis.lines:
            axis.legend(frameon=False)
    drawn.savefig(path, dpi=150)
    return path
