"""A file with `answer` and a column of replies: every way of submitting asks which one counts, and takes the answer."""

import json
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from generation.models import Split
from generation.reports.scoring import expected_of
from tests.leaderboards import sent
from tests.webapp.api.conftest import program_of
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method, Submission
from webapp.models import User

pytestmark = pytest.mark.django_db
ASKS = "Expected one column with the answers of the model, got 'answer' and 'output': which one is it?"


def content_of(split: Split, name: str) -> bytes:
    """Return the questions with their right answers, and a wrong reply of a model to each."""
    rows = [{"question_id": at, "answer": right, name: "unsure"} for at, right in enumerate(sent.truth_of(split))]
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def test_the_form_asks_with_a_select_that_has_the_columns_of_the_file(
    val: Split, method: Method, as_member: Client
) -> None:
    def post(**fields: str) -> tuple[int, str]:
        file = SimpleUploadedFile("a.jsonl", content_of(val, "output"))
        answer = as_member.post("/submissions/new/?to=scored/val", {"file": file, "method": method.pk, **fields})
        return answer.status_code, answer.content.decode()

    status, page = post(check="1")
    select = re.findall(r'<select name="column".*?</select>', page, re.DOTALL)[0]
    assert status == 422 and "got &#x27;answer&#x27; and &#x27;output&#x27;" in page
    assert re.findall(r'<option value="(.*?)"', select) == ["", "answer", "output"]
    status, page = post(check="1", column="output")
    assert status == 200 and "is valid" in page and '<option value="output" selected>' in page
    assert post(column="output")[0] == 302 and post()[0] == 302
    scoring.RUNNER.take_turn()
    named, asked = Submission.objects.order_by("pk")
    assert (named.state, named.column, named.scores.get(split=val).right) == ("done", "output", 0)
    assert asked.state == "failed" and ASKS in asked.message


def test_the_api_asks_with_the_columns_and_takes_one(val: Split, method: Method, member: User) -> None:
    def post(**fields: str) -> tuple[int, dict[str, object]]:
        file = SimpleUploadedFile("a.jsonl", content_of(val, "output"))
        data = {"file": file, "split": "scored/val", "method": method.name, "dry_run": "1", **fields}
        answer = program_of(member).post("/api/v1/submissions/", data)
        return answer.status_code, answer.json()

    status, refused = post()
    error = refused["error"]
    assert isinstance(error, dict)
    details = error["details"]
    assert (status, error["code"], details["field"]) == (422, "unclear_column", "column")
    assert details["columns"] == ["answer", "output"] and ASKS in error["message"]
    assert post(column="output")[0] == 200
    assert post(column="x" * 201)[0] == 422


def test_the_commands_ask_and_take_a_column(
    val: Split, method: Method, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content_of(val, "output"))
    for command in (["submit", str(path), "--method", method.name], ["score", str(path)]):
        call = [*command, "--split", "scored/val", "--json"]
        with pytest.raises(CommandError, match=r"which one is it\? Name it with --column NAME") as refused:
            call_command(*call)
        assert refused.value.returncode == 2
        call_command(*call, "--column", "output")
        found = json.loads(capsys.readouterr().out)
        assert (found["scores"][0] if command[0] == "submit" else found)["accuracy"] == 0


def test_only_an_open_split_compares_the_answers_with_the_truth(val: Split, withheld: Split) -> None:
    assert expected_of(withheld).truth is None and expected_of(val).truth is not None
