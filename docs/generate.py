"""The pages of the site that come from the code: public names, settings, command lines, results, cards.

`write_all(folder)` writes them; the build calls it, and so does a test.
"""

import contextlib
import dataclasses
import importlib
import inspect
import io
import os
import re
import shutil
import sys
import tomllib
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import saz_jax
from saz_jax.cli import main as command_line
from saz_jax.config import CNNConfig, FCNConfig, TrainConfig, to_json
from saz_jax.config.registry import GAMES
from saz_jax.games.registry import look_at, option_types
from saz_jax.training.presets import PresetName, preset

ROOT = Path(__file__).parent.parent
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]
PRESETS = typing.get_args(PresetName)[::-1]
COPIED = {
    "results/README.md": "results/shipped_players.md",
    "results/experiments.md": "results/recipe.md",
    "results/small/README.md": "results/paper_experiments.md",
    "results/equal_compute/equal_compute.md": "results/equal_compute.md",
    "results/play.md": "results/play.md",
    "results/shapes/README.md": "results/shapes.md",
    "results/shapes/table.md": "results/shapes_table.md",
    "weights/README.md": "players/index.md",
}
"""Pages of the repository that the site shows, and where; links between them are kept."""


def write_all(folder: Path) -> None:
    """All generated pages, in place of those of an earlier build."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = {**names(), **copies(), "settings.md": settings(), "command_line.md": command_lines()}
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# Public names.


def public_modules(module: ModuleType = saz_jax) -> dict[str, ModuleType]:
    """All modules that the names in `__all__` lead to, by name."""
    found = {module.__name__: module}
    for name in module.__all__:
        if isinstance(value := getattr(module, name), ModuleType):
            found |= public_modules(value)
    return found


def names() -> dict[str, str]:
    """A page for every public module, and a list of them."""
    modules = public_modules()
    homes = _homes_of(modules)
    pages = {f"api/{name}.md": _module_page(name, module, homes) for name, module in modules.items()}
    listed = "\n".join(sorted(modules))
    pages["api/index.md"] = (
        "# Public names\n\n"
        "Everything that `__all__` leads to, with shapes. What is not here may change without notice.\n\n"
        f"{_legend()}\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    return pages


def _legend() -> str:
    """The letters of shapes, from the module that defines all records."""
    text = inspect.getdoc(importlib.import_module("saz_jax.types")) or ""
    _, _, rest = text.partition("Shape letters, the same everywhere:\n")
    letters, _, rest = rest.partition("\n\n")
    return f"Letters of shapes, the same everywhere:\n\n```text\n{letters}\n```\n\n{rest}\n"


def _homes_of(modules: Mapping[str, ModuleType]) -> dict[int, str]:
    """{id of a public object: the module whose page tells about it}: the shortest name below saz_jax."""
    homes: dict[int, str] = {}
    for name in sorted(modules, key=lambda name: (name == "saz_jax", name.count("."), name)):
        for public in modules[name].__all__:
            homes.setdefault(id(getattr(modules[name], public)), name)
    return homes


def _module_page(name: str, module: ModuleType, homes: Mapping[int, str]) -> str:
    parts = [f"# {name}\n", *_docstring(module)]
    inner = [public for public in module.__all__ if isinstance(getattr(module, public), ModuleType)]
    if inner:
        links = ", ".join(f"[{public}]({getattr(module, public).__name__}.md)" for public in inner)
        parts.append(f"Modules: {links}.\n")
    own = [public for public in module.__all__ if public not in (*inner, "__version__")]
    elsewhere = [public for public in own if homes[id(getattr(module, public))] != name]
    if elsewhere:
        links = [
            f"{{py:obj}}`{public} <{homes[id(getattr(module, public))]}.{public}>`" for public in elsewhere
        ]
        parts.append(f"Also here: {', '.join(links)}.\n")
    for public in own:
        value = getattr(module, public)
        if public in elsewhere:
            continue
        full = f"{name}.{public}"
        if inspect.isclass(value):
            kind, options = "autoclass", ":members:\n   :undoc-members:"
        elif inspect.isroutine(value):
            kind, options = "autofunction", ""
        else:
            parts.append(_alias(full, public, value))
            continue
        body = f".. {kind}:: {full}" + (f"\n   {options}" if options else "")
        parts.append(f"```{{eval-rst}}\n{body}\n```\n")
    return "\n".join(parts)


def _docstring(module: ModuleType) -> list[str]:
    """The text of a module; blocks that are indented are code."""
    text = inspect.getdoc(module) or ""
    blocks = re.split(r"\n\s*\n", text)
    shown = []
    for block in blocks:
        lines = block.splitlines()
        code = all(line.startswith("    ") for line in lines)
        shown.append(f"```text\n{block}\n```\n" if code else f"{block}\n")
    return shown


def _alias(full: str, public: str, value: Any) -> str:
    """A constant or the name of a type, with the text below its definition."""
    for module in _homes(full):
        source = inspect.getsource(module)
        found = re.search(rf'^{public}\b[^\n]*=.*?\n"""(.*?)"""', source, re.MULTILINE | re.DOTALL)
        if found:
            definition = re.search(rf"^{public}\b[^\n]*= (.*)", source, re.MULTILINE)
            shown = definition.group(1) if definition else repr(value)
            indented = "\n".join(f"   {line}" for line in found.group(1).split("\n"))
            return f"````{{py:data}} {full}\n:value: {shown}\n\n{inspect.cleandoc(indented)}\n````\n"
    return f"````{{py:data}} {full}\n````\n"


def _homes(full: str) -> Iterator[ModuleType]:
    """Modules that may define a public name: its own folder's, then those of the records."""
    folder = full.rpartition(".")[0]
    for name, module in sorted(sys.modules.items()):
        if name.startswith(folder) and hasattr(module, "__file__") and module.__file__:
            yield module
    yield importlib.import_module("saz_jax.types")


# Settings.


def settings() -> str:
    """Every setting with its meaning and its value in each preset."""
    parts = [
        "# Settings\n",
        "Every setting of a training run is a flag: `--search.simulations 64`. In Python they are the fields "
        "of {py:class}`saz_jax.config.TrainConfig`. The columns show the presets for Othello and the model "
        "`saz`, or the model that has the network in question. What other games change is listed at the end. "
        "This page is made from the code.\n",
    ]
    configs = {name: preset(name, "othello", "saz") for name in PRESETS}
    parts += ["## The run\n", _settings_table("", TrainConfig, configs, groups=False)]
    for group, title in (
        ("network", "The graph network, gin"),
        ("ensemble", "The ensemble over subgraphs"),
        ("search", "Search"),
        ("selfplay", "Self-play"),
        ("learner", "Learning"),
        ("evaluation", "Evaluation during training"),
    ):
        inner = {name: getattr(config, group) for name, config in configs.items()}
        cls = type(next(iter(inner.values())))
        parts += [f"## {title}\n", _settings_table(f"{group}.", cls, inner)]
    for cls, model, title in (
        (CNNConfig, "model1", "The convolutional network, cnn"),
        (FCNConfig, "fcn", "The fully-convolutional network, fcn"),
    ):
        inner = {name: preset(name, "othello", model).network for name in PRESETS}
        parts += [f"## {title}\n", _settings_table("network.", cls, inner)]
    parts += ["## What each game changes\n", _recipes(), "## Options of the games\n", _options()]
    return "\n".join(parts)


def _settings_table(prefix: str, cls: type, configs: Mapping[str, Any], groups: bool = True) -> str:
    texts = field_texts(cls)
    rows = []
    for field in dataclasses.fields(cls):
        values = [to_json(getattr(config, field.name)) for config in configs.values()]
        if not groups and any(isinstance(value, dict) and value for value in values):
            continue
        shown = [f"`{_flag_value(value)}`" for value in values]
        text = " ".join(texts.get(field.name, "").split()).replace("|", "\\|")
        rows.append(f"| `{prefix}{field.name}` | {text} | {' | '.join(shown)} |")
    header = f"| setting | meaning | {' | '.join(configs)} |\n|---|---|{'---|' * len(configs)}"
    return "\n".join([header, *rows, ""])


def _flag_value(value: Any) -> str:
    if value in ("", [], {}, ()):
        return "none"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def field_texts(cls: type) -> dict[str, str]:
    """The docstring under each field of a settings class."""
    source = inspect.getsource(cls)
    found = re.findall(r'^    (\w+): [^\n]*\n    """(.*?)"""', source, re.MULTILINE | re.DOTALL)
    return dict(found)


def _recipes() -> str:
    rows = []
    for game in GAMES.names():
        for name, changes in look_at(game).recipes.items():
            listed = ", ".join(f"`{path} = {_flag_value(to_json(x))}`" for path, x in changes.items())
            rows.append(f"| {game} | {name} | {listed} |")
    return "\n".join(["| game | preset | settings |", "|---|---|---|", *rows, ""])


def _options() -> str:
    rows = []
    for game in GAMES.names():
        for option, (hint, default) in option_types(game).items():
            notes = [note for note in typing.get_args(hint) if isinstance(note, str)]
            rows.append(f"| {game} | `{option}` | {notes[0] if notes else ''} | `{default}` |")
    return "\n".join(["| game | option | meaning | default |", "|---|---|---|---|", *rows, ""])


# Command lines.


def command_lines() -> str:
    """What `saz --help` and the help of each command print."""
    parts = [
        "# Command line\n",
        "`pip install 'saz_jax[cli]'` brings the command `saz`. This page is what `--help` prints.\n",
        f"```text\n{_help([])}\n```\n",
    ]
    for name in command_line.COMMANDS:
        parts.append(f"## saz {name}\n\n```text\n{_help([name])}\n```\n")
    parts += [
        "## Scripts\n",
        "A clone also has scripts; each one explains itself with `--help`.\n",
        _scripts(),
    ]
    return "\n".join(parts)


def _help(words: list[str]) -> str:
    """The help of a command, without colours and at a width that a page can show."""
    out = io.StringIO()
    kept = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR", "TERM")}
    os.environ |= {"COLUMNS": "90", "NO_COLOR": "1", "TERM": "dumb"}
    try:
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            command_line.main([*words, "--help"])
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    return "\n".join(line.rstrip() for line in plain.splitlines()).strip()


def _scripts() -> str:
    rows = []
    for path in sorted([*ROOT.glob("experiments/*.py"), *ROOT.glob("benchmarks/*.py")]):
        first = path.read_text().removeprefix('"""').split('"""')[0].strip().splitlines()[0]
        rows.append(f"| `python {path.relative_to(ROOT).as_posix()}` | {first.replace('|', '')} |")
    return "\n".join(["| script | what it does |", "|---|---|", *rows, ""])


# Pages of the repository.


def copies() -> dict[str, str]:
    """Pages of results and of weights, with links that work on the site."""
    shown = {ROOT / source: target for source, target in COPIED.items()}
    for path in sorted(ROOT.glob("results/*/README.md")):
        shown.setdefault(path, f"results/{path.parent.name}.md")
    for path in sorted(ROOT.glob("weights/*/README.md")):
        shown[path] = f"players/{path.parent.name}.md"
    players = "\n".join(
        target.removeprefix("players/")
        for path, target in shown.items()
        if path.parent.parent.name == "weights"
    )
    pages = {target: _relinked(path, target, shown) for path, target in shown.items() if path.exists()}
    pages["players/index.md"] += f"\n```{{toctree}}\n:hidden:\n\n{players}\n```\n"
    return pages


def _relinked(path: Path, target: str, shown: Mapping[Path, str]) -> str:
    def link(match: re.Match[str]) -> str:
        before, address, anchor = match.groups()
        if re.match(r"[a-z]+:", address) or not address:
            return match.group(0)
        goal = (path.parent / address).resolve()
        if goal in shown:
            address = os.path.relpath(shown[goal], Path(target).parent)
        elif goal.suffix == ".png":
            address = os.path.relpath(goal, ROOT / "docs" / "_generated" / Path(target).parent)
        else:
            address = f"{REPOSITORY}/blob/main/{goal.relative_to(ROOT).as_posix()}"
        return f"{before}({address}{anchor or ''})"

    text = re.sub(r"(\])\(([^)#\s]*)(#[^)\s]*)?\)", link, path.read_text())
    if text.startswith("## "):
        return text.removeprefix("#")
    return text if text.startswith("# ") else f"# {text}"
