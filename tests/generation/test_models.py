"""Constraints of the database, and who sees which dataset."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction

from generation.making.progress import progress_of
from generation.models import Dataset, Job, Question, Scene, Split
from webapp.models import User

pytestmark = pytest.mark.django_db


def dataset(slug: str = "rows", **fields: Any) -> Dataset:
    return Dataset.objects.create(slug=slug, world="fake-rows", spec="{}", engine_version="1", release="0", **fields)


def split(**fields: Any) -> Split:
    return Split.objects.create(**{"dataset": dataset(), "name": "train", "ordinal": 0, **fields})


def refused(make: Any) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make()


@pytest.mark.parametrize("slug", ["new", "q", "export", "edit", ""])
def test_empty_slugs_and_slugs_that_are_addresses_are_refused(slug: str) -> None:
    refused(lambda: dataset(slug))


def test_two_datasets_cannot_have_the_same_slug() -> None:
    dataset("a")
    refused(lambda: dataset("a"))


def test_a_complete_dataset_must_have_a_fingerprint() -> None:
    refused(lambda: dataset(state="complete"))


def test_an_unknown_state_is_refused() -> None:
    refused(lambda: dataset(state="sleeping"))


def test_a_complete_split_must_be_sealed() -> None:
    refused(lambda: split(state="complete"))


def test_a_withheld_generated_split_must_have_a_secret() -> None:
    refused(lambda: split(withheld=True))


def test_a_secret_must_have_its_digest() -> None:
    refused(lambda: split(withheld=True, secret="00" * 16))


def test_a_picture_must_have_a_size(made: Dataset) -> None:
    refused(lambda: Scene.objects.filter(split__dataset=made).update(width=0))


def test_a_running_job_must_have_a_token_and_a_lease() -> None:
    row = split()
    refused(lambda: Job.objects.create(kind="seal", dataset=row.dataset, split=row, state="running"))


def test_a_waiting_job_must_not_have_a_token() -> None:
    row = split()
    refused(lambda: Job.objects.create(kind="seal", dataset=row.dataset, split=row, token="x"))


def test_the_same_job_cannot_exist_twice() -> None:
    row = split()
    Job.objects.create(kind="seal", dataset=row.dataset, split=row)
    refused(lambda: Job.objects.create(kind="seal", dataset=row.dataset, split=row))
    Job.objects.create(kind="delete", dataset=row.dataset)
    refused(lambda: Job.objects.create(kind="delete", dataset=row.dataset))


def test_a_job_must_have_the_split_and_chunk_of_its_kind() -> None:
    row = split()
    refused(lambda: Job.objects.create(kind="items", dataset=row.dataset, split=row))
    refused(lambda: Job.objects.create(kind="delete", dataset=row.dataset, split=row))


def test_two_questions_cannot_have_the_same_position(made: Dataset) -> None:
    question = Question.objects.filter(split__dataset=made).first()
    assert question is not None
    question.pk = None
    refused(question.save)


@pytest.fixture
def seen() -> Any:
    owner, other, staff = (User.objects.create(username=name) for name in ("owner", "other", "staff"))
    staff.is_staff = True
    dataset("private", visibility="private", owner=owner)
    dataset("link", visibility="link", owner=owner)
    dataset("public", visibility="public", owner=owner)
    dataset("going", visibility="public", owner=owner, state="deleting")
    return {"nobody": AnonymousUser(), "owner": owner, "other": other, "staff": staff}


@pytest.mark.parametrize(
    ("who", "listed"),
    [
        ("nobody", {"public"}),
        ("other", {"public"}),
        ("owner", {"public", "link", "private"}),
        ("staff", {"public", "link", "private"}),
    ],
)
def test_each_visitor_sees_the_permitted_datasets(seen: Any, who: str, listed: set[str]) -> None:
    assert set(Dataset.objects.visible_to(seen[who]).values_list("slug", flat=True)) == listed


def test_the_list_has_counts_in_two_queries(made: Dataset, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        [row] = Dataset.objects.for_list()
        names = [split.name for split in row.splits.all()]
    assert names == ["train", "val", "test"]
    assert (row.scenes, row.questions) == (45, 135)


def test_a_page_of_questions_is_one_query(made: Dataset, django_assert_num_queries: Any) -> None:
    train = made.splits.get(name="train")
    with django_assert_num_queries(1):
        questions = Question.objects.for_browse(train, [80, 3, 41, 999])
        scenes = [question.scene.position for question in questions]
    assert [question.position for question in questions] == [80, 3, 41]
    assert scenes == [26, 1, 13]


def test_progress_counts_what_is_done(made: Dataset) -> None:
    assert progress_of(made) == (45, 45, 45, 45, 3, 3, 0, 0)
    assert progress_of(made).share == 1


def test_rows_have_readable_names(made: Dataset) -> None:
    train = made.splits.get(name="train")
    assert str(train) == "rows/train"
    assert str(train.question_set.get(position=4)) == "rows/train question 4"
    assert str(made.jobs.get(kind="seal", split=train)) == "seal of rows/train"
    assert made.name == "Rows of numbers"
