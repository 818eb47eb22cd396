"""Runs the Python examples of pages, each page in a namespace and a folder of its own.

`python -m tests.page_runner README.md docs/how-to/embed.md`

Prints one line of JSON per page: its name, and the error of the first example that fails, or null.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

from tests.pages import examples


def problem(page: Path) -> str | None:
    """Why the examples of a page do not run, one after another."""
    namespace: dict[str, object] = {"__name__": "page"}
    for line, source in examples(page):
        # Empty lines in front, so that an error tells the line of the page.
        code = compile("\n" * line + source, str(page), "exec")
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, namespace)
        except Exception:
            return traceback.format_exc()
    return None


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            print(json.dumps([os.fspath(page), problem(page)]), flush=True)
