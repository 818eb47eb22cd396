"""A round robin: every player meets every other, and ratings follow from all results."""

import dataclasses
import itertools
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import jax

from saz_jax.arena import matches
from saz_jax.arena.contestants import agreed_options, read_contestant
from saz_jax.arena.engines import HostPlayer
from saz_jax.arena.host_games import check_squares
from saz_jax.arena.lanes import fitting_lanes, lowered
from saz_jax.arena.ratings import PairResult, load_choix, rate
from saz_jax.arena.series import COLOURS, COUNTS, run_facts
from saz_jax.arena.statistics import average_outcome
from saz_jax.config.shape_text import parse_shapes
from saz_jax.games.registry import find_game, make_game, points_of
from saz_jax.games.shapes import make_boards
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile, read_json
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
    agent@solve=true (other settings of its search), raw:agent (its policy without search), another program
    (gtp:COMMAND, gomocup:COMMAND, nboard:COMMAND)."""
    size: int = 8
    """Board side."""
    shapes: tuple[str, ...] = ()
    """Boards in place of `size`: 9x9, 7x11 (rows x columns), diamond:9, cross:9, ring:9, a drawing such as
    ..#/.../#.., or holes:9:0.1, of which each opening misses a tenth of the points."""
    games: int = 20
    """Games for each pair and board, half with each colour; an even number."""
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
        """The pairs of players."""
        return list(itertools.combinations(self.players, 2))

    @property
    def boards(self) -> tuple[int | str, ...]:
        """What is played on: the shapes, or the side of a square."""
        return tuple(shape.text for shape in parse_shapes(self.shapes)) or (self.size,)

    @property
    def rounds(self) -> list[tuple[Pair, int | str]]:
        """Who meets whom, and where."""
        return list(itertools.product(self.pairs, self.boards))


@dataclasses.dataclass(frozen=True)
class Tournament:
    """A checked `TournamentConfig`: every mistake in it is found before the first game."""

    config: TournamentConfig
    game: Game
    seats: Mapping[str, Player]
    lanes: int
    """As asked for, as in the stored pairs, or fewer than usual where memory is short."""
    results: ResultsFile

    def missing(self) -> list[tuple[Pair, int | str]]:
        """Who has not yet met whom, and where."""
        met = [(set(pair["players"]), pair.get("shape")) for pair in self.results.data["pairs"]]
        return [
            (pair, board)
            for pair, board in self.config.rounds
            if (set(pair), board if self.config.shapes else None) not in met
        ]

    def lowered(self) -> list[str]:
        """A line that says so if memory allows fewer lanes than usual."""
        return lowered(self.game.max_size, self.config.games, self.lanes, self.config.lanes)


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
    if len(set(config.boards)) < len(config.boards):
        raise ValueError(f"shapes {', '.join(config.shapes)} must be different ones")
    side = max(shape.side for shape in parse_shapes(map(str, config.boards)))
    game = make_game(name, side, **options)
    matches.check_play(game, config.opening_moves, config.lanes)
    kinds = make_boards(config.boards, side).points if config.shapes else []
    for points in kinds:
        points_of(game, points)
    seats = {contestant.text: contestant.seat(game, side) for contestant in contestants}
    if any(isinstance(seat, HostPlayer) for seat in seats.values()):
        for points in kinds:
            check_squares(points[None])
    lanes = fitting_lanes(game, seats.values(), config.games, config.lanes)
    weights = {contestant.text: contestant.weights for contestant in contestants}
    players = tuple(contestant.text for contestant in contestants)
    settings = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    if not config.shapes:  # as in files from before there were any
        del settings["shapes"]
    told = {"game": name, "players": players, "game_options": options, "origin": game.origin}
    weights = {**_earlier_weights(path, weights), **weights}
    stored = {**settings, **told, "weights": weights}
    results = ResultsFile(path, stored, extends=("players", "weights"), seed=config.seed, pairs=[])
    for earlier in (pair["lanes"] for pair in results.data["pairs"] if "lanes" in pair):
        lanes = fitting_lanes(game, seats.values(), config.games, earlier)
        break
    return Tournament(config, game, seats, lanes, results)


def _earlier_weights(path: str | Path | None, weights: Mapping[str, str | None]) -> dict[str, str | None]:
    """The weights of all players in a file of results; `ValueError` if a player has others now."""
    if path is None or not Path(path).is_file():
        return {}
    data = read_json(Path(path))
    earlier = data["config"].get("weights", {}) if isinstance(data, dict) and "config" in data else {}
    for player in sorted(earlier.keys() & weights.keys()):
        if earlier[player] != weights[player]:
            raise ValueError(f"{path} holds games of {player} with other weights; name another file")
    return earlier


def play(
    tournament: Tournament,
    begin: Callable[[Pair], None] = lambda pair: None,
    played: Callable[[float], None] = lambda games: None,
    end: Callable[[Mapping[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Plays the pairs that are missing and rates everybody; returns the data of the file of results.

    The callbacks get each pair, its games so far, and its stored result, once for every board.
    """
    config, results, pairs = tournament.config, tournament.results, tournament.results.data["pairs"]
    for (first, second), board in tournament.missing():
        begin((first, second))
        began = time.monotonic()
        match = matches.match(
            tournament.game,
            tournament.seats[first],
            tournament.seats[second],
            pair_key(config.seed, (first, second), board),
            size=board,
            games=config.games,
            opening_moves=config.opening_moves,
            lanes=tournament.lanes,
            progress=played,
        )
        facts = run_facts(match, time.monotonic() - began, tournament.lanes)
        where = {"shape": board} if config.shapes else {}
        found = {"players": [first, second], **where, "distinct_games": match.distinct_games, **facts}
        pairs.append(found)
        results.save()
        end(pairs[-1])
    results.data["ratings"] = ratings(config.players, pairs, config.seed)
    results.save()
    return results.data


def pair_key(seed: int, pair: Pair, board: int | str) -> jax.Array:
    """The key of a pair's games on a board, whoever else takes part and wherever else they meet."""
    key = jax.random.fold_in(jax.random.key(seed), zlib.crc32("\n".join(pair).encode()))
    return jax.random.fold_in(key, zlib.crc32(board.encode())) if isinstance(board, str) else key


def board_names(config: Mapping[str, Any]) -> str:
    """The boards of stored settings, as a title shows them."""
    return ", ".join(config.get("shapes", ())) or f"{config['size']}x{config['size']}"


def ratings(players: tuple[str, ...], pairs: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """The players, best first, with `points` on the Elo scale and their 95% interval `low` to `high`.

    Besides, their average `outcome` and that with each colour where it was counted: `as_dark`, `as_light`.
    Only the pairs among these players count.
    """
    place = {player: number for number, player in enumerate(players)}
    pairs = [pair for pair in pairs if place.keys() >= set(pair["players"])]
    results = []
    for pair in pairs:
        first, second = pair["players"]
        counts = (pair["wins"], pair["ties"], pair["losses"])
        results.append(PairResult(place[first], place[second], *counts))
    rated = zip(players, rate(len(players), results, seed), strict=True)
    table = [
        {"player": player, **{k: round(v, 1) for k, v in r._asdict().items()}, **_scores(player, pairs)}
        for player, r in rated
    ]
    return sorted(table, key=lambda row: -row["points"])


def _scores(player: str, pairs: list[dict[str, Any]]) -> dict[str, float]:
    """The average outcome of a player's games, and of those with each colour."""
    dark, light = COLOURS
    mine = [(pair, pair["players"][0] == player) for pair in pairs if player in pair["players"]]
    groups = {"outcome": [(pair, first) for pair, first in mine]}
    if all(name in pair for pair, _ in mine for name in COLOURS):
        groups[dark] = [(pair[dark if first else light], first) for pair, first in mine]
        groups[light] = [(pair[light if first else dark], first) for pair, first in mine]
    scores = {}
    for name, seen in groups.items():
        wins, ties, losses = (sum(counts[count] for counts, _ in seen) for count in COUNTS)
        won_by_second = sum(counts["losses"] - counts["wins"] for counts, first in seen if not first)
        scores[name] = round(average_outcome(wins + won_by_second, ties, losses - won_by_second), 4)
    return scores


def plot(data: Mapping[str, Any], path: Path, names: Mapping[str, str] | None = None) -> Path:
    """The ratings with their intervals as a PNG, from the data of a file of results.

    `names` are shorter ones for some players.
    """
    rows, config = data["ratings"][::-1], data["config"]
    drawn, (axis,) = figures.figure(1, size=(6.0, 1.2 + 0.4 * len(rows)))
    points = [row["points"] for row in rows]
    ends = [[row["points"] - row["low"] for row in rows], [row["high"] - row["points"] for row in rows]]
    axis.errorbar(points, range(len(rows)), xerr=ends, fmt="o", capsize=3)
    axis.set_yticks(range(len(rows)), [(names or {}).get(row["player"], row["player"]) for row in rows])
    axis.margins(y=0.2)
    title = f"{config['game']} {board_names(config)}, {config['games']} games a pair"
    axis.set(title=title, xlabel="rating (Elo points)")
    drawn.savefig(path, dpi=150)
    return path
