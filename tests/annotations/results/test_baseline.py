"""The published human baseline: predictions in the form of a model's, which never change."""

import json
import random
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from annotations.answering import participants, slot_assignment
from annotations.models import Answer, Baseline, Participant, Study
from annotations.results import baseline
from annotations.results import study_statistics as results
from annotations.results.baseline import NotPublished
from annotations.studies import lifecycle
from generation.engine.scoring.score import NONE, TIE, score
from generation.models import Dataset
from generation.storage import files
from generation.storage.split_index import SplitIndex
from tests.annotations import answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(made: Dataset) -> Study:
    """Give a closed study that was answered at random."""
    return close_study(answered.answered(made, random.Random(3)))


def close_study(study: Study) -> Study:
    assert lifecycle.close(study)
    return study


def publish(study: Study) -> Baseline:
    return baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)


def test_a_published_baseline_is_scored_like_the_predictions_of_a_model(run: Study) -> None:
    row = publish(run)
    arrays, index = baseline.load(row), SplitIndex.open(run.split)
    assert len(arrays.predictions) == index.n
    scored = score(arrays.predictions, index.answers.astype(np.int64), {}, among=arrays.predictions != NONE)
    assert (scored.right, scored.n) == (row.right, row.asked)
    assert answered.rescored(row) == (row.right, row.asked)
    counted = Answer.objects.counted().filter(question__study=run).exclude(text="")
    assert row.asked == counted.values("question").distinct().count() > 0
    assert row.ties == int((arrays.predictions == TIE).sum()) > 0


def test_single_answers_are_stored_with_the_majority(run: Study) -> None:
    arrays = baseline.load(publish(run))
    counted = Answer.objects.counted().filter(question__study=run).exclude(text="")
    said = sorted(counted.values_list("question__position", "text"))
    rows = zip(arrays.questions.tolist(), arrays.answers.tolist(), strict=True)
    assert sorted((position, arrays.words[code]) for position, code in rows) == said
    assert len(set(arrays.people.tolist())) == counted.values("participant").distinct().count()
    position = said[0][0]
    assert sum(times for _, times in arrays.said(position)) == sum(one == position for one, _ in said)


def test_published_figures_are_equal_to_the_results(run: Study) -> None:
    row = publish(run)
    figures, top = json.loads(row.figures), results.headline(results.gather(run))
    assert figures["majority"] == [top.majority.right, top.majority.n] == [row.right, row.asked]
    assert figures["single"] == list(top.single)
    assert (figures["people"], figures["ties"], row.people) == (top.people, top.ties, top.people)
    facets = list(SplitIndex.open(run.split).facets.values())
    told = {part.name: [[label, *share] for label, share in part.rows] for part in results.break_down(
        results.gather(run), facets)}  # fmt: skip
    assert {one["name"]: one["values"] for one in figures["facets"]} == told
    assert {one["name"] for one in figures["facets"] if one["reveals"]} == {one.name for one in facets if one.reveals}


def test_published_baselines_lists_it_by_split(run: Study) -> None:
    assert not baseline.published_baselines().exists()
    row = publish(run)
    assert list(baseline.published_baselines()) == list(baseline.published_baselines(run.split)) == [row]
    assert not baseline.published_baselines(run.split.dataset.splits.get(name="train")).exists()


# What can be published


def test_an_open_study_and_a_draft_are_not_published(made: Dataset) -> None:
    study = answered.answered(made, random.Random(3))
    draft = Study.objects.create(split=study.split, owner=study.owner, title="Draft")
    for one in (study, draft):
        with pytest.raises(NotPublished, match="Expected a closed study, got one that is"):
            baseline.publish(one, by=study.owner_id, seal="")
    assert not Baseline.objects.exists()


def test_figures_that_changed_after_the_preview_are_not_published(run: Study) -> None:
    seal = baseline.draft(run).seal
    first = run.participants.filter(is_test=False, answers__slot__isnull=False).first()
    assert first is not None
    slot_assignment.exclude(first, reason="by mistake")
    with pytest.raises(NotPublished, match="The figures have changed since you opened this page"):
        baseline.publish(run, by=run.owner_id, seal=seal)
    assert not Baseline.objects.exists()


def test_a_study_without_answers_is_not_published(made: Dataset) -> None:
    study = close_study(answered.opened(made.splits.get(name="val"), [0, 1]))
    with pytest.raises(NotPublished, match="Expected a study with answers that count"):
        publish(study)


def test_missing_answers_and_unanswered_questions_are_counted(run: Study) -> None:
    still = baseline.still_open(run, participants.people_of(run))
    assert still.missing == run.slots.filter(answered=False).count() > 0
    assert still.under_way == 0
    assert still.unanswered == sum(not one.slots.filter(answered=True).exists() for one in run.questions.all())
    free = run.slots.filter(answered=False).first()
    assert free is not None
    late = Participant.objects.create(study=run)
    run.slots.filter(pk=free.pk).update(participant=late, lease="2999-01-01T00:00:00Z")
    assert baseline.still_open(run, participants.people_of(run)).under_way == 1


# A published version does not change


def test_a_later_exclusion_keeps_the_published_version_and_allows_another(run: Study) -> None:
    first = publish(run)
    before = {name: value for name, value in vars(first).items() if name != "_state"}
    content = files.get(baseline.name_of(first.digest))
    assert not baseline.is_outdated(first, results.gather(run))
    someone = Participant.objects.filter(answers__slot__isnull=False, study=run).first()
    assert someone is not None
    slot_assignment.exclude(someone, reason="does not see colours")
    assert baseline.is_outdated(first, results.gather(run))
    stored = Baseline.objects.get()
    assert {name: getattr(stored, name) for name in before} == before
    second = publish(run)
    assert (first.number, second.number) == (1, 2)
    assert second.digest != first.digest and files.get(baseline.name_of(first.digest)) == content
    assert list(baseline.published_baselines()) == [second]
    assert json.loads(second.figures)["excluded"] == [["does not see colours", 1]]


def test_erasing_a_person_keeps_published_scores(run: Study) -> None:
    row = publish(run)
    for person in run.participants.all():
        participants.erase(person)
    assert answered.rescored(row) == (row.right, row.asked)
    assert not baseline.is_outdated(row, results.gather(run))
    assert publish(run) == row


def test_publishing_twice_makes_one_version(run: Study) -> None:
    seal = baseline.draft(run).seal
    rows = {baseline.publish(run, by=run.owner_id, seal=seal).pk for _ in range(2)}
    assert len(rows) == Baseline.objects.count() == 1
    assert len(default_storage.listdir(baseline.FOLDER)[1]) >= 1


def test_a_withdrawn_version_keeps_its_row_and_is_no_longer_listed(run: Study) -> None:
    row = publish(run)
    assert baseline.withdraw(row, "Half the pictures were black.")
    assert not baseline.withdraw(row, "again")
    assert (row.is_withdrawn, row.reason) == (True, "Half the pictures were black.")
    assert not baseline.published_baselines().exists()
    again = publish(run)
    assert (again.number, list(baseline.published_baselines())) == (2, [again])


def test_a_version_is_current_again_if_the_next_one_is_withdrawn(run: Study) -> None:
    first = publish(run)
    someone = Participant.objects.filter(answers__slot__isnull=False, study=run).first()
    assert someone is not None
    slot_assignment.exclude(someone, reason="by mistake")
    baseline.withdraw(publish(run), "The wrong person was left out.")
    assert list(baseline.published_baselines()) == [first]


def test_versions_of_several_studies_of_a_split_share_one_numbering(made: Dataset) -> None:
    one, other = (close_study(answered.answered(made, random.Random(seed))) for seed in (3, 5))
    rows = [publish(one), publish(other)]
    assert [row.number for row in rows] == [1, 2]
    assert set(baseline.published_baselines(one.split)) == set(rows)


@pytest.mark.parametrize("change", [{"withdrawn": "2026-01-01T00:00:00Z"}, {"reason": "x"}, {"right": 10**6}])
def test_the_database_refuses_inconsistent_rows(run: Study, change: dict[str, Any]) -> None:
    publish(run)
    with pytest.raises(IntegrityError), transaction.atomic():
        Baseline.objects.update(**change)


def test_a_changed_file_raises_damaged_baseline(run: Study) -> None:
    row = publish(run)
    arrays = baseline.load(row)
    baseline.load_digest.cache_clear()
    name = baseline.name_of(row.digest)
    other = arrays._replace(predictions=arrays.predictions + 1)
    for content in (baseline.pack_arrays(other), b"no such file"):
        files.put(name, content)
        with pytest.raises(baseline.DamagedBaseline):
            baseline.load(row)
    files.put(name, baseline.pack_arrays(arrays))
    assert baseline.load(row).words == arrays.words


def test_the_split_of_a_published_study_cannot_be_deleted(run: Study) -> None:
    from generation import extension_points

    publish(run)
    with pytest.raises(extension_points.Referred):
        extension_points.check_split_unreferred(run.split)
