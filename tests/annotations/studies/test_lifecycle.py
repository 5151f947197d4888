"""The conditions for opening a study; opening it, closing it, and opening it again."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from annotations.models import Study
from annotations.studies import lifecycle, planning
from annotations.studies.lifecycle import NotReady
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.splits.split_recipes import read_recipe
from webapp.models import User


@pytest.fixture
def ready(shapes: Dataset) -> Study:
    """Give a draft that may be opened: it asks four questions of train and practises with questions of val."""
    return make(shapes)


def make(shapes: Dataset, **options: Any) -> Study:
    owner, _ = User.objects.get_or_create(username="rosa")
    fields = {
        "split": shapes.splits.get(name="train"), "easy": shapes.splits.get(name="val"), "owner": owner,
        "title": "Shapes", "wanted": 4, "consent": "Do you agree?", "instructions": "Look, then answer.",
        "completed": "DONE", "screened_out": "OUT", "full": "FULL",
    }  # fmt: skip
    return Study.objects.create(**(fields | options))


def wrong(study: Study) -> list[str]:
    return [problem.where for problem in lifecycle.problems(study)]


def test_an_opened_study_has_a_slot_for_every_answer(ready: Study) -> None:
    lifecycle.open_study(ready)
    assert (ready.state, ready.questions.count(), ready.slots.count()) == (Study.State.OPEN, 4, 12)
    assert ready.opened is not None
    assert set(ready.slots.values_list("rank", flat=True)) == {0, 1, 2, 3}


def test_the_pay_for_a_session_is_fixed_when_a_study_is_opened(ready: Study, shapes: Dataset) -> None:
    worth = planning.plan(ready).pay
    lifecycle.open_study(ready)
    ready.refresh_from_db()
    assert ready.reward == worth > 0
    generous = make(shapes, reward=Decimal("7.50"))
    lifecycle.open_study(generous)
    generous.refresh_from_db()
    assert generous.reward == Decimal("7.50")


def test_a_study_is_opened_once(ready: Study) -> None:
    twin = Study.objects.get(pk=ready.pk)
    for one in (ready, ready, twin):
        lifecycle.open_study(one)
    assert (ready.slots.count(), ready.texts.count()) == (12, 2)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"wanted": 17}, "wanted"),
        ({"evenly": "weather"}, "evenly"),
        ({"completed": ""}, "completed"),
        ({"screened_out": ""}, "screened_out"),
        ({"full": ""}, "full"),
        ({"consent": " "}, "consent"),
        ({"instructions": ""}, "instructions"),
        ({"easy": None}, "easy"),
        ({"practice_right": 7}, "practice_right"),
        ({"opens": datetime(2026, 5, 2, tzinfo=UTC), "closes": datetime(2026, 5, 1, tzinfo=UTC)}, "closes"),
    ],
)
def test_a_study_with_a_wrong_field_is_not_opened(shapes: Dataset, options: dict[str, Any], field: str) -> None:
    study = make(shapes, **options)
    assert wrong(study) == [field]
    with pytest.raises(NotReady):
        lifecycle.open_study(study)
    study.refresh_from_db()
    assert (study.state, study.slots.count()) == (Study.State.DRAFT, 0)


def test_all_problems_are_reported_together(shapes: Dataset) -> None:
    assert wrong(make(shapes, wanted=99, completed="", consent="")) == ["completed", "consent", "wanted"]


def test_practice_never_comes_from_withheld_answers(shapes: Dataset) -> None:
    study = make(shapes, easy=shapes.splits.get(name="test"))
    assert wrong(study) == ["easy"]
    assert [split.name for split in lifecycle.easy_splits(study.split)] == ["val"]


def test_practice_never_has_a_question_of_the_sample(shapes: Dataset) -> None:
    train = shapes.splits.get(name="train")
    assert wrong(make(shapes, easy=train)) == ["easy"]
    first = derive_split(train, "first", first=8)
    assert wrong(make(shapes, easy=first, wanted=16)) == ["easy"]
    rest = derive_split(train, "rest", filter="q=metal")
    asked = derive_split(train, "asked", filter="q=sphere")
    expected = [] if not set(places(rest)) & set(places(asked)) else ["easy"]
    assert wrong(make(shapes, split=asked, easy=rest, wanted=asked.questions)) == expected


def test_without_practice_and_checks_no_other_split_is_needed(shapes: Dataset) -> None:
    assert wrong(make(shapes, easy=None, practice=0, practice_right=0, checks=0)) == []


def test_only_the_owner_of_a_withheld_split_may_study_it(shapes: Dataset) -> None:
    study = make(shapes, split=shapes.splits.get(name="test"))
    assert wrong(study) == ["split"]
    Dataset.objects.filter(pk=shapes.pk).update(owner=study.owner)
    assert wrong(Study.objects.get(pk=study.pk)) == []


def test_a_study_needs_a_dataset_with_pictures(ready: Study) -> None:
    Dataset.objects.filter(pk=ready.split.dataset_id).update(with_images=False)
    assert wrong(Study.objects.get(pk=ready.pk)) == ["split"]


def test_a_study_is_closed_and_opened_again(ready: Study) -> None:
    assert not lifecycle.close(ready)
    lifecycle.open_study(ready)
    assert lifecycle.close(ready)
    assert (ready.state, ready.closed is None) == (Study.State.CLOSED, False)
    assert lifecycle.reopen(ready)
    assert (ready.state, ready.closed, ready.slots.count()) == (Study.State.OPEN, None, 12)
    assert not lifecycle.reopen(ready)


def test_all_versions_of_the_texts_for_participants_are_kept(ready: Study) -> None:
    lifecycle.keep_texts(ready)
    assert ready.texts.count() == 0
    lifecycle.open_study(ready)
    ready.consent = "Do you agree to that?"
    for _ in range(2):
        lifecycle.keep_texts(ready)
    assert list(ready.texts.filter(kind="consent").values_list("text", flat=True)) == [
        "Do you agree?",
        "Do you agree to that?",
    ]
    assert ready.texts.filter(kind="instructions").count() == 1


def derive_split(parent: Split, name: str, **recipe: Any) -> Split:
    split = dataset_jobs.derive(parent, name=name, recipe=read_recipe({"parent": parent.name, **recipe}))
    split.refresh_from_db()
    return split


def places(split: Split) -> list[int]:
    from generation.storage.split_index import SplitIndex

    return SplitIndex.open(split).in_source(list(range(split.questions)))
