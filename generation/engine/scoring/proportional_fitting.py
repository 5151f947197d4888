"""Tables with given margins, by iterative proportional fitting.

References
----------
Deming and Stephan 1940, On a least squares adjustment of a sampled frequency table.
"""

import numpy as np
from numpy.typing import NDArray

CLOSE = 1e-12
ROUNDS = 20_000


def fit_margins(
    rows: NDArray[np.float64], columns: NDArray[np.float64], *, possible: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the table that has given margins and zeros where a pair is not possible, and is else independent.

    Each possible cell is the product of a number of its row and a number of its column.

    Parameters
    ----------
    rows : (n,) float64
        The sums of the rows; they have the same total as those of the columns.
    columns : (m,) float64
        The sums of the columns.
    possible : (n, m) bool
        Some table with these margins must have zeros only where this is false.

    Returns
    -------
    (n, m) float64
    """
    table = np.outer(rows, columns) * possible
    for _ in range(ROUNDS):
        table *= _ratio(rows, table.sum(axis=1))[:, None]
        table *= _ratio(columns, table.sum(axis=0))
        if np.abs(table.sum(axis=1) - rows).max() < CLOSE:
            break
    return table


def _ratio(wanted: NDArray[np.float64], found: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0)
