"""Do we agree with GNU Go about Go?  Legal moves after every move, and the score at the end."""

import dataclasses
import functools
import re
from typing import Any

import jax
import numpy as np

from saz_jax.arena.engines import GTPEngine, Process, found_command
from saz_jax.coordinates import Point, gtp_vertex, read_gtp_vertex
from saz_jax.games import make_game
from saz_jax.types import Game, GameState

COMMAND = "gnugo --mode gtp --chinese-rules --capture-all-dead --positional-superko --never-resign --level 0"
OPENING_MOVES = 6
"""Random plies before GNU Go moves for both sides."""


@dataclasses.dataclass
class Comparison:
    """What both programs said in one game."""

    kind: str
    moves: list[str] = dataclasses.field(default_factory=list)
    positions: int = 0
    """Positions whose legal moves were compared."""
    differences: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    score: dict[str, float] = dataclasses.field(default_factory=dict)


class Table:
    """One board on both sides."""

    def __init__(self, engine: GTPEngine, game: Game, size: int, komi: float, kind: str):
        self.engine, self.game, self.size, self.record = engine, game, size, Comparison(kind)
        self.step, init = rules(game)
        self.state: GameState = init(size)
        for command in (f"boardsize {size}", "clear_board", f"komi {komi:g}"):
            engine.ask(command)

    def vertex(self, action: int) -> str:
        """An action as GTP says it."""
        point: Point = None if action == self.game.num_actions - 1 else divmod(action, self.game.max_size)
        return gtp_vertex(point, self.size)

    def action(self, vertex: str) -> int:
        """The inverse."""
        point = read_gtp_vertex(vertex, self.size)
        return self.game.num_actions - 1 if point is None else point[0] * self.game.max_size + point[1]

    def colour(self) -> str:
        """Whose turn it is."""
        return "black" if int(self.state.to_play) == 1 else "white"

    def compare(self) -> None:
        """The legal moves of both, pass left out: everybody may pass.

        Our games end after 2 n^2 moves, where GNU Go plays on; there is nothing to compare then.
        """
        if bool(self.state.terminated):
            return
        ours = {self.vertex(a) for a in np.flatnonzero(np.asarray(self.state.legal)).tolist()} - {"pass"}
        theirs = set(self.engine.ask(f"all_legal {self.colour()}").split())
        self.record.positions += 1
        if ours != theirs:
            self.differ("legality", ours=sorted(ours - theirs), theirs=sorted(theirs - ours))

    def differ(self, what: str, **facts: Any) -> None:
        """Keeps one difference, with the board on which it showed."""
        after = {"what": what, "after": len(self.record.moves), **facts, "moves": list(self.record.moves)}
        self.record.differences.append(after)

    def play(self, action: int, told: bool = False) -> None:
        """A move on our board, and on its board unless it has made it itself."""
        vertex = self.vertex(action)
        if not told:
            self.engine.ask(f"play {self.colour()} {vertex}")
        self.record.moves.append(vertex)
        self.state = self.step(self.state, np.int32(action))

    def finish(self) -> Comparison:
        """Compares the scores of a game that two passes have ended."""
        assert self.game.score is not None
        answer = self.engine.ask("final_score")
        found = re.match(r"([BW])\+([0-9.]+)", answer)
        theirs = (1 if found[1] == "B" else -1) * float(found[2]) if found else 0.0
        ours = float(self.game.score(self.state))
        self.record.score = {"ours": ours, "theirs": theirs}
        if ours != theirs:
            self.differ("score", ours=ours, theirs=theirs)
        return self.record


@functools.lru_cache(maxsize=4)
def rules(game: Game) -> tuple[Any, Any]:
    """Compiled step and init."""
    return jax.jit(game.step), jax.jit(game.init)


def random_game(engine: GTPEngine, size: int, komi: float, seed: int, plies: int) -> Comparison:
    """Random legal moves, legality compared after each: captures, suicides and superko at every turn."""
    table = Table(engine, make_game("go", size, komi=komi), size, komi, "random")
    draw = np.random.default_rng(seed)
    table.compare()
    while len(table.record.moves) < plies and not bool(table.state.terminated):
        legal = np.flatnonzero(np.asarray(table.state.legal))
        places = legal[legal != table.game.num_actions - 1]
        if not len(places):
            break
        table.play(int(draw.choice(places)))
        table.compare()
        if table.record.differences:  # from here on the boards may differ
            break
    return table.record


def scored_game(engine: GTPEngine, size: int, komi: float, seed: int) -> Comparison:
    """GNU Go against itself from a random opening, until both pass and all dead stones are captured."""
    table = Table(engine, make_game("go", size, komi=komi), size, komi, "scored")
    draw = np.random.default_rng(seed)
    for _ in range(OPENING_MOVES):
        legal = np.flatnonzero(np.asarray(table.state.legal))[:-1]
        table.play(int(draw.choice(legal)))
    while not bool(table.state.terminated):
        table.compare()
        answer = engine.ask(f"genmove {table.colour()}")
        action = table.action(answer)
        if not bool(table.state.legal[action]):
            table.differ("move", theirs=answer)
            return table.record
        table.play(action, told=True)
    return table.finish()


def open_engine(size: int) -> GTPEngine:
    """GNU Go; `EngineError` where it is not installed."""
    return GTPEngine(Process(found_command(COMMAND)), make_game("go", size), size)


def agreement(size: int, games: int, komi: float, seed: int) -> dict[str, Any]:
    """Half of the games random, half scored; all that differs."""
    engine = open_engine(size)
    try:
        records = [random_game(engine, size, komi, seed + n, 3 * size * size) for n in range(games // 2)]
        records += [scored_game(engine, size, komi, seed + n) for n in range(games - games // 2)]
        version = f"{engine.ask('name')} {engine.ask('version')}"
    finally:
        engine.close()
    return {
        "engine": version,
        "games": len(records),
        "moves": sum(len(record.moves) for record in records),
        "positions": sum(record.positions for record in records),
        "scores": [record.score for record in records if record.score],
        "differences": [difference for record in records for difference in record.differences],
    }
