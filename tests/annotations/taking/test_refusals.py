"""Bad or hostile posts and visits: each is refused with a clear message, and nothing is stored."""

import time

import pytest
from django.test import Client

from annotations.answering import throttle
from annotations.answering.throttle import Throttle
from annotations.models import Answer
from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"token": "x" * 43}, 403),
        ({"token": ""}, 403),
        ({"token": "question:1"}, 403),
        ({"answer": "<script>alert(1)</script>"}, 400),
        ({"answer": "zebra"}, 400),
        ({"answer": ""}, 400),
        ({"answer": "\0"}, 400),
        ({"refusal": "picture"}, 400),
        ({"answer": "", "refusal": "lazy"}, 400),
        ({"client": "1"}, 400),
        ({"client": "{" * 100}, 400),
        ({"turn": "-1"}, 400),
        ({"turn": "9" * 5000}, 400),
        ({"answer": "x" * 10_000_000}, 413),
    ],
)
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_bad_fields_are_refused(asked_one: Visitor, changed: dict[str, str], status: int, accept: str) -> None:
    sent = {**asked_one.fields(), "answer": asked_one.choices()[0], **changed}
    response = asked_one.client.post(f"{asked_one.address}answer/", sent, headers={"Accept": accept})
    assert response.status_code == status
    assert ("error" in response.json()) if accept == "application/json" else (b"<h1>" in response.content)
    assert b"<script>alert" not in response.content
    assert not Answer.objects.exists()


def test_tokens_of_other_participants_are_refused(asked_one: Visitor, shapes: Dataset) -> None:
    for other in (Visitor(asked_one.study), Visitor(study_of(shapes))):
        other.to_questions()
        mine = {**asked_one.fields(), "token": other.fields()["token"], "answer": asked_one.choices()[0]}
        assert asked_one.client.post(f"{asked_one.address}answer/", mine).status_code == 403
    assert not Answer.objects.exists()


@pytest.mark.parametrize("token", ["", "x", "stage:comment"])
def test_a_stage_cannot_be_skipped(asked_one: Visitor, token: str) -> None:
    assert asked_one.send("on", token=token).status_code == 400
    assert asked_one.participant.stage == "questions"


def test_a_page_that_is_sent_twice_moves_one_stage(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    assert [visitor.send("on").status_code for _ in range(2)] == [303, 303]
    assert visitor.participant.stage == "palette"


@pytest.mark.parametrize("rest", ["nothing/", "%00/", "{code}/nothing/", "{code}/%00/", "{code}/x/answer/"])
def test_strangers_get_404(shapes: Dataset, rest: str) -> None:
    response = Client().get("/s/" + rest.format(code=study_of(shapes).code))
    assert response.status_code in (404, 405)


def test_scripts_in_markdown_are_removed(shapes: Dataset) -> None:
    hostile = "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))\n\n**fine**"
    page = Visitor(study_of(shapes, consent=hostile)).look()
    assert "alert(1)</" not in page and "onerror" not in page and "javascript:" not in page
    assert "<strong>fine</strong>" in page


@pytest.mark.parametrize(
    ("verb", "rest"), [("post", ""), ("get", "on/"), ("get", "answer/"), ("put", ""), ("post", "pair/0/")]
)
def test_a_wrong_verb_is_refused(asked_one: Visitor, verb: str, rest: str) -> None:
    assert getattr(asked_one.client, verb)(asked_one.address + rest).status_code == 405


@pytest.mark.parametrize("rest", ["pair/12/", "pair/" + "9" * 400 + "/", "?seen=0", "?seen=" + "9" * 5000, "?seen=²"])
def test_pages_of_items_that_were_not_given_get_404(asked_one: Visitor, rest: str) -> None:
    assert asked_one.client.get(asked_one.address + rest).status_code == 404


def test_a_session_with_too_many_requests_must_wait_and_others_need_not(
    shapes: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(shapes)
    hasty, other = Visitor(study), Visitor(study)
    monkeypatch.setattr(throttle, "sessions", Throttle(2, 60.0))
    answers = [hasty.client.get(hasty.address) for _ in range(3)]
    assert [response.status_code for response in answers] == [200, 200, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 60 and "Wait a moment" in answers[2].content.decode()
    assert other.client.get(other.address).status_code == 200


def test_a_throttle_starts_again_after_its_span() -> None:
    throttled = Throttle(1, 2.0)
    assert throttled.wait("one") == 0.0 and throttled.wait("other") == 0.0
    wait = throttled.wait("one")
    assert 0 < wait <= 2.0
    time.sleep(wait)
    assert throttled.wait("one") == 0.0
