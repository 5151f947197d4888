"""How alike two distributions are, and how often guesses from one are right on another, against slow references."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.counts.label_shift import COMMON_WORDS, guessing_accuracy, similarity

COUNTS = st.lists(st.integers(0, 10_000), min_size=1, max_size=16)
PAIRS = st.integers(1, 16).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(0, 10_000), min_size=size, max_size=size) for _ in range(2)))
)


def slow_similarity(one: list[int], other: list[int]) -> float:
    return sum(math.sqrt(Fraction(a, sum(one)) * Fraction(b, sum(other))) for a, b in zip(one, other, strict=True))


def slow_accuracy(guessed: list[int], asked: list[int]) -> Fraction:
    """Return the share of right guesses among all pairs of a guess and a question."""
    right = sum(a * b for a, b in zip(guessed, asked, strict=True))
    return Fraction(right, sum(guessed) * sum(asked))


@given(PAIRS)
def test_both_figures_equal_slow_ones(pair: tuple[list[int], list[int]]) -> None:
    one, other = map(np.array, pair)
    if not (one.sum() and other.sum()):
        assert similarity(one, other) is None
        assert guessing_accuracy(one, other) is None
        return
    assert similarity(one, other) == pytest.approx(slow_similarity(*pair))
    assert similarity(one, other) == similarity(other, one)
    assert guessing_accuracy(one, other) == pytest.approx(float(slow_accuracy(*pair)))


@given(COUNTS.filter(any), st.integers(1, 50))
def test_a_distribution_is_like_itself_at_any_size(counts: list[int], times: int) -> None:
    found = similarity(np.array(counts), times * np.array(counts))
    assert found == pytest.approx(1)
    assert found is not None
    assert found <= 1


def test_distributions_without_overlap_are_not_alike() -> None:
    assert similarity(np.array([3, 0, 1]), np.array([0, 5, 0])) == 0
    assert guessing_accuracy(np.array([3, 0, 1]), np.array([0, 5, 0])) == 0


def test_the_paper_leaves_out_23_words() -> None:
    assert len(COMMON_WORDS) == 23
