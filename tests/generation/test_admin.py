"""The admin pages of this app."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from generation.making import dataset_jobs
from generation.models import Dataset, Heartbeat, Job, Quota
from generation.queue import workers
from tests.clients import client_of
from webapp.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    return client_of(User.objects.create(username="admin", is_staff=True, is_superuser=True))


def test_every_list_and_row_can_be_viewed_but_not_added_or_deleted(staff: Client, made: Dataset) -> None:
    workers.beat(name="one", queues="generation")
    rows = {
        "dataset": made.pk,
        "split": made.splits.get(name="val").pk,
        "job": made.jobs.order_by("pk")[0].pk,
        "heartbeat": Heartbeat.objects.get().pk,
    }
    for name, pk in rows.items():
        assert staff.get(reverse(f"admin:generation_{name}_changelist")).status_code == 200
        assert staff.get(reverse(f"admin:generation_{name}_change", args=[pk])).status_code == 200
        assert staff.get(reverse(f"admin:generation_{name}_add")).status_code == 403
        assert staff.get(reverse(f"admin:generation_{name}_delete", args=[pk])).status_code == 403


def test_visibility_can_be_changed_but_slug_and_fingerprint_cannot(staff: Client, made: Dataset) -> None:
    address = reverse("admin:generation_dataset_change", args=[made.pk])
    form = {"title": "Rows", "description": "", "visibility": "public", "owner": "", "fingerprint": "0", "slug": "x"}
    assert staff.post(address, form).status_code == 302
    after = Dataset.objects.get(pk=made.pk)
    assert (after.visibility, after.slug, after.fingerprint) == ("public", "rows", made.fingerprint)


def test_staff_can_raise_a_quota_of_scenes(staff: Client, db: None) -> None:
    user = User.objects.create_user("ada")
    assert Quota.objects.allowed(user) == 200_000
    fields = {"user": user.pk, "scenes": 2_000_000}
    assert staff.post(reverse("admin:generation_quota_add"), fields).status_code == 302
    assert Quota.objects.allowed(user) == 2_000_000
    assert staff.get(reverse("admin:generation_quota_changelist")).status_code == 200


def retry(client: Client, *wanted: Job) -> str:
    address = reverse("admin:generation_job_changelist")
    form = {"action": "retry", "_selected_action": [job.pk for job in wanted]}
    return client.post(address, form, follow=True).text


def test_failed_jobs_are_tried_again_from_the_list(staff: Client, begin: Callable[..., Dataset]) -> None:
    begun = begin()
    first, other = begun.jobs.order_by("pk")[:2]
    assert dataset_jobs.RUNNER.run_now(other)
    Job.objects.filter(pk=first.pk).update(state="failed", message="it broke", attempts=3)
    Dataset.objects.filter(pk=begun.pk).update(state="failed", error="it broke")
    assert "1 of 2 jobs are tried again" in retry(staff, first, other)
    assert begun.jobs.get(pk=first.pk).state == "waiting"
    assert begun.jobs.get(pk=other.pk).state == "done"
    dataset_jobs.work(dataset=begun)
    assert Dataset.objects.get(pk=begun.pk).state == "complete"


def test_jobs_that_did_not_fail_are_left_alone(staff: Client, made: Dataset) -> None:
    job = made.jobs.order_by("pk")[0]
    assert "0 of 1 jobs are tried again" in retry(staff, job)
    assert made.jobs.get(pk=job.pk).state == job.state


def test_the_admin_pages_link_to_the_health_page(staff: Client, db: None) -> None:
    assert f'href="{reverse("health")}"' in staff.get(reverse("admin:index")).text
