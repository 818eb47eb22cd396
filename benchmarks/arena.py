"""Games of search against greedy on a large Othello board: games per second, and what they are spent on.

    python benchmarks/arena.py [--json FILE]          # 8 games, a minute or two on two cores
    python benchmarks/arena.py --full                 # 100 games

The player searches with 100 simulations and a random GIN of hidden 64; compilation is not counted.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from search import evaluations
from timing import parser, report, take_turns

from saz_jax import make_game
from saz_jax.agents.agent import Agent
from saz_jax.agents.players import greedy_player
from saz_jax.arena import lanes, matches
from saz_jax.cli import compilation_cache
from saz_jax.config import GINConfig, ModelConfig, SearchConfig
from saz_jax.models.registry import make_model

MODEL = ModelConfig("model3", network=GINConfig(hidden=64, head=64))


def measure(side: int, games: int, simulations: int, rounds: int) -> dict[str, float]:
    """The figures of one match."""
    game = make_game("othello", side)
    model = make_model(MODEL, game)
    variables = model.network.init(jax.random.key(0))
    agent = Agent(variables, "othello", {}, MODEL, SearchConfig(simulations=simulations), (side,))
    player, greedy = agent.player(game), greedy_player(game)
    colours = np.resize(np.array([1, -1], np.int8), games)

    def play(opening_moves: int) -> tuple[lanes.Records, float]:
        sides = jnp.full(games // 2, side)
        starts, _ = matches.random_openings(game, jax.random.key(1), sides, opening_moves, copies=2)
        began = time.perf_counter()
        records = lanes.play_games(game, player, greedy, jax.random.key(2), starts, colours)
        return records, time.perf_counter() - began

    play(side * side - 16)  # only the ends of games: compiles what whole ones need
    records, seconds = play(2)

    width = lanes.default_lanes(games)
    states, _ = matches.random_openings(game, jax.random.key(1), jnp.full(width, side), 20)
    evaluate = jax.jit(evaluations(model.evaluate, simulations + 1))
    alone = take_turns({"search": lambda: evaluate(variables, jax.random.key(3), states)}, rounds)["search"]
    searches = int(records.asked[0]) / width
    return {
        "games": games,
        "seconds": seconds,
        "games_per_second": games / seconds,
        "evaluations_per_second": int(records.asked[0]) * (simulations + 1) / seconds,
        "network_share": searches * alone / seconds,
        "useful_share": float((records.actions >= 0).sum() / records.asked.sum()),
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--full", action="store_true", help="100 games")
    options.add_argument("--games", type=int, default=8, help="games, an even number")
    options.add_argument("--side", type=int, default=16, help="board side")
    options.add_argument("--simulations", type=int, default=100, help="simulations per move")
    chosen = options.parse_args()
    compilation_cache.enable()
    figures = measure(chosen.side, 100 if chosen.full else chosen.games, chosen.simulations, chosen.rounds)
    print(
        f"{figures['games']} games in {figures['seconds']:.0f} s: {figures['games_per_second']:.3f} games/s, "
        f"{figures['evaluations_per_second']:.0f} evaluations/s"
    )
    print(f"{figures['network_share']:.0%} of the time would do for the network evaluations alone")
    print(f"{figures['useful_share']:.0%} of the positions that were put to a player needed a move")
    report(figures, chosen.json)


if __name__ == "__main__":
    main()
