"""From a file to its score: storage, refusals, and processes that die in between."""

import errno
import io

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.db import transaction

from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.queue import leases
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from generation.storage import files
from tests.leaderboards import sent
from webapp.leaderboards import deletion, scoring, stored_predictions, uploads
from webapp.leaderboards.models import Method, Score, Submission
from webapp.leaderboards.uploads import Order, UploadRefused

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def stored_files() -> set[str]:
    """Return the names of all files of leaderboards."""
    return set(deletion._kept())


def test_the_score_of_a_file_is_equal_to_counting_by_hand(method: Method, val: Split) -> None:
    answers = sent.noisy(val, wrong=0.4)
    row = sent.submitted(method, val, answers, run="1")
    assert row.state == Submission.State.DONE and row.finished is not None
    score = row.scores.get(split=val)
    assert (score.n, score.right) == (val.questions, sent.right_of(val, answers))
    assert score.right_read == score.right and score.unreadable == 0
    columns = score.columns_json
    assert sum(n for _, n in columns.values()) == val.questions
    assert sum(right for right, _ in columns.values()) == score.right
    kept = stored_predictions.load(row.predictions)
    assert np.array_equal(kept.codes, sent.codes_of(val, answers))
    assert row.file == "" and row.size == len(sent.as_file(answers).getvalue())


def test_answers_outside_the_vocabulary_are_wrong_but_their_text_is_read(method: Method, val: Split) -> None:
    truth = sent.truth_of(val)
    answers = [f"The answer is: {word}" if number % 3 == 0 else word for number, word in enumerate(truth)]
    row = sent.submitted(method, val, answers)
    score, third = row.scores.get(split=val), len(range(0, val.questions, 3))
    assert row.outside == third
    assert score.right == val.questions - third
    assert score.right_read == val.questions
    assert stored_predictions.load(row.predictions).outside[0] == answers[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty"), (b"[]", "0"), (b"\x7fELF" + bytes(300), ""), (b"yes\nno\n", "160"), (b'[{"question_id": 1}', "")],
)
def test_a_bad_file_is_refused_and_deleted(method: Method, val: Split, content: bytes, said: str) -> None:
    before = stored_files()
    received = uploads.receive(method.owner, Order(method, val), io.BytesIO(content), "x.json")
    scoring.RUNNER.take_turn()
    [row] = received.submissions
    row.refresh_from_db()
    assert row.state == Submission.State.FAILED and row.message and said in row.message
    assert not row.scores.exists() and row.file == ""
    assert stored_files() - before <= {row.findings}


def test_all_errors_of_a_file_are_kept_as_a_list(method: Method, val: Split) -> None:
    row = sent.refused(method, val, answered=[*range(0, 100, 2), *range(val.questions, val.questions + 5)])
    lines = files.get(row.findings).decode().splitlines()
    unknown = [f"Record {record}: no question has the id {val.questions + record - 51}." for record in range(51, 56)]
    single = [f"Question {number} has no answer." for number in range(1, 98, 2)]
    assert lines == [*unknown, *single, f"Questions 99–{val.questions - 1} have no answer."]
    assert lines[-1] not in row.message


@pytest.mark.parametrize(("gaps", "is_kept"), [(1, False), (20, False), (21, True)])
def test_a_list_of_errors_is_kept_only_if_the_message_has_too_many(
    method: Method, val: Split, gaps: int, is_kept: bool
) -> None:
    missing = set(range(1, 2 * gaps, 2))
    row = sent.refused(method, val, answered=[one for one in range(val.questions) if one not in missing])
    assert bool(row.findings) is is_kept and ("more." in row.message) is is_kept
    assert is_kept or all(str(number) in row.message for number in missing)


def test_the_same_key_gives_the_first_submission(method: Method, val: Split) -> None:
    order = Order(method, val, key="abc")
    first = uploads.receive(method.owner, order, sent.as_file(sent.truth_of(val)), "a.json")
    again = uploads.receive(method.owner, order, sent.as_file(sent.truth_of(val)), "a.json")
    assert again.is_repeat and [row.pk for row in again.submissions] == [row.pk for row in first.submissions]
    assert Submission.objects.filter(method=method).count() == 1
    other = Method.objects.create(name="Another", owner=method.owner)
    with pytest.raises(UploadRefused) as refused:
        uploads.receive(method.owner, Order(other, val, key="abc"), sent.as_file([]), "a.json")
    assert refused.value.code == "key_reused"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"fingerprint": "0" * 64}, "other_fingerprint"),
        ({"run": "x" * 61}, "bad_text"),
        ({"note": "\0"}, "bad_text"),
        ({"train_size": 0}, "bad_number"),
        ({"examples_seen": -1}, "bad_number"),
    ],
)
def test_a_bad_order_is_refused_before_anything_is_stored(
    method: Method, val: Split, change: dict[str, object], code: str
) -> None:
    before = stored_files()
    with pytest.raises(UploadRefused) as refused:
        uploads.receive(method.owner, Order(method, val)._replace(**change), sent.as_file([]), "a.json")
    assert refused.value.code == code
    assert stored_files() == before and not Submission.objects.filter(method=method).exists()


def test_a_file_that_is_too_large_is_not_stored(method: Method, val: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LARGEST", 1000)
    before = stored_files()
    with pytest.raises(UploadRefused) as refused:
        uploads.receive(method.owner, Order(method, val), io.BytesIO(bytes(5000)), "a.json")
    assert refused.value.status == 413
    assert stored_files() == before and not list(uploads._drafts().glob(".*"))


def test_submissions_to_methods_of_others_or_to_hidden_splits_are_refused(
    method: Method, val: Split, scored: Dataset, admin_user: object
) -> None:
    with pytest.raises(UploadRefused) as refused:
        uploads.receive(admin_user, Order(method, val), sent.as_file([]), "a.json")
    assert refused.value.status == 404
    Dataset.objects.filter(pk=scored.pk).update(visibility=Dataset.Visibility.PRIVATE)
    hidden = Split.objects.select_related("dataset", "parent").get(pk=val.pk)
    with pytest.raises(UploadRefused) as refused:
        uploads.receive(method.owner, Order(method, hidden), sent.as_file([]), "a.json")
    assert refused.value.code == "no_split"


def test_a_file_for_the_parent_is_scored_on_older_and_newer_question_sets(method: Method, val: Split) -> None:
    answers = sent.noisy(val, wrong=0.5)
    early = derive_question_set(val, "early", {"first": 50})
    row = sent.submitted(method, val, answers)
    late = derive_question_set(val, "late", {"first": 70})
    assert scoring.add_missing() >= 1
    for split, n in ((early, 50), (late, 70)):
        score = Score.objects.get(submission=row, split=split)
        assert (score.n, score.right) == (n, sent.right_of(split, np.array(answers)[:n].tolist()))
        assert np.array_equal(stored_predictions.codes_for(row, split), sent.codes_of(val, answers)[:n])
    assert scoring.add_missing() == 0


def derive_question_set(split: Split, name: str, recipe: dict[str, object]) -> Split:
    """Make a question set of a split and return it."""
    question_sets.create(split, name=name, recipe=Recipe.model_validate({"parent": split.name, **recipe}))
    dataset_jobs.work(dataset=split.dataset)
    return Split.objects.select_related("dataset", "parent").get(dataset=split.dataset, name=name)


def waiting(method: Method, val: Split) -> Submission:
    """Return a submission of the right answers, which waits to be scored."""
    file = sent.as_file(sent.truth_of(val))
    return uploads.receive(method.owner, Order(method, val), file, "a.json").submissions[0]


def test_a_submission_whose_process_died_is_scored_by_another(method: Method, val: Split) -> None:
    row = waiting(method, val)
    assert leases.take(row)
    host = leases.host_name()
    Submission.objects.filter(pk=row.pk).update(worker=f"{host}:999999999")
    scoring.RUNNER.sweep()
    row.refresh_from_db()
    assert row.state == Submission.State.WAITING
    scoring.RUNNER.take_turn()
    row.refresh_from_db()
    assert row.state == Submission.State.DONE and row.scores.count() == 1


def test_a_command_scores_what_a_process_that_died_has_left(
    method: Method, val: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "LONGEST", 60.0)
    row = waiting(method, val)
    assert leases.take(row)
    Submission.objects.filter(pk=row.pk).update(lease="2026-01-01T00:00Z")
    assert scoring.score_now(row) and row.is_scored


def test_a_command_tries_again_to_score_after_an_outage(
    method: Method, val: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "FIRST_WAIT", -1.0)
    monkeypatch.setattr(leases, "RENEWAL", 86_400.0)
    monkeypatch.setattr(scoring, "PAUSE", 0.0)
    monkeypatch.setattr(scoring, "LONGEST", 60.0)
    row, store, tries = waiting(method, val), scoring.store, list[bytes]()

    def full_at_first(content: bytes) -> str:
        tries.append(content)
        if len(tries) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return store(content)

    monkeypatch.setattr(scoring, "store", full_at_first)
    assert scoring.score_now(row) and row.is_scored and len(tries) == 2


def test_scoring_twice_gives_one_score(method: Method, val: Split) -> None:
    row = sent.submitted(method, val, sent.truth_of(val))
    scoring.RUNNER.run(row)  # this process does not hold the lease, so nothing happens
    assert row.scores.count() == 1


def test_a_submission_that_is_deleted_while_it_is_scored_leaves_no_score(
    method: Method, val: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = uploads.receive(method.owner, Order(method, val), sent.as_file(sent.truth_of(val)), "a.json").submissions[0]
    kept = scoring.score_on

    def meanwhile(*args: object) -> Score:
        Submission.objects.filter(pk=row.pk).delete()
        return kept(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(scoring, "score_on", meanwhile)
    scoring.RUNNER.take_turn()
    assert not Submission.objects.filter(pk=row.pk).exists() and not Score.objects.filter(submission=row.pk).exists()


def test_old_files_without_a_row_are_deleted(method: Method, val: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    deletion.drop_files_without_row()  # what tests an hour ago left behind
    row = sent.submitted(method, val, sent.truth_of(val))
    files.put("submissions/left", b"behind")
    files.put("predictions/ab/left", b"behind")
    assert deletion.drop_files_without_row() == 0
    monkeypatch.setattr(deletion, "YOUNG", deletion.timedelta(seconds=-1))
    assert deletion.drop_files_without_row() >= 2
    assert default_storage.exists(stored_predictions.name_of(row.predictions))
    assert not default_storage.exists("submissions/left") and not default_storage.exists("predictions/ab/left")


def test_changed_or_missing_predictions_raise_damaged_predictions(method: Method, val: Split) -> None:
    row = sent.submitted(method, val, sent.truth_of(val))
    files.put(stored_predictions.name_of(row.predictions), b"something else")
    stored_predictions._load.cache_clear()
    with pytest.raises(stored_predictions.DamagedPredictions):
        stored_predictions.load(row.predictions)
    files.drop(stored_predictions.name_of(row.predictions))
    with pytest.raises(stored_predictions.DamagedPredictions):
        stored_predictions.load(row.predictions)


def test_a_failed_transaction_leaves_no_file(method: Method, val: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored_files()

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(uploads.limits, "note_attempt", broken)
    with pytest.raises(RuntimeError), transaction.atomic():
        uploads.receive(method.owner, Order(method, val), sent.as_file(sent.truth_of(val)), "a.json")
    assert stored_files() == before
