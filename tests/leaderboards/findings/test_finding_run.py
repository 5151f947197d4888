"""A small finding from its data to its record: once, twice, and after a run that was killed."""

import errno
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from generation.engine.errors import BadPredictions, BadTraining, NoTorch
from generation.engine.learners import NETWORKS
from generation.engine.scoring.statements import Measurement, StatementOutcome
from generation.making import dataset_jobs
from generation.models import Dataset, Job, Question, Split, from_now
from generation.queue import leases
from generation.splits import question_sets
from generation.splits.split_recipes import read_recipe
from generation.storage import files
from tests.leaderboards.findings.made_findings import SMALL, SPLITS, small_definition
from tests.proof import sample
from webapp.leaderboards import baselines, scoring, stored_predictions
from webapp.leaderboards.entries import entries_of
from webapp.leaderboards.findings import finding_run, records
from webapp.leaderboards.findings.definitions import BadFinding, Definition
from webapp.leaderboards.findings.figure_reader import FigureReader
from webapp.leaderboards.findings.finding_run import FindingRun, StepFailed
from webapp.leaderboards.findings.records import FindingRecord
from webapp.leaderboards.models import Method, Score, Submission, Training
from webapp.leaderboards.training import orders, process, training_jobs
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


class Killed(BaseException):
    """Stands for a signal that ends a run."""


def definition_with(**changes: object) -> Definition:
    """Return the small finding with a changed dataset."""
    mini = SMALL["sizes"]["mini"]
    [shapes] = mini["datasets"]
    return small_definition(sizes={"mini": {**mini, "datasets": [{**shapes, **changes}]}})


def run_all(run: FindingRun) -> FindingRecord:
    """Do all steps, and return the record."""
    for step in run.steps:
        run.perform(step)
    return run.record()


def content_of(record: FindingRecord) -> dict[str, object]:
    """Return what two runs of a finding must have in common: all but dates, seconds and names on the site."""
    data = record.model_dump(exclude={"finding", "date", "seconds", "command"})
    for one in data["datasets"]:
        del one["slug"]
    for one in data["trainings"]:
        del one["seconds"]
    return data


def test_a_small_finding_runs_from_its_data_to_its_record(owner: User, own_records: Path) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    record = run_all(run)
    assert [step.kind for step in run.steps] == ["make", "bag-of-words", "bag-of-words", *["baseline"] * 4]
    test = Split.objects.get(dataset__slug="small-mini-shapes", name="test")
    assert record.datasets[0].splits["test"] == (test.questions, test.fingerprint)
    assert record.datasets[0].splits["test-part"][0] == 40
    found = record.figures["all/words/all"]
    scores = Score.objects.filter(split=test, submission__training__isnull=False).order_by("submission__run")
    assert found.n == test.questions and len(found.runs) == 2
    assert found.runs == pytest.approx([score.right / score.n for score in scores], abs=1e-6)
    assert found.low < found.value < found.high
    chance = Score.objects.get(split=test, submission__method__baseline="chance")
    assert record.figures["all/chance/all"].value == pytest.approx(chance.right / chance.n, abs=1e-6)
    reader = FigureReader(test)
    codes = [stored_predictions.codes_for(one, test) for one in Submission.objects.filter(training__isnull=False)]
    means = [
        np.mean([(run[reader.truth == answer] == answer).mean() for answer in np.unique(reader.truth)]) for run in codes
    ]
    assert record.figures["all/words/balanced"].value == pytest.approx(np.mean(means), abs=1e-6)
    asked = [(one.kind, one.answer) for one in Question.objects.filter(split=test)]
    most = Counter(kind for kind, _ in asked)
    best = sum(max(Counter(answer for kind, answer in asked if kind == one).values()) for one in most)
    assert record.figures["all/words/all"].guess == pytest.approx(best / len(asked), abs=1e-6)
    assert record.figures["all/words/balanced"].guess is not None and record.figures["all/mode/all"].guess is None
    outcomes = {one.says: one.outcome for one in record.statements}
    assert outcomes["Words are perfect."] == StatementOutcome.NOT_HELD
    assert outcomes["Chance is chance."] == StatementOutcome.HELD
    assert {entry.name for entry in entries_of(owner, test)} >= {"Bag of words", "Chance", "Q-type mode"}
    assert records.read_record(records.write(record, folder=own_records)) == record


@pytest.mark.parametrize(
    ("values", "is_share", "low", "high"),
    [
        ([1.0, 0.9], True, 0.30, 1.0),
        ([0.0, 0.1], True, 0.0, 0.70),
        ([1.0, 0.9], False, 0.30, 1.60),
        ([0.5, 0.51], True, 0.44, 0.57),
    ],
)
def test_the_interval_of_a_share_stays_between_0_and_1(
    values: list[float], is_share: bool, low: float, high: float
) -> None:
    positions = np.arange(1000)
    runs = ("a, seed 0", "a, seed 1")
    measured = Measurement("test", positions, np.zeros(1000), 0.02, 0.02, np.array(values), runs)
    found = records.record_figure(measured, is_share=is_share)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)
    assert not is_share or 0 <= found.low <= found.value <= found.high <= 1


def test_statements_keep_their_whole_interval(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    runs = ("words, seed 0", "words, seed 1")
    perfect = Measurement("test", np.arange(9), np.zeros(9), 0.02, 0.0, np.array([1.0, 0.9]), runs)
    [(_, judged)] = [
        (one, found)
        for one, found in run.judge({cell.key: perfect for cell in run.cells})
        if one.says == "Words are perfect."
    ]
    assert judged.interval.high > 1


def test_a_second_run_does_nothing_and_a_training_that_is_done_counts_with_its_own_code(owner: User) -> None:
    first = run_all(FindingRun("small", "mini", owner=owner, definition=small_definition()))
    counts = [model.objects.count() for model in (Dataset, Split, Training, Submission)]  # type: ignore[attr-defined]
    again = run_all(FindingRun("small", "mini", owner=owner, definition=small_definition()))
    assert content_of(again) == content_of(first)
    assert [model.objects.count() for model in (Dataset, Split, Training, Submission)] == counts  # type: ignore[attr-defined]

    assert {one.code_version for one in first.trainings} == {first.versions["horsesense"]}
    assert all(one.config == {} for one in first.trainings), "no setting is changed"
    done = Training.objects.get(seed=1)
    Training.objects.filter(pk=done.pk).update(code_version="an earlier one")
    cancelled = orders.create(orders.order_of(done))
    orders.cancel(cancelled)
    second = run_all(FindingRun("small", "mini", owner=owner, definition=small_definition()))
    assert [one.code_version for one in second.trainings] == [first.versions["horsesense"], "an earlier one"]
    assert second.versions == first.versions and second.figures == first.figures
    cancelled.refresh_from_db()
    assert cancelled.state == Training.State.CANCELLED


def kill_while_making(run: FindingRun) -> None:
    """Kill a run after a few jobs of its dataset."""

    def make(dataset: Dataset) -> None:
        left: Iterator[bool] = iter([True, True, False])
        dataset_jobs.work(dataset=dataset, keep_going=lambda: next(left))
        raise Killed

    run.make = make
    run_all(run)


def kill_while_training(run: FindingRun) -> None:
    """Kill a run when its second training begins."""
    calls: list[Training] = []

    def say(training: Training) -> None:
        calls.append(training)
        if training.seed == 1:
            raise Killed

    run.say = say
    run_all(run)


@pytest.mark.parametrize("kill", [kill_while_making, pytest.param(kill_while_training, marks=pytest.mark.full)])
def test_a_run_that_was_killed_goes_on_and_records_the_same(kill: object, owner: User) -> None:
    assert callable(kill)
    whole = run_all(FindingRun("whole", "mini", owner=owner, definition=small_definition()))
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    with pytest.raises(Killed):
        kill(run)
    assert run.is_begun
    again = FindingRun("small", "mini", owner=owner, definition=small_definition())
    assert again.journal.seconds == run.journal.seconds
    assert content_of(run_all(again)) == content_of(whole)


DEAD = f"{leases.host_name()}:{2**22 + 1}"  # a process that has ended


@pytest.fixture
def run_with_data(owner: User) -> FindingRun:
    """Give a run that has made its datasets."""
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    run.perform(run.steps[0])
    return run


def spoil_set(state: str, **job: object) -> Job:
    """Give the question set another state than complete, and its job this state; return the job."""
    split = Split.objects.get(name="test-part")
    Split.objects.filter(pk=split.pk).update(state=Split.State.MAKING if state != "failed" else Split.State.FAILED)
    Job.objects.filter(split=split).update(state=state, **job)
    return Job.objects.get(split=split)


@pytest.mark.parametrize(
    ("state", "job"),
    sample(
        [
            ("running", {"token": "x", "lease": from_now(60), "worker": DEAD}),
            ("waiting", {"waits": 3, "not_before": from_now(600), "message": "Waiting for disk space."}),
            ("failed", {"message": "It broke."}),
            ("cancelled", {}),
        ],
        gate=2,
    ),
)
def test_a_question_set_that_was_not_finished_is_made(
    run_with_data: FindingRun, state: str, job: dict[str, object]
) -> None:
    spoil_set(state, **job)
    run_with_data.perform(run_with_data.steps[0])
    assert Split.objects.get(name="test-part").is_complete


def test_a_run_waits_for_a_question_set_that_another_process_makes(
    run_with_data: FindingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = spoil_set("running", token="x", lease=from_now(60), worker=f"{leases.host_name()}:{os.getpid()}")

    def finish_elsewhere(seconds: float) -> None:
        Split.objects.filter(pk=job.split_id).update(state=Split.State.COMPLETE)
        Job.objects.filter(pk=job.pk).update(state=Job.State.DONE, token="", lease=None)

    monkeypatch.setattr(dataset_jobs.time, "sleep", finish_elsewhere)
    run_with_data.perform(run_with_data.steps[0])
    assert run_with_data.split_of("shapes/test-part").is_complete


def test_a_large_question_set_is_made_here(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_sets, "AT_ONCE", 5)
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    run.perform(run.steps[0])
    assert run.split_of("shapes/test-part").questions == 40


def test_a_question_set_that_fails_again_shows_the_reason(run_with_data: FindingRun) -> None:
    spoil_set("failed", message="An old reason.")
    Question.objects.filter(split__name="test", position=3).delete()
    with pytest.raises(StepFailed, match="small-mini-shapes/test-part: Expected 40 questions, got 39"):
        run_with_data.perform(run_with_data.steps[0])


def test_a_question_set_that_was_partly_deleted_shows_how_to_delete_it(run_with_data: FindingRun) -> None:
    spoil_set("failed").delete()
    with pytest.raises(StepFailed, match=r"python manage\.py delete small-mini-shapes/test-part"):
        run_with_data.perform(run_with_data.steps[0])


def test_a_question_set_that_waits_for_the_disk_ends_the_run_with_the_reason(
    run_with_data: FindingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_no_space(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    spoil_set("waiting")
    monkeypatch.setattr(question_sets, "write_index", find_no_space)
    with pytest.raises(StepFailed, match=r"test-part: Waiting for disk space: .*No space left"):
        run_with_data.perform(run_with_data.steps[0])


def test_a_failed_question_set_of_somebody_else_does_not_matter(run_with_data: FindingRun) -> None:
    parent = run_with_data.split_of("shapes/test")
    other = dataset_jobs.derive(parent, name="other", recipe=read_recipe({"parent": "test", "first": 3}))
    Split.objects.filter(pk=other.pk).update(state=Split.State.FAILED)
    Job.objects.filter(split=other).update(state=Job.State.FAILED)
    run_with_data.perform(run_with_data.steps[0])
    assert other.jobs.get().state == Job.State.FAILED


def test_a_dataset_whose_process_was_killed_is_completed(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())

    def kill(dataset: Dataset) -> None:
        job = dataset_jobs.claim(dataset=dataset)
        assert job is not None
        Job.objects.filter(pk=job.pk).update(worker=DEAD)
        raise Killed

    make, run.make = run.make, kill
    with pytest.raises(Killed):
        run.perform(run.steps[0])
    run.make = make
    run.perform(run.steps[0])
    assert Dataset.objects.get().state == Dataset.State.COMPLETE


def test_a_dataset_that_waits_for_the_disk_ends_the_run_with_the_reason(owner: User, settings: Any) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    settings.DISK_RESERVE_GB = 1e9
    with pytest.raises(StepFailed, match="small-mini-shapes: Waiting for disk space: expected"):
        run.perform(run.steps[0])
    settings.DISK_RESERVE_GB = 0
    run.perform(run.steps[0])
    assert Dataset.objects.get().state == Dataset.State.COMPLETE


def test_a_full_disk_does_not_hide_the_reason_why_a_step_failed(
    owner: User, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    def find_no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(records, "write_whole", find_no_space)
    settings.DISK_RESERVE_GB = 1e9
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    with pytest.raises(StepFailed, match="Waiting for disk space"):
        run.perform(run.steps[0])
    assert run.is_begun


# Methods that cannot be trained


def order_of(run: FindingRun, seed: int = 0) -> orders.TrainingOrder:
    return run._order(run.plan.trainings[0], seed)


def test_changed_settings_show_the_trainings_to_delete(run_with_data: FindingRun) -> None:
    others = [orders.create(order_of(run_with_data, seed)._replace(size="paper")) for seed in (0, 1)]
    for attempt in (run_with_data.check_methods, lambda: run_with_data.perform(run_with_data.steps[1])):
        with pytest.raises(BadFinding, match=r"Or use another account: --owner ACCOUNT") as refusal:
            attempt()
        assert all(f"/trainings/{other.pk}/" in str(refusal.value) for other in others)
        assert "--name" not in str(refusal.value)
    for other in others:
        training_jobs.delete(other)
    run_with_data.check_methods()


def test_a_method_with_the_same_name_is_shown_before_data_are_made(owner: User) -> None:
    taken = Method.objects.create(owner=owner, name="Bag of words", made=Method.Made.ELSEWHERE)
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    with pytest.raises(BadFinding, match=rf"'Bag of words', .*/methods/{taken.pk}/\. .* --owner ACCOUNT"):
        run.check_methods()
    other = User.objects.create_superuser("other", password="x")
    FindingRun("small", "mini", owner=other, definition=small_definition()).check_methods()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "lstm"}, "make torch"),
        ({"method": "nothing"}, "Expected one of"),
        ({"config": {"nothing": 5}}, "bag-of-words: nothing"),
        ({"label": "x" * 101}, "a name of at most 100 characters"),
    ],
)
def test_a_method_that_cannot_be_trained_is_one_message_before_data_are_made(
    owner: User,
    changes: dict[str, object],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    settings.TRAINING_PYTHON = tmp_path / "python"
    mini = SMALL["sizes"]["mini"]
    changed = {**mini, "trainings": [{**mini["trainings"][0], **changes}]}
    run = FindingRun("small", "mini", owner=owner, definition=small_definition(sizes={"mini": changed}))
    with pytest.raises(BadTraining, match=message):
        run.check_methods()


def test_methods_whose_trainings_are_done_are_not_checked(
    run_with_data: FindingRun, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    for seed in (0, 1):
        orders.create(order_of(run_with_data, seed))
    monkeypatch.setitem(NETWORKS, "bag-of-words", "")
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    settings.TRAINING_PYTHON = tmp_path / "python"
    with pytest.raises(NoTorch, match="make torch"):
        run_with_data.check_methods()
    Training.objects.update(state=Training.State.DONE, model="model")
    run_with_data.check_methods()


def test_a_failed_training_ends_the_run_with_its_message(
    run_with_data: FindingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(training: Training, **_: object) -> Training:
        Training.objects.filter(pk=training.pk).update(state=Training.State.FAILED, message="It broke.")
        training.refresh_from_db()
        return training

    monkeypatch.setattr(finding_run, "run_here", fail)
    with pytest.raises(StepFailed, match=r"words, seed 0: Expected a training with scores, got: It broke\."):
        run_with_data.perform(run_with_data.steps[1])


def test_a_baseline_whose_score_failed_is_tried_again(
    run_with_data: FindingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = next(one for one in run_with_data.steps if one.name.startswith("score chance"))

    def fail(*_: object, **__: object) -> bytes:
        raise BadPredictions("It broke.")

    with monkeypatch.context() as broken:
        broken.setattr(baselines, "predictions", fail)
        with pytest.raises(StepFailed, match=r"chance on shapes/test: Expected a score, got: It broke\."):
            run_with_data.perform(step)
    run_with_data.perform(step)
    assert Submission.objects.get(method__baseline="chance").is_scored


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_training_whose_score_failed_is_scored_again_by_the_next_run(
    run_with_data: FindingRun, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    """Without its file of predictions, the method is trained again."""

    def fail(*_: object, **__: object) -> Any:
        raise RuntimeError("It broke.") if is_kept else BadPredictions("It broke.")

    monkeypatch.setattr(leases, "ATTEMPTS", 1)
    step = run_with_data.steps[1]
    with monkeypatch.context() as broken:
        broken.setattr(scoring.prediction_files, "read_file", fail)
        with pytest.raises(StepFailed, match="Expected a training with scores, got:"):
            run_with_data.perform(step)
    assert bool(Submission.objects.get(state=Submission.State.FAILED).file) == is_kept
    run_with_data.perform(step)
    assert [one.is_scored for one in Submission.objects.filter(training__seed=0)] == [True]


@pytest.mark.full
def test_a_training_whose_submission_was_deleted_is_trained_again_after_its_deletion(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    first = run_all(run)
    done = Training.objects.get(seed=0)
    done.submissions.all().delete()
    with pytest.raises(
        StepFailed, match=rf"the submission was deleted\. Delete the training too.*/trainings/{done.pk}/"
    ):
        run_all(run)
    training_jobs.delete(done)
    with pytest.raises(StepFailed, match="words, seed 0: Expected a training, got none"):
        run.record()
    training_jobs.delete(Training.objects.get(seed=1))  # its submission stays
    assert run_all(run).figures == first.figures


def test_a_split_that_no_training_answers_is_one_message(owner: User) -> None:
    [table] = SMALL["tables"]
    row, column = table["rows"][0], {"name": "val", "label": "Val", "on": "shapes/val"}
    tables = [{**table, "rows": [row], "columns": [column], "paper": {}}]
    statements = [{"says": "Words are good.", "plus": ["all/words/val"], "at_least": 0}]
    bars = [{"label": label, "mean_of": ["all/words/val"]} for label in ("Words", "The same")]
    changes = {"tables": tables, "statements": statements, "headline": {**SMALL["headline"], "bars": bars}}
    run = FindingRun("small", "mini", owner=owner, definition=small_definition(**changes))
    run.perform(run.steps[0])
    for seed in (0, 1):
        orders.create(order_of(run, seed))
    with pytest.raises(BadFinding, match=r"words: .*Add the split to `tests`"):
        run.record()


def test_the_seconds_of_all_attempts_add_up(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    [step, *_] = run.steps
    first = run.perform(step)
    assert run.perform(step) > first
    again = FindingRun("small", "mini", owner=owner, definition=small_definition())
    assert again.seconds_of(step) == run.seconds_of(step)


def test_the_journal_keeps_the_steps_that_have_not_changed(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    for step in run.steps:
        run.journal.note(step.key, 5.0)
    [changed, *kept] = SMALL["sizes"]["mini"]["trainings"]
    trainings = [{**changed, "config": {**changed.get("config", {}), "epochs": 7}}, *kept]
    mini = {**SMALL["sizes"]["mini"], "trainings": trainings, "about": "Other words."}
    other = FindingRun("small", "mini", owner=owner, definition=small_definition(sizes={"mini": mini}))
    new = [step.name for step in other.steps if not other.seconds_of(step)]
    assert new == [f"train {changed['name']}, seed {seed}" for seed in changed.get("seeds", [0])]
    changed_data = FindingRun("small", "mini", owner=owner, definition=definition_with(images=True))
    assert not changed_data.is_begun


@pytest.mark.parametrize(
    "seconds",
    ['{"make shapes": null}', '{"make shapes": "x"}', '{"make shapes": NaN}', f'{{"a": 1{"0" * 400}}}', "[5]"],
)
def test_a_damaged_journal_is_not_used(owner: User, seconds: str) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    run.journal.note("make shapes", 5.0)
    files.put(run.journal.name, f'{{"seconds": {seconds}}}'.encode())
    assert FindingRun("small", "mini", owner=owner, definition=small_definition()).journal.seconds == {}


def test_the_time_left_is_that_of_steps_of_the_same_kind(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    assert run.seconds_left(0) is None
    for step, seconds in zip(run.steps, [5.0, 30.0, 50.0], strict=False):
        run.journal.note(step.key, seconds)
    assert run.seconds_left(1) is None, "no training is done"
    assert run.seconds_left(2) == pytest.approx(30)
    assert run.seconds_left(len(run.steps)) == 0


def test_a_dataset_with_another_spec_is_one_message(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    run.perform(run.steps[0])
    spec = {**SMALL["sizes"]["mini"]["datasets"][0]["spec"], "seed": 5}
    other = FindingRun("small", "mini", owner=owner, definition=definition_with(spec=spec))
    with pytest.raises(BadFinding, match=r"manage\.py delete small-mini-shapes"):
        other.perform(other.steps[0])


@pytest.mark.parametrize(
    "recipe", sample([{"first": 30}, {"first": 40, "filter": "length=6.."}, {"sample": 40}], gate=1)
)
def test_a_question_set_with_another_recipe_is_one_message(recipe: dict[str, object], owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    run.perform(run.steps[0])
    changed = {"name": "test-part", "parent": "test", "recipe": recipe}
    other = FindingRun("small", "mini", owner=owner, definition=definition_with(sets=[changed]))
    with pytest.raises(BadFinding, match=r"manage\.py delete small-mini-shapes/test-part"):
        other.perform(other.steps[0])
    call_command("delete", "small-mini-shapes/test-part")
    other.perform(other.steps[0])
    assert other.split_of("shapes/test-part").recipe == read_recipe({"parent": "test", **recipe}).to_json()


def test_a_count_shift_with_another_recipe_is_one_message(owner: User) -> None:
    spec = {"base": "clevr-counting", "splits": {**SPLITS, "grounding": {"scenes": 2}}}
    shifted = definition_with(spec=spec, shifts=[{"kept": "odd", "removed": 50}])
    run = FindingRun("small", "mini", owner=owner, definition=shifted)
    run.perform(run.steps[0])
    run.perform(run.steps[0])
    first = Split.objects.get(name="train-odd-even-50")
    Split.objects.filter(pk=first.pk).update(recipe=first.recipe.replace("50", "60"))
    with pytest.raises(BadFinding, match=r"manage\.py delete small-mini-shapes/train-odd-even-50"):
        run.perform(run.steps[0])


def test_a_size_that_a_finding_does_not_have_is_one_message(owner: User) -> None:
    with pytest.raises(BadFinding, match="Expected one of mini, got 'paper'"):
        FindingRun("small", "paper", owner=owner, definition=small_definition())


def test_a_damaged_record_is_one_message(own_records: Path) -> None:
    own_records.mkdir(parents=True)
    path = records.path_of("small", "mini", folder=own_records)
    assert records.read_record(path) is None
    path.write_text('{"finding": 5}', encoding="utf-8")
    with pytest.raises(BadFinding, match=r"small-mini\.json"):
        records.read_record(path)
