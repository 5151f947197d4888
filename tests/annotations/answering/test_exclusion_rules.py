"""Rules of exclusion: stated before a study opens, frozen with time and hash, applied, and reported."""

import hashlib
import json
import random
import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotations.answering import exclusion_rules, participant_flow, participants, slot_assignment
from annotations.answering.answer_forms import PressedButtons
from annotations.answering.exclusion_rules import ExclusionRules, Fast, Straight
from annotations.answering.participants import Person, apply, people_of
from annotations.answering.session import Sitting
from annotations.models import Answer, EasyAnswer, Participant, Slot, Study
from annotations.results import exclusion_effect, study_statistics
from annotations.results.methods_text import methods_text
from annotations.results.payment import PlatformRow, reconcile
from annotations.studies import lifecycle
from generation.engine.scoring.figures import Share
from generation.models import Dataset
from generation.storage.split_index import SplitIndex
from tests import proof
from tests.annotations import answered
from tests.annotations.studies.test_lifecycle import make

pytestmark = pytest.mark.django_db
Stage = Participant.Stage
ALL = ExclusionRules(2, 1, Fast(1500), Straight(), Straight(), 2, unfinished=True)
EITHER, COLOURS = ("yes", "no"), ("gray", "red", "blue")


def yes(place: int) -> PressedButtons:
    return PressedButtons(EITHER, (place,))


def colour(place: int) -> PressedButtons:
    return PressedButtons(COLOURS, (place,))


def press_one_place(place: int, times: int) -> list[PressedButtons]:
    """Return a press of another place, then `times` presses of `place` that alternate between two groups of buttons."""
    numbers = tuple(map(str, range(11)))
    return [colour((place + 1) % 3), *(PressedButtons((COLOURS, numbers)[one % 2], (place,)) for one in range(times))]


def always_yes(times: int) -> list[PressedButtons]:
    """Return `times` presses of "yes", each followed by a press of a colour other than the one before."""
    return [one for number in range(times) for one in (yes(0), colour(1 + number % 2))]


@pytest.fixture
def asked(made: Dataset) -> Study:
    """Give an open study of three questions for two people each, without rules."""
    return answered.opened(made.splits.get(name="train"), [0, 1, 2], per_question=2, completed="C1DONE")


def open_with_rules(study: Study, stated: ExclusionRules) -> Study:
    """Return a study that was opened with these rules."""
    text = exclusion_rules.text_of(study, stated)
    digest = hashlib.sha256(text.encode()).hexdigest()
    Study.objects.filter(pk=study.pk).update(rules=text, rules_digest=digest, rules_frozen=study.opened)
    study.refresh_from_db()
    return study


def easy(person: Participant, kind: str, *, wrong: int, number: int = 0) -> None:
    for one in range(number, number + wrong):
        EasyAnswer.objects.create(
            participant=person, kind=kind, number=one, client=uuid.uuid4(), text="no", is_right=False
        )


def person_in(study: Study, person: Participant) -> Person:
    [found] = [one for one in people_of(study) if one.participant == person]
    return found


def join_at_questions(study: Study, **more: Any) -> Participant:
    return Participant.objects.create(study=study, stage=Stage.QUESTIONS, **more)


def sides_of(study: Study) -> exclusion_effect.Sides:
    return exclusion_effect.sides(study, study_statistics.gather(study), people_of(study))


def text_of(study: Study) -> str:
    return methods_text(study, sides_of(study), people_of(study))


# Stating rules


def test_opening_freezes_the_rules_with_time_and_hash(shapes: Dataset) -> None:
    draft = make(
        shapes, out_attention=2, out_checks=1, out_fast="1.5", out_straight=True, out_buttons=True, out_unfinished=True
    )
    stated = exclusion_rules.rules_of(draft)
    lifecycle.open_study(draft)
    assert exclusion_rules.rules_of(draft) == stated == ALL._replace(colours=None)
    assert draft.rules_digest == hashlib.sha256(draft.rules.encode()).hexdigest()
    assert draft.rules_frozen == draft.opened is not None
    assert json.loads(draft.rules)["study"] == draft.code
    assert draft.rules == json.dumps(json.loads(draft.rules), sort_keys=True, separators=(",", ":"))


def test_frozen_rules_stay_even_if_fields_or_the_code_change(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = make(shapes, out_attention=2, out_straight=True)
    lifecycle.open_study(draft)
    frozen = (draft.rules, draft.rules_digest, draft.rules_frozen)
    Study.objects.update(out_attention=1, out_straight=False, out_checks=1)
    monkeypatch.setattr(
        exclusion_rules, "Straight", type("Straight", (Straight,), {"__new__": lambda *_: Straight(5, 50, 5)})
    )
    lifecycle.close(draft)
    lifecycle.reopen(draft)
    lifecycle.open_study(draft)
    exclusion_rules.freeze(draft)
    assert (draft.rules, draft.rules_digest, draft.rules_frozen) == frozen
    assert exclusion_rules.rules_of(draft).attention == 2
    assert '"in_a_row":12' in draft.rules


def test_a_rule_about_what_a_study_does_not_have_is_off(shapes: Dataset, asked: Study) -> None:
    draft = make(shapes, out_attention=2, out_checks=1, attention=0, checks=0)
    assert exclusion_rules.rules_of(draft).on == []
    asked.out_colours = draft.out_colours = True
    assert (exclusion_rules.draft_rules(asked).colours, exclusion_rules.draft_rules(draft).colours) == (
        None,
        2,
    )  # the questions about numbers have no colours
    assert exclusion_rules.rules_of(make(shapes, out_attention=2, out_checks=1, easy=None)).on == ["attention"]


@pytest.mark.parametrize(
    "stated",
    [ALL, ExclusionRules(), ExclusionRules(checks=3), ExclusionRules(fast=Fast(700, 20)), ExclusionRules(hours=9)],
)
def test_rules_are_read_back_as_they_were_written(stated: ExclusionRules) -> None:
    assert exclusion_rules.read(exclusion_rules.text_of(Study(code="abc"), stated)) == stated
    assert list(exclusion_rules.in_words(stated)) == stated.on


def test_rules_from_before_the_rule_on_buttons_are_read() -> None:
    whole = json.loads(exclusion_rules.text_of(Study(code="abc"), ALL))
    del whole["left_out"]["same_button"]
    assert exclusion_rules.read(json.dumps(whole)) == ALL._replace(buttons=None)


# Breaking rules


@pytest.mark.parametrize(
    ("name", "spared", "out"),
    [
        ("attention", {"failed": 1}, {"failed": 2}),
        ("checks", {"mistaken": 0}, {"mistaken": 1}),
        ("fast", {"times": [1499] * 9}, {"times": [1499] * 10}),
        ("fast", {"times": [1500] * 10}, {"times": [1400] * 6 + [9000] * 4}),
        ("straight", {"said": ["yes"] * 11 + ["no"]}, {"said": ["no"] + ["yes"] * 12}),
        ("straight", {"said": [""] * 40}, {"said": (["yes"] * 10 + ["no"]) * 2}),
        ("buttons", {"pressed": press_one_place(0, 11)}, {"pressed": press_one_place(0, 12)}),
        ("buttons", {"pressed": press_one_place(2, 11)}, {"pressed": press_one_place(2, 12)}),
        ("buttons", {"pressed": always_yes(11)}, {"pressed": always_yes(12)}),
        ("colours", {"pairs": 1}, {"pairs": 2}),
        ("colours", {"pairs": None}, {"pairs": 12}),
        ("unfinished", {"stage": Stage.COMMENT}, {"stage": Stage.QUESTIONS}),
        ("unfinished", {"stage": Stage.COMPLETED}, {"stage": Stage.PRACTICE}),
    ],
)
def test_each_rule_excludes_from_its_threshold_on(name: str, spared: dict[str, Any], out: dict[str, Any]) -> None:
    def broken(
        failed: int = 0,
        mistaken: int = 0,
        times: Any = (),
        said: Any = (),
        pressed: Any = (),
        pairs: Any = 0,
        stage: Any = Stage.COMPLETED,
    ) -> list[str]:
        one = Person(Participant(mistaken=pairs, stage=stage), "P001", said=list(enumerate(said)), times=list(times))
        one.pressed = list(pressed)
        one.attention, one.checks = Share(2 - failed, 2), Share(2 - mistaken, 2)
        return exclusion_rules.broken(ALL, one)

    assert (broken(**spared), broken(**out)) == ([], [name])


def test_no_rule_is_applied_before_the_session_has_ended(asked: Study) -> None:
    open_with_rules(asked, ALL)
    person = join_at_questions(asked)
    easy(person, "attention", wrong=2)
    answered.put(person, asked, 0, "yes", number=0)
    assert not person_in(asked, person).is_due
    Answer.objects.update(received=timezone.now() - timedelta(hours=3, minutes=1))
    assert person_in(asked, person).broken == ["attention", "unfinished"]
    Answer.objects.update(received=timezone.now())
    lifecycle.close(asked)
    assert person_in(asked, person).broken == ["attention", "unfinished"]


def test_being_wrong_on_every_question_of_the_sample_breaks_no_rule(asked: Study) -> None:
    open_with_rules(asked, ALL)
    person = join_at_questions(asked)
    for position in range(3):
        answered.put(person, asked, position, f"wrong {position}", number=0)
    participant_flow.finish_questions(Sitting(person))
    assert (person.stage, person.excluded) == (Stage.COMMENT, None)


# Applying rules


@pytest.fixture
def careless(asked: Study) -> Participant:
    """Give a participant of a study with rules who answered two of three questions, and one check question wrongly."""
    open_with_rules(asked, ALL)
    person = join_at_questions(asked, identity="5f0", session="s1")
    easy(person, "check", wrong=1)
    for position in range(2):
        answered.put(person, asked, position, "yes", number=0)
    return person


def test_rules_exclude_a_participant_when_the_session_ends(asked: Study, careless: Participant) -> None:
    participant_flow.finish_questions(Sitting(careless))
    assert careless.excluded is not None
    assert (careless.by_rule, careless.reason, careless.stage) == (True, "1 check question wrong", Stage.COMMENT)
    assert not Answer.objects.counted().filter(participant=careless).exists()
    assert Slot.objects.free().filter(study=asked).count() == 6  # their slots are free for others
    participant_flow.comment(careless, "Bye.")
    assert careless.stage == Stage.COMPLETED


def test_excluded_participants_are_paid_like_everybody_else(asked: Study, careless: Participant) -> None:
    participant_flow.finish_questions(Sitting(careless))
    row = PlatformRow("s1", "5f0", "AWAITING REVIEW", "C1DONE", 600)
    assert reconcile(asked, [row], people_of(asked)).approve == ["s1"]


def test_without_rules_nobody_is_excluded(asked: Study, careless: Participant) -> None:
    open_with_rules(asked, ExclusionRules())
    careless.refresh_from_db()
    participant_flow.finish_questions(Sitting(careless))
    assert careless.excluded is None


def test_rules_never_exclude_participants_of_the_test_link(asked: Study) -> None:
    open_with_rules(asked, ALL)
    tester = join_at_questions(asked, is_test=True)
    easy(tester, "check", wrong=1)
    answered.put(tester, asked, 0, "yes")
    participant_flow.finish_questions(Sitting(tester))
    lifecycle.close(asked)
    assert apply(asked) == []
    tester.refresh_from_db()
    assert tester.excluded is None
    assert sides_of(asked).by_rules.left_out == 0


def test_rules_do_not_exclude_again_a_participant_who_was_included_again(asked: Study, careless: Participant) -> None:
    participant_flow.finish_questions(Sitting(careless))
    slot_assignment.take_back(careless)
    participant_flow.comment(careless, "")
    assert apply(asked) == []
    careless.refresh_from_db()
    assert careless.excluded is None and careless.taken_back is not None
    found = sides_of(asked)
    assert ([one.pseudonym for one in found.spared], found.by_rules.left_out, found.now.left_out) == (["P001"], 1, 0)
    assert found.text == (
        "The current exclusions differ from the rules: P001 is included again, although a rule excludes them."
    )
    assert "1 participant whom the rules exclude were included again" not in text_of(asked)
    assert "1 participant whom the rules exclude was included again and counts." in text_of(asked)


def test_the_button_excludes_unfinished_participants_until_they_finish(asked: Study) -> None:
    open_with_rules(asked, ExclusionRules(unfinished=True))
    person = join_at_questions(asked)
    answered.put(person, asked, 0, "yes", number=0, received=timezone.now() - timedelta(hours=4))
    assert [one.pseudonym for one in apply(asked)] == ["P001"]
    assert apply(asked) == []
    person.refresh_from_db()
    assert (person.by_rule, person.reason) == (True, "did not finish")
    participant_flow.finish_questions(Sitting(person))
    assert (person.excluded, person.by_rule, person.taken_back) == (None, False, None)
    assert Answer.objects.counted().filter(participant=person).count() == 1


def test_the_button_excludes_a_limited_number_at_a_time(asked: Study) -> None:
    open_with_rules(asked, ExclusionRules(unfinished=True))
    long_ago = timezone.now() - timedelta(hours=4)
    for number, person in enumerate([join_at_questions(asked), join_at_questions(asked), join_at_questions(asked)]):
        answered.put(person, asked, number, "yes", number=0, received=long_ago)
    assert [[one.pseudonym for one in apply(asked, most=2)] for _ in range(3)] == [
        ["P001", "P002"],
        ["P003"],
        [],
    ]


def test_rules_do_not_include_again_a_participant_who_was_excluded_by_hand(asked: Study) -> None:
    open_with_rules(asked, ExclusionRules(unfinished=True))
    person = join_at_questions(asked)
    answered.put(person, asked, 0, "yes", number=0)
    slot_assignment.exclude(person, reason="took part twice")
    participant_flow.finish_questions(Sitting(person))
    assert person.excluded is not None and not person.by_rule
    assert [one.pseudonym for one in sides_of(asked).extra] == ["P001"]


# Reporting exclusions


class CountedByHand:
    """A study's answers counted one by one, without the excluded participants."""

    def __init__(self, study: Study, out: set[int], *, counted_alone: bool = False) -> None:
        index = SplitIndex.open(study.split)
        said: dict[int, list[str]] = {}
        taken: Counter[int] = Counter()
        rows = Answer.objects.filter(question__study=study).select_related("question", "participant")
        for row in rows.order_by("claimed", "pk"):
            skipped = row.participant.is_test or row.superseded or row.participant_id in out
            if skipped or (row.slot is None if counted_alone else taken[row.question_id] >= study.per_question):
                continue
            taken[row.question_id] += 1
            if row.text:
                said.setdefault(row.question.position, []).append(row.text)
        right = {one: index.answer_values[int(index.answers[one])] for one in said}
        most = {one: Counter(words).most_common(2) for one, words in said.items()}
        won = [one for one, top in most.items() if top[0][0] == right[one] and (len(top) == 1 or top[0][1] > top[1][1])]
        self.majority = Share(len(won), len(said))
        singles = [word == right[one] for one, words in said.items() for word in words]
        self.single = Share(sum(singles), len(singles))


@pytest.mark.slow
def test_three_accuracies_are_equal_to_counting_by_hand(made: Dataset) -> None:
    """The accuracies: of all participants, without those whom the rules exclude, and with the current exclusions."""
    differ = 0
    for seed in range(proof.size(100, name="studies with people left out three ways", most=4)):
        chance = random.Random(seed)
        study = open_with_rules(answered.answered(made, chance), ExclusionRules(checks=1))
        crowd = list(study.participants.filter(is_test=False))
        Participant.objects.filter(study=study).update(stage=Stage.COMPLETED)
        due = {one.pk for one in crowd if chance.random() < 0.4}
        for one in crowd:
            if one.pk in due:
                easy(one, "check", wrong=1)
        if chance.random() < 0.8:
            apply(study)
        for one in crowd:
            one.refresh_from_db()
            if chance.random() < 0.3:
                slot_assignment.exclude(one, reason="odd") if one.excluded is None else slot_assignment.take_back(one)
        out = set(study.participants.exclude(excluded=None).values_list("pk", flat=True))
        worked = set(Answer.objects.filter(participant__in=crowd).values_list("participant", flat=True))
        found = sides_of(study)
        hand = [CountedByHand(study, set()), CountedByHand(study, due), CountedByHand(study, out, counted_alone=True)]
        for side, twin, people_out in zip(found[:3], hand, (set(), due, out), strict=True):
            assert (side.headline.majority, side.headline.single) == (twin.majority, twin.single)
            assert side.left_out == len(people_out & worked)
        assert {one.participant.pk for one in found.extra} == (out - due) & worked
        waiting = {one.participant.pk for one in found.waiting}
        assert {one.participant.pk for one in found.spared} | waiting == (due - out) & worked
        differ += len({twin.single for twin in hand}) > 1
    assert differ


def text_after_exclusions(asked: Study, careless: Participant) -> str:
    """Return the methods text after a rule has excluded one participant, and the researcher another."""
    participant_flow.finish_questions(Sitting(careless))
    other = join_at_questions(asked)
    for position in range(2):
        answered.put(other, asked, position, "no", number=1)
    slot_assignment.exclude(other, reason="Took part twice.")
    return text_of(asked)


def test_methods_text_states_rules_hash_date_and_figures(asked: Study, careless: Participant) -> None:
    said = text_after_exclusions(asked, careless)
    assert asked.rules_frozen is not None and asked.rules_digest in said
    assert f"The exclusion rules were fixed on {asked.rules_frozen.day} {asked.rules_frozen:%B %Y}" in said
    assert "wrong answers to 1 or more check questions; a median answer time below 1.5 s, with at least 10" in said
    assert "They exclude 1 participant: 2 or more failed attention items (n = 0); wrong answers to 1 or" in said
    assert "The answers of 1 participant were excluded after the fact: Took part twice (n = 1)." in said
    assert "The accuracy of the majority" not in said  # no accuracy is stated for so few questions


def test_methods_text_has_the_accuracy_three_ways(
    asked: Study, careless: Participant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 0)
    said = text_after_exclusions(asked, careless)
    majorities = [side.headline.majority for side in sides_of(asked)[:3]]
    shares = [f"{100 * one.right / max(one.n, 1):.1f} % (n = {one.n})" for one in majorities]
    assert f"is {shares[0]} with everybody included, {shares[1]} without the participants whom" in said
    assert f"and {shares[2]} as reported here." in said


def test_methods_text_says_that_no_rule_was_stated_and_that_nobody_was_excluded(asked: Study) -> None:
    open_with_rules(asked, ExclusionRules())
    answered.put(join_at_questions(asked), asked, 0, "yes", number=0)
    said = text_of(asked)
    assert "No exclusion rule was stated" in said and asked.rules_digest in said
    assert "Nobody’s answers were excluded." in said


def test_erased_participants_count_as_before(asked: Study, careless: Participant) -> None:
    participant_flow.finish_questions(Sitting(careless))
    other = join_at_questions(asked, identity="5f1")
    answered.put(other, asked, 0, "yes", number=1)
    before = sides_of(asked)
    for one in (careless, other):
        participants.erase(one)
    after = sides_of(asked)
    assert [side.headline for side in after[:3]] == [side.headline for side in before[:3]]
    assert [side.left_out for side in after[:3]] == [0, 1, 1]
