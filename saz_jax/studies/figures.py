"""The results of every study as figures; imports no jax."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from saz_jax.render.figures import canvas, figure, outcome_axis, outcome_curve, shared_legend
from saz_jax.studies import paper
from saz_jax.studies.synthetic import good_and_bad, synthetic_board
from saz_jax.studies.tables import EQUAL, Data, board_name, boards, by_model, by_size, group, pairing


def complexity(data: Data) -> Any:
    """States and actions over the side of the board, on a logarithmic scale."""
    drawn, (axis,) = figure(1, (6.5, 3.6))
    found = sorted(data["boards"], key=lambda board: board["size"])
    for label, value in (
        ("states 3^(n²)", lambda board: 10.0 ** board["stones_log10"]),
        ("states (n²)³, the paper's", lambda board: board["states"]),
        ("actions n² + 1", lambda board: board["actions"]),
    ):
        axis.plot([board["size"] for board in found], [value(board) for board in found], "o-", label=label)
    axis.set(xlabel="board side n", yscale="log")
    shared_legend(drawn)
    return drawn


def models(numbers: paper.Outcomes) -> Callable[[Data], Any]:
    """An axis for each board, a bar for each model, a diamond where `numbers`, the paper's, has one."""

    def draw(data: Data) -> Any:
        drawn, axes = figure(len(boards(data)), (4.0, 3.4))
        for axis, (on, found) in zip(axes, boards(data).items(), strict=True):
            players = list(by_model(found))
            bars(axis, board_name(on), {player: by_model(found)[player][0] for player in players})
            known = [(players.index(m), o.mean) for m, o in numbers.get(on, {}).items() if m in players]
            if known:
                axis.plot(*zip(*known, strict=True), "D", color="black", markersize=5, label="the paper's")
        shared_legend(drawn)
        return drawn

    return draw


def bars(axis: Any, title: str, results: Mapping[str, Data]) -> None:
    """Average outcomes by name with their standard errors, blue above one half, red below, grey at it."""
    outcomes = [result["outcome"] for result in results.values()]
    errors = [result["standard_error"] or 0.0 for result in results.values()]
    colours = [("tab:red", "tab:grey", "tab:blue")[(o > 0.5) - (o < 0.5) + 1] for o in outcomes]
    axis.bar(range(len(results)), outcomes, yerr=errors, color=colours, alpha=0.7, capsize=3, width=0.6)
    axis.set_xticks(range(len(results)), list(results))
    axis.set_xlim(-0.8, len(results) - 0.2)
    outcome_axis(axis, title)


def curves(axis: Any, groups: Mapping[str, Sequence[Data]], x: str) -> None:
    """A curve for each group of matches over their figure `x`, each thinner than those that it may cover."""
    for above, (label, matches) in zip(reversed(range(len(groups))), groups.items(), strict=True):
        outcome_curve(axis, [(match[x], match) for match in matches], label, width=1.2 + 0.9 * above)


def over_sizes(
    data: Data, key: Callable[[Data], Hashable], name: Callable[[Any], str], split: Callable[..., Any]
) -> Any:
    """An axis for each `key` of the matches, called `name(key)`, with the groups of `split` over sizes."""
    groups = group(by_size(data), key)
    drawn, axes = figure(len(groups), (4.2, 3.4))
    for axis, (which, matches) in zip(axes, groups.items(), strict=True):
        curves(axis, split(matches), "size")
        axis.set_xticks(sorted({match["size"] for match in matches}))
        outcome_axis(axis, name(which), "board side")
    shared_legend(drawn)
    return drawn


def generalisation(data: Data) -> Any:
    """An axis for each game and opponent, a curve for each player."""
    return over_sizes(data, lambda m: (m["game"], m["opponent"]), " against ".join, by_model)


def equal_compute(data: Data) -> Any:
    """An axis for each game, a curve for each kind of equality."""

    def split(matches: Iterable[Data]) -> dict[str, list[Data]]:
        return group(matches, lambda match: EQUAL[match["opponent"]])

    return over_sizes(data, lambda m: m["game"], lambda game: f"{game}: SAZ against model3", split)


def training_time(data: Data) -> Any:
    """Outcomes against wall-clock and against positions, for each board."""
    drawn, axes = figure(2 * len(boards(data)), (4.0, 3.4))
    pairs = [(on, found, x) for on, found in boards(data).items() for x in ("minutes", "positions")]
    for axis, (on, found, x) in zip(axes, pairs, strict=True):
        curves(axis, by_model(found), x)
        outcome_axis(axis, f"{board_name(on)} against greedy", f"{x} of training")
    shared_legend(drawn)
    return drawn


def fine_tuning(data: Data) -> Any:
    """An axis for each board, a bar for each pairing."""
    drawn, axes = figure(len(boards(data)), (5.0, 3.4))
    for axis, (on, found) in zip(axes, boards(data).items(), strict=True):
        bars(axis, board_name(on), {pairing(m).replace(" against", "\nagainst"): m for m in found})
    return drawn


def embedding(data: Data) -> Any:
    """A synthetic board, and the first two components of its actions over the board's side."""
    found, drawn = data["embedding"], canvas(9.0, 4.2)
    synthetic(drawn.add_subplot(1, 2, 1), 8)
    axis = drawn.add_subplot(1, 2, 2, projection="3d")
    for which, (name, colour) in enumerate((("good", "tab:blue"), ("bad", "tab:red"))):
        x, y = zip(*(pair[which] for pair in found["components"]), strict=True)
        axis.scatter(x, y, found["sizes"], s=8, color=colour, label=f"{name} action")
    axis.set(xlabel="component 1", ylabel="component 2", zlabel="board side")
    axis.locator_params(nbins=4)
    axis.set_box_aspect(None, zoom=0.85)
    shared_legend(drawn)
    return drawn


def synthetic(axis: Any, size: int) -> None:
    """The synthetic board of that side with its good and its bad action."""
    board = synthetic_board(size)
    for row, column in zip(*board.nonzero(), strict=True):
        colour = "black" if board[row, column] > 0 else "white"
        axis.plot(column, row, "o", markersize=15, color=colour, markeredgecolor="black")
    for action, colour in zip(good_and_bad(size), ("tab:blue", "tab:red"), strict=True):
        axis.plot(action % size, action // size, "*", markersize=16, color=colour)
    lines = [line + 0.5 for line in range(size - 1)]
    axis.set_xticks(lines, [""] * len(lines))
    axis.set_yticks(lines, [""] * len(lines))
    axis.tick_params(length=0)
    axis.grid(color="grey")
    axis.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal", title="dark to move")
