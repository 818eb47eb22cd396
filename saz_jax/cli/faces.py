"""Flags of the commands that open a game in progress, and the session that they describe.

The flags are read without jax; the session is opened when it is asked for.
"""

import argparse
import ast
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saz_jax.play.limits import Limits

if TYPE_CHECKING:
    from saz_jax.play.session import Session

DEFAULT_SIDE = 9
"""The side of a board where no agent says on which ones it was trained."""
DEFAULT_PLAYER = "mcts:400"
"""Who plays a game for which no weights are shipped."""


def parser(description: str | None, prog: str, game: str | None = None) -> argparse.ArgumentParser:
    """Flags of every face; `game` is the only one that it shows, or None."""
    made = argparse.ArgumentParser(
        prog=f"saz {prog}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Options of the game are flags as well, such as --komi 6.5 or --k 4.",
        allow_abbrev=False,
    )
    if game is None:
        made.add_argument("--game", default="gomoku", help="othello, gomoku, go, hex, or a registered game")
    else:
        made.set_defaults(game=game)
    made.add_argument("--agent", help="who plays: an agent by name or path, raw:agent, mcts:100, greedy, "
                      "random or gtp:COMMAND; default: the shipped one")  # fmt: skip
    made.add_argument("--simulations", type=int, help="simulations per move; default: 100")
    made.add_argument("--seconds", type=float, help="seconds per move, instead of or besides --simulations")
    made.add_argument(
        "--no-reuse", dest="reuse", action="store_false", help="forget the tree after every move"
    )
    made.add_argument("--symmetries", action="store_true",
                      help="average what the network says of the position over symmetries")  # fmt: skip
    made.add_argument("--resign", type=float, metavar="CHANCE",
                      help="resign below this chance to win, such as 0.05; default: never")  # fmt: skip
    made.add_argument(
        "--record", type=Path, metavar="FILE", help="keep the game in this SGF file, move by move"
    )
    made.add_argument("--seed", type=int, default=0, help="of players that move at random")
    return made


def parse(made: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """The arguments; flags that are not known are options of the game, in `options`."""
    arguments, rest = made.parse_known_args(list(argv))
    arguments.options = {}
    words = [part for word in rest for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(words) % 2 or any(not name.startswith("--") for name in words[::2]):
        made.error(f"unrecognized arguments: {' '.join(rest)}")
    for name, value in zip(words[::2], words[1::2], strict=True):
        arguments.options[name.removeprefix("--").replace("-", "_")] = literal(value)
    try:
        arguments.limits = Limits(arguments.simulations, arguments.seconds)
    except ValueError as error:
        made.error(str(error))
    return arguments


def literal(text: str) -> Any:
    """A number, a truth value or None as such; everything else as text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def opener(
    arguments: argparse.Namespace,
    size: int | None = None,
    dark: str | None = None,
    light: str | None = None,
    analysis: bool = False,
) -> Callable[[], "Session"]:
    """Opens the session; players that are not given are the agent.  The first call imports jax."""

    def open_session() -> "Session":
        from saz_jax.agents import shipped_agents
        from saz_jax.cli import compilation_cache
        from saz_jax.games.registry import find_game
        from saz_jax.play.seats import agent_of
        from saz_jax.play.session import Session, Setup

        warnings.showwarning = _show
        compilation_cache.enable()
        game = find_game(arguments.game)
        agent = arguments.agent or (game if game in shipped_agents() else DEFAULT_PLAYER)
        known = agent_of(agent)
        side = size or (max(known.trained_sizes) if known else DEFAULT_SIDE)
        setup = Setup(
            game=game,
            size=side,
            shape=getattr(arguments, "shape", ""),
            options=arguments.options,
            dark=dark or agent,
            light=light or agent,
            limits=arguments.limits,
            reuse=arguments.reuse,
            symmetries=arguments.symmetries,
            resign=arguments.resign,
            analysis=analysis,
            seed=arguments.seed,
        )
        return Session(setup, record=arguments.record)

    return open_session


def _show(message: Any, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr, flush=True)
