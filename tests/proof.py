"""The size of proofs: full in `make prove`, a share of it in `make test`."""

import math
import os
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

SHARE = Fraction(os.environ.get("PROOF", "1/20"))
SIZES: dict[str, int] = {}


def size(full: int, *, name: str = "", least: int = 1, most: int | None = None) -> int:
    """Return the number of cases to try: the share of `full` that this run tries, but at least `least`.

    Runs that are not full try at most `most`. This is for slow cases, and for proofs that are repeated for many
    parameters.

    The table at the end of the run shows it under `name`, or under the name of the test.
    """
    cases = max(least, math.ceil(full * SHARE))
    if most is not None and SHARE < 1:
        cases = min(cases, most)
    label = name or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if label:
        SIZES[label] = cases
    return cases


def sample(cases: Iterable[Any], *, gate: int) -> list[Any]:
    """Return the cases of a parametrized test, of which `make test` runs `gate` and each night all run.

    The first one is among those of the gate, the others have even distances. The rest is marked `full`. This is for
    cases of one kind, which run through the same code.
    """
    every = list(cases)
    kept = {len(every) * number // gate for number in range(gate)}
    return [case if number in kept else _left_to_the_night(case) for number, case in enumerate(every)]


def _left_to_the_night(case: Any) -> Any:
    if hasattr(case, "marks"):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.full], id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.full)
