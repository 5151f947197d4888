"""`static/submit.py` against the site itself: every response that it reads is a real one."""

import gzip
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from generation.models import Dataset, Split
from tests.generation import small
from tests.leaderboards import sent
from tests.leaderboards.replies import replied
from webapp.leaderboards import scoring, uploads
from webapp.leaderboards.models import Method, Submission
from webapp.models import ApiToken, User
from webapp.views import SCRIPTS

pytestmark = pytest.mark.slow


@pytest.fixture
def scored(live_server: object) -> Dataset:
    """Give a dataset for one test; its rows are committed, because the site runs in other threads."""
    return small.made("scored", with_images=False, splits={"val": {"scenes": 40}, "other": {"scenes": 10}})


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("submit", SCRIPTS / "submit.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script(live_server: object, member: User, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Give the script as a module; each time it sleeps, the waiting submissions are scored."""
    module = load_script()
    monkeypatch.setattr(module.time, "sleep", lambda seconds: scoring.RUNNER.take_turn())
    monkeypatch.setenv("HORSESENSE_SITE", str(live_server))
    monkeypatch.setenv("HORSESENSE_TOKEN", ApiToken.objects.make(member, "script"))
    return module


def write_answers(folder: Path, answers: list[str]) -> str:
    path = folder / "answers.json"
    path.write_bytes(sent.as_file(answers).getvalue())
    return str(path)


def test_a_repeat_of_a_call_gives_the_first_submission(
    val: Split, method: Method, script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [*sent.noisy(val, wrong=0.3)[:-1], "I can't tell."]
    call = ["send", write_answers(tmp_path, said), "--split", "scored/val", "--method", method.name, "--by", "type"]
    assert script.main([*call, "--run", "1"]) == 0
    told = capsys.readouterr()
    assert f"accuracy       {100 * sent.right_of(val, said) / val.questions:5.1f} %" in told.out
    assert "1 unreadable" in told.out and "\ntype\n" in told.out and "\nanswer\n" not in told.out
    assert [line.split()[-1] for line in told.err.splitlines()[-2:]] == ["waiting", "done"]
    assert script.main([*call, "--run", "1", "--fingerprint", val.fingerprint]) == 0
    assert script.main([*call, "--run", "1"]) == 0
    assert Submission.objects.count() == 2  # a call with other options makes another submission
    assert capsys.readouterr().err.splitlines()[-2].startswith("Submission ")


def test_the_script_prints_refusals_of_the_site(
    val: Split, method: Method, script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_answers(tmp_path, sent.truth_of(val)[:-1])
    call = ("--split", "scored/val", "--method", method.name)
    assert script.main(["check", path, *call]) == 2
    assert "Expected 160 answers, got 159 (1 missing)" in capsys.readouterr().err
    assert script.main(["send", path, *call]) == 2
    assert "failed: scored/val: Expected 160 answers, got 159" in capsys.readouterr().out
    assert script.main(["send", path, *call, "--fingerprint", "0" * 64]) == 2
    assert "the predictions are for another version" in capsys.readouterr().err
    assert script.main(["send", path, "--split", "scored/val", "--method", "Nobody's"]) == 2
    assert "Expected the number or name of one of your methods" in capsys.readouterr().err


def test_the_script_has_the_upload_limit_of_the_site() -> None:
    assert load_script().LARGEST == uploads.LARGEST


def test_the_script_submits_a_zip_to_a_suite(
    val: Split, method: Method, script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = val.dataset.splits.get(name="other")
    sent.suite_of("both", val, other)
    said = {split.name: sent.noisy(split, wrong=0.3) for split in (val, other)}
    path = str(sent.as_zip(tmp_path, **said))
    assert script.main(["send", path, "--suite", "both", "--method", method.name]) == 0
    told = capsys.readouterr().out
    for split in (val, other):
        share = 100 * sent.right_of(split, said[split.name]) / split.questions
        assert f"{split}: n = {split.questions}\n  accuracy       {share:5.1f} %" in told


def test_the_script_sends_replies_and_prints_what_they_took(
    val: Split, method: Method, script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, replies = write_answers(tmp_path, replied.answers_of(val)), tmp_path / "replies.jsonl.gz"
    replies.write_bytes(gzip.compress(replied.as_file(replied.records_of(val)).getvalue()))
    call = [answers, "--split", "scored/val", "--method", method.name, "--replies", str(replies)]
    assert script.main(["check", *call]) == 0
    assert json.loads(capsys.readouterr().out)["checked"][0]["replies"] == val.questions
    assert script.main(["send", *call]) == 0
    told = capsys.readouterr().out
    assert f"answered       {val.questions - 4} of {val.questions}; the others count as wrong" in told
    assert "dollars for 1,000 questions: 1" in told and "median seconds: 1.25" in told
    assert script.main(["send", *call]) == 0
    [row] = Submission.objects.filter(method=method)
    assert row.replies
    replies.write_bytes(gzip.compress(replied.as_file(replied.records_of(val, cost=0.5)).getvalue()))
    assert script.main(["send", *call]) == 0 and Submission.objects.count() == 2  # other replies are another submission
    replies.write_bytes(b"{}\n")
    assert script.main(["send", *call]) == 2
    assert "Line 1 of the replies: expected a question" in capsys.readouterr().out
    assert script.main(["send", *call[:-1], str(tmp_path / "none")]) == 2
