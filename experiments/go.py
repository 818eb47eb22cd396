"""The Go evaluation: SAZ against AZ trained on 9x9 and on 15x15.

python experiments/go.py --budget smoke
python experiments/go.py --games 10
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("go", sys.argv[1:], __doc__)
