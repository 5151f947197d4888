"""Errors of the model's server: what `static/ask.py` repeats, how long it waits, and when it stops."""

import email.utils
import fcntl
import gzip
import json
import math
import resource
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.asking import colour_site
from tests.asking.conftest import KEY, NOW, Call, PatientClock, answers, records, truth
from tests.asking.model_stub import ModelStub, Trouble, cut, cut_chunks, drop, hang, reply_with, status
from tests.proof import size
from tests.webapp.contrary import Contrary


def after(seconds: float) -> dict[str, str]:
    """Return the headers that ask to wait so long, as a date of a server whose clock is an hour late."""
    dates = {"Date": NOW - 3600, "Retry-After": NOW - 3600 + seconds}
    return {name: email.utils.formatdate(date, usegmt=True) for name, date in dates.items()}


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize(
    ("headers", "pauses"),
    [
        ({"Retry-After": "7"}, [7.0]),
        (after(42), [42.0]),
        ({"Retry-After": email.utils.formatdate(NOW + 9, usegmt=True)}, [9.0]),
        ({"Retry-After": email.utils.formatdate(NOW - 9, usegmt=True)}, [0.5]),
        ({"Retry-After": "0"}, [0.5]),
        ({"Retry-After": "2.5"}, [2.5]),
        ({"Retry-After": "soon"}, [0.5]),
        ({"Retry-After": "-5"}, [0.5]),
        ({}, [0.5]),
    ],
)
def test_the_server_says_how_long_to_wait(
    code: int, headers: dict[str, str], pauses: list[float], call: Call, model: ModelStub, folder: Path,
    clock: PatientClock,
) -> None:  # fmt: skip
    model.troubles.append(status(code, headers=headers))
    assert call() == 0
    assert clock.pauses == pauses
    assert [(one["question"], one["attempt"], one["state"]) for one in records(folder)[:2]] == [
        (0, 1, "failed"),
        (0, 2, "answered"),
    ]
    assert answers(folder) == truth(8)


@pytest.mark.parametrize(
    "trouble",
    [
        status(500), status(502, b"<html>Bad gateway</html>"), status(504), status(408), drop, cut, cut_chunks,
        status(200, b"<html>Sign in</html>"), status(200, b""), status(200, b"[" * 100_000), status(200, b"9" * 9000),
        status(200, {"choices": []}), status(200, {"error": {"message": "overloaded", "code": 502}}),
        status(200, {"choices": [{"message": None}]}), status(200, [1]), reply_with("yes", finish="error"),
    ],
)  # fmt: skip
def test_other_failures_are_repeated_after_pauses_that_grow(
    trouble: Trouble, call: Call, model: ModelStub, folder: Path, clock: PatientClock
) -> None:
    model.troubles.extend([trouble] * 3)
    assert call() == 0
    assert clock.pauses == [0.5, 1.0, 2.0]
    assert [one["state"] for one in records(folder)[:4]] == ["failed"] * 3 + ["answered"]
    assert all(one["error"] for one in records(folder)[:3])
    assert answers(folder) == truth(8)


def test_a_pause_that_is_over_does_not_use_up_the_retries_at_once(
    call: Call, model: ModelStub, folder: Path, clock: PatientClock
) -> None:
    model.troubles.extend([status(429, headers={"Retry-After": "0"})] * 4)
    assert call() == 0
    assert clock.pauses == [0.5, 1.0, 2.0, 4.0] and answers(folder) == truth(8)


def test_the_number_of_retries_is_obeyed(call: Call, model: ModelStub, folder: Path, clock: PatientClock) -> None:
    model.troubles.extend([status(429), status(500)])
    assert call("--retries", "0") == 1
    assert len(model.asked) == 8 and [one["attempt"] for one in records(folder)] == [1] * 8
    assert answers(folder) == [None, None, *truth(8)[2:]]
    model.troubles.extend([status(500)] * 3)
    assert call("--retries", "2", "--resume") == 1
    assert [(one["question"], one["attempt"]) for one in records(folder)[8:]] == [(0, 1), (0, 2), (0, 3), (1, 1)]


def test_a_server_that_hangs_is_a_failure_after_the_time_limit(
    call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    colour_site.fill(site, 1)
    model.troubles.append(hang)
    assert call("--retries", "0", "--timeout", "0.05") == 1
    assert records(folder)[0]["state"] == "failed" and "TimeoutError" in records(folder)[0]["error"]


@pytest.mark.parametrize("seconds", ["0", "1e300", "nan", "-1", "soon"])
def test_a_time_limit_that_no_request_can_have_is_refused(
    seconds: str, call: Call, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        call("--timeout", seconds)
    assert "argument --timeout: expected" in capsys.readouterr().err and model.asked == []


@pytest.mark.parametrize(("code", "tries"), [(400, 3), (403, 3), (422, 3), (401, 1), (402, 1), (404, 1), (302, 1)])
def test_a_server_that_answers_no_question_stops_the_run_with_its_text(
    code: int, tries: int, call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend([status(code, {"error": {"message": "No such \x1b[31mmodel.", "code": "nope"}})] * 9)
    assert call() == 2
    assert f"refuses the request ({code}): nope No such \\x1b[31mmodel." in capsys.readouterr().err
    assert [one["state"] for one in records(folder)] == ["failed"] * tries
    assert [one["question"] for one in records(folder)] == [0, 1, 2][:tries]


def test_an_account_without_money_stops_the_run(call: Call, model: ModelStub) -> None:
    model.troubles.append(status(429, {"error": {"message": "You ran out.", "code": "insufficient_quota"}}))
    assert call() == 2 and len(model.asked) == 1


@pytest.mark.parametrize(
    ("said", "hours"),
    [
        ("86400", "24.0 h"),
        ("9" * 11, "277777.8 h"),
        ("9" * 400, "277777.8 h"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "277777.8 h"),
    ],
)
def test_a_server_that_asks_for_a_very_long_pause_stops_the_run(
    said: str, hours: str, call: Call, model: ModelStub, capsys: Any
) -> None:
    model.troubles.append(status(429, headers={"Retry-After": said}))
    assert call() == 2
    assert f"asks to wait {hours}: continue later with --resume" in capsys.readouterr().err
    assert len(model.asked) == 1


def test_requests_that_wait_for_a_very_long_pause_end_with_the_run(script: Any) -> None:
    clock = script.Clock()
    clock.stopped.set()
    clock.wait(script.LONGEST_TIMER)
    assert script.LONGEST_TIMER > script.LONGEST_PAUSE


def refusal(name: str) -> dict[str, Any]:
    return {"error": {"message": f"Unsupported parameter: '{name}'.", "param": name}}


@pytest.mark.parametrize("code", [400, 422])
def test_parameters_that_the_server_names_are_dropped_once(
    code: int, call: Call, model: ModelStub, folder: Path, clock: PatientClock
) -> None:
    model.troubles.extend([status(code, refusal("max_tokens")), status(code, refusal("temperature"))])
    assert call("--retries", "0", "--max-tokens", "50") == 0
    sent = [
        {name: one.body.get(name) for name in ("temperature", "max_tokens", "max_completion_tokens")}
        for one in model.asked
    ]
    assert sent == [
        {"temperature": 0, "max_tokens": 50, "max_completion_tokens": None},
        {"temperature": 0, "max_tokens": None, "max_completion_tokens": 50},
        *[{"temperature": None, "max_tokens": None, "max_completion_tokens": 50}] * 8,
    ]
    assert records(folder)[-1]["dropped"] == ["max_tokens", "temperature"] and clock.pauses == []
    assert call("--resume", "--max-tokens", "50") == 0 and len(model.asked) == 10


def test_a_parameter_that_is_renamed_keeps_the_value_that_the_user_set(call: Call, model: ModelStub) -> None:
    model.troubles.append(
        status(400, {"error": {"message": "max_tokens and max_completion_tokens: send one of them."}})
    )
    assert call("--more", '{"max_completion_tokens": 20000}') == 0
    assert model.asked[1].body["max_completion_tokens"] == 20000 and "max_tokens" not in model.asked[1].body


@pytest.mark.parametrize("name", ["top_p", "max_completion_tokens"])
def test_other_parameters_and_a_second_refusal_stop_the_run(name: str, call: Call, model: ModelStub) -> None:
    model.troubles.extend([status(400, refusal("max_tokens")), status(400, refusal(name))])
    assert call("--more", '{"top_p": 0.5}') == 2
    assert len(model.asked) == 2 and model.asked[0].body["top_p"] == 0.5


def test_crowded_servers_get_fewer_requests_at_once(script: Any, clock: PatientClock) -> None:
    gate = script.RequestGate(10, clock)
    rounds = [gate.enter() for _ in range(10)]
    for one in rounds:
        gate.leave(one, is_crowded=True, is_good=False, pause=5.0)
    assert gate.limit == 7  # ten refusals of one round count once
    gate.leave(gate.enter(), is_crowded=True, is_good=False)
    assert gate.limit == pytest.approx(4.9) and clock.pauses == [5.0]
    for _ in range(100):
        gate.leave(gate.enter(), is_crowded=False, is_good=True)
    assert gate.limit == 10
    for _ in range(100):
        gate.leave(gate.enter(), is_crowded=True, is_good=False)
    assert gate.limit == 1


def test_a_server_that_only_fails_is_left_alone(call: Call, site: Contrary, model: ModelStub, capsys: Any) -> None:
    colour_site.fill(site, 60)
    model.troubles.extend([status(500, b"on \x1b[5mfire")] * 60)
    assert call("--retries", "0") == 1
    assert len(model.asked) == 20
    err = capsys.readouterr().err
    assert (
        "got 20 failed or refused requests in a row, the last one: on \\x1b[5mfire. Continue later with --resume" in err
    )


def test_replies_from_the_disk_do_not_hide_a_server_that_only_fails(
    call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    colour_site.fill(site, 60)
    model.troubles.extend([status(500), reply_with("red")] * 30)
    assert call("--retries", "0") == 1 and len(model.asked) == 60
    model.troubles.extend([status(500)] * 30)
    assert call("--retries", "0", "--resume") == 1
    assert len(model.asked) == 60 + 20


def test_a_server_that_is_not_there_is_one_line(call: Call, capsys: Any) -> None:
    assert call("--retries", "0", "--base-url", "http://127.0.0.1:9/v1") == 1
    assert capsys.readouterr().err.count("ConnectionRefusedError") == 1  # not once for each of the 8 questions


HOSTILE = {
    "html": "<script>alert(1)</script><b>red</b> or <i>green</i>",
    "ansi": "\x1b]0;owned\x07\x1b[2J\x1b[31m red \x1b[0m or green \x9b5m \u202egnp\u202c",
    "large": "red green " * size(1_000_000),
    "surrogate": "red \ud800 green",
    "nul": "\0" * 1000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_replies_end_harmlessly_on_the_terminal(
    name: str, call: Call, site: Contrary, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    colour_site.fill(site, 1)
    model.troubles.append(reply_with(HOSTILE[name], reasoning_details=json.loads("[" * 600 + "]" * 600)))
    assert call() == 0
    out, err = capsys.readouterr()
    assert len(out + err) < 1500 and all(one.isprintable() or one == "\n" for one in out + err)
    assert "replies without a readable answer: 1" in out
    assert [one["reply"] for one in records(folder)] == [HOSTILE[name]]
    assert answers(folder) == [None]
    assert call("--resume") == 0 and len(model.asked) == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_replies_to_steps_are_scored_and_stored_harmlessly(
    name: str, call: Call, site: Contrary, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    colour_site.fill(site, 1)
    array = json.dumps([{"step": "scene", "result": HOSTILE[name]}, {"step": HOSTILE[name], "result": "red"}])
    model.troubles.append(reply_with(f"{array}\nAnswer: red", reasoning=HOSTILE[name]))
    assert call("--form", "steps") == 0
    out, err = capsys.readouterr()
    assert len(out + err) < 1500 and all(one.isprintable() or one == "\n" for one in out + err)
    assert "steps right: 0 of 2" in out and answers(folder) == ["red"]
    for path in folder.glob("*.jsonl"):
        assert path.read_bytes().isascii() and b"\x1b" not in path.read_bytes()
        assert len(path.read_bytes().splitlines()) == path.read_bytes().count(b"\n") < 2


def test_a_hostile_site_can_not_change_the_terminal(
    call: Call, site: Contrary, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = "\x1b[2J\x9b5m\u202e"
    rows = [
        {**colour_site.steps(number), "steps": [{"function": bad, "kind": bad, "result": 1}]} for number in range(8)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    site.answers[f"{colour_site.PATH}steps.jsonl.gz"] = [gzip.compress(lines.encode())]
    scores = [{"split": bad, "n": 8, "accuracy": 0.5}]
    sent = {"id": bad, "url": "/api/v1/submissions/1/", "page": f"/{bad}"}
    site.answers["/api/v1/submissions/"] = [{"checked": []}, sent, {"checked": []}, sent]
    site.answers["/api/v1/submissions/1/"] = [{**sent, "state": "done", "scores": scores}]
    assert call("--form", "steps", "--submit") == 0
    site.answers["/api/v1/submissions/1/"] = [{**sent, "state": "failed", "message": bad * 999}]
    assert call("--form", "steps", "--submit", "--resume") == 2
    out, err = capsys.readouterr()
    assert "accuracy 50.0 %" in out and "failed: " in out
    assert all(one.isprintable() or one == "\n" for one in out + err)


def test_an_error_that_is_not_utf_8_is_read_as_far_as_it_can_be(
    call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend([status(500, b"\xff\xfe \x1b[5m" + b"x" * 10_000_000), status(401, b"\xff \x1b[5m no")])
    assert call("--retries", "1") == 2
    out, err = capsys.readouterr()
    assert "refuses the request (401): \ufffd \\x1b[5m no" in err and "\x1b" not in out + err
    assert [len(one["error"]) for one in records(folder)] == [2000, 9]


def test_a_reply_that_is_not_utf_8_is_read_as_far_as_it_can_be(call: Call, model: ModelStub, folder: Path) -> None:
    body = b'{"choices": [{"message": {"content": "\xff\xfe It is \xc3\x28 red."}, "finish_reason": "stop"}]}'
    model.troubles.append(status(200, body))
    assert call() == 0
    assert records(folder)[0]["reply"] == "\ufffd\ufffd It is \ufffd( red." and answers(folder) == truth(8)


def test_a_reply_without_an_end_is_a_failure(call: Call, script: Any, model: ModelStub, monkeypatch: Any) -> None:
    monkeypatch.setattr(script, "ALL_REPLIES", 100_000)
    model.troubles.append(reply_with("red" * 100_000))
    assert call("--retries", "0") == 1


@pytest.mark.parametrize(
    "usage",
    ["many", [1], {"prompt_tokens": -5}, {"prompt_tokens": "7"}, {"prompt_tokens": 10**30}, {"x": math.nan}],
)
def test_a_strange_usage_does_no_harm(usage: Any, call: Call, site: Contrary, model: ModelStub, folder: Path) -> None:
    colour_site.fill(site, 1)
    body = {"choices": [{"message": {"content": "red"}}], "usage": usage, "model": 7}
    model.troubles.append(status(200, json.dumps(body).encode()))
    assert call("--price-in", "1") == 0
    assert answers(folder) == ["red"]
    assert records(folder)[0]["served_model"] is None


def test_the_content_may_be_a_list_of_parts(call: Call, model: ModelStub, folder: Path) -> None:
    parts = [{"type": "thinking", "text": "green"}, {"type": "text", "text": "It is"}, {"type": "text", "text": " red"}]
    model.troubles.append(reply_with(parts))
    assert call() == 0
    assert records(folder)[0]["reply"] == "It is red"


def completion(**choice: Any) -> Trouble:
    """Return a chat completion with this choice, whose reply has all 50 tokens that it may have."""
    return status(200, {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 50}})


@pytest.mark.parametrize(
    ("trouble", "state"),
    [
        (completion(message={"content": "It is red"}), "cut off"),
        (completion(message={"content": "It is red"}, finish_reason=""), "cut off"),
        (completion(message={"content": "red"}, finish_reason="stop"), "answered"),
        (completion(message={"content": "<think>It is red.</think>\n"}, finish_reason="stop"), "empty"),
        (completion(message={"content": "<think>It is red."}, finish_reason="stop"), "empty"),
        (completion(message={"content": "red"}, error={"message": "overloaded"}, finish_reason="stop"), "failed"),
        (completion(finish_reason="content_filter"), "refused"),
        (completion(finish_reason="content_filter: PROHIBITED_CONTENT", message=None), "refused"),
        (reply_with([{"type": "refusal", "refusal": "I can't."}, {"type": "text", "text": "red"}]), "refused"),
        (reply_with([{"type": "image", "text": "red"}]), "empty"),
        (reply_with(None, tool_calls=[{"function": {"name": "answer", "arguments": "red"}}]), "empty"),
    ],
)
def test_only_a_complete_reply_with_words_is_an_answer(
    trouble: Trouble, state: str, call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    colour_site.fill(site, 1)
    model.troubles.append(trouble)
    assert call("--retries", "0", "--max-tokens", "50") == (state == "failed")
    assert records(folder)[0]["state"] == state
    assert answers(folder) == (["red"] if state == "answered" else [None])


@pytest.mark.parametrize("at", [0, 1990, 2100])
@pytest.mark.parametrize("code", [200, 500])
def test_no_part_of_a_key_is_kept_where_an_error_is_cut(
    code: int, at: int, call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    colour_site.fill(site, 1)
    model.troubles.append(status(code, {"error": {"message": f"{'x' * at} {KEY}"}}))
    assert call("--retries", "0") == 1
    said = records(folder)[0]["error"]
    assert KEY[:5] not in said and len(said) <= 2000 and ("[key]" in said or at)


@pytest.mark.parametrize("depth", [300, 900, 3000])
def test_an_error_that_is_nested_deeply_is_a_failure(
    depth: int, call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    colour_site.fill(site, 1)
    nested = "[" * depth + "]" * depth
    for field in ("message", "code"):
        model.troubles.append(status(500, f'{{"error": {{"message": "no", "{field}": {nested}}}}}'.encode()))
    model.troubles.append(status(200, f'{{"choices": [{{"message": {{}}, "finish_reason": {nested}}}]}}'.encode()))
    assert call("--retries", "2") == 1
    assert [one["state"] for one in records(folder)] == ["failed"] * 3


def test_a_connection_whose_file_has_a_high_number_is_used_again(script: Any) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(1100, limits[0]), limits[1]))
    ours, theirs = socket.socketpair()
    try:
        with ours, theirs, socket.socket(fileno=fcntl.fcntl(ours.fileno(), fcntl.F_DUPFD, 1050)) as high:
            assert not script.has_input(high)
            theirs.send(b"x")
            assert script.has_input(high)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_connection_that_the_server_has_closed_is_opened_again(call: Call, model: ModelStub, folder: Path) -> None:
    def leave(handler: Any) -> None:
        reply_with("It is red.")(handler)
        handler.close_connection = True

    model.troubles.append(leave)
    assert call("--retries", "0") == 0
    assert len(model.asked) == 8 and answers(folder) == truth(8)
