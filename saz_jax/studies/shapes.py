"""Boards of other shapes than squares: the graph network beside its convolutional rival.

Both are trained on squares only (the shipped players), or with shapes in self-play from several seeds.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from saz_jax.arena.series import MatchConfig
from saz_jax.arena.statistics import average_outcome, seeds_interval
from saz_jax.config import TrainConfig
from saz_jax.config.shape_text import parse_shape
from saz_jax.games.shapes import outline, random_holes
from saz_jax.render import figures
from saz_jax.storage.results import read_json
from saz_jax.training.presets import preset

OPENING = 8
"""Random plies at the start of every game, so that deterministic players play different ones."""
KINDS = {
    "square": "{n}x{n}",
    "1 : 1.5": "{two_thirds}x{n}",
    "1 : 2": "{half}x{n}",
    "5% holes": "holes:{n}:0.05",
    "10% holes": "holes:{n}:0.1",
    "20% holes": "holes:{n}:0.2",
    "diamond": "diamond:{n}",
    "ring": "ring:{n}",
    "cross": "cross:{n}",
}
"""Shapes by what they are called, inside a square of side n."""
TRAINED_ON = ("8x8", "6x8", "8x6", "holes:8:0.05", "holes:8:0.15", "diamond:8", "cross:8")
"""Boards of self-play, where players are trained on shapes."""
NETWORKS = {"graph": "model3", "fcn": "fcn"}
"""The two sides, and the model that each is trained as: graph is that of the shipped players."""
SEED = ".shapes"
"""`graph.shapes2` is the graph network trained with shapes in self-play from seed 2."""


def boards(side: int) -> dict[str, str]:
    """{text: name} of all shapes inside a square of that side."""
    lengths = {"n": side, "half": side // 2, "two_thirds": 2 * side // 3}
    return {form.format(**lengths): name for name, form in KINDS.items()}


def shipped(game: str) -> dict[str, str]:
    """{label: player}: what comes with the package for this game, trained on squares only."""
    return {"graph": game, "fcn": f"{game}-fcn"}


def training(game: str, network: str, seed: int) -> TrainConfig:
    """The small recipe of a game with shapes in self-play, never evaluated on the way."""
    config = preset("small", game, NETWORKS[network])
    # In Gomoku's recipe large boards are drawn more often; of shapes, all are drawn equally often.
    selfplay = dataclasses.replace(config.selfplay, favour="none")
    evaluation = dataclasses.replace(config.evaluation, every=0, games=0)
    return dataclasses.replace(config, shapes=TRAINED_ON, seed=seed, selfplay=selfplay, evaluation=evaluation)


def matches(
    players: Mapping[str, str], game: str, side: int, games: int, runs: int, simulations: int
) -> dict[str, MatchConfig]:
    """By file: the first player (`{label: player}`) against every other, and each one against greedy."""
    first, *others = players
    pairs = [(first, label, players[label]) for label in others]
    pairs += [(label, "greedy", "greedy") for label in players]
    return {
        f"{game}-{side}-{label}-{against}.json": MatchConfig(
            game=game,
            player=players[label],
            opponent=opponent,
            shapes=tuple(boards(side)),
            games=games,
            runs=runs,
            simulations=simulations,
            opening_moves=OPENING,
        )
        for label, against, opponent in pairs
    }


class Pairing(NamedTuple):
    """All matches between two sides in one game on boards inside one square."""

    game: str
    side: int
    trained: bool
    """With shapes in self-play, or on squares only."""
    player: str
    opponent: str
    seeds: tuple[dict[str, dict[str, Any]], ...]
    """{text of a shape: result} of each pair of players; the shipped ones are a single pair."""

    def on(self, shapes: Iterable[str]) -> dict[str, Any] | None:
        """All games on these shapes as one result, with the outcome of each seed; None if there are none."""
        each = [[seed[shape] for shape in shapes if shape in seed] for seed in self.seeds]
        return _joined([found for found in each if found])

    @property
    def others(self) -> list[str]:
        """The shapes that are no squares."""
        return [text for text, name in boards(self.side).items() if name != "square"]


def _joined(seeds: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any] | None:
    if not seeds:
        return None
    counts = [[sum(result[name] for result in seed) for name in ("wins", "ties", "losses")] for seed in seeds]
    wins, ties, losses = map(sum, zip(*counts, strict=True))
    outcome, games = average_outcome(wins, ties, losses), wins + ties + losses
    outcomes = [average_outcome(*count) for count in counts]
    return {
        "outcome": outcome,
        "interval": seeds_interval(outcomes, outcome, games),
        "games": games,
        "seeds": outcomes,
    }


def results(folder: Path) -> list[Pairing]:
    """All matches in `folder`, seeds together; what was trained on squares comes first in each game."""
    found: dict[tuple[str, int, bool, str, str], list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*-*-*-*.json")):
        game, side, *labels = path.stem.split("-", maxsplit=3)
        player, opponent = (re.sub(rf"{re.escape(SEED)}\d+$", "", label) for label in labels)
        key = (game, int(side), SEED in path.stem, player, opponent)
        if stored := read_json(path)["sizes"]:
            found.setdefault(key, []).append(stored)
    return [Pairing(*key, tuple(seeds)) for key, seeds in sorted(found.items())]


def page(folder: Path) -> str:
    """The tables of all boards, and what they say."""
    return f"# Boards of other shapes: all tables\n\n{table(folder)}## In words\n\n{verdict(folder)}"


def table(folder: Path) -> str:
    """A row for each shape, a column for each pairing; outcomes with their 95% intervals."""
    text = ""
    for group in _groups(results(folder)):
        first = group[0]
        columns = [f"{p.player} against {p.opponent}" for p in group]
        rows = [[name, *(_cell(p.on([t])) for p in group)] for t, name in boards(first.side).items()]
        rows.append(["all but the square", *(_cell(p.on(p.others)) for p in group)])
        text += f"## {_title(first)}\n\n{figures.markdown_table(['board', *columns], rows)}\n"
    return text


def verdict(folder: Path) -> str:
    """A sentence on each pairing of the two networks: who wins on other shapes than squares, and where."""
    lines = []
    for pairing in (p for p in results(folder) if p.opponent != "greedy"):
        whole, square = pairing.on(pairing.others), pairing.on([f"{pairing.side}x{pairing.side}"])
        if whole is None:
            continue
        single = {name: pairing.on([text]) for text, name in boards(pairing.side).items()}
        known = {name: r for name, r in single.items() if r is not None and name != "square"}
        ahead = [name for name, r in known.items() if _winner(pairing, r) == pairing.player]
        behind = [name for name, r in known.items() if _winner(pairing, r) == pairing.opponent]
        winner = _winner(pairing, whole)
        seeds = f", seeds {', '.join(f'{x:.2f}' for x in whole['seeds'])}" if len(whole["seeds"]) > 1 else ""
        on_square = f"; {square['outcome']:.2f} on the square" if square else ""
        lines.append(
            f"- {_title(pairing)}: {f'{winner} wins' if winner else 'neither wins'}. "
            f"{pairing.player} scores {_cell(whole)} against {pairing.opponent} in {whole['games']} games on "
            f"other shapes than squares{seeds}{on_square}; ahead beyond the 95% interval on "
            f"{_listed(ahead)}, behind on {_listed(behind)}."
        )
    return "\n".join(lines) + "\n"


def _winner(pairing: Pairing, result: Mapping[str, Any]) -> str:
    """The side that is ahead beyond the interval; "" if neither is."""
    low, high = result["interval"]
    return pairing.player if low > 0.5 else pairing.opponent if high < 0.5 else ""


def figure(folder: Path, path: Path) -> Path:
    """Outcomes over shapes with their intervals, and the shapes drawn below, as a PNG at `path`.

    A row for each game, side and way to train: both networks against greedy, and against each other.
    """
    groups = _groups(results(folder))
    drawn = figures.canvas(15, 2.7 * len(groups) + 1.2)
    panels = drawn.subplots(len(groups) + 1, 2, squeeze=False, height_ratios=[2.7] * len(groups) + [1.0])
    for (against_greedy, among_them), group in zip(panels[:-1], groups, strict=True):
        for axis, shown, what in (
            (against_greedy, [p for p in group if p.opponent == "greedy"], "against greedy"),
            (among_them, [p for p in group if p.opponent != "greedy"], "graph against fcn"),
        ):
            for number, pairing in enumerate(shown):
                _draw_pairing(axis, pairing, 0.15 * (number - (len(shown) - 1) / 2))
            figures.outcome_axis(axis, f"{_title(group[0])}: {what}")
            axis.set_xticks(range(len(KINDS)), KINDS)
            axis.set_xlim(-0.5, len(KINDS) - 0.5)
            if len(shown) > 1:
                axis.legend(frameon=False, loc="lower left", ncols=2)
    for axis in panels[-1]:
        _draw_boards(axis, boards(max(group[0].side for group in groups)))
    drawn.savefig(path, dpi=110)
    return path


def _draw_pairing(axis: Any, pairing: Pairing, shift: float) -> None:
    colour = {"graph": "tab:blue", "fcn": "tab:orange"}.get(pairing.player)
    found = [(i, pairing.on([text])) for i, text in enumerate(boards(pairing.side))]
    known = [(i + shift, result) for i, result in found if result is not None]
    ends = [[abs(r["interval"][end] - r["outcome"]) for _, r in known] for end in (0, 1)]
    x, y = [x for x, _ in known], [r["outcome"] for _, r in known]
    axis.errorbar(x, y, yerr=ends, fmt="o", capsize=3, color=colour, label=pairing.player)
    seeds = [(x, seed) for x, r in known if len(r["seeds"]) > 1 for seed in r["seeds"]]
    if seeds:
        axis.plot(*zip(*seeds, strict=True), "_", color="grey")


def _draw_boards(axis: Any, texts: Iterable[str]) -> None:
    """A little picture of each shape; random holes are shown as one draw of them."""
    for place, text in enumerate(texts):
        said = parse_shape(text)
        points = outline(said)
        if said.share:
            points = np.asarray(random_holes(jax.random.key(place), points, said.share))
        rows, columns = points.shape
        high, wide = 0.4 * rows / said.side, 0.4 * columns / said.side
        extent = (place - wide, place + wide, -high, high)
        axis.imshow(~points, cmap="gray", vmin=-0.6, vmax=1, extent=extent, aspect="auto")
    axis.set(xlim=(-0.5, len(KINDS) - 0.5), ylim=(-0.5, 0.5), xticks=[], yticks=[])
    axis.set_aspect("equal")
    axis.axis("off")


def _groups(found: list[Pairing]) -> list[list[Pairing]]:
    keys = dict.fromkeys(pairing[:3] for pairing in found)
    return [[pairing for pairing in found if pairing[:3] == key] for key in keys]


def _title(pairing: Pairing) -> str:
    how = f"{len(pairing.seeds)} seeds trained with shapes" if pairing.trained else "trained on squares"
    return f"{pairing.game} inside {pairing.side}x{pairing.side}, {how}"


def _cell(result: Mapping[str, Any] | None) -> str:
    if result is None:
        return "-"
    low, high = result["interval"]
    return f"{result['outcome']:.2f} ({low:.2f} to {high:.2f})"


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
