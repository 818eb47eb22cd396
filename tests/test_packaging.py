"""What ends up in an installed package."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import saz_jax

ROOT = Path(__file__).parent.parent
TEXT = (".py", ".md", ".toml", ".yml", ".cff", ".txt", ".html")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


COPIED = ("saz_jax", "notebooks", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")


def built(source: Path, target: str) -> Path:
    """What hatchling makes of a folder."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", f"dist-{target}"]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    (made,) = (source / f"dist-{target}").iterdir()
    return made


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A copy of what a wheel is made of, with weights of another name and a file of tests."""
    source = tmp_path_factory.mktemp("source")
    for name in COPIED:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, source)
        else:
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "runs"))
    shutil.copytree(ROOT / "weights" / "othello", source / "weights" / "trial")
    shutil.copytree(ROOT / "weights" / "othello", source / "weights" / "in_training" / "othello")
    shutil.copy(ROOT / "weights" / "README.md", source / "weights")
    shutil.copy(ROOT / "weights" / "SHA256SUMS", source / "weights")
    (source / "tests").mkdir()
    (source / "tests" / "test_nothing.py").write_text("")
    return source


@pytest.fixture(scope="module")
def wheel(source) -> Path:
    return built(source, "wheel")


@pytest.fixture(scope="module")
def wheel_names(wheel) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_every_module_is_in_the_wheel(wheel_names):
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "saz_jax").rglob("*.py")}
    assert modules
    assert modules <= wheel_names
    assert "saz_jax/py.typed" in wheel_names


def test_of_the_weights_a_wheel_holds_agent_and_settings_alone(wheel_names):
    weights = {name for name in wheel_names if name.startswith("saz_jax/weights/")}
    assert weights == {"saz_jax/weights/trial/agent.npz", "saz_jax/weights/trial/config.json"}


def test_what_the_notebooks_share_is_in_the_wheel(wheel_names):
    beside = {path.name for path in (ROOT / "notebooks").glob("*.py")} - {"build.py"}
    assert {name for name in wheel_names if "/notebooks/" in name} == {
        f"saz_jax/notebooks/{name}" for name in beside
    }


@pytest.mark.parametrize("folder", ["web", "page"])
def test_the_page_and_its_engine_are_in_the_wheel(folder, wheel_names):
    page = {str(path.relative_to(ROOT)) for path in (ROOT / "saz_jax/play" / folder / "static").iterdir()}
    assert page
    assert page <= wheel_names


def test_nothing_lands_outside_the_package(wheel_names):
    version = saz_jax.__version__
    assert {name.split("/")[0] for name in wheel_names} == {"saz_jax", f"saz_jax-{version}.dist-info"}


def test_a_source_distribution_makes_the_same_wheel(source, wheel, tmp_path):
    with tarfile.open(built(source, "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert not (unpacked / "tests").exists()
    assert built(unpacked, "wheel").read_bytes() == wheel.read_bytes()


def test_the_version_is_the_same_everywhere(wheel):
    assert PROJECT["dynamic"] == ["version"]
    assert wheel.name.startswith(f"saz_jax-{saz_jax.__version__}-")
    assert f"\nversion: {saz_jax.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {saz_jax.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_address_of_the_repository_stands_in_one_place():
    """But for the notebooks, which `notebooks/build.py` writes."""
    owner = urlsplit(PROJECT["urls"]["Repository"]).path.split("/")[1]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in tracked.stdout.splitlines()]
    text = [path for path in files if path.suffix in TEXT and path.exists()]
    assert [path.name for path in text if owner in path.read_text()] == ["pyproject.toml"]


def test_every_dependency_is_pinned_in_the_constraints():
    assert set(lower_bounds()) <= set(pinned("constraints.txt"))


def test_the_oldest_versions_are_the_lower_bounds():
    oldest = pinned("constraints-oldest.txt")
    for name, bound in lower_bounds().items():
        assert f"{oldest[name]}.".startswith(f"{bound}."), name


def lower_bounds() -> dict[str, str]:
    """{dependency: the oldest version allowed}, accelerators and the client of a hosted service left out."""
    extras = PROJECT["optional-dependencies"]
    free = ("cuda", "tpu", "wandb")
    wanted = PROJECT["dependencies"] + [d for name in extras if name not in free for d in extras[name]]
    bounded = [re.split(r"(?:\[\w+\])?>=", d) for d in wanted if not d.startswith("saz_jax[")]
    return {normal(name): bound for name, bound in bounded}


def pinned(constraints: str) -> dict[str, str]:
    """{dependency: its version} in a file of constraints."""
    lines = (ROOT / constraints).read_text().splitlines()
    pins = [line.partition(" ")[0].split("==") for line in lines if not line.startswith("#")]
    return {normal(name): version for name, version in pins}


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
