"""Participants: flags, payment, and erasing personal data."""

import csv
import io
import random
import uuid
from collections import Counter
from decimal import Decimal

import pytest

from annotations.answering import participants, slot_assignment
from annotations.answering.answer_forms import PressedButtons, forms_of
from annotations.answering.exclusion_rules import is_straight_lining, is_too_fast
from annotations.answering.participants import Person, people_of
from annotations.models import Answer, EasyAnswer, Participant, Study
from annotations.results.baseline import still_open
from annotations.results.payment import BadPlatformFile, Payment, code_of, read_export, reconcile
from generation.engine.scoring.figures import Share
from generation.models import Dataset
from generation.storage.split_index import SplitIndex
from tests.annotations import answered

pytestmark = pytest.mark.django_db
COLUMNS = ["Submission id", "Participant id", "Status", "Started at", "Time taken", "Completion code"]
AWAITING = "AWAITING REVIEW"


def person_of(participant: Participant) -> Person:
    [found] = [one for one in people_of(participant.study) if one.participant == participant]
    return found


def easy(participant: Participant, kind: str, number: int, *, right: bool, visible: int = 0) -> None:
    EasyAnswer.objects.create(
        participant=participant, kind=kind, number=number, client=uuid.uuid4(), text="yes", is_right=right,
        visible=visible,
        received=answered.shown_for(participant, kind, number, milliseconds=visible),
    )  # fmt: skip


@pytest.fixture
def asked(made: Dataset) -> Study:
    """Give a study of two questions for three people each."""
    return answered.opened(made.splits.get(name="train"), [0, 1], per_question=3, completed="C1DONE")


# What participants did


@pytest.mark.parametrize(
    ("said", "straight"),
    [
        (["yes"] * 11 + ["no"], False),
        (["no"] + ["yes"] * 12, True),
        ((["yes"] * 9 + ["no"]) * 2, False),  # the share must be more than nine tenths, and here it is nine tenths
        ((["yes"] * 10 + ["no"]) * 2, True),
        (["yes"] * 11, False),
        ([], False),
    ],
)
def test_the_same_answer_again_and_again_is_detected(said: list[str], straight: bool) -> None:
    assert is_straight_lining(said) is straight


@pytest.mark.parametrize(
    ("times", "fast"), [([1499] * 10, True), ([1500] * 10, False), ([100] * 9, False), ([900] * 5 + [9000] * 6, False)]
)
def test_answers_that_are_faster_than_reading_are_detected(times: list[int], fast: bool) -> None:
    assert is_too_fast(times) is fast


def test_checks_and_attention_items_are_counted_separately(asked: Study) -> None:
    person = Participant.objects.create(study=asked)
    for kind, rights in (("check", [True, False]), ("attention", [False, True, False]), ("practice", [False] * 4)):
        for number, right in enumerate(rights):
            easy(person, kind, number, right=right)
    found = person_of(person)
    assert (found.checks, found.attention, found.may_be_refused) == (Share(1, 2), Share(1, 3), True)
    assert found.flags == ["2 attention items failed"]


def test_one_failed_attention_item_is_flagged_but_does_not_allow_a_refusal(asked: Study) -> None:
    person = Participant.objects.create(study=asked)
    easy(person, "attention", 0, right=False)
    assert not person_of(person).may_be_refused
    assert person_of(person).flags == ["1 attention item failed"]


def test_failed_check_questions_are_flagged_without_a_rule(asked: Study) -> None:
    only, half, both = (Participant.objects.create(study=asked) for _ in range(3))
    easy(only, "check", 0, right=False)
    for person, right in ((half, True), (both, False)):
        easy(person, "check", 0, right=False)
        easy(person, "check", 1, right=right)
    assert [person_of(one).flags for one in (only, half, both)] == [
        ["1 check question wrong"],
        [],
        ["2 check questions wrong"],
    ]


@pytest.fixture
def crowd(shapes: Dataset) -> tuple[Study, list[Participant]]:
    """Give a study that three participants answered correctly, and its five participants; two have not begun."""
    split = shapes.splits.get(name="train")
    index = SplitIndex.open(split)
    study = answered.opened(split, list(range(index.n)), per_question=5)
    participants = [Participant.objects.create(study=study) for _ in range(5)]
    for position in range(index.n):
        for number, person in enumerate(participants[:3]):
            right = index.answer_values[int(index.answers[position])]
            answered.put(person, study, position, right, number=number)
    return study, participants


def press(person: Participant, study: Study, *, number: int, text: str = "") -> list[str]:
    """Answer all questions with `text` if it is a choice, otherwise with the first choice; return the flags."""
    keys = dict(study.questions.values_list("pk", "position"))
    for key, form in forms_of(study, keys).items():
        said = text if text in form.choices else form.choices[0]
        answered.put(person, study, keys[key], said, number=number)
    return person_of(person).flags


def test_participants_who_always_press_the_first_button_are_flagged(crowd: tuple[Study, list[Participant]]) -> None:
    study, participants = crowd
    flags = press(participants[3], study, number=3)
    assert "the first button in 16 of 16 answers" in flags
    assert any(
        flag.startswith("agrees with the majority in ") and "the others agree in 100 %" in flag for flag in flags
    )
    assert [person_of(one).flags for one in participants[:3]] == [[], [], []]
    baseline = still_open(study, people_of(study))
    assert [one.pseudonym for one in baseline.flagged] == ["P004"]


def test_participants_who_always_answer_yes_are_flagged(crowd: tuple[Study, list[Participant]]) -> None:
    study, participants = crowd
    right = people_of(study)[0]
    either = [one for one in right.pressed if one.buttons == ("yes", "no")]
    others = [one for one in right.pressed if one.buttons != ("yes", "no")]
    lazy = Person(participants[3], "P004", pressed=[*others, *(one._replace(places=(0,)) for one in either)])
    lazy.pressed += [PressedButtons(("yes", "no"), (0,))] * (8 - len(either))
    assert any(flag.startswith("“yes” in 8 of 8 answers to questions") for flag in lazy.flags)
    lazy.pressed.pop()
    assert lazy.flags == []


@pytest.mark.parametrize(
    ("mine", "others", "far"),
    [
        (Share(4, 12), Share(60, 66), True),
        (Share(11, 12), Share(66, 66), False),
        (Share(80, 100), Share(90, 100), False),  # below the others, but not far
        (Share(70, 100), Share(95, 100), True),
        (Share(1, 2), Share(66, 66), False),  # too few answers of this person
        (Share(4, 12), Share(9, 9), False),  # too few answers of the others
        (Share(4, 12), Share(6, 10), False),  # the others hardly agree with one another
        (Share(0, 0), Share(66, 66), False),
    ],
)
def test_agreement_far_below_the_others_is_flagged_with_its_interval(mine: Share, others: Share, far: bool) -> None:
    person = Person(Participant(), "P001", agreement=mine, others=others)
    assert person.is_far_below is far and bool(person.flags) is far
    assert not far or f"in {mine.right} of {mine.n} answers ({person.agreement_interval})" in person.flags[0]
    assert Person(Participant(), "P001", agreement=Share(4, 12)).agreement_interval == "14–61 %"


@pytest.mark.slow
def test_agreement_is_with_the_majority_of_the_others(made: Dataset) -> None:
    for number in range(3):
        study = answered.answered(made, random.Random(number))
        for person in people_of(study):
            rows = Answer.objects.current().filter(question__study=study).select_related("participant")
            agreed = compared = 0
            for mine in [row for row in rows if row.participant == person.participant and row.text]:
                others = [
                    row.text
                    for row in rows
                    if row.question_id == mine.question_id and row.participant_id != mine.participant_id
                    and row.text and not row.participant.is_test
                ]  # fmt: skip
                top = [word for word in set(others) if others.count(word) == max(Counter(others).values())]
                if len(top) == 1:
                    compared += 1
                    agreed += top == [mine.text]
            assert person.agreement == Share(agreed, compared)
            assert person.given == sum(row.participant == person.participant for row in rows)


def test_excluded_participants_do_not_count_in_the_agreement_of_others(asked: Study) -> None:
    mine, other = (Participant.objects.create(study=asked) for _ in range(2))
    answered.put(mine, asked, 0, "yes", number=0)
    answered.put(other, asked, 0, "no", number=1)
    assert person_of(mine).agreement == Share(0, 1)
    slot_assignment.exclude(other, reason="pressed one key")
    assert person_of(mine).agreement == Share(0, 0)
    assert person_of(other).agreement == Share(0, 1)


def test_erasing_keeps_answers_and_removes_all_personal_data(asked: Study) -> None:
    named = {"identity": "5f0", "session": "s1", "study_there": "st1", "comment": "Rosa, from Ulm"}
    person = Participant.objects.create(study=asked, **named)
    answered.put(person, asked, 0, "yes", number=0)
    participants.erase(person)
    row = Participant.objects.values().get(pk=person.pk)
    assert not set(named.values()) & {str(value) for value in row.values()}
    assert Answer.objects.counted().filter(participant=person).count() == 1


# Payment


def file_of(*rows: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([COLUMNS, *rows])
    return ("\ufeff" + text.getvalue()).encode()


def create_participant(study: Study, identity: str, stage: str, **more: object) -> Participant:
    return Participant.objects.create(study=study, identity=identity, session=f"s-{identity}", stage=stage, **more)


def reconcile_rows(study: Study, *rows: tuple[str, ...]) -> Payment:
    return reconcile(study, read_export(file_of(*rows)), people_of(study))


def test_everybody_who_finished_is_approved_with_or_without_a_code(asked: Study) -> None:
    for identity in ("done", "nocode", "early", "paid", "nowhere"):
        create_participant(asked, identity, "completed")
    create_participant(asked, "out", "screened-out")
    Participant.objects.filter(identity="early").update(stage="comment")
    found = reconcile_rows(
        asked,
        ("s-done", "done", AWAITING, "", "600", "C1DONE"),
        ("s-nocode", "nocode", AWAITING, "", "1200", "NOCODE"),
        ("s-early", "early", AWAITING, "", "", ""),
        ("s-paid", "paid", "APPROVED", "", "300", "C1DONE"),
        ("s-out", "out", AWAITING, "", "40", "X"),
        ("s-who", "who", AWAITING, "", "600", "C1DONE"),
    )
    assert found.approve_text == "s-done\ns-nocode\ns-early"
    assert [row.person for row in found.finished] == ["done", "paid"]
    assert [row.person for row in found.no_code] == ["nocode", "early"]
    assert [row.person for row in found.left] == ["out"]
    assert [row.person for row in found.unknown] == ["who"]
    assert [one.participant.identity for one in found.missing] == ["nowhere"]
    assert found.bonuses == []
    assert found.hourly(Decimal("2.00")) == Decimal("12.00")  # the median of 600, 300 and 1200 seconds


def test_the_code_is_compared_with_the_one_that_the_participant_was_given(asked: Study) -> None:
    create_participant(asked, "before", "completed", ending="OLD-CODE")
    create_participant(asked, "after", "completed", ending="https://example.org/?cc=NEW")
    rows = [
        ("s-before", "before", AWAITING, "", "600", "OLD-CODE"),
        ("s-after", "after", AWAITING, "", "600", "OLD-CODE"),
    ]
    found = reconcile_rows(asked, *rows)
    assert [row.person for row in found.finished] == ["before"]
    assert [row.person for row in found.no_code] == ["after"]


def test_somebody_who_was_given_the_full_code_had_no_place(asked: Study) -> None:
    asked.full = "https://example.org/?cc=FULL"
    found = reconcile_rows(
        asked, ("s-late", "late", AWAITING, "", "9", "FULL"), ("s-odd", "odd", AWAITING, "", "9", "C1DONE")
    )
    assert [[row.person for row in rows] for rows in (found.left, found.unknown)] == [["late"], ["odd"]]


def test_unfinished_participants_are_paid_for_their_time(asked: Study) -> None:
    asked.hourly_pay = Decimal(12)
    began = create_participant(asked, "began", "questions")
    answered.put(began, asked, 0, "yes", number=0, visible=60_000)
    easy(began, "practice", 0, right=True, visible=31_000)
    forged = create_participant(asked, "forged", "questions")
    answered.put(forged, asked, 0, "yes", number=1, visible=2**31 - 1)
    create_participant(asked, "never", "consent")
    found = reconcile_rows(
        asked,
        ("s-began", "began", "RETURNED", "", "", ""),
        ("s-forged", "forged", "TIMED-OUT", "", "90", ""),
        ("s-never", "never", "RETURNED", "", "5", ""),
    )
    assert [row.person for row in found.unfinished] == ["began", "forged", "never"]
    assert found.amounts_text == "began,0.31\nforged,0.30"  # 91 s at 12 an hour are 0.3033, rounded up
    assert found.approve == []
    assert found.hourly(Decimal(2)) is None


def test_a_session_of_less_than_a_second_gives_no_hourly_pay(asked: Study) -> None:
    create_participant(asked, "fast", "completed")
    assert reconcile_rows(asked, ("s-fast", "fast", AWAITING, "", "1e-300", "C1DONE")).hourly(Decimal(2)) is None


def test_the_researcher_decides_about_participants_who_failed_two_attention_items(asked: Study) -> None:
    person = create_participant(asked, "careless", "completed")
    for number in range(2):
        easy(person, "attention", number, right=False)
    found = reconcile_rows(asked, ("s-careless", "careless", AWAITING, "", "600", "C1DONE"))
    assert [row.person for row in found.to_decide] == ["careless"]
    assert found.approve == []


def test_excluded_participants_are_still_approved_for_pay(asked: Study) -> None:
    person = create_participant(asked, "odd", "completed")
    slot_assignment.exclude(person, reason="does not see colours")
    assert reconcile_rows(asked, ("s-odd", "odd", AWAITING, "", "600", "C1DONE")).approve == ["s-odd"]


def test_participants_of_the_test_link_are_unknown_in_the_payment(asked: Study) -> None:
    create_participant(asked, "rosa", "completed", is_test=True)
    found = reconcile_rows(asked, ("s-rosa", "rosa", AWAITING, "", "600", "C1DONE"))
    assert ([row.person for row in found.unknown], found.missing) == (["rosa"], [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Expected the columns Submission id"),
        (b"Submission id,Status\n1,2\n", "Missing: Participant id, Completion code, Time taken"),
        (b"\xff\xfe\x00", "Expected a CSV file in UTF-8"),
        (file_of(("1", "2", AWAITING, "", "soon", "")), "got 'soon' in row 2"),
        (file_of(("1", "2", AWAITING, "", "nan", "")), "got 'nan' in row 2"),
    ],
)
def test_a_bad_export_is_refused_with_the_place_of_the_error(content: bytes, said: str) -> None:
    with pytest.raises(BadPlatformFile, match=said):
        read_export(content)


def test_a_code_may_be_in_an_address() -> None:
    assert code_of("https://app.prolific.com/submissions/complete?cc=C1DONE") == "C1DONE"
    assert (code_of("C1DONE "), code_of("https://example.org/"), code_of("")) == ("C1DONE", "", "")
