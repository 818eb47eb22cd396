"""Play in the terminal: against a player, between two players, or between two people.

saz play --game gomoku --size 15
saz play --game othello --colour light --seconds 2
saz play --game go --size 9 --dark person --light 'gtp:gnugo --mode gtp --chinese-rules'
echo "D3" | saz play --game othello --agent greedy

Where standard input is no terminal, every line is a move or a word such as undo, hint and save.
"""

import os
import sys

from saz_jax.cli import faces


def main(argv: list[str]) -> None:
    """Opens the game on the screen, or line by line."""
    made = faces.parser(__doc__, "play")
    made.add_argument(
        "--size", type=int, help="board side; default: the largest that the agent was trained on"
    )
    made.add_argument("--shape", default="", help="another board, such as 7x11, diamond:9 or ..#/.../#..")
    made.add_argument("--colour", choices=("dark", "light"), default="dark", help="yours; dark begins")
    made.add_argument("--dark", help="who plays dark, if not you: see --agent; person is somebody here")
    made.add_argument("--light", help="who plays light")
    made.add_argument("--load", metavar="FILE", help="begin with the game of this SGF file")
    made.add_argument("--lines", action="store_true", help="line by line, also on a terminal")
    arguments = faces.parse(made, argv)
    mine = (
        {"dark": "person", "light": None} if arguments.colour == "dark" else {"dark": None, "light": "person"}
    )
    if arguments.dark or arguments.light:
        mine = {"dark": arguments.dark or "person", "light": arguments.light or "person"}

    lines = arguments.lines or not (sys.stdin.isatty() and sys.stdout.isatty())
    print("getting ready ...", file=sys.stderr, flush=True)
    from saz_jax.cli.console import plain_errors

    with plain_errors():
        session = faces.opener(arguments, arguments.size, mine["dark"], mine["light"], analysis=True)()
        if arguments.load:
            with open(arguments.load, encoding="utf-8") as file:
                session.load_sgf(file.read())
    try:
        if lines:
            from saz_jax.play.terminal import Terminal

            Terminal(session, sys.stdout).run(sys.stdin)
        else:
            from saz_jax.play.screen import Screen

            Screen(session, plain="UTF" not in (sys.stdout.encoding or "").upper()).run()
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        session.close()
    sys.stdout.flush()
    if not lines:
        os._exit(0)  # a search that still runs does not keep the person waiting
