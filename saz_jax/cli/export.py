"""Write an agent to one small file: the newest of a training run, another file, or a shipped one.

saz export runs/gomoku gomoku.npz
saz export othello othello.safetensors
"""

import argparse
from pathlib import Path


def main(argv: list[str]) -> None:
    """Writes the file, unless there is one already."""
    parser = argparse.ArgumentParser(
        prog="saz export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("agent", help="the workdir of a training run, an exported file or a shipped name")
    parser.add_argument("file", type=Path, help="where to write it: .npz, or .safetensors for other programs")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    arguments = parser.parse_args(argv)

    from saz_jax.agents import load_agent
    from saz_jax.cli.console import plain_errors

    with plain_errors():
        if arguments.file.exists() and not arguments.overwrite:
            raise ValueError(f"{arguments.file} is there already; name another file, or add --overwrite")
        agent = load_agent(arguments.agent)
        agent.export(arguments.file)
    print(
        f"{agent.game_name}, {agent.model.name}: {arguments.file}, {arguments.file.stat().st_size // 1024} KB"
    )
