"""Be a brain for managers of the Gomocup (Piskvork) protocol, on boards of any side.

saz gomocup --agent gomoku --simulations 200
"""

import sys

from saz_jax.cli import faces


def main(argv: list[str]) -> None:
    """Answers on stdin and stdout until END."""
    arguments = faces.parse(faces.parser(__doc__, "gomocup", game="gomoku"), argv)

    from saz_jax import __version__
    from saz_jax.play.gomocup import Gomocup
    from saz_jax.play.lines import Lines, leave, take_stdout

    out = take_stdout()
    Gomocup(faces.opener(arguments), Lines(sys.stdin.buffer), out, name="saz_jax", version=__version__).run()
    leave(out)
