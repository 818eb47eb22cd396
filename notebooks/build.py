"""Writes every notebook from its plain-Python source, without outputs: `python notebooks/build.py`.

A source is in jupytext's percent format and begins with a cell of text, its title.  The badge and the install
cell are filled in with the address of the repository, which stands in pyproject.toml and nowhere else.
"""

import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import jupytext
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

FOLDER = Path(__file__).parent
SOURCES = FOLDER / "sources"
URLS = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text())["project"]["urls"]
REPOSITORY = urlsplit(URLS["Repository"]).path.strip("/")
"""OWNER/NAME on GitHub."""
BRANCH = "main"
BADGE = (
    "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/github/{repository}/blob/{branch}/notebooks/{name}.ipynb)"
)
INSTALL = """\
# Installs the package where it is missing: from a wheel beside this notebook, else from the repository.
import importlib.util
import shutil
import sys
from pathlib import Path

if importlib.util.find_spec("saz_jax") is None:
    extras = "cli,plots,cuda" if shutil.which("nvidia-smi") else "cli,plots"
    wheels = [path.resolve().as_uri() for path in sorted(Path().glob("saz_jax-*.whl"))]
    source = wheels[-1] if wheels else "git+https://github.com/{repository}@{branch}"
    %pip install --quiet "saz_jax[{{extras}}] @ {{source}}"
# The modules that the notebooks share come with the package; those beside this notebook are preferred.
sys.path.append(f"{{importlib.util.find_spec('saz_jax').submodule_search_locations[0]}}/notebooks")
"""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def build(source: Path) -> str:
    """The notebook of a source, as JSON."""
    address = {"repository": REPOSITORY, "branch": BRANCH, "name": source.stem}
    title, *rest = jupytext.read(source, fmt="py:percent").cells
    first = new_markdown_cell(f"{title.source}\n\n{BADGE.format(**address)}")
    cells = [first, new_code_cell(INSTALL.format(**address).rstrip()), *rest]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:02d}"  # the same at every build
    return nbformat.writes(new_notebook(cells=cells, metadata=METADATA)) + "\n"


def main() -> None:
    """Writes all notebooks."""
    for source in sorted(SOURCES.glob("*.py")):
        path = FOLDER / f"{source.stem}.ipynb"
        path.write_text(build(source))
        print(path.name)


if __name__ == "__main__":
    main()
