"""Results as tables and figures; imports no jax, and matplotlib only where a figure is drawn."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from saz_jax.storage.metrics import Row

LEGEND_INCHES = 2.0
"""Width of a column in a legend below the axes."""


def canvas(width: float, height: float) -> Any:
    """An empty figure, drawn without a screen; `ValueError` names the extra if it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ValueError("figures need matplotlib; pip install 'saz_jax[plots]'") from error
    return Figure(figsize=(width, height), layout="constrained")


def figure(columns: int, size: tuple[float, float] = (5.0, 3.6)) -> tuple[Any, Any]:
    """(figure, axes[columns]), drawn without a screen; `ValueError` names the extra if it is missing."""
    drawn = canvas(size[0] * columns, size[1])
    axes = drawn.subplots(1, columns, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.3)
    return drawn, axes


def shared_legend(drawn: Any) -> None:
    """One legend below all axes, where it hides nothing; none if nothing has a label."""
    found = [axis.get_legend_handles_labels() for axis in drawn.axes]
    handles = {
        label: handle
        for axis_handles, labels in found
        for handle, label in zip(axis_handles, labels, strict=True)
    }
    if handles:
        columns = min(len(handles), int(drawn.get_figwidth() / LEGEND_INCHES))
        drawn.legend(handles.values(), handles, loc="outside lower center", ncols=columns, frameon=False)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its first column to the left and the others to the right."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def outcome_text(result: Mapping[str, Any]) -> str:
    """An average outcome with its standard error, if there is one: 0.85 ± 0.02."""
    error = result["standard_error"]
    return f"{result['outcome']:.2f}" + (f" ± {error:.2f}" if error is not None else "")


def outcome_axis(axis: Any, title: str, xlabel: str = "") -> None:
    """Makes an axis one of average outcomes, with a line where both sides are equal."""
    axis.axhline(0.5, color="grey", linewidth=0.8)
    axis.set(title=title, xlabel=xlabel, ylabel="average outcome", ylim=(-0.03, 1.03))


def outcome_curve(
    axis: Any, points: Sequence[tuple[float, Mapping[str, Any]]], label: str, width: float = 1.5
) -> None:
    """Average outcomes over x, shaded by their standard errors; points: (x, result)."""
    x, outcomes = [x for x, _ in points], [result["outcome"] for _, result in points]
    errors = [result["standard_error"] or 0.0 for _, result in points]
    (line,) = axis.plot(x, outcomes, "o-", markersize=2.5 + width, linewidth=width, label=label)
    low, high = ([y + sign * e for y, e in zip(outcomes, errors, strict=True)] for sign in (-1, 1))
    axis.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)


def outcome_names(row: Row) -> list[str]:
    """The figures of a row that are average outcomes against a reference opponent, such as `greedy_16`."""
    return [name for name in row if name.startswith(("random_", "greedy_"))]


def training_curve(rows: Sequence[Row], path: Path, title: str) -> Path:
    """Losses and outcomes against training time, from the rows of `metrics.jsonl`, as a PNG at `path`."""
    drawn, (left, right) = figure(2)
    right.sharex(left)
    drawn.suptitle(title)
    for name in ("policy_loss", "value_loss"):
        known = [row for row in rows if name in row]
        minutes, losses = [row["seconds"] / 60 for row in known], [row[name] for row in known]
        left.plot(minutes, losses, marker="o" if len(known) == 1 else None, label=name[:-5])
    left.set(xlabel="minutes of training", ylabel="loss")
    measured = {tuple(name.split("_")) for row in rows for name in outcome_names(row)}
    for opponent, size in sorted(measured, key=lambda pair: (pair[0], int(pair[1]))):
        name = f"{opponent}_{size}"
        known = [row for row in rows if name in row]
        style = {"marker": "o", "linestyle": "-" if opponent == "greedy" else ":"}
        minutes, values = [row["seconds"] / 60 for row in known], [row[name] for row in known]
        right.plot(minutes, values, label=f"against {opponent}, {size}x{size}", **style)
    outcome_axis(right, "", "minutes of training")
    left.set_xlim(left=0)  # the right axis shares it
    for axis in (left, right):
        if axis.get_legend_handles_labels()[0]:  # the line of equal sides has no label
            axis.legend(frameon=False)
    drawn.savefig(path, dpi=150)
    return path
