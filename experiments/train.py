"""Train a player on small boards: self-play, optimisation, evaluation on a board it has never seen.

    python experiments/train.py --game gomoku                     # the default recipe, an hour
    python experiments/train.py --game othello --preset smoke     # the whole pipeline in a minute or two
    python experiments/train.py --game gomoku --plan              # what it will take, without training
    python experiments/train.py --game my_module:make             # a game of your own
    python experiments/train.py --config weights/othello/config.json --minutes 8 --workdir runs/again
    python experiments/train.py --curve --workdir runs/again      # draws curve.png of what there is so far

Running the same command again continues where it stopped. Which flags there are below depends on the game,
the model and the network that are named.
"""

import sys

from saz_jax.cli.train import main

if __name__ == "__main__":
    main(sys.argv[1:])
