"""Outlines of elements; borders are compared with a slow brute-force version."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from generation.browsing.outlines import loops, places, silhouette, simplify, smooth_border, svg_path_of

MASKS = arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9)))


def filled(borders, shape):
    """Return the pixels from whose centre a ray to the right crosses the borders an odd number of times."""
    result = np.zeros(shape, dtype=bool)
    for loop in borders:
        for (x1, y1), (x2, y2) in zip(loop, loop[1:] + loop[:1], strict=True):
            if x1 == x2:  # a vertical edge of length one
                result[min(y1, y2), :x1] ^= True
    return result


@given(MASKS)
@settings(max_examples=200, deadline=None)
def test_borders_enclose_exactly_the_mask(mask):
    assert np.array_equal(filled(loops(mask), mask.shape), mask)


@given(MASKS)
@settings(max_examples=100, deadline=None)
def test_every_border_goes_in_steps_of_one_pixel_and_closes(mask):
    for loop in loops(mask):
        for (x1, y1), (x2, y2) in zip(loop, loop[1:] + loop[:1], strict=True):
            assert abs(x1 - x2) + abs(y1 - y2) == 1


def test_a_hole_has_its_own_border():
    mask = np.ones((5, 5), dtype=bool)
    mask[2, 2] = False
    assert len(loops(mask)) == 2


def test_pixels_that_touch_only_at_a_corner_have_separate_borders():
    assert len(loops(np.eye(3, dtype=bool))) == 3


def test_the_outline_of_a_disc_stays_within_a_pixel_of_it():
    rows, columns = np.mgrid[:80, :80]
    mask = (rows + 0.5 - 40) ** 2 + (columns + 0.5 - 40) ** 2 < 30**2
    (loop,) = loops(mask)
    points = simplify(smooth_border(loop))
    radii = np.hypot(points[:, 0] - 40, points[:, 1] - 40)
    assert np.all(np.abs(radii - 30) < 0.8)
    assert len(points) < len(loop) / 3


def test_only_visible_elements_have_places():
    ids = np.zeros((20, 30), dtype=np.uint16)
    ids[2:6, 4:10] = 1
    ids[10:14, 20:24] = 3
    found = places(ids)
    assert sorted(found) == [0, 2]
    assert found[0] == (7.0, 4.0, 24)


def test_a_silhouette_covers_only_its_element():
    ids = np.zeros((20, 40), dtype=np.uint16)
    ids[2:14, 4:10] = 1
    ids[2:14, 10:30] = 2
    numbers = [float(n) for n in re.findall(r"[\d.]+", silhouette(ids, 1))]
    assert min(numbers[::2]) >= 10.0
    assert max(numbers[::2]) == 30.0
    assert silhouette(ids, 7) == ""


def test_path_data_stays_inside_the_picture():
    ids = np.ones((20, 30), dtype=bool)
    numbers = [float(n) for n in re.findall(r"[\d.]+", svg_path_of(ids))]
    assert min(numbers) == 0.0
    assert max(numbers) == 30.0


def test_an_empty_mask_has_no_outline():
    assert svg_path_of(np.zeros((4, 4), dtype=bool)) == ""
