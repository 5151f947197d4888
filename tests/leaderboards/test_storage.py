"""Storage of accounts: uploads become codes, bytes are counted, and the reserve of the disk stays free."""

import gzip
import html
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from generation.engine.errors import EngineError
from generation.engine.worlds.clevr.world import ClevrWorld
from generation.exchange import export_requests
from generation.models import Dataset, Export, Split
from generation.storage import files, storage_quotas
from tests.leaderboards import sent
from webapp.leaderboards import deletion, scoring, stored_predictions, uploads
from webapp.leaderboards.models import Method, Submission
from webapp.leaderboards.uploads import Order
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def stored_files() -> set[str]:
    home = files.local_path("")
    assert home is not None
    folders = (home / uploads.FOLDER, home / "predictions")
    return {str(path) for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_an_upload_is_stored_as_codes_and_downloaded_as_a_file(method: Method, val: Split, as_member: Client) -> None:
    answers = sent.noisy(val, wrong=0.3)
    answers[0], answers[1] = "I would say: a zebra", "“Ünïcode” and\nlines"
    before = stored_files()
    row = sent.submitted(method, val, answers)
    assert row.is_scored and row.file == "" and row.size > 0 and len(row.digest) == 64
    assert [path for path in stored_files() - before if f"/{uploads.FOLDER}/" in path] == []
    answer = as_member.get(f"/submissions/{row.pk}/file/")
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    rows = [json.loads(line) for line in content.decode().split("\n")[:-1]]
    assert [one["answer"] for one in rows] == answers and [one["question_id"] for one in rows] == list(range(len(rows)))
    assert row.kept == files.size(f"predictions/{row.predictions[:2]}/{row.predictions}")
    received = uploads.receive(method.owner, Order(method, val, run="2"), io.BytesIO(content), "again.jsonl")
    scoring.RUNNER.take_turn()
    again = received.submissions[0]
    again.refresh_from_db()
    assert again.predictions == row.predictions
    assert Client().get(f"/submissions/{row.pk}/file/").status_code == 404


def test_numbers_and_boxes_are_stored_and_downloaded(
    method: Method, val: Split, as_member: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ClevrWorld, "most_counted", lambda world, spec: 10)
    rows: list[dict[str, Any]] = [
        {
            "question_id": at,
            "answer": answer,
            "boxes": [[0.0, 0.5, at, at + 2.25]] * (at % 3),
            "scores": [0.5] * (at % 3),
        }
        for at, answer in enumerate([2.7, -0.1, 3, "yes", "a zebra", *[7.25] * (val.questions - 5)])
    ]
    runs = []
    for number in range(2):
        content = gzip.compress("\n".join(map(json.dumps, rows)).encode())  # a child process reads a compressed file
        order = Order(method, val, run=str(number))
        [row] = uploads.receive(method.owner, order, io.BytesIO(content), "answers.jsonl.gz").submissions
        scoring.RUNNER.take_turn()
        row.refresh_from_db()
        assert row.is_scored and row.outside == 1
        answer = as_member.get(f"/submissions/{row.pk}/file/")
        lines = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
        assert [json.loads(line) for line in lines.split("\n")[:-1]] == rows
        runs.append(row.predictions)
    assert runs[0] == runs[1]
    found, boxes = stored_predictions.load(runs[0]), stored_predictions.load_boxes(runs[0])
    assert found.boxes is None and found.numbers is not None and boxes is not None
    assert found.numbers[:3].tolist() == [2.7, -0.1, 3] and np.isnan(found.numbers[3:5]).all()
    assert boxes.starts[-1] == len(boxes.boxes) == sum(at % 3 for at in range(val.questions))


def test_uploads_that_an_earlier_version_stored_are_deleted(method: Method, val: Split) -> None:
    row = sent.submitted(method, val, sent.truth_of(val))
    before = files.size_below("submissions")
    files.put("submissions/old", b"old")
    Submission.objects.filter(pk=row.pk).update(file="submissions/old", kept=0)
    deletion.drop_scored()
    row.refresh_from_db()
    assert row.file == "" and row.kept > 0 and files.size_below("submissions") == before


def send(client: Client, method: Method, content: bytes) -> Any:
    file = SimpleUploadedFile("a.txt", content)
    return client.post("/submissions/new/?to=scored/val", {"file": file, "method": method.pk})


def test_an_account_cannot_exceed_its_storage_limit(
    method: Method, val: Split, as_member: Client, admin_user: User, settings: Any
) -> None:
    settings.ACCOUNT_MB = 1
    before, large = stored_files(), b"yes\n" * 200_000
    assert send(as_member, method, large).status_code == 302
    refused = send(as_member, method, large)
    page = html.unescape(refused.content.decode())
    assert refused.status_code == 413
    assert "Expected at most 1 MB for an account, got 0.8 MB in addition to the 0.8 MB that yours uses." in page
    assert len(stored_files() - before) == 1
    scoring.RUNNER.take_turn()  # the submission is refused and its file deleted, so there is space again
    assert stored_files() == before and storage_quotas.used_by(method.owner) == 0
    assert send(as_member, method, large).status_code == 302
    own, client = Method.objects.create(name="Staff", owner=admin_user), Client()
    client.force_login(admin_user)
    assert [send(client, own, large).status_code for _ in range(2)] == [302, 302]


def test_the_page_of_an_account_shows_its_storage(method: Method, val: Split, as_member: Client, settings: Any) -> None:
    settings.ACCOUNT_MB = 3
    sent.submitted(method, val, sent.truth_of(val))
    page = html.unescape(as_member.get("/account/").content.decode()).replace("\xa0", " ")
    assert "Submissions" in page and "of at most 2.9 MB" in page and "Delete submissions on their pages" in page


def test_nothing_is_written_into_the_disk_reserve(
    method: Method, val: Split, as_member: Client, settings: Any, tmp_path: Path
) -> None:
    settings.DISK_RESERVE_GB = 1e9
    before = stored_files()
    answer = send(as_member, method, b"yes\n")
    assert answer.status_code == 503 and b"Waiting for disk space" in answer.content
    draft = tmp_path / "draft"
    draft.write_bytes(b"x")
    for write in (lambda: files.put("a/b", b"x"), lambda: files.adopt("a/b", draft)):
        with pytest.raises(files.NoSpace, match="Waiting for disk space") as error:
            write()
        assert files.is_full(error.value)
    assert stored_files() == before and not Submission.objects.exists()


def test_the_number_of_exports_of_an_account_is_limited(scored: Dataset, member: User, admin_user: User) -> None:
    made = {
        "dataset": scored,
        "format": "jsonl",
        "state": "done",
        "file": "x",
        "size": 5,
        "expires": "2099-01-01T00:00Z",
    }
    for number in range(storage_quotas.MOST_EXPORTS):
        Export.objects.create(user=member, finished="2026-01-01T00:00Z", options=json.dumps({"n": number}), **made)
    wanted: dict[str, Any] = {"name": "jsonl", "splits": [], "options": {}, "images": False}
    with pytest.raises(EngineError, match="at most 20 exports for an account"):
        export_requests.ask(scored, member, **wanted)
    assert storage_quotas.used_by(member) == 100
    assert export_requests.ask(scored, admin_user, **wanted).pk


def test_an_export_beyond_the_storage_limit_is_refused(scored: Dataset, member: User, settings: Any) -> None:
    Export.objects.create(
        dataset=scored, user=member, format="jsonl", state="done", file="x", size=1_999_999_999,
        finished="2026-01-01T00:00Z", expires="2099-01-01T00:00Z", options='{"n": 1}',
    )  # fmt: skip
    with pytest.raises(storage_quotas.AccountFull, match="for an account"):
        export_requests.ask(scored, member, name="jsonl", splits=[], options={}, images=False)
