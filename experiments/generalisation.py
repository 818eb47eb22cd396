"""The generalisation figure: scalable players against random and greedy on boards of all sizes.

python experiments/generalisation.py --budget smoke
python experiments/generalisation.py --game gomoku --boards.curve 8 12 16
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("generalisation", sys.argv[1:], __doc__)
