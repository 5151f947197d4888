"""What each participant did, and what of it somebody should look at before paying or counting it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median

from annotations.models import Answer, EasyAnswer, Participant, Study
from annotations.results import Share

LONG_RUN = 12  # the same answer so often in a row
SAME_SHARE, SAME_FROM = 0.9, 15  # or in more than this share of so many answers
FAST, FAST_FROM = 1500, 10  # milliseconds, of so many answers
MISSED = 2  # attention items: from here on refusing to pay can be defended
NOTHING = Share(0, 0)


@dataclass
class Person:
    """A participant's work.

    Attributes
    ----------
    participant : Participant
    pseudonym : str
    said : list of (question, answer)
        Answers that stand, in the order they came; an answer is empty where it is a reason against.
    times : list of int
        Milliseconds of each with the page visible.
    checks, attention : Share
        Of those questions right. `Share` says no share of so few: pages show both numbers.
    agreement : Share
        Of answers that can be compared those that are what most of the others said.
    """

    participant: Participant
    pseudonym: str
    said: list[tuple[int, str]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    checks: Share = NOTHING
    attention: Share = NOTHING
    agreement: Share = NOTHING

    @property
    def given(self) -> int:
        """Return how many answers stand, reasons against among them."""
        return len(self.said)

    @property
    def seconds(self) -> float | None:
        """Return the median time of an answer with the page visible; None of nothing."""
        return median(self.times) / 1000 if self.times else None

    @property
    def missed(self) -> int:
        """Return how many attention items were answered wrongly."""
        return self.attention.n - self.attention.right

    @property
    def may_be_refused(self) -> bool:
        """Return whether so many attention items failed that pay may be refused."""
        return self.missed >= MISSED

    @property
    def flags(self) -> list[str]:
        """Return what to look at."""
        found = []
        if is_straight_lining([text for _, text in self.said]):
            found.append("the same answer over and over")
        if is_too_fast(self.times):
            found.append("too fast")
        if self.may_be_refused:
            found.append(f"{self.missed} attention items failed")
        return found


def is_straight_lining(said: Sequence[str]) -> bool:
    """Return whether somebody gave the same answer again and again, whatever was asked."""
    longest = max((len(list(run)) for _, run in groupby(said)), default=0)
    most = max(Counter(said).values(), default=0)
    return longest >= LONG_RUN or (len(said) >= SAME_FROM and most > SAME_SHARE * len(said))


def is_too_fast(times: Sequence[int]) -> bool:
    """Return whether so many answers took so little time that the questions can't have been read."""
    return len(times) >= FAST_FROM and median(times) < FAST


def pseudonym(number: int) -> str:
    """Return what the participant is called who came as number 1, 2, ...; the same for ever."""
    return f"P{number:03}"


def people_of(study: Study) -> list[Person]:
    """Return everybody who followed the study's link, in the order they came."""
    everybody = enumerate(study.participants.order_by("pk"), start=1)
    people = {one.pk: Person(one, pseudonym(number)) for number, one in everybody}
    valid = []
    answers = Answer.objects.current().filter(question__study=study).order_by("pk")
    for key, question, text, visible in answers.values_list("participant", "question", "text", "visible"):
        if key not in people:  # came meanwhile
            continue
        people[key].said.append((question, text))
        people[key].times.append(visible)
        if text and not people[key].participant.is_test and people[key].participant.excluded is None:
            valid.append((key, question, text))
    others = _others(valid)
    for key, person in people.items():
        person.agreement = _agreement(key, person.said, others)
    _add_easy(study, people)
    return list(people.values())


Said = dict[int, dict[int, str]]
"""By question what each participant said."""


def _others(rows: Iterable[tuple[int, int, str]]) -> Said:
    said: Said = defaultdict(dict)
    for key, question, text in rows:
        said[question][key] = text
    return said


def _agreement(key: int, mine: Iterable[tuple[int, str]], said: Said) -> Share:
    """Return how many of somebody's answers are what most of the others said; where these are split, none counts."""
    agreed = compared = 0
    for question, text in mine:
        votes = Counter(other for who, other in said.get(question, {}).items() if who != key)
        first = votes.most_common(2)
        if text and first and not (len(first) == 2 and first[0][1] == first[1][1]):
            compared += 1
            agreed += text == first[0][0]
    return Share(agreed, compared)


def _add_easy(study: Study, people: dict[int, Person]) -> None:
    """Say of each how many check questions and attention items were right."""
    tally: Counter[tuple[int, str, bool]] = Counter(
        EasyAnswer.objects.current().filter(participant__study=study).values_list("participant", "kind", "is_right")
    )
    for key, person in people.items():
        checks, attention = (
            Share(tally[key, kind, True], tally[key, kind, True] + tally[key, kind, False])
            for kind in (EasyAnswer.Kind.CHECK, EasyAnswer.Kind.ATTENTION)
        )
        person.checks, person.attention = checks, attention


def erase(participant: Participant) -> None:
    """Remove whatever says who somebody is and what they wrote freely; their answers stay, and every score."""
    Participant.objects.filter(pk=participant.pk).update(identity="", session="", comment="")
    participant.refresh_from_db()
