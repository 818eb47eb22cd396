"""Be an engine for controllers that speak the Go Text Protocol, such as GoGui and Sabaki.

saz gtp --game go --agent go --seconds 2
saz gtp --game othello --simulations 400

All our games: those other than Go are shown through GoGui's rules extension.
"""

import sys

from saz_jax.cli import faces


def main(argv: list[str]) -> None:
    """Answers on stdin and stdout until quit."""
    made = faces.parser(__doc__, "gtp")
    made.set_defaults(game="go")
    made.add_argument("--size", type=int, help="board side until boardsize; default: the agent's largest")
    made.add_argument("--shape", default="", help="another board, such as 7x11, diamond:9 or ..#/.../#..")
    arguments = faces.parse(made, argv)

    from saz_jax import __version__
    from saz_jax.play.gtp import GTP
    from saz_jax.play.lines import Lines, leave, take_stdout

    out = take_stdout()
    open_session = faces.opener(arguments, arguments.size, analysis=True)
    GTP(open_session, Lines(sys.stdin.buffer), out, version=__version__).run()
    leave(out)
