"""Settings of the site; `make docs` builds it. Everything under `_generated` is made when a build begins."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import generate  # noqa: E402
from plain_docstrings import record_signature, to_rst  # noqa: E402

import saz_jax  # noqa: E402
from saz_jax.config.versions import SCHEMA  # noqa: E402
from saz_jax.play.session import SCHEMA as SESSION_SCHEMA  # noqa: E402
from saz_jax.storage.checkpoint import SCHEMA as CHECKPOINT_SCHEMA  # noqa: E402
from saz_jax.storage.export import FORMAT  # noqa: E402

project = "saz_jax"
author = "The saz_jax authors"
copyright = f"2026, {author}"
version = release = saz_jax.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
root_doc = "index"
# Blocks without a language are commands. Quotes, dots and dashes stay as typed: many are meant to be copied.
highlight_language = "text"
smartquotes = False

myst_enable_extensions = ["substitution", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3
myst_substitutions = {
    "version": version,
    "schema": SCHEMA,
    "agent_format": FORMAT,
    "checkpoint_schema": CHECKPOINT_SCHEMA,
    "session_schema": SESSION_SCHEMA,
    "repository": tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["urls"][
        "Repository"
    ],
}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 90
add_module_names = False

html_theme = "furo"
html_title = f"saz_jax {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {"source_repository": myst_substitutions["repository"], "source_directory": "docs/"}


def setup(app):
    """Writes the generated pages, and lets docstrings be plain text with backticks."""
    generate.write_all(HERE / "_generated")
    app.connect("autodoc-process-docstring", lambda app, what, name, obj, options, lines: to_rst(lines))
    app.connect("autodoc-process-signature", show_record)


def show_record(app, what, name, obj, options, signature, returns):
    """A record's fields are listed with their types below its signature, which needs only their names."""
    shown = record_signature(what, obj)
    return shown and (shown, None)
