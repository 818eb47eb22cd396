"""Small boards solved: the outcome with best play, found through a game's own `step`."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.config.shape_text import parse_shape
from saz_jax.games.registry import make_game, points_of
from saz_jax.games.shapes import outline
from saz_jax.render.figures import markdown_table
from saz_jax.storage.results import ResultsFile
from saz_jax.types import Array, Game, GameState

WINNERS = {1: "dark, who moves first", -1: "light", 0: "nobody, a tie"}


class Solution(NamedTuple):
    """What best play leads to."""

    outcome: int
    """Seen by dark: +1 win, 0 tie, -1 loss."""
    positions: int
    """Different positions whose outcome had to be found; finished games do not count."""


class _Moves(NamedTuple):
    """The moves of one position, and what is told about the positions after them."""

    player: Array
    """int8[]: who moves."""
    legal: Array
    """bool[A]"""
    boards: Array
    """int8[A, N, N]"""
    to_play: Array
    """int8[A]"""
    terminated: Array
    """bool[A]"""
    outcome: Array
    """float32[A]"""
    score: Array
    """float32[A]: that of the greedy player, seen by who moves."""


def solve(game: Game, shape: Any) -> Solution:
    """The outcome of a game on a small board with best play on both sides.

    Searches depth first, moves that the greedy player likes first, no further where a win is found.  Every
    position is looked at once, so a position has to be its board and whose turn it is: a game that remembers
    more (Go, Hex) is refused.
    """
    start = game.init(shape)
    if jax.tree.leaves(start.aux):
        raise ValueError(
            f"{game.name} remembers more than its board, so equal boards may differ; use another"
        )
    known: dict[bytes, int] = {}

    def best(states: GameState, which: int) -> int:
        after, told = _expand(game, states, which)
        moves = _Moves(*jax.device_get(told))
        player, found, waiting = int(moves.player), [], {}
        for action in np.flatnonzero(moves.legal).tolist():
            key = moves.boards[action].tobytes() + moves.to_play[action].tobytes()
            if moves.terminated[action]:
                found.append(int(moves.outcome[action]))
            elif key in known:
                found.append(known[key])
            else:
                waiting[key] = action
        if player not in found:
            for key in sorted(waiting, key=lambda key: -moves.score[waiting[key]]):
                known[key] = best(after, waiting[key])
                found.append(known[key])
                if known[key] == player:
                    break
        return player * max(player * outcome for outcome in found)

    root = jax.tree.map(lambda x: x[None], start)
    return Solution(int(start.outcome) if start.terminated else best(root, 0), len(known) + 1)


@functools.partial(jax.jit, static_argnums=0)
def _expand(game: Game, states: GameState, which: Array | int) -> tuple[GameState, _Moves]:
    """The positions after every action of one of `states`; illegal ones change nothing."""
    state = jax.tree.map(lambda x: x[which], states)
    after = jax.vmap(game.step, (None, 0))(state, jnp.arange(game.num_actions))
    score = jax.vmap(game.heuristic, (0, None))(after, state.to_play)
    told = (state.to_play, state.legal, after.board, after.to_play, after.terminated, after.outcome, score)
    return after, _Moves(*told)


def check(game: str, options: Mapping[str, Any], shapes: Iterable[str]) -> None:
    """Raise `ValueError` for shapes that the game is not played on, and for such with random holes."""
    for text in shapes:
        said = parse_shape(text)
        if said.share:
            raise ValueError(f"{text} is another board each time; name shapes without random holes")
        points_of(make_game(game, said.side, **options), outline(said))


def fill(
    file: ResultsFile,
    game: str,
    options: Mapping[str, Any],
    shapes: Iterable[str],
    say: Callable[[str], None],
) -> None:
    """Solves what is missing in a file of results, board by board."""
    for text in shapes:
        if text in file.data["boards"]:
            continue
        said = parse_shape(text)
        solution = solve(make_game(game, said.side, **options), outline(said))
        file.data["boards"][text] = solution._asdict()
        file.save()
        say(f"{game} {text}: won by {WINNERS[solution.outcome]}; {solution.positions} positions")


def table(data: Mapping[str, Any]) -> str:
    """A row for each board."""
    rows = [
        [text, WINNERS[found["outcome"]], f"{found['positions']:,}"] for text, found in data["boards"].items()
    ]
    return markdown_table(["rows x columns", "won with best play by", "positions"], rows)
