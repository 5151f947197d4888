"""What an owner does with a dataset while it is made and afterwards, and what others see of that."""

from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from generation.making import dataset_jobs
from generation.models import Dataset, Heartbeat, Job, Split, from_now
from generation.storage import files
from tests.clients import client_of
from tests.generation import small
from tests.referring.models import Study
from webapp.models import User

pytestmark = pytest.mark.django_db
PAGE = "/datasets/shapes/"
EDIT = PAGE + "edit/"
POSTS = ("cancel", "resume", "archive", "delete", "retry/1")


def text(response: Any) -> str:
    return response.content.decode()


@pytest.fixture
def owner() -> User:
    return User.objects.create_user("owner")


@pytest.fixture
def page(owner: User) -> Client:
    return client_of(owner)


@pytest.fixture
def dataset(owner: User) -> Dataset:
    return small.begun(owner=owner, splits={"train": {"scenes": 4}, "val": {"scenes": 2}})


def fail(dataset: Dataset, message: str = "it broke") -> Job:
    job = dataset.jobs.filter(kind="items").order_by("pk").first()
    assert job is not None
    Job.objects.filter(pk=job.pk).update(state="failed", message=message, attempts=3)
    Split.objects.filter(jobs=job.pk).update(state="failed")
    Dataset.objects.filter(pk=dataset.pk).update(state="failed", error=message)
    return job


def state_of(dataset: Dataset) -> str:
    return Dataset.objects.get(pk=dataset.pk).state


# Access ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["visitor", "stranger"])
@pytest.mark.parametrize("what", [*POSTS, ""])
def test_strangers_get_404(client: Client, dataset: Dataset, who: str, what: str) -> None:
    if who == "stranger":
        client.force_login(User.objects.create_user("stranger"))
    address = f"{EDIT}{what}/" if what else EDIT
    assert client.post(address, {"confirm": "shapes"}).status_code == 404
    assert state_of(dataset) == "making"


@pytest.mark.parametrize("what", POSTS)
def test_an_unknown_dataset_gets_404(page: Client, what: str) -> None:
    assert page.post(f"{EDIT}{what}/").status_code == 404


@pytest.mark.parametrize("what", ["cancel", "resume", "archive", "retry/1"])
def test_get_changes_nothing(page: Client, dataset: Dataset, what: str) -> None:
    assert page.get(f"{EDIT}{what}/").status_code == 405
    assert state_of(dataset) == "making"


def test_a_form_without_a_csrf_token_is_refused(owner: User, dataset: Dataset) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(EDIT + "cancel/").status_code == 403


# Progress --------------------------------------------------------------------------------------------------


def test_progress_is_a_part_of_the_overview(page: Client, dataset: Dataset) -> None:
    part = text(page.get(EDIT + "progress/"))
    assert "<html" not in part and 'data-state="making"' in part
    assert "<b>0</b> of 6 scenes" in part
    assert 'data-progress="/datasets/shapes/edit/progress/"' in text(page.get(PAGE))


def test_progress_shows_count_rate_and_remaining_time(page: Client, dataset: Dataset) -> None:
    Heartbeat.objects.create(name="generation@here", host="here", pid=1, queues="generation")
    for _ in range(2):
        job = dataset_jobs.claim()
        assert job is not None
        dataset_jobs.RUNNER.run(job)
    dataset_jobs.claim()
    part = text(page.get(EDIT + "progress/"))
    assert "<b>4</b> of 6 scenes" in part and "a second)" in part and "left</span>" in part
    assert "No background process" not in part


def test_visitors_see_progress_and_no_buttons(client: Client, dataset: Dataset) -> None:
    fail(dataset, "the scene holds a red cube")
    part = text(client.get(EDIT + "progress/"))
    assert "Making this dataset failed" in part
    assert "<form" not in part and "Failed jobs" not in part


def test_progress_of_a_private_dataset_gets_404(client: Client, dataset: Dataset) -> None:
    Dataset.objects.update(visibility="private")
    assert client.get(EDIT + "progress/").status_code == 404


def test_progress_refuses_other_verbs(page: Client, dataset: Dataset) -> None:
    assert page.post(EDIT + "progress/").status_code == 405


def test_progress_of_a_complete_dataset_says_so(page: Client, dataset: Dataset) -> None:
    dataset_jobs.work(dataset=dataset)
    part = text(page.get(EDIT + "progress/"))
    assert 'data-state="complete"' in part and "data-progress" not in part


def test_progress_needs_few_queries(page: Client, dataset: Dataset, django_assert_max_num_queries: Any) -> None:
    fail(dataset)
    with django_assert_max_num_queries(18):
        page.get(EDIT + "progress/")


def test_progress_says_that_no_background_process_is_running(page: Client, dataset: Dataset) -> None:
    part = text(page.get(EDIT + "progress/"))
    assert "No background process is running" in part and "No process has reported" in part
    assert "manage.py process generation" in part
    Heartbeat.objects.create(name="generation@here", host="here", pid=1, queues="generation", seen=from_now(-3600))
    assert "The last process reported on" in text(page.get(EDIT + "progress/"))
    Heartbeat.objects.create(name="default@here", host="here", pid=2, queues="default", seen=Now())
    assert "No background process is running" in text(page.get(EDIT + "progress/"))
    Heartbeat.objects.update(seen=Now())
    assert "No background process" not in text(page.get(EDIT + "progress/"))


def test_a_job_with_an_expired_lease_does_not_count_as_a_running_process(page: Client, dataset: Dataset) -> None:
    job = dataset_jobs.claim()
    assert job is not None
    assert "No background process" not in text(page.get(EDIT + "progress/"))  # some process runs the job
    Job.objects.filter(pk=job.pk).update(lease=from_now(-1))
    assert "No background process is running" in text(page.get(EDIT + "progress/"))


def test_progress_says_that_the_disk_is_full(page: Client, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "disk_shortage", lambda: "Waiting for disk space: expected 2 GB, got 1.")
    assert dataset_jobs.claim() is None
    assert "Waiting for disk space" in text(page.get(EDIT + "progress/"))


# Cancel, resume, retry -------------------------------------------------------------------------------------


def test_a_cancelled_dataset_can_be_resumed(page: Client, dataset: Dataset) -> None:
    assert page.post(EDIT + "cancel/")["Location"] == PAGE + "#making"
    assert state_of(dataset) == "cancelled"
    assert page.post(EDIT + "resume/")["Location"] == PAGE + "#making"
    dataset_jobs.work(dataset=dataset)
    assert state_of(dataset) == "complete"


@pytest.mark.parametrize(("what", "state"), [("cancel", "cancelled"), ("resume", "making")])
def test_a_wrong_state_gets_409_with_a_message(page: Client, dataset: Dataset, what: str, state: str) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(state=state)
    response = page.post(f"{EDIT}{what}/")
    assert (response.status_code, f"got one that is {state}" in text(response)) == (409, True)


def test_a_dataset_of_another_engine_cannot_be_resumed(page: Client, dataset: Dataset) -> None:
    job = fail(dataset)
    Dataset.objects.filter(pk=dataset.pk).update(engine_version="0.0")
    for what in ("resume", f"retry/{job.pk}"):
        response = page.post(f"{EDIT}{what}/")
        assert (response.status_code, "Expected a dataset begun by engine" in text(response)) == (409, True)


def test_a_failed_job_shows_its_message_and_can_be_retried(page: Client, dataset: Dataset) -> None:
    job = fail(dataset, "<b>it broke</b>")
    part = text(page.get(PAGE))
    assert "&lt;b&gt;it broke&lt;/b&gt;" in part and f"/edit/retry/{job.pk}/" in part
    assert page.post(f"{EDIT}retry/{job.pk}/").status_code == 302
    dataset_jobs.work(dataset=dataset)
    assert state_of(dataset) == "complete"
    assert page.post(f"{EDIT}retry/{job.pk}/").status_code == 409


def test_a_job_of_another_dataset_is_not_retried(page: Client, dataset: Dataset) -> None:
    job = fail(small.begun("other"))
    assert page.post(f"{EDIT}retry/{job.pk}/").status_code == 404
    job.refresh_from_db()
    assert job.state == "failed"


# Delete and archive ------------------------------------------------------------------------------------------


def test_delete_asks_for_a_confirmation(page: Client, dataset: Dataset) -> None:
    assert "Type <code>shapes</code>" in text(page.get(EDIT + "delete/"))
    for wrong in ("", "other", "<script>"):
        response = page.post(EDIT + "delete/", {"confirm": wrong})
        assert (response.status_code, "Expected shapes, got" in text(response)) == (400, True)
    assert state_of(dataset) == "making"


def test_a_dataset_is_deleted_after_the_confirmation(page: Client, dataset: Dataset) -> None:
    assert page.post(EDIT + "delete/", {"confirm": "shapes"})["Location"] == "/datasets/"
    assert page.get(PAGE).status_code == 404
    dataset_jobs.work(dataset=dataset)
    assert not Dataset.objects.exists()


def test_a_dataset_that_something_refers_to_is_archived_instead(page: Client, client: Client, dataset: Dataset) -> None:
    Study.objects.create(dataset=dataset, title="one")
    asked = text(page.get(EDIT + "delete/"))
    assert "study one" in asked and "Archive it" in asked and 'name="confirm"' not in asked
    refused = page.post(EDIT + "delete/", {"confirm": "shapes"})
    assert (refused.status_code, "Archive it instead" in text(refused)) == (409, True)
    assert page.post(EDIT + "archive/")["Location"] == PAGE
    assert ["shapes/" in text(who.get("/datasets/")) for who in (page, client)] == [True, False]
    assert "Archived on" in text(client.get(PAGE))


def test_archiving_twice_gets_409_and_archiving_can_be_undone(page: Client, dataset: Dataset) -> None:
    undo = {"undo": "yes"}
    codes = [page.post(EDIT + "archive/", fields).status_code for fields in ({}, {}, undo, undo)]
    assert codes == [302, 409, 302, 409]
    assert Dataset.objects.get().archived is None


# Edit --------------------------------------------------------------------------------------------------------


def test_editing_changes_the_metadata_of_a_dataset(page: Client, client: Client, dataset: Dataset) -> None:
    fields = {"title": "New <i>title</i>", "visibility": "link", "authors": "Ada", "licence": "", "citation": "A\nB"}
    assert page.post(EDIT, fields)["Location"] == PAGE
    shown = text(client.get(PAGE))
    assert "New &lt;i&gt;title&lt;/i&gt;" in shown and "Ada" in shown and "Cite it as" in shown
    assert Dataset.objects.get().visibility == "link"
    assert text(page.get(EDIT)).count("New &lt;i&gt;title") >= 2


@pytest.mark.parametrize(
    "wrong", [{"visibility": "all"}, {"title": "x" * 201}, {"description": "x" * 5001}, {"authors": "a\0b"}]
)
def test_wrong_fields_are_marked(page: Client, dataset: Dataset, wrong: dict[str, str]) -> None:
    response = page.post(EDIT, {"visibility": "public", "title": "Changed", **wrong})
    assert (response.status_code, "errorlist" in text(response)) == (400, True)
    assert Dataset.objects.get().title == "Some shapes"


def test_edit_needs_few_queries(page: Client, dataset: Dataset, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(6):
        page.get(EDIT)
