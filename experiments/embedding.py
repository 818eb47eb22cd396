"""The embedding figure: a good and a bad action on synthetic Othello boards of 6x6 to 350x350.

python experiments/embedding.py --budget smoke
python experiments/embedding.py --agent othello
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("embedding", sys.argv[1:], __doc__)
