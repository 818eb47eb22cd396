"""Writes every notebook from its plain-Python source, without outputs: `python notebooks/build.py`.

A source is in jupytext's percent format and begins with a cell of text, its title.  The address of the
repository is here and nowhere else; the badge and the install cell are filled in from it.
"""

from pathlib import Path

import jupytext
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

REPOSITORY = "account_to_be_named/saz_jax"
"""OWNER/NAME on GitHub.  Account names have no underscore there, so nobody can take this one meanwhile."""
BRANCH = "main"
FOLDER = Path(__file__).parent
SOURCES = FOLDER / "sources"
BADGE = (
    "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/github/{repository}/blob/{branch}/notebooks/{name}.ipynb)"
)
INSTALL = """\
# Installs the package, and fetches the modules beside this notebook; does nothing where it is installed.
import importlib.util
import shutil

if importlib.util.find_spec("saz_jax") is None:
    extras = "cli,plots,cuda" if shutil.which("nvidia-smi") else "cli,plots"
    !git clone --quiet --depth 1 --branch {branch} https://github.com/{repository} saz_jax_source
    %pip install --quiet "./saz_jax_source[{{extras}}]"
    %cd -q saz_jax_source/notebooks
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
