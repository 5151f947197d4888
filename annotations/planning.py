"""What a study will take and give: sessions, minutes, money, and how sure its figures will be."""

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal
from statistics import median
from typing import NamedTuple

from annotations import sampling, timing
from annotations.models import Answer, Study
from annotations.sampling import Sample
from generation.engine.statistics import Interval, wilson
from generation.index import SplitIndex

SECONDS = 12.0  # a question, until answers say
READING = 120.0  # seconds for consent, colours and instructions, before the first question
EXPECTED = 0.92  # accuracy at which intervals are foretold: about what people had in the paper
TOO_FEW = 30  # questions of which no interval is told, as elsewhere on the site
ENOUGH = 30  # answers from which their median stands for the time of a question
LATEST = 1000  # answers of which the median is taken
MOST_VALUES = 30  # of a facet whose slices are listed
CENT = Decimal("0.01")


class Plan(NamedTuple):
    """What a study will take.

    Attributes
    ----------
    questions, answers, sessions : int
        Of the sample; wanted of them all; how many people that takes, each for one session.
    asked : int
        Items of a session: questions of the sample, practice, checks, attention items.
    seconds : float
        An item.
    is_measured : bool
        Whether answers of this study say how long an item takes.
    pay, cost : Decimal
        For a session, and for all of them, without what a platform takes for itself.
    worth : Decimal
        What a session should pay by the hour.
    interval : Interval
        Of the human row, at the expected accuracy.
    """

    questions: int
    answers: int
    sessions: int
    asked: int
    seconds: float
    is_measured: bool
    pay: Decimal
    cost: Decimal
    worth: Decimal
    interval: Interval

    @property
    def minutes(self) -> float:
        """Return how long a session takes."""
        return minutes_of(self.asked, self.seconds)

    @property
    def pays_too_little(self) -> bool:
        """Return whether a session pays less than the stated pay by the hour."""
        return self.pay < self.worth

    @property
    def interval_text(self) -> str:
        """Return the human row's interval for people."""
        return in_percent(self.interval)


class Slice(NamedTuple):
    """Questions of the sample that share a value of a facet, and how sure their accuracy will be."""

    label: str
    n: int
    interval: Interval

    @property
    def text(self) -> str:
        """Return the interval for people, or that there are too few questions for one."""
        return in_percent(self.interval) if self.n >= TOO_FEW else f"too few (n = {self.n})"


class Breakdown(NamedTuple):
    """A facet, and its slices of a sample."""

    label: str
    slices: Sequence[Slice]


def plan(study: Study, *, times: Sequence[int] = ()) -> Plan:
    """Return what a study will take; `times` are milliseconds that answers of it took."""
    is_measured = len(times) >= ENOUGH
    seconds = median(times) / 1000 if is_measured else SECONDS
    given = min(study.per_session, study.wanted)
    answers = study.wanted * study.per_question
    asked = given + study.practice + study.checks + study.attention
    worth = pay_of(Decimal(study.hourly_pay), minutes_of(asked, seconds))
    pay = worth if study.reward is None else Decimal(study.reward)
    sessions = math.ceil(answers / given)
    return Plan(
        questions=study.wanted,
        answers=answers,
        sessions=sessions,
        asked=asked,
        seconds=seconds,
        is_measured=is_measured,
        pay=pay,
        cost=sessions * pay,
        worth=worth,
        interval=expected_interval(study.wanted),
    )


def minutes_of(asked: int, seconds: float) -> float:
    """Return how many minutes a session of so many items takes, with what is read before the first."""
    return (READING + asked * seconds) / 60


def pay_of(hourly: Decimal, minutes: float) -> Decimal:
    """Return what so many minutes are worth, rounded up to a hundredth: never less than the hourly pay."""
    exact = (hourly * Decimal(minutes) / 60).quantize(Decimal("0.000001"), ROUND_HALF_UP)
    return exact.quantize(CENT, ROUND_UP)


def expected_interval(n: int, accuracy: float = EXPECTED) -> Interval:
    """Return the 95 % interval that the accuracy on so many questions will have, if it is what is expected."""
    return wilson(math.floor(accuracy * n + 0.5), n)


def in_percent(interval: Interval) -> str:
    """Return an interval for people."""
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %"


def times_of(study: Study) -> list[int]:
    """Return how many milliseconds the latest answers of a study took, tests left out."""
    if study.pk is None or study.is_draft:
        return []
    answers = Answer.objects.current().filter(participant__study=study, participant__is_test=False)
    latest = dict(answers.order_by("-pk").values_list("pk", "participant")[:LATEST])
    times = timing.counted(study, people=set(latest.values())).answers
    return [times.get(key, 0) for key in latest]


def breakdowns(study: Study, sample: Sample) -> list[Breakdown]:
    """Return, facet by facet, the slices that a sample will have; facets that tell nothing apart are left out."""
    index = SplitIndex.open(study.split)
    found = []
    for facet in sampling.facets_of(study.split, index):
        groups = sampling.grouped(facet, sample.positions)
        if 1 < len(groups) <= MOST_VALUES:
            slices = [Slice(one.label, len(one.positions), expected_interval(len(one.positions))) for one in groups]
            found.append(Breakdown(facet.label, slices))
    return found
