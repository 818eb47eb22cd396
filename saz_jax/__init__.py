"""ScalableAlphaZero in JAX: train on small boards, play on large ones.

What is public stands in `__all__`, here and in the subpackages; everything else may change without notice.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saz_jax import (
        agents,
        arena,
        cli,
        config,
        games,
        graphs,
        models,
        networks,
        play,
        render,
        search,
        storage,
        studies,
        training,
    )
    from saz_jax.agents import Agent, greedy_player, load_agent, random_player
    from saz_jax.arena import play_match
    from saz_jax.games import check_game, make_game, register_game, shapes
    from saz_jax.graphs import register_prior
    from saz_jax.models import register_model
    from saz_jax.networks import register_network
    from saz_jax.render import sgf, svg, text
    from saz_jax.search import register_search
    from saz_jax.types import (
        EvaluateFn,
        Evaluation,
        Game,
        GameState,
        Model,
        Network,
        Observation,
        Player,
        SearchFn,
        SearchOutput,
        SGFFormat,
    )

__version__ = "0.2.0"

__all__ = [
    "Agent",
    "EvaluateFn",
    "Evaluation",
    "Game",
    "GameState",
    "Model",
    "Network",
    "Observation",
    "Player",
    "SGFFormat",
    "SearchFn",
    "SearchOutput",
    "__version__",
    "agents",
    "arena",
    "check_game",
    "cli",
    "config",
    "games",
    "graphs",
    "greedy_player",
    "load_agent",
    "make_game",
    "models",
    "networks",
    "play",
    "play_match",
    "random_player",
    "register_game",
    "register_model",
    "register_network",
    "register_prior",
    "register_search",
    "render",
    "search",
    "sgf",
    "shapes",
    "storage",
    "studies",
    "svg",
    "text",
    "training",
]

_HOMES = {
    "saz_jax.agents": ("Agent", "greedy_player", "load_agent", "random_player"),
    "saz_jax.arena": ("play_match",),
    "saz_jax.games": ("check_game", "make_game", "register_game", "shapes"),
    "saz_jax.graphs": ("register_prior",),
    "saz_jax.models": ("register_model",),
    "saz_jax.networks": ("register_network",),
    "saz_jax.render": ("sgf", "svg", "text"),
    "saz_jax.search": ("register_search",),
    "saz_jax.types": (
        "EvaluateFn",
        "Evaluation",
        "Game",
        "GameState",
        "Model",
        "Network",
        "Observation",
        "Player",
        "SGFFormat",
        "SearchFn",
        "SearchOutput",
    ),
}
"""Where the names come from; the others are subpackages.

All are imported when they are first asked for: jax takes a second to import, and a command line or a line
protocol has to answer before that.
"""


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is not None:
        value = getattr(importlib.import_module(home), name)
    elif name in __all__:
        value = importlib.import_module(f"saz_jax.{name}")
    else:
        raise AttributeError(f"module 'saz_jax' has no attribute {name!r}")
    globals()[name] = value
    return value
