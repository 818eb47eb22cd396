"""Trained agents: weights, what they were trained on, and the players they make on boards of any size."""

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.tree_util import Partial

from saz_jax.config import ModelConfig, ModelName, SearchConfig, config_from_dict
from saz_jax.games import make_game
from saz_jax.models import evaluators
from saz_jax.search.tree_search import make_search
from saz_jax.storage.export import export, read_export
from saz_jax.storage.named_arrays import mismatch
from saz_jax.types import Array, Game, GameState, Model, Player, Variables

EXPORT = "agent.npz"
"""The newest export in a training workdir, and the export in a folder of weights."""
CHECKPOINTS = "checkpoints"
"""The folder of checkpoints in a training workdir."""
PLAYING_WEIGHTS = "learner/average"
"""Where a checkpoint's state holds the weights that play."""
PACKAGE = Path(__file__).parent.parent
SHIPPED = (PACKAGE.parent / "weights", PACKAGE / "weights")
"""Folders of shipped weights: of a clone, of an installed package."""


@dataclasses.dataclass(frozen=True)
class _About:
    """What an agent's file says besides its weights and `meta`."""

    game: str
    options: dict
    model: ModelConfig
    search: SearchConfig
    trained_sizes: tuple[int, ...]


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
        check_fits(self.variables, self.model)

    def game(self, max_size: int) -> Game:
        """The game that it was trained on, on boards of any side up to `max_size`."""
        return make_game(self.game_name, max_size, **self.game_options)

    def player(
        self,
        game: Game,
        *,
        simulations: int | None = None,
        kind: str | None = None,
        score: float | None = None,
        model: ModelName | None = None,
        temperature: float = 0.0,
        raw: bool = False,
        sizes: Iterable[int] = (),
    ) -> Player:
        """A player on the boards of `game`, trained sides or not.

        `simulations`, `kind` and `score` change the search, `model` how the network is asked ("model3":
        these weights without subgraphs); raw: the policy alone, without any search.  Temperature 0 plays the
        best move, and the noise of self-play is left out.  `sizes` are checked now instead of at the first
        move.

        It is a `jax.tree_util.Partial` over the variables: agents of the same kind share one compilation.
        """
        if game.name != self.game_name:
            raise ValueError(f"this agent was trained on {self.game_name}; it cannot play {game.name}")
        if temperature < 0:
            raise ValueError(f"temperature={temperature} is negative; use 0 for the best move")
        config = dataclasses.replace(self.model, name=model or self.model.name)
        check_fits(self.variables, config)
        search = dataclasses.replace(
            self.search,
            noise_fraction=0.0,
            simulations=self.search.simulations if simulations is None else simulations,
            kind=kind or self.search.kind,
            score=self.search.score if score is None else score,
        )
        evaluators.check_sizes(evaluators.make_model(config, game), sizes)
        return Partial(_make_play(game, config, None if raw else search, float(temperature)), self.variables)

    def facts(self) -> dict[str, Any]:
        """Everything but the weights, as JSON: what `agent_from` takes."""
        options, sizes = dict(self.game_options), self.trained_sizes
        about = _About(self.game_name, options, self.model, self.search, sizes)
        return {**self.meta, "agent": dataclasses.asdict(about)}

    def export(self, path: str | Path) -> None:
        """Write the agent to one small file that `load_agent` reads."""
        export(path, self.variables, self.facts())


def agent_from(variables: Variables, facts: Mapping[str, Any]) -> Agent:
    """The agent of the given weights and `Agent.facts`."""
    try:
        about = config_from_dict(_About, facts["agent"], "agent")
    except (KeyError, TypeError) as error:
        raise ValueError(f"the facts about the agent are incomplete ({error})") from error
    meta = {name: fact for name, fact in facts.items() if name != "agent"}
    return Agent(variables, about.game, about.options, about.model, about.search, about.trained_sizes, meta)


def shipped_agents() -> dict[str, Path]:
    """The exports that come with the package, by name."""
    return {file.parent.name: file for folder in SHIPPED for file in sorted(folder.glob(f"*/{EXPORT}"))}


def load_agent(path_or_name: str | Path) -> Agent:
    """The agent in an export, in the workdir of a training run, or shipped under a name such as "othello".

    A string that is a shipped name means that one; write "./othello" for a folder of your own.
    """
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


def check_fits(variables: Variables, config: ModelConfig) -> None:
    """Raise `ValueError` unless `variables` are those of the network that `config` names."""
    if problem := mismatch(variables, _expected(config)):
        raise ValueError(
            f"these weights do not fit the network of {config.name}: {problem}; "
            f"use the model and network settings they were trained with"
        )


@functools.cache
def _expected(config: ModelConfig) -> Any:
    """Shapes and dtypes of fresh variables, which do not depend on the padded side."""
    if config.name not in evaluators.MODELS:
        raise ValueError(f"unknown model {config.name!r}; choose one of {', '.join(evaluators.MODELS)}")
    make_network, _ = evaluators.MODELS[config.name]
    return jax.eval_shape(make_network(config, config.cnn.side).init, jax.random.key(0))


@functools.cache
def _make_play(game: Game, config: ModelConfig, search: SearchConfig | None, temperature: float) -> Any:
    """(variables, key, states[B]) -> actions[B]; equal settings give the same object, compiled once."""
    model = evaluators.make_model(config, game)
    choose = jax.jit(_by_search(game, model, search, temperature) if search else _raw(model, temperature))

    def play(variables: Variables, key: Array, states: GameState) -> Array:
        if not isinstance(states.size, Tracer):
            evaluators.check_sizes(model, np.unique(states.size).tolist())
        return choose(variables, key, states)

    return play


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
            return jax.random.categorical(action_key, logits / temperature).astype(jnp.int32)
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
