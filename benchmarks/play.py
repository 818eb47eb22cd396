"""How well a move keeps its time limit, what keeping the subtree is worth, and how soon a game begins.

python benchmarks/play.py [--json FILE] [--moves 200] [--seconds 0.5]

`overrun_p99`: by how much the 99th percentile of the moves exceeds its limit, as a share of what is allowed
(10% of the limit or 50 ms, whichever is more); the largest of all board sides, and 1 or less is within it.
"""

import time

import numpy as np
from timing import parser, report

from saz_jax.cli import enable_compilation_cache
from saz_jax.play import Budget, Session, Setup

SIDES = (9, 15, 19)
ALLOWED = (0.1, 0.05)
"""Share of the limit, and seconds."""


def overruns(side: int, moves: int, seconds: float) -> tuple[np.ndarray, float, float]:
    """(seconds beyond the limit of each move, simulations a move, seconds until the first one)."""
    began = time.perf_counter()
    session = Session(Setup("gomoku", side, dark="gomoku", light="gomoku", budget=Budget(seconds=seconds)))
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


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--moves", type=int, default=200, help="moves on each side")
    arguments.add_argument("--seconds", type=float, default=0.2, help="time limit of a move")
    options = arguments.parse_args()
    enable_compilation_cache()
    allowed = max(ALLOWED[0] * options.seconds, ALLOWED[1])
    figures: dict[str, float] = {}
    for side in SIDES:
        late, simulations, warm = overruns(side, options.moves, options.seconds)
        p99 = float(np.quantile(late, 0.99))
        figures[f"overrun_p99_{side}"] = p99 / allowed
        figures[f"ready_seconds_{side}"] = warm
        print(
            f"gomoku {side}x{side}, {options.seconds} s a move: ready after {warm:.1f} s, {simulations:.0f} "
            f"simulations a move, overrun p50 {1e3 * np.median(late):.0f} ms, p99 {1e3 * p99:.0f} ms, "
            f"most {1e3 * late.max():.0f} ms ({1e3 * allowed:.0f} ms are allowed)"
        )
    figures["overrun_p99"] = max(figures[f"overrun_p99_{side}"] for side in SIDES)
    report(figures, options.json)


if __name__ == "__main__":
    main()
