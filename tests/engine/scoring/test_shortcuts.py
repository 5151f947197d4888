"""Guesses without looking at pictures, compared with slow and obvious twins."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.shortcuts import (
    NONE,
    UNKNOWN,
    count_known,
    distinct,
    modes,
    sample_positions,
    score,
    table,
)

CODES = st.lists(st.tuples(st.integers(-1, 5), st.integers(-2, 4)), max_size=40)


def ints(values):
    return np.array(list(values), dtype=np.int64)


def modes_twin(pairs, count):
    """Return the most frequent answer of each group and of all, counted one by one."""
    overall = Counter(answer for _, answer in pairs if answer >= 0)
    groups = defaultdict(Counter)
    for group, answer in pairs:
        if group >= 0 and answer >= 0:
            groups[group][answer] += 1

    def most(counter):
        return min(counter, key=lambda answer: (-counter[answer], answer), default=NONE)

    return [most(groups[group] or overall) for group in range(count)] + [most(overall)]


@given(CODES)
def test_modes_equal_those_counted_one_by_one(pairs):
    groups, answers = ints(g for g, _ in pairs), ints(a for _, a in pairs)
    assert modes(groups, answers, count=6).tolist() == modes_twin(pairs, 6)


@given(CODES)
def test_no_constant_guess_beats_the_modes_on_their_training_data(pairs):
    groups, answers = ints(g for g, _ in pairs), ints(a for _, a in pairs)
    chances = np.zeros(len(pairs))
    learned = score(modes(groups, answers, count=6)[groups], answers, chances).right
    for constant in range(5):
        assert learned >= score(np.full(len(pairs), constant), answers, chances).right


@given(CODES)
def test_the_score_counts_questions_with_an_answer(pairs):
    guesses, answers = ints(g for g, _ in pairs), ints(a for _, a in pairs)
    found = score(guesses, answers, np.full(len(pairs), 0.25))
    assert found.n == sum(answer != NONE for answer in answers)
    assert found.right == sum(guess == answer >= 0 for guess, answer in pairs)
    assert found.chance == (0.25 if found.n else 0)


def test_an_answer_outside_the_vocabulary_counts_as_wrong():
    assert score(ints([UNKNOWN, 1]), ints([UNKNOWN, 1]), np.array([0.5, 1.0])) == (2, 1, 0.75)


def test_without_training_answers_there_is_no_guess():
    assert modes(ints([0, 1]), ints([NONE, NONE]), count=2).tolist() == [NONE] * 3
    assert modes(ints([]), ints([]), count=0).tolist() == [NONE]


def test_codes_are_translated_by_value():
    assert table(["no", "yes", "red"], ["yes", "no"], size=5).tolist() == [1, 0, -1, -1, -1]


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_distinct_and_known_texts_are_counted_as_sets_and_lists_do(asked, learned):
    texts, others = np.array(asked, dtype=np.uint64), np.array(learned, dtype=np.uint64)
    assert distinct(texts) == len(set(asked))
    assert count_known(texts, others) == sum(text in set(learned) for text in asked)


@given(st.integers(0, 5000), st.integers(1, 50))
def test_a_sample_takes_one_position_from_each_part(n, most):
    found = sample_positions(n, most).tolist()
    assert found == sample_positions(n, most).tolist()
    assert len(found) == min(n, most)
    ends = [part * n // most for part in range(most + 1)] if n > most else range(n + 1)
    assert all(low <= position < high for position, (low, high) in zip(found, pairwise(ends), strict=True))
