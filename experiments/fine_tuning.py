"""A network trained on small boards, trained further on a large one: before and after.

python experiments/fine_tuning.py --budget smoke
python experiments/fine_tuning.py --tuning-share 1
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("fine_tuning", sys.argv[1:], __doc__)
