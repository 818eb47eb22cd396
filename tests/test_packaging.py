"""What ends up in an installed package, and what its README promises."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import saz_jax

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory) -> set[str]:
    """Names inside a wheel that is built from a copy, with one file of weights more."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "saz_jax", source / "saz_jax", ignore=shutil.ignore_patterns("__pycache__"))
    (source / "weights" / "trial").mkdir(parents=True)
    (source / "weights" / "trial" / "config.json").write_text("{}")
    (source / "tests").mkdir()
    (source / "tests" / "test_nothing.py").write_text("")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_every_module_is_in_the_wheel(wheel_names):
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "saz_jax").rglob("*.py")}
    assert modules
    assert modules <= wheel_names


def test_the_weights_are_in_the_wheel_inside_the_package(wheel_names):
    assert "saz_jax/weights/trial/config.json" in wheel_names


def test_nothing_lands_outside_the_package(wheel_names):
    version = PROJECT["version"]
    assert {name.split("/")[0] for name in wheel_names} == {"saz_jax", f"saz_jax-{version}.dist-info"}


def test_the_version_is_the_same_everywhere():
    assert PROJECT["version"] == saz_jax.__version__
    assert f"\nversion: {saz_jax.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {saz_jax.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_dependency_is_pinned_in_the_constraints():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {normal(line.split("==")[0]) for line in lines if not line.startswith("#")}
    extras = PROJECT["optional-dependencies"]
    free = ("cuda", "tpu", "wandb")
    wanted = PROJECT["dependencies"] + [d for name in extras if name not in free for d in extras[name]]
    names = {normal(re.split(r"[\[<>=]", dependency)[0]) for dependency in wanted} - {"saz-jax"}
    assert names <= pinned


@pytest.mark.slow
def test_the_examples_of_the_readme_run_in_their_order():
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert examples
    script = "\n".join([*examples, "assert (outcomes > 0).mean() > 0.5", "assert picture.startswith('<svg')"])
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    assert "greedy wins" in run.stdout
    assert "after move 3 (C4): light" in run.stdout


def test_the_readme_names_files_that_exist():
    paths = re.findall(
        r"`((?:saz_jax|experiments|benchmarks|tests)/[\w/.]*)`", (ROOT / "README.md").read_text()
    )
    assert [path for path in paths if not (ROOT / path).exists()] == ["saz_jax/xla"]  # in the cache folder


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
