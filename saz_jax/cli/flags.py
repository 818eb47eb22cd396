"""Settings as flags: those that every run has, and those of the game, network and model that are chosen.

Which flags there are depends on what the command line names, so it is read twice: first for the names alone.
"""

import argparse
import dataclasses
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import tyro

from saz_jax.agents.agent import as_kind
from saz_jax.config import TrainConfig
from saz_jax.config.registry import GAMES, MODELS, NETWORKS, PRIORS, SEARCHES
from saz_jax.games.registry import find_game, full_options, option_types

OPTIONS = "game_options"
REGISTERED = {
    "--model": MODELS,
    "--network": NETWORKS,
    "--search.kind": SEARCHES,
    "--ensemble.combine": PRIORS,
}


def named(argv: Sequence[str], **defaults: str | None) -> dict[str, str | None]:
    """The values of a few flags, `--preset` for `preset`, among all others on the command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", f"--{name}", dest=name, default=default, nargs="?")
    return vars(parser.parse_known_args(list(argv))[0])


def registered(argv: Sequence[str]) -> list[str]:
    """The command line with the name for each `module:name` of a model, a network, a search or a prior.

    The modules are imported, and so register what they have.
    """
    words, flag = [], ""
    for word in argv:
        name, equals, value = word.partition("=") if word.startswith("--") else (flag, "", word)
        if (registry := REGISTERED.get(name)) and ":" in value:
            word = f"{name}={registry.find(value).name}" if equals else registry.find(value).name
        words.append(word)
        flag = word
    return words


def searched_as(config: TrainConfig, argv: Sequence[str]) -> TrainConfig:
    """`config` with the settings of the search named on the command line, so that they become flags."""
    kind = named(argv, **{"search.kind": None})["search.kind"]
    if not kind or kind == config.search.kind or kind not in SEARCHES.names():
        return config  # tyro knows the choices and says so
    return dataclasses.replace(config, search=as_kind(config.search, kind))


def game_flag(game: str) -> str:
    """The value of `--game` in a printed command: the name of a built-in game, `module:make` of another."""
    entry = GAMES.find(game)
    return entry.name if entry.origin.startswith("saz_jax.") else entry.origin


def option_flags(game: str) -> type:
    """A dataclass of a game's options: each is a flag, and None where it was not given."""
    fields = []
    for option, (hint, _) in option_types(find_game(game)).items():
        inner, *notes = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
        text = f"{game}: {next((note for note in notes if isinstance(note, str)), option)}"
        annotated = Annotated[inner | None, tyro.conf.arg(help=text)]
        fields.append((option, annotated, dataclasses.field(default=None)))
    return dataclasses.make_dataclass("GameOptions", fields, frozen=True)


def check_options(game: str, argv: Sequence[str]) -> None:
    """Refuses flags that are options of other games only, in a sentence that names the game."""
    own = option_types(game)
    others = {option for name in GAMES.names() for option in option_types(name)} - set(own)
    for word in argv:
        option = word.partition("=")[0].removeprefix("--").replace("-", "_")
        if word.startswith("--") and option in others:
            full_options(game, {option: None})


def given_options(flags: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in vars(flags).items() if value is not None}


def parse_match(
    command: str, arguments: type, field: str, cls: type, argv: Sequence[str], description: str | None
) -> Any:
    """`arguments` with its `field` of the settings `cls`, a match or a tournament of the game in `argv`.

    Each option of the game is a flag, and players are named by text.
    """
    game = named(argv, game=None)["game"]
    if game:
        check_options(game, argv)
    options = (
        option_flags(find_game(game)) if game else dataclasses.make_dataclass("GameOptions", [], frozen=True)
    )
    types: dict[str, tuple[Any, Any]] = {OPTIONS: (Annotated[options, tyro.conf.arg(name="")], options())}
    for name in ("player", "opponent"):
        known = {f.name: f.default for f in dataclasses.fields(cls)}
        if name in known:
            types[name] = (str, known[name])
    settings = Annotated[_retyped(cls, types), tyro.conf.arg(name="")]
    typed = dataclasses.make_dataclass("Arguments", [(field, settings)], bases=(arguments,), frozen=True)
    parsed = tyro.cli(typed, prog=f"saz {command}", args=argv, description=description)
    values = {f.name: getattr(parsed, f.name) for f in dataclasses.fields(arguments)}
    return arguments(**{**values, field: as_plain(cls, values[field])})


def typed_training(config: TrainConfig) -> type:
    """`TrainConfig` with concrete types, those of `config`, in place of open ones; for tyro."""
    search = _retyped(type(config.search), {"kind": (Literal[tuple(SEARCHES.names())], config.search.kind)})
    types: dict[str, tuple[Any, Any]] = {
        "model": (Literal[tuple(MODELS.names())], config.model),
        "network": (type(config.network), config.network),
        "search": (search, search(**vars(config.search))),
    }
    if MODELS.find(config.model).settings is None:
        types["ensemble"] = (tyro.conf.Suppress[tyro.conf.Fixed[Any]], config.ensemble)
    else:
        types["ensemble"] = (type(config.ensemble), config.ensemble)
    options = option_flags(config.game)
    types[OPTIONS] = (Annotated[options, tyro.conf.arg(name="")], options(**config.game_options))
    return _retyped(TrainConfig, types)


def as_typed(cls: type, config: TrainConfig) -> Any:
    """`config` as the class that `typed_training` made for it."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    values = {f.name: getattr(config, f.name) for f in dataclasses.fields(TrainConfig)}
    return cls(**{**values, **{name: fields[name].default for name in ("search", OPTIONS)}})


def as_plain(cls: type, parsed: Any) -> Any:
    """An instance of a retyped class as one of the class itself."""
    values = {field.name: getattr(parsed, field.name) for field in dataclasses.fields(cls)}
    if OPTIONS in values and not isinstance(values[OPTIONS], Mapping):
        # A run has all options, and None may be the value of one; a match leaves open those not given.
        options = vars(values[OPTIONS]) if cls is TrainConfig else given_options(values[OPTIONS])
        values[OPTIONS] = dict(options)
    search: Any = values.get("search")
    if dataclasses.is_dataclass(search):
        settings = SEARCHES.find(getattr(search, "kind", "")).settings
        assert settings is not None
        values["search"] = settings(**vars(search))
    return cls(**values)


def _retyped(cls: type, types: Mapping[str, tuple[Any, Any]]) -> type:
    """A subclass of a settings dataclass with other types and defaults for some fields, same docstrings."""
    fields = []
    for name, (kind, default) in types.items():
        required = default is dataclasses.MISSING
        fields.append((name, kind) if required else (name, kind, dataclasses.field(default=default)))
    made = dataclasses.make_dataclass(cls.__name__, fields, bases=(cls,), frozen=True)
    made.__doc__ = cls.__doc__
    return made
