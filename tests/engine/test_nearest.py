"""Nearest questions, beside a twin that compares each with each in fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.nearest import bags, nearest, words_of

VOCABULARY = "abcdef"
BAGS = st.lists(st.frozensets(st.sampled_from(VOCABULARY)), max_size=12)


def postings(questions):
    return {
        word: np.array([at for at, bag in enumerate(questions) if word in bag], dtype=np.uint32) for word in VOCABULARY
    }


def likeness(one, two):
    return Fraction(len(one & two), len(one | two)) if one | two else Fraction(0)


def twin(known, asked, usable):
    """Compare with every question; the first of the nearest."""
    places = [place for place in range(len(known)) if usable[place]]
    return [max(places, key=lambda place: (likeness(known[place], bag), -place), default=-1) for bag in asked]


@given(BAGS, BAGS, st.integers(0, 2**12 - 1))
def test_the_nearest_is_the_one_that_comparing_each_with_each_finds(known, asked, mask):
    usable = np.array([bool(mask >> place & 1) for place in range(len(known))], dtype=np.bool_)
    words = words_of(list(postings(known).values()), questions=len(known))
    codes = [np.array([VOCABULARY.index(word) for word in sorted(bag)], dtype=np.int64) for bag in asked]
    found = nearest(words, codes, [len(bag) for bag in asked], usable)
    assert found.tolist() == twin(known, asked, usable)


def test_words_that_nobody_has_make_everything_less_near():
    known = [{"a", "b"}, {"a", "b", "c"}]
    words = words_of(list(postings(known).values()), questions=2)
    codes = [np.array([0], dtype=np.int64)]
    assert nearest(words, codes, [3], np.ones(2, dtype=np.bool_)).tolist() == [0]


@given(BAGS, st.lists(st.integers(0, 11)))
def test_bags_are_the_words_of_the_questions_asked(questions, places):
    asked = np.array([place for place in places if place < len(questions)], dtype=np.int64)
    assert bags(postings(questions), asked) == [set(questions[place]) for place in asked]
