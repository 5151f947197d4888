"""The size of proofs: full in `make prove`, a share of it in `make test`."""

import math
import os
from fractions import Fraction

SHARE = Fraction(os.environ.get("PROOF", "1/20"))
SIZES: dict[str, int] = {}


def size(full: int, *, name: str = "", least: int = 1) -> int:
    """Return the number of cases to try: the share of `full` that this run tries, but at least `least`.

    The table at the end of the run shows it under `name`, or under the name of the test.
    """
    cases = max(least, math.ceil(full * SHARE))
    label = name or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if label:
        SIZES[label] = cases
    return cases
