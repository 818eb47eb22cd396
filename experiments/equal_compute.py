"""The subgraph ensemble against model3 with as many simulations, network evaluations and seconds.

    python experiments/equal_compute.py --budget smoke
    python experiments/equal_compute.py --game othello

Takes agents that are given or shipped and trains the others under the budget; the same command continues
where it stopped.  Writes equal_compute.json, and of that equal_compute.md and equal_compute.png.
"""

import sys

from saz_jax.study_cli import study_main

if __name__ == "__main__":
    study_main("equal_compute", sys.argv[1:], __doc__)
