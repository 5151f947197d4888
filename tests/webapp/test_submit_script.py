"""`static/submit.py` with a site that gives errors: the requests that it sends and repeats, and its output."""

import ast
import importlib.util
import json
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.test import Client

from tests.webapp.commands import ROOT
from tests.webapp.contrary import DROPPED, TOKEN, Contrary, running

SCRIPT = ROOT / "static" / "submit.py"
FOUND = {"id": 17, "url": "/api/v1/submissions/17/", "page": "/submissions/17/", "state": "waiting"}
HALF = {"n": 4, "accuracy": 0.5, "low": 0.15, "high": 0.85}
FEW, NONE = {"n": 1}, {"n": 0, "accuracy": None, "low": None, "high": None}
SCORE = HALF | {
    "split": "clevr/val",
    "accuracy_read": 0.75,
    "unreadable": 1,
    "columns": {"count": HALF, "exist": FEW, "size": FEW},
}
SLICES_URL = "/api/v1/submissions/17/slices/"
DONE = FOUND | {"state": "done", "scores": [SCORE], "slices_url": SLICES_URL}
WEAK = HALF | {"facet": "answer", "value": "red", "label": "answer: red"}
SLICES = {
    "split": "clevr/val", "facets": {"type": {"exist": FEW, "count": NONE}, "answer": {"red": HALF}}, "weakest": [WEAK],
}  # fmt: skip
CALL = ("--split", "clevr/val", "--method", "Mine")


@pytest.fixture
def site() -> Iterator[Contrary]:
    with running() as server:
        server.answers = {
            "/api/v1/submissions/": [FOUND],
            SLICES_URL: [SLICES],
            str(FOUND["url"]): [FOUND, FOUND | {"state": "running"}, DONE],
            "/api/v1/datasets/clevr/splits/val/questions.jsonl.gz": [b"questions" * 1000],
        }
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def script(site: Contrary, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script as a module that does not sleep but records its pauses."""
    spec = importlib.util.spec_from_file_location("submit", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.time, "sleep", pauses.append)
    monkeypatch.setenv("HORSESENSE_SITE", site.address)
    monkeypatch.setenv("HORSESENSE_TOKEN", TOKEN)
    return module


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'{"question_id": 0, "answer": "yes"}\r\n--\r\n' * 5000)
    return path


def test_the_script_has_the_same_address_in_every_version_of_the_site(client: Client) -> None:
    answer = client.get("/static/submit.py")
    assert (answer.status_code, answer.content) == (200, SCRIPT.read_bytes())
    assert answer["Content-Type"].startswith("text/")
    assert client.post("/static/submit.py").status_code == 405


def test_the_script_needs_only_the_standard_library() -> None:
    tree = ast.parse(SCRIPT.read_text())
    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names)
    ast.parse(SCRIPT.read_text(), feature_version=(3, 9))


def test_a_file_is_sent_completely_and_its_score_is_printed(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--run", "seed 1", "--trained-on", "clevr/train", "--train-size", "7", "--examples-seen", "70")
    assert script.main(["send", str(file), *CALL, *more]) == 0
    sent = site.asked[0]
    assert sent.fields.pop("file") == file.read_bytes()
    assert sent.fields == {
        "split": b"clevr/val", "method": b"Mine", "run": b"seed 1",
        "trained_on": b"clevr/train", "train_size": b"7", "examples_seen": b"70",
    }  # fmt: skip
    assert {one.token for one in site.asked} == {f"Bearer {TOKEN}"}
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "clevr/val: n = 4",
        "  accuracy        50.0 %  (15.0 to 85.0, n = 4)",
        "  accuracy_read   75.0 %  (n = 4), 1 unreadable",
        "  count   50.0 %  (15.0 to 85.0, n = 4)",
        "  2 with too few questions to tell",
        "weakest slices",
        "  answer: red   50.0 %  (15.0 to 85.0, n = 4)",
        "all slices of a facet: --by FACET, one of type, answer",
    ]
    assert f"Submission 17: {site.address}/submissions/17/" in err
    assert [line.split()[-1] for line in err.splitlines()[1:]] == ["waiting", "running", "done"]


def test_slices_are_chosen_by_name(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["send", str(file), *CALL, "--by", "answer"]) == 0
    assert capsys.readouterr().out.splitlines()[5:] == ["answer", "  red   50.0 %  (15.0 to 85.0, n = 4)"]
    assert script.main(["send", str(file), *CALL, "--by", "type"]) == 0
    assert capsys.readouterr().out.splitlines()[5:] == ["type", "  exist  too few to tell (n = 1)"]
    assert script.main(["send", str(file), *CALL, "--by", "colour"]) == 2
    assert "Expected one of the facets type, answer, got 'colour'." in capsys.readouterr().err


def test_an_upload_is_retried_with_the_same_key(
    script: ModuleType, site: Contrary, file: Path, pauses: list[float]
) -> None:
    site.troubles = [(DROPPED, {}), (503, {}), (429, {"Retry-After": "7"}), (500, {})]
    assert script.main(["send", str(file), *CALL, "--no-wait"]) == 0
    assert [one.method for one in site.asked] == ["POST"] * 5
    assert len({one.key for one in site.asked}) == 1 and len(site.asked[0].key) == 64
    assert all(one.fields["file"] == file.read_bytes() for one in site.asked)
    assert pauses == [0.5, 1, 7, 4]


def test_a_pause_may_end_at_a_date(script: ModuleType, site: Contrary, file: Path, pauses: list[float]) -> None:
    now = time.time()
    for until in (formatdate(now + 30, usegmt=True), formatdate(now - 30, usegmt=True), "Friday", "-3", "\xb3"):
        site.troubles = [(503, {"Retry-After": until})]
        assert script.main(["send", str(file), *CALL, "--no-wait"]) == 0
    assert pauses == [pytest.approx(30, abs=3), 0, 0.5, 0.5, 0.5]


def test_only_the_same_call_has_the_same_key(script: ModuleType, site: Contrary, file: Path) -> None:
    for more in ((), (), ("--run", "2"), ("--again",)):
        assert script.main(["send", str(file), *CALL, "--no-wait", *more]) == 0
    file.write_bytes(b"yes\n")
    assert script.main(["send", str(file), *CALL, "--no-wait"]) == 0
    keys = [one.key for one in site.asked]
    assert keys[0] == keys[1] and len(set(keys)) == 4


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (422, {}),
        (401, {}),
        (413, {}),
        (429, {"Retry-After": "4000"}),
        (503, {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}),
    ],
)
def test_a_refusal_is_reported_without_a_retry(
    status: int,
    headers: dict[str, str],
    script: ModuleType,
    site: Contrary,
    file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    site.troubles = [(status, headers)]
    assert script.main(["send", str(file), *CALL]) == 2
    assert capsys.readouterr().err == f"Not now. ({status})\n"
    assert len(site.asked) == 1


def test_a_site_that_never_answers_is_an_error_after_some_tries(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.troubles = [(DROPPED, {})] * 99
    assert script.main(["send", str(file), *CALL]) == 1
    assert len(site.asked) == script.TRIES
    assert f"Expected an answer from {site.address}, got none in {script.TRIES} tries" in capsys.readouterr().err


def test_the_token_is_not_sent_to_other_sites(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running() as other:
        site.troubles = [(302, {"Location": other.address})]
        assert script.main(["send", str(file), *CALL]) == 2
        site.answers["/api/v1/submissions/"] = [FOUND | {"url": f"{other.address}/x"}]
        assert script.main(["send", str(file), *CALL]) == 2
        assert other.asked == []
    assert "Expected the site's own address, got an address that redirects to" in capsys.readouterr().err


def test_a_submission_that_fails_later_is_reported(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.answers[str(FOUND["url"])] = [FOUND | {"state": "failed", "message": "Expected 4 answers, got 5."}]
    assert script.main(["send", str(file), *CALL]) == 2
    assert capsys.readouterr().out == "Submission 17 failed: Expected 4 answers, got 5.\n"


def test_the_wait_for_a_score_is_limited(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.answers[str(FOUND["url"])] = [FOUND]
    assert script.main(["send", str(file), *CALL, "--wait", "-1"]) == 1
    assert "got none yet: it is waiting" in capsys.readouterr().err


def test_the_script_waits_for_all_submissions_of_a_suite(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = FOUND | {"id": 18, "url": "/api/v1/submissions/18/"}
    site.answers["/api/v1/submissions/"] = [{"submissions": [FOUND, other]}]
    site.answers["/api/v1/submissions/18/"] = [DONE | {"id": 18}]
    assert script.main(["send", str(file), "--suite", "cogent", "--method", "Mine", "--json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == [17, 18]
    assert site.asked[0].fields["suite"] == b"cogent"


def test_a_check_stores_nothing(
    script: ModuleType, site: Contrary, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer: Any = {"outside": 3}
    site.answers["/api/v1/submissions/"] = [answer]
    assert script.main(["check", str(file), *CALL]) == 0
    assert (site.asked[0].fields["dry_run"], site.asked[0].key) == (b"1", "")
    assert json.loads(capsys.readouterr().out) == answer


def test_an_interrupted_download_of_questions_is_retried_and_leaves_no_other_file(
    script: ModuleType, site: Contrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site.troubles = [(200, {"Content-Length": "99999"}), (503, {})]
    assert script.main(["questions", "clevr/val"]) == 0
    assert (tmp_path / "clevr-val.jsonl.gz").read_bytes() == b"questions" * 1000
    assert [path.name for path in tmp_path.iterdir()] == ["clevr-val.jsonl.gz"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["questions", "clevr"], "Expected DATASET/SPLIT, got 'clevr'."),
        (["send", "nowhere.jsonl", *CALL], "Expected a file, got none: nowhere.jsonl"),
        (["--site", "example.org", "questions", "a/b"], "Expected the site's address"),
    ],
)
def test_an_error_is_one_line(
    arguments: list[str], says: str, script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(arguments) == 2
    assert says in capsys.readouterr().err


def test_a_file_that_is_too_large_is_not_sent(
    script: ModuleType, site: Contrary, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "LARGEST", 1000)
    assert script.main(["send", str(file), *CALL]) == 2
    assert "pack it with gzip" in capsys.readouterr().err
    assert site.asked == []
