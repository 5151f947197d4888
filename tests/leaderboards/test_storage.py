"""What an account keeps: uploads become codes, bytes are counted, and the disk's reserve is never written into."""

import html
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from generation.engine.errors import EngineError
from generation.exchange import export_requests
from generation.models import Dataset, Export, Split
from generation.storage import files, storage_quotas
from tests.leaderboards import sent
from webapp.leaderboards import deletion, scoring, uploads
from webapp.leaderboards.models import Method, Submission
from webapp.leaderboards.uploads import Order
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def stored() -> set[str]:
    home = files.local_path("")
    assert home is not None
    folders = (home / uploads.FOLDER, home / "predictions")
    return {str(path) for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_an_upload_is_kept_as_codes_and_comes_back_as_a_file(method: Method, val: Split, as_member: Client) -> None:
    answers = sent.noisy(val, wrong=0.3)
    answers[0], answers[1] = "I would say: a zebra", "“Ünïcode” and\nlines"
    before = stored()
    row = sent.submitted(method, val, answers)
    assert row.is_scored and row.file == "" and row.size > 0 and len(row.digest) == 64
    assert [path for path in stored() - before if f"/{uploads.FOLDER}/" in path] == []
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


def test_uploads_that_an_earlier_version_kept_are_dropped(method: Method, val: Split) -> None:
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


def test_an_account_keeps_no_more_than_it_may(
    method: Method, val: Split, as_member: Client, admin_user: User, settings: Any
) -> None:
    settings.ACCOUNT_MB = 1
    before, large = stored(), b"yes\n" * 200_000
    assert send(as_member, method, large).status_code == 302
    refused = send(as_member, method, large)
    page = html.unescape(refused.content.decode())
    assert refused.status_code == 413
    assert "Expected at most 1 MB for an account, got 0.8 MB in addition to the 0.8 MB that yours uses." in page
    assert len(stored() - before) == 1
    scoring.RUNNER.take_turn()  # refused: the file goes, and there is room again
    assert stored() == before and storage_quotas.used_by(method.owner) == 0
    assert send(as_member, method, large).status_code == 302
    own, client = Method.objects.create(name="Staff", owner=admin_user), Client()
    client.force_login(admin_user)
    assert [send(client, own, large).status_code for _ in range(2)] == [302, 302]


def test_the_page_of_an_account_says_what_uses_it(method: Method, val: Split, as_member: Client, settings: Any) -> None:
    settings.ACCOUNT_MB = 3
    sent.submitted(method, val, sent.truth_of(val))
    page = html.unescape(as_member.get("/account/").content.decode()).replace("\xa0", " ")
    assert "Submissions" in page and "of at most 2.9 MB" in page and "Delete submissions on their pages" in page


def test_nothing_is_written_into_the_disk_reserve(
    method: Method, val: Split, as_member: Client, settings: Any, tmp_path: Path
) -> None:
    settings.DISK_RESERVE_GB = 1e9
    before = stored()
    answer = send(as_member, method, b"yes\n")
    assert answer.status_code == 503 and b"Waiting for disk space" in answer.content
    draft = tmp_path / "draft"
    draft.write_bytes(b"x")
    for write in (lambda: files.put("a/b", b"x"), lambda: files.adopt("a/b", draft)):
        with pytest.raises(files.NoSpace, match="Waiting for disk space") as error:
            write()
        assert files.is_full(error.value)
    assert stored() == before and not Submission.objects.exists()


def test_an_account_keeps_few_exports(scored: Dataset, member: User, admin_user: User) -> None:
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


def test_an_export_that_does_not_fit_is_refused(scored: Dataset, member: User, settings: Any) -> None:
    Export.objects.create(
        dataset=scored, user=member, format="jsonl", state="done", file="x", size=1_999_999_999,
        finished="2026-01-01T00:00Z", expires="2099-01-01T00:00Z", options='{"n": 1}',
    )  # fmt: skip
    with pytest.raises(storage_quotas.AccountFull, match="for an account"):
        export_requests.ask(scored, member, name="jsonl", splits=[], options={}, images=False)
