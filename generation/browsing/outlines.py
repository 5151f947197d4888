"""Silhouettes: the outlines of the objects to which a step refers, as SVG paths over the picture.

They come from the stored object-id image, so an outline follows only the visible part of an object. A border runs
through the corners of pixels, because outlines that are not smoothed need the corners. The library contourpy finds the
midpoints of pixel edges instead, and takes more than twice the time.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Corner = tuple[int, int]  # (column, row) of a corner between pixels
Points = NDArray[np.float64]  # (corners, 2): x to the right, y downwards, in pixels

SMOOTHED_OVER = 7  # edges
PASSES = 2
TOLERANCE = 0.08


class ElementPlace(NamedTuple):
    x: float  # the centre of the visible pixels
    y: float
    pixels: int  # the number of visible pixels


class VisibleElement(NamedTuple):
    """The visible part of an element: its place, its outline as SVG path data, its top and bottom row of pixels."""

    place: ElementPlace
    path: str
    top: int
    bottom: int


def find_visible(ids: NDArray[np.uint16], *, smooth: bool = True) -> dict[int, VisibleElement]:
    """Return the visible part of each visible element of an object-id image, indexed as in `places`.

    Outlines are smooth or follow the pixels exactly, depending on how the picture is shown.
    """
    found = {}
    for element, place in places(ids).items():
        rows = np.flatnonzero((ids == element + 1).any(axis=1))
        found[element] = VisibleElement(place, silhouette(ids, element, smooth=smooth), int(rows[0]), int(rows[-1]))
    return found


def places(ids: NDArray[np.uint16]) -> dict[int, ElementPlace]:
    """Return the place of each visible element.

    Parameters
    ----------
    ids : array of uint16, shape (height, width)
        The object-id image, indexed `[row, column]`: element `i` has the value `i + 1`, 0 means no element.

    Returns
    -------
    dict of int to ElementPlace
        In pixels from the upper left corner, rounded to 0.1. Elements without a visible pixel are left out.
    """
    rows, columns = np.nonzero(ids)
    values = ids[rows, columns]
    counts = np.bincount(values)
    found = {}
    for value in np.flatnonzero(counts).tolist():
        mine = values == value
        x, y = columns[mine].mean() + 0.5, rows[mine].mean() + 0.5
        found[value - 1] = ElementPlace(round(float(x), 1), round(float(y), 1), int(counts[value]))
    return found


def silhouette(ids: NDArray[np.uint16], element: int, *, smooth: bool = True) -> str:
    """Return the outline of an element's visible part as SVG path data; empty if nothing is visible.

    Holes are part of the path: fill it with the even-odd rule.
    """
    return svg_path_of(ids == element + 1, smooth=smooth)


def svg_path_of(mask: NDArray[np.bool_], *, smooth: bool = True) -> str:
    if not smooth:
        return "".join("M" + "L".join(f"{x} {y}" for x, y in loop) + "Z" for loop in loops(mask))
    return "".join(_path(simplify(smooth_border(loop))) for loop in loops(mask))


def loops(mask: NDArray[np.bool_]) -> list[list[Corner]]:
    """Return the closed borders of a mask, each as a list of pixel corners, with the mask on the right.

    Pixels that touch only at a corner are separate. The border of a hole is a separate loop.
    """
    onward = _border_steps(mask)
    found = []
    while onward:
        start = next(iter(onward))
        loop, came, here = [start], (0, 0), start
        while True:
            choices = onward[here]
            step = choices[0] if len(choices) == 1 else _right_turn(came, choices)
            choices.remove(step)
            if not choices:
                del onward[here]
            came, here = step, (here[0] + step[0], here[1] + step[1])
            if here == start:
                break
            loop.append(here)
        found.append(loop)
    return found


def _border_steps(mask: NDArray[np.bool_]) -> dict[Corner, list[Corner]]:
    """Return the steps that leave each corner on the border: one, or two if pixels touch diagonally."""
    padded = np.pad(mask, 1)
    inside = padded[1:-1, 1:-1]
    sides: Mapping[Corner, tuple[NDArray[np.bool_], Corner]] = {
        (1, 0): (inside & ~padded[:-2, 1:-1], (0, 0)),  # above: rightwards from the upper left corner
        (0, 1): (inside & ~padded[1:-1, 2:], (1, 0)),  # right: downwards from the upper right
        (-1, 0): (inside & ~padded[2:, 1:-1], (1, 1)),  # below: leftwards from the lower right
        (0, -1): (inside & ~padded[1:-1, :-2], (0, 1)),  # left: upwards from the lower left
    }
    onward: dict[Corner, list[Corner]] = {}
    for step, (where, (right, down)) in sides.items():
        rows, columns = np.nonzero(where)
        for corner in zip((columns + right).tolist(), (rows + down).tolist(), strict=True):
            onward.setdefault(corner, []).append(step)
    return onward


def _right_turn(came: Corner, choices: list[Corner]) -> Corner:
    turn = (-came[1], came[0])
    return turn if turn in choices else choices[0]  # a right turn keeps the border with the same pixel


def smooth_border(loop: list[Corner]) -> Points:
    """Return a border without steps: the midpoints of its edges, averaged over their neighbours."""
    corners = np.array(loop, dtype=np.float64)
    points = (corners + np.roll(corners, -1, axis=0)) / 2
    reach = min(SMOOTHED_OVER, len(points) // 8) // 2
    for _ in range(PASSES):
        points = np.mean([np.roll(points, shift, axis=0) for shift in range(-reach, reach + 1)], axis=0)
    return points


def simplify(points: Points) -> Points:
    """Return a closed line without the points that are within `TOLERANCE` of it (Ramer, Douglas, Peucker)."""
    last = len(points) - 1
    keep = np.zeros(len(points), dtype=bool)
    far = int(np.argmax(((points - points[0]) ** 2).sum(axis=1)))
    keep[[0, far, last]] = True
    spans = [(0, far), (far, last)]
    while spans:
        first, end = spans.pop()
        if end - first < 2:
            continue
        gaps = _distances(points[first + 1 : end], points[first], points[end])
        worst = int(np.argmax(gaps))
        if gaps[worst] > TOLERANCE:
            middle = first + 1 + worst
            keep[middle] = True
            spans += [(first, middle), (middle, end)]
    return points[keep]


def _distances(points: Points, start: Points, end: Points) -> NDArray[np.float64]:
    """Return the distance of each point from the line through `start` and `end`."""
    along = end - start
    length = float(np.hypot(*along))
    offsets = points - start
    if length == 0:
        return np.hypot(offsets[:, 0], offsets[:, 1])
    return np.abs(offsets[:, 0] * along[1] - offsets[:, 1] * along[0]) / length


def _path(points: Points) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"
