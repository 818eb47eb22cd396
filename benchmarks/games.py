"""Random legal play: our steps per second beside pgx's, in one run and on the same machine.

Both sides draw their moves the same way and play on inside one compiled scan; they take turns, and medians
are reported.  Our boards have `max_size` equal to the side, yet carry the live side as data and, in Go,
exact superko.
"""

import argparse
import functools
import pathlib
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from timing import report

from saz_jax import make_game
from saz_jax.cli import compilation_cache
from saz_jax.games import live_points

BATCH = 1024


def ours(name: str, sizes: Iterable[int], masks: bool = False) -> tuple[Any, Callable, Callable]:
    """(opening states, step, legal) of our game on a batch whose live sides go round `sizes`.

    masks: give the boards by their points instead of their sides.
    """
    sides = jnp.asarray(np.resize(np.array(list(sizes), np.int32), BATCH))
    game = make_game(name, int(sides.max()))
    boards = jax.vmap(live_points, (0, None))(sides, game.max_size) if masks else sides
    return jax.vmap(game.init)(boards), jax.vmap(game.step), lambda states: states.legal


def theirs(name: str) -> tuple[Any, Callable, Callable]:
    """(opening states, step, legal) of a game of pgx."""
    env = pgx.make(name)  # pyright: ignore[reportArgumentType]
    starts = jax.vmap(env.init)(jax.random.split(jax.random.key(0), BATCH))
    return starts, jax.vmap(env.step), lambda states: states.legal_action_mask


def measure(*sides: tuple[Any, Callable, Callable], steps: int, rounds: int) -> list[float]:
    """Steps per second of each side: the median of `rounds` calls of `steps` moves, sides interleaved."""
    plays = [_random_play(step, legal, steps) for _, step, legal in sides]
    states = [play(starts, jax.random.key(0)) for play, (starts, _, _) in zip(plays, sides, strict=True)]
    seconds: list[list[float]] = [[] for _ in sides]
    for key in jax.random.split(jax.random.key(1), rounds):
        for i, play in enumerate(plays):
            jax.block_until_ready(states[i])
            start = time.perf_counter()
            states[i] = jax.block_until_ready(play(states[i], key))
            seconds[i].append(time.perf_counter() - start)
    return [BATCH * steps / statistics.median(times) for times in seconds]


def _random_play(step: Callable, legal: Callable, steps: int) -> Callable[[Any, jax.Array], Any]:
    def move(states: Any, key: jax.Array) -> tuple[Any, None]:
        allowed = legal(states)
        chosen = jax.random.randint(key, (BATCH,), 0, allowed.sum(1))
        return step(states, jnp.argmax(jnp.cumsum(allowed, axis=1) > chosen[:, None], axis=1)), None

    @jax.jit
    def play(states: Any, key: jax.Array) -> Any:
        return jax.lax.scan(move, states, jax.random.split(key, steps))[0]

    return play


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    arguments = parser.parse_args()
    compilation_cache.enable()
    show = functools.partial(print, flush=True)

    figures: dict[str, float] = {}
    for key, game, size, steps, rounds in (
        ("othello8", "othello", 8, 5, 11),  # 60 moves: whole games, which end at about that length
        ("go9", "go", 9, 5, 9),
        ("go19", "go", 19, 1, 5),
        ("hex11", "hex", 11, 5, 11),
    ):
        rival = f"go_{size}x{size}" if game == "go" else game
        we, they = measure(ours(game, [size]), theirs(rival), steps=steps, rounds=rounds)
        figures |= {
            f"{key}_steps_per_second": we,
            f"{key}_pgx_steps_per_second": they,
            f"{key}_vs_pgx": we / they,
        }
        show(f"{game:8} {size:2} x {size:<2} {we:12,.0f} steps/s   pgx {they:12,.0f}   ratio {we / they:.2f}")

    for key, game, sizes in (
        ("gomoku15", "gomoku", [15]),
        ("othello_mixed_5_9", "othello", range(5, 10)),
        ("gomoku_mixed_5_9", "gomoku", range(5, 10)),
        ("go_mixed_5_9", "go", range(5, 10)),
    ):
        (figures[f"{key}_steps_per_second"],) = measure(ours(game, sizes), steps=5, rounds=5)
        show(f"{key:20} {figures[f'{key}_steps_per_second']:12,.0f} steps/s")

    for game, size in (("othello", 8), ("gomoku", 15), ("go", 9)):
        side, mask = measure(ours(game, [size]), ours(game, [size], masks=True), steps=5, rounds=9)
        figures[f"{game}_mask_vs_side"] = mask / side
        show(f"{game:8} {size:2} x {size:<2} given by its points: {mask / side:.2f} times the speed")

    for game in ("othello", "gomoku", "go"):
        small, large = measure(ours(game, [9]), ours(game, [19]), steps=3, rounds=5)
        figures[f"{game}_cost_19_vs_9"] = small / large
        show(f"{game:8} a step on 19 x 19 costs {small / large:.1f} times one on 9 x 9 (points: 4.5 times)")

    report(figures, arguments.json)


if __name__ == "__main__":
    main()
