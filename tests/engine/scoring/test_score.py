"""Scores by slices, crossed facets, bands and runs, compared with twins that look at each question in turn."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.figures import Averaged, wilson
from generation.engine.scoring.score import Slicing, in_bands, right_of, score, tally

VALUES = 4
NOTHING = 255
CODES = st.integers(0, VALUES - 1) | st.just(NOTHING)
FLAGS = st.integers(0, 2**VALUES - 1) | st.just(NOTHING)
QUESTION = st.tuples(st.integers(-3, 2), st.integers(0, 2), CODES, FLAGS, st.booleans())
QUESTIONS = st.lists(QUESTION, max_size=60)


def arrays(questions):
    """Return predictions, answers, a slicing by values, a slicing by flags, and which questions count."""
    columns = list(zip(*questions, strict=True)) or [(), (), (), (), ()]
    said, true = (np.array(columns[at], np.int64) for at in (0, 1))
    plain, flags = (np.array(columns[at], np.uint8) for at in (2, 3))
    return said, true, Slicing(plain, VALUES), Slicing(flags, VALUES, is_flags=True), np.array(columns[4], np.bool_)


def has(slicing, place, value):
    """Return whether a question has a value of a slicing."""
    code = int(slicing.codes[place])
    if code == NOTHING:
        return False
    return bool(code >> value & 1) if slicing.is_flags else code == value


def count_one_by_one(said, true, among, wanted):
    """Return how many questions are wanted, and how many of them are right."""
    n = right = 0
    for place in range(len(said)):
        if among[place] and wanted(place):
            n += 1
            right += said[place] >= 0 and said[place] == true[place]
    return n, right


@given(QUESTIONS)
def test_every_slice_equals_counting_one_by_one(questions):
    said, true, plain, flags, among = arrays(questions)
    found = score(said, true, {"plain": plain, "flags": flags}, among=among)
    assert (found.n, found.right) == count_one_by_one(said, true, among, lambda place: True)
    for name, slicing in (("plain", plain), ("flags", flags)):
        for value in range(VALUES):
            twin = count_one_by_one(said, true, among, lambda place, s=slicing, v=value: has(s, place, v))
            assert (found.facets[name].n[value], found.facets[name].right[value]) == twin


@given(QUESTIONS, st.booleans(), st.booleans())
def test_every_cell_of_two_facets_equals_counting_one_by_one(questions, one_is_flags, two_is_flags):
    said, true, plain, flags, among = arrays(questions)
    one, two = flags if one_is_flags else plain, flags if two_is_flags else plain
    n, right = tally(one, two, among=among), tally(one, two, among=among & right_of(said, true).astype(bool))
    assert n.shape == right.shape == (VALUES, VALUES)
    for a in range(VALUES):
        for b in range(VALUES):
            twin = count_one_by_one(
                said, true, among, lambda place, a=a, b=b: has(one, place, a) and has(two, place, b)
            )
            assert (n[a, b], right[a, b]) == twin


@given(QUESTIONS)
def test_crossed_facets_are_symmetric_and_their_sum_is_the_slice(questions):
    said, true, plain, flags, _ = arrays(questions)
    assert np.array_equal(tally(plain, flags), tally(flags, plain).T)
    everything = Slicing(np.zeros(len(said), np.uint8), 1)
    assert np.array_equal(tally(everything, plain)[0], score(said, true, {"plain": plain}).facets["plain"].n)


@given(st.lists(st.integers(0, 9) | st.just(NOTHING), max_size=40), st.sets(st.integers(0, 11), min_size=1))
def test_a_band_contains_the_questions_with_numbers_in_its_range(codes, ends):
    numbers = [3 * code for code in range(10)]
    firsts = sorted(ends)
    bands = list(zip(firsts, [*(first - 1 for first in firsts[1:]), 14], strict=True))
    found = in_bands(np.array(codes, np.uint8), numbers, bands)
    assert found.values == len(bands)
    for code, place in zip(codes, found.codes.tolist(), strict=True):
        inside = [at for at, (low, high) in enumerate(bands) if code != NOTHING and low <= numbers[code] <= high]
        assert place == (inside[0] if inside else NOTHING)


@given(st.integers(1, 50).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=2, max_size=6))))
def test_mean_and_deviation_of_runs_equal_the_textbook_formulas(counted):
    n, rights = counted
    found = Averaged(n, tuple(rights))
    shares = [right / n for right in rights]
    assert found.mean == pytest.approx(statistics.mean(shares))
    assert found.deviation == pytest.approx(statistics.stdev(shares))
    assert found.interval == wilson(sum(rights) / len(rights), n)
    low, high = found.interval
    assert low <= found.mean + 1e-12 and found.mean <= high + 1e-12


def test_one_run_has_no_deviation_and_no_questions_have_no_mean():
    assert (Averaged(4, (1,)).mean, Averaged(4, (1,)).deviation) == (0.25, None)
    assert (Averaged(0, (0, 0)).mean, Averaged(0, (0, 0)).deviation, Averaged(0, ()).mean) == (None, None, None)
