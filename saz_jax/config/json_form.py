"""Settings to JSON and back, checked on the way in, and the difference of two of them."""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from saz_jax.config.registry import MODELS, NETWORKS, SEARCHES
from saz_jax.config.settings import ModelConfig, SubgraphConfig, TrainConfig

Config = TypeVar("Config")


def to_json(config: Any) -> Any:
    """Settings as JSON holds them; those of a network also tell its name, as `kind`."""
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        data = {field.name: to_json(getattr(config, field.name)) for field in dataclasses.fields(config)}
        if isinstance(config, TrainConfig | ModelConfig):
            data["network"] = {"kind": NETWORKS.name_of(config.network), **data["network"]}
        return data
    if isinstance(config, Mapping):
        return {name: to_json(value) for name, value in config.items()}
    if isinstance(config, tuple | list):
        return [to_json(item) for item in config]
    return config


def from_json(cls: type[Config], data: Any, where: str = "") -> Config:
    """The settings `cls` from what `to_json` made of them.

    Settings that `data` does not have keep their defaults; unknown ones and values that do not fit are a
    `ValueError`.  `where` is the path of `data` in the settings it is a part of.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{where or cls.__name__} must be a group of settings, not {shown(data)}")
    types_of = typing.get_type_hints(cls)
    for name in data:
        if name not in types_of:
            known = ", ".join(types_of)
            raise ValueError(f"{where or cls.__name__} has no setting {shown(name)}; it has {known}")
    prefix = where and f"{where}."
    fitted = {}
    for name, value in data.items():
        if types_of[name] is Any:
            fitted[name] = _registered(cls, data, name, prefix + name)
        else:
            fitted[name] = fitting(types_of[name], value, prefix + name)
    return cls(**fitted)


def _registered(cls: type, data: Mapping[str, Any], field: str, where: str) -> Any:
    """The settings in `data[field]`, whose class comes from its registry."""
    value = data[field]
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} must be a group of settings, not {shown(value)}")
    if field == "ensemble":
        model = data.get("model" if cls is TrainConfig else "name", "saz")
        return from_json(MODELS.find(model).settings or SubgraphConfig, value, where)
    if field == "search":
        return from_json(_settings(SEARCHES.find(value.get("kind", "puct"))), value, where)
    settings = {name: item for name, item in value.items() if name != "kind"}
    return from_json(_settings(NETWORKS.find(value.get("kind", "gin"))), settings, where)


def _settings(entry: Any) -> type:
    if entry.settings is None:
        raise ValueError(f"{entry.name} was registered without a class for its settings; register one")
    return entry.settings


def fitting(wanted: Any, value: Any, where: str) -> Any:
    """`value` as the type `wanted`, allowing for JSON: lists for tuples, whole numbers for floats."""
    origin, inside = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is typing.Annotated:
        return fitting(inside[0], value, where)
    if wanted is Any:
        return value
    if dataclasses.is_dataclass(wanted):
        return from_json(typing.cast(type, wanted), value, where)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in inside:
            return None
        return fitting(next(kind for kind in inside if kind is not type(None)), value, where)
    if origin is not None and _is_mapping(origin) and isinstance(value, Mapping):
        return {str(name): item for name, item in value.items()}
    if origin is tuple and isinstance(value, (list, tuple)):
        kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
        if len(kinds) == len(value):
            items = enumerate(zip(kinds, value, strict=True))
            return tuple(fitting(kind, item, f"{where}[{index}]") for index, (kind, item) in items)
    if origin is Literal and any(type(value) is type(choice) and value == choice for choice in inside):
        return value
    if wanted is float and type(value) in (int, float):
        return _finite(value, where)
    if type(value) is wanted:
        return value
    if origin is Literal:
        raise ValueError(f"{where} must be one of {', '.join(map(str, inside))}, not {shown(value)}")
    raise ValueError(f"{where} must be {wanted if origin else wanted.__name__}, not {shown(value)}")


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _finite(value: Any, where: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{where} must be a finite number, not {shown(value)}")
    return number


def shown(value: Any) -> str:
    """A value as an error shows it: whole, unless it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no whole number of more than 4300 digits
        return f"a value of {type(value).__name__} too long to print"
    return text if len(text) <= 80 else f"{text[:77]}..."


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A line for every setting that differs between two settings in JSON."""
    before, after = _flat(old), _flat(new)
    names = [*before, *(name for name in after if name not in before)]
    return [
        f"{name}: {before.get(name, 'absent')} in the run, {after.get(name, 'absent')} asked for"
        for name in names
        if name not in before or name not in after or before[name] != after[name]
    ]


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{dotted path: value}, tuples as the lists that JSON makes of them."""
    flat: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = list(value) if isinstance(value, tuple) else value
    return flat
