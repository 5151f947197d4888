"""Questions that the model's server refuses do not end the run; settings that it refuses end it and are named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.asking import colour_site
from tests.asking.conftest import Call, PatientClock, answers, arguments, records, truth
from tests.asking.model_stub import ModelStub, Trouble, reply_with, status
from tests.webapp.contrary import Contrary


def refusal(number: int, message: str, **more: Any) -> Trouble:
    return status(number, {"error": {"message": message, **more}})


REFUSALS: dict[str, Trouble] = {
    "bad request": refusal(400, "The image could not be decoded."),
    "content filter": refusal(400, "Filtered.", code="content_filter"),
    "moderation": refusal(403, "Your input was flagged.", metadata={"reasons": ["violence"]}),
    "too large": status(413, b"<html><h1>413 Request Entity Too Large</h1></html>"),
    "unprocessable": status(422, {"detail": "The picture has 0 pixels."}),
    "context length": refusal(400, "The maximum context length is 2048 tokens.", code="context_length_exceeded"),
    "legal": status(451, b"not here"),
    "inside a reply": status(200, {"error": {"code": 400, "message": "It was flagged."}}),
    "inside a reply, by name": status(200, {"error": {"type": "invalid_request_error", "message": "No."}}),
    "inside a choice": status(200, {"choices": [{"error": {"code": "403", "message": "Flagged."}}]}),
    "a limit that is too large for one question": refusal(400, "max_tokens is too large: the prompt has 9 tokens."),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_question_that_the_server_refuses_does_not_end_the_run(
    name: str, call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend([None, None, REFUSALS[name]])
    assert call() == 0
    assert answers(folder) == [*truth(8)[:2], None, *truth(8)[3:]]
    lines = records(folder)
    assert [line["state"] for line in lines] == ["answered"] * 2 + ["refused"] + ["answered"] * 5 and lines[2]["error"]
    out, err = capsys.readouterr()
    assert f"  refused 1: {lines[2]['error'][:20]}" in out and "Question 2 refused" in err
    assert call("--resume") == 0 and len(model.asked) == 8  # the refusal is known


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("count", [1, 2])
def test_the_first_questions_may_be_refused(
    count: int, name: str, call: Call, model: ModelStub, folder: Path, site: Contrary
) -> None:
    model.troubles.extend([REFUSALS[name]] * count)
    is_setting = name.startswith("a limit")
    assert call() == (2 if is_setting else 0)
    if not is_setting:
        assert answers(folder).count(None) <= count
        assert [line["question"] for line in records(folder)][-1] < count or "content filter" in name


def test_a_question_that_is_refused_first_is_asked_again_at_the_end(call: Call, model: ModelStub, folder: Path) -> None:
    model.troubles.extend([refusal(400, "Bad image."), *[None] * 7, refusal(400, "Bad image.")])
    assert call() == 0
    assert [line["question"] for line in records(folder)] == [*range(8), 0]
    assert [line["state"] for line in records(folder)] == ["failed", *["answered"] * 7, "refused"]


def test_the_variants_of_one_question_count_as_one(call: Call, model: ModelStub, folder: Path) -> None:
    model.troubles.extend([refusal(400, "Bad image.")] * 3)  # the first question has three possible answers
    assert call("--form", "circular") == 0 and answers(folder) == truth(8)


def test_a_run_of_one_question_that_is_refused_says_why(
    call: Call, site: Contrary, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    colour_site.fill(site, 1)
    model.troubles.append(refusal(400, "No such model."))
    assert call() == 2 and "refuses the request (400): No such model." in capsys.readouterr().err


def test_a_server_that_has_answered_before_may_refuse_the_first_questions_of_the_next_run(
    call: Call, model: ModelStub, folder: Path
) -> None:
    assert call("--sample", "2") == 0
    model.troubles.extend([refusal(400, "Bad image.")] * 4)
    assert call("--resume") == 0
    assert [line["state"] for line in records(folder)] == ["answered"] * 2 + ["refused"] * 4 + ["answered"] * 2


@pytest.mark.parametrize(("options", "most"), [((), 20), (("--stop-after", "5"), 5)])
def test_a_server_that_refuses_many_questions_in_a_row_ends_the_run_and_none_is_given_up(
    options: tuple[str, ...], most: int, call: Call, site: Contrary, model: ModelStub, folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    colour_site.fill(site, 40)
    model.troubles.extend([None, None, *[refusal(400, "The key was revoked.")] * most])
    assert call(*options) == 1
    assert f"got {most} failed or refused requests in a row, the last one: The key was" in capsys.readouterr().err
    assert len(model.asked) == 2 + most
    assert call("--resume", *options) == 0  # the server works again: all that it refused is asked once more
    assert answers(folder) == truth(40)


def test_refusals_and_failures_count_together(call: Call, site: Contrary, model: ModelStub) -> None:
    colour_site.fill(site, 40)
    model.troubles.extend([None, *[status(500), refusal(403, "No.")] * 20])
    assert call("--retries", "0") == 1 and len(model.asked) == 21


def test_refusals_that_replies_follow_are_kept(call: Call, site: Contrary, model: ModelStub, folder: Path) -> None:
    colour_site.fill(site, 30)
    model.troubles.extend([None, refusal(400, "No.")] * 15)
    assert call() == 0
    assert call("--resume") == 0
    assert len(model.asked) == 31  # the last question was refused, and no reply had followed
    assert answers(folder)[-1] == truth(30)[-1]


@pytest.mark.parametrize("trouble", [
    {"error": {"code": 429, "message": "Limited."}},
    {"error": {"code": "rate_limit_exceeded", "message": "Limited."}},
    {"error": {"type": "overloaded_error", "message": "Busy."}},
    {"error": {"status": "RESOURCE_EXHAUSTED", "message": "Busy."}},
    {"choices": [{"error": {"code": 503, "message": "Busy."}, "message": {"content": "red"}}]},
    [{"error": {"code": 429, "message": "Limited."}}],
])  # fmt: skip
def test_an_error_inside_a_reply_makes_requests_fewer(
    trouble: Any, script: Any, site: Contrary, model: ModelStub, folder: Path, clock: PatientClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    limits, leave = [], script.RequestGate.leave

    def watch(gate: Any, *args: Any, **kwargs: Any) -> None:
        leave(gate, *args, **kwargs)
        limits.append(gate.limit)

    monkeypatch.setattr(script.RequestGate, "leave", watch)
    model.troubles.append(status(200, trouble))
    assert script.main([*arguments(site, model, folder), "--concurrency", "4"], clock) == 0
    assert min(limits) == pytest.approx(2.8) and answers(folder) == truth(8)


@pytest.mark.parametrize("trouble", [
    refusal(402, "Pay first."), refusal(401, "Wrong key."), refusal(404, "No such model."),
    status(200, {"error": {"code": 401, "message": "Wrong key."}}),
    status(200, {"error": {"code": "insufficient_quota", "message": "Pay first."}}),
    status(400, {"error": {"code": "insufficient_quota", "message": "Pay first."}}),
])  # fmt: skip
def test_an_error_that_every_request_would_get_ends_the_run_at_once(
    trouble: Trouble, call: Call, model: ModelStub
) -> None:
    model.troubles.extend([None, trouble])
    assert call() == 2 and len(model.asked) == 2


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirection_names_its_target(code: int, call: Call, model: ModelStub, capsys: Any) -> None:
    model.troubles.append(status(code, b"", {"Location": "https://models.example.org/v2/chat/completions"}))
    assert call() == 2
    assert f"({code}): leads to https://models.example.org/v2/chat/completions" in capsys.readouterr().err
    model.troubles.append(status(code, b"", {"Location": "/v2/chat/completions"}))
    assert call("--resume") == 2
    assert f"leads to {model.address.removesuffix('/v1')}/v2/chat/completions" in capsys.readouterr().err


TOO_LARGE = [
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192].",
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens.",
    "'max_tokens' or 'max_completion_tokens' is too large: 100000. The context has 4096 tokens.",
    "`max_tokens` must be less than or equal to `8192`.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 90 `inputs` tokens and 100000 `max_new_tokens`.",
    "A maxOutputTokens value of 100000 is not in the supported range from 1 to 65537.",
    "You requested 100904 tokens (904 in the messages, 100000 in the completion): the maximum is 8192.",
    "max_tokens should be at most 4096.",
    "Unsupported value: 'max_tokens' exceeds the limit of this model.",
]


@pytest.mark.parametrize("said", TOO_LARGE)
def test_a_limit_that_is_too_large_stops_the_run_and_is_named(
    said: str, call: Call, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend([refusal(400, said, param="max_tokens")] * 3)
    assert call("--max-tokens", "100000") == 2
    assert "What to do: set another limit with --max-tokens." in capsys.readouterr().err
    assert [one.body["max_tokens"] for one in model.asked] == [100_000]


UNKNOWN = [
    "Unsupported parameter: '{}' is not supported with this model.",
    "Unrecognized request argument supplied: {}",
    "Unknown parameter: '{}'.",
    "body.{}: Extra inputs are not permitted",
    "property '{}' is unsupported",
    'Invalid JSON payload received. Unknown name "{}": Cannot find field.',
    "This provider does not support parameters: ['{}']",
    "`{}` is deprecated for this model.",
    "{} is not allowed",
]


@pytest.mark.parametrize("said", UNKNOWN)
def test_an_unknown_limit_has_another_name_and_never_none(
    said: str, call: Call, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend([refusal(400, said.format("max_tokens")), refusal(400, said.format("max_completion_tokens"))])
    assert call("--max-tokens", "50") == 2
    assert [(one.body.get("max_tokens"), one.body.get("max_completion_tokens")) for one in model.asked] == [
        (50, None),
        (None, 50),
    ]
    assert "--max-tokens" in capsys.readouterr().err


@pytest.mark.parametrize("said", [*UNKNOWN, "'{}' does not support 0.5, only the default (1)", "{} must be positive"])
@pytest.mark.parametrize(("options", "name"), [
    (("--temperature", "0.5"), "temperature"), (("--temperature", "0"), "temperature"), (("--seed", "5"), "seed"),
    (("--more", '{"top_p": 0.5}'), "top_p"),
])  # fmt: skip
def test_what_the_user_set_is_sent_or_the_run_stops(
    options: tuple[str, str], name: str, said: str, call: Call, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.append(refusal(400, said.format(name)))
    assert call(*options) == 2 and len(model.asked) == 1
    assert f"What to do: {'change top_p in --more' if name == 'top_p' else f'leave out {options[0]}'}" in (
        capsys.readouterr().err
    )


def test_a_temperature_that_nobody_set_is_left_out(call: Call, model: ModelStub, folder: Path) -> None:
    model.troubles.append(refusal(400, "`temperature` must be strictly positive"))
    assert call() == 0 and answers(folder) == truth(8)
    assert ["temperature" in one.body for one in model.asked] == [True] + [False] * 8


@pytest.mark.parametrize(("trouble", "reason"), [
    (status(500, b"The disk is full."), "Question 0 failed (500): The disk is full."),
    (status(200, b"Sign in"), "Question 0 failed (200): expected a chat completion, got: Sign in"),
    (status(429), "Question 0 failed (429): Not now."),
])  # fmt: skip
def test_the_first_failure_is_printed_at_once_and_then_seldom(
    trouble: Trouble, reason: str, call: Call, site: Contrary, model: ModelStub, clock: PatientClock,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    said: list[str] = []
    wait: Callable[[float], None] = clock.wait

    def waited(seconds: float) -> None:
        said.append(capsys.readouterr().err)
        wait(seconds)

    monkeypatch.setattr(clock, "wait", waited)
    model.troubles.extend([trouble] * 12)
    assert call("--retries", "20") == 0
    assert said[0].splitlines()[-1] == reason  # before the first pause
    every = "".join(said) + capsys.readouterr().err
    assert every.count(reason) == 2 and f"{reason} (10 times so far)" in every


def test_a_reply_with_an_error_and_an_answer_is_an_error(call: Call, model: ModelStub, folder: Path) -> None:
    body = {"error": {"message": "Broke off."}, "choices": [{"message": {"content": "red"}, "finish_reason": "stop"}]}
    model.troubles.extend([status(200, body), reply_with("red")])
    assert call() == 0
    assert [line["state"] for line in records(folder)][:2] == ["failed", "answered"]
