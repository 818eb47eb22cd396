"""The notebooks: built from their sources, stored without outputs, and running from top to bottom."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from notebooks import build

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ADDRESS = re.compile(r"github(?:\.com)?/([\w.-]+/[\w.-]+?)(?:[/@ )]|$)")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return request.param


def cells(path, kind):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def python(cell):
    """A cell without the lines that only IPython understands."""
    lines = cell.source.splitlines()
    return "\n".join("    pass" if re.match(r"\s*[!%]", line) else line for line in lines)


def test_there_are_four_notebooks_and_each_has_a_source():
    assert [path.stem for path in NOTEBOOKS] == sorted(path.stem for path in build.SOURCES.glob("*.py"))
    assert len(NOTEBOOKS) == 4


def test_a_notebook_is_what_its_source_says(notebook):
    assert notebook.read_text() == build.build(build.SOURCES / f"{notebook.stem}.py")


def test_a_notebook_is_valid_and_stored_without_outputs(notebook):
    nbformat.validate(nbformat.read(notebook, as_version=4))
    for cell in cells(notebook, "code"):
        assert cell.outputs == []
        assert cell.execution_count is None


def test_the_first_code_cell_installs_only_where_the_package_is_missing(notebook):
    first = cells(notebook, "code")[0]
    (branch,) = [node for node in ast.parse(python(first)).body if isinstance(node, ast.If)]
    assert ast.unparse(branch.test) == "importlib.util.find_spec('saz_jax') is None"
    outside, inside = first.source.split("if importlib", 1)
    assert "%pip install" in inside
    assert not re.search("^[!%]", outside, re.MULTILINE)


def test_a_wheel_beside_a_notebook_is_installed_before_the_repository(notebook, tmp_path, monkeypatch):
    """The cell as it runs on a machine without the package, but for pip itself."""
    asked, source = [], cells(notebook, "code")[0].source
    source = source.replace('importlib.util.find_spec("saz_jax") is None', "True")
    source = re.sub(r"%pip install --quiet (.*)", r"asked.append(f\1)", source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    exec(source, {"asked": asked})
    for version in ("0.1.0", "0.2.0"):
        (tmp_path / f"saz_jax-{version}-py3-none-any.whl").touch()
    exec(source, {"asked": asked})
    from_repository, from_wheel = asked
    assert from_repository.endswith(f" @ git+{build.URLS['Repository']}@{build.BRANCH}")
    assert from_wheel.endswith(f" @ {tmp_path.as_uri()}/saz_jax-0.2.0-py3-none-any.whl")


def test_the_first_cell_has_a_badge_that_opens_this_notebook(notebook):
    title = cells(notebook, "markdown")[0].source
    address = f"https://colab.research.google.com/github/{build.REPOSITORY}/blob/{build.BRANCH}"
    assert f"({address}/notebooks/{notebook.name})" in title


def test_the_address_stands_in_one_place(notebook, monkeypatch):
    assert build.URLS["Repository"] == f"https://github.com/{build.REPOSITORY}"
    assert set(ADDRESS.findall(notebook.read_text())) == {build.REPOSITORY}
    source = build.SOURCES / f"{notebook.stem}.py"
    assert build.REPOSITORY not in source.read_text()
    monkeypatch.setattr(build, "REPOSITORY", "somebody/something")
    assert set(ADDRESS.findall(build.build(source))) == {"somebody/something"}


def test_a_notebook_defines_nothing_that_a_test_cannot_import(notebook):
    for cell in cells(notebook, "code"):
        for node in ast.walk(ast.parse(python(cell))):
            assert not isinstance(node, (ast.FunctionDef, ast.ClassDef)), cell.source


def test_text_and_code_of_a_source_become_cells_in_their_order(tmp_path):
    source = tmp_path / "source.py"
    source.write_text("# %% [markdown]\n# # Title\n#\n# Text\n\n# %%\nx = 1\n\n# %%\nprint(x)\n")
    first, _, *rest = nbformat.reads(build.build(source), as_version=4).cells
    assert first.source.startswith("# Title\n\nText\n")
    assert [(cell.cell_type, cell.source) for cell in rest] == [("code", "x = 1"), ("code", "print(x)")]


@pytest.mark.slow
def test_a_notebook_runs_from_top_to_bottom(notebook, tmp_path):
    folder = tmp_path / "notebooks"  # runs are kept beside the notebook: not those of an earlier test
    shutil.copytree(ROOT / "notebooks", folder, ignore=shutil.ignore_patterns("runs", "__pycache__"))
    command = [sys.executable, "-m", "pytest", "--nbmake", "--nbmake-timeout=600", "-p", "no:cacheprovider"]
    environment = os.environ | {"SAZ_JAX_BUDGET": "smoke", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [*command, "--overwrite", "--rootdir", str(tmp_path), str(folder / notebook.name)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    outputs = [output for cell in cells(folder / notebook.name, "code") for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert kinds & {"image/png", "image/svg+xml", "text/html"}, "no picture is shown"
