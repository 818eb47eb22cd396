"""What a table tells its page, as JSON; points come row by row on the live board of side n.

Chances are dark's, from 0 to 1.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from saz_jax.coordinates import ends

if TYPE_CHECKING:
    from saz_jax.models.opinions import Opinions
    from saz_jax.play.session import Session
    from saz_jax.play.thinking import Analysis

SENT_LINE = 12
"""Moves of a variation that are told."""


def game(session: "Session") -> dict[str, Any]:
    """All about a game at hand."""
    legal = [ends(move) for move in session.legal_points()]
    starts = {points[0] for points in legal if points}
    places = np.ndindex(session.size, session.size)
    return {
        "is": "game",
        **session.to_json(),
        "simulations": session.setup.limits.simulations,
        "seconds": session.setup.limits.seconds,
        "options": dict(session.game.options),
        "points": bits(session.points),
        "board": [int(stone) for stone in session.view.board.reshape(-1)],
        "legal": "".join("1" if place in starts else "0" for place in places),
        "ends": ends_by_start(session),
        "can_pass": () in legal,
        "can_redo": session.can_redo,
        "to_play": session.to_play,
        "over": session.over,
        "outcome": session.outcome,
        "result": session.result(),
        "score": session.view.score,
    }


def ends_by_start(session: "Session") -> dict[str, list[str]]:
    """{point: the points to which its stone may move}, by name; nothing where stones are placed."""
    found: dict[str, list[str]] = {}
    for move in session.legal_points():
        if len(ends(move)) == 2:
            start, _, end = session.name(move).partition("-")
            found.setdefault(start, []).append(end)
    return found


def analysis(session: "Session", found: "Analysis", ply: int, colour: int) -> dict[str, Any]:
    """What a search has found so far in the position after `ply` moves, where `colour` is to move."""

    def name(action: int) -> str:
        return session.name(session.point(action))

    candidates = [
        {
            "move": name(candidate.action),
            "visits": candidate.visits,
            "chance": chance(candidate.value, colour),
            "prior": round(candidate.prior, 4),
            "line": [name(action) for action in candidate.variation[:SENT_LINE]],
        }
        for candidate in found.candidates
    ]
    return {
        "is": "analysis",
        "ply": ply,
        "to_play": colour,
        "move": name(found.action),
        "chance": None if found.value is None else chance(found.value, colour),
        "simulations": found.simulations,
        "seconds": round(found.seconds, 2),
        "candidates": candidates,
        "visits": None if found.visits is None else on_board(session, found.visits, 1),
        "prior": None if found.prior is None else on_board(session, found.prior, 1000),
        "policy": None if found.policy is None else on_board(session, found.policy, 1000),
    }


def insight(session: "Session", found: "Opinions | None", player: str) -> dict[str, Any]:
    """What a network says of the position before any search; nothing for a player without one."""
    event: dict[str, Any] = {"is": "insight", "ply": len(session.moves), "player": player}
    if found is None:
        return {**event, "network": False}
    held = found.nodes[:, :-1].any(1)
    distances = np.asarray(found.distances)[held]
    subgraphs = [
        {
            "nodes": "".join("1" if x else "0" for x in on_board(session, nodes, 1)[:-1]),
            "distance": round(float(distance), 4),
            "prior": on_board(session, prior, 1000),
            "move": session.name(session.point(int(np.argmax(prior)))) if prior.any() else None,
        }
        for nodes, prior, distance in zip(found.nodes[held], found.priors[held], distances, strict=True)
    ]
    owned = None
    if found.whole.ownership is not None:
        seen_by_dark = np.asarray(found.whole.ownership) * session.to_play
        owned = np.rint(100 * seen_by_dark[: session.size, : session.size].reshape(-1)).astype(int).tolist()
    return {
        **event,
        "network": True,
        "chance": chance(float(found.whole.value), session.to_play),
        "prior": on_board(session, np.exp(found.whole.logits), 1000),
        "spread": on_board(session, found.spread, 1000),
        "disagreement": round(float(distances.mean()), 4) if len(distances) else None,
        "subgraphs": subgraphs,
        "ownership": owned,
    }


def chance(value: float, colour: int) -> float:
    """Dark's chance to win, by the value that `colour` sees."""
    return round((1 + value * colour) / 2, 4)


def bits(mask: np.ndarray) -> str:
    """A mask as a text of 1 and 0."""
    return "".join("1" if x else "0" for x in mask.reshape(-1).tolist())


def on_board(session: "Session", values: Any, scale: int) -> list[int]:
    """One whole number for each point, of values by action or by node; the last one is pass.

    Where stones are moved, a point has the sum over the moves that start there.
    """
    side, size = session.game.max_size, session.size
    by_kind = np.asarray(values[:-1]).reshape(-1, side, side)
    points = by_kind.sum(0)[:size, :size].reshape(-1)
    return np.rint(np.append(points, values[-1]).astype(float) * scale).astype(int).tolist()
