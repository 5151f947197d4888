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
    """Return the table with given margins in which possible cells are independent and all other cells are 0.

    Each possible cell is the product of a number for its row and a number for its column.

    Parameters
    ----------
    rows : (n,) float64
        The sums of the rows; their total is equal to the total of `columns`.
    columns : (m,) float64
        The sums of the columns.
    possible : (n, m) bool
        Which cells are possible. A table with these margins must exist that is greater than 0 in all of them.

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
