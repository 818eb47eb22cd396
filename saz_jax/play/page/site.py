"""A folder of files that play without a server: the page of `saz web`, and an engine that runs inside it.

The engine is rules and networks as programs (`programs`) and a search in JavaScript.  A program is for one
side of the board, on which any shape that fits is played.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saz_jax import __version__
from saz_jax.agents.agent import Agent
from saz_jax.config import SearchConfig
from saz_jax.models.registry import make_model
from saz_jax.play import web
from saz_jax.play.page.programs import Program, Weights, to_json, trace
from saz_jax.search.tree_search import STRATEGIES, judging
from saz_jax.types import Game, GameState

PAGE = Path(web.__file__).parent / "static"
ENGINE = Path(__file__).parent / "static"
DATA = "data"
"""The folder of rules and networks."""
LARGEST = 25
"""Side; larger boards are too slow in a page."""
LARGEST_USUAL = 19
PLAYERS = ("person", "random", "greedy")
"""Who plays every game."""

Say = Callable[[str], None]


def write_site(
    folder: Path, agents: Mapping[str, Agent], sizes: Iterable[int] | None = None, report: Say = print
) -> None:
    """Writes the page of these players (by name), on boards of `sizes`, by default those of `usual_sizes`.

    `ValueError` if the folder holds anything, and for an agent whose search or network the page cannot run.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; name a new folder")
    if not agents:
        raise ValueError("a page needs a player; name an agent")
    for name, agent in agents.items():
        check_search(name, agent.search)
    sides = {name: tuple(sizes or usual_sizes(agent)) for name, agent in agents.items()}
    for name, agent in agents.items():
        check_sides(name, agent, sides[name])
    data = folder / DATA
    data.mkdir(parents=True)
    for file in [*PAGE.iterdir(), *ENGINE.iterdir()]:  # the page's own engine takes the place of the server's
        shutil.copyfile(file, folder / file.name)
    rules: dict[str, dict[str, Any]] = {}
    for name, agent in agents.items():
        known = rules.setdefault(agent.game_name, {})
        for side in sides[name]:
            if str(side) not in known:
                report(f"{agent.game_name} {side}x{side}")
                known[str(side)] = _write(data, f"{agent.game_name}-{side}", rules_of(agent.game(side)))
    players = {name: _write_agent(data, name, agent, sides[name], report) for name, agent in agents.items()}
    about = {"welcome": welcome(agents, sides), "rules": rules, "players": players}
    (folder / DATA / "about.json").write_text(json.dumps(about))


def usual_sizes(agent: Agent) -> tuple[int, ...]:
    """All sides that it can play, up to `LARGEST_USUAL`."""
    game = agent.game(LARGEST_USUAL)
    smallest, largest = make_model(agent.model, game).sizes
    return tuple(range(max(game.min_size, smallest), min(largest or LARGEST_USUAL, LARGEST_USUAL) + 1))


def check_search(name: str, search: SearchConfig) -> None:
    """Raise `ValueError` for a search that the page does not have."""
    if search.kind not in STRATEGIES:
        raise ValueError(f"{name} searches by {search.kind!r}; the page has {' and '.join(STRATEGIES)}")


def check_sides(name: str, agent: Agent, sides: Iterable[int]) -> None:
    """Raise `ValueError` for sides that cannot be played."""
    for side in sides:
        if side > LARGEST:
            raise ValueError(f"side {side} is too large for a page; use {LARGEST} or less")
        smallest, largest = make_model(agent.model, agent.game(side)).sizes
        if side < smallest or (largest is not None and side > largest):
            raise ValueError(f"{name} does not play on side {side}; leave it out")


def rules_of(game: Game) -> dict[str, Program]:
    """The functions of a game on boards within its padded side.

    init(points) -> state; step(state, action) -> state; score(state) -> [dark's lead], if the game counts
    points; greedy(state, action) -> [how the greedy player likes it].  A state is its arrays in order, of
    which the first are those of `GameState`.
    """
    side = game.max_size
    state = jax.eval_shape(game.init, jax.ShapeDtypeStruct((side, side), jnp.bool_))
    action = jax.ShapeDtypeStruct((), jnp.int32)
    made = {
        "init": trace(game.init, jax.ShapeDtypeStruct((side, side), jnp.bool_)),
        "step": trace(game.step, state, action),
        "greedy": trace(lambda s, a: game.heuristic(game.step(s, a), s.to_play), state, action),
    }
    return made | ({"score": trace(game.score, state)} if game.score else {})


def judge_of(agent: Agent, game: Game) -> Program:
    """state -> [log prior over all actions, value seen by the player to move], as its search sees them.

    A network that is asked about subgraphs, too, is asked once about the whole board.
    """
    model = make_model(agent.model, game)
    evaluate = model.evaluate_once or model.evaluate
    judge, _ = judging(game, evaluate, agent.search, agent.variables)

    def one(state: GameState) -> tuple[jax.Array, jax.Array]:
        said = judge(jax.random.key(0), jax.tree.map(lambda x: x[None], state))
        return said.logits[0], said.value[0]

    return trace(one, jax.eval_shape(game.init, jax.ShapeDtypeStruct((game.max_size,) * 2, jnp.bool_)))


def welcome(agents: Mapping[str, Agent], sides: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """What there is to choose from, as the page of `saz web` is told by its server."""
    names = list(dict.fromkeys(agent.game_name for agent in agents.values()))
    games = [_about(name, agents, sides) for name in names]
    return {
        "is": "welcome",
        "version": __version__,
        "games": games,
        "agents": [
            {"name": name, "game": agent.game_name, "sizes": list(agent.trained_sizes)}
            for name, agent in agents.items()
        ],
        "players": list(PLAYERS),
        "game": names[0],
        "size": None,
        "simulations": None,
        "seconds": None,
        "largest": max(max(listed) for listed in sides.values()),
        "paths": False,
        "insight": False,
    }


def _about(name: str, agents: Mapping[str, Agent], sides: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    own = [player for player, agent in agents.items() if agent.game_name == name]
    listed = sorted({side for player in own for side in sides[player]})
    agent = agents[own[0]]
    game = agent.game(listed[-1])
    every = np.ones((listed[-1],) * 2, bool)
    return {
        "name": name,
        "smallest": listed[0],
        "sizes": listed,
        "stones_on": game.stones_on,
        "moves": [list(step) for step in game.moves],
        "options": [],
        "records": game.sgf is not None,
        "sgf": game.sgf and {
            "GM": game.sgf.game_type,
            "points": game.sgf.points,
            "pass": game.sgf.pass_as,
            "root": {key: str(value) for key, value in game.sgf.write(every).items()},
        },
        "agent": own[0],
        "size": max(side for side in listed if side <= max(agent.trained_sizes) or side == listed[0]),
    }  # fmt: skip


def _write_agent(data: Path, name: str, agent: Agent, sides: Iterable[int], report: Say) -> dict[str, Any]:
    search, weights = agent.search, Weights()
    files = {}
    for side in sides:
        report(f"{name} {side}x{side}")
        programs = {"judge": to_json(judge_of(agent, agent.game(side)), weights)}
        files[str(side)] = _store(data, f"player-{name}-{side}.json", programs)
    (data / f"player-{name}.bin").write_bytes(bytes(weights.data))
    wanted = ("kind", "c_puct", "unvisited", "max_considered_actions", "take_wins")
    return {
        "game": agent.game_name,
        "files": files,
        "weights": f"player-{name}.bin",
        "search": {field: getattr(search, field) for field in wanted},
    }


def _write(data: Path, name: str, programs: Mapping[str, Program]) -> dict[str, str]:
    weights = Weights()
    file = _store(data, f"rules-{name}.json", {what: to_json(p, weights) for what, p in programs.items()})
    (data / f"rules-{name}.bin").write_bytes(bytes(weights.data))
    return {"file": file, "weights": f"rules-{name}.bin"}


def _store(data: Path, name: str, programs: Mapping[str, Any]) -> str:
    (data / name).write_text(json.dumps(programs, separators=(",", ":")))
    return name
