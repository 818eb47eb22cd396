"""Write a page that plays without a server: a folder for any web host, such as GitHub Pages.

saz export-web site
saz export-web site --agent gomoku --agent runs/first --sizes 9 15

It is the page of `saz web` with the players' networks, the rules and a search inside, and loads nothing from
elsewhere.  Browsers want it from a web server, any will do: python3 -m http.server --directory site
"""

import argparse
from pathlib import Path

DEFAULTS = ("gomoku", "othello", "go")
"""The shipped players of a page for which none are named."""


def main(argv: list[str]) -> None:
    """Writes the folder, unless there is something in it."""
    parser = argparse.ArgumentParser(
        prog="saz export-web", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where to write it: a new folder")
    parser.add_argument("--agent", action="append", default=[],
                        help="a player: a shipped name, an exported file or a training run; several may be "
                        f"given; default: {' '.join(DEFAULTS)}")  # fmt: skip
    parser.add_argument("--sizes", type=int, nargs="+", help="board sides; default: all up to 19")
    arguments = parser.parse_args(argv)

    from saz_jax.agents import load_agent
    from saz_jax.cli.console import plain_errors
    from saz_jax.play.page.site import write_site

    with plain_errors():
        agents = {name_of(text): load_agent(text) for text in arguments.agent or DEFAULTS}
        write_site(arguments.folder, agents, arguments.sizes)
    folder = arguments.folder
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB; try it: python3 -m http.server --directory {folder}")


def name_of(text: str) -> str:
    """What a page calls a player: a shipped name, or the last part of a path."""
    path = Path(text)
    return path.parent.name if path.stem == "agent" and path.parent.name else path.stem
