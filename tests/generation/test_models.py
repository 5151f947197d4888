"""Rules that the database holds, and who sees which dataset."""

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
def test_names_that_are_addresses_are_refused(slug: str) -> None:
    refused(lambda: dataset(slug))


def test_a_name_is_taken_once() -> None:
    dataset("a")
    refused(lambda: dataset("a"))


def test_a_complete_dataset_has_a_fingerprint() -> None:
    refused(lambda: dataset(state="complete"))


def test_an_unknown_state_is_refused() -> None:
    refused(lambda: dataset(state="sleeping"))


def test_a_complete_split_is_sealed() -> None:
    refused(lambda: split(state="complete"))


def test_a_withheld_generated_split_has_a_secret() -> None:
    refused(lambda: split(withheld=True))


def test_a_secret_is_never_without_its_digest() -> None:
    refused(lambda: split(withheld=True, secret="00" * 16))


def test_a_picture_has_a_size(made: Dataset) -> None:
    refused(lambda: Scene.objects.filter(split__dataset=made).update(width=0))


def test_a_running_job_has_a_token_and_a_lease() -> None:
    row = split()
    refused(lambda: Job.objects.create(kind="seal", dataset=row.dataset, split=row, state="running"))


def test_a_waiting_job_has_no_token() -> None:
    row = split()
    refused(lambda: Job.objects.create(kind="seal", dataset=row.dataset, split=row, token="x"))


def test_the_same_work_exists_once() -> None:
    row = split()
    Job.objects.create(kind="seal", dataset=row.dataset, split=row)
    refused(lambda: Job.objects.create(kind="seal", dataset=row.dataset, split=row))
    Job.objects.create(kind="delete", dataset=row.dataset)
    refused(lambda: Job.objects.create(kind="delete", dataset=row.dataset))


def test_a_job_names_its_work() -> None:
    row = split()
    refused(lambda: Job.objects.create(kind="items", dataset=row.dataset, split=row))
    refused(lambda: Job.objects.create(kind="delete", dataset=row.dataset, split=row))


def test_a_position_is_taken_once(made: Dataset) -> None:
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
def test_each_sees_what_is_meant_for_her(seen: Any, who: str, listed: set[str]) -> None:
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


def test_addresses_and_names_are_speaking(made: Dataset) -> None:
    train = made.splits.get(name="train")
    assert str(train) == "rows/train"
    assert str(train.question_set.get(position=4)) == "rows/train question 4"
    assert str(made.jobs.get(kind="seal", split=train)) == "seal of rows/train"
    assert made.name == "Rows of numbers"
