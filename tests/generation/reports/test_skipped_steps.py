"""Answers of programs without one of their steps: they equal those of a slow reference, and are computed once."""

import json

import numpy as np
import pytest

from generation.engine.scoring.score import NONE
from generation.making import dataset_jobs
from generation.models import AblationReport, Question, Split, from_now
from generation.queue import leases, runner
from generation.reports import report_jobs, skipped_steps
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.generation.complete_datasets import shared
from tests.worlds.clevr.test_ablations import without

State = AblationReport.State


dataset_key = shared(
    lambda: small.made("steps", with_images=False, splits={"val": {"scenes": 5}, "test": {"scenes": 3}})
)


@pytest.fixture
def val(dataset_key, db):
    return Split.objects.for_browse().get(dataset=dataset_key, name="val")


@pytest.fixture
def hints(monkeypatch):
    """Give the list of hints that are sent to background processes."""
    sent = []
    monkeypatch.setattr(runner.current_app, "send_task", lambda name, **options: sent.append((name, options["queue"])))
    return sent


def compute_slowly(split, position, name):
    """Return the code of the answer that a question's program gives without a step."""
    row = Question.objects.select_related("scene").get(split=split, position=position)
    answer = without(json.loads(row.program), row.scene.scene_json, name)
    return NONE if answer is None else SplitIndex.open(split).answer_values.index(answer)


def test_answers_without_steps_equal_those_of_a_slow_reference(val):
    found = skipped_steps.from_bytes(report_jobs.request_skipped_steps(val).found)
    assert found.positions.tolist() == list(range(val.questions))
    assert set(found.names) == {one.name for one in val.dataset.get_world().ablations}
    for number, name in enumerate(found.names):
        wanted = [compute_slowly(val, position, name) for position in found.positions.tolist()]
        assert found.codes[number].tolist() == wanted, name
    assert (found.codes >= 0).sum() > 20


def test_answers_of_a_sample_belong_to_its_questions(val, monkeypatch):
    whole = skipped_steps.find(val.dataset.get_world(), val)
    monkeypatch.setattr(skipped_steps, "SAMPLE", 7)
    few = skipped_steps.find(val.dataset.get_world(), val)
    assert len(few.positions) == 7
    assert np.array_equal(few.codes, whole.codes[:, few.positions])
    again = skipped_steps.from_bytes(skipped_steps.to_bytes(few))
    assert again.names == few.names
    assert np.array_equal(again.codes, few.codes) and np.array_equal(again.positions, few.positions)


def test_answers_of_a_question_set_equal_those_of_its_parent(val):
    question_sets.create(val, name="few", recipe=Recipe(parent="val", sample=6, seed=2))
    dataset_jobs.work(dataset=val.dataset)
    few = Split.objects.for_browse().get(dataset=val.dataset, name="few")
    whole, found = (skipped_steps.find(val.dataset.get_world(), one) for one in (val, few))
    assert np.array_equal(found.codes, whole.codes[:, SplitIndex.open(few).in_source(list(range(6)))])


def test_a_world_without_programs_has_no_skipped_steps(made):
    split = Split.objects.for_browse().get(dataset=made, name="val")
    found = skipped_steps.from_bytes(report_jobs.request_skipped_steps(split).found)
    assert (found.names, found.codes.shape) == ((), (0, split.questions))


def test_the_answers_are_computed_once(val, monkeypatch):
    first = report_jobs.request_skipped_steps(val)
    monkeypatch.setattr(skipped_steps, "find", lambda *args, **options: pytest.fail("found again"))
    assert report_jobs.request_skipped_steps(val).pk == first.pk
    assert report_jobs.SKIPPED_STEPS.work() == 0


def test_a_new_version_computes_the_answers_again(val, monkeypatch):
    before = report_jobs.request_skipped_steps(val).key
    monkeypatch.setattr(skipped_steps, "VERSION", 0)
    after = report_jobs.request_skipped_steps(val)
    assert (after.state, after.key != before) == (State.DONE, True)


def test_a_large_split_waits_for_a_background_process(val, hints, monkeypatch):
    monkeypatch.setattr(report_jobs, "SMALL_SPLIT", 0)
    assert report_jobs.request_skipped_steps(val).state == State.WAITING
    assert hints == [("generation.tasks.ablate", "default")]
    report_jobs.SKIPPED_STEPS.take_turn()
    assert report_jobs.request_skipped_steps(val).state == State.DONE


def test_only_the_process_that_holds_the_job_writes_the_answers(val):
    report = AblationReport.objects.create(split=val)
    assert leases.take(report)
    AblationReport.objects.update(state=State.WAITING, token="", lease=None)  # the lease expired
    other = AblationReport.objects.get()
    assert leases.take(other)
    report_jobs.SKIPPED_STEPS.run(report)
    assert AblationReport.objects.get().state == State.RUNNING
    report_jobs.SKIPPED_STEPS.run(other)
    assert AblationReport.objects.get().state == State.DONE


def test_a_report_fails_with_its_error_after_three_attempts(val, monkeypatch):
    def raise_error(*args, **options):
        raise OSError("no such index")

    AblationReport.objects.create(split=val)
    with monkeypatch.context() as patch:
        patch.setattr(skipped_steps, "find", raise_error)
        assert report_jobs.SKIPPED_STEPS.work() == 3
    report = AblationReport.objects.get()
    assert report.state == State.FAILED
    assert "no such index" in report.message and "3 times" in report.message
    assert report_jobs.retry(AblationReport.objects.filter(split=val)) and not report_jobs.retry(
        AblationReport.objects.filter(split=val)
    )
    assert report_jobs.request_skipped_steps(val).state == State.DONE


def test_a_job_of_a_dead_process_waits_again(val):
    report = AblationReport.objects.create(split=val)
    assert leases.take(report)
    AblationReport.objects.update(lease=from_now(-1), worker="elsewhere:1")
    report_jobs.SKIPPED_STEPS.sweep()
    assert AblationReport.objects.get().state == State.WAITING
