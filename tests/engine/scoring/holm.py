"""Holm's correction of statsmodels, as a twin of ours."""

import gc
from collections.abc import Sequence

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]


def holm_of_statsmodels(values: Sequence[float]) -> np.ndarray:
    """Return the corrected p-values. The garbage collection at the end of `multipletests` is left out: it is slow."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gc, "collect", lambda: 0)
        corrected: np.ndarray = multipletests(values, method="holm")[1]
    return corrected
