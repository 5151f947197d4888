"""Zipf's law, tables of pairs with given margins, and replacements that keep shares."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from generation.engine.worlds.simtown.frequencies import (
    Marginals,
    check_marginals,
    pair_table,
    replacement_table,
    zipf,
)
from tests.worlds.simtown.frequency_tables import slow_pair_table

CLOSE = 1e-9


def normalised(weights: Sequence[float]) -> tuple[float, ...]:
    return tuple(weight / sum(weights) for weight in weights)


def shares(*, least: int = 2, most: int = 9) -> some.SearchStrategy[tuple[float, ...]]:
    """Return a strategy for shares that sum to one; some are zero."""
    weight = some.one_of(some.just(0.0), some.floats(0.01, 1.0))
    return some.lists(weight, min_size=least, max_size=most).filter(lambda found: sum(found) > 0).map(normalised)


@some.composite
def marginals(draw: some.DrawFn) -> Marginals:
    """Return shares of subjects and of objects that leave some room: at most 0.95 for each entity."""
    subjects = draw(shares(least=3, most=7))
    objects = draw(shares(least=len(subjects), most=len(subjects)))
    found = Marginals(subjects, objects)
    assume(max(one + two for one, two in zip(*found, strict=True)) <= 0.95)
    return found


@given(some.integers(1, 64), some.floats(0.0, 3.0))
def test_zipf_shares_are_proportional_to_a_power_of_the_rank(count: int, exponent: float) -> None:
    found = zipf(count, exponent)
    assert len(found) == count
    assert sum(found) == pytest.approx(1.0, abs=1e-12)
    for rank, share in enumerate(found, 1):
        assert share * rank**exponent == pytest.approx(found[0], rel=1e-9)


def test_zipf_by_hand() -> None:
    assert zipf(4, 1.0) == pytest.approx([12 / 25, 6 / 25, 4 / 25, 3 / 25])
    assert zipf(4, 0.0) == [0.25] * 4


@given(marginals())
def test_the_table_of_pairs_has_the_margins(found: Marginals) -> None:
    table = pair_table(found)
    assert (table >= 0).all()
    assert (np.diag(table) == 0).all()
    assert np.abs(table.sum(axis=1) - found.subjects).max() < CLOSE
    assert np.abs(table.sum(axis=0) - found.objects).max() < CLOSE


@given(marginals())
def test_rows_and_columns_of_the_table_are_independent_beside_the_diagonal(found: Marginals) -> None:
    table = pair_table(found)
    for i, j, k, other in permutations(range(len(table)), 4):
        one, two = table[i, j] * table[k, other], table[i, other] * table[k, j]
        assert abs(one - two) <= 1e-9 * max(one, two, 1e-6)


@given(marginals())
def test_the_table_of_pairs_is_that_of_plain_loops(found: Marginals) -> None:
    assert np.allclose(pair_table(found), slow_pair_table(found), rtol=1e-6, atol=1e-9)


def test_uniform_pairs_are_equally_frequent() -> None:
    table = pair_table(Marginals((0.2,) * 5, (0.2,) * 5))
    assert np.allclose(table, (np.ones((5, 5)) - np.eye(5)) / 20)


@pytest.mark.parametrize(("count", "exponent"), [(4, 1.0), (5, 1.0), (15, 1.0), (31, 1.0), (60, 1.0), (64, 1.2)])
def test_the_margins_of_our_own_shares_are_exact(count: int, exponent: float) -> None:
    own = tuple(zipf(count, exponent))
    table = pair_table(Marginals(own, own))
    assert np.abs(table.sum(axis=1) - own).max() < CLOSE
    assert np.abs(table.sum(axis=0) - own).max() < CLOSE
    assert np.allclose(table, table.T, atol=CLOSE)


@given(shares(most=12))
def test_replacements_keep_the_shares(found: tuple[float, ...]) -> None:
    own = np.array(found)
    top = float(own.max())
    assume(top <= 0.49 or top >= 0.5)  # just under one half, the iteration needs many rounds: see below
    table = replacement_table(own)
    assert np.abs(own @ table - own).max() < CLOSE
    assert np.abs(table.sum(axis=1) - (own > 0)).max() < CLOSE
    assert (table >= 0).all()


@given(shares(most=12))
def test_an_entity_is_replaced_by_another_one_wherever_possible(found: tuple[float, ...]) -> None:
    own = np.array(found)
    table, top = replacement_table(own), int(own.argmax())
    stays = own * np.diag(table)
    expected = np.zeros(len(own))
    expected[top] = max(2.0 * own[top] - 1.0, 0.0)  # all others together cannot take its place more often
    assert np.abs(stays - expected).max() < CLOSE


def test_replacements_by_hand() -> None:
    assert np.allclose(replacement_table(np.full(3, 1 / 3)), (np.ones((3, 3)) - np.eye(3)) / 2)
    assert np.allclose(replacement_table(np.array([0.5, 0.5])), [[0, 1], [1, 0]])
    expected = [[1 / 3, 1 / 3, 1 / 3], [1, 0, 0], [1, 0, 0]]
    assert np.allclose(replacement_table(np.array([0.6, 0.2, 0.2])), expected)
    assert np.allclose(replacement_table(np.array([1.0, 0.0])), [[1, 0], [0, 0]])
    assert (replacement_table(np.zeros(4)) == 0).all()


@pytest.mark.parametrize(("top", "close"), [(0.495, 1e-9), (0.499, 1e-6), (0.4999, 1e-5)])
def test_replacements_keep_shares_just_below_one_half(top: float, close: float) -> None:
    own = np.array([top, *[(1.0 - top) / 4] * 4])
    assert np.abs(own @ replacement_table(own) - own).max() < close


@pytest.mark.parametrize("what", ["subject", "object"])
def test_shares_that_do_not_sum_to_one_are_refused(what: str) -> None:
    good, bad = (0.25,) * 4, (0.25, 0.25, 0.25, 0.3)
    found = Marginals(bad, good) if what == "subject" else Marginals(good, bad)
    with pytest.raises(ValueError, match=rf"{what} shares that sum to 1, got a sum of 1\.05"):
        check_marginals(found, "abcd")
    check_marginals(Marginals(good, good), "abcd")


def test_an_entity_that_would_be_in_every_question_is_refused() -> None:
    with pytest.raises(ValueError, match=r"less than 1 .* got 1\.1 for 'b'"):
        check_marginals(Marginals((0.2, 0.6, 0.2), (0.25, 0.5, 0.25)), "abc")
    check_marginals(Marginals((0.2, 0.6, 0.2), (0.35, 0.3, 0.35)), "abc")
