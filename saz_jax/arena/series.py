"""A player against an opponent over board sides and independent runs (Sec. 4.1): what the tables are made of.

Each run of each size has its own key and is stored when it is over, so a series that was stopped goes on
with the next run and ends with the same results as one that never was.
"""

import dataclasses
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from saz_jax.agents.agent import Agent
from saz_jax.arena import matches
from saz_jax.arena.contestants import agreed_options, read_contestant
from saz_jax.arena.engines import HostPlayer
from saz_jax.arena.game_records import check_writable, write_records
from saz_jax.arena.host_games import check_squares
from saz_jax.arena.lanes import Records, fitting_lanes, lowered
from saz_jax.arena.statistics import average_outcome, standard_error, wilson_interval
from saz_jax.config.shape_text import parse_shapes
from saz_jax.games.registry import find_game, make_game, points_of
from saz_jax.games.shapes import make_boards
from saz_jax.storage.results import ResultsFile
from saz_jax.types import Game, Player

__all__ = ["MatchConfig", "Reporter", "Series", "play", "prepare"]


@dataclasses.dataclass(frozen=True)
class MatchConfig:
    """Everything that decides the games."""

    game: str
    """othello, gomoku, go, hex, or a registered game."""
    player: str | Agent | Player
    """random, greedy, mcts:100 (random playouts, 100 simulations), an agent (an export, the workdir of a
    training run or the name of shipped weights), agent@model3 (its weights as another model),
    agent@solve=true (other settings of its search), raw:agent (its policy without search), or another program
    (gtp:COMMAND, gomocup:COMMAND, nboard:COMMAND)."""
    opponent: str | Agent | Player = "greedy"
    """The same choices."""
    sizes: tuple[int, ...] = (16,)
    """Sides of square boards, however large."""
    shapes: tuple[str, ...] = ()
    """Boards in place of `sizes`: 9x9, 7x11 (rows x columns), diamond:9, cross:9, ring:9, a drawing such as
    ..#/.../#.., or holes:9:0.1, of which each opening misses a tenth of the points."""
    games: int = 100
    """Games per run, half with each colour; an even number."""
    runs: int = 5
    """Independent runs per size, for the standard error."""
    simulations: int = 100
    """Simulations per move of agents that search."""
    opponent_simulations: int | None = None
    """Simulations of the opponent, if they differ from the player's."""
    search: str | None = None
    """Kind of search of the agents, puct or gumbel; default: the one they were trained with."""
    heuristic_weight: float | None = None
    """Weight of the greedy player's score in the agents' search; default: the one they were trained with;
    0: the network alone."""
    opening_moves: int = 0
    """Random plies before the players take over; every opening is played with both colours."""
    game_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The game's own options; default: as the agents were trained, else the game's defaults."""
    lanes: int | None = None
    """Batch size of a player's moves; default: up to 32. Another number plays other games."""
    seed: int = 0
    """The same seed gives the same games."""

    @property
    def boards(self) -> tuple[int | str, ...]:
        """What is played on: the shapes, or the sides of squares."""
        return tuple(shape.text for shape in parse_shapes(self.shapes)) or self.sizes


class Reporter:
    """Callbacks of a series while it is played; override those you need."""

    def begin(self, size: int | str, run: int) -> None:
        """A run on a board side, or a shape, begins; runs are numbered from 0."""

    def played(self, games: float) -> None:
        """So many games of the run have been played, unfinished ones counted in part."""

    def end(self, size: int | str, summary: Mapping[str, Any]) -> None:
        """A run is over and stored; `summary` is that of its size so far."""


@dataclasses.dataclass(frozen=True)
class Series:
    """A checked `MatchConfig`: every mistake in it is found before the first game."""

    config: MatchConfig
    tables: tuple[tuple[int | str, Game, Player, Player], ...]
    """(side or shape, game, player, opponent)"""
    lanes: tuple[int, ...]
    """Those of each table: as asked for, as in the stored runs, or fewer than usual where memory is short."""
    results: ResultsFile
    records: Path | None

    def lowered(self) -> list[str]:
        """A line for every board on which memory allows fewer lanes than usual."""
        config, tables = self.config, zip(self.config.boards, self.lanes, strict=True)
        return [line for size, lanes in tables for line in lowered(size, config.games, lanes, config.lanes)]

    def games(self) -> tuple[int, int]:
        """(all games that are asked for, those of them that are stored already)."""
        config, stored = self.config, self.results.data["sizes"]
        runs = [len(stored[str(size)]["runs"]) if str(size) in stored else 0 for size in config.boards]
        done = sum(min(count, config.runs) for count in runs)
        return config.games * config.runs * len(config.boards), config.games * done


def prepare(config: MatchConfig, path: str | Path | None = None, records: str | Path | None = None) -> Series:
    """Loads the players, sets up the boards and opens the file of results; `ValueError` if anything is wrong.

    `records` is a folder that gets the record of every game.
    """
    for name in ("games", "runs", "simulations", "opponent_simulations"):
        if (number := getattr(config, name)) is not None and number < 1:
            raise ValueError(f"{name}={number} is too few; use 1 or more")
    if config.games % 2:
        raise ValueError(f"games={config.games} cannot be shared between the colours; use an even number")
    if not config.boards or len(set(config.boards)) < len(config.boards):
        what = "shapes" if config.shapes else "board sides"
        raise ValueError(f"{what} {config.boards} must be one or more different {what}")
    name = find_game(config.game)
    player = read_contestant(config.player, config.simulations, config.search, config.heuristic_weight)
    opponent = read_contestant(
        config.opponent,
        config.opponent_simulations or config.simulations,
        config.search,
        config.heuristic_weight,
    )
    options = agreed_options(name, config.game_options, [player, opponent])
    sides = [shape.side for shape in parse_shapes(map(str, config.boards))]
    games = [make_game(name, side, **options) for side in sides]
    for game, board in zip(games, config.boards, strict=True):
        matches.check_play(game, config.opening_moves, config.lanes)
        if isinstance(board, str):
            points_of(game, make_boards([board], game.max_size).points[0])
    tables = tuple(
        (board, game, player.seat(game, side), opponent.seat(game, side))
        for board, side, game in zip(config.boards, sides, games, strict=True)
    )
    for board, game, *seats in tables:
        if isinstance(board, str) and any(isinstance(seat, HostPlayer) for seat in seats):
            kind = make_boards([board], game.max_size)
            check_squares(kind.points)
    lanes = tuple(fitting_lanes(game, seats, config.games, config.lanes) for _, game, *seats in tables)
    if records is not None:
        check_writable(Path(records))
    stored = {
        **{field.name: getattr(config, field.name) for field in dataclasses.fields(config)},
        "game": name,
        "player": player.text,
        "opponent": opponent.text,
        "game_options": options,
        "origin": games[0].origin,
        "weights": {player.text: player.weights, opponent.text: opponent.weights},
    }
    results = ResultsFile(path, stored, extends=("sizes", "shapes", "runs"), seed=config.seed, sizes={})
    lanes = tuple(
        fitting_lanes(game, seats, config.games, earlier) if earlier is not None else fitting
        for (size, game, *seats), fitting in zip(tables, lanes, strict=True)
        for earlier in [_earlier_lanes(results.data["sizes"].get(str(size)))]
    )
    return Series(config, tables, lanes, results, Path(records) if records is not None else None)


def _earlier_lanes(stored: Mapping[str, Any] | None) -> int | None:
    """The lanes of a size's stored runs: other ones would play other games than an unbroken series."""
    return next((run["lanes"] for run in stored["runs"] if "lanes" in run), None) if stored else None


def play(series: Series, reporter: Reporter | None = None) -> dict[str, Any]:
    """Plays the runs that are missing; returns the data of the file of results.

    `data["sizes"]["16"]` holds, for board side 16, `outcome`, `standard_error` (None for one run), `wilson`
    (its 95% interval over all games), `wins`, `ties`, `losses`, the same `as_dark` and `as_light`,
    `distinct_games` and the `runs`;
    `data["sizes"]["7x11"]` the same for that shape.
    """
    config, results = series.config, series.results
    reporter = reporter or Reporter()
    for (size, game, player, opponent), lanes in zip(series.tables, series.lanes, strict=True):
        stored = results.data["sizes"].get(str(size), {"runs": []})["runs"]
        for run in range(len(stored), config.runs):
            reporter.begin(size, run)
            began = time.monotonic()
            match = matches.match(
                game,
                player,
                opponent,
                run_key(config.seed, size, run),
                size=size,
                games=config.games,
                opening_moves=config.opening_moves,
                lanes=lanes,
                progress=reporter.played,
            )
            if series.records is not None:
                names = (results.data["config"]["player"], results.data["config"]["opponent"])
                file = f"{config.game}-{_file_name(size)}-run{run}"
                write_records(series.records, file, game, names, match.records)
            stored.append(run_facts(match, time.monotonic() - began, lanes))
            results.data["sizes"][str(size)] = summarise(stored)
            results.save()
            reporter.end(size, results.data["sizes"][str(size)])
    return results.data


def run_key(seed: int, size: int | str, run: int) -> jax.Array:
    """The key of one run on a board side or a shape; it does not depend on the other boards."""
    number = zlib.crc32(size.encode()) if isinstance(size, str) else size
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), number), run)


def _file_name(size: int | str) -> str:
    """A board as a part of a file's name."""
    return str(size).replace(":", "-").replace("/", "_")[:40]


def run_facts(match: matches.MatchResult, seconds: float, lanes: int) -> dict[str, Any]:
    """What is stored of one run."""
    return {
        "outcome": match.outcome,
        "wins": match.wins,
        "ties": match.ties,
        "losses": match.losses,
        **by_colour(match.records),
        "seconds": round(seconds, 3),
        "lanes": lanes,
        "games": matches.game_digests(match.records),
    }


COUNTS = ("wins", "ties", "losses")
COLOURS = {"as_dark": 1, "as_light": -1}
"""Where a result tells how the player did with each colour."""


def by_colour(records: Records) -> dict[str, dict[str, int]]:
    """The player's wins, ties and losses with each colour."""
    seen = records.outcomes * records.colours
    return {
        name: {
            count: int(np.sum(seen[records.colours == colour] == value))
            for count, value in zip(COUNTS, (1, 0, -1), strict=True)
        }
        for name, colour in COLOURS.items()
    }


def colours_of(runs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Wins, ties, losses and their average for each colour; nothing if a run of earlier days counted none."""
    if not all(name in run for run in runs for name in COLOURS):
        return {}
    summed = {name: {c: sum(run[name][c] for run in runs) for c in COUNTS} for name in COLOURS}
    return {name: {"outcome": average_outcome(**counts), **counts} for name, counts in summed.items()}


def colours_text(result: Mapping[str, Any]) -> str:
    """The average outcomes as dark and as light, 0.75/0.40; a dash where they were not counted."""
    known = [result[name]["outcome"] for name in COLOURS if name in result]
    return "/".join(f"{outcome:.2f}" for outcome in known) or "-"


def summarise(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several runs as one result."""
    wins, ties, losses = (sum(run[name] for run in runs) for name in COUNTS)
    outcome = average_outcome(wins, ties, losses)
    return {
        "outcome": outcome,
        "standard_error": standard_error([run["outcome"] for run in runs]),
        "wilson": list(wilson_interval(outcome, wins + ties + losses)),
        "wins": wins,
        "ties": ties,
        "losses": losses,
        **colours_of(runs),
        "distinct_games": len({digest for run in runs for digest in run["games"]}),
        "seconds": round(sum(run["seconds"] for run in runs), 3),
        "runs": runs,
    }
