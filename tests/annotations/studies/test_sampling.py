"""The choice of the questions that a study asks."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.models import Study
from annotations.studies import sampling
from annotations.studies.sampling import BadSample, even_quotas
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Split
from generation.splits.split_recipes import read_recipe
from generation.storage.split_index import SplitIndex


@pytest.fixture
def train(shapes: Dataset) -> Split:
    """Give a complete split of 16 questions about 4 scenes."""
    return shapes.splits.get(name="train")


def draft(split: Split, **options: Any) -> Study:
    return Study(split=split, **options)


def positions(study: Study) -> list[int]:
    return [position for position, _ in sampling.draw(study).places]


def test_a_sample_has_distinct_questions_in_order_with_their_scenes(train: Split) -> None:
    sample = sampling.draw(draft(train, wanted=10))
    assert len({position for position, _ in sample.places}) == 10
    assert sample.places == sorted(sample.places)
    scenes = dict(Question.objects.filter(split=train).values_list("position", "scene__position"))
    assert all(scenes[position] == scene for position, scene in sample.places)


def test_questions_are_given_in_random_order(train: Split) -> None:
    sample = sampling.draw(draft(train, wanted=16))
    assert sorted(sample.ranks) == list(range(16))
    assert list(sample.ranks) != list(range(16))


def test_the_same_seed_draws_the_same_sample(train: Split) -> None:
    assert sampling.draw(draft(train, wanted=8, seed=3)).places == sampling.draw(draft(train, wanted=8, seed=3)).places
    assert len({tuple(positions(draft(train, wanted=8, seed=seed))) for seed in range(6)}) > 3


def test_a_smaller_sample_is_part_of_a_larger_one(train: Split) -> None:
    assert set(positions(draft(train, wanted=5))) < set(positions(draft(train, wanted=12)))


def test_every_question_is_equally_likely(train: Split) -> None:
    drawn = Counter(position for seed in range(400) for position in positions(draft(train, wanted=4, seed=seed)))
    assert len(drawn) == 16
    assert all(60 < times < 140 for times in drawn.values())  # 100 are expected; this allows four deviations


def test_a_sample_larger_than_the_split_is_refused(train: Split) -> None:
    with pytest.raises(
        BadSample, match=r"Expected at most 16 questions, which are all of shapes/train, got 17\."
    ) as refused:
        sampling.draw(draft(train, wanted=17))
    assert refused.value.where == "wanted"


def test_an_even_sample_has_each_value_equally_often_or_all_its_questions(train: Split) -> None:
    there = Counter(Question.objects.filter(split=train).values_list("answer", flat=True))
    study = draft(train, wanted=10, evenly="answer")
    answers = dict(Question.objects.filter(split=train).values_list("position", "answer"))
    drawn = Counter(answers[position] for position in positions(study))
    assert drawn.total() == 10
    most = max(drawn.values())
    assert all(drawn[value] in (n, most, most - 1) for value, n in there.items())


def test_an_unknown_facet_is_refused(train: Split) -> None:
    with pytest.raises(BadSample, match="got weather"):
        sampling.draw(draft(train, wanted=4, evenly="weather"))


def test_a_sample_cannot_be_even_over_withheld_answers(shapes: Dataset) -> None:
    test = shapes.splits.get(name="test")
    assert "answer" not in {facet.name for facet in sampling.facets_of(test, SplitIndex.open(test))}
    with pytest.raises(BadSample, match="got answer"):
        sampling.draw(draft(test, wanted=2, evenly="answer"))


def test_a_question_set_is_sampled_like_any_split(train: Split) -> None:
    few = dataset_jobs.derive(train, name="few", recipe=read_recipe({"parent": "train", "sample": 6}))
    few.refresh_from_db()
    sample = sampling.draw(draft(few, wanted=6))
    assert [position for position, _ in sample.places] == list(range(6))
    held = SplitIndex.open(few).in_source([position for position, _ in sample.places])
    scenes = dict(Question.objects.filter(split=train).values_list("position", "scene__position"))
    assert [scenes[position] for position in held] == [scene for _, scene in sample.places]


def test_quotas_of_some_groups_by_hand() -> None:
    assert even_quotas([10, 10, 10], 10) == [4, 3, 3]
    assert even_quotas([2, 50, 50], 30) == [2, 14, 14]
    assert even_quotas([0, 3], 3) == [0, 3]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=9), st.data())
def test_quotas_are_as_equal_as_possible(sizes: list[int], data: st.DataObject) -> None:
    wanted = data.draw(st.integers(0, sum(sizes)))
    quotas = even_quotas(sizes, wanted)
    assert sum(quotas) == wanted
    most = max(quotas)
    assert all(quota == size or most - 1 <= quota <= min(size, most) for quota, size in zip(quotas, sizes, strict=True))
