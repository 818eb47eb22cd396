"""Table 3: players trained on small boards against AZ trained on the large board of the test.

python experiments/against_az.py --budget smoke
python experiments/against_az.py --az-times 5
"""

import sys

from saz_jax.cli.studies import study_main

if __name__ == "__main__":
    study_main("against_az", sys.argv[1:], __doc__)
