"""The subgraph ensemble against model3 with as many simulations, network evaluations and seconds.

python experiments/equal_compute.py --budget smoke
python experiments/equal_compute.py --game othello
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("equal_compute", sys.argv[1:], __doc__)
