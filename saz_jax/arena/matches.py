"""Matches: a player against an opponent, on one board or many.

A `Player` that is a `jax.tree_util.Partial`, such as `Partial(play, variables)`, hands its arguments to
the compiled program as data: other weights of the same network are then played without compiling again.
"""

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from saz_jax.agents.agent import Agent
from saz_jax.arena import host_games
from saz_jax.arena.contestants import read_contestant
from saz_jax.arena.engines import HostPlayer
from saz_jax.arena.lanes import GamesPlayed, Records, check_lanes, play_games
from saz_jax.arena.statistics import average_outcome
from saz_jax.games.board import random_move
from saz_jax.games.registry import points_of
from saz_jax.games.shapes import Boards, draw_boards, make_boards, to_text
from saz_jax.types import Array, Game, GameState, Player


class MatchResult(NamedTuple):
    """A match seen by the player, not by a colour."""

    outcome: float
    """Average of win 1, tie 0.5, loss 0 (Sec. 4.1)."""
    wins: int
    ties: int
    losses: int
    distinct_games: int
    """Number of different action sequences."""
    records: Records


def play_match(
    game: Game,
    dark: Player | Agent | str,
    light: Player | Agent | str,
    key: Array,
    sizes: Sequence[Any] | Array,
    *,
    lanes: int | None = None,
) -> Array:
    """float32[B]: outcomes seen by dark (+1, 0, -1) of B games on boards of side `sizes[i]`.

    Both sides are players, agents or names such as "greedy", "mcts:100" and "othello".  In place of a side
    there may be any other shape: a pair (rows, columns), a mask of points, or text such as "holes:9:0.1".
    """
    checked = _checked_shapes(game, key, sizes)
    starts, _ = random_openings(game, key, checked, moves=0)
    first, second = (seated(game, player, int(starts.size.max())) for player in (dark, light))
    colours = np.ones(len(starts.size), np.int8)
    play = _player_of_games(first, second)
    return jnp.asarray(play(game, first, second, key, starts, colours, lanes=lanes).outcomes)


def seated(game: Game, player: Player | Agent | str, size: int) -> Player:
    """A player, an agent or a name as a player on boards of `game`."""
    contestant = read_contestant(player)
    if contestant.game not in (None, game.name):
        raise ValueError(f"{contestant.text} was trained on {contestant.game}; it cannot play {game.name}")
    return contestant.seat(game, size)


def match(
    game: Game,
    player: Player,
    opponent: Player,
    key: Array,
    *,
    size: int | str,
    games: int,
    opening_moves: int = 0,
    lanes: int | None = None,
    progress: GamesPlayed | None = None,
) -> MatchResult:
    """Plays `games` games on boards of side `size`, or of a shape given as text, the player dark in every
    other one.

    Game 2i and game 2i + 1 start from the same `opening_moves` random plies, so both sides get either
    colour of every opening.  The same arguments give the same games; `lanes` is one of them, since a
    player draws one batch of random numbers for all lanes.  Random holes differ between openings.
    """
    if games < 2 or games % 2:
        raise ValueError(f"{games} games cannot be shared between the colours; use an even number")
    check_play(game, opening_moves, lanes)
    opening_key, play_key = jax.random.split(key)
    shapes = _checked_shapes(game, opening_key, [size] * (games // 2))
    starts, opening = random_openings(game, opening_key, shapes, opening_moves, copies=2)
    colours = np.tile(np.array([1, -1], np.int8), games // 2)
    records = _player_of_games(player, opponent)(
        game, player, opponent, play_key, starts, colours, opening, lanes=lanes, progress=progress
    )
    return summarise(records)


def check_play(game: Game, opening_moves: int, lanes: int | None) -> None:
    """Refuse openings and lanes that no match of `game` can be played with."""
    if not 0 <= opening_moves <= game.max_moves:
        raise ValueError(
            f"opening_moves={opening_moves} is outside 0 (none) to {game.max_moves} (whole games)"
        )
    check_lanes(lanes)


def summarise(records: Records) -> MatchResult:
    """Counts the games of a match from the player's point of view."""
    seen = records.outcomes * records.colours
    wins, ties, losses = (int(np.sum(seen == value)) for value in (1, 0, -1))
    return MatchResult(
        average_outcome(wins, ties, losses), wins, ties, losses, len(set(game_digests(records))), records
    )


def game_digests(records: Records) -> list[str]:
    """A short text for each game, the same only for the same moves on the same board."""
    moves = (row[row >= 0] for row in records.actions)
    square = records.points.sum((1, 2)) == records.sizes**2
    boards = [n if s else to_text(p) for n, s, p in zip(records.sizes, square, records.points, strict=True)]
    games = zip(boards, moves, strict=True)
    return [hashlib.blake2b(f"{n}:{row.tolist()}".encode(), digest_size=8).hexdigest() for n, row in games]


@functools.partial(jax.jit, static_argnames=("game", "moves", "copies"))
def random_openings(
    game: Game, key: Array, shapes: Array, moves: int, copies: int = 1
) -> tuple[GameState, Array]:
    """(states[B], actions int32[B, moves]): uniformly random legal plies, pass only where nothing else is.

    shapes: int32[B], sides of squares, or bool[B, N, N].
    Opening i depends on the key and on i alone, and stands `copies` times in a row.  Where an opening ends
    the game, its actions are continued by -1.
    """

    def opening(index: Array, shape: Array) -> tuple[GameState, Array]:
        def ply(state: GameState, key: Array) -> tuple[GameState, Array]:
            points = state.legal.at[-1].set(~state.legal[:-1].any())
            action = random_move(key, points)
            return game.step(state, action), jnp.where(state.terminated, -1, action)

        return lax.scan(ply, game.init(shape), jax.random.split(jax.random.fold_in(key, index), moves))

    openings = jax.vmap(opening)(jnp.arange(len(shapes)), shapes)
    return jax.tree.map(lambda x: jnp.repeat(x, copies, axis=0), openings)


def _player_of_games(player: Any, opponent: Any) -> Callable[..., Records]:
    """External programs play on the host, all other players on the device."""
    on_host = isinstance(player, HostPlayer) or isinstance(opponent, HostPlayer)
    return host_games.play_games if on_host else play_games


def _checked_shapes(game: Game, key: Array, shapes: Sequence[Any] | Array) -> Array:
    """int32[B] if all are sides, else bool[B, N, N] with random holes drawn from `key`."""
    if isinstance(shapes, str) or (not isinstance(shapes, Sequence) and np.ndim(shapes) == 0):
        raise ValueError(f"sizes={shapes!r} is no list; give one board per game, such as [{shapes!r}]")
    if all(np.ndim(shape) == 0 and not isinstance(shape, str) for shape in shapes):
        return _checked_sizes(game, shapes)
    kinds = [make_boards([shape], game.max_size) if isinstance(shape, str) else None for shape in shapes]
    whole = [
        points_of(game, shape if kind is None else kind.points[0])
        for shape, kind in zip(shapes, kinds, strict=True)
    ]
    shares = np.concatenate([np.zeros(1, np.float32) if kind is None else kind.shares for kind in kinds])
    boards = Boards(np.stack(whole), shares)
    return jax.jit(lambda key: draw_boards(game, key, boards, jnp.arange(len(shares))))(key)


def _checked_sizes(game: Game, sizes: Sequence[int] | Array) -> Array:
    checked = np.asarray(sizes, np.int32)
    if checked.ndim != 1 or not len(checked):
        raise ValueError(f"sizes has shape {checked.shape}; give one board side per game, at least one")
    for size in np.unique(checked):
        if not game.min_size <= size <= game.max_size:
            raise ValueError(
                f"board side {size} is outside {game.min_size} to {game.max_size}; "
                "make the game with another max_size"
            )
    return jnp.asarray(checked)
