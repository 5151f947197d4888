"""Figures that follow from sums over questions: slices, intervals, runs, differences and gaps."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring import question_terms
from generation.engine.scoring.counts.count_errors import count_terms
from generation.engine.scoring.counts.grounding import grounding_terms, match_boxes
from generation.engine.scoring.counts.metrics import METRICS
from generation.engine.scoring.figures import wilson
from generation.engine.scoring.question_terms import (
    FEW,
    QuestionTerms,
    balanced_accuracy,
    mean_of,
    mean_over_runs,
    share_of,
    weighted_sum,
)
from generation.engine.scoring.score import Slicing
from tests.engine.scoring.counts.box_twins import Answered, pack
from tests.proof import sample, size


@cache
def some_terms(n: int, *, seed: int = 0) -> dict[str, QuestionTerms]:
    """Return the terms of every metric for `n` questions with errors of many sizes."""
    chance = np.random.Generator(np.random.PCG64(seed))
    true = chance.integers(0, 8, n)
    numbers = np.where(chance.random(n) < 0.05, np.nan, true + chance.standard_t(4, n))
    boxes = chance.integers(0, 20, (n, 2, 2, 2))
    questions = [
        Answered(
            [((*np.minimum(*box), *np.maximum(*box)), float(chance.random())) for box in pair],
            [(*np.minimum(*pair[0]), *np.maximum(*pair[0]))] if number else [],
        )
        for pair, number in zip(boxes, true, strict=True)
    ]
    frequent = np.full(n, 1)
    counted = count_terms(numbers, true, most=15, frequent=frequent, is_own=true % 2 == 1)
    return counted | grounding_terms(match_boxes(*pack(questions)))


def test_every_metric_has_terms() -> None:
    assert set(some_terms(5)) == set(METRICS)


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(0, 7), st.booleans()), min_size=1, max_size=30))
def test_a_question_counts_in_the_slice_of_each_of_its_flags(rows: list[tuple[float, int, bool]]) -> None:
    values, masks, is_counted = (np.array(column) for column in zip(*rows, strict=True))
    terms = mean_of(values.astype(float), is_counted)
    sliced = terms.slices(Slicing(masks.astype(np.uint8), 3, is_flags=True))
    for bit in range(3):
        among = masks >> bit & 1 == 1
        assert sliced.n[bit] == terms.count(among)
        figure = terms.figure(among)
        assert np.isnan(sliced.figures[bit]) if figure is None else sliced.figures[bit] == pytest.approx(figure)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.data())
def test_slices_of_a_sample_use_only_its_questions(is_in: list[bool], data: st.DataObject) -> None:
    among = np.array(is_in)
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(is_in), max_size=len(is_in))), np.uint8)
    for terms in some_terms(len(is_in)).values():
        sliced = terms.slices(Slicing(codes, 2), among=among)
        for value in range(2):
            figure = terms.figure(among & (codes == value))
            assert np.isnan(sliced.figures[value]) if figure is None else sliced.figures[value] == pytest.approx(figure)


@pytest.mark.parametrize("name", METRICS)
def test_an_interval_contains_the_figure_and_shrinks_with_more_questions(name: str) -> None:
    few, many = (some_terms(n)[name] for n in (200, 20 * FEW))
    widths = []
    for terms in (few, many):
        figure, interval = terms.figure(), terms.interval()
        assert figure is not None and interval is not None
        assert interval.low <= figure <= interval.high
        widths.append(interval.high - interval.low)
    assert 0 < widths[1] < widths[0] / 3


@pytest.mark.parametrize("name", sample(METRICS, gate=6))
def test_the_normal_limit_has_the_interval_of_questions_that_are_drawn_one_by_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = some_terms(1000)[name]
    limit = np.quantile(terms.resample(resamples=20_000), [0.025, 0.5, 0.975])
    monkeypatch.setattr(question_terms, "FEW", 1000)
    drawn = np.quantile(terms.resample(resamples=4000), [0.025, 0.5, 0.975])
    assert limit == pytest.approx(drawn, abs=0.12 * float(drawn[2] - drawn[0]))


def test_intervals_contain_the_true_figure_as_often_as_they_say() -> None:
    rounds = size(1000, name="bootstrap intervals of a mean", least=100)
    chance = np.random.Generator(np.random.PCG64(8))
    hits = 0
    for _ in range(rounds):
        errors = chance.standard_normal(100)
        found = mean_of(np.abs(errors), np.ones(100, np.bool_)).interval()
        assert found is not None
        hits += found.low <= np.sqrt(2 / np.pi) <= found.high
    assert 0.90 <= hits / rounds <= 0.99


def test_the_same_seed_gives_the_same_interval() -> None:
    terms = some_terms(100)["rmse"]
    assert terms.interval() == terms.interval() != terms.interval(seed=1)


def test_a_share_has_wilsons_interval() -> None:
    is_hit, is_counted = np.arange(50) < 20, np.arange(50) % 2 == 0
    assert share_of(is_hit, is_counted).interval() == wilson(10, 25)


def test_there_is_no_figure_and_no_interval_without_questions_that_count() -> None:
    for terms in some_terms(20).values():
        nobody = np.zeros(20, np.bool_)
        assert (terms.figure(nobody), terms.interval(nobody), terms.count(nobody)) == (None, None, 0)
        assert np.isnan(terms.resample(nobody, resamples=3)).all()


@pytest.mark.parametrize("name", METRICS)
def test_the_mean_over_runs_is_the_mean_of_their_figures(name: str) -> None:
    runs = [some_terms(60, seed=seed)[name] for seed in range(3)]
    among = np.arange(60) < 50
    figures = [run.figure(among) for run in runs]
    assert mean_over_runs(runs).figure(among) == pytest.approx(np.mean(figures))
    assert mean_over_runs(runs[:1]).interval() == runs[0].interval()


def test_the_mean_over_runs_of_a_share_has_wilsons_interval() -> None:
    everything = np.ones(40, np.bool_)
    runs = [share_of(np.arange(40) < right, everything) for right in (10, 20)]
    assert mean_over_runs(runs).interval() == wilson(15, 40)


def test_a_paired_difference_resamples_the_questions_of_both_together() -> None:
    terms = some_terms(300)["rmse"]
    nothing = weighted_sum([terms, terms], [1, -1])
    assert (nothing.figure(), nothing.interval()) == (0, (0, 0))


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(-2, 3)), min_size=1, max_size=30))
def test_balanced_accuracy_is_the_mean_over_the_answers(rows: list[tuple[float, int]]) -> None:
    terms = balanced_accuracy(*(np.array(column) for column in zip(*rows, strict=True)))
    answers = {answer for _, answer in rows if answer >= 0}
    known = [[score for score, answer in rows if answer == one] for one in answers]
    figure = terms.figure()
    if not known:
        assert figure is None
    else:
        assert figure == pytest.approx(np.mean([np.mean(scores) for scores in known]))
