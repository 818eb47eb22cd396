"""What a search costs beside the network evaluations inside it, and beside mctx's own policies.

python benchmarks/search.py [--json FILE]
"""

import argparse
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mctx
from timing import report

from saz_jax.config import GINConfig, ModelConfig, SearchConfig
from saz_jax.games import make_game
from saz_jax.models.registry import make_model
from saz_jax.search import mctx_recurrent, mctx_root
from saz_jax.search.tree import tree_memory
from saz_jax.search.tree_search import make_search
from saz_jax.types import Array, EvaluateFn, Game, GameState, Variables

SMALL = GINConfig(hidden=64, head=64)
OPENING = 6
"""Random moves before the measured positions."""


def positions(game: Game, batch: int) -> GameState:
    """Positions of full boards after a few random moves."""

    def play(key: Array) -> GameState:
        def move(state: GameState, key: Array) -> tuple[GameState, None]:
            return game.step(state, jax.random.categorical(key, jnp.log(state.legal))), None

        return jax.lax.scan(move, game.init(game.max_size), jax.random.split(key, OPENING))[0]

    return jax.jit(jax.vmap(play))(jax.random.split(jax.random.key(1), batch))


def evaluations(evaluate: EvaluateFn, count: int) -> Callable[..., Any]:
    """`count` evaluations one after another, as many as a search makes."""

    def run(variables: Variables, key: Array, states: GameState) -> Any:
        # Scanned over copies, for a compiler would take a constant evaluation out of the loop.
        many = jax.tree.map(lambda x: jnp.repeat(x[None], count, axis=0), states)
        return jax.lax.map(lambda one: evaluate(variables, *one), (jax.random.split(key, count), many))

    return run


def by_mctx(
    policy: Callable[..., Any], game: Game, evaluate: EvaluateFn, simulations: int
) -> Callable[..., Any]:
    """The same search by one of mctx's policies, with its own defaults."""
    root, recurrent = mctx_root(evaluate), mctx_recurrent(game, evaluate)

    def run(variables: Variables, key: Array, states: GameState) -> Any:
        root_key, search_key = jax.random.split(key)
        start = root(variables, root_key, states)
        output = policy(variables, search_key, start, recurrent, simulations, invalid_actions=~states.legal)
        return output.action, output.action_weights

    return run


def by_us(game: Game, evaluate: EvaluateFn, config: SearchConfig) -> Callable[..., Any]:
    search = make_search(game, evaluate, config)
    return lambda variables, key, states: search(variables, key, states, 1.0)


def seconds(
    functions: dict[str, Callable[..., Any]], arguments: tuple[Any, ...], rounds: int
) -> dict[str, float]:
    """The fastest of `rounds` runs of each function; they take turns, so that all see the same machine."""
    compiled = {name: jax.jit(function) for name, function in functions.items()}
    for function in compiled.values():
        jax.block_until_ready(function(*arguments))
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in compiled.items():
            start = time.perf_counter()
            jax.block_until_ready(function(*arguments))
            times[name].append(time.perf_counter() - start)
    return {name: min(runs) for name, runs in times.items()}


def against_evaluations(side: int, batch: int, simulations: int, rounds: int) -> dict[str, float]:
    """Times of both searches over the time of their evaluations alone, hidden 64."""
    game = make_game("gomoku", side)
    model = make_model(ModelConfig("model3", network=SMALL), game)
    functions = {"evaluations": evaluations(model.evaluate, simulations + 1)}
    for kind in ("gumbel", "puct"):
        functions[kind] = by_us(game, model.evaluate, SearchConfig(kind, simulations))
    functions["mctx.gumbel_muzero_policy"] = by_mctx(
        mctx.gumbel_muzero_policy, game, model.evaluate, simulations
    )
    functions["mctx.muzero_policy"] = by_mctx(mctx.muzero_policy, game, model.evaluate, simulations)
    arguments = model.network.init(jax.random.key(0)), jax.random.key(0), positions(game, batch)
    times = seconds(functions, arguments, rounds)
    megabytes = tree_memory(game, batch, simulations) / 1e6
    print(f"gomoku {side}x{side}, batch {batch}, {simulations} simulations, trees of {megabytes:.0f} MB")
    for name, spent in times.items():
        print(f"  {name:26} {1e3 * spent:8.1f} ms   {spent / times['evaluations']:.2f}x the evaluations")
    return {name: spent / times["evaluations"] for name, spent in times.items()}


def ensemble_cost(side: int, batch: int, simulations: int, rounds: int) -> None:
    """A search with the subgraph ensemble in every evaluation, next to the same search without."""
    game, config = make_game("gomoku", side), SearchConfig("gumbel", simulations)
    plain = ModelConfig("model3", network=SMALL)
    models = {name: make_model(dataclasses.replace(plain, name=name), game) for name in ("model3", "saz")}
    functions = {name: by_us(game, model.evaluate, config) for name, model in models.items()}
    variables = models["saz"].network.init(jax.random.key(0))
    times = seconds(functions, (variables, jax.random.key(0), positions(game, batch)), rounds)
    passes = 1 + round(plain.ensemble.per_side * side)
    plain_time, ensemble_time = (1e3 * times[name] for name in ("model3", "saz"))
    print(
        f"gomoku {side}x{side}, batch {batch}, {simulations} simulations: plain {plain_time:.1f} ms, "
        f"ensemble {ensemble_time:.1f} ms, {ensemble_time / plain_time:.2f}x for {passes} passes"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the ratios to this file")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each function")
    options = parser.parse_args()
    ratios = against_evaluations(side=9, batch=64, simulations=32, rounds=options.rounds)
    against_evaluations(side=20, batch=16, simulations=64, rounds=max(1, options.rounds // 2))
    for side in (9, 16, 20):
        ensemble_cost(side, batch=8, simulations=8, rounds=options.rounds)
    kept = {f"{kind}_vs_evaluations": ratios[kind] for kind in ("gumbel", "puct")}
    report(kept, options.json)


if __name__ == "__main__":
    main()
