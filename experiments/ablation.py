"""Table 2: SAZ and models 1 to 4, one component left out at a time, against greedy on a large board.

python experiments/ablation.py --budget smoke
python experiments/ablation.py --game othello
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("ablation", sys.argv[1:], __doc__)
