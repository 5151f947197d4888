"""Taking part, without scripts: from the platform's link to the code at the end."""

import re
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from annotations import asked, assign, flow, throttle, tokens
from annotations.models import Answer, EasyAnswer, Participant, Slot, Study
from annotations.sitting import QUESTION, Sitting
from annotations.throttle import Throttle
from generation.models import Dataset, Question
from tests.annotations.visitors import Visitor, right_answer, study_of, told_apart, wrong_answer

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PROLIFIC = "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1"


def test_somebody_goes_from_the_link_to_the_code(shapes: Dataset) -> None:
    study = study_of(shapes, questions=6, per_session=4, consent="**Yes?**", instructions="Look *well*.")
    visitor = Visitor(study, PROLIFIC)
    assert "<strong>Yes?</strong>" in visitor.look() and visitor.address in visitor.page
    assert "pair-11" in visitor.go_on()
    assert "Look <em>well</em>." in visitor.go_on(**told_apart(visitor.participant))
    assert "1 of 4" in visitor.go_on()
    for number in (2, 3, 4):
        assert f"{number} of 4" in visitor.answer()
    assert "One last thing" in visitor.answer()
    assert "DONE-1" in visitor.go_on(comment="Nice.")
    assert "DONE-1" in visitor.look()
    person = visitor.participant
    assert (person.stage, person.comment, person.mistaken) == ("completed", "Nice.", 0)
    assert person.finished is not None
    assert Answer.objects.counted().count() == 4
    assert Slot.objects.filter(answered=True, participant=person).count() == 4


def test_the_address_has_no_name_and_the_page_sends_none_on(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes), PROLIFIC)
    assert visitor.joined.status_code == 303
    person = visitor.participant
    assert (person.identity, person.session, person.study_there) == ("p1", "v1", "s1")
    assert not any(f"/{name}" in visitor.address or "?" in visitor.address for name in ("p1", "v1", "s1"))
    for response in (visitor.joined, visitor.client.get(visitor.address), visitor.client.get("/s/nothing/")):
        assert response["Cache-Control"] == "no-store" and response["Referrer-Policy"] == "no-referrer"
        assert not response.cookies


def test_the_same_session_goes_on_where_it_was(shapes: Dataset) -> None:
    study = study_of(shapes)
    first = Visitor(study, PROLIFIC)
    first.to_questions()
    first.answer()
    elsewhere = Visitor(study, PROLIFIC)
    assert elsewhere.address == first.address
    assert "2 of 6" in elsewhere.look()
    assert Participant.objects.count() == 1


@pytest.mark.parametrize("again", ["?PROLIFIC_PID=p1", "?PROLIFIC_PID=p1&SESSION_ID=v2"])
def test_a_bare_name_opens_one_session_and_is_sent_to_the_own_link(shapes: Dataset, again: str) -> None:
    study = study_of(shapes)
    assert Visitor(study, "?PROLIFIC_PID=p1").joined.status_code == 303
    second = Visitor(study, again).joined
    assert second.status_code == 409
    assert "go on with your own link" in second.content.decode() and "Location" not in second
    assert Participant.objects.count() == 1


def test_whoever_has_no_name_is_somebody_new_each_time(shapes: Dataset) -> None:
    study = study_of(shapes)
    one, other = Visitor(study), Visitor(study)
    assert one.address != other.address
    assert f"http://testserver{one.address}" in one.look()


def test_a_reload_shows_the_same_question(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    question = visitor.asked()
    visitor.look()
    assert visitor.asked() == question


def test_the_same_form_sent_twice_is_one_answer(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    choice = visitor.choices()[0]
    assert [visitor.send("answer", answer=choice).status_code for _ in range(2)] == [303, 303]
    assert Answer.objects.count() == 1
    assert "2 of 6" in visitor.look()


def test_undo_asks_once_more_and_the_new_answer_stands(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    question, (first, second) = visitor.asked(), visitor.choices()[:2]
    visitor.answer(first)
    following = visitor.asked()
    visitor.look("?again=1")
    assert visitor.asked() == question and f"You answered “{first}”" in visitor.page
    visitor.answer(second)
    assert visitor.asked() == following
    answers = list(Answer.objects.order_by("pk").values_list("text", "turn", "superseded"))
    assert answers == [(first, 0, True), (second, 1, False)]


def test_who_cannot_answer_says_why(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    assert visitor.send("answer", refusal="unclear", visible="1200", idle="30").status_code == 303
    stored = Answer.objects.get()
    assert (stored.text, stored.refusal, stored.visible, stored.idle) == ("", "unclear", 1200, 30)


def test_who_mistakes_colours_leaves_where_the_study_says_so(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, palette=Study.Palette.SCREEN_OUT))
    visitor.look()
    visitor.go_on()
    assert "OUT-1" in visitor.go_on(**told_apart(visitor.participant, wrong=3))
    assert (visitor.participant.stage, visitor.participant.mistaken) == ("screened-out", 3)


def test_mistaken_colours_are_else_only_recorded(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    visitor.go_on()
    assert "How it works" in visitor.go_on(**told_apart(visitor.participant, wrong=3))
    assert visitor.participant.mistaken == 3


def test_half_a_palette_check_is_none(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    visitor.go_on()
    assert visitor.send("on", **{"pair-0": "same"}).status_code == 400
    assert (visitor.participant.stage, visitor.participant.mistaken) == ("palette", None)


def test_practice_says_what_is_right_and_lets_go_on(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, practice=2, practice_right=1))
    visitor.to_questions()
    wrong, right = wrong_answer(visitor), right_answer(visitor)
    assert f"You said “{wrong}”. Right is “{right}”." in visitor.answer(wrong)
    visitor.look()
    assert "2 of 2" in visitor.page
    assert "is right." in visitor.answer(right_answer(visitor))
    assert "1 of 2 were right" in visitor.page
    assert visitor.participant.stage == "questions"
    assert "1 of 6" in visitor.look()
    assert Answer.objects.count() == 0


def test_two_failed_tries_at_practice_end_it(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, practice=2, practice_right=2))
    visitor.to_questions()
    asked_for = []
    for expected in ("", "try once more", "", "second try"):
        asked_for.append(visitor.fields()["token"])
        assert expected in visitor.answer(wrong_answer(visitor))
        visitor.look()
    assert len(set(asked_for)) == 4
    assert "OUT-1" in visitor.page
    person = visitor.participant
    assert (person.stage, person.tries, person.easy_answers.count()) == ("screened-out", 2, 4)


def test_checks_and_attention_items_stand_between_the_questions(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, checks=2, attention=1, questions=4))
    visitor.to_questions()
    for number in range(1, 8):
        assert f"{number} of 7" in visitor.page
        wanted = re.search("please press “(.*?)”", visitor.asked())
        visitor.answer(wanted[1] if wanted else None)
    assert "One last thing" in visitor.page
    kinds = list(visitor.participant.easy_answers.order_by("kind", "number").values_list("kind", "number"))
    assert kinds == [("attention", 0), ("check", 0), ("check", 1)]
    assert EasyAnswer.objects.get(kind="attention").is_right
    assert Answer.objects.count() == 4


def test_who_finds_nothing_left_gets_the_full_code(shapes: Dataset) -> None:
    study = study_of(shapes, questions=2, per_question=1)
    late, early = Visitor(study), Visitor(study)
    early.to_questions()  # has the last question ahead
    assert "FULL-1" in late.to_questions()
    assert late.participant.stage == "full" and late.participant.finished is not None
    assert "FULL-1" in Visitor(study).look()


def test_who_answered_something_completes_when_nothing_is_left(shapes: Dataset) -> None:
    study = study_of(shapes, questions=3, per_question=1)
    early, late = Visitor(study), Visitor(study)
    early.to_questions()
    late.to_questions()
    assert "One last thing" in late.answer()
    early.answer()
    assert "One last thing" in early.answer()


def test_a_study_that_is_not_open_takes_in_nobody(shapes: Dataset) -> None:
    study = study_of(shapes)
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    response = Visitor(study).joined
    assert response.status_code == 400 and "This study is closed" in response.content.decode()
    assert not Participant.objects.exists()


def test_https_addresses_become_links_and_others_codes(shapes: Dataset) -> None:
    for code, shown in (("https://example.org/?cc=1", '<a class="button" href="https'), ("javascript:1", "<code>")):
        study = study_of(shapes, full=code)
        study.slots.all().delete()
        page = Visitor(study).look()
        assert shown in page and 'href="javascript' not in page


def test_what_somebody_was_given_at_the_end_stays_theirs_whatever_becomes_of_the_study(shapes: Dataset) -> None:
    study = study_of(shapes, questions=1, per_question=1)
    visitor = Visitor(study, PROLIFIC)
    visitor.to_questions()
    visitor.answer()
    assert "DONE-1" in visitor.go_on(comment="")
    Study.objects.filter(pk=study.pk).update(completed="DONE-2", state=Study.State.CLOSED)
    assert "DONE-1" in visitor.look() and "DONE-2" not in visitor.page
    assert "DONE-1" in Visitor(study, PROLIFIC).look()


def test_who_comes_by_the_test_link_never_counts(shapes: Dataset) -> None:
    study = study_of(shapes, questions=4, per_question=1)
    visitor = Visitor(study, f"?test={tokens.test_token(study)}")
    assert "Test: nothing" in visitor.to_questions()
    for _ in range(4):
        visitor.answer()
    assert "One last thing" in visitor.page
    assert Answer.objects.count() == Answer.objects.current().count() == 4
    assert not Answer.objects.valid().exists() and not Answer.objects.surplus().exists()
    assert not Slot.objects.exclude(participant=None).exists()
    real = Visitor(study)
    real.to_questions()
    real.answer()
    assert Answer.objects.counted().count() == 1


def test_a_forged_test_link_is_an_ordinary_visit(shapes: Dataset) -> None:
    assert not Visitor(study_of(shapes), "?test=yes").participant.is_test


def test_stopping_says_what_it_means_and_changes_nothing(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    visitor.answer()
    assert "no completion code" in visitor.look("?stop=1") and "1 of 6" in visitor.page
    assert "2 of 6" in visitor.look()


def test_the_picture_is_larger_when_asked(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    assert "zoom-2" not in visitor.to_questions()
    assert "zoom-4" in visitor.look("?zoom=4")
    found = re.search(r'<img src="([^"]+)"', visitor.page)
    assert found is not None
    response = visitor.client.get(found[1])
    assert response["Content-Type"] == "image/png" and response["Cache-Control"].startswith("private")
    assert response.content[:4] == b"\x89PNG"
    assert Client().get(found[1].replace("/picture/", "/picture/x")).status_code == 404


def test_no_page_says_what_is_right_or_how_to_find_it(shapes: Dataset) -> None:
    rows = Question.objects.filter(split__dataset=shapes)
    rows.update(answer="quagga", source_id="zebra")
    visitor = Visitor(study_of(shapes, checks=1))
    pages = [visitor.to_questions()]
    for _ in range(7):
        pages.append(visitor.answer())
        response = visitor.client.get(visitor.address)
        pages.append(str(response.headers))
    programs = [program for program in rows.values_list("program", flat=True) if program]
    for page in pages:
        assert not re.search("quagga|zebra|filter_|query_|unique", page)
        assert not any(program in page for program in programs)


# Hostile posts: each gets a clear refusal, and nothing is kept.


@pytest.fixture
def asked_one(shapes: Dataset) -> Visitor:
    """Give somebody who is at the first question."""
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    return visitor


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
        ({"visible": "٣"}, 400),
        ({"answer": "x" * 10_000_000}, 413),
    ],
)
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_what_makes_no_sense_is_refused(asked_one: Visitor, changed: dict[str, str], status: int, accept: str) -> None:
    sent = {**asked_one.fields(), "answer": asked_one.choices()[0], **changed}
    response = asked_one.client.post(f"{asked_one.address}answer/", sent, headers={"Accept": accept})
    assert response.status_code == status
    assert ("error" in response.json()) if accept == "application/json" else (b"<h1>" in response.content)
    assert b"<script>alert" not in response.content
    assert not Answer.objects.exists()


def test_others_tokens_are_refused(asked_one: Visitor, shapes: Dataset) -> None:
    for other in (Visitor(asked_one.study), Visitor(study_of(shapes))):
        other.to_questions()
        mine = {**asked_one.fields(), "token": other.fields()["token"], "answer": asked_one.choices()[0]}
        assert asked_one.client.post(f"{asked_one.address}answer/", mine).status_code == 403
    assert not Answer.objects.exists()


def test_an_id_used_again_for_another_question_is_refused(asked_one: Visitor) -> None:
    client = asked_one.fields()["client"]
    asked_one.answer()
    assert asked_one.send("answer", client=client, answer=asked_one.choices()[0]).status_code == 403
    assert Answer.objects.count() == 1


def test_a_reply_that_comes_late_does_not_undo_a_later_one(asked_one: Visitor) -> None:
    fields, (first, second) = asked_one.fields(), asked_one.choices()[:2]
    address = f"{asked_one.address}answer/"
    asked_one.client.post(address, {**fields, "client": str(uuid.uuid4()), "turn": "1", "answer": second})
    asked_one.client.post(address, {**fields, "turn": "0", "answer": first})
    assert Answer.objects.current().get().text == second


@pytest.mark.parametrize("token", ["", "x", "stage:comment"])
def test_nobody_skips_a_stage(asked_one: Visitor, token: str) -> None:
    assert asked_one.send("on", token=token).status_code == 400
    assert asked_one.participant.stage == "questions"


def test_a_page_sent_twice_moves_once(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    assert [visitor.send("on").status_code for _ in range(2)] == [303, 303]
    assert visitor.participant.stage == "palette"


@pytest.mark.parametrize("query", ["?PROLIFIC_PID=%00", "?PROLIFIC_PID=" + "x" * 5000, "?SESSION_ID=%0a"])
def test_names_that_are_none_are_refused(shapes: Dataset, query: str) -> None:
    assert Visitor(study_of(shapes), query).joined.status_code == 400
    assert not Participant.objects.exists()


@pytest.mark.parametrize("rest", ["nothing/", "%00/", "{code}/nothing/", "{code}/%00/", "{code}/x/answer/"])
def test_strangers_get_404(shapes: Dataset, rest: str) -> None:
    response = Client().get("/s/" + rest.format(code=study_of(shapes).code))
    assert response.status_code in (404, 405)


def test_scripts_in_markdown_do_not_come_through(shapes: Dataset) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) **fine**"
    page = Visitor(study_of(shapes, consent=hostile)).look()
    assert "alert(1)</" not in page and "onerror" not in page and "javascript:" not in page
    assert "<strong>fine</strong>" in page


def test_an_answer_after_the_lease_is_kept_and_progress_counts_it(asked_one: Visitor) -> None:
    Slot.objects.update(lease="2000-01-01T00:00:00Z")
    taken = Slot.objects.get(participant=asked_one.participant, question__in=_questions(asked_one)[:1])
    Slot.objects.filter(question=taken.question).update(participant=None, lease=None, claimed=None)
    for _ in range(asked_one.study.per_question):
        other = Participant.objects.create(study=asked_one.study)
        other.given.create(question=taken.question)
        assign.answer(other, taken.question_id, assign.Reply(client=uuid.uuid4(), text="yes"))
    assert "2 of 6" in asked_one.answer()
    assert Answer.objects.surplus().get().participant == asked_one.participant


def _questions(visitor: Visitor) -> list[int]:
    return [item.number for item in asked.items_of(Sitting(visitor.participant)) if item.kind == QUESTION][::-1]


def test_who_mistakes_colours_may_be_given_only_questions_without(shapes: Dataset) -> None:
    easy = shapes.splits.get(name="val")  # train has no question without a colour
    study = study_of(shapes, questions=8, palette=Study.Palette.COLOUR_FREE, practice=1, practice_right=0, easy=easy)
    names = re.compile(r"\b(gray|red|blue|green|brown|purple|cyan|yellow|color)\b")
    texts = dict(study.split.question_set.values_list("position", "text"))
    plain = {position for position in range(8) if not names.search(texts[position])}
    assert 0 < len(plain) < 8
    visitor = Visitor(study)
    visitor.look()
    visitor.go_on()
    visitor.go_on(**told_apart(visitor.participant, wrong=2))
    visitor.to_questions()
    assert not names.search(visitor.asked())  # nor at practice
    visitor.answer()
    visitor.look()
    while visitor.choices():
        visitor.answer()
    assert set(visitor.participant.given.values_list("question__position", flat=True)) == plain
    assert "One last thing" in visitor.page


def test_who_tells_colours_apart_is_given_all_questions(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, questions=8, palette=Study.Palette.COLOUR_FREE))
    visitor.to_questions()
    while visitor.choices():
        visitor.answer()
    assert visitor.participant.given.count() == 8


def test_a_page_asks_no_more_of_the_database_the_more_is_answered(
    shapes: Dataset, django_assert_max_num_queries: Callable[[int], AbstractContextManager[None]]
) -> None:
    visitor = Visitor(study_of(shapes, questions=8, checks=1))
    visitor.to_questions()
    while visitor.choices():
        with django_assert_max_num_queries(20):
            visitor.look()
        visitor.answer()


@pytest.mark.parametrize(
    ("verb", "rest"), [("post", ""), ("get", "on/"), ("get", "answer/"), ("put", ""), ("post", "pair/0/")]
)
def test_a_wrong_verb_is_refused(asked_one: Visitor, verb: str, rest: str) -> None:
    assert getattr(asked_one.client, verb)(asked_one.address + rest).status_code == 405


@pytest.mark.parametrize("rest", ["pair/12/", "pair/" + "9" * 400 + "/", "?seen=0", "?seen=" + "9" * 5000, "?seen=²"])
def test_what_was_never_given_is_not_there(asked_one: Visitor, rest: str) -> None:
    assert asked_one.client.get(asked_one.address + rest).status_code == 404


def test_a_pair_of_colours_is_a_picture(asked_one: Visitor) -> None:
    response = asked_one.client.get(asked_one.address + "pair/0/")
    assert response["Content-Type"] == "image/png" and response["Referrer-Policy"] == "no-referrer"


def test_two_first_visits_at_once_are_one_participant(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(shapes)
    first = flow.join(study, identity="p1", session="v1")
    known = flow._known
    calls = iter([lambda *_: None, known])
    monkeypatch.setattr(flow, "_known", lambda *parts: next(calls)(*parts))  # the first look comes too early
    assert flow.join(study, identity="p1", session="v1") == first


def test_what_only_checks_who_reads_can_be_undone_like_everything_else(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, checks=1, attention=1, questions=4))
    visitor.to_questions()
    for _ in range(6):
        question, (first, second) = visitor.asked(), visitor.choices()[:2]
        visitor.answer(first)
        assert "Undo the last answer" in visitor.page or "One last thing" in visitor.page
        if "One last thing" in visitor.page:
            break
        following = visitor.asked()
        visitor.look("?again=1")
        assert visitor.asked() == question
        assert visitor.answer(second) and visitor.asked() == following
    stored = visitor.participant.easy_answers.order_by("kind", "turn").values_list("kind", "turn", "superseded")
    assert list(stored) == [("attention", 0, True), ("attention", 1, False), ("check", 0, True), ("check", 1, False)]


def test_of_two_answers_to_a_check_the_later_turn_stands_whichever_comes_first(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, checks=1, questions=2))
    visitor.to_questions()
    visitor.answer()
    first, second = visitor.choices()[:2]
    for client, turn, text in ((uuid.uuid4(), "1", second), (uuid.uuid4(), "0", first)):
        assert visitor.send("answer", answer=text, turn=turn, client=str(client)).status_code == 303
    assert EasyAnswer.objects.current().get().text == second
    assert EasyAnswer.objects.count() == 2


def test_a_script_is_sent_the_next_question_with_its_answer_kept(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, questions=2))
    visitor.to_questions()
    for _ in range(2):
        response = visitor.client.post(
            f"{visitor.address}answer/",
            {**visitor.fields(), "answer": visitor.choices()[0]},
            headers={"accept": "application/json"},
        )
        assert (response.status_code, response.json()["next"]) == (200, visitor.address)
        visitor.page = response.json()["page"]
    assert visitor.page == ""
    assert Answer.objects.counted().count() == 2
    assert "One last thing" in visitor.look()


def test_who_asks_without_end_is_told_to_wait_and_others_are_not(
    shapes: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(shapes)
    hasty, other = Visitor(study), Visitor(study)
    monkeypatch.setattr(throttle, "sessions", Throttle(2, 60.0))
    answers = [hasty.client.get(hasty.address) for _ in range(3)]
    assert [response.status_code for response in answers] == [200, 200, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 60 and "Wait a moment" in answers[2].content.decode()
    assert other.client.get(other.address).status_code == 200


def test_a_throttle_counts_anew_after_its_span() -> None:
    now = [0.0]
    throttled = Throttle(1, 10.0, clock=lambda: now[0])
    assert [throttled.wait("one"), throttled.wait("one"), throttled.wait("other")] == [0.0, 10.0, 0.0]
    now[0] = 10.0
    assert throttled.wait("one") == 0.0


def test_so_many_at_once_are_no_people(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "JOINING", 2)
    study, calm = study_of(shapes), study_of(shapes)
    came = [Client().get(f"/s/{study.code}/") for _ in range(3)]
    assert [response.status_code for response in came] == [303, 303, 429]
    assert came[2]["Retry-After"] == "60" and study.participants.count() == 2
    assert Client().get(f"/s/{calm.code}/").status_code == 303


def test_only_the_last_answer_can_be_changed_and_sending_an_older_one_again_is_safe(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    first, sent = visitor.choices()[:2], {**visitor.fields(), "answer": visitor.choices()[0]}
    visitor.answer(first[0])
    visitor.answer()
    before = list(Answer.objects.values_list("pk", "text", "superseded"))
    anew = {**sent, "client": str(uuid.uuid4()), "turn": "1", "answer": first[1]}
    refused = visitor.client.post(f"{visitor.address}answer/", anew)
    assert refused.status_code == 400 and "to one before" in refused.content.decode()
    assert visitor.client.post(f"{visitor.address}answer/", sent).status_code == 303
    assert list(Answer.objects.values_list("pk", "text", "superseded")) == before
