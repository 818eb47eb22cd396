"""Positions on the way of one game, for pictures."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from saz_jax import Game, GameState, svg, text


def positions(game: Game, start: GameState, actions: Iterable[Any]) -> list[GameState]:
    """`start` and the position after every action; -1 and whatever follows it is left out."""
    states = [start]
    for action in actions:
        if action < 0:
            break
        states.append(game.step(states[-1], int(action)))
    return states


def snapshots(
    game: Game, start: GameState, actions: Sequence[int] | np.ndarray, count: int = 6, width: int = 260
) -> dict[str, str]:
    """{caption: picture} of about `count` positions, evenly spaced, the last one included."""
    states = positions(game, start, actions)
    last = len(states) - 1
    chosen = sorted({round(last * i / max(count - 1, 1)) for i in range(count)} | {last})
    pictures = {}
    for move in chosen:
        played = int(actions[move - 1]) if move else None
        name = "the start" if played is None else f"move {move}: {text.move_name(played, game.max_size)}"
        pictures[name] = svg.render(states[move], game, last_move=played, width=width)
    return pictures
