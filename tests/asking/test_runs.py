"""A whole run of `static/ask.py`: what it sends, stores, prints and submits."""

import ast
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.test import Client

from tests.asking import colour_site
from tests.asking.conftest import KEY, SCRIPT, Call, PatientClock, answers, arguments, records, truth
from tests.asking.model_stub import MODEL, ModelStub, reply_with, status
from tests.webapp.contrary import TOKEN, Contrary


def test_the_script_has_the_same_address_in_every_version_of_the_site(client: Client) -> None:
    answer = client.get("/static/ask.py")
    assert (answer.status_code, answer.content) == (200, SCRIPT.read_bytes())
    assert answer["Content-Type"].startswith("text/")
    assert client.post("/static/ask.py").status_code == 405


def test_the_script_needs_only_the_standard_library_of_python_3_9() -> None:
    tree = ast.parse(SCRIPT.read_text(), feature_version=(3, 9))
    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_every_question_is_asked_with_its_own_picture_and_the_replies_are_read(
    call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call() == 0
    assert [colour_site.scene_in(one.picture) for one in model.asked] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [one.prompt for one in model.asked] == [colour_site.question(number)["prompt"] for number in range(8)]
    assert all(one.picture is not None and one.picture.size == colour_site.SIZE for one in model.asked)
    assert answers(folder) == truth(8)
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "questions 8: answered 8, cut off 0, refused 0, empty 0, failed 0",
        "replies without a readable answer: 0",
        "right: 8 of 8 (100.0 %)",
    ]
    assert "8/8  answered 8  cut off 0  refused 0  empty 0  failed 0  tokens 800 in, 40 out\n" in err


def test_an_attempt_is_stored_with_all_that_it_needs_to_be_checked(call: Call, model: ModelStub, folder: Path) -> None:
    model.troubles.append(reply_with("It is red.", reasoning_content="I look.", reasoning_details=[{"text": "red"}]))
    assert call("--sample", "8", "--seed", "7") == 0
    first = records(folder)[0]
    assert (first["question"], first["state"], first["reply"]) == (0, "answered", "It is red.")
    assert (first["finish_reason"], first["error"], first["scale"]) == ("stop", None, None)
    assert first["reasoning"] == {"reasoning_content": "I look.", "reasoning_details": [{"text": "red"}]}
    assert first["picture"] == hashlib.sha256(colour_site.picture(0)).hexdigest()
    assert (first["model"], first["served_model"], first["usage"]["total_tokens"]) == ("eye", MODEL, 105)
    assert (first["attempt"], first["epoch"], first["status"], first["form"]) == (1, 0, 200, "plain")
    sent = json.dumps(model.asked[0].body, sort_keys=True, separators=(",", ":")).encode()
    assert first["request"] == hashlib.sha256(sent).hexdigest()
    assert {name: model.asked[0].body[name] for name in ("temperature", "max_tokens", "seed", "stream")} == {
        "temperature": 0, "max_tokens": 4096, "seed": 7, "stream": False,
    }  # fmt: skip


def test_keys_come_from_the_environment_and_are_stored_and_printed_nowhere(
    call: Call, model: ModelStub, site: Contrary, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend(
        [
            reply_with(f"red {KEY}", reasoning=f"my key is {KEY}", **{KEY: 1}),
            status(500, {"error": {"message": f"wrong key {KEY}", "code": KEY}}),
            reply_with(f"neither {KEY} nor {TOKEN}x"),
        ]
    )
    assert call() == 0
    model.troubles.append(status(401, f"<b>{KEY}</b>".encode()))
    assert call("--resume", "--max-tokens", "9") == 2
    assert {one.key for one in model.asked} == {f"Bearer {KEY}"}
    assert {one.token for one in site.asked} == {f"Bearer {TOKEN}"}
    out, err = capsys.readouterr()
    assert KEY not in out + err and "[key]" in out and "<b>[key]</b>" in err
    for path in folder.rglob("*.jsonl"):
        assert KEY.encode() not in path.read_bytes() and TOKEN.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("options", "variable", "says"),
    [
        (["--base-url", "http://me:secret@127.0.0.1/v1"], "", "without keys and passwords"),
        (["--base-url", "http://:secret@127.0.0.1/v1"], "", "without keys and passwords"),
        (["--base-url", "http://127.0.0.1/v1?key=secret"], "", "got the parameter key"),
        (["--base-url", "http://127.0.0.1/v1#secret"], "", "without keys and passwords"),
        ([], "two words\n", "Expected a key of ASCII characters without spaces in the variable MODEL_API_KEY"),
    ],
)
def test_a_key_elsewhere_or_a_damaged_key_is_refused(
    options: list[str], variable: str, says: str, call: Call, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("MODEL_API_KEY", variable)
    assert call(*options) == 2
    err = capsys.readouterr().err
    assert says in err and "secret" not in err and "two words" not in err


@pytest.mark.parametrize(
    "address",
    [
        *(
            "http://127.0.0.1:many/v1",
            "http://127.0.0.1:99999/v1",
            "http://127.0.0.1:0/v1",
            "http://[::1/v1",
            "http://",
        ),
        *(
            "http://127.0.0.1/a b",
            "http://127.0.0.1/é",
            "127.0.0.1/v1",
            "ftp://127.0.0.1",
            "http://me:secret@127.0.0.1",
        ),
    ],
)
def test_an_address_that_is_none_is_refused_at_once(
    address: str, script: ModuleType, call: Call, model: ModelStub, folder: Path, clock: PatientClock, capsys: Any
) -> None:
    assert call("--base-url", address) == 2
    options = ["--base-url", model.address, "--model", "eye", "--folder", str(folder)]
    assert script.main([address, "a/b", *options], clock) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("Expected an address such as") and second.startswith("Expected the site's address")
    assert "secret" not in first + second and clock.pauses == [] and not folder.exists()


def test_a_host_that_can_not_be_is_a_failure(call: Call, site: Contrary, folder: Path) -> None:
    colour_site.fill(site, 1)
    assert call("--base-url", "http://a..b/v1", "--retries", "0") == 1
    assert records(folder)[0]["state"] == "failed"


def test_replies_that_are_no_answers_never_become_one(
    call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend(
        [
            reply_with("The colour is red", finish="length"),
            reply_with("yes", finish="content_filter"),
            reply_with(None, reasoning="It is green."),
            reply_with(None, refusal="I can't see pictures."),
            reply_with("  \n"),
            status(400, {"error": {"code": "content_filter", "message": "no"}}),
            reply_with("red or green"),
            reply_with("", finish="tool_calls"),
        ]
    )
    assert call("--retries", "0") == 1
    states = ["cut off", "refused", "empty", "refused", "empty", "refused", "answered", "failed"]
    assert [one["state"] for one in records(folder)] == states
    assert len(model.asked) == 8  # a cut-off reply is not asked for again
    assert answers(folder) == [None] * 8
    out = capsys.readouterr().out
    assert "questions 8: answered 1, cut off 1, refused 3, empty 2, failed 1" in out
    assert "replies without a readable answer: 1\n  question 6: red or green\n" in out
    assert json.loads((folder / "unread.jsonl").read_text()) == {"question_id": 6, "reply": "red or green"}
    assert "right: 0 of 8" in out


def test_resuming_asks_only_for_what_is_missing(call: Call, model: ModelStub, folder: Path) -> None:
    model.troubles.extend([reply_with("", finish="length"), status(502), reply_with(None)])
    assert call("--retries", "0") == 1
    assert call("--retries", "0", "--resume") == 0
    assert [one["question"] for one in records(folder)] == [*range(8), 1]
    assert answers(folder) == [None, *truth(8)[1:2], None, *truth(8)[3:]]
    assert call("--resume") == 0 and len(model.asked) == 9
    assert call("--resume", "--max-tokens", "5000") == 0 and len(model.asked) == 17  # another budget, another question
    assert answers(folder) == truth(8)
    assert call("--resume", "--model", "other") == 0 and len(model.asked) == 25


def test_replies_of_another_run_are_not_mixed_by_accident(call: Call, model: ModelStub, capsys: Any) -> None:
    assert call() == 0
    assert call() == 2
    assert "keep them with --resume" in capsys.readouterr().err
    assert len(model.asked) == 8


def test_a_last_line_that_was_not_finished_is_cut_away(call: Call, model: ModelStub, folder: Path) -> None:
    assert call() == 0
    path = folder / "replies.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert call("--resume") == 0
    assert len(model.asked) == 9 and [one["question"] for one in records(folder)] == [*range(8)]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense", b"[]", b"{}", b"\xff", b'{"question": 0, "key": "k", "state": "answered"}',
        b'{"question": 0, "key": "k", "state": "answered", "reply": 3}',
        b'{"question": [0], "key": "k", "state": "empty", "reply": null}',
        b'{"question": 0, "key": ["k"], "state": "empty", "reply": null}',
        b'{"question": 0, "key": "k", "state": "wrong", "reply": "red"}',
        b'{"question": 0, "key": "k", "state": ["answered"], "reply": "red"}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_line_that_is_no_reply_is_named_and_nothing_is_lost(
    line: bytes, call: Call, model: ModelStub, folder: Path, capsys: Any
) -> None:
    folder.mkdir()
    path = folder / "replies.jsonl"
    path.write_bytes(line + b"\n")
    assert call("--resume") == 2
    said = f"Expected a stored reply in {path}, line 1, got something else: delete this line, or use another --folder."
    assert said in capsys.readouterr().err
    assert path.read_bytes() == line + b"\n" and model.asked == []


@pytest.mark.parametrize("number", [0, "1", None, True, [1]])
def test_two_questions_do_not_have_the_same_number(
    number: Any, call: Call, site: Contrary, model: ModelStub, capsys: Any
) -> None:
    rows = [colour_site.question(0), colour_site.question(1) | {"question_id": number}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    site.answers[f"{colour_site.PATH}questions.jsonl.gz"] = [gzip.compress(lines.encode())]
    assert call() == 2
    assert "Expected another whole number for each question" in capsys.readouterr().err and model.asked == []


def test_pictures_that_are_no_archive_are_one_line(
    call: Call, site: Contrary, model: ModelStub, folder: Path, capsys: Any
) -> None:
    site.answers[f"{colour_site.PATH}images.tar"] = [b"<html>Sign in</html>"]
    assert call() == 2
    [path] = folder.rglob("images.tar")
    assert f"Expected the pictures in {path}, got no tar archive" in capsys.readouterr().err and model.asked == []


def test_two_runs_do_not_write_the_same_file(
    call: Call, script: ModuleType, model: ModelStub, folder: Path, capsys: Any
) -> None:
    assert call() == 0
    path = folder / "replies.jsonl"
    whole = path.read_bytes()
    with path.open("ab") as torn:
        torn.write(b'{"question": 8')  # the other run is writing a line
    log = script.ReplyLog(path)
    with path.open("ab") as torn:
        torn.write(b'{"question": 8')
    assert call("--resume", "--model", "other") == 2
    assert f"Expected {path} for this run alone" in capsys.readouterr().err
    assert path.read_bytes() == whole + b'{"question": 8' and len(model.asked) == 8
    log.close()
    assert call("--resume", "--model", "other") == 0 and len(model.asked) == 16


def started(site: Contrary, model: ModelStub, folder: Path, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(SCRIPT), *arguments(site, model, folder), "--concurrency", "4", *options]
    return subprocess.Popen(
        command,
        env={"PATH": os.environ["PATH"]},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore Ctrl-C
    )


@pytest.mark.slow
def test_a_killed_run_loses_at_most_the_requests_on_their_way(
    call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    colour_site.fill(site, 40)
    model.hold_after = 17
    with started(site, model, folder) as process:
        model.wait_for(17 + 4)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    stored = {one["question"] for one in records(folder)}
    assert len(stored) == 17
    model.hold_after = None
    model.released.set()
    assert call("--resume", "--concurrency", "4") == 0
    assert len(model.asked) == 40 + 4 and len(records(folder)) == 40
    assert answers(folder) == truth(40)


@pytest.mark.slow
def test_ctrl_c_waits_for_the_requests_on_their_way(site: Contrary, model: ModelStub, folder: Path) -> None:
    colour_site.fill(site, 40)
    model.hold_after = 10
    with started(site, model, folder) as process:
        model.wait_for(10 + 4)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert any("Stopping" in line for line in process.stderr)
        model.released.set()
        assert "Continue with --resume" in process.stderr.read()
    assert process.returncode == 130
    assert len(records(folder)) == len(model.asked) == 14


def test_the_options_are_listed_and_a_letter_is_an_answer(call: Call, model: ModelStub, folder: Path) -> None:
    model.troubles.append(reply_with("(A) green"))  # contradicts itself: A is red
    assert call("--form", "options") == 0
    assert model.asked[1].prompt == (
        "Is it red?\nAnswer yes or no.\nOptions:\nA. yes\nB. no\nAnswer with the letter of the right option."
    )
    assert {one["reply"] for one in records(folder)[1:]} <= {"A", "B", "C"}
    assert answers(folder) == [None, *truth(8)[1:]]


def test_circular_asks_every_rotation_and_wants_the_same_answer_to_all(
    call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend(
        [reply_with("A"), reply_with("A"), reply_with("A"), reply_with("A"), reply_with("B", finish="length")]
    )
    assert call("--form", "circular") == 0
    assert len(model.asked) == 4 * 3 + 4 * 2
    asked = [one.prompt.splitlines()[3:6] for one in model.asked[:3]]
    assert asked == [
        ["A. red", "B. green", "C. blue"], ["A. green", "B. blue", "C. red"], ["A. blue", "B. red", "C. green"],
    ]  # fmt: skip
    assert answers(folder) == [None, None, *truth(8)[2:]]  # always A; and once cut off
    assert "20 requests for 8 questions" in (captured := capsys.readouterr()).err
    assert "right: 6 of 8" in captured.out


def test_too_many_options_are_refused_before_anything_is_asked(
    call: Call, script: ModuleType, model: ModelStub, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(script, "LETTERS", "AB")
    assert call("--form", "options") == 2
    assert "Expected 2 to 2 possible answers to question 0, got 3: use --form plain." in capsys.readouterr().err
    assert model.asked == []


def test_a_sample_is_nested_and_its_pictures_are_downloaded_one_by_one(
    call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    colour_site.fill(site, 40)
    assert call("--sample", "2") == 0
    few = {one["question"] for one in records(folder)}
    assert len(few) == 2 and not any(one.path.endswith("images.tar") for one in site.asked)
    assert call("--sample", "30", "--resume") == 0
    assert any(one.path.endswith("images.tar") for one in site.asked)
    many = [one["question"] for one in records(folder)]
    assert len(many) == len(set(many)) == 30 and few < set(many)
    numbers = [colour_site.scene_in(one.picture) for one in model.asked]
    assert numbers == [number // 2 for number in many]


def test_a_download_that_breaks_off_goes_on(call: Call, site: Contrary, folder: Path) -> None:
    site.troubles = [(503, {}), (200, {"Content-Length": "99999"}), (429, {"Retry-After": "3"})]
    assert call() == 0
    assert answers(folder) == truth(8)


def test_some_questions_are_asked_twice_and_the_agreement_is_reported(
    call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call() == 0
    model.troubles.extend([reply_with("red or green, yes or no"), reply_with("", finish="length")])
    right = model.reply
    others = {"yes": "no", "no": "yes", "red": "green", "green": "blue", "blue": "red"}

    def reply(prompt: str, image: Any) -> str:
        answer = right(prompt, image)
        return others[answer.removeprefix("It is ").rstrip(".")] if len(model.asked) == 11 else answer

    model.reply = reply
    assert call("--resume", "--again", "5") == 0
    assert [one["epoch"] for one in records(folder)] == [0] * 8 + [1] * 5
    assert "asked twice: 5 questions, 3 with two answers, of which 2 agree" in capsys.readouterr().out
    assert answers(folder) == truth(8)


def test_progress_has_tokens_and_cost(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--price-in", "1000", "--price-out", "2000") == 0
    assert "tokens 800 in, 40 out  cost 0.8800 US dollars\n" in capsys.readouterr().err


def test_questions_about_stories_have_no_picture(call: Call, site: Contrary, model: ModelStub, folder: Path) -> None:
    row = {**colour_site.question(0), "image": None, "story": ["It is red."], "prompt": "1 It is red.\n\nColour?"}
    site.answers[f"{colour_site.PATH}questions.jsonl.gz"] = [gzip.compress(json.dumps(row).encode())]
    model.reply = lambda prompt, image: "red" if image is None else "blue"
    assert call() == 0
    assert model.asked[0].body["messages"] == [{"role": "user", "content": "1 It is red.\n\nColour?"}]
    assert records(folder)[0]["picture"] is None and answers(folder) == ["red"]
    del row["story"]
    site.answers[f"{colour_site.PATH}questions.jsonl.gz"] = [gzip.compress(json.dumps(row).encode())]
    assert call("--resume") == 2


@pytest.mark.parametrize(
    "content",
    [b"not gzip", gzip.compress(b"[]\n"), gzip.compress(b"{]"), gzip.compress(b"x")[:-9]],
    ids=["no gzip", "a list", "no JSON", "cut"],  # gzip has the time in it, and ids must be the same in all processes
)
def test_a_site_that_sends_something_else_is_one_line(
    content: bytes, call: Call, site: Contrary, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    site.answers[f"{colour_site.PATH}questions.jsonl.gz"] = [content]
    assert call() == 2
    site.answers[colour_site.PATH] = [{"title": "another site"}]
    assert call() == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 2 and err.count("Expected") == 2 and model.asked == []


def test_requests_run_at_once(call: Call, model: ModelStub) -> None:
    model.hold_after = 0
    threading.Thread(target=lambda: (model.wait_for(3), model.released.set())).start()
    assert call("--concurrency", "3") == 0
    assert model.most_inside == 3


SUBMISSIONS = "/api/v1/submissions/"
SENT = {"id": 17, "url": f"{SUBMISSIONS}17/"}
FOUND = SENT | {"page": "/submissions/17/", "state": "waiting"}
DONE = FOUND | {"state": "done", "scores": [{"split": "colours/val", "n": 8, "accuracy": 0.75}]}


def test_answers_are_submitted_and_missing_ones_are_sent_as_null(
    call: Call, site: Contrary, model: ModelStub, clock: PatientClock, capsys: pytest.CaptureFixture[str]
) -> None:
    site.answers |= {SUBMISSIONS: [{"checked": []}, SENT], str(SENT["url"]): [FOUND, FOUND, DONE]}
    model.troubles.extend([reply_with("yes", finish="length"), reply_with("no idea, red or green")])
    assert call("--submit", "--method", "Eye", "--run", "1") == 0
    checked, sent = [one for one in site.asked if one.method == "POST"]
    assert checked.fields["dry_run"] == b"1" and "dry_run" not in sent.fields
    for one, wanted in ((checked, ["red", "yes"] * 4), (sent, [None, None, *truth(8)[2:]])):
        rows = [json.loads(line) for line in one.fields["file"].splitlines()]
        assert [row["question_id"] for row in rows] == list(range(8))
        assert [row["answer"] for row in rows] == wanted
        assert {name: one.fields[name] for name in ("split", "method", "run", "fingerprint")} == {
            "split": b"colours/val", "method": b"Eye", "run": b"1", "fingerprint": b"f" * 64,
        }  # fmt: skip
    assert sent.fields["note"] == b"ask.py, form plain: answered 7, cut off 1, temperature 0.0, max_tokens 4096"
    assert len(sent.key) == 64 and checked.key == ""
    out, err = capsys.readouterr()
    assert out.endswith("colours/val: n = 8, accuracy 75.0 %\n")
    assert f"Submission 17: {site.address}/submissions/17/" in err
    assert clock.pauses == [1.0, 1.5]


def test_a_sample_can_not_be_submitted(call: Call, model: ModelStub, capsys: Any) -> None:
    assert call("--submit", "--sample", "3") == 2
    assert "make a question set" in capsys.readouterr().err
    assert model.asked == []


def test_each_attempt_is_on_the_disk_before_the_next_question(
    call: Call, script: ModuleType, model: ModelStub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(script.os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    sizes: list[int] = []
    right = model.reply

    def reply(prompt: str, image: Any) -> str:
        sizes.append((folder / "replies.jsonl").stat().st_size)
        return right(prompt, image)

    model.reply = reply
    assert call() == 0
    assert sizes == [0, *synced[:-1]] and synced[-1] == (folder / "replies.jsonl").stat().st_size
    assert len(synced) == len(set(synced)) == 8
