"""What programs give with a step left out, found for a split: right by a twin, once, safe to run twice."""

import json

import numpy as np
import pytest

from generation import ablation_jobs, ablations, deriving, heartbeat, jobs, tasks
from generation.engine.score import NONE
from generation.index import SplitIndex
from generation.models import AblationReport, Dataset, Question, Split, from_now
from generation.queue import leases, runner
from generation.recipes import Recipe
from tests.generation import small
from tests.worlds.clevr.test_ablations import without

State = AblationReport.State


@pytest.fixture(scope="module")
def kept(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        key = small.made("steps", with_images=False, splits={"val": {"scenes": 5}, "test": {"scenes": 3}}).pk
    yield key
    with django_db_blocker.unblock():
        Dataset.objects.filter(pk=key).delete()


@pytest.fixture
def val(kept, db):
    return Split.objects.for_browse().get(dataset=kept, name="val")


@pytest.fixture
def hints(monkeypatch):
    """Count the hints sent to background processes."""
    sent = []
    monkeypatch.setattr(runner.app, "send_task", lambda name, **options: sent.append((name, options["queue"])))
    return sent


def given_by_twin(split, position, name):
    """Return the code of what a question's program gives without a step."""
    row = Question.objects.select_related("scene").get(split=split, position=position)
    answer = without(json.loads(row.program), row.scene.scene_json, name)
    return NONE if answer is None else SplitIndex.open(split).answer_values.index(answer)


def test_all_is_what_a_twin_finds_question_by_question(val):
    found = ablation_jobs.read(ablation_jobs.at_hand(val))
    assert found.positions.tolist() == list(range(val.questions))
    assert set(found.names) == {one.name for one in val.dataset.get_world().ablations}
    for number, name in enumerate(found.names):
        wanted = [given_by_twin(val, position, name) for position in found.positions.tolist()]
        assert found.codes[number].tolist() == wanted, name
    assert (found.codes >= 0).sum() > 20


def test_a_sample_is_of_the_questions_it_names(val, monkeypatch):
    whole = ablations.find(val.dataset.get_world(), val)
    monkeypatch.setattr(ablations, "SAMPLE", 7)
    few = ablations.find(val.dataset.get_world(), val)
    assert len(few.positions) == 7
    assert np.array_equal(few.codes, whole.codes[:, few.positions])
    again = ablations.from_bytes(ablations.to_bytes(few))
    assert again.names == few.names
    assert np.array_equal(again.codes, few.codes) and np.array_equal(again.positions, few.positions)


def test_a_question_set_has_what_its_parent_has(val):
    deriving.create(val, name="few", recipe=Recipe(parent="val", sample=6, seed=2))
    jobs.work(dataset=val.dataset)
    few = Split.objects.for_browse().get(dataset=val.dataset, name="few")
    whole, found = (ablations.find(val.dataset.get_world(), one) for one in (val, few))
    assert np.array_equal(found.codes, whole.codes[:, SplitIndex.open(few).in_source(list(range(6)))])


def test_a_world_without_programs_leaves_nothing_out(made):
    split = Split.objects.for_browse().get(dataset=made, name="val")
    found = ablation_jobs.read(ablation_jobs.at_hand(split))
    assert (found.names, found.codes.shape) == ((), (0, split.questions))


def test_it_is_found_once(val, monkeypatch):
    first = ablation_jobs.at_hand(val)
    monkeypatch.setattr(ablations, "find", lambda *args, **options: pytest.fail("found again"))
    assert ablation_jobs.at_hand(val).pk == first.pk
    assert ablation_jobs.RUNNER.work() == 0


def test_another_way_of_finding_makes_it_outdated(val, monkeypatch):
    before = ablation_jobs.at_hand(val).key
    monkeypatch.setattr(ablation_jobs, "VERSION", 0)
    after = ablation_jobs.at_hand(val)
    assert (after.state, after.key != before) == (State.DONE, True)


def test_a_large_split_waits_for_a_background_process(val, hints, monkeypatch):
    monkeypatch.setattr(ablation_jobs, "SMALL", 0)
    assert ablation_jobs.at_hand(val).state == State.WAITING
    assert hints == [("generation.tasks.ablate", "default")]
    heartbeat.sweep()
    assert hints.count(("generation.tasks.ablate", "default")) == 2
    tasks.ablate()
    assert ablation_jobs.at_hand(val).state == State.DONE


def test_of_two_who_look_one_writes(val):
    report = AblationReport.objects.create(split=val)
    assert leases.take(report)
    AblationReport.objects.update(state=State.WAITING, token="", lease=None)  # its lease ran out
    other = AblationReport.objects.get()
    assert leases.take(other)
    ablation_jobs.RUNNER.run(report)
    assert AblationReport.objects.get().state == State.RUNNING
    ablation_jobs.RUNNER.run(other)
    assert AblationReport.objects.get().state == State.DONE


def test_what_goes_wrong_is_tried_three_times_then_told(val, monkeypatch):
    def broken(*args, **options):
        raise OSError("no such index")

    AblationReport.objects.create(split=val)
    with monkeypatch.context() as patch:
        patch.setattr(ablations, "find", broken)
        assert ablation_jobs.RUNNER.work() == 3
    report = AblationReport.objects.get()
    assert report.state == State.FAILED
    assert "no such index" in report.message and "3 times" in report.message
    assert ablation_jobs.retry(val) and not ablation_jobs.retry(val)
    assert ablation_jobs.at_hand(val).state == State.DONE


def test_what_a_dead_process_held_is_looked_for_again(val, hints):
    report = AblationReport.objects.create(split=val)
    assert leases.take(report)
    AblationReport.objects.update(lease=from_now(-1), worker="elsewhere:1")
    ablation_jobs.RUNNER.sweep()
    assert AblationReport.objects.get().state == State.WAITING
    assert hints
