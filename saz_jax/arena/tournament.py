"""A round robin: every player meets every other, and ratings follow from all results."""

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import jax

from saz_jax.arena import matches
from saz_jax.arena.contestants import agreed_options, read_contestant
from saz_jax.arena.lanes import fitting_lanes, lowered
from saz_jax.arena.ratings import PairResult, load_choix, rate
from saz_jax.arena.series import run_facts
from saz_jax.games.registry import find_game, make_game
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile
from saz_jax.types import Game, Player

__all__ = ["Tournament", "TournamentConfig", "play", "plot", "prepare", "ratings"]

Pair: TypeAlias = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class TournamentConfig:
    """Everything that decides the games."""

    game: str
    """othello, gomoku, go, hex, or a registered game."""
    players: tuple[str, ...]
    """Two or more of: random, greedy, mcts:100 (random playouts, 100 simulations), an agent (an export, the
    workdir of a training run or the name of shipped weights), agent@model3 (its weights as another model),
    raw:agent (its policy without search)."""
    size: int = 8
    """Board side."""
    games: int = 20
    """Games for each pair, half with each colour; an even number."""
    simulations: int = 100
    """Simulations per move of agents that search."""
    search: str | None = None
    """Kind of search of the agents, puct or gumbel; default: the one they were trained with."""
    opening_moves: int = 2
    """Random plies before the players take over; every opening is played with both colours."""
    game_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The game's own options; default: as the agents were trained, else the game's defaults."""
    lanes: int | None = None
    """Batch size of a player's moves; default: up to 32."""
    seed: int = 0
    """The same seed gives the same games."""

    @property
    def pairs(self) -> list[Pair]:
        """Who meets whom."""
        return list(itertools.combinations(self.players, 2))


@dataclasses.dataclass(frozen=True)
class Tournament:
    """A checked `TournamentConfig`: all that can be wrong with it has been found before the first game."""

    config: TournamentConfig
    game: Game
    seats: Mapping[str, Player]
    lanes: int
    """As asked for, as in the stored pairs, or fewer than usual where memory is short."""
    results: ResultsFile

    def lowered(self) -> list[str]:
        """A line that says so if memory allows fewer lanes than usual."""
        return lowered(self.config.size, self.config.games, self.lanes, self.config.lanes)


def prepare(config: TournamentConfig, path: str | Path | None = None) -> Tournament:
    """Loads the players and opens the file of results; `ValueError` if anything is wrong."""
    if len(config.players) < 2 or len(set(config.players)) < len(config.players):
        raise ValueError(f"players {', '.join(config.players)} must be two or more different ones")
    if config.games < 2 or config.games % 2:
        raise ValueError(f"games={config.games} cannot be shared between the colours; use an even number")
    if config.simulations < 1:
        raise ValueError(f"simulations={config.simulations} is too few; use 1 or more")
    load_choix()
    name = find_game(config.game)
    contestants = [read_contestant(text, config.simulations, config.search) for text in config.players]
    options = agreed_options(name, config.game_options, contestants)
    game = make_game(name, config.size, **options)
    matches.check_play(game, config.opening_moves, config.lanes)
    seats = {contestant.text: contestant.seat(game, config.size) for contestant in contestants}
    lanes = fitting_lanes(game, seats.values(), config.games, config.lanes)
    weights = {contestant.text: contestant.weights for contestant in contestants}
    players = tuple(contestant.text for contestant in contestants)
    settings = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    told = {"game": name, "players": players, "game_options": options, "origin": game.origin}
    stored = {**settings, **told, "weights": weights}
    results = ResultsFile(path, stored, seed=config.seed, pairs=[])
    for earlier in (pair["lanes"] for pair in results.data["pairs"] if "lanes" in pair):
        lanes = fitting_lanes(game, seats.values(), config.games, earlier)
        break
    return Tournament(config, game, seats, lanes, results)


def play(
    tournament: Tournament,
    begin: Callable[[Pair], None] = lambda pair: None,
    played: Callable[[float], None] = lambda games: None,
    end: Callable[[Mapping[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Plays the pairs that are missing and rates everybody; returns the data of the file of results.

    The callbacks get each pair, its games so far, and its stored result.
    """
    config, results, pairs = tournament.config, tournament.results, tournament.results.data["pairs"]
    for number, (first, second) in list(enumerate(config.pairs))[len(pairs) :]:
        begin((first, second))
        began = time.monotonic()
        match = matches.match(
            tournament.game,
            tournament.seats[first],
            tournament.seats[second],
            jax.random.fold_in(jax.random.key(config.seed), number),
            size=config.size,
            games=config.games,
            opening_moves=config.opening_moves,
            lanes=tournament.lanes,
            progress=played,
        )
        facts = run_facts(match, time.monotonic() - began, tournament.lanes)
        pairs.append({"players": [first, second], "distinct_games": match.distinct_games, **facts})
        results.save()
        end(pairs[-1])
    results.data["ratings"] = ratings(config.players, pairs, config.seed)
    results.save()
    return results.data


def ratings(players: tuple[str, ...], pairs: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """The players, best first, with `points` on the Elo scale and their 95% interval `low` to `high`."""
    place = {player: number for number, player in enumerate(players)}
    results = []
    for pair in pairs:
        first, second = pair["players"]
        counts = (pair["wins"], pair["ties"], pair["losses"])
        results.append(PairResult(place[first], place[second], *counts))
    rated = zip(players, rate(len(players), results, seed), strict=True)
    table = [{"player": player, **{k: round(v, 1) for k, v in r._asdict().items()}} for player, r in rated]
    return sorted(table, key=lambda row: -row["points"])


def plot(data: Mapping[str, Any], path: Path) -> Path:
    """The ratings with their intervals as a PNG, from the data of a file of results."""
    rows, config = data["ratings"][::-1], data["config"]
    drawn, (axis,) = figures.figure(1, size=(6.0, 1.2 + 0.4 * len(rows)))
    points = [row["points"] for row in rows]
    ends = [[row["points"] - row["low"] for row in rows], [row["high"] - row["points"] for row in rows]]
    axis.errorbar(points, range(len(rows)), xerr=ends, fmt="o", capsize=3)
    axis.set_yticks(range(len(rows)), [row["player"] for row in rows])
    axis.margins(y=0.2)
    side = config["size"]
    axis.set(
        title=f"{config['game']} {side}x{side}, {config['games']} games a pair", xlabel="rating (Elo points)"
    )
    drawn.savefig(path, dpi=150)
    return path
