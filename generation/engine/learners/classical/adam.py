"""Adam, which changes weights along their gradients in steps of a steady size (Kingma and Ba 2015, algorithm 1)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8

Weights = dict[str, NDArray[np.float64]]


class Adam:
    """The optimiser: it stores the moments of the gradients so far.

    Parameters
    ----------
    weights : mapping of str to array
        Arrays that `step` changes in place.
    learning_rate : float
    """

    def __init__(self, weights: Weights, *, learning_rate: float) -> None:
        self.weights, self.learning_rate, self.steps = weights, learning_rate, 0
        self.first = {name: np.zeros_like(array) for name, array in weights.items()}
        self.second = {name: np.zeros_like(array) for name, array in weights.items()}

    def step(self, gradients: Mapping[str, NDArray[np.float64]]) -> None:
        """Change all weights by one step against their gradients."""
        self.steps += 1
        rate = self.learning_rate * np.sqrt(1 - SECOND**self.steps) / (1 - FIRST**self.steps)
        for name, gradient in gradients.items():
            first, second = self.first[name], self.second[name]
            first += (1 - FIRST) * (gradient - first)
            second += (1 - SECOND) * (gradient**2 - second)
            self.weights[name] -= rate * first / (np.sqrt(second) + SMALL)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the moments and the number of steps."""
        moments = {"first": self.first, "second": self.second}
        arrays = {f"{kind}/{name}": array for kind, some in moments.items() for name, array in some.items()}
        return {**arrays, "steps": np.array([self.steps])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the moments that `state` returned."""
        self.steps = int(arrays["steps"][0])
        self.first = {name: arrays[f"first/{name}"].copy() for name in self.weights}
        self.second = {name: arrays[f"second/{name}"].copy() for name in self.weights}
