"""Jobs of shortcut reports: each report is made once, under a lease, and again after its splits changed."""

import pytest

from generation.making import dataset_jobs
from generation.models import BlindReport, Dataset, Split, from_now
from generation.queue import leases, runner, workers
from generation.reports import report_jobs, shortcuts

State = BlindReport.State


@pytest.fixture
def hints(monkeypatch):
    """Give the list of hints that are sent to background processes."""
    sent = []
    monkeypatch.setattr(runner.current_app, "send_task", lambda name, **options: sent.append((name, options["queue"])))
    return sent


@pytest.fixture
def dataset(begin, hints):
    made = begin(splits={"train": {"scenes": 3}, "val": {"scenes": 2}})
    dataset_jobs.work(dataset=made)
    made.refresh_from_db()
    return made


def splits_of(dataset):
    return shortcuts.complete_splits(dataset)


def test_a_report_is_made_once(dataset, monkeypatch):
    first = report_jobs.request_shortcuts(dataset, splits_of(dataset))
    monkeypatch.setattr(shortcuts, "report", lambda *args, **options: pytest.fail("made again"))
    again = report_jobs.request_shortcuts(dataset, splits_of(dataset))
    assert (first.pk, first.figures, State(again.state)) == (again.pk, again.figures, State.DONE)
    assert report_jobs.SHORTCUTS.work() == 0


def test_the_report_of_a_large_dataset_waits_for_a_background_process(dataset, hints, monkeypatch):
    monkeypatch.setattr(report_jobs, "SMALL_DATASET", 0)
    assert report_jobs.request_shortcuts(dataset, splits_of(dataset)).state == State.WAITING
    assert hints == [("generation.tasks.report", "default")]
    assert shortcuts.find_report(dataset, splits_of(dataset)) is None
    report_jobs.SHORTCUTS.take_turn()
    assert shortcuts.find_report(dataset, splits_of(dataset)) is not None


def test_a_report_of_other_splits_is_outdated_and_made_again(dataset):
    report_jobs.make_shortcuts(dataset)
    Split.objects.filter(dataset=dataset, name="val").update(reference=None)
    assert shortcuts.find_report(dataset, splits_of(dataset)) is None
    again = report_jobs.request_shortcuts(dataset, splits_of(dataset))
    assert again.state == State.DONE
    assert [one["reference"] for one in again.figures_json["splits"]] == [None, None]


def test_only_the_process_that_holds_the_job_writes_the_report(dataset, monkeypatch):
    report = report_jobs.begin_shortcuts(dataset, splits_of(dataset))
    assert leases.take(report)
    BlindReport.objects.update(state=State.WAITING, token="", lease=None)  # the lease expired
    other = BlindReport.objects.get()
    assert leases.take(other)
    report_jobs.SHORTCUTS.run(report)
    assert (BlindReport.objects.get().state, BlindReport.objects.get().figures) == (State.RUNNING, "")
    report_jobs.SHORTCUTS.run(other)
    assert BlindReport.objects.get().state == State.DONE


def test_a_report_fails_with_its_error_after_three_attempts(dataset, monkeypatch):
    def raise_error(*args, **options):
        raise OSError("no such index")

    report_jobs.begin_shortcuts(dataset, splits_of(dataset))
    with monkeypatch.context() as patch:
        patch.setattr(shortcuts, "report", raise_error)
        assert report_jobs.SHORTCUTS.work() == 3
    report = BlindReport.objects.get()
    assert report.state == State.FAILED
    assert "no such index" in report.message and "3 times" in report.message
    assert report_jobs.retry(BlindReport.objects.filter(dataset=dataset)) and not report_jobs.retry(
        BlindReport.objects.filter(dataset=dataset)
    )
    assert report_jobs.make_shortcuts(dataset).state == State.DONE


def test_an_interrupted_report_waits_again_without_an_attempt(dataset, monkeypatch):
    def raise_interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(shortcuts, "report", raise_interrupt)
    report = report_jobs.begin_shortcuts(dataset, splits_of(dataset))
    leases.take(report)
    with pytest.raises(KeyboardInterrupt):
        report_jobs.SHORTCUTS.run(report)
    assert (BlindReport.objects.get().state, BlindReport.objects.get().attempts) == (State.WAITING, 0)


def test_a_sweep_begins_reports_of_complete_datasets(dataset):
    Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.MAKING)
    report_jobs.SHORTCUTS.sweep()
    assert not BlindReport.objects.exists()
    Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.COMPLETE)
    workers.sweep()
    workers.sweep()
    assert BlindReport.objects.get().state == State.WAITING


@pytest.mark.parametrize("lost", ["lease", "deadline"])
def test_a_sweep_ends_reports_with_an_expired_lease_or_deadline(dataset, lost):
    report = report_jobs.begin_shortcuts(dataset, splits_of(dataset))
    assert leases.take(report)
    BlindReport.objects.update(**{lost: from_now(-1)})
    report_jobs.SHORTCUTS.sweep()
    assert BlindReport.objects.get().state == (State.WAITING if lost == "lease" else State.FAILED)


def test_a_report_is_deleted_with_its_dataset(dataset):
    report_jobs.make_shortcuts(dataset)
    dataset_jobs.delete(dataset)
    dataset_jobs.work()
    assert not BlindReport.objects.exists()


def test_a_missing_broker_causes_no_error(dataset, monkeypatch):
    def refuse_connection(name, **options):
        raise OSError("connection refused")

    monkeypatch.setattr(runner.current_app, "send_task", refuse_connection)
    monkeypatch.setattr(report_jobs, "SMALL_DATASET", 0)
    assert report_jobs.request_shortcuts(dataset, splits_of(dataset)).state == State.WAITING
