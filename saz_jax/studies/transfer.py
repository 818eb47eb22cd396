"""What carries over to larger boards: values, ownership and policies of agents against what really happened.

For each game and side one set of games is played out, by a stated player that errs now and then, and stored.
Every agent of that game is asked about the same positions of it, phase by phase: does its value predict who
won, its ownership how the board ended, its policy what a long search of its own prefers?
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial

from saz_jax.agents.agent import Agent, load_agent, shipped_agents
from saz_jax.arena import matches
from saz_jax.arena.contestants import weights_digest
from saz_jax.games.board import random_move
from saz_jax.games.registry import make_game
from saz_jax.models.registry import check_sizes, make_model, with_own_settings
from saz_jax.render import figures
from saz_jax.storage.results import ResultsFile
from saz_jax.types import Array, Game, GameState, Player

PHASES = ("opening", "middle", "end")
"""Thirds of a game's plies."""
OPENING = 4
"""Random plies at the start of every game."""
METRICS = {
    "sign_accuracy": "value predicts the winner",
    "brier": "Brier score of the value",
    "agreement": "policy agrees with the search",
    "ownership_error": "error of the ownership",
    "score_error": "error of the score, per point",
}
"""What is measured, by how a figure calls it."""


@dataclasses.dataclass(frozen=True)
class TransferConfig:
    """Everything that decides what is measured."""

    players: tuple[str, ...] = ()
    """Agents: names of shipped weights, exports, or workdirs of training runs; default: all shipped ones."""
    sizes: tuple[int, ...] = (6, 8, 10, 12, 14, 16, 18, 20, 24, 30)
    """Board sides."""
    games: int = 64
    """Games on sides up to 8; on larger ones fewer, as the points grow."""
    least_games: int = 16
    """But no fewer than these; both are even numbers."""
    positions: int = 4
    """Positions of each game and phase."""
    searches: int = 16
    """Positions of each phase that are searched, all of different games where there are as many."""
    simulations: int = 800
    """Simulations of these searches."""
    source_simulations: int = 8
    """Simulations per move of the player of the games: the shipped agent called like the game, or else the
    first agent of that game."""
    random_share: float = 0.1
    """Share of its moves that are drawn from all legal ones, so that games are not all alike."""
    seed: int = 0
    """The same seed gives the same positions."""

    def games_on(self, side: int) -> int:
        """Games on a side."""
        fewer = 2 * round(self.games * min(1.0, 64 / side**2) / 2)
        return max(fewer, self.least_games)


SMALL = TransferConfig(
    sizes=(6, 8, 12, 16, 20), games=24, least_games=10, positions=3, searches=6, simulations=200
)
"""Minutes of a CPU instead of hours."""


@dataclasses.dataclass(frozen=True)
class Transfer:
    """A checked `TransferConfig`: every mistake in it is found before the first game."""

    config: TransferConfig
    agents: Mapping[str, Agent]
    results: ResultsFile

    def missing(self) -> list[tuple[str, int]]:
        """(player, side) of what is not yet measured: side by side, players of one game together."""
        games = list(dict.fromkeys(agent.game_name for agent in self.agents.values()))
        known = self.results.data["found"]
        return [
            (name, side)
            for game in games
            for side in self.config.sizes
            for name, agent in self.agents.items()
            if agent.game_name == game and f"{name}-{side}" not in known
        ]


def prepare(config: TransferConfig, path: str | Path | None = None) -> Transfer:
    """Loads the agents and opens the file of results, which grows by players and sides."""
    config = dataclasses.replace(config, players=config.players or tuple(sorted(shipped_agents())))
    for name, values in (("players", config.players), ("sizes", config.sizes)):
        if not values or len(set(values)) < len(values):
            raise ValueError(f"{name}={' '.join(map(str, values))} must be one or more different ones")
    for name in ("games", "least_games"):
        if getattr(config, name) < 2 or getattr(config, name) % 2:
            raise ValueError(
                f"{name}={getattr(config, name)} cannot be shared between the colours; use 2, 4, ..."
            )
    for name in ("positions", "searches", "simulations", "source_simulations"):
        if getattr(config, name) < 1:
            raise ValueError(f"{name}={getattr(config, name)} is too few; use 1 or more")
    if not 0 <= config.random_share < 1:
        raise ValueError(f"random_share={config.random_share} is outside 0 to 1; use 0.1 or so")
    agents = {name: load_agent(name) for name in config.players}
    for agent in agents.values():
        game = _game(agent, max(config.sizes))
        check_sizes(make_model(with_own_settings(agent.model), game), config.sizes)
    stored = dataclasses.asdict(config)
    results = ResultsFile(path, stored, extends=("players", "sizes"), players={}, games={}, found={})
    for name, agent in agents.items():
        facts = {
            "game": agent.game_name,
            "trained": list(agent.trained_sizes),
            "weights": weights_digest(agent),
        }
        if results.data["players"].setdefault(name, facts) != facts:
            raise ValueError(f"{path} holds results of other weights of {name}; name another file")
    results.save()
    return Transfer(config, agents, results)


def measure(transfer: Transfer, say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Measures what is missing; returns the data of the file of results.

    `data["found"]["othello-16"]["phases"]["middle"]` holds the figures of `METRICS` that the agent has.
    """
    results = transfer.results
    for name, side in transfer.missing():
        agent = transfer.agents[name]
        game = _game(agent, side)
        board = f"{game.name}-{side}"
        if board not in results.data["games"]:
            results.data["games"][board] = _play(transfer.config, game, side, *_source(transfer, game.name))
            results.save()
        began = time.monotonic()
        told = results.data["games"][board]
        phases = _look(transfer.config, agent, game, side, told)
        results.data["found"][f"{name}-{side}"] = {
            "player": name,
            "game": game.name,
            "size": side,
            "trained": side in agent.trained_sizes,
            "phases": phases,
            "seconds": round(time.monotonic() - began, 3),
        }
        results.save()
        say(f"{name} on {side}x{side}: " + ", ".join(f"{p} {_short(phases[p])}" for p in PHASES))
    return results.data


def _game(agent: Agent, side: int) -> Game:
    return make_game(agent.game_name, side, **agent.game_options)


def _source(transfer: Transfer, game: str) -> tuple[str, Agent]:
    """Who plays the games."""
    if game in shipped_agents():
        return game, load_agent(game)
    return next((name, agent) for name, agent in transfer.agents.items() if agent.game_name == game)


def _play(config: TransferConfig, game: Game, side: int, name: str, source: Agent) -> dict[str, Any]:
    """Games played out: `moves`, a text for each, and `outcomes` seen by dark."""
    player = source.player(game, simulations=config.source_simulations)
    noisy = Partial(_err_now_and_then, player, jnp.float32(config.random_share))
    key = jax.random.fold_in(jax.random.key(config.seed), side)
    count = config.games_on(side)
    played = matches.match(game, noisy, noisy, key, size=side, games=count, opening_moves=OPENING).records
    return {
        "by": f"{name}, {config.source_simulations} simulations, {config.random_share:.0%} random moves",
        "weights": weights_digest(source),
        "moves": [" ".join(map(str, row[row >= 0].tolist())) for row in played.actions],
        "outcomes": played.outcomes.astype(int).tolist(),
    }


def _err_now_and_then(player: Player, share: Array, key: Array, states: GameState) -> Array:
    """The player's moves, some of them replaced by random ones; pass only where nothing else is legal."""
    play_key, choose_key, move_key = jax.random.split(key, 3)
    count = len(states.size)
    points = states.legal.at[:, -1].set(~states.legal[:, :-1].any(1))
    drawn = jax.vmap(random_move)(jax.random.split(move_key, count), points)
    return jnp.where(jax.random.uniform(choose_key, (count,)) < share, drawn, player(play_key, states))


def _look(
    config: TransferConfig, agent: Agent, game: Game, side: int, told: Mapping[str, Any]
) -> dict[str, Any]:
    """The figures of one agent for each phase."""
    games = [[int(move) for move in moves.split()] for moves in told["moves"]]
    rng = np.random.default_rng([config.seed, side])
    where = [
        (phase, number, _ply(rng, phase, len(moves)))
        for phase in range(len(PHASES))
        for _ in range(config.positions)
        for number, moves in enumerate(games)
    ]
    actions = np.full((len(games), max(map(len, games))), -1, np.int32)
    for number, moves in enumerate(games):
        actions[number, : len(moves)] = moves
    phase, number, ply = (np.array(column) for column in zip(*where, strict=True))
    states = _reach(game, jnp.int32(side), jnp.asarray(actions[number]), jnp.asarray(ply, jnp.int32))
    ends = _reach(
        game, jnp.int32(side), jnp.asarray(actions), jnp.asarray([len(m) for m in games], jnp.int32)
    )
    model = make_model(with_own_settings(agent.model), game)
    keys = jax.random.split(jax.random.fold_in(jax.random.key(config.seed), side))
    said = jax.jit(model.evaluate)(agent.variables, keys[0], states)
    mover = np.asarray(states.to_play, np.float32)
    outcome = np.asarray(told["outcomes"], np.float32)[number] * mover
    value = np.asarray(said.value)
    figures_of: dict[str, np.ndarray] = {
        "sign_accuracy": np.where(outcome == 0, np.nan, np.sign(value) == outcome),
        "brier": ((value - outcome) / 2) ** 2,
    }
    if said.ownership is not None and game.ownership is not None:
        final = np.asarray(jax.vmap(game.ownership)(ends))[number] * mover[:, None, None]
        wrong = np.abs(np.asarray(said.ownership) - final) * np.asarray(states.points)
        figures_of["ownership_error"] = wrong.sum((1, 2)) / side**2
        if game.score is not None and said.score is not None:
            figures_of["score_error"] = np.abs(np.asarray(said.score) - final.sum((1, 2))) / side**2
    # The first positions of each phase are of different games.
    chosen = np.concatenate([np.flatnonzero(phase == p)[: config.searches] for p in range(len(PHASES))])
    picked = jax.tree.map(lambda x: x[chosen], states)
    search = agent.analyst(game, simulations=config.simulations)(keys[1], picked)
    prior = np.asarray(jax.nn.softmax(jnp.where(states.legal, said.logits, -jnp.inf)))[chosen]
    best = np.asarray(search.action)
    agreement = np.full(len(phase), np.nan)
    agreement[chosen] = prior.argmax(1) == best
    figures_of["agreement"] = agreement
    mass = np.full(len(phase), np.nan)
    mass[chosen] = prior[np.arange(len(best)), best]
    figures_of["prior_of_search"] = mass
    return {
        name: {
            "positions": int((phase == p).sum()),
            "searched": int((phase[chosen] == p).sum()),
            **{what: _mean(values[phase == p], number[phase == p]) for what, values in figures_of.items()},
        }
        for p, name in enumerate(PHASES)
    }


def _ply(rng: np.random.Generator, phase: int, length: int) -> int:
    """A ply of that third of a game, after the random opening and before the end."""
    ends = np.linspace(min(OPENING, length - 1), length, len(PHASES) + 1)
    return int(min(rng.uniform(ends[phase], ends[phase + 1]), length - 1))


@functools.partial(jax.jit, static_argnames="game")
def _reach(game: Game, side: Array, actions: Array, plies: Array) -> GameState:
    """states[P]: after the first `plies[i]` of `actions[i]`."""

    def one(actions: Array, ply: Array) -> GameState:
        return lax.fori_loop(0, ply, lambda i, state: game.step(state, actions[i]), game.init(side))

    return jax.vmap(one)(actions, plies)


def _mean(values: np.ndarray, games: np.ndarray) -> dict[str, float | None]:
    """The mean, and its standard error over games, since positions of one game are not independent."""
    known = ~np.isnan(values)
    if not known.any():
        return {"mean": None, "error": None}
    values, games = values[known].astype(float), games[known]
    by_game = np.array([values[games == game].mean() for game in np.unique(games)])
    error = float(by_game.std(ddof=1) / np.sqrt(len(by_game))) if len(by_game) > 1 else None
    return {"mean": round(float(values.mean()), 4), "error": None if error is None else round(error, 4)}


def _short(phase: Mapping[str, Any]) -> str:
    return " ".join(_number(phase[name]) for name in ("sign_accuracy", "brier", "agreement"))


def _number(figure: Mapping[str, Any] | None) -> str:
    return "-" if figure is None or figure["mean"] is None else f"{figure['mean']:.2f}"


def table(data: Mapping[str, Any]) -> str:
    """For each game a table: a row for each side and player, in each cell opening / middle / end."""
    text = ""
    for game, found in _by_game(data).items():
        names = [name for name in METRICS if any(name in r["phases"][PHASES[0]] for r in found)]
        rows = []
        for result in sorted(found, key=lambda r: (r["size"], data["config"]["players"].index(r["player"]))):
            cells = [
                " / ".join(_number(result["phases"][phase].get(name)) for phase in PHASES) for name in names
            ]
            trained = "" if result["trained"] else ", unseen"
            rows.append([f"{result['size']}x{result['size']}{trained}", result["player"], *cells])
        header = ["board", "player", *(METRICS[name] for name in names)]
        text += f"## {game}\n\n{figures.markdown_table(header, rows)}\n"
    return text


def figure(data: Mapping[str, Any], path: Path) -> Path:
    """Curves over sides as a PNG: a row for each game, a column for each figure, a colour for each player."""
    groups = _by_game(data)
    names = [name for name in METRICS if any(name in r["phases"][PHASES[0]] for r in data["found"].values())]
    drawn = figures.canvas(4.2 * len(names), 3.0 * len(groups) + 0.6)
    axes = drawn.subplots(len(groups), len(names), squeeze=False)
    styles = dict(zip(PHASES, (":", "--", "-"), strict=True))
    for (game, found), row in zip(groups.items(), axes, strict=True):
        players = [
            player for player in data["config"]["players"] if any(r["player"] == player for r in found)
        ]
        trained = max(side for player in players for side in data["players"][player]["trained"])
        for name, axis in zip(names, row, strict=True):
            for number, player in enumerate(players):
                for phase, style in styles.items():
                    _curve(axis, found, player, phase, name, f"C{number}", style)
            axis.axvline(trained, color="grey", linewidth=0.8)
            axis.set(title=f"{game}: {METRICS[name]}", xlabel="side of the board")
            axis.grid(alpha=0.3)
            axis.spines[["top", "right"]].set_visible(False)
        row[0].legend(frameon=False, fontsize="x-small")
    drawn.suptitle(
        "dotted: opening, dashed: middle, solid: end; grey: the largest side in training", fontsize=9
    )
    drawn.savefig(path, dpi=130)
    return path


def _curve(axis: Any, found: list[Any], player: str, phase: str, name: str, colour: str, style: str) -> None:
    mine = sorted((r for r in found if r["player"] == player), key=lambda r: r["size"])
    known = [(r["size"], r["phases"][phase][name]) for r in mine if name in r["phases"][phase]]
    known = [(side, figure) for side, figure in known if figure["mean"] is not None]
    axis.errorbar(
        [side for side, _ in known],
        [figure["mean"] for _, figure in known],
        yerr=[figure["error"] or 0.0 for _, figure in known],
        color=colour,
        linestyle=style,
        marker=".",
        capsize=2,
        label=player if phase == PHASES[-1] else None,
    )


def _by_game(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The results of the players that are asked for, by game."""
    found: dict[str, list[Any]] = {}
    for result in data["found"].values():
        if result["player"] in data["config"]["players"]:
            found.setdefault(result["game"], []).append(result)
    return found
