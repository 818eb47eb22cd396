"""Players trained on squares, on boards of other shapes: the graph network beside its convolutional rival."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from saz_jax.arena.series import MatchConfig
from saz_jax.config.shape_text import parse_shape
from saz_jax.games.shapes import outline, random_holes
from saz_jax.render import figures
from saz_jax.storage.results import read_json

OPENING = 4
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


def boards(side: int) -> dict[str, str]:
    """{text: name} of all shapes inside a square of that side."""
    lengths = {"n": side, "half": side // 2, "two_thirds": 2 * side // 3}
    return {form.format(**lengths): name for name, form in KINDS.items()}


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


def results(folder: Path) -> list[dict[str, Any]]:
    """All matches in `folder`: game, side, player, opponent and the outcomes by shape."""
    found = []
    for path in sorted(folder.glob("*.json")):
        game, side, player, opponent = path.stem.split("-", maxsplit=3)
        told = {"game": game, "side": int(side), "player": player, "opponent": opponent}
        found.append({**told, "shapes": read_json(path)["sizes"]})
    return found


def table(folder: Path) -> str:
    """A row for each shape, a column for each match; outcomes with their 95% intervals."""
    text = ""
    for game, side, group in _groups(results(folder)):
        columns = [f"{match['player']} against {match['opponent']}" for match in group]
        rows = [
            [name, *(_cell(match["shapes"].get(shape)) for match in group)]
            for shape, name in boards(side).items()
        ]
        text += f"{game}, inside {side}x{side}\n\n{figures.markdown_table(['board', *columns], rows)}\n"
    return text


def verdict(folder: Path) -> str:
    """A sentence for each game: on how many shapes the first player beats the second, beyond the interval."""
    lines = []
    for game, side, group in _groups(results(folder)):
        for match in (match for match in group if match["opponent"] != "greedy"):
            other = {s: r for s, r in match["shapes"].items() if boards(side).get(s, "square") != "square"}
            ahead, behind = (
                [boards(side)[s] for s, r in other.items() if test(r["wilson"])]
                for test in (lambda ends: ends[0] > 0.5, lambda ends: ends[1] < 0.5)
            )
            games = sum(r["wins"] + r["ties"] + r["losses"] for r in other.values())
            points = sum(r["wins"] + r["ties"] / 2 for r in other.values())
            lines.append(
                f"{game} inside {side}x{side}: {match['player']} scores {points / max(games, 1):.2f} against "
                f"{match['opponent']} in {games} games on other shapes than squares; ahead beyond the 95% "
                f"interval on {_listed(ahead)}, behind on {_listed(behind)}."
            )
    return "\n".join(lines) + "\n"


def figure(folder: Path, path: Path) -> Path:
    """Outcomes over shapes with their intervals, each shape drawn below its place, as a PNG at `path`."""
    groups = _groups(results(folder))
    drawn = figures.canvas(1.1 * len(KINDS) + 1, 5.2 * len(groups))
    panels = drawn.subplots(2 * len(groups), 1, squeeze=False, height_ratios=[3, 1] * len(groups))[:, 0]
    for (game, side, group), axis, below in zip(groups, panels[::2], panels[1::2], strict=True):
        texts = list(boards(side))
        for number, match in enumerate(group):
            known = [(i, match["shapes"][t]) for i, t in enumerate(texts) if t in match["shapes"]]
            x = [i + 0.12 * (number - (len(group) - 1) / 2) for i, _ in known]
            y = [result["outcome"] for _, result in known]
            ends = [[abs(result["wilson"][end] - result["outcome"]) for _, result in known] for end in (0, 1)]
            label = f"{match['player']} against {match['opponent']}"
            axis.errorbar(x, y, yerr=ends, fmt="o", capsize=3, label=label)
        figures.outcome_axis(axis, f"{game}, trained on squares, on boards inside {side}x{side}")
        axis.set_xticks(range(len(texts)), boards(side).values())
        axis.set_xlim(-0.5, len(texts) - 0.5)
        axis.legend(frameon=False, ncols=3)
        _draw_boards(below, texts)
    drawn.savefig(path, dpi=150)
    return path


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


def _groups(found: list[dict[str, Any]]) -> list[tuple[str, int, list[dict[str, Any]]]]:
    keys = sorted({(match["game"], match["side"]) for match in found})
    return [(*key, [match for match in found if (match["game"], match["side"]) == key]) for key in keys]


def _cell(result: Mapping[str, Any] | None) -> str:
    if result is None:
        return "-"
    low, high = result["wilson"]
    return f"{result['outcome']:.2f} ({low:.2f} to {high:.2f})"


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
