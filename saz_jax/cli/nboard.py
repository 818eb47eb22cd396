"""Be an engine for NBoard, protocol version 2: Othello on 8x8.

saz nboard --agent othello --seconds 3
"""

import sys

from saz_jax.cli import faces


def main(argv: list[str]) -> None:
    """Answers on stdin and stdout until their end."""
    arguments = faces.parse(faces.parser(__doc__, "nboard", game="othello"), argv)

    from saz_jax.play.lines import Lines, leave, take_stdout
    from saz_jax.play.nboard import SIDE, NBoard

    out = take_stdout()
    NBoard(faces.opener(arguments, SIDE), Lines(sys.stdin.buffer), out, name="saz_jax").run()
    leave(out)
