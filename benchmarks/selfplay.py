"""Self-play: moves per second, and how much of the time is network evaluation.

`OLD` holds, for orientation, what the framework that the paper used makes on one core of such a machine.

    python benchmarks/selfplay.py [--json FILE] [--only main|settings|padding|start]
"""

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from timing import parser, report, take_turns

from saz_jax.cli import compilation_cache
from saz_jax.config import GINConfig, ModelConfig, SearchConfig, SelfPlayConfig
from saz_jax.games import make_game
from saz_jax.models.registry import make_model
from saz_jax.training import devices
from saz_jax.training.selfplay import make_new_games, make_play
from saz_jax.types import Model

OLD: dict[tuple[str, int, str], float] = {
    ("othello", 64, "model3"): 4.7,
    ("gomoku", 64, "model3"): 5.8,
    ("gomoku", 64, "saz"): 2.8,
    ("othello", 512, "model3"): 1.5,
    ("gomoku", 512, "model3"): 1.1,
    ("othello", 512, "saz"): 0.45,
    ("gomoku", 512, "saz"): 0.36,
}
"""(game, hidden, model): moves per second and core of the framework that the paper used."""
SIDES = {"othello": 8, "gomoku": 9}


def setting(game: str, hidden: int, model: str, search: SearchConfig, games: int, moves: int) -> Any:
    """(play, evaluations alone, games): two functions of no argument on the same positions."""
    side = SIDES[game]
    rules = make_game(game, side)
    brain: Model = make_model(ModelConfig(model, network=GINConfig(hidden=hidden, head=hidden)), rules)
    config = SelfPlayConfig(games=games)
    play = make_play(rules, brain.evaluate, search, config, (side,), moves, devices.make_mesh())
    variables = brain.network.init(jax.random.key(0))
    states = make_new_games(rules, (side,), SelfPlayConfig(favour="none"))(jax.random.key(1), games)
    states, _ = play(variables, jax.random.key(2), states)

    @jax.jit
    def evaluations(variables: Any, key: jax.Array, states: Any) -> Any:
        count = moves * (search.simulations + 1)

        def one(total: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
            # What is evaluated depends on the last result, or a compiler would do it once for all.
            turned = states._replace(board=states.board * jnp.where(total > 1e9, -1, 1).astype(jnp.int8))
            evaluation = brain.evaluate(variables, key, turned)
            return total + evaluation.value.sum() + evaluation.logits.max(), None

        return jax.lax.scan(one, jnp.zeros(()), jax.random.split(key, count))[0]

    key = jax.random.key(3)
    return (lambda: play(variables, key, states)), (lambda: evaluations(variables, key, states)), games


def main_figures(rounds: int) -> dict[str, float]:
    """Hidden 64 and 32 simulations, with as many games at once as pay."""
    figures = {}
    for game, side in SIDES.items():
        search, moves = SearchConfig("gumbel", 32), 2
        speeds = {}
        for games in (64, 128, 256, 512):
            play, _, _ = setting(game, 64, "model3", search, games, moves)
            speeds[games] = games * moves / take_turns({"play": play}, 2)["play"]
        best = max(speeds, key=speeds.__getitem__)
        play, evaluations, games = setting(game, 64, "model3", search, best, moves)
        times = take_turns({"play": play, "evaluations": evaluations}, rounds)
        share = times["evaluations"] / times["play"]
        speed = games * moves / times["play"]
        print(
            f"{game} {side}x{side}, 32 simulations, hidden 64, {best} games at once: {speed:.0f} moves/s, "
            f"{share:.0%} of the time in the network"
        )
        figures[f"{game}{side}_moves_per_second"] = speed
        figures[f"{game}{side}_evaluation_share"] = share
    return figures


def settings_figures(rounds: int) -> dict[str, float]:
    """The settings of the paper's framework: 100 PUCT simulations, per core."""
    figures, cores = {}, os.cpu_count() or 1
    for (game, hidden, model), old in OLD.items():
        games = 64 if hidden == 64 else 8
        play, evaluations, _ = setting(game, hidden, model, SearchConfig("puct", 100), games, 1)
        times = take_turns({"play": play, "evaluations": evaluations}, rounds)
        speed = games / times["play"] / cores
        print(
            f"{game}, hidden {hidden}, {model}, 100 simulations: {speed:.2f} moves/s per core, "
            f"{speed / old:.1f}x the old framework, {times['evaluations'] / times['play']:.0%} in the network"
        )
        figures[f"{game}_{hidden}_{model}_vs_old"] = speed / old
    return figures


def padding_figures(rounds: int) -> dict[str, float]:
    """One program for sides 5 to 9 mixed, against a program for each side."""
    sizes, games, search = (5, 6, 7, 8, 9), 80, SearchConfig("gumbel", 16)
    config = SelfPlayConfig(games=games, favour="none")

    def playing(sizes: tuple[int, ...], games: int) -> Any:
        rules = make_game("gomoku", max(sizes))
        brain = make_model(ModelConfig("model3", network=GINConfig(hidden=64, head=64)), rules)
        ours = dataclasses.replace(config, games=games)
        play = make_play(rules, brain.evaluate, search, ours, sizes, 2, devices.make_mesh())
        variables = brain.network.init(jax.random.key(0))
        states = make_new_games(rules, sizes, SelfPlayConfig(favour="none"))(jax.random.key(1), games)
        return lambda: play(variables, jax.random.key(2), states)

    began = time.perf_counter()
    each = {str(size): playing((size,), games // len(sizes)) for size in sizes}
    times = take_turns({"mixed": playing(sizes, games), **each}, rounds)
    apart = sum(times[str(size)] for size in sizes)
    print(
        f"sides 5 to 9 mixed in one program: {times['mixed'] / apart:.2f}x the time of a program for each "
        f"(whose compilation and first calls took {time.perf_counter() - began:.0f} s here)"
    )
    return {"mixed_vs_per_size": times["mixed"] / apart}


def start_figures() -> dict[str, float]:
    """From the command to the first moves of self-play, without and with a filled compilation cache."""
    root = Path(__file__).parent.parent
    times = []
    with tempfile.TemporaryDirectory() as cache:
        for turn in ("cold", "warm"):
            command = [sys.executable, "experiments/train.py", "--preset", "small", "--game", "gomoku"]
            command += ["--workdir", f"{cache}/{turn}", "--minutes", "60"]
            environment = {**os.environ, "SAZ_JAX_CACHE": f"{cache}/xla", "PYTHONPATH": str(root)}
            began = time.perf_counter()
            process = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("first moves"):
                    break
            times.append(time.perf_counter() - began)
            process.kill()
            process.communicate()
            print(f"from the command to the first moves of self-play, {turn}: {times[-1]:.1f} s")
    return {"start_cold_seconds": times[0], "start_warm_vs_cold": times[1] / times[0]}


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--only", choices=["main", "settings", "padding", "start"], help="one part alone")
    options = arguments.parse_args()
    parts = {
        "start": start_figures,
        "main": lambda: main_figures(options.rounds),
        "padding": lambda: padding_figures(options.rounds),
        "settings": lambda: settings_figures(max(options.rounds // 2, 1)),
    }
    compilation_cache.enable()
    figures: dict[str, float] = {}
    for name, part in parts.items():
        if options.only in (None, name):
            figures |= part()
            report(figures, options.json)


if __name__ == "__main__":
    main()
