"""The work of each participant: what to check before it is paid or counted, and in which studies the person took part.

A study recognises people by the platform's name for them. When this name is erased, a keyed hash of it is kept.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotations.answering import answer_forms, exclusion_rules, slot_assignment, timing
from annotations.answering.answer_forms import PressedButtons
from annotations.answering.exclusion_rules import ExclusionRules, Fast, Straight
from annotations.models import Answer, AnswerQuerySet, EasyAnswer, Participant, Study
from generation.engine.scoring.figures import Share

LONGEST = 500  # the most characters of a reason
AT_ONCE = 50  # the most people excluded per request, because each of them takes about a fifth of a second

SALT = "annotations.identity"


def keyed_hash(identity: str) -> str:
    # It is kept of an erased identity: without the site's key, nobody can find the identity.
    return salted_hmac(SALT, identity, algorithm="sha256").hexdigest()


def took_part(study: Study, identity: str) -> bool:
    """Return whether a person took part in a study whose participants this study excludes, or was erased from this one.

    Earlier studies that had no question left for the person do not count.
    """
    if not identity:
        return False
    erased = Q(erased_identity=keyed_hash(identity))
    earlier = Participant.objects.filter(study__in=study.not_from.all(), is_test=False)
    earlier = earlier.filter(Q(identity=identity) | erased).exclude(stage=Participant.Stage.FULL)
    return earlier.exists() or Participant.objects.filter(erased, study=study, is_test=False).exists()


MISSED = 2  # with this many failed attention items, a refusal to pay can be justified
WRONG_CHECKS = 2  # with this many wrong check questions, or if the only one is wrong, the participant gets a flag
EVERY = 8  # with at least this many answers, the participant gets a flag if all of them are the same
FAR = 0.1  # an agreement is low if the upper end of its interval is this far below the agreement of the others
OTHERS = 10  # agreements are compared only if the others have at least this many comparable answers
NOTHING = Share(0, 0)
NO_RULES = ExclusionRules()


@dataclass
class Person:
    """The work of a participant.

    Attributes
    ----------
    participant : Participant
    pseudonym : str
    said : list of (question, answer)
        The current answers in the order in which they came; an answer is empty if a reason was given instead.
    times : list of int
        The counted milliseconds of these answers (`annotations.answering.timing`).
    pressed : list of PressedButtons
        The buttons of these answers, if they are known.
    last : datetime or None
        The time when the latest of these answers came.
    stated : ExclusionRules
        The exclusion rules of the study.
    has_ended : bool
        Whether the session has ended, so that the rules can be applied.
    checks, attention : Share
        The check questions and attention items that were answered correctly; pages show their numbers, because they are
        too few for a share.
    agreement : Share
        The comparable answers that agree with the majority of the other participants.
    others : Share
        The agreement of all other participants who count.
    namesakes : list of str
        The pseudonyms of other participants who came with the same platform id.
    """

    participant: Participant
    pseudonym: str
    said: list[tuple[int, str]] = field(default_factory=list)
    pressed: list[PressedButtons] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    last: datetime | None = None
    stated: ExclusionRules = NO_RULES
    has_ended: bool = False
    checks: Share = NOTHING
    attention: Share = NOTHING
    agreement: Share = NOTHING
    others: Share = NOTHING
    namesakes: list[str] = field(default_factory=list)

    @property
    def given(self) -> int:
        return len(self.said)

    @property
    def seconds(self) -> float | None:
        return median(self.times) / 1000 if self.times else None

    @property
    def missed(self) -> int:
        return self.attention.n - self.attention.right

    @property
    def mistakes(self) -> int:
        return self.checks.n - self.checks.right

    @property
    def may_be_refused(self) -> bool:
        return self.missed >= MISSED

    @property
    def is_due(self) -> bool:
        return bool(self.broken) and not self.participant.is_test  # even if the exclusion was taken back

    @property
    def is_waiting(self) -> bool:
        one = self.participant
        return self.is_due and one.excluded is None and one.taken_back is None

    @property
    def broken(self) -> list[str]:
        return exclusion_rules.broken(self.stated, self) if self.has_ended and self.said else []

    @property
    def flags(self) -> list[str]:
        """Return what the researcher should check; this is more than the stated rules."""
        stated = self.stated
        looked_at = stated._replace(
            attention=1,
            checks=min(stated.checks or WRONG_CHECKS, WRONG_CHECKS, self.checks.n or WRONG_CHECKS),
            fast=stated.fast or Fast(),
            straight=(stated.straight or Straight())._replace(every=EVERY),
            buttons=(stated.buttons or Straight())._replace(every=EVERY),
            unfinished=stated.unfinished if self.has_ended else None,
        )
        names = [f"same platform id as {', '.join(self.namesakes)}"] if self.namesakes else []
        names += [self._say(name, looked_at) for name in exclusion_rules.broken(looked_at, self)]
        return [*names, self._disagreement] if self.is_far_below else names

    @property
    def agreement_interval(self) -> str:
        return _interval(self.agreement) if self.agreement.n else ""

    @property
    def is_far_below(self) -> bool:
        mine, others = self.agreement, self.others
        return bool(mine.n) and others.n >= OTHERS and mine.wilson.high + FAR < others.right / others.n

    @property
    def _disagreement(self) -> str:
        mine, others = self.agreement, self.others
        return (
            f"agrees with the majority in {mine.right} of {mine.n} answers ({_interval(mine)}), the others agree in "
            f"{100 * others.right / others.n:.0f} %"
        )

    @property
    def rule_reason(self) -> str:
        return "; ".join(self._say(name, self.stated) for name in self.broken)

    def _say(self, name: str, limits: ExclusionRules) -> str:
        said = {
            "attention": _count(self.missed, "attention item") + " failed",
            "checks": _count(self.mistakes, "check question") + " wrong",
            "fast": "too fast",
            "straight": "the same answer over and over",
            "buttons": exclusion_rules.one_button(self.pressed, limits.buttons),
            "colours": "confuses colours",
            "unfinished": "did not finish",
        }
        return said[name]


def _interval(share: Share) -> str:
    return f"{100 * share.wilson.low:.0f}–{100 * share.wilson.high:.0f} %"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def pseudonym(number: int) -> str:
    return f"P{number:03}"


def people_of(study: Study, *, times: timing.CountedTime | None = None) -> list[Person]:
    """Return the work of everybody who followed the study's link, in the order in which they joined.

    `times` are the study's counted times, if the caller already has them.
    """
    times = times or timing.count_time(study)
    stated = exclusion_rules.rules_of(study)
    everybody = enumerate(study.participants.order_by("pk"), start=1)
    people = {one.pk: Person(one, pseudonym(number), stated=stated) for number, one in everybody}
    said = _add_work(people, Answer.objects.current().filter(question__study=study), times)
    counted = {key for key, person in people.items() if _counts(person.participant)}
    others = _others((one.person, one.question, one.text) for one in said if one.text and one.person in counted)
    for key, person in people.items():
        person.agreement = _agreement(key, person.said, others)
    _add_others(people, counted)
    _add_buttons(people.values(), study, said)
    _add_easy(people, EasyAnswer.objects.current().filter(participant__study=study))
    _judge(people.values(), study)
    _add_namesakes(people.values())
    return list(people.values())


def _add_namesakes(people: Iterable[Person]) -> None:
    """Set the namesakes of each person. Of those with the same platform id, the platform sent only one."""
    same: dict[str, list[Person]] = defaultdict(list)
    for person in people:
        if person.participant.identity and not person.participant.is_test:
            same[person.participant.identity].append(person)
    for group in same.values():
        for person in group:
            person.namesakes = [other.pseudonym for other in group if other is not person]


class Placeholder(NamedTuple):
    parameter: str
    text: str
    people: int  # who came with it


def placeholders_of(people: Iterable[Person]) -> list[Placeholder]:
    """Return the placeholders that nobody replaced, the most frequent ones first; the test link does not count."""
    came = [one.participant.placeholders for one in people if not one.participant.is_test]
    lines = Counter(line for text in came for line in text.split("\n") if line)
    parts = [(*line.partition("="), n) for line, n in lines.most_common()]
    return [Placeholder(parameter, text, n) for parameter, _, text, n in parts]


def person_of(participant: Participant) -> Person:
    """Return the work of one participant, without pseudonym and agreement, because they need all other participants."""
    person = Person(participant, "", stated=exclusion_rules.rules_of(participant.study))
    people = {participant.pk: person}
    times = timing.count_time(participant.study, people=[participant.pk])
    said = _add_work(people, Answer.objects.current().filter(participant=participant), times)
    _add_buttons([person], participant.study, said)
    _add_easy(people, EasyAnswer.objects.current().filter(participant=participant))
    _judge([person], participant.study)
    return person


class AnswerTimes(NamedTuple):
    """An answer: the keys of its participant and question, the question's position, and the text (empty if refused)."""

    person: int
    question: int
    position: int
    text: str


def _add_work(people: dict[int, Person], answers: AnswerQuerySet, times: timing.CountedTime) -> list[AnswerTimes]:
    """Add their answers and times to each person; return all these answers."""
    fields = ("participant", "question", "question__position", "text", "pk", "received")
    said = []
    for key, question, position, text, answer, received in answers.order_by("pk").values_list(*fields):
        if key in people:  # the others joined after `people` was read
            person = people[key]
            person.said.append((question, text))
            person.times.append(times.answers.get(answer, 0))
            person.last = received
            said.append(AnswerTimes(key, question, position, text))
    return said


def _counts(participant: Participant) -> bool:
    return not participant.is_test and participant.excluded is None


def _judge(people: Iterable[Person], study: Study) -> None:
    now = timezone.now()
    for person in people:
        person.has_ended = exclusion_rules.has_ended(person.stated, person, is_open=study.is_open, now=now)


Said = dict[int, dict[int, str]]
"""The answers of each participant, by question."""


def _others(rows: Iterable[tuple[int, int, str]]) -> Said:
    said: Said = defaultdict(dict)
    for key, question, text in rows:
        said[question][key] = text
    return said


def _agreement(key: int, mine: Iterable[tuple[int, str]], said: Said) -> Share:
    """Return how many of a person's answers agree with the majority of the others.

    A question counts only if one of the answers of the others is the most frequent one.
    """
    agreed = compared = 0
    for question, text in mine:
        votes = Counter(other for who, other in said.get(question, {}).items() if who != key)
        first = votes.most_common(2)
        if text and first and not (len(first) == 2 and first[0][1] == first[1][1]):
            compared += 1
            agreed += text == first[0][0]
    return Share(agreed, compared)


def _add_others(people: dict[int, Person], counted: Collection[int]) -> None:
    """Set for each person the agreement of all other participants who count."""
    right, n = (sum(people[key].agreement[which] for key in counted) for which in (0, 1))
    for key, person in people.items():
        mine = person.agreement if key in counted else NOTHING
        person.others = Share(right - mine.right, n - mine.n)


def _add_buttons(people: Iterable[Person], study: Study, said: Iterable[AnswerTimes]) -> None:
    """Set for each person which buttons they pressed."""
    forms = answer_forms.forms_of(study, {one.question: one.position for one in said})
    for person in people:
        known = ((forms[question], text) for question, text in person.said if text and question in forms)
        pressed = (answer_forms.buttons_of(form, text) for form, text in known)
        person.pressed = [one for one in pressed if one is not None]


def _add_easy(people: dict[int, Person], answers: QuerySet[EasyAnswer]) -> None:
    """Set for each person how many check questions and attention items they answered correctly."""
    tally: Counter[tuple[int, str, bool]] = Counter(answers.values_list("participant", "kind", "is_right"))
    for key, person in people.items():
        checks, attention = (
            Share(tally[key, kind, True], tally[key, kind, True] + tally[key, kind, False])
            for kind in (EasyAnswer.Kind.CHECK, EasyAnswer.Kind.ATTENTION)
        )
        person.checks, person.attention = checks, attention


def erase(participant: Participant) -> None:
    """Erase the platform's names and the comment of a participant; the answers and scores are kept.

    A keyed hash of the platform's name for the person is kept, so that studies that exclude this study's participants
    still exclude this person.
    """
    with transaction.atomic():
        mine = Participant.objects.select_for_update().get(pk=participant.pk)
        kept = keyed_hash(mine.identity) if mine.identity else mine.erased_identity
        Participant.objects.filter(pk=participant.pk).update(
            identity="", session="", study_there="", placeholders="", comment="", erased_identity=kept
        )
    participant.refresh_from_db()


def judge(participant: Participant) -> None:
    """Apply the stated rules when a participant's session ends.

    Exclude the participant if a rule says so. Take back an earlier exclusion by a rule if no rule says so any more.
    """
    if not exclusion_rules.rules_of(participant.study).on and not participant.by_rule:
        return
    person = person_of(participant)
    if person.is_waiting:
        _leave_out(person)
    elif participant.by_rule and participant.excluded is not None and not person.is_due:
        slot_assignment.take_back(participant, by_rule=True)


def apply(study: Study, *, most: int = AT_ONCE) -> list[Person]:
    """Exclude at most `most` of the participants whom the stated rules exclude, and return them."""
    waiting = [person for person in people_of(study) if person.is_waiting][:most]
    for person in waiting:
        _leave_out(person)
    return waiting


def _leave_out(person: Person) -> None:
    slot_assignment.exclude(person.participant, reason=person.rule_reason[:LONGEST], by_rule=True)
