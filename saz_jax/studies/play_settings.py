"""What the settings of play are worth: matches between two ways to search with the same weights."""

import dataclasses
import threading
import time
from typing import Any

import jax
import numpy as np

from saz_jax.agents.agent import Agent
from saz_jax.arena import matches
from saz_jax.arena.statistics import average_outcome, wilson_interval
from saz_jax.play.limits import Limits
from saz_jax.play.thinking import Position, TreeThinker, agent_thinker
from saz_jax.types import Game, GameState

OPENING_MOVES = 4
"""Random plies that both games of a pair begin with: equal players would repeat themselves."""


def batched_rounds(
    agent: Agent, game: Game, size: int, games: int, simulations: int, seed: int
) -> dict[str, Any]:
    """The search by rounds against the search that visits one root move after another."""
    by_rounds = dataclasses.replace(agent, search=dataclasses.replace(agent.search, batched_rounds=True))
    played = matches.match(
        game,
        by_rounds.player(game, simulations=simulations),
        agent.player(game, simulations=simulations),
        jax.random.key(seed),
        size=size,
        games=games,
        opening_moves=OPENING_MOVES,
    )
    return told(played.wins, played.ties, played.losses, played.distinct_games)


def setting(
    agent: Agent,
    game: Game,
    size: int,
    games: int,
    limits: Limits,
    seed: int,
    *,
    reuse: bool = False,
    symmetries: bool = False,
) -> dict[str, Any]:
    """The anytime search with a setting against the one without."""
    mine = agent_thinker("mine", agent, game, size, limits, reuse=reuse, symmetries=symmetries)
    other = agent_thinker("other", agent, game, size, limits, reuse=False)
    for thinker in (mine, other):
        thinker.prepare(Position(game.init(size), ()))
    step, outcomes, seconds, records = jax.jit(game.step), [], [0.0, 0.0], set()
    for number in range(games):
        colour = 1 if number % 2 == 0 else -1
        opening = np.random.default_rng([seed, number // 2])
        actions, outcome = one_game(step, game.init(size), (mine, other), colour, limits, opening, seconds)
        outcomes.append(outcome * colour)
        records.add(tuple(actions))
    wins, ties, losses = (sum(o == value for o in outcomes) for value in (1, 0, -1))
    moves = sum(len(actions) - OPENING_MOVES for actions in records) or 1
    return {
        **told(wins, ties, losses, len(records)),
        "seconds_per_move": [round(2 * spent / moves, 4) for spent in seconds],
    }


def one_game(
    step: Any,
    state: GameState,
    thinkers: tuple[TreeThinker, TreeThinker],
    colour: int,
    limits: Limits,
    opening: np.random.Generator,
    seconds: list[float],
) -> tuple[list[int], int]:
    """(actions, outcome seen by dark) of one game, the first thinker playing `colour`; adds to `seconds`."""
    actions: list[int] = []
    while not bool(state.terminated):
        legal = np.flatnonzero(np.asarray(state.legal))
        if len(actions) < OPENING_MOVES or len(legal) == 1:
            action = int(opening.choice(legal))
        else:
            side = 0 if int(state.to_play) == colour else 1
            began = time.monotonic()
            position = Position(state, tuple(actions))
            action = thinkers[side].think(position, limits, threading.Event()).action
            seconds[side] += time.monotonic() - began
        state = step(state, np.int32(action))
        actions.append(action)
    return actions, int(state.outcome)


def told(wins: int, ties: int, losses: int, distinct: int) -> dict[str, Any]:
    """The numbers of a match, with the interval that its average may be expected in."""
    outcome = average_outcome(wins, ties, losses)
    return {
        "outcome": outcome,
        "wilson": list(wilson_interval(outcome, wins + ties + losses)),
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "distinct_games": distinct,
    }
