"""The training-time figure: model3 at each stage of its training, and AZ, against greedy on a large board.

python experiments/training_time.py --budget smoke
python experiments/training_time.py --game othello --stages 5
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("training_time", sys.argv[1:], __doc__)
