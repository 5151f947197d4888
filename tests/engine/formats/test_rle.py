"""Masks as run lengths: the fast functions are compared with obvious ones, and run lengths are decoded again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from generation.engine.formats.rle import compressed, masks

LABELS = st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1), st.integers(1, 5)).map(
    lambda drawn: np.random.default_rng(drawn[2]).integers(drawn[3], size=drawn[:2]).astype(np.uint16)
)


def slow_counts(mask: NDArray[np.bool_]) -> list[int]:
    """Return the run lengths of a mask, counted pixel by pixel down each column."""
    counts, inside = [0], False
    for column in range(mask.shape[1]):
        for row in range(mask.shape[0]):
            if mask[row, column] != inside:
                counts.append(0)
                inside = not inside
            counts[-1] += 1
    return counts


def slow_mask(counts: list[int], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return the mask that the run lengths describe."""
    flat: list[bool] = []
    for number, count in enumerate(counts):
        flat += [number % 2 == 1] * count
    return np.array(flat, dtype=np.bool_).reshape(shape, order="F")


def read_compressed(text: str) -> list[int]:
    """Decode compressed run lengths character by character, as the tools of COCO do."""
    counts: list[int] = []
    at = 0
    while at < len(text):
        value, shift, more = 0, 0, True
        while more:
            bits = ord(text[at]) - 48
            value |= (bits & 0x1F) << shift
            more = bool(bits & 0x20)
            at, shift = at + 1, shift + 5
            if not more and bits & 0x10:
                value |= -1 << shift
        if len(counts) > 2:
            value += counts[-2]
        counts.append(value)
    return counts


@given(LABELS)
def test_counts_box_and_area_equal_those_counted_pixel_by_pixel(labels: NDArray[np.uint16]) -> None:
    found = masks(labels)
    assert set(found) == set(np.unique(labels).tolist()) - {0}
    for label, mask in found.items():
        inside = labels == label
        rows, columns = np.nonzero(inside)
        assert mask.counts.tolist() == slow_counts(inside)
        assert mask.area == inside.sum()
        box = (columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1)
        assert mask.box == tuple(int(side) for side in box)
        assert (slow_mask(mask.counts.tolist(), labels.shape) == inside).all()


@given(LABELS)
def test_compressed_counts_can_be_decoded(labels: NDArray[np.uint16]) -> None:
    for mask in masks(labels).values():
        assert read_compressed(compressed(mask.counts)) == mask.counts.tolist()


@given(st.lists(st.integers(0, 2**20), min_size=1, max_size=12))
def test_long_runs_can_be_decoded(counts: list[int]) -> None:
    assert read_compressed(compressed(np.array(counts))) == counts


def test_known_masks_are_compressed_as_the_tools_of_coco_do() -> None:
    labels = np.zeros((3, 3), dtype=np.uint16)
    labels[1, 1] = 1
    assert compressed(masks(labels)[1].counts) == "414"
    assert compressed(masks(np.ones((2, 2), dtype=np.uint16))[1].counts) == "04"


@pytest.mark.parametrize("shape", [(1, 1), (4, 3)])
def test_a_picture_without_objects_has_no_masks(shape: tuple[int, int]) -> None:
    assert masks(np.zeros(shape, dtype=np.uint16)) == {}
