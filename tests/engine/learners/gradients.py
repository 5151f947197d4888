"""The check of gradients by finite differences."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP = 1e-5


def assert_gradients(
    loss: Callable[[], float],
    weights: Mapping[str, NDArray[Any]],
    gradients: Mapping[str, NDArray[Any]],
    *,
    most: int = 200,
) -> None:
    """Assert that the gradients are those of a loss, at up to `most` entries of each array of float64 weights.

    `loss` must read `weights`, which is changed in place and restored.
    """
    chance = np.random.Generator(np.random.PCG64(11))
    assert weights.keys() == gradients.keys()
    for name, array in weights.items():
        assert gradients[name].shape == array.shape
        flat, found = array.reshape(-1), gradients[name].reshape(-1)
        assert np.shares_memory(flat, array)
        for at in chance.permutation(flat.size)[:most]:
            kept = flat[at]
            flat[at] = kept + STEP
            more = loss()
            flat[at] = kept - STEP
            less = loss()
            flat[at] = kept
            slope = (more - less) / (2 * STEP)
            assert abs(slope - found[at]) <= 1e-6 + 1e-4 * abs(slope), f"{name}[{at}]: {found[at]}, not {slope}"
