"""Versions of what is stored: settings of a run, of an agent and of a match, brought up to date when read.

Every stored group of settings stands beside a number, `schema`; files without one are of version 1.  A change
of a setting's name or place adds a step here and raises `SCHEMA`, so that old files stay readable.
"""

from collections.abc import Mapping
from typing import Any

SCHEMA = 2
"""The version that is written."""

NETWORK_OF = {"model1": "cnn", "model5": "cnn", "fcn": "fcn"}
"""Version 1 kept the settings of all networks; all other models had the GIN."""
SEARCH_NAMES = {
    "considered": "max_considered_actions",
    "score": "heuristic_weight",
    "noise_fraction": "dirichlet_fraction",
    "noise_concentration": "dirichlet_total",
    "gumbel_scale": None,
}
SELFPLAY_NAMES = {
    "openings": "max_opening_moves",
    "slips": "random_move_share",
    "full_share": None,
    "fast_simulations": None,
}
LEARNER_NAMES = {
    "passes": "epochs",
    "piece": "microbatch",
    "clip": "max_grad_norm",
    "surprise": "surprise_weight",
    "average": "ema_decay",
    "value_weight": None,
    "search_value": None,
}
"""Version 1's names and today's; None: a setting that is gone, which every run left as it was."""


def check_schema(schema: Any, what: str) -> int:
    """The version of a file; `ValueError` if it is newer than this package."""
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise ValueError(f"{what} has schema {schema!r}, which is no version; write it again")
    if schema > SCHEMA:
        raise ValueError(f"{what} has schema {schema}, this version reads up to {SCHEMA}; update saz_jax")
    return schema


def migrated_training(config: Any, schema: int) -> Any:
    """The settings of a training run in today's form."""
    if schema >= 2 or not isinstance(config, Mapping):
        return config
    kept = dict(config)
    game = kept.get("game")
    options = {"gomoku": ("k",), "go": ("komi",)}.get(str(game), ())
    kept["game_options"] = {name: kept[name] for name in options if name in kept}
    for name in ("k", "komi"):
        kept.pop(name, None)
    _move_model(kept, kept.get("model", "saz"))
    for group, names in (("search", SEARCH_NAMES), ("selfplay", SELFPLAY_NAMES), ("learner", LEARNER_NAMES)):
        if group in kept:
            kept[group] = _renamed(kept[group], names)
    return kept


def migrated_agent(about: Any, schema: int) -> Any:
    """What an agent's file says about it, in today's form."""
    if schema >= 2 or not isinstance(about, Mapping):
        return about
    kept = dict(about)
    if isinstance(kept.get("model"), Mapping):
        kept["model"] = dict(kept["model"])
        _move_model(kept["model"], kept["model"].get("name", "saz"))
    if "search" in kept:
        kept["search"] = _renamed(kept["search"], SEARCH_NAMES)
    return kept


def migrated_match(config: Any, schema: int) -> Any:
    """The settings of a match or a tournament in today's form."""
    if schema >= 2 or not isinstance(config, Mapping):
        return config
    kept = _renamed(config, {"score": "heuristic_weight", "kind": "search", "options": "game_options"})
    for name in ("k", "komi"):
        kept.pop(name, None)
    return kept


def _move_model(config: dict[str, Any], model: Any) -> None:
    networks = {name: config.pop(name) for name in ("gin", "cnn", "fcn") if name in config}
    kind = NETWORK_OF.get(str(model), "gin")
    settings = networks.get(kind, {})
    config["network"] = {"kind": kind, **settings} if isinstance(settings, Mapping) else settings
    if "subgraphs" in config:
        config["ensemble"] = config.pop("subgraphs")


def _renamed(group: Any, names: Mapping[str, str | None]) -> Any:
    if not isinstance(group, Mapping):
        return group
    renamed = {names.get(name, name): value for name, value in group.items()}
    renamed.pop(None, None)
    return renamed
