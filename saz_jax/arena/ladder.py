"""A ladder: round robins of all shipped players, of simple ones and of other programs, one for each board."""

import dataclasses
from pathlib import Path
from typing import Any

from saz_jax.agents.agent import load_agent, shipped_agents
from saz_jax.arena import known_engines, tournament
from saz_jax.arena.known_engines import installed_engines
from saz_jax.arena.tournament import Tournament, TournamentConfig
from saz_jax.games.registry import find_game
from saz_jax.storage.results import read_json


@dataclasses.dataclass(frozen=True)
class LadderConfig:
    """Who plays where, and how much."""

    game: tuple[str, ...] = ("othello", "gomoku", "go")
    """Games; each has a ladder for every side."""
    sizes: tuple[int, ...] = (8,)
    """Board sides."""
    games: int = 20
    """Games for each pair, half with each colour; an even number."""
    simulations: int = 100
    """Simulations per move of agents that search."""
    mcts: tuple[int, ...] = (100,)
    """Simulations of the players that search with random playouts; none: no such player."""
    players: tuple[str, ...] = ()
    """Further players, such as exports and workdirs of training runs; agents play their own game only."""
    without: tuple[str, ...] = ()
    """Players to leave out, by their text or by their name in the table, go-gin or "GNU Go level 10"."""
    opening_moves: int = 4
    """Random plies before the players take over; every opening is played with both colours."""
    lanes: int | None = None
    """Batch size of a player's moves; default: up to 32."""
    seed: int = 0
    """The same seed gives the same games, except with programs that are random by themselves."""

    @property
    def boards(self) -> list[tuple[str, int]]:
        """(game, side) of each table."""
        return [(find_game(game), size) for game in self.game for size in self.sizes]


def line_up(config: LadderConfig, game: str, side: int) -> tuple[str, ...]:
    """The players on one board, without those that are left out."""
    called = everybody(config, game, side)
    return tuple(text for text, name in called.items() if not {text, name} & set(config.without))


def everybody(config: LadderConfig, game: str, side: int) -> dict[str, str]:
    """{text: name} of shipped players, further ones, simple ones and installed programs that play a board."""
    agents = [name for name in (*sorted(shipped_agents()), *config.players) if _plays(name, game)]
    plain = [*agents, "greedy", "random", *(f"mcts:{count}" for count in config.mcts)]
    return {text: text for text in plain} | installed_engines(game, side)


def _plays(text: str, game: str) -> bool:
    """Whether a player is not an agent of another game."""
    if text.partition(":")[0] in ("gtp", "gomocup", "nboard", "mcts") or text in ("greedy", "random"):
        return True
    return load_agent(text.removeprefix("raw:").partition("@")[0]).game_name == game


def prepare(config: LadderConfig, folder: Path) -> list[Tournament]:
    """The round robin of each board, begun or continued in `folder`; `ValueError` if anything is wrong."""
    if not config.boards or len(set(config.boards)) < len(config.boards):
        raise ValueError("name one or more different games and sides")
    called = {item for board in config.boards for pair in everybody(config, *board).items() for item in pair}
    if unknown := set(config.without) - called - set(names().values()):
        raise ValueError(
            f"nobody called {', '.join(sorted(unknown))} is to play; leave out some of: "
            f"{', '.join(sorted(called))}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    return [
        tournament.prepare(
            TournamentConfig(
                game=game,
                players=line_up(config, game, side),
                size=side,
                games=config.games,
                simulations=config.simulations,
                opening_moves=config.opening_moves,
                lanes=config.lanes,
                seed=config.seed,
            ),
            folder / f"{game}-{side}.json",
        )
        for game, side in config.boards
    ]


def names() -> dict[str, str]:
    """Short names of all known programs at all levels, by the text of the player."""
    return {
        engine.at(level): f"{engine.name} level {level}"
        for engine in known_engines.KNOWN
        for level in engine.levels
    }


def results(folder: Path) -> list[dict[str, Any]]:
    """The data of all ladders in `folder` that are complete, by game and side."""
    found = [read_json(path) for path in folder.glob("*.json")]
    rated = [data for data in found if "ratings" in data]
    return sorted(rated, key=lambda data: (data["config"]["game"], data["config"]["size"]))
