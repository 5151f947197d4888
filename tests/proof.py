"""How large a proof is: full under `make prove`, a share of it under `make test`."""

import math
import os
from fractions import Fraction

SHARE = Fraction(os.environ.get("PROOF", "1/20"))
SIZES: dict[str, int] = {}


def size(full: int, *, name: str = "", least: int = 1) -> int:
    """Return how many cases to try, of `full` at full size; `name` puts the figure into the closing table."""
    cases = max(least, math.ceil(full * SHARE))
    label = name or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if label:
        SIZES[label] = cases
    return cases
