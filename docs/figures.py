"""Make the pictures of README and site: `make figures`, or `python docs/figures.py board graph`.

All of them come from our own code or from files of results. `screenshot.py` takes that of the web page.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import jax
import numpy as np

import saz_jax
from saz_jax import shapes, svg
from saz_jax.config import SubgraphConfig
from saz_jax.graphs import live_nodes, sample_subgraphs, topology
from saz_jax.render.figures import canvas

HERE = Path(__file__).parent
IMAGES = HERE / "images"
RESULTS = HERE.parent / "results"
CELL = 46
MARGIN = 34
INK, FAINT, STRONG, WARM = "#33414a", "#d3dade", "#1f6f8b", "#e07a2f"
MOVES = 60
"""Plies of the game that is shown."""


def board() -> str:
    """The shipped Othello player on 16x16, its visits as a heat map."""
    agent = saz_jax.load_agent("othello")
    game = agent.game(16)
    analyse, step = agent.analyst(game, simulations=64), jax.jit(game.step)
    state, last = game.init(16), None
    for ply in range(MOVES):
        last = int(analyse(jax.random.key(ply), state).action)
        state = step(state, last)
    found = analyse(jax.random.key(MOVES), state)
    return svg.render(state, game, heat=found.visits, last_move=last, width=520)


def padding() -> str:
    """Three boards in one batch: live points in full, padding faint."""
    init = saz_jax.make_game("go", 7).init
    boards = [init(5), init(7), init(shapes.diamond(7))]
    parts = [
        _grid(np.asarray(state.points), 7, x0=index * 8 * 22, cell=22) for index, state in enumerate(boards)
    ]
    return _svg(3 * 8 * 22 - 8, 7 * 22 + 14, parts)


def graph() -> str:
    """The graph of a 4x4 board: points, their neighbours, and the dummy node."""
    side = 4
    senders, receivers, types = topology(side, "grid4")
    return _svg(*_extent(side), _graph_parts(side, np.ones(side * side + 1, bool), senders, receivers, types))


def typed_edges() -> str:
    """The edges into one point, by type: the paper's four alike, and eight with a type of their own."""
    parts = []
    for index, edges in enumerate(("grid4", "compass8")):
        senders, receivers, types = topology(3, edges)
        into = (receivers == 4) & (senders != 9)
        places = {node: (index * 220 + 40 + 60 * (node % 3), 40 + 60 * (node // 3)) for node in range(9)}
        colours = dict.fromkeys(range(8), INK) if edges == "grid4" else _wheel()
        for sender, kind in zip(senders[into].tolist(), types[into].tolist(), strict=True):
            parts.append(_line(places[sender], places[4], colours[kind], 3))
        parts += [_node(place, STRONG if node == 4 else "#fff") for node, place in places.items()]
        parts.append(f'<text x="{index * 220 + 100}" y="214" class="t">{edges}</text>')
    return _svg(430, 226, parts)


def subgraphs() -> str:
    """Two subgraphs of a 5x5 board, as `sample_subgraphs` draws them, with their induced edges."""
    side, config = 5, SubgraphConfig()
    nodes = live_nodes(saz_jax.make_game("gomoku", side).init(side))
    drawn = np.asarray(sample_subgraphs(jax.random.key(3), nodes, config, side))
    width, height = _extent(side)
    parts = []
    for index, kept in enumerate(drawn[:2]):
        senders, receivers, types = topology(side, "grid4")
        inside = kept[senders] & kept[receivers]
        inner = _graph_parts(side, kept, senders[inside], receivers[inside], types[inside])
        parts.append(f'<g transform="translate({index * width} 0)">{"".join(inner)}</g>')
    return _svg(2 * width, height, parts)


def other_shapes() -> str:
    """Boards that are no squares, with the shipped player's first move on each."""
    agent = saz_jax.load_agent("othello")
    game = agent.game(9)
    masks = {
        "6x9": (6, 9),
        "diamond": shapes.diamond(9),
        "ring": shapes.ring(9),
        "holes": shapes.holes(jax.random.key(1), 9, 0.1),
    }
    player, parts = agent.player(game, simulations=16), []
    for index, (name, shape) in enumerate(masks.items()):
        state = game.init(shape)
        action = int(player(jax.random.key(0), state))
        picture = svg.render(game.step(state, action), game, last_move=action, width=240)
        inner = picture.replace("<svg ", f'<svg x="{index * 250}" y="0" ', 1)
        parts.append(f'{inner}<text x="{index * 250 + 120}" y="262" class="t">{name}</text>')
    return _svg(990, 270, parts)


def size_curve() -> str:
    """Average outcome against greedy by board side, from results/small and results/strength."""
    data = json.loads((RESULTS / "small" / "generalisation.json").read_text())["matches"]
    drawn = canvas(7.6, 3.4)
    axes = drawn.subplots(1, 2, sharey=True)
    styles = {
        "saz": ("SAZ, 8 minutes", "#1f6f8b"),
        "fcn": ("fully convolutional, 8 minutes", "#e07a2f"),
        "model5": ("CNN slid over the board", "#8a8f94"),
    }
    for axis, game, trained in zip(axes, ("othello", "gomoku"), ((6, 8), (8, 9)), strict=True):
        for model, (label, colour) in styles.items():
            points = _against_greedy(data, game, model)
            xs, ys, low, high = zip(*points, strict=True)
            axis.errorbar(xs, ys, yerr=[low, high], label=label, color=colour, marker="o", capsize=2, lw=1.5)
        shipped = json.loads((RESULTS / "strength" / f"{game}-greedy.json").read_text())["sizes"]
        sides = sorted(map(int, shipped))
        axis.plot(
            sides,
            [shipped[str(side)]["outcome"] for side in sides],
            "*",
            ms=11,
            color="#b5179e",
            label="shipped player",
        )
        axis.axvspan(trained[0] - 0.25, trained[1] + 0.25, color="#1f6f8b", alpha=0.12, lw=0)
        axis.set(title=game.capitalize(), xlabel="board side (shaded: trained on)", ylim=(0, 1.05))
        axis.axhline(0.5, color="#999", lw=0.8, ls=":")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("average outcome against greedy")
    axes[0].legend(loc="lower left", fontsize=7, frameon=False)
    return _saved(drawn)


def _against_greedy(data: Mapping, game: str, model: str) -> list[tuple[int, float, float, float]]:
    """(side, outcome, distance to the interval's ends) of every match of a model against greedy."""
    found = []
    for name, match in data.items():
        kind, side, player, opponent = name.split("-")
        if (kind, player, opponent) == (game, model, "greedy"):
            low, high = match["wilson"]
            outcome = match["outcome"]
            found.append((int(side), outcome, max(outcome - low, 0.0), max(high - outcome, 0.0)))
    return sorted(found)


def _saved(drawn) -> str:
    import io

    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "saz_jax", "svg.fonttype": "path"}):
        drawn.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _extent(side: int) -> tuple[int, int]:
    return 2 * MARGIN + (side - 1) * CELL + 130, 2 * MARGIN + (side - 1) * CELL


def _graph_parts(
    side: int, present: np.ndarray, senders: Iterable, receivers: Iterable, types: Iterable
) -> list[str]:
    """Nodes and edges of a board's graph; absent points are faint, the dummy node stands to the right."""
    places: dict[int, tuple[float, float]] = {
        node: (MARGIN + CELL * (node % side), MARGIN + CELL * (node // side)) for node in range(side * side)
    }
    places[side * side] = (2 * MARGIN + (side - 1) * CELL + 70, MARGIN + CELL * (side - 1) / 2)
    edges = {
        (min(a, b), max(a, b), kind >= 8)
        for a, b, kind in zip(*(np.asarray(x).tolist() for x in (senders, receivers, types)), strict=True)
    }
    parts = [
        _line(places[a], places[b], WARM if dummy else INK, 0.7 if dummy else 2.5)
        for a, b, dummy in sorted(edges)
    ]
    for node, place in places.items():
        last = node == side * side
        parts.append(
            _node(
                place, WARM if last else "#fff" if present[node] else FAINT, INK if present[node] else FAINT
            )
        )
    x, y = places[side * side]
    return [*parts, f'<text x="{x}" y="{y + 34}" class="t">dummy node</text>']


def _grid(points: np.ndarray, side: int, x0: int, cell: int) -> str:
    squares = []
    for row in range(side):
        for column in range(side):
            fill, stroke = ("#cfe3ea", STRONG) if points[row, column] else ("#fff", FAINT)
            place = f'x="{x0 + 4 + column * cell}" y="{4 + row * cell}"'
            size = f'width="{cell - 2}" height="{cell - 2}"'
            squares.append(f'<rect {place} {size} fill="{fill}" stroke="{stroke}"/>')
    return "".join(squares)


def _wheel() -> dict[int, str]:
    return dict(
        enumerate(("#d1495b", "#edae49", "#66a182", "#2e4057", "#8d96a3", "#00798c", "#b5179e", "#6a4c93"))
    )


def _line(a: tuple[float, float], b: tuple[float, float], colour: str, width: float) -> str:
    return f'<path d="M{a[0]:g} {a[1]:g}L{b[0]:g} {b[1]:g}" stroke="{colour}" stroke-width="{width:g}"/>'


def _node(place: tuple[float, float], fill: str, stroke: str = INK) -> str:
    x, y = place
    return f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="{fill}" stroke="{stroke}" stroke-width="2"/>'


def _svg(width: float, height: float, parts: Iterable[str]) -> str:
    style = "<style>.t{font:14px sans-serif;text-anchor:middle;fill:#33414a}</style>"
    inner = "\n".join(parts)
    extent = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {extent}>\n{style}\n{inner}\n</svg>\n'


FIGURES: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (board, graph, other_shapes, padding, size_curve, subgraphs, typed_edges)
}
"""By name of the file, without .svg."""


def main(names: list[str]) -> None:
    """Writes the pictures that are named, or all."""
    for name in names or FIGURES:
        path = IMAGES / f"{name}.svg"
        path.write_text(FIGURES[name]())
        print(path.relative_to(HERE.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
