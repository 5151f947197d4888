"""The one scorer: how predictions are held against answers."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class Accuracy:
    """The share of questions answered rightly; terms 1 or 0 over 1."""

    name: ClassVar[str] = "accuracy"
    label: ClassVar[str] = "accuracy"
    higher_is_better: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def terms(
        self, answers: NDArray[np.int64], predictions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return numerators and denominators, shape `(questions,)`, for codes; a negative prediction is wrong."""
        right = (answers == predictions) & (predictions >= 0)
        return right.astype(np.int64), np.ones(len(answers), np.int64)


ACCURACY = Accuracy()
