"""How well a move keeps its time limit, how fast one game is searched, and how soon it begins.

python benchmarks/play.py [--json FILE] [--moves 200] [--seconds 0.2] [--sides 9 15 19]

`one_game_batched_vs_sequential_9` and `_19`: time of a move of one game with 100 simulations, its rounds of
sequential halving evaluated as batches, as a share of the time that it takes one board at a time.

`overrun_p99`: by how much the 99th percentile of the moves exceeds its limit, as a share of what is allowed
(10% of the limit or 50 ms, whichever is more); the largest of all board sides, and 1 or less is within it.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from timing import parser, report

from saz_jax.agents import load_agent
from saz_jax.cli import enable_compilation_cache
from saz_jax.play import Limits, Session, Setup

SIDES = (9, 15, 19)
SIMULATIONS = 100
ALLOWED = (0.1, 0.05)
"""Share of the limit, and seconds."""


def overruns(side: int, moves: int, seconds: float) -> tuple[np.ndarray, float, float]:
    """(seconds beyond the limit of each move, simulations a move, seconds until the first one)."""
    began = time.perf_counter()
    session = Session(Setup("gomoku", side, dark="gomoku", light="gomoku", limits=Limits(seconds=seconds)))
    session.prepare()
    warm = time.perf_counter() - began
    late, simulations = [], []
    while len(late) < moves:
        if session.over:
            session.restart()
            session.prepare()
        started = time.perf_counter()
        simulations.append(session.move().simulations)
        late.append(time.perf_counter() - started - seconds)
    return np.array(late), float(np.mean(simulations)), warm


def one_game(name: str, side: int, rounds: int) -> tuple[float, float]:
    """Seconds of a move of one game: one board at a time, and by rounds.

    The shortest of all calls counts: other programs on the machine can only lengthen them.
    """
    agent = load_agent(name)
    game = agent.game(side)
    key = jax.random.key(0)
    one = jax.jit(game.init)(side)
    for action in (side + 1, 2 * side + 3, side + 2):
        one = jax.jit(game.step)(one, action)
    many = jax.tree.map(lambda x: jnp.asarray(x)[None], one)
    player = agent.player(game, simulations=SIMULATIONS)
    times: dict[str, list[float]] = {"many": [], "one": []}
    for _ in range(8 * rounds):
        for label, states in (("many", many), ("one", one)):
            began = time.perf_counter()
            jax.block_until_ready(player(key, states))
            times[label].append(time.perf_counter() - began)
    return min(times["many"]), min(times["one"])


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--moves", type=int, default=200, help="moves on each side")
    arguments.add_argument("--seconds", type=float, default=0.2, help="time limit of a move")
    arguments.add_argument("--sides", type=int, nargs="*", default=SIDES, help="boards of the time limits")
    options = arguments.parse_args()
    enable_compilation_cache()
    allowed = max(ALLOWED[0] * options.seconds, ALLOWED[1])
    figures: dict[str, float] = {}
    for side in (9, 19):
        for name in ("gomoku", "go"):
            alone, rounds = one_game(name, side, options.rounds)
            label = f"one_game_batched_vs_sequential_{side}" + ("" if name == "gomoku" else f"_{name}")
            figures[label] = rounds / alone
            print(
                f"{name} {side}x{side}, one game, {SIMULATIONS} simulations: {1e3 * alone:.1f} ms one board "
                f"at a time, {1e3 * rounds:.1f} ms by rounds ({rounds / alone:.2f})"
            )
    for side in options.sides:
        late, simulations, warm = overruns(side, options.moves, options.seconds)
        p99 = float(np.quantile(late, 0.99))
        figures[f"overrun_p99_{side}"] = p99 / allowed
        figures[f"ready_seconds_{side}"] = warm
        print(
            f"gomoku {side}x{side}, {options.seconds} s a move: ready after {warm:.1f} s, {simulations:.0f} "
            f"simulations a move, overrun p50 {1e3 * np.median(late):.0f} ms, p99 {1e3 * p99:.0f} ms, "
            f"most {1e3 * late.max():.0f} ms ({1e3 * allowed:.0f} ms are allowed)"
        )
    if options.sides:
        figures["overrun_p99"] = max(figures[f"overrun_p99_{side}"] for side in options.sides)
    report(figures, options.json)


if __name__ == "__main__":
    main()
