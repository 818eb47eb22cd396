"""The search tree of one game as text and as a picture; values are seen by the player at the root."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from saz_jax.render.svg import Picture
from saz_jax.render.text import move_name
from saz_jax.search import NONE, ROOT, Tree

STEP_X, STEP_Y, MARGIN = 74, 84, 40
WARM, COLD = "#d7301f", "#2166ac"


class Branch(NamedTuple):
    """A node that is drawn, and where."""

    node: int
    parent: int | None
    """Place of the parent in the list of branches."""
    depth: int
    move: str
    visits: int
    value: float
    prior: float
    x: float
    """In leaves from the left."""


def branches(tree: Tree, depth: int = 3, width: int = 4) -> list[Branch]:
    """The `width` most visited children of every node down to `depth`, parents before their children.

    tree: of one game, without the batch axis.
    """
    found: list[Branch] = []
    _grow(tree, found, ROOT, None, 0, (depth, width), leaves=0)
    return found


def outline(tree: Tree, depth: int = 3, width: int = 4) -> str:
    """A line for every branch, indented by its depth."""
    lines = [f"{'move':<14}{'visits':>8}{'value':>8}{'prior':>8}"]
    for branch in branches(tree, depth, width):
        move = "  " * branch.depth + branch.move
        lines.append(f"{move:<14}{branch.visits:>8}{branch.value:>8.2f}{branch.prior:>8.3f}")
    return "\n".join(lines)


def draw_tree(tree: Tree, depth: int = 3, width: int = 4) -> Picture:
    """Nodes as discs, larger with more visits: red is good for the root's player, blue is bad."""
    found = branches(tree, depth, width)
    right, deepest = max(branch.x for branch in found), max(branch.depth for branch in found)
    wide, high = right * STEP_X + 2 * MARGIN, deepest * STEP_Y + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high:g}" '
        f'viewBox="0 0 {wide:g} {high:g}"><rect width="{wide:g}" height="{high:g}" fill="#ffffff"/>',
        *_lines(found),
        *_discs(found),
        "</svg>",
    ]
    return Picture("\n".join(parts))


def _grow(
    tree: Tree,
    found: list[Branch],
    node: int,
    parent: int | None,
    depth: int,
    limits: tuple[int, int],
    leaves: int,
) -> int:
    """Append `node` and what is below it; the number of leaves to the left of whatever comes next."""
    place = len(found)
    found.append(_branch(tree, node, parent, depth))
    deepest, width = limits
    visits = np.asarray(tree.children_visits[node])
    best = [action for action in np.argsort(-visits, kind="stable")[:width] if visits[action] > 0]
    after = leaves
    for action in best if depth < deepest else []:
        child = int(tree.children_index[node, action])
        after = _grow(tree, found, child, place, depth + 1, limits, after)
    after = max(after, leaves + 1)
    found[place] = found[place]._replace(x=(leaves + after - 1) / 2)
    return after


def _branch(tree: Tree, node: int, parent: int | None, depth: int) -> Branch:
    action, above = int(tree.action_from_parent[node]), int(tree.parents[node])
    side = tree.states.board.shape[-1]
    sign = int(tree.states.to_play[node]) * int(tree.states.to_play[ROOT])
    return Branch(
        node=node,
        parent=parent,
        depth=depth,
        move="root" if above == NONE else move_name(action, side),
        visits=int(tree.node_visits[node]),
        value=float(tree.node_values[node]) * sign,
        prior=1.0 if above == NONE else float(np.exp(tree.children_prior_logits[above, action])),
        x=0.0,
    )


def _place(branch: Branch) -> tuple[float, float]:
    return MARGIN + branch.x * STEP_X, MARGIN + branch.depth * STEP_Y


def _lines(found: list[Branch]) -> Iterator[str]:
    for branch in found:
        if branch.parent is not None:
            (x1, y1), (x2, y2) = _place(found[branch.parent]), _place(branch)
            share = branch.visits / found[ROOT].visits
            yield (
                f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#999999" '
                f'stroke-width="{1 + 8 * share:.2f}"/>'
            )


def _discs(found: list[Branch]) -> Iterator[str]:
    font = 'font-family="sans-serif" text-anchor="middle"'
    for branch in found:
        x, y = _place(branch)
        radius = 9 + 17 * (branch.visits / found[ROOT].visits) ** 0.5
        colour, strength = WARM if branch.value > 0 else COLD, min(abs(branch.value), 1)
        yield (
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" fill="#ffffff" stroke="#555555"/>'
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" fill="{colour}" fill-opacity="{strength:.2f}"/>'
            f'<text x="{x:g}" y="{y + 4:g}" {font} font-size="11">{branch.move}</text>'
            f'<text x="{x:g}" y="{y + radius + 11:g}" {font} font-size="9" fill="#333333" '
            f'stroke="#ffffff" stroke-width="3" paint-order="stroke">'
            f"{branch.visits}: {branch.value:+.2f}</text>"
        )
