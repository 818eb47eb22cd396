"""Rate all shipped players, simple ones and other programs on given boards; a table and a picture for each.

    python experiments/ladder.py --game othello --sizes 8                  # with grhino, if installed
    python experiments/ladder.py --game go --sizes 7 9 13 --games 40       # with GNU Go
    python experiments/ladder.py --game gomoku --sizes 15 --players runs/new --mcts 100 400
    python experiments/ladder.py --report-only                             # plays nothing: writes the page

Every pair is kept as soon as it is over, and the same command continues where it stopped, also with further
players. Programs that it knows (gnugo, gtp-rhino) take part where they are installed.
"""

import sys

from saz_jax.cli.ladder import main

if __name__ == "__main__":
    main(sys.argv[1:])
