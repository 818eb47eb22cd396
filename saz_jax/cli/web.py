"""Play in the browser: any game on any board, with what the player thinks.

saz web
saz web --game go --size 19 --seconds 5
saz web --player runs/hex/export.npz --player 'gtp:gnugo --mode gtp --chinese-rules'

Only this machine can reach the page unless --host says otherwise.  As long as that is so, the page may also
name agents by their path.  Other programs play only if --player names them.
"""

import argparse
import os
import sys
import threading
import webbrowser

from saz_jax.play.limits import Limits
from saz_jax.play.web import server
from saz_jax.play.web.guard import LOOPBACK
from saz_jax.play.web.house import House


def main(argv: list[str]) -> None:
    """Serves until Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="saz web",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--port", type=int, default=8080, help="0: any that is free; default: 8080")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; default: this machine only"
    )
    parser.add_argument("--name", action="append", default=[], metavar="HOSTNAME",
                        help="a further name under which pages may call this server")  # fmt: skip
    parser.add_argument("--game", default="gomoku", help="the game to begin with")
    parser.add_argument("--size", type=int, help="its board side; default: the usual one, 15 for gomoku")
    parser.add_argument("--player", action="append", default=[],
                        help="a further player to choose from: an agent by path, or gtp:COMMAND")  # fmt: skip
    parser.add_argument("--simulations", type=int, help="simulations per move; default: 100")
    parser.add_argument("--seconds", type=float, help="seconds per move")
    parser.add_argument("--no-open", dest="open", action="store_false", help="do not open a browser")
    arguments = parser.parse_args(argv)
    if not 0 <= arguments.port <= 65535:
        parser.error(f"--port {arguments.port} is none; use 0 to 65535")
    local = arguments.host in LOOPBACK
    try:
        limits = Limits(arguments.simulations, arguments.seconds)
        listening = server.listen(arguments.host, arguments.port)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    house = House(
        game=arguments.game,
        size=arguments.size or (15 if arguments.game == "gomoku" else None),
        players=arguments.player,
        limits=limits,
        paths=local,
        enable_cache=_enable_cache,
    )
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    url = f"http://{host}:{listening.getsockname()[1]}/"
    print(f"{url}   (Ctrl-C stops it)", flush=True)
    if not local:
        print("everybody who can reach this address can play and make this machine think", file=sys.stderr)
    if arguments.open and sys.stdout.isatty():
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    server.serve(house, listening, arguments.host, tuple(arguments.name))
    sys.stdout.flush()
    os._exit(0)  # a search that still runs keeps nobody waiting


def _enable_cache() -> None:
    from saz_jax.cli import compilation_cache

    compilation_cache.enable()
