"""The command `saz` and its subcommands.  Nothing here imports jax, so that help comes at once."""

import argparse
import importlib
import sys
from collections.abc import Sequence

COMMANDS = {
    "train": ("saz_jax.cli.train", "train a player by self-play"),
    "evaluate": ("saz_jax.cli.evaluate", "let a player meet an opponent on boards of any size"),
    "round-robin": ("saz_jax.cli.round_robin", "let every player meet every other, and rate them"),
    "ladder": ("saz_jax.cli.ladder", "rate all shipped players, simple ones and other programs"),
    "play": ("saz_jax.cli.play", "play in the terminal, against a player or between two"),
    "web": ("saz_jax.cli.web", "play in the browser, on boards of any size and shape"),
    "gtp": ("saz_jax.cli.gtp", "be an engine for GoGui, Sabaki and other GTP controllers"),
    "gomocup": ("saz_jax.cli.gomocup", "be a brain for Gomocup (Piskvork) managers"),
    "nboard": ("saz_jax.cli.nboard", "be an engine for NBoard"),
    "agents": ("saz_jax.cli.agents", "list the players that come with the package"),
    "export-web": ("saz_jax.cli.export_web", "write a page with players that needs no server"),
    "export": ("saz_jax.cli.export", "write a trained player to one small file"),
}
"""{command: (its module, what it does)}"""
EXTRAS = {"web": "web"}
"""{command: what to install for it, where `cli` is not enough}"""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command that the first argument names."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] not in COMMANDS:
        parser().parse_args(argv or ["--help"])
        return
    command, *rest = argv
    module, _ = COMMANDS[command]
    try:
        run = importlib.import_module(module)
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] == "saz_jax":
            raise
        extra = EXTRAS.get(command, "cli")
        print(f"error: saz {command} needs {error.name}; pip install 'saz_jax[{extra}]'", file=sys.stderr)
        sys.exit(2)
    run.main(rest)


def parser() -> argparse.ArgumentParser:
    """What `saz --help` tells."""
    listed = "\n".join(f"  {name:<12} {what}" for name, (_, what) in COMMANDS.items())
    made = argparse.ArgumentParser(
        prog="saz",
        description="ScalableAlphaZero in JAX: train on small boards, play on large ones.",
        epilog=f"commands:\n{listed}\n\n`saz COMMAND --help` tells more about each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="saz COMMAND [options]",
    )
    made.add_argument("command", choices=list(COMMANDS), help=argparse.SUPPRESS, metavar="COMMAND")
    made.add_argument("--version", action="version", version=version())
    return made


def version() -> str:
    """The version of the package."""
    import saz_jax

    return f"saz_jax {saz_jax.__version__}"


if __name__ == "__main__":
    main()
