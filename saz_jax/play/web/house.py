"""What all tables share: the games and players that may be chosen, and room for so many searches at once.

jax is imported by `load`, in the background: until then the house is open, and says that it gets ready.
"""

import contextlib
import os
import threading
import typing
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from saz_jax.play.limits import Limits

PERSON = "person"
PLAYERS = (PERSON, "random", "greedy", "mcts:100", "mcts:1000")
"""Who plays every game; other numbers of simulations do as well."""
FALLBACK = "mcts:400"
"""Who plays and analyses a game for which there are no weights."""
MAX_TABLES = 64
WAIT_SECONDS = 0.05
"""Between two looks at whether a table has closed."""
ENGINES = ("gtp:", "gomocup:", "nboard:")


class House:
    """Games, players and limits."""

    def __init__(
        self,
        game: str = "gomoku",
        size: int | None = 15,
        players: Sequence[str] = (),
        limits: Limits | None = None,
        paths: bool = True,
        enable_cache: Callable[[], Any] = lambda: None,
    ):
        """`players`: beside those that are shipped; `paths`: whether a page may name files.

        `enable_cache` is called before anything is compiled.
        """
        self.game, self.size, self.paths = game, size, paths
        self.limits = limits or Limits()
        self.players = tuple(players)
        self.ready = threading.Event()
        self.error: str | None = None
        self.seats = threading.BoundedSemaphore(MAX_TABLES)
        self._enable_cache = enable_cache
        self._slots = threading.Semaphore(max(os.cpu_count() or 1, 2))
        self._compiling = threading.Lock()
        self._facts: dict[str, Any] = {}

    def load(self) -> None:
        """Imports what playing needs, and looks at the games and the players."""
        try:
            warnings.filterwarnings("ignore", message="this agent was trained with")
            self._enable_cache()
            self._facts = self._look()
        except Exception as error:  # every table says so; the server goes on
            self.error = f"cannot begin: {error}"
        self.ready.set()

    def load_aside(self) -> None:
        """`load` in the background."""
        threading.Thread(target=self.load, name="house", daemon=True).start()

    def _look(self) -> dict[str, Any]:
        from saz_jax import __version__
        from saz_jax.agents import shipped_agents
        from saz_jax.config.registry import GAMES
        from saz_jax.games.registry import find_game
        from saz_jax.play import session
        from saz_jax.play.seats import agent_of

        self.game = find_game(self.game)
        agents = []
        for name in [*shipped_agents(), *self.players]:
            agent = agent_of(name)
            if agent is not None:
                agents.append({"name": name, "game": agent.game_name, "sizes": list(agent.trained_sizes)})
        games = [self._about(name, agents) for name in GAMES.names()]
        return {
            "is": "welcome",
            "version": __version__,
            "games": games,
            "agents": agents,
            "players": [*PLAYERS, *(p for p in self.players if p not in {a["name"] for a in agents})],
            "game": self.game,
            "size": self.size,
            "simulations": self.limits.simulations,
            "seconds": self.limits.seconds,
            "largest": session.LARGEST_SIDE,
            "paths": self.paths,
        }

    def _about(self, name: str, agents: list[dict[str, Any]]) -> dict[str, Any]:
        """What a page has to know about a game."""
        from saz_jax.games.registry import look_at, option_types

        game, options = look_at(name), []
        for option, (hint, default) in option_types(name).items():
            inner, *notes = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
            about = next((note for note in notes if isinstance(note, str)), option)
            kinds = [kind for kind in (bool, int, float, str) if kind in (inner, *typing.get_args(inner))]
            if kinds:
                facts = {"name": option, "default": default, "kind": kinds[0].__name__, "about": about}
                options.append(facts)
        own = [agent for agent in agents if agent["game"] == name]
        usual = game.sgf and game.sgf.default_size
        return {
            "name": name,
            "smallest": game.min_size,
            "stones_on": game.stones_on,
            "options": options,
            "records": game.sgf is not None,
            "agent": own[0]["name"] if own else FALLBACK,
            "size": usual or (max(own[0]["sizes"]) if own else 9),
        }

    @property
    def welcome(self) -> dict[str, Any]:
        """What there is to choose from, once it is ready."""
        return self._facts

    def check_player(self, text: str) -> None:
        """Raise `ValueError` for players that a page may not bring in: programs, and files if so decided."""
        if text.startswith(ENGINES) and text not in self.players:
            raise ValueError(f"{text[:60]!r} is a program; start the server with --player {text[:60]!r}")
        if self.paths or text in PLAYERS or text.startswith("mcts:") or text in self.players:
            return
        path = text.removeprefix("raw:").partition("@")[0]
        if path not in {agent["name"] for agent in self._facts["agents"]}:
            raise ValueError(
                f"{path[:60]!r} is not offered here; start the server with --player {path[:60]!r}"
            )

    def check_game(self, name: str) -> None:
        """Raise `ValueError` for a game that is not registered: a page may not choose code to import."""
        names = [about["name"] for about in self._facts["games"]]
        if name not in names:
            raise ValueError(f"there is no game {name[:60]!r}; choose among {', '.join(names)}")

    def analyst(self, game: str) -> str:
        """Who explains a game that only people play."""
        return next(about["agent"] for about in self._facts["games"] if about["name"] == game)

    @contextlib.contextmanager
    def slot(self, given_up: Callable[[], bool]) -> Iterator[bool]:
        """Room for a search; False if `given_up` came first."""
        while not self._slots.acquire(timeout=WAIT_SECONDS):
            if given_up():
                yield False
                return
        try:
            yield True
        finally:
            self._slots.release()

    @contextlib.contextmanager
    def compiling(self, given_up: Callable[[], bool]) -> Iterator[bool]:
        """As `slot`, for one at a time: compiling takes memory."""
        while not self._compiling.acquire(timeout=WAIT_SECONDS):
            if given_up():
                yield False
                return
        try:
            yield True
        finally:
            self._compiling.release()
