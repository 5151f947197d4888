"""The jobs of datasets: claims, leases, retries and failures, and that the finished dataset is always the same."""

import errno
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.db.models.functions import Now

from generation.engine import worlds
from generation.engine.content_hash import Fingerprint, dataset_fingerprint
from generation.making import dataset_jobs
from generation.making import deletion as removal
from generation.making.chunk_writer import ChunkWriter
from generation.models import Dataset, Job, Scene, from_now
from generation.queue import leases, runner, wakeups
from generation.splits import sealing
from generation.storage import files
from generation.storage.pictures import Pictures
from tests.generation import fake_world

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]


def states(dataset: Dataset) -> Counter[tuple[str, str]]:
    return Counter(dataset.jobs.values_list("kind", "state"))


def expire(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease=from_now(-1))


def stored_files() -> set[Path]:
    """Return the stored files of all datasets."""
    folder = files.local_path("")
    assert folder is not None
    return {path for top in ("datasets", "index") for path in (folder / top).rglob("*") if path.is_file()}


def claim() -> Job:
    job = dataset_jobs.claim()
    assert job is not None
    return job


def run_until(dataset: Dataset, kind: str) -> Job:
    """Run jobs until a job of that kind is next, and return it claimed."""
    while (job := claim()).kind != kind:
        dataset_jobs.RUNNER.run(job)
    return job


def test_planning_twice_gives_the_same_jobs(begin: Begin) -> None:
    dataset = begin()
    before = states(dataset)
    dataset_jobs.plan(dataset)
    assert states(dataset) == before == {("items", "waiting"): 5, ("seal", "waiting"): 3}


def test_the_fingerprint_equals_that_of_the_engine(made: Dataset) -> None:
    spec, maker = made.read_spec(), worlds.get_maker(made.world)
    prints = {}
    for split in made.splits.all():
        fingerprint = Fingerprint()
        for chunk in maker.plan(spec, split.name):
            for item in maker.make(spec, split.name, chunk, secret=split.secret_bytes):
                assert item.scene is not None
                fingerprint.add(item.scene.to_json(), [question.to_json() for question in item.questions])
        prints[split.name] = fingerprint.hexdigest()
        assert split.fingerprint == prints[split.name]
    assert made.fingerprint == dataset_fingerprint(prints)


def test_every_job_runs_once(made: Dataset) -> None:
    assert states(made) == {("items", "done"): 5, ("images", "done"): 5, ("seal", "done"): 3}
    assert set(made.jobs.values_list("attempts", flat=True)) == {1}


def test_a_split_is_sealed_after_all_its_other_jobs(begin: Begin) -> None:
    dataset = begin()
    job = run_until(dataset, "seal")
    left = dataset.jobs.filter(split=job.split).exclude(pk=job.pk).exclude(state="done")
    assert not left.exists()


def test_a_split_with_an_unfinished_job_is_not_sealed(begin: Begin) -> None:
    dataset = begin(splits={"train": {"scenes": 30}})
    first = claim()
    while (job := dataset_jobs.claim()) is not None:
        dataset_jobs.RUNNER.run(job)
    assert job is None and first.state == "running"
    assert states(dataset)["seal", "waiting"] == 1


def test_datasets_take_turns(begin: Begin) -> None:
    one, two = begin("one"), begin("two")
    order = []
    for _ in range(6):
        job = claim()
        order.append(job.dataset.slug)
        dataset_jobs.RUNNER.run(job)
    assert Counter(order) == {"one": 3, "two": 3}
    assert {one.slug, two.slug} == set(order)


def test_the_most_urgent_job_is_claimed_first(begin: Begin) -> None:
    begin("one")
    two = begin("two")
    last = two.jobs.filter(kind="items").order_by("-pk").first()
    assert last is not None
    Job.objects.filter(pk=last.pk).update(priority=99)
    assert claim().pk == last.pk


def test_the_pictures_of_the_first_chunk_are_drawn_early(begin: Begin) -> None:
    begin(scenes_per_chunk=60, splits={"train": {"scenes": 180}})
    order = []
    for _ in range(3):
        job = claim()
        order.append((job.kind, job.part, job.chunk and job.chunk.number))
        dataset_jobs.RUNNER.run(job)
    assert order == [("items", 0, 0), ("images", 0, 0), ("items", 0, 1)]


def test_a_claim_for_one_dataset_takes_only_its_jobs(begin: Begin) -> None:
    begin("one")
    two = begin("two")
    job = dataset_jobs.claim(dataset=two)
    assert job is not None and job.dataset == two


def test_a_job_with_an_expired_lease_is_released_and_its_old_process_writes_nothing(begin: Begin) -> None:
    dataset = begin()
    old = claim()
    expire(old)
    assert dataset_jobs.RUNNER.recover() == 1
    new = claim()
    assert new.pk == old.pk and new.token != old.token and (new.attempts, new.crashes) == (1, 1)
    dataset_jobs.RUNNER.run(old)
    assert not Scene.objects.exists()
    dataset_jobs.RUNNER.run(new)
    assert Scene.objects.count() == 12
    assert states(dataset)["items", "done"] == 1


def test_processes_that_lost_image_and_seal_jobs_write_nothing(begin: Begin) -> None:
    dataset = begin()
    for kind in ("images", "seal"):
        old = run_until(dataset, kind)
        expire(old)
        dataset_jobs.RUNNER.recover()
        dataset_jobs.RUNNER.run(old)
        assert Job.objects.get(pk=old.pk).state == "waiting"
    assert not dataset.splits.filter(state="complete").exists()


def test_a_job_with_a_valid_lease_is_not_released(begin: Begin) -> None:
    begin()
    job = claim()
    leases.renew(job)
    assert dataset_jobs.RUNNER.recover() == 0
    assert Job.objects.get(pk=job.pk).token == job.token
    assert Job.objects.filter(pk=job.pk, lease__gt=from_now(50), lease__lt=from_now(70)).exists()


def test_a_job_of_a_dead_process_of_this_host_is_released_at_once(begin: Begin) -> None:
    begin()
    job = claim()
    Job.objects.filter(pk=job.pk).update(worker=f"{leases.host_name()}:{2**22 + 1}")
    assert dataset_jobs.RUNNER.recover() == 1


def test_a_job_of_another_host_is_released_only_after_its_lease(begin: Begin) -> None:
    begin()
    job = claim()
    Job.objects.filter(pk=job.pk).update(worker=f"elsewhere:{2**22 + 1}")
    assert dataset_jobs.RUNNER.recover() == 0


def test_a_job_with_a_bug_fails_after_three_attempts_with_the_error(begin: Begin) -> None:
    dataset = begin(broken_scene=2)
    dataset_jobs.work()
    dataset.refresh_from_db()
    job = dataset.jobs.get(state="failed")
    assert job.attempts == 3
    assert "ZeroDivisionError: a bug of the world" in dataset.error


def test_a_job_that_the_engine_refuses_is_not_retried(begin: Begin) -> None:
    dataset = begin(impossible_scene=13)
    dataset_jobs.work()
    dataset.refresh_from_db()
    assert dataset.error == "scene 13: Expected a row within 3 tries, got none."
    assert dataset.jobs.get(state="failed").attempts == 1


def test_an_interrupted_job_waits_again_without_an_attempt(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    begin()

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    job = claim()
    monkeypatch.setattr(fake_world.RowMaker, "make", stop)
    with pytest.raises(KeyboardInterrupt):
        dataset_jobs.RUNNER.run(job)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.token) == ("waiting", 0, "")


def test_a_cancelled_dataset_is_not_worked_on_and_can_be_resumed(begin: Begin, made: Dataset) -> None:
    dataset = begin("again")
    held = claim()
    assert dataset_jobs.cancel(dataset) and not dataset_jobs.cancel(dataset)
    assert dataset_jobs.claim() is None
    dataset_jobs.RUNNER.run(held)
    assert not Scene.objects.filter(split__dataset=dataset).exists()
    dataset_jobs.resume(dataset)
    dataset_jobs.work()
    dataset.refresh_from_db()
    assert (dataset.state, dataset.fingerprint) == ("complete", made.fingerprint)


@pytest.mark.parametrize("kind", ["items", "images", "seal"])
def test_files_that_are_written_while_their_dataset_is_deleted_are_removed(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for folder in ("datasets", "index"):
        files.drop_folder(folder)  # of other tests, whose rows are gone
    dataset = begin()
    job = run_until(dataset, kind)
    place = {
        "items": (ChunkWriter, "_add"),
        "images": (Pictures, "store"),
        "seal": (sealing.Draft, "publish"),
    }
    original = getattr(*place[kind])

    def write_then_delete(*arguments: Any) -> Any:
        result = original(*arguments)
        if Dataset.objects.filter(pk=dataset.pk).exists():
            removal.remove(dataset)
        return result

    monkeypatch.setattr(*place[kind], write_then_delete)
    dataset_jobs.RUNNER.run(job)
    assert not stored_files()


def test_a_failed_dataset_can_be_resumed(begin: Begin, made: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = begin("again")
    with monkeypatch.context() as patched:
        patched.setattr(Pictures, "store", lambda *_: 1 / 0)
        dataset_jobs.work()
    dataset.refresh_from_db()
    assert dataset.state == "failed"
    dataset_jobs.resume(dataset)
    dataset_jobs.work()
    dataset.refresh_from_db()
    assert (dataset.state, dataset.error, dataset.fingerprint) == ("complete", "", made.fingerprint)


def test_a_dataset_of_another_engine_version_is_not_resumed(begin: Begin) -> None:
    dataset = begin()
    Dataset.objects.update(engine_version="0")
    dataset.refresh_from_db()
    with pytest.raises(dataset_jobs.WrongVersion, match="engine 0"):
        dataset_jobs.resume(dataset)
    dataset_jobs.work()
    dataset.refresh_from_db()
    assert dataset.state == "failed" and "engine 0" in dataset.error


def test_jobs_wait_with_a_message_if_disk_space_is_short(begin: Begin, settings: LazySettings) -> None:
    dataset = begin()
    settings.DISK_RESERVE_GB = 1e9
    assert dataset_jobs.claim() is None
    assert "Waiting for disk space" in dataset.jobs.order_by("pk")[0].message
    settings.DISK_RESERVE_GB = 0
    assert claim().message == ""


def test_a_job_waits_if_the_disk_becomes_full_while_it_runs(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = begin()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Pictures, "store", full)
        for _ in range(5):
            dataset_jobs.work()
    job = dataset.jobs.filter(kind="images").exclude(message="")[0]
    assert (job.state, job.attempts) == ("waiting", 0)
    assert job.message.startswith("Waiting for disk space: No space left on device.")
    Job.objects.update(not_before=None)
    dataset_jobs.work()
    dataset.refresh_from_db()
    assert dataset.state == "complete"


def test_datasets_are_deleted_although_the_disk_is_full(made: Dataset, settings: LazySettings) -> None:
    settings.DISK_RESERVE_GB = 1e9
    dataset_jobs.delete(made)
    dataset_jobs.work()
    assert not Dataset.objects.exists()


def test_a_failed_deletion_is_retried_later(made: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset_jobs.delete(made)
    with monkeypatch.context() as patched:
        patched.setattr(removal, "remove", lambda *_, **__: 1 / 0)
        dataset_jobs.work()
    deletion = made.jobs.get(kind="delete")
    assert (deletion.state, deletion.attempts) == ("failed", 3)
    dataset_jobs.RUNNER.sweep()
    assert dataset_jobs.claim() is None
    made.jobs.filter(pk=deletion.pk).update(finished=from_now(-dataset_jobs.DELETED_AGAIN - 1))
    dataset_jobs.RUNNER.sweep()
    dataset_jobs.work()
    assert not Dataset.objects.exists()


def test_files_of_a_killed_seal_job_are_deleted_with_the_dataset(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("datasets", "index"):
        files.drop_folder(folder)  # of other tests, whose rows are gone
    dataset = begin()
    job = run_until(dataset, "seal")

    def die(*_: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(dataset_jobs, "_store_seal", die)
    monkeypatch.setattr(sealing.Draft, "__exit__", lambda *_: None)
    with pytest.raises(SystemExit):
        dataset_jobs.RUNNER.run(job)
    assert stored_files()
    dataset_jobs.delete(dataset)
    dataset_jobs.work()
    assert not stored_files() and not Dataset.objects.exists()


def test_a_claim_wakes_another_process_of_the_worker(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[str] = []
    monkeypatch.setattr(wakeups, "ring", rung.append)
    begin()
    assert dataset_jobs.RUNNER.work(seconds=0) == 1
    assert rung == ["generation"]


def test_a_process_outside_of_a_worker_sends_one_message(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    hints: list[str] = []
    monkeypatch.setattr(runner.current_app, "send_task", lambda name, **options: hints.append(name))
    dataset_jobs.RUNNER.wake()
    assert hints == ["generation.tasks.work"]


def test_a_missing_broker_causes_no_error(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.celery import app

    def away(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(app, "send_task", away)
    begin()
    dataset_jobs.RUNNER.wake()


@pytest.mark.django_db(transaction=True)
def test_concurrent_claims_never_get_the_same_job(begin: Begin) -> None:
    for number in range(4):
        begin(f"rows-{number}")
    got: list[int] = []
    barrier = threading.Barrier(4)

    def claim_all() -> None:
        barrier.wait()
        try:
            while (job := dataset_jobs.claim()) is not None:
                got.append(job.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=claim_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 20
    assert len(set(got)) == 20


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_renewed_while_a_job_runs(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEWAL", 0.02)
    begin()
    job = claim()
    expire(job)
    with leases.hold(job) as lease:
        _wait_for(lambda: Job.objects.filter(pk=job.pk, lease__gt=Now()).exists())
        lease.check()
        Job.objects.filter(pk=job.pk).update(token="somebody else's")
        assert lease.lost.wait(10)
        with pytest.raises(leases.LeaseLost):
            lease.check()


def _wait_for(true: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(500):
        if true():
            return
        waiting.wait(0.02)
    pytest.fail("waited 10 s in vain")
