"""Registries: what a name in the settings stands for, ours or somebody else's.

A registry maps a name to the function that makes the thing and, where it has settings of its own, to their
class.  There are three ways to register something without changing a script: a name of the form `module:name`
imports that module first; the environment variable SAZ_JAX_PLUGINS names modules to import, separated by
commas; and an installed package has an entry point of the group `saz_jax.plugins`, a module or a function to
call.
"""

import dataclasses
import functools
import importlib
import importlib.metadata
import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLUGINS = "saz_jax.plugins"
"""The entry-point group of packages that register something."""
OWN = ("saz_jax.games", "saz_jax.graphs", "saz_jax.networks", "saz_jax.models", "saz_jax.search")
"""What registers something itself."""
VARIABLE = "SAZ_JAX_PLUGINS"
"""Environment variable: modules that register something, separated by commas."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


@dataclasses.dataclass(frozen=True)
class Entry:
    """What is known about one name."""

    name: str
    make: Callable[..., Any]
    settings: type | None
    """A frozen dataclass, or None where there is nothing to set."""
    origin: str
    """Where `make` lives, as `module:function`."""
    network: str = ""
    """models: the network that a model has unless the settings name another."""


class Registry:
    """The names of one kind of thing, in the order of their registration."""

    def __init__(self, what: str, how: str):
        self.what, self.how = what, how
        self._entries: dict[str, Entry] = {}

    def add(
        self, name: str, make: Callable[..., Any], settings: type | None = None, network: str = ""
    ) -> None:
        """Makes `name` known; the same maker may be registered again, another one is refused."""
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no name for a {self.what}; use up to 64 letters, digits, '_', '.' and '-', "
                "a letter first"
            )
        if not callable(make):
            raise ValueError(f"the maker of {self.what} {name!r} is {make!r}; give a function")
        if settings is not None and not is_settings(settings):
            raise ValueError(
                f"the settings of {self.what} {name!r} are {settings!r}; "
                "give a class with @dataclasses.dataclass(frozen=True)"
            )
        entry = Entry(name, make, settings, origin_of(make), network)
        known = self._entries.get(name)
        if known is not None and known.origin != entry.origin:
            raise ValueError(
                f"{self.what} {name!r} is registered already, by {known.origin}; choose another name"
            )
        self._entries[name] = entry

    def find(self, name: str) -> Entry:
        """The entry of `name`; `ValueError` says what there is and how to add to it."""
        if isinstance(name, str) and ":" in name:
            module, _, name = name.partition(":")
            import_plugin(module)
        if name not in self._entries:
            load_plugins()
        try:
            return self._entries[name]
        except (KeyError, TypeError):
            raise ValueError(f"unknown {self.what} {name!r}; {self.remedy()}") from None

    def remedy(self) -> str:
        """What to do about an unknown name."""
        return f"choose one of {', '.join(self.names())}, or register yours with {self.how}"

    def names(self) -> list[str]:
        """All that can be chosen."""
        load_plugins()
        return sorted(self._entries)

    def name_of(self, settings: Any) -> str:
        """The name whose settings are of this class."""
        load_plugins()
        for entry in self._entries.values():
            if entry.settings is type(settings):
                return entry.name
        raise ValueError(
            f"{type(settings).__name__} holds settings of no registered {self.what}; "
            f"register it with {self.how}"
        )


GAMES = Registry("game", "saz_jax.register_game(name, make)")
NETWORKS = Registry("network", "saz_jax.register_network(name, make, settings)")
MODELS = Registry("model", "saz_jax.register_model(name, make, network, settings)")
SEARCHES = Registry("search", "saz_jax.register_search(name, make, settings)")
PRIORS = Registry("prior", "saz_jax.register_prior(name, combine)")


def is_settings(kind: Any) -> bool:
    """Whether `kind` is a frozen dataclass: equal settings then share one compilation."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return isinstance(kind, type) and parameters is not None and parameters.frozen


def origin_of(make: Callable[..., Any]) -> str:
    """`module:function` of a maker; a script is named by its file, as another script would import it."""
    while isinstance(make, functools.partial):
        make = make.func
    make = inspect.unwrap(make)
    module = getattr(make, "__module__", None) or type(make).__module__
    if module == "__main__":
        module = Path(getattr(sys.modules["__main__"], "__file__", None) or "__main__").stem
    return f"{module}:{getattr(make, '__qualname__', type(make).__qualname__)}"


def import_plugin(module: str) -> Any:
    """Imports a module that the user names, also one that lies in the current folder."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ValueError(
            f"cannot import {module!r} ({error}); name a module that is installed or lies in {os.getcwd()}"
        ) from error
    except (TypeError, ValueError) as error:  # a relative or an empty name, or what the module raised
        raise ValueError(f"cannot import {module!r}: {error}") from error


@functools.cache
def load_plugins() -> None:
    """Imports our modules and those that the environment names, and loads the entry points of packages."""
    for module in OWN:
        importlib.import_module(module)
    for module in filter(None, map(str.strip, os.environ.get(VARIABLE, "").split(","))):
        import_plugin(module)
    for point in importlib.metadata.entry_points(group=PLUGINS):
        try:
            plugin = point.load()
        except Exception as error:  # a plugin's code: name the plugin
            raise ValueError(
                f"the plug-in {point.name} ({point.value}) cannot be loaded: {error}; "
                f"repair it, or uninstall {point.dist.name if point.dist else 'its package'}"
            ) from error
        if inspect.isroutine(plugin):
            plugin()
