"""Trained agents: weights, what they were trained on, and the players they make on boards of any size."""

import dataclasses
import functools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.tree_util import Partial

from saz_jax.config import ModelConfig, SearchConfig, SubgraphConfig, from_json, to_json
from saz_jax.config.json_form import shown
from saz_jax.config.registry import GAMES, MODELS, NETWORKS, PRIORS, SEARCHES, VARIABLE, Entry
from saz_jax.config.versions import SCHEMA, check_schema, migrated_agent
from saz_jax.games import make_game
from saz_jax.games.precision import check_precision
from saz_jax.games.registry import full_options, look_at
from saz_jax.graphs.subgraphs import smallest_side
from saz_jax.models import registry as models
from saz_jax.models.opinions import Opinions, make_opinions
from saz_jax.models.registry import with_own_settings
from saz_jax.models.symmetric import symmetric
from saz_jax.networks.registry import make_network_of
from saz_jax.search.anytime import AnytimeSearch, make_anytime
from saz_jax.search.tree_search import check as check_search
from saz_jax.search.tree_search import make_search
from saz_jax.storage.export import export, read_export
from saz_jax.storage.named_arrays import mismatch
from saz_jax.types import Array, Game, GameState, Model, Player, SearchOutput, Variables

EXPORT = "agent.npz"
"""The newest export in a training workdir, and the export in a folder of weights."""
CHECKPOINTS = "checkpoints"
"""The folder of checkpoints in a training workdir."""
PLAYING_WEIGHTS = "learner/average"
"""Where a checkpoint's state holds the weights that play."""
PACKAGE = Path(__file__).parent.parent
SHIPPED = (PACKAGE.parent / "weights", PACKAGE / "weights")
"""Folders of shipped weights: of a clone, of an installed package."""
MAX_PATH = 1000
"""Longest path that is tried: the operating system fails on longer ones with obscure errors."""


@dataclasses.dataclass(frozen=True)
class _About:
    """What an agent's file says besides its weights and `meta`."""

    game: str
    options: Mapping[str, Any]
    model: ModelConfig
    search: Any
    trained_sizes: tuple[int, ...]
    origins: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Where the makers of its game, network, model, search and prior live."""


@dataclasses.dataclass(frozen=True, eq=False)
class Agent:
    """A trained network and how it plays; `ValueError` if the weights are not those of `model`."""

    variables: Variables
    game_name: str
    game_options: Mapping[str, Any]
    """The keyword options of `make_game` that it was trained with."""
    model: ModelConfig
    search: SearchConfig
    """The search of its self-play, `player`'s default."""
    trained_sizes: tuple[int, ...]
    """The board sides of its self-play."""
    meta: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """JSON: seed, versions, training time, ..."""

    def __post_init__(self) -> None:
        check_fits(self.variables, self.model, look_at(self.game_name, **self.game_options))

    def game(self, max_size: int) -> Game:
        """The game that it was trained on, on boards of any side up to `max_size`."""
        return make_game(self.game_name, max_size, **self.game_options)

    def player(
        self,
        game: Game,
        *,
        simulations: int | None = None,
        search: str | None = None,
        heuristic_weight: float | None = None,
        model: str | None = None,
        temperature: float = 0.0,
        raw: bool = False,
        sizes: Iterable[int] = (),
    ) -> Player:
        """A player on the boards of `game`, trained sides or not: (key, state or states) -> action(s).

        `simulations`, `search` (its kind) and `heuristic_weight` change the search, `model` how the network
        is asked ("model3": these weights without subgraphs); raw: the policy alone, without any search.
        Temperature 0 plays the best move, and the noise of self-play is left out.  `sizes` are checked now
        instead of at the first move.

        A single position is searched by rounds (`SearchConfig.batched_rounds`), which is faster.

        It is a `jax.tree_util.Partial` over the variables: agents of the same kind share one compilation.
        """
        config = self._asked_as(game, model, sizes)
        temperature = checked_temperature(temperature)
        settings = None if raw else self._search(simulations, search, heuristic_weight)
        return Partial(_make_play(game, config, settings, temperature), self.variables)

    def analyst(
        self,
        game: Game,
        *,
        simulations: int | None = None,
        search: str | None = None,
        heuristic_weight: float | None = None,
        model: str | None = None,
        sizes: Iterable[int] = (),
    ) -> Callable[[Array, GameState], SearchOutput]:
        """Like `player`, but returns all that the search found: (key, state or states) -> SearchOutput.

        Value, visits, Q-values, policy and principal variation, as well as the move.
        """
        config = self._asked_as(game, model, sizes)
        settings = self._search(simulations, search, heuristic_weight)
        return Partial(_make_analysis(game, config, settings), self.variables)

    def anytime(
        self,
        game: Game,
        capacity: int,
        *,
        search: str | None = None,
        heuristic_weight: float | None = None,
        model: str | None = None,
        symmetries: bool = False,
        sizes: Iterable[int] = (),
    ) -> AnytimeSearch:
        """Like `analyst`, but anytime: its trees grow to `capacity` nodes or until the search is stopped.

        `symmetries`: what the network says about a root is averaged over the game's symmetries.
        """
        config = self._asked_as(game, model, sizes)
        settings = self._search(None, search, heuristic_weight)
        return _make_anytime(game, config, settings, capacity, symmetries)

    def opinions(self, game: Game) -> Callable[[Array, GameState], Opinions]:
        """What its network says about one position and about subgraphs of it: (key, state) -> Opinions.

        Subgraphs are drawn as its model draws them, or by the defaults where its model draws none; a network
        for one side reads no subgraphs.
        """
        config = self._asked_as(game, None, ())
        return Partial(_make_opinions(game, config), self.variables)

    def _asked_as(self, game: Game, model: str | None, sizes: Iterable[int]) -> ModelConfig:
        if game.name != self.game_name:
            raise ValueError(f"this agent was trained on {self.game_name}; it cannot play {game.name}")
        trained, asked = dict(self.game_options), dict(game.options)
        if other := [o for o in asked if o in trained and asked[o] != trained[o]]:
            told = ", ".join(f"{o}={trained[o]}, not {o}={asked[o]}" for o in other)
            warnings.warn(f"this agent was trained with {told}; it may play poorly", stacklevel=3)
        config = with_own_settings(dataclasses.replace(self.model, name=model or self.model.name))
        check_fits(self.variables, config, game)
        models.check_sizes(models.make_model(config, game), sizes)
        return config

    def _search(
        self, simulations: int | None, kind: str | None, heuristic_weight: float | None
    ) -> SearchConfig:
        settings = self.search
        if kind is not None and kind != settings.kind:
            settings = as_kind(settings, kind)
        given = {"simulations": simulations, "heuristic_weight": heuristic_weight}
        changes = {name: value for name, value in given.items() if value is not None}
        settings = dataclasses.replace(settings, dirichlet_fraction=0.0, **changes)
        check_search(settings)
        return settings

    def facts(self) -> dict[str, Any]:
        """Everything but the weights, as JSON: what `agent_from` takes."""
        options, made_by = dict(self.game_options), origins(self.game_name, self.model, self.search)
        about = _About(self.game_name, options, self.model, self.search, self.trained_sizes, made_by)
        return {**self.meta, "schema": SCHEMA, "agent": to_json(about)}

    def export(self, path: str | Path) -> None:
        """Write the agent to one small file that `load_agent` reads.

        `.npz`, or `.safetensors` (extra of that name) with the same arrays and facts for other programs.
        """
        export(path, self.variables, self.facts())


def spent(agent: Agent) -> dict[str, float]:
    """Positions, seconds and CPU seconds of its training, with those of the weights that it began with."""
    names, before = ("positions", "seconds", "cpu_seconds"), agent.meta.get("before", {})
    return {name: agent.meta.get(name, 0) + before.get(name, 0) for name in names}


def as_kind(settings: SearchConfig, kind: str) -> SearchConfig:
    """The settings of another kind of search, keeping all that both kinds have."""
    entry = SEARCHES.find(kind)
    wanted = entry.settings
    assert wanted is not None
    names = {field.name for field in dataclasses.fields(wanted)} - {"kind"}
    shared = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings) if f.name in names}
    return wanted(kind=entry.name, **shared)


def checked_temperature(temperature: float) -> float:
    """A finite temperature of 0 or more."""
    if not isinstance(temperature, int | float) or not 0 <= temperature < math.inf:
        raise ValueError(f"temperature={temperature!r}; use 0 for the best move, or a finite positive number")
    return float(temperature)


def agent_from(variables: Variables, facts: Mapping[str, Any]) -> Agent:
    """The agent of the given weights and `Agent.facts`."""
    schema = check_schema(facts.get("schema", 1), "the agent")
    try:
        stored = migrated_agent(facts["agent"], schema)
        check_registered(stored)
        about = from_json(_About, stored, "agent")
        options = full_options(about.game, about.options)
        check_search(about.search)
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"the facts about the agent are incomplete ({error})") from error
    meta = {name: fact for name, fact in facts.items() if name not in ("agent", "schema")}
    return Agent(variables, about.game, options, about.model, about.search, about.trained_sizes, meta)


def origins(game: str, model: ModelConfig, search: SearchConfig) -> dict[str, str]:
    """Where the makers of the game, the network, the model, the search and the prior live."""
    entries: dict[str, Entry] = {
        "game": GAMES.find(game),
        "network": NETWORKS.find(NETWORKS.name_of(model.network)),
        "model": MODELS.find(model.name),
        "search": SEARCHES.find(search.kind),
    }
    if hasattr(model.ensemble, "combine"):
        entries["prior"] = PRIORS.find(model.ensemble.combine)
    return {what: entry.origin for what, entry in entries.items()}


def check_registered(stored: Any) -> None:
    """Raise `ValueError` that says what to register before an agent or a run of these settings is read.

    Nothing is imported for it: a file may not choose the code that runs.
    """
    stored = _group(stored)
    model = stored.get("model")
    inner, made_by = _group(model) or stored, _group(stored.get("origins"))
    names = {
        GAMES: stored.get("game"),
        MODELS: inner.get("name") if isinstance(model, Mapping) else model,
        NETWORKS: _group(inner.get("network")).get("kind"),
        PRIORS: _group(inner.get("ensemble")).get("combine"),
        SEARCHES: _group(stored.get("search")).get("kind"),
    }
    for registry, name in names.items():
        if isinstance(name, str) and name not in registry.names():  # else `from_json` says what is wrong
            origin = str(made_by.get(registry.what) or "your_module:make")[:200]
            module = origin.partition(":")[0]
            raise ValueError(
                f"its {registry.what} {shown(name)} is not registered here; it was made by {origin}: import "
                f"{module} if that registers it, or call {registry.how}; on a command line, "
                + (f"--game {origin}" if registry is GAMES else f"set {VARIABLE}={module} before it")
            )


def _group(stored: Any) -> Mapping[str, Any]:
    """`stored` if it is a group of settings, else an empty one."""
    return stored if isinstance(stored, Mapping) else {}


def shipped_agents() -> dict[str, Path]:
    """The exports that come with the package, by name."""
    return {file.parent.name: file for folder in SHIPPED for file in sorted(folder.glob(f"*/{EXPORT}"))}


def load_agent(path_or_name: str | Path) -> Agent:
    """The agent in an export, in the workdir of a training run, or shipped under a name such as "othello".

    A string that is a shipped name means that one; write "./othello" for a folder of your own.
    """
    if not isinstance(path_or_name, str | Path):
        raise ValueError(f"{path_or_name!r} names no agent; give a path, or the name of shipped weights")
    check_precision()
    if len(str(path_or_name)) > MAX_PATH or "\0" in str(path_or_name):
        raise ValueError(
            f"{str(path_or_name)[:60]!r}... is no path; give one of at most {MAX_PATH} characters"
        )
    shipped = shipped_agents()
    path = Path(path_or_name)
    if isinstance(path_or_name, str):
        path = shipped.get(path_or_name, path)
    if path.is_dir() and (path / EXPORT).exists():
        path = path / EXPORT
    if path.is_file():
        found = read_export(path)
    elif (path / CHECKPOINTS).is_dir():
        found = _newest_checkpoint(path / CHECKPOINTS)
    else:
        names = ", ".join(sorted(shipped)) or "none"
        raise ValueError(
            f"no agent at {path_or_name}; give an export, the workdir of a training run, "
            f"or the name of shipped weights (there are: {names})"
        )
    try:
        return agent_from(*found)
    except ValueError as error:
        raise ValueError(f"{path} holds no agent that this version can play: {error}") from error


def check_fits(variables: Variables, config: ModelConfig, game: Game) -> None:
    """Raise `ValueError` unless `variables` are those of the network that `config` names, made for `game`."""
    if problem := mismatch(variables, _expected(config, game)):
        raise ValueError(
            f"these weights do not fit the network of {config.name}: {problem}; "
            f"use the model and network settings they were trained with"
        )


@functools.cache
def _expected(config: ModelConfig, game: Game) -> Any:
    """Shapes and dtypes of fresh variables, which do not depend on the padded side."""
    MODELS.find(config.name)
    side = getattr(config.network, "side", 1)
    network = make_network_of(config.network, dataclasses.replace(game, max_size=side))
    return jax.eval_shape(network.init, jax.random.key(0))


def _checked(
    model: Model, choose: Callable[..., Any], choose_one: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """`choose(variables, key, states[B])`, compiled, for one position as well: it gets a batch of one.

    `choose_one` is asked about single positions instead.  Board sides are checked where they are known.
    """
    choose = jax.jit(choose)
    choose_one = choose if choose_one is None else jax.jit(choose_one)

    def play(variables: Variables, key: Array, states: GameState) -> Any:
        if not isinstance(states.size, Tracer):
            models.check_sizes(model, np.unique(states.size).tolist())
        if states.board.ndim != 2:
            return choose(variables, key, states)
        answer = choose_one(variables, key, jax.tree.map(lambda x: jnp.asarray(x)[None], states))
        return jax.tree.map(lambda x: x[0], answer)

    return play


def one_at_a_time(search: SearchConfig) -> SearchConfig:
    """The settings for a single position, which is searched by rounds where that can be done."""
    return dataclasses.replace(search, batched_rounds=True)


@functools.cache
def _make_play(game: Game, config: ModelConfig, search: SearchConfig | None, temperature: float) -> Any:
    """(variables, key, states) -> actions; equal settings give the same object, compiled once."""
    model = models.make_model(config, game)
    if search is None:
        return _checked(model, _raw(model, temperature))
    one = _by_search(game, model, one_at_a_time(search), temperature)
    return _checked(model, _by_search(game, model, search, temperature), one)


@functools.cache
def _make_analysis(game: Game, config: ModelConfig, search: SearchConfig) -> Any:
    """(variables, key, states) -> SearchOutput."""
    model = models.make_model(config, game)
    find = make_search(game, model.evaluate, search)
    find_one = make_search(game, model.evaluate, one_at_a_time(search))
    return _checked(
        model,
        lambda variables, key, states: find(variables, key, states, 0.0),
        lambda variables, key, states: find_one(variables, key, states, 0.0),
    )


@functools.cache
def _make_anytime(
    game: Game, config: ModelConfig, search: SearchConfig, capacity: int, symmetries: bool
) -> AnytimeSearch:
    evaluate = models.make_model(config, game).evaluate
    return make_anytime(game, evaluate, search, capacity, symmetric(game, evaluate) if symmetries else None)


@functools.cache
def _make_opinions(game: Game, config: ModelConfig) -> Any:
    """(variables, key, state) -> Opinions."""
    network = models.make_model(config, game).network
    drawn = config.ensemble if isinstance(config.ensemble, SubgraphConfig) else SubgraphConfig()
    readable = network.sizes[1] is None and game.max_size >= smallest_side(drawn)
    return jax.jit(make_opinions(network, drawn if readable else None, game.max_size, game.moves))


def _by_search(game: Game, model: Model, config: SearchConfig, temperature: float) -> Any:
    search = make_search(game, model.evaluate, config)

    def choose(variables: Variables, key: Array, states: GameState) -> Array:
        return search(variables, key, states, temperature).action

    return choose


def _raw(model: Model, temperature: float) -> Any:
    def choose(variables: Variables, key: Array, states: GameState) -> Array:
        evaluate_key, action_key = jax.random.split(key)
        logits = model.evaluate(variables, evaluate_key, states).logits
        if temperature:
            # Mask illegal moves again: a high temperature would bring their finite minimum near the others.
            logits = jnp.where(states.legal, logits / temperature, -jnp.inf)
            return jax.random.categorical(action_key, logits).astype(jnp.int32)
        return jnp.argmax(logits, axis=-1).astype(jnp.int32)

    return choose


def _newest_checkpoint(folder: Path) -> tuple[Variables, Mapping[str, Any]]:
    # Imported here, since orbax takes a second to load and players seldom need it.
    from saz_jax.storage.checkpoint import Checkpoints

    with Checkpoints(folder, read_only=True) as checkpoints:
        found = checkpoints.read(PLAYING_WEIGHTS)
    if found is None:
        raise ValueError(f"{folder} holds no whole checkpoint yet; wait for the first one")
    return found
