"""Table 1: how many states and actions the boards have.

python experiments/complexity.py --budget smoke
python experiments/complexity.py --budget small
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("complexity", sys.argv[1:], __doc__)
