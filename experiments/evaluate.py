"""Let a player meet an opponent on boards of any size; average outcomes with their errors.

    python experiments/evaluate.py --game othello --player greedy --opponent random --sizes 8 16
    python experiments/evaluate.py --game othello --player weights/othello --sizes 16 20 --json out.json
    python experiments/evaluate.py --game go --player go --shapes 9x9 7x11 diamond:9 holes:9:0.1
    python experiments/evaluate.py --game gomoku --player gomoku@solve=true --opponent gomoku --sizes 15
    python experiments/evaluate.py --game go --player go --sizes 9 --opening-moves 4 --games 40 --runs 1 \\
        --opponent "gtp:gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead"

A win counts 1, a tie 0.5, a loss 0; half the games are played with each colour. With --json, every run is
kept as soon as it is over; the same command continues where it stopped, also with further --sizes or --runs.
"""

import sys

from saz_jax.cli.evaluate import main

if __name__ == "__main__":
    main(sys.argv[1:])
