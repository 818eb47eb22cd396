"""Every player meets every other; Bradley-Terry ratings with intervals, as a table and a plot.

    python experiments/round_robin.py --game othello --size 8 --players random greedy mcts:50
    python experiments/round_robin.py --game gomoku --size 13 --players greedy runs/a runs/b --json all.json

With --json, every pair is kept as soon as it is over, and the same command continues where it stopped, also
with further --players.
"""

import sys

from saz_jax.cli.round_robin import main

if __name__ == "__main__":
    main(sys.argv[1:])
