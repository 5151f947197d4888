"""How often entities are subjects and objects: Zipf's law, tables with given margins, and replacements.

A question names two different entities. The paper multiplies the shares of subject and object (its equations 2 to 5),
which also gives pairs of equal entities. Here the table of pairs has zeros there and is scaled until both margins are
the given shares again, so that neither margin changes.

References
----------
Bingham et al. 2017, Characterizing how Visual Question Answering models scale with the world, section 6.3.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.weights.proportional_fitting import CLOSE, ROUNDS, fit_margins

Floats = NDArray[np.float64]

SUM_ERROR = 1e-6


class Marginals(NamedTuple):
    """The share of each entity among the subjects, and among the objects, of questions."""

    subjects: tuple[float, ...]
    objects: tuple[float, ...]


def zipf(count: int, exponent: float) -> list[float]:
    """Return shares that are proportional to 1 / rank ** exponent, for the ranks 1 .. count; they sum to one."""
    weights = [rank**-exponent for rank in range(1, count + 1)]
    total = sum(weights)
    return [weight / total for weight in weights]


def check_marginals(marginals: Marginals, names: Sequence[str]) -> None:
    """Raise `ValueError` unless there is a table of pairs of different entities that has these margins."""
    for what, shares in zip(("subject", "object"), marginals, strict=True):
        if abs(sum(shares) - 1.0) > SUM_ERROR:
            raise ValueError(f"Expected {what} shares that sum to 1, got a sum of {sum(shares):.6g}")
    for name, subject, other in zip(names, *marginals, strict=True):
        if subject + other >= 1.0:
            raise ValueError(
                f"Expected shares of subject and object that sum to less than 1 for each entity, because they differ "
                f"in each question, got {subject + other:.3g} for {name!r}: use more entities or a lower exponent"
            )


@lru_cache(maxsize=32)
def pair_table(marginals: Marginals) -> Floats:
    """Return (k, k) the share of each pair of subject (row) and object (column): zero for equal ones.

    The margins are those given, which `check_marginals` accepts. Apart from the zeros, rows and columns are
    independent.
    """
    rows, columns = np.array(marginals.subjects), np.array(marginals.objects)
    table = fit_margins(rows / rows.sum(), columns / columns.sum(), possible=~np.eye(len(rows), dtype=bool))
    table.flags.writeable = False
    return table


def replacement_table(shares: Floats) -> Floats:
    """Return (k, k) the probability that entity i (row) is replaced by entity j, so that the shares stay the same.

    An entity is replaced by another one wherever possible: only one with a share above one half must sometimes stay.
    If replacements changed the shares, a model could tell from the entities of a picture alone whether the question
    names one that is not there.

    Parameters
    ----------
    shares : (k,) float64
        They sum to one, or all are zero.
    """
    count = len(shares)
    if not shares.any():
        return np.zeros((count, count))
    top = int(np.argmax(shares))
    joint = np.zeros((count, count))
    if shares[top] >= 0.5:
        joint[top], joint[:, top] = shares, shares
        joint[top, top] = 2.0 * shares[top] - 1.0
    else:
        scale = np.sqrt(shares)
        for _ in range(ROUNDS):
            rest = scale.sum() - scale
            step = np.sqrt(scale * np.divide(shares, rest, out=np.zeros_like(shares), where=rest > 0))
            if np.abs(step - scale).max() < CLOSE:
                break
            scale = step
        joint = np.outer(scale, scale)
        np.fill_diagonal(joint, 0.0)
    return np.divide(joint, joint.sum(axis=1, keepdims=True), out=np.zeros_like(joint), where=shares[:, None] > 0)
