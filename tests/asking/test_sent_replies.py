"""`--submit` of `static/ask.py` sends the replies that the answers came from, with their cost."""

import gzip
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from generation.engine.predictions.reply_records import read_replies
from tests.asking import colour_site
from tests.asking.conftest import Call, PatientClock, records
from tests.asking.model_stub import ModelStub, reply_with, status
from tests.webapp.contrary import Asked, Contrary

SUBMISSIONS = "/api/v1/submissions/"
SENT = {"id": 17, "url": f"{SUBMISSIONS}17/"}
DONE = SENT | {"state": "done", "scores": [{"split": "colours/val", "n": 8, "accuracy": 0.75}]}
UNKNOWN = {"error": {"message": "Expected the fields file, method, split, got 'replies'.", "code": "bad_request"}}
FULL = {"error": {"message": "Expected at most 100 MB, got more.", "code": "too_large"}}


@pytest.fixture(autouse=True)
def submissions(site: Contrary) -> None:
    site.answers |= {SUBMISSIONS: [{"checked": []}, SENT], str(SENT["url"]): [DONE]}


def posts(site: Contrary) -> list[Asked]:
    return [one for one in site.asked if one.method == "POST"]


def sent(site: Contrary) -> list[dict[str, Any]]:
    """Return the records of the last request that submitted something."""
    return [json.loads(line) for line in gzip.decompress(posts(site)[-1].fields["replies"]).splitlines()]


def test_the_last_attempt_of_each_question_is_sent_with_its_cost(
    call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    model.troubles.extend([status(500), reply_with("It is red."), reply_with("no", finish="length")])
    assert call("--submit", "--price-in", "1.5", "--price-out", "20") == 0
    checked, submitted = posts(site)
    assert "replies" not in checked.fields and submitted.fields["file"]
    stored = {one["question"]: one for one in records(folder)}  # the last attempt of each
    assert len(records(folder)) == 9
    usage = {"prompt_tokens": 100, "completion_tokens": 5}
    assert sent(site) == [{**stored[number], "usage": usage, "cost": 0.00025} for number in range(8)]
    assert [(one["state"], one["attempt"]) for one in sent(site)[:3]] == [
        ("answered", 2), ("cut off", 1), ("answered", 1),
    ]  # fmt: skip


def test_without_prices_or_tokens_no_cost_is_sent(call: Call, site: Contrary, model: ModelStub) -> None:
    body = {"choices": [{"message": {"content": "red"}}], "usage": {"prompt_tokens": 7}}
    model.troubles.append(status(200, body))
    assert call("--submit", "--price-in", "1") == 0
    assert [one.get("cost") for one in sent(site)] == [None] + [0.0001] * 7
    site.answers[SUBMISSIONS] = [{"checked": []}, SENT]
    assert call("--submit", "--resume") == 0
    assert not any("cost" in one for one in sent(site))


def test_every_rotation_and_every_second_question_has_its_reply(
    call: Call, site: Contrary, model: ModelStub, folder: Path
) -> None:
    assert call("--form", "options") == 0  # asks what is also the first rotation
    assert call("--form", "circular", "--again", "2", "--submit", "--resume") == 0
    found = [(one["question"], one["variant"], one["epoch"], one["form"]) for one in sent(site)]
    first = {(number, at, 0, "circular") for number in range(8) for at in range(3 - number % 2)}
    assert len(found) == len(set(found)) and first < set(found)
    assert {one[2] for one in found} == {0, 1} and len(model.asked) == len(found)


def test_a_failure_that_was_repeated_is_sent_only_if_there_is_no_reply(
    call: Call, site: Contrary, model: ModelStub
) -> None:
    model.troubles.extend([status(500), status(502)])
    assert call("--retries", "0") == 1
    model.troubles.append(status(504))
    assert call("--retries", "0", "--resume", "--submit") == 0
    assert [one["state"] for one in sent(site)] == ["failed", *["answered"] * 7]
    assert sent(site)[0]["status"] == 504


def test_all_attempts_are_accepted_if_the_script_goes_on_at_once(
    call: Call, model: ModelStub, folder: Path, tmp_path: Path
) -> None:
    model.troubles.extend([status(500)] * 2)
    assert call("--retries", "0") == 1
    model.troubles.append(status(500))
    assert call("--retries", "0", "--resume") == 1
    assert call("--resume") == 0
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["time"]) for one in records(folder))
    with (folder / "replies.jsonl").open("rb") as file:
        assert read_replies(file, tmp_path / "packed", n=8).records == len(records(folder)) == 11


def test_replies_can_be_left_out(call: Call, site: Contrary, folder: Path) -> None:
    assert call("--submit", "--no-replies") == 0
    assert all("replies" not in one.fields for one in posts(site))
    assert not list(folder.glob("sent-replies*"))


def test_a_site_that_does_not_know_replies_gets_the_answers_alone(
    call: Call, site: Contrary, script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    refuse(site, script, monkeypatch, 422, UNKNOWN)
    assert call("--submit") == 0
    _, refused, submitted = posts(site)
    assert "replies" in refused.fields and "replies" not in submitted.fields
    assert submitted.fields == {name: value for name, value in refused.fields.items() if name != "replies"}
    assert refused.key == submitted.key
    assert "The site does not take replies: the answers are submitted without them.\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "body", "says"),
    [
        (413, FULL, "got more. (413) --no-replies submits the answers without the replies."),
        (422, {"error": {"message": "Expected at most one record of 'replies' for an attempt, got two."}}, "got two."),
    ],
)
def test_other_refusals_of_replies_are_one_line(
    code: int, body: Any, says: str, call: Call, site: Contrary, script: ModuleType, capsys: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    refuse(site, script, monkeypatch, code, body)
    assert call("--submit") == 2
    assert says in capsys.readouterr().err.splitlines()[-1] and len(posts(site)) == 2


def refuse(site: Contrary, script: ModuleType, monkeypatch: pytest.MonkeyPatch, code: int, body: Any) -> None:
    """Make the site answer requests that have replies with an error."""
    handler = site.RequestHandlerClass
    answer = handler._send  # type: ignore[attr-defined]

    def send(self: Any, status_code: int, content: Any, headers: dict[str, str]) -> None:
        has_replies = self.command == "POST" and "replies" in site.asked[-1].fields
        answer(self, *((code, body, {}) if has_replies else (status_code, content, headers)))

    monkeypatch.setattr(handler, "_send", send)
    site.answers[SUBMISSIONS] = [{"checked": []}, {}, SENT] if code == 422 and body is UNKNOWN else [{"checked": []}]


def test_keys_are_hidden_in_replies_and_the_file_is_the_same_each_time(
    call: Call, site: Contrary, model: ModelStub, clock: PatientClock
) -> None:
    model.troubles.append(reply_with("red sk-very-secret-0123456789"))
    assert call("--submit") == 0
    first = posts(site)[-1].fields["replies"]
    assert sent(site)[0]["reply"] == "red [key]"
    site.answers[SUBMISSIONS] = [{"checked": []}, SENT]
    assert call("--submit", "--resume") == 0
    assert posts(site)[-1].fields["replies"] == first and posts(site)[-1].key == posts(site)[1].key


@pytest.mark.parametrize("state", ["failed", "cancelled", "done"])
def test_an_earlier_submission_that_was_refused_is_made_again(
    state: str, call: Call, site: Contrary, model: ModelStub
) -> None:
    before = {"id": 9, "url": f"{SUBMISSIONS}9/", "is_repeat": True}
    site.answers |= {SUBMISSIONS: [{"checked": []}, before, SENT], before["url"]: [before | {"state": state}]}
    assert call("--submit") == 0
    keys = [one.key for one in posts(site)[1:]]
    assert keys == ([keys[0]] if state == "done" else [keys[0], f"{keys[0]}-2"])


@pytest.mark.parametrize(("depth", "more"), [(9, {"reasoning_details": "[" * 9 + "]" * 9}), (600, {})])
def test_strange_fields_of_a_server_are_sent_in_a_form_that_the_site_reads(
    depth: int, more: dict[str, str], call: Call, site: Contrary, model: ModelStub
) -> None:
    nested = json.loads("[" * depth + "]" * depth)
    message = {"content": "red", "reasoning": "I look.", "reasoning_details": nested}
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": "many", "completion_tokens": 3, "cost": 1e400, "details": {"x": nested}},
        "model": "m" * 1000,
    }
    model.troubles.append(status(200, json.dumps(body).encode()))
    assert call("--submit", "--price-in", "1") == 0
    first = sent(site)[0]
    assert first["usage"] == {"completion_tokens": 3} and "cost" not in first
    assert first["reasoning"] == {"reasoning": "I look.", **more}
    assert first["served_model"] == "m" * 200 and first["finish_reason"] == "stop"


def test_a_large_reply_is_sent_whole(call: Call, site: Contrary, model: ModelStub) -> None:
    colour_site.fill(site, 1)
    model.troubles.append(reply_with("red \x1b[2J" * 1_000_000))
    assert call("--submit") == 0
    assert sent(site)[0]["reply"] == "red \x1b[2J" * 1_000_000
    assert len(posts(site)[-1].fields["replies"]) < 1_000_000
