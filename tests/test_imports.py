"""Dependencies point one way; third parties are wrapped in one file each."""

import ast
import functools
import graphlib
import pathlib
import subprocess
import sys

import pytest

import saz_jax

PACKAGE = pathlib.Path(__file__).parent.parent / "saz_jax"
LAYERS = [
    ("types",),
    ("coordinates",),
    ("config",),
    ("storage",),
    ("games",),
    ("render",),
    ("graphs",),
    ("networks",),
    ("models",),
    ("search",),
    ("agents",),
    ("arena",),
    ("play",),
    ("training",),
    ("studies",),
    ("cli",),
]
"""From the ground up: a module may import those of its own folder and of the folders before it."""
OPTIONAL = (
    "tyro",
    "rich",
    "platformdirs",
    "matplotlib",
    "sgfmill",
    "safetensors",
    "choix",
    "pgx",
    "wandb",
    "tensorboardX",
    "IPython",
    "starlette",
    "uvicorn",
    "websockets",
)


def modules():
    return {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@functools.cache
def imports(path, top_level=False):
    """Full names that a file imports; with `top_level`, only those that run when it is imported."""
    tree = ast.parse(path.read_text())
    names = set()
    for node in tree.body if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: import by the full name"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def imports_package(path, package):
    return any(name == package or name.startswith(f"{package}.") for name in imports(path))


def part(name):
    """The second word of `saz_jax.games.board`; None outside the package."""
    words = name.split(".")
    return words[1] if words[0] == "saz_jax" and len(words) > 1 else None


def importers(package):
    return {name for name, path in modules().items() if imports_package(path, package)}


@pytest.mark.parametrize("height", range(len(LAYERS)), ids=lambda height: "-".join(LAYERS[height]))
def test_no_layer_imports_one_above_it(height):
    above = {name for layer in LAYERS[height + 1 :] for name in layer}
    own = [(name, path) for name, path in modules().items() if part(name) in LAYERS[height]]
    assert own
    for name, path in own:
        wrong = {other for other in imports(path) if part(other) in above}
        assert not wrong, f"{name} imports {sorted(wrong)}"


def test_every_module_belongs_to_a_layer():
    assert {part(name) for name in modules()} - {None} == {name for layer in LAYERS for name in layer}


def test_imports_form_no_circle():
    known = modules()
    del known["saz_jax"]  # anybody may ask it for __version__
    edges = {name: within(imports(path), known) - {name} for name, path in known.items()}
    assert list(graphlib.TopologicalSorter(edges).static_order())  # raises CycleError


def within(names, known):
    """The modules of the package that `names` stand for: `a.b.c` is module a.b.c or a name in module a.b."""
    return {name if name in known else name.rpartition(".")[0] for name in names} & set(known)


def test_the_package_knows_nothing_of_what_is_built_on_it():
    for outside in ("experiments", "benchmarks", "tests", "notebooks", "oracles"):
        assert not importers(outside)


def test_only_search_imports_mctx():
    found = importers("mctx")
    assert found
    assert {part(name) for name in found} == {"search"}


def test_only_checkpoint_imports_orbax():
    assert importers("orbax") == {"saz_jax.storage.checkpoint"}


def test_settings_and_reports_need_no_jax():
    for name in ("saz_jax.config.settings", "saz_jax.render.figures"):
        if name in modules():
            for package in ("jax", "flax", "optax", "jraph"):
                assert name not in importers(package)


def test_nothing_that_importing_the_package_reaches_needs_an_extra():
    known, reached = modules(), set()
    waiting = ["saz_jax", *saz_jax._HOMES]  # all that its names lead to
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        for other in imports(known[name], top_level=True):
            assert other.split(".")[0] not in OPTIONAL, f"{name} imports {other}"
        waiting += within(imports(known[name], top_level=True), known)
    assert "saz_jax.games.othello" in reached


def test_importing_the_settings_does_not_start_jax_devices():
    script = "import saz_jax, jax; assert not jax._src.xla_bridge._backends, 'a device was touched'"
    subprocess.run([sys.executable, "-c", script], check=True)
