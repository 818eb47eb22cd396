"""All studies of the paper, and two that it leaves open, with one page of their tables and figures.

    python experiments/reproduce.py --budget smoke
    python experiments/reproduce.py --budget small --game othello
    python experiments/reproduce.py --budget small --report-only

The page, README.md in the folder of the results, is made of the JSON files alone.
"""

import sys

from saz_jax.cli.studies import reproduce_main

if __name__ == "__main__":
    reproduce_main(sys.argv[1:], __doc__)
