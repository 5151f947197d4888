"""From an upload with replies to a score: storage, figures, refusals, and processes that die in between."""

import gzip
import io
import json
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import default_storage

from generation.engine.predictions.packed_replies import DamagedReplies
from generation.making import dataset_jobs
from generation.models import Split
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from generation.storage import files, storage_quotas
from tests.leaderboards import sent
from tests.leaderboards.replies import replied
from webapp.backups import stored_files as backed_up
from webapp.leaderboards import deletion, scoring, uploads
from webapp.leaderboards.entries import find_entry
from webapp.leaderboards.models import Method, Submission
from webapp.leaderboards.replies import reply_figures, stored_replies
from webapp.leaderboards.suites import members_for
from webapp.leaderboards.uploads import Order, UploadRefused

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def stored_files() -> set[str]:
    return set(deletion._kept())


def drafts() -> list[str]:
    return [name for name in default_storage.listdir(stored_replies.FOLDER)[1] if name.startswith(".")]


def test_replies_are_stored_and_their_figures_equal_counting_by_hand(method: Method, val: Split) -> None:
    answers, records = replied.answers_of(val), replied.records_of(val)
    row = replied.submit(method, val, answers, records)
    assert row.is_scored and row.replies and row.replies_file == row.file == "" and row.replies_size > 0
    score, n = row.scores.get(split=val), val.questions
    truth = sent.truth_of(val)
    right = sum(one == other for one, other in zip(answers, truth, strict=True))
    assert (score.n, score.right, score.answered, score.right_answered) == (n, right, n - 4, right)
    tokens = [sum(one["usage"].values()) for one in records if one["usage"]]
    assert score.tokens == pytest.approx(sum(tokens) / len(tokens), abs=1e-3)
    assert score.cost == pytest.approx(1.0) and score.latency == float(np.median([one["latency"] for one in records]))
    kept = stored_replies.load(row.replies)
    assert kept.records([3])[3][0]["state"] == "failed"
    assert row.kept == sum(
        files.size(name)
        for name in (stored_replies.name_of(row.replies), f"predictions/{row.predictions[:2]}/{row.predictions}")
    )
    assert drafts() == []
    name = stored_replies.name_of(row.replies)
    assert name in set(backed_up.names())
    assert files.part(name, 3, 10) == files.get(name)[3:10]


def test_several_variants_make_one_state_and_the_sum_of_their_tokens(method: Method, val: Split) -> None:
    answers = replied.answers_of(val, incomplete={0: "cut off"})
    records = [
        *replied.records_of(val, incomplete={}, variant=0, form="circular"),
        *replied.records_of(val, incomplete={0: "cut off"}, variant=1, form="circular"),
    ]
    score = replied.submit(method, val, answers, records).scores.get(split=val)
    assert score.answered == val.questions - 1
    assert score.tokens == pytest.approx(2 * (100 + np.mean([at % 10 for at in range(val.questions)])), abs=1e-3)


def test_a_question_set_has_the_figures_of_its_own_questions(method: Method, val: Split) -> None:
    row = replied.submit(method, val, replied.answers_of(val), replied.records_of(val))
    recipe = Recipe.model_validate({"parent": "val", "first": 5})
    question_sets.create(val, name="first", recipe=recipe)
    dataset_jobs.work(dataset=val.dataset)
    part = Split.objects.get(dataset=val.dataset, name="first")
    assert row.scores.filter(split=part).exists() or scoring.add_missing() == 1
    score = row.scores.get(split=part)
    assert (score.n, score.answered) == (5, 3)
    assert score.tokens == pytest.approx(np.mean([100, 101, 102, 104]))


def test_missing_answers_are_no_free_text_on_a_question_set(method: Method, val: Split) -> None:
    answers: list[Any] = sent.truth_of(val)
    answers[0] = answers[7] = answers[8] = None
    silent = sent.submitted(method, val, answers)
    talking = sent.submitted(method, val, [f"It is {answers[1]}.", *sent.truth_of(val)[1:]], run="2")
    question_sets.create(val, name="first", recipe=Recipe.model_validate({"parent": "val", "first": 5}))
    dataset_jobs.work(dataset=val.dataset)
    scoring.add_missing()
    scores = [row.scores.get(split__name=name) for row in (silent, talking) for name in ("val", "first")]
    assert [score.has_text for score in scores] == [False, False, True, True]


def test_coverage_is_known_without_replies(method: Method, val: Split) -> None:
    answers: list[Any] = sent.truth_of(val)
    answers[0], answers[1] = None, " "
    answers[2] = "[LMMS_EVAL_REQUEST_FAILED after 5 retries; the answer is yes]"
    row = sent.submitted(method, val, answers)
    score = row.scores.get(split=val)
    assert (row.failures, row.outside, score.answered, score.right) == (1, 3, val.questions - 3, val.questions - 3)
    assert score.right_read == score.right and score.tokens is score.cost is score.latency is None
    entry = find_entry(method.owner, val, f"s{row.pk}")
    assert entry is not None
    usage = reply_figures.usage_of(entry)
    assert usage is not None and usage.coverage == pytest.approx(1 - 3 / val.questions)
    among = reply_figures.accuracy_among_answered(entry.scores)
    assert among is not None and (among.n, among.share) == (val.questions - 3, 1)


def test_an_answer_to_an_incomplete_reply_is_refused(method: Method, val: Split) -> None:
    before = stored_files()
    row = replied.submit(method, val, sent.truth_of(val), replied.records_of(val))
    assert row.state == Submission.State.FAILED and row.replies == row.replies_file == row.file == ""
    assert "got answers to 4 of them: questions 3 (failed), 4 (cut off), 5 (refused), 6 (empty)" in row.message
    assert stored_files() == before and drafts() == []


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", gzip.compress(b"{}\n", mtime=0)[:-3], b'{"question": 160, "state": "failed"}\n']
)
def test_bad_replies_refuse_the_whole_submission(method: Method, val: Split, content: bytes) -> None:
    before = stored_files()
    [row] = uploads.receive(
        method.owner, Order(method, val), sent.as_file(sent.truth_of(val)), "a.json", replies=io.BytesIO(content)
    ).submissions
    scoring.RUNNER.take_turn()
    row.refresh_from_db()
    assert row.state == Submission.State.FAILED and "replies" in row.message and not row.scores.exists()
    assert stored_files() == before and drafts() == []


def test_replies_of_a_suite_are_refused_before_anything_is_stored(method: Method, val: Split, tmp_path: Any) -> None:
    suite, before = sent.suite_of("both", val), stored_files()
    assert members_for(method.owner, suite)[1]
    with sent.as_zip(tmp_path, val=sent.truth_of(val)).open("rb") as file, pytest.raises(UploadRefused) as refused:
        uploads.receive(method.owner, Order(method, suite), file, "a.zip", replies=replied.as_file([]))
    assert refused.value.code == "bad_replies" and stored_files() == before


def test_a_process_that_dies_while_it_scores_loses_nothing(
    method: Method, val: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after the replies are stored and before the rows are written, and the next one finishes."""
    [row] = uploads.receive(
        method.owner,
        Order(method, val),
        sent.as_file(replied.answers_of(val)),
        "a.json",
        replies=replied.as_file(replied.records_of(val)),
    ).submissions
    score_on = scoring.score_on

    def killed(*args: Any) -> Any:
        raise SystemExit

    monkeypatch.setattr(scoring, "score_on", killed)
    with pytest.raises(SystemExit):
        scoring.RUNNER.take_turn()
    row.refresh_from_db()
    assert not row.is_scored and row.replies == "" and default_storage.exists(row.replies_file)
    monkeypatch.setattr(scoring, "score_on", score_on)
    assert scoring.score_now(row) and row.is_scored and row.scores.get(split=val).answered == val.questions - 4
    assert not default_storage.exists(row.file or "none")


def test_files_of_replies_are_deleted_with_their_submission(
    method: Method, val: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = replied.submit(method, val, replied.answers_of(val), replied.records_of(val))
    name = stored_replies.name_of(row.replies)
    monkeypatch.setattr(deletion, "YOUNG", deletion.timedelta(seconds=-1))
    deletion.drop_files_without_row()
    assert default_storage.exists(name)
    deletion.delete_submission(row)
    deletion.drop_files_without_row()
    assert not default_storage.exists(name)


def test_a_waiting_upload_of_replies_counts_for_the_account_and_is_deleted(method: Method, val: Split) -> None:
    file = replied.as_file(replied.records_of(val))
    before = storage_quotas.used_by(method.owner)
    [row] = uploads.receive(
        method.owner, Order(method, val), sent.as_file(sent.truth_of(val)), "a.json", replies=file
    ).submissions
    assert storage_quotas.used_by(method.owner) - before == row.size + row.replies_size == row.size + file.tell()
    deletion.delete_submission(row)
    assert not default_storage.exists(row.replies_file) and storage_quotas.used_by(method.owner) == before


def test_missing_replies_raise_damaged_replies(method: Method, val: Split) -> None:
    row = replied.submit(method, val, replied.answers_of(val), replied.records_of(val))
    files.drop(stored_replies.name_of(row.replies))
    stored_replies.load.cache_clear()
    with pytest.raises(DamagedReplies):
        stored_replies.load(row.replies)


def test_the_check_reads_replies_and_stores_nothing(method: Method, val: Split) -> None:
    before, order = stored_files(), Order(method, val)
    records = replied.records_of(val)
    [found] = uploads.check_upload(
        method.owner, order, sent.as_file(replied.answers_of(val)), "a.json", replies=replied.as_file(records)
    )
    assert found.replies == len(records)
    assert found.unanswered == {"failed": 1, "cut off": 1, "refused": 1, "empty": 1}
    with pytest.raises(UploadRefused) as refused:
        uploads.check_upload(
            method.owner, order, sent.as_file(sent.truth_of(val)), "a.json", replies=replied.as_file([{"question": -1}])
        )
    assert (refused.value.code, refused.value.details["field"]) == ("bad_replies", "replies")
    assert stored_files() == before and drafts() == []


def test_the_download_has_every_record_with_its_whole_text(method: Method, val: Split, as_member: Any) -> None:
    records = replied.records_of(val)
    records[7]["reply"] = "x" * 100_000
    row = replied.submit(method, val, replied.answers_of(val), records)
    answer = as_member.get(f"/submissions/{row.pk}/replies/")
    found = [json.loads(line) for line in b"".join(answer.streaming_content).decode().split("\n")[:-1]]
    for name in ("question", "state", "reply", "usage", "latency", "cost"):
        assert [one[name] for one in found] == [one[name] for one in records]
