"""Submissions by the API: one request submits a file, and its answer has the address of the submission's state."""

import io
import json
import uuid
import zipfile
from typing import Any

import pytest
from django.test import Client

from generation.models import Dataset, Split
from tests.leaderboards import sent
from tests.leaderboards.conftest import as_member, kept, member, method, scored, val, withheld
from tests.webapp.api.conftest import program_of
from tests.webapp.api.test_frame import error_of
from webapp.leaderboards import scoring
from webapp.leaderboards.disclosure import limits
from webapp.leaderboards.models import Method, Submission, Suite
from webapp.models import User

__all__ = ["as_member", "kept", "member", "method", "scored", "val", "withheld"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

POST = "/api/v1/submissions/"
VAL, TEST = "scored/val", "scored/test"


@pytest.fixture
def mira(member: User) -> Client:
    """Give a client that acts for the account that submits."""
    return program_of(member)


def with_name(content: io.BytesIO, name: str = "predictions.json") -> io.BytesIO:
    content.name = name
    return content


def file_of(split: Split, *, wrong: float = 0.0, seed: int = 0) -> io.BytesIO:
    return with_name(sent.as_file(sent.noisy(split, wrong=wrong, seed=seed)))


def post(program: Client, file: io.BytesIO | None, *, key: str = "", **fields: Any) -> Any:
    """Submit a file and return the answer."""
    data = fields if file is None else fields | {"file": file}
    return program.post(POST, data, headers={"Idempotency-Key": key} if key else {})


# Submitting a file ------------------------------------------------------------------------------------------


def test_one_request_submits_a_file_and_returns_the_address_of_its_state(
    mira: Client, method: Method, val: Split
) -> None:
    answer = post(mira, file_of(val, wrong=0.4), split=VAL, method=method.name, run="1", train_size="700", note="n")
    assert answer.status_code == 202
    taken = answer.json()
    (row,) = taken["submissions"]
    assert (taken["id"], taken["url"], taken["is_repeat"]) == (row["id"], row["url"], False)
    assert (row["state"], row["split"], row["method"], row["run"], row["train_size"]) == (
        "waiting", VAL, method.pk, "1", 700
    )  # fmt: skip
    waiting = mira.get(taken["url"]).json()
    assert (waiting["started"], waiting["finished"], "scores" in waiting) == (None, None, False)
    scoring.RUNNER.take_turn()
    done = mira.get(taken["url"]).json()
    assert done["state"] == "done"
    assert done["created"] <= done["started"] <= done["finished"]
    assert done["format"] == "json"
    right = sent.right_of(val, sent.noisy(val, wrong=0.4))
    (score,) = [one for one in done["scores"] if one["split"] == VAL]
    assert (score["n"], score["accuracy"], score["unreadable"]) == (val.questions, round(right / val.questions, 6), 0)
    parts = mira.get(done["slices_url"]).json()["facets"]["type"]
    assert sum(part["n"] for part in parts.values()) == val.questions
    assert set(score["columns"]) & set(parts)
    for name in set(score["columns"]) & set(parts):
        assert parts[name].get("accuracy", 0.0) == pytest.approx(score["columns"][name]["accuracy"] or 0.0, abs=1e-6)
    assert mira.get(POST).json()["results"][0]["id"] == taken["id"]


def test_a_failed_submission_has_a_message_and_the_full_list_of_errors(
    mira: Client, method: Method, val: Split
) -> None:
    answers, unanswered = sent.truth_of(val), range(1, 60, 2)
    broken = [{"question_id": one, "answer": answer} for one, answer in enumerate(answers) if one not in unanswered]
    taken = post(mira, with_name(io.BytesIO(json.dumps(broken).encode())), split=VAL, method=str(method.pk)).json()
    scoring.RUNNER.take_turn()
    failed = mira.get(taken["url"]).json()
    assert failed["state"] == "failed"
    assert f"Expected {val.questions} answers, got {val.questions - 30} (30 missing)." in failed["message"]
    listed = mira.get(failed["findings"])
    assert listed.content.decode().splitlines() == [f"Question {number} has no answer." for number in unanswered]


def test_a_dry_run_checks_a_file_and_stores_nothing(mira: Client, method: Method, val: Split) -> None:
    fine = post(mira, file_of(val), split=VAL, method=method.name, dry_run="1")
    assert fine.status_code == 200
    (checked,) = fine.json()["checked"]
    assert (checked["split"], checked["n"], checked["format"], checked["outside"]) == (VAL, val.questions, "json", 0)
    refused = post(mira, with_name(io.BytesIO(b"[]")), split=VAL, method=method.name, dry_run="1")
    assert refused.status_code == 422
    error = error_of(refused)
    assert error["code"] == "bad_predictions"
    assert not Submission.objects.filter(method=method).exists()


def test_a_dry_run_lists_the_first_errors(mira: Client, method: Method, val: Split) -> None:
    half = [{"question_id": number, "answer": "yes"} for number in range(0, val.questions, 2)]
    sent_half = with_name(io.BytesIO(json.dumps(half).encode()))
    error = error_of(post(mira, sent_half, split=VAL, method=method.name, dry_run="1"))
    assert error["details"]["counts"] == {"missing": val.questions // 2}
    assert error["details"]["lines"] == [f"Question {number} has no answer." for number in range(1, 41, 2)]
    few = with_name(io.BytesIO(json.dumps(half[:1]).encode()))
    error = error_of(post(mira, few, split=VAL, method=method.name, dry_run="1"))
    assert error["details"]["counts"] == {"missing": val.questions - 1}
    assert error["details"]["lines"] == [f"Questions 1–{val.questions - 1} have no answer."]


def test_the_same_idempotency_key_returns_the_first_submission(
    mira: Client, method: Method, val: Split, withheld: Split
) -> None:
    key = str(uuid.uuid4())
    first = post(mira, file_of(val), key=key, split=VAL, method=method.name)
    again = post(mira, file_of(val, wrong=0.9), key=key, split=VAL, method=method.name)
    assert (again.status_code, again.json()["id"], again.json()["is_repeat"]) == (202, first.json()["id"], True)
    assert Submission.objects.count() == 1
    other = post(mira, file_of(val), key=key, split=TEST, method=method.name)
    assert (other.status_code, error_of(other)["code"]) == (422, "key_reused")


def test_a_wrong_content_hash_of_the_split_is_refused(mira: Client, method: Method, val: Split) -> None:
    right = post(mira, file_of(val), split=VAL, method=method.name, fingerprint=val.fingerprint)
    assert right.status_code == 202
    other = post(mira, file_of(val), split=VAL, method=method.name, fingerprint="0" * 64)
    assert (other.status_code, error_of(other)["code"]) == (409, "other_fingerprint")


def test_a_zip_submits_to_every_split_of_a_suite(mira: Client, method: Method, val: Split, withheld: Split) -> None:
    suite = Suite.objects.create(slug="both", title="Both", is_public=True)
    for ordinal, split in enumerate((val, withheld)):
        suite.members.create(split=split, ordinal=ordinal, label=split.name)
    packed = with_name(io.BytesIO(), "both.zip")
    with zipfile.ZipFile(packed, "w") as archive:
        for split in (val, withheld):
            archive.writestr(f"{split.name}.json", sent.as_file(sent.truth_of(split)).getvalue())
    packed.seek(0)
    taken = post(mira, packed, suite="both", method=method.name)
    assert taken.status_code == 202
    assert [one["split"] for one in taken.json()["submissions"]] == [VAL, TEST]
    scoring.RUNNER.take_turn()
    (row,) = [one for one in mira.get("/api/v1/suites/both/").json()["rows"] if one["name"] == method.name]
    assert (row["mean"], row["columns"]["val"]["accuracy"], row["columns"]["test"]["accuracy"]) == (0.96, 1.0, 0.92)
    assert [one["slug"] for one in mira.get("/api/v1/suites/").json()["results"]] == ["both"]


# Limits -----------------------------------------------------------------------------------------------------


def test_withheld_splits_accept_three_submissions_a_day_and_report_the_rest(
    mira: Client, method: Method, withheld: Split
) -> None:
    for number in range(limits.SCORED):
        taken = post(mira, file_of(withheld, wrong=0.5, seed=number), split=TEST, method=method.name)
        assert taken.status_code == 202
        scoring.RUNNER.take_turn()
        left = mira.get(taken.json()["url"]).json()["left"]
        assert left["scores"] == limits.SCORED - 1 - number
    assert left["next_at"] is not None
    row = mira.get(taken.json()["url"]).json()
    [score], nothing = row["scores"], dict.fromkeys(("low", "high", "deviation", "accuracy_read", "unreadable"))
    assert nothing.items() <= score.items() and score["columns"] == {}
    assert score["disclosure"]["figure"] in (0.368, 0.46, 0.552) and score["disclosure"]["step"] == 0.092
    assert row.get("slices_url") is None
    assert mira.get(f"{taken.json()['url']}slices/").status_code == 403
    refused = post(mira, file_of(withheld), split=TEST, method=method.name)
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 86_400
    assert error_of(refused)["details"]["next_at"] is not None


def test_open_splits_have_no_limit(mira: Client, method: Method, val: Split) -> None:
    taken = post(mira, file_of(val), split=VAL, method=method.name).json()
    assert mira.get(taken["url"]).json()["left"] == dict.fromkeys(
        ("scores", "attempts", "next_at", "shared", "published")
    )


# Access -----------------------------------------------------------------------------------------------------


def test_nobody_submits_without_an_account_or_for_a_method_of_others(
    client: Client, stranger: Client, method: Method, val: Split
) -> None:
    assert post(client, file_of(val), split=VAL, method=method.name).status_code == 401
    answer = post(stranger, file_of(val), split=VAL, method=str(method.pk))
    assert (answer.status_code, error_of(answer)["code"]) == (404, "no_method")


def test_a_session_needs_a_csrf_token(member: User, method: Method, val: Split) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(member)
    answer = post(browser, file_of(val), split=VAL, method=method.name)
    assert (answer.status_code, error_of(answer)["code"]) == (403, "csrf")
    assert not Submission.objects.exists()
    assert browser.get(POST).status_code == 200
    browser.get("/account/")
    token = browser.cookies["csrftoken"].value
    fields = {"split": VAL, "method": method.name, "file": file_of(val)}
    assert browser.post(POST, fields, headers={"X-CSRFToken": token}).status_code == 202


def test_a_private_dataset_of_others_accepts_no_submissions(mira: Client, method: Method, val: Split) -> None:
    Dataset.objects.update(visibility="private")
    answer = post(mira, file_of(val), split=VAL, method=method.name)
    assert (answer.status_code, error_of(answer)["code"]) == (404, "no_split")
    assert mira.get(f"/api/v1/boards/{VAL}/").status_code == 404


def test_others_see_only_published_scores(mira: Client, stranger: Client, method: Method, val: Split) -> None:
    url = post(mira, file_of(val), split=VAL, method=method.name).json()["url"]
    Method.objects.update(published="2026-01-01T00:00:00Z")
    assert stranger.get(url).status_code == 404
    scoring.RUNNER.take_turn()
    seen = stranger.get(url).json()
    assert seen["scores"][0]["accuracy"] == 1.0
    assert not {"left", "digest", "size", "format", "findings"} & set(seen)
    Method.objects.update(published=None)
    assert stranger.get(url).status_code == 404


# Invalid requests -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"split": VAL}, 422),
        ({"method": "nobody's", "split": VAL}, 404),
        ({"method": "Oracle with noise"}, 422),
        ({"method": "Oracle with noise", "split": VAL, "suite": "x"}, 422),
        ({"method": "Oracle with noise", "suite": "x"}, 404),
        ({"method": "Oracle with noise", "split": "nothing"}, 404),
        ({"method": "Oracle with noise", "split": "scored/\0"}, 404),
        ({"method": "Oracle with noise", "split": VAL, "train_size": "0"}, 422),
        ({"method": "Oracle with noise", "split": VAL, "train_size": "x"}, 422),
        ({"method": "Oracle with noise", "split": VAL, "trained_on": "scored/nothing"}, 404),
        ({"method": "Oracle with noise", "split": VAL, "trainsize": "7"}, 422),
        ({"method": "Oracle with noise", "split": VAL, "run": "x" * 100}, 422),
        ({"method": "Oracle with noise", "split": VAL, "note": "\0"}, 422),
    ],
)
def test_invalid_fields_are_refused_with_a_message(
    mira: Client, method: Method, val: Split, fields: dict[str, str], status: int
) -> None:
    answer = post(mira, file_of(val), **fields)
    assert answer.status_code == status
    error_of(answer)
    assert not Submission.objects.exists()


def test_a_request_without_a_file_is_refused(mira: Client, method: Method, val: Split) -> None:
    assert post(mira, None, split=VAL, method=method.name).status_code == 422
    answer = mira.post(POST, {"split": VAL}, content_type="application/json")
    assert answer.status_code in (400, 422)
    error_of(answer)


# Methods and boards -----------------------------------------------------------------------------------------


def test_methods_are_made_and_listed(mira: Client, stranger: Client, member: User) -> None:
    said = {"name": "CNN", "made": "few-shot", "shots": 3, "link": "https://example.org/paper"}
    made = mira.post("/api/v1/methods/", said, content_type="application/json")
    assert made.status_code == 201
    assert {name: made.json()[name] for name in said} == said
    assert (made.json()["by"], made.json()["is_public"]) == ("mira", False)
    assert mira.get(made.json()["url"]).json() == made.json()
    assert [one["name"] for one in mira.get("/api/v1/methods/").json()["results"]] == ["CNN"]
    assert stranger.get(made.json()["url"]).status_code == 404
    assert stranger.get("/api/v1/methods/").json()["results"] == []
    again = mira.post("/api/v1/methods/", said, content_type="application/json")
    assert (again.status_code, error_of(again)["details"]["fields"][0]["where"]) == (422, "name")


@pytest.mark.parametrize("said", [{}, {"name": ""}, {"name": "x", "made": "human"}, {"name": "x", "made": "few-shot"}])
def test_a_method_without_required_fields_is_refused(mira: Client, said: dict[str, str]) -> None:
    answer = mira.post("/api/v1/methods/", said, content_type="application/json")
    assert answer.status_code == 422
    assert error_of(answer)["details"]["fields"]
    assert not Method.objects.exists()


def test_a_board_is_that_of_the_page(client: Client, member: User, val: Split) -> None:
    for number, wrong in enumerate((0.1, 0.5)):
        made = Method.objects.create(name=f"Noise {number}", owner=member, published="2026-01-01T00:00:00Z")
        sent.submitted(made, val, sent.noisy(val, wrong=wrong, seed=number))
    board = client.get(f"/api/v1/boards/{VAL}/").json()
    assert [row["name"] for row in board["rows"]] == ["Noise 0", "Noise 1"]
    page = client.get(f"/leaderboards/{VAL}/board.json").json()
    for row, shown in zip(board["rows"], page["rows"], strict=True):
        assert {**row, "date": ""} == {**shown, "date": ""}
    assert [row["name"] for row in client.get(f"/api/v1/boards/{VAL}/?q=1&show=all").json()["rows"]] == ["Noise 1"]
    cells = client.get(f"/api/v1/boards/{VAL}/slices/?by=type&entry=m{made.pk}").json()["slices"]
    [whole] = [one for one in cells if not one["value"]]
    assert whole["accuracy"] == board["rows"][1]["accuracy"]["accuracy"]
    assert sum(one["n"] for one in cells if one["value"]) == val.questions
    assert client.get(f"/api/v1/boards/{VAL}/slices/?by=nothing").status_code == 404
    for query in ("show=x", "sort=x", "made=x"):
        assert client.get(f"/api/v1/boards/{VAL}/?{query}").status_code in (400, 422)


def test_a_template_has_a_line_for_each_question(client: Client, val: Split) -> None:
    lines = client.get(f"/api/v1/boards/{VAL}/template.jsonl").getvalue().splitlines()
    assert [json.loads(line)["question_id"] for line in lines] == list(range(val.questions))
