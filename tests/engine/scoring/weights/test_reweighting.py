"""Reweighted accuracy, compared with a twin and with the accuracy on questions with equally frequent values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.figures import wilson
from generation.engine.scoring.weights.reweighting import accuracy_of_slices, inverse_frequencies, reweighted_accuracy
from generation.engine.worlds.simtown.frequencies import Marginals, pair_table, zipf
from tests.proof import size


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.booleans()), min_size=1, max_size=60))
def test_reweighted_accuracy_equals_the_weighted_mean_of_the_twin(rows: list[tuple[int, int, bool]]) -> None:
    train = (np.array([50, 20, 0, 10, 1]), np.array([40, 30, 20, 10]))
    codes = [np.array([row[facet] for row in rows]) for facet in (0, 1)]
    weights = inverse_frequencies(codes, train)
    expected = []
    for one, two, _ in rows:
        product = (train[0][one] / 81) * (train[1][two] / 100)
        expected.append(1 / product if product else 0.0)
    assert weights == pytest.approx(expected)
    found = reweighted_accuracy(np.array([row[2] for row in rows]), weights)
    if not sum(expected):
        assert found is None
        return
    assert found is not None
    assert found.share == pytest.approx(
        sum(weight * row[2] for weight, row in zip(expected, rows, strict=True)) / sum(expected)
    )
    assert found.unseen == sum(row[0] == 2 for row in rows)
    assert found.n + found.unseen == len(rows)
    assert 1 - 1e-9 <= found.effective <= found.n + 1e-9
    assert found.interval.low <= found.share + 1e-9 and found.share <= found.interval.high + 1e-9


def test_a_question_without_a_value_has_no_weight() -> None:
    weights = inverse_frequencies([np.array([0, 255, -1], np.int64)], [np.array([3, 1])])
    assert weights.tolist() == [4 / 3, 0.0, 0.0]


def test_equal_frequencies_give_the_plain_accuracy() -> None:
    is_right = np.array([True, False, True, True] * 25)
    found = reweighted_accuracy(is_right, inverse_frequencies([np.arange(100) % 5], [np.full(5, 9)]))
    assert found is not None
    assert (found.share, found.effective, found.unseen) == (0.75, pytest.approx(100), 0)


def test_reweighted_accuracy_agrees_with_the_accuracy_on_uniform_questions() -> None:
    """The model is better on pairs that are frequent in training. The intervals of both accuracies must overlap."""
    chance = np.random.Generator(np.random.PCG64(4))
    entities, rounds = 15, size(400, name="reweighted accuracies against uniform tests", least=20)
    usual = tuple(zipf(entities, 1.0))
    zipfian, uniform = pair_table(Marginals(usual, usual)), pair_table(Marginals(*[tuple(zipf(entities, 0.0))] * 2))
    sees = 0.5 + 0.5 / (1 + 1 / (400 * zipfian + 1e-12))
    train = sample(chance, zipfian, 20_000)
    counts = [np.bincount(train[:, side], minlength=entities) for side in (0, 1)]
    misses = 0
    for _ in range(rounds):
        val, test = sample(chance, zipfian, 4000), sample(chance, uniform, 2000)
        right = [chance.random(len(rows)) < sees[rows[:, 0], rows[:, 1]] for rows in (val, test)]
        found = reweighted_accuracy(right[0], inverse_frequencies([val[:, 0], val[:, 1]], counts, are_different=True))
        plain = reweighted_accuracy(right[1], np.ones(len(test)))
        assert found is not None and plain is not None
        misses += not (found.interval.low <= plain.interval.high and plain.interval.low <= found.interval.high)
    assert misses <= rounds * 0.02


def sample(chance: np.random.Generator, table: np.ndarray, count: int) -> np.ndarray:
    places = chance.choice(table.size, size=count, p=table.ravel() / table.sum())
    return np.stack(np.divmod(places, table.shape[1]), axis=1)


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 8)), min_size=1, max_size=8), st.data())
def test_accuracy_of_slices_equals_counting_slice_by_slice(slices: list[tuple[int, int]], data: st.DataObject) -> None:
    weights = [weight for _, weight in slices]
    if not any(weights):
        return
    rights = [[data.draw(st.integers(0, n)) for n, _ in slices] for _ in range(2)]
    n = np.array([n for n, _ in slices], np.float64)
    found = accuracy_of_slices(n, np.array(rights, np.float64), np.array(weights, np.float64))
    for one, right in zip(found, rights, strict=True):
        wanted = sum(weight * own / n for (n, weight), own in zip(slices, right, strict=True)) / sum(weights)
        assert one.share == pytest.approx(wanted)
        assert one.interval.low <= one.share + 1e-9 and one.share <= one.interval.high + 1e-9
        assert one.n == sum(n for n, weight in slices if weight)
        assert one.unseen == sum(n for n, weight in slices if not weight)
    assert found[0].effective == found[1].effective


def test_a_single_slice_has_the_interval_of_its_questions() -> None:
    [found] = accuracy_of_slices(np.array([200.0]), np.array([[150.0]]), np.array([3.0]))
    assert found.effective == pytest.approx(200)
    assert found.interval == pytest.approx(wilson(150, 200))


@pytest.mark.parametrize("n", [30, 31, 77])
def test_errors_of_rounding_take_no_question_away(n: int) -> None:
    for right in range(n + 1):
        [alone] = accuracy_of_slices(np.array([n, 50.0]), np.array([[right, 10.0]]), np.array([1.0, 0.0]))
        assert int(alone.effective) == n
        assert alone.interval == pytest.approx(wilson(right, n))
    for weight in (0.1, 1 / 3, 0.7, 1 / 7):
        found = reweighted_accuracy(np.ones(n, np.bool_), np.full(n, weight))
        assert found is not None and int(found.effective) == n


def test_the_interval_of_slices_contains_the_true_accuracy_in_95_of_100() -> None:
    chance = np.random.default_rng(3)
    sizes, true, weights = np.array([40, 400, 60, 2000]), np.array([0.9, 0.5, 0.98, 0.7]), np.array([5.0, 1, 3, 0.5])
    target = float((true * weights).sum() / weights.sum())
    covered, widths, times = 0, [], 4000
    for _ in range(times):
        rights = chance.binomial(sizes, true).astype(np.float64)
        [one] = accuracy_of_slices(sizes.astype(np.float64), rights[None], weights)
        covered += one.interval.low <= target <= one.interval.high
        widths.append(one.interval.high - one.interval.low)
    assert 0.94 <= covered / times <= 0.985
    exact = 2 * 1.96 * math.sqrt(((weights / weights.sum()) ** 2 * true * (1 - true) / sizes).sum())
    assert np.mean(widths) == pytest.approx(exact, rel=0.15)
