"""Hostile participants: no row of any table changes, and they get a clear 4xx response."""

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.test import Client

from annotations.answering import question_tokens
from annotations.models import Answer, Participant, Study
from generation.models import Dataset
from tests.annotations.visitors import Visitor, answer_pairs, right_answer, study_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
FORM = "application/x-www-form-urlencoded"
SCRIPT = "<script>alert(1)</script>"
HUGE = "x" * 10_000_000
Rows = dict[str, list[Any]]


class Visitors(NamedTuple):
    """The hostile visitor at a question, another visitor of the study, and a visitor of another study."""

    me: Visitor
    other: Visitor
    stranger: Visitor
    mine: dict[str, str]
    theirs: dict[str, str]
    strangers: dict[str, str]
    answer: str

    def post(self, changed: dict[str, Any], *, address: str = "", part: str = "answer", **how: Any) -> Any:
        """Post an answer to the question on the page with some fields changed; return the response."""
        sent = {**self.mine, "answer": self.answer, **changed}
        return self.me.client.post(f"{address or self.me.address}{part}/", sent, **how)


Attack = Callable[[Visitors], Any]


def read_all_rows() -> Rows:
    """Return all rows of all tables of the app."""
    models = apps.get_app_config("annotations").get_models(include_auto_created=True)
    return {model._meta.label: list(model._base_manager.order_by("pk").values_list()) for model in models}


@pytest.fixture
def scene(shapes: Dataset) -> Visitors:
    """Give three visitors, each of whom has answered one question and is at the next."""
    options = {"practice": 1, "practice_right": 0, "consent": "May we?"}
    studies = [study_of(shapes, questions=6, **options) for _ in range(2)]
    visitors = [
        Visitor(studies[0], "?PROLIFIC_PID=me"),
        Visitor(studies[0], "?PROLIFIC_PID=other"),
        Visitor(studies[1]),
    ]
    for visitor in visitors:
        visitor.to_questions()
        visitor.answer()  # this is a practice question
        visitor.look()
        visitor.answer()
    me, other, stranger = visitors
    return Visitors(me, other, stranger, *(one.fields() for one in visitors), me.choices()[0])


def body(text: str, kind: str = FORM, **more: Any) -> Attack:
    return lambda scene: scene.me.client.post(f"{scene.me.address}answer/", text, content_type=kind, **more)


def field(name: str, value: str) -> Attack:
    return lambda scene: scene.post({name: value})


def at(address: Callable[[Visitors], str], part: str = "answer") -> Attack:
    return lambda scene: scene.post({}, address=address(scene), part=part)


def get(path: Callable[[Visitors], str]) -> Attack:
    return lambda scene: scene.me.client.get(path(scene))


def old_client(scene: Visitors) -> str:
    """Return the client id of an earlier answer."""
    rows = Answer.objects.filter(participant=scene.me.participant)
    return str(rows.values_list("client", flat=True)[0])


ATTACKS: dict[str, tuple[int, Attack]] = {
    # Tokens
    "a token made up": (403, field("token", "x" * 43)),
    "a token that isn't ASCII": (403, field("token", "ключ")),
    "a token with a null": (403, field("token", "\0")),
    "a token longer than any": (403, field("token", "A" * 15_000)),
    "what a token stands for": (403, field("token", "question:1")),
    "no token": (403, field("token", "")),
    "the token of another's same page": (403, lambda scene: scene.post({"token": scene.theirs["token"]})),
    "the token of another study": (403, lambda scene: scene.post({"token": scene.strangers["token"]})),
    "the token of a stage": (
        403,
        lambda scene: scene.post({"token": question_tokens.token_of(scene.me.participant, "stage:questions")}),
    ),
    "a token signed for the test link": (
        403,
        lambda scene: scene.post({"token": question_tokens.test_token(scene.me.study)}),
    ),
    "a question's token for a stage": (400, lambda scene: scene.post({}, part="on")),
    "the token of a later stage, guessed": (400, lambda scene: scene.post({"token": "stage:comment"}, part="on")),
    "another's token of a stage": (
        400,
        lambda scene: scene.post(
            {"token": question_tokens.token_of(scene.other.participant, "stage:comment")}, part="on"
        ),
    ),
    # Addresses
    "another's address": (403, at(lambda scene: scene.other.address)),
    "an address made up": (404, at(lambda scene: f"/s/{scene.me.study.code}/{'A' * 22}/")),
    "an own secret in another study": (404, at(lambda scene: scene.me.address.replace(*_codes(scene)))),
    "a study made up": (404, get(lambda scene: "/s/AAAAAAAAAA/?PROLIFIC_PID=me")),
    "an address with a null": (404, get(lambda scene: scene.me.address[:-1] + "%00/")),
    "another's picture": (
        404,
        get(lambda scene: f"{scene.me.address}picture/{scene.theirs['token']}/"),
    ),
    "a picture of another study": (404, get(lambda scene: f"{scene.me.address}picture/{scene.strangers['token']}/")),
    "feedback on what is no practice": (404, get(lambda scene: f"{scene.me.address}?seen=1")),
    "a name that is taken": (409, get(lambda scene: f"/s/{scene.me.study.code}/?PROLIFIC_PID=other&SESSION_ID=x")),
    "a name with a line's end": (400, get(lambda scene: f"/s/{scene.me.study.code}/?PROLIFIC_PID=a%0ab")),
    "a name longer than any": (400, get(lambda scene: f"/s/{scene.me.study.code}/?PROLIFIC_PID={'x' * 7000}")),
    # Answers
    "an answer outside the vocabulary": (400, field("answer", "zebra")),
    "an answer in capitals": (400, lambda scene: scene.post({"answer": scene.answer.upper() + " "})),
    "a script as an answer": (400, field("answer", SCRIPT)),
    "an answer to another kind of question": (400, field("answer", "7 colours")),
    "no answer": (400, field("answer", "")),
    "a null as an answer": (400, field("answer", "\0")),
    "an answer and a reason against": (400, field("refusal", "unclear")),
    "a reason that is none": (400, lambda scene: scene.post({"answer": "", "refusal": "lazy"})),
    "a script as a reason": (400, lambda scene: scene.post({"answer": "", "refusal": SCRIPT})),
    "a client id that is none": (400, field("client", SCRIPT)),
    "no client id": (400, field("client", "")),
    "the client id of another answer": (403, lambda scene: scene.post({"client": old_client(scene)})),
    "a turn below nought": (400, field("turn", "-1")),
    "a turn beyond all": (400, field("turn", "1001")),
    "a script as a turn": (400, field("turn", SCRIPT)),
    # Bodies
    "10 MB of an answer": (413, field("answer", HUGE)),
    "10 MB of a comment": (413, lambda scene: scene.post({"comment": HUGE}, part="on")),
    "10 MB of nothing known": (413, body(HUGE, "application/octet-stream")),
    "10 MB of JSON": (413, body(f'"{HUGE}"', "application/json")),
    "a file of 10 MB": (413, body(HUGE, "multipart/form-data; boundary=x")),
    "a length that is none": (413, body("x", CONTENT_LENGTH="many")),
    "a body with fields beyond counting": (400, body("&".join("a" for _ in range(5000)))),
    "a form without its boundary": (400, body("x", "multipart/form-data")),
    "a form that breaks off": (403, body("--x\r\nContent-Disp", "multipart/form-data; boundary=x")),
    "JSON": (403, body('{"token": "x"}', "application/json")),
    "letters of another alphabet": (400, body("token=x", f"{FORM}; charset=utf-16")),
    "bytes that are no text": (403, body("token=%ff%fe&answer=%ff")),
    # Verbs
    "reading what is written": (405, get(lambda scene: f"{scene.me.address}answer/")),
    "deleting oneself": (405, lambda scene: scene.me.client.delete(scene.me.address)),
    "putting a page": (405, lambda scene: scene.me.client.put(scene.me.address, "x")),
    "writing a picture": (
        405,
        lambda scene: scene.me.client.post(f"{scene.me.address}picture/{scene.mine['token']}/"),
    ),
}


def _codes(scene: Visitors) -> tuple[str, str]:
    return scene.me.study.code, scene.stranger.study.code


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_every_attack_is_refused_and_changes_no_row_of_any_table(scene: Visitors, accept: str) -> None:
    scene.me.client.defaults["HTTP_ACCEPT"] = accept
    before = read_all_rows()
    wrong: list[str] = []
    for name, (status, attack) in ATTACKS.items():
        response = attack(scene)
        wrong += [f"{name}: {trouble}" for trouble in find_problems(response, status)]
        assert read_all_rows() == before, name
    assert wrong == []


def find_problems(response: Any, status: int) -> list[str]:
    """Return the problems of a response that should be a refusal."""
    said = response.content.decode()
    is_json = response["Content-Type"] == "application/json"
    held = {
        f"expected {status}, got {response.status_code}": response.status_code == status,
        "it may be kept": response["Cache-Control"] == "no-store",
        "its address may be sent on": response["Referrer-Policy"] == "no-referrer",
        "it says what was sent, or more than a page": SCRIPT not in said and len(said) < 20_000,
        "it says nothing": status == 405 or (bool(response.json()["error"]) if is_json else "<h1" in said),
    }
    return [trouble for trouble, holds in held.items() if not holds]


# Repeated and reordered posts


def test_the_same_post_many_times_is_one_answer(scene: Visitors) -> None:
    assert scene.post({}).status_code == 303
    before = read_all_rows()
    assert [scene.post({}).status_code for _ in range(3)] == [303] * 3
    other = next(choice for choice in scene.me.choices() if choice != scene.answer)
    assert scene.post({"answer": other}).status_code == 303  # the client id is known, so the first answer stays
    assert read_all_rows() == before


def test_a_finished_stage_cannot_be_repeated(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    consent = visitor.fields()
    visitor.go_on()
    colours = {**visitor.fields(), **answer_pairs(visitor.participant, wrong=1)}
    visitor.go_on(**answer_pairs(visitor.participant, wrong=1))
    visitor.to_questions()
    before = read_all_rows()
    for form in (consent, colours, {**colours, **answer_pairs(visitor.participant)}):
        assert visitor.client.post(f"{visitor.address}on/", form).status_code == 303
    assert read_all_rows() == before


def test_practice_is_answered_in_order_and_each_question_once(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, practice=3, practice_right=3))
    visitor.to_questions()
    first = {**visitor.fields(), "answer": visitor.choices()[0]}
    visitor.answer(first["answer"])
    before = read_all_rows()
    person = visitor.participant
    for number in (2, 3, 5):  # the participant has not received these tokens; the test signs them
        ahead = {**first, "client": str(uuid.uuid4()), "token": question_tokens.token_of(person, f"practice:{number}")}
        assert visitor.client.post(f"{visitor.address}answer/", ahead).status_code == 400
    right = {**first, "client": str(uuid.uuid4()), "answer": right_answer_to(visitor, first)}
    assert visitor.client.post(f"{visitor.address}answer/", right).status_code < 500  # known from the feedback
    assert read_all_rows() == before


def right_answer_to(visitor: Visitor, form: dict[str, str]) -> str:
    """Return the right answer to the question of a form, and put the form on the visitor's page."""
    visitor.page = "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in form.items())
    return right_answer(visitor)


def test_screened_out_participants_cannot_answer(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, palette=Study.Palette.SCREEN_OUT))
    visitor.look()
    visitor.go_on()
    visitor.go_on(**answer_pairs(visitor.participant, wrong=12))
    before = read_all_rows()
    person = visitor.participant
    for what in ("question:1", "check:0", "attention:0", "practice:0", "stage:questions", "stage:comment"):
        for part in ("answer", "on"):
            sent = {"token": question_tokens.token_of(person, what), "client": str(uuid.uuid4()), "answer": "yes"}
            response = visitor.client.post(f"{visitor.address}{part}/", sent)
            is_late = what == "stage:comment" and part == "on"  # a valid token, but only the site can sign it
            assert response.status_code == 303 if is_late else 400 <= response.status_code < 500
    assert read_all_rows() == before


def test_participants_see_no_pages_for_researchers(scene: Visitors) -> None:
    code = scene.me.study.code
    before = read_all_rows()
    for part in ("", "edit/", "results/", "answers.csv", "answers.jsonl", "people/", "try/"):
        response = scene.me.client.get(f"/studies/{code}/{part}")
        assert response.status_code in (302, 404), part
        assert code not in response.get("Location", "").replace(f"/studies/{code}", "")
    for part in ("open/", "close/", "people/1/exclude/", "people/1/take-back/", "people/1/erase/"):
        assert scene.me.client.post(f"/studies/{code}/{part}", {"confirm": "1", "reason": "x"}).status_code in (
            302,
            404,
        )
    assert read_all_rows() == before


def test_answers_of_others_do_not_change_a_page(scene: Visitors) -> None:
    """Only the client id differs between two pages, because each page gets a new one."""

    def page() -> str:
        found = scene.me.look()
        return found.replace(scene.me.fields()["client"], "")

    before = page()
    for text in scene.me.choices()[:2]:
        visitor = Visitor(scene.me.study)
        visitor.to_questions()
        while visitor.choices():
            visitor.answer(text if text in visitor.choices() else None)
            visitor.look()
    assert page() == before


def test_a_flood_of_first_visits_makes_only_participants(shapes: Dataset) -> None:
    study = study_of(shapes)
    before = {label: rows for label, rows in read_all_rows().items() if label != "annotations.Participant"}
    for number in range(50):
        assert Client().get(f"/s/{study.code}/?{urlencode({'PROLIFIC_PID': number})}").status_code == 303
    after = {label: rows for label, rows in read_all_rows().items() if label != "annotations.Participant"}
    assert after == before
    assert Participant.objects.count() == 50
