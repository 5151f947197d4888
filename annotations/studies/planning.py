"""The plan of a study: its sessions, minutes and cost, and the expected confidence intervals."""

import math
import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal
from statistics import median
from typing import NamedTuple

from annotations.answering import timing
from annotations.models import Answer, Study, StudyText
from annotations.studies import sampling
from annotations.studies.sampling import Sample
from generation.engine.scoring.figures import Interval, is_too_few, points, too_few_text, wilson
from generation.storage.split_index import SplitIndex

SECONDS = 12.0  # the assumed time for a question, until enough answers are measured
READING = 120.0  # seconds for consent, colours and instructions, before the first question
EXPECTED = 0.92  # the accuracy for which intervals are predicted: about that of people in the paper
ENOUGH = 30  # with this many answers, their median time is used as the time for a question
LATEST = 1000  # the median is computed from at most this many answers, the latest ones
MOST_VALUES = 30  # slices are listed for facets with at most this many values
CENT = Decimal("0.01")
MINUTES = "{minutes}"  # the placeholder in a text for the minutes that a session takes
NEAR = 0.1  # a text may differ from the plan's minutes by this share of them, or by one minute if that is more
SPELLED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TENS = {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60}
WORDS = {word: number for number, word in enumerate(SPELLED, start=1)} | TENS
NUMBER = rf"\d+(?:[.,]\d+)?|{'|'.join(sorted(WORDS, key=len, reverse=True))}"
DURATION = re.compile(
    rf"\b({NUMBER})(?:\s*(?:to|or|[-–])\s*({NUMBER}))?[\s-]*(min|minut\w*|hour)s?\b|\bhalf an hour",
    re.IGNORECASE,
)


class Plan(NamedTuple):
    """The plan of a study: how many sessions it needs, and how much time and money.

    Attributes
    ----------
    questions, answers, sessions : int
        The number of questions in the sample, of wanted answers, and of sessions, one per participant.
    asked : int
        The number of items in a session: questions of the sample, practice, check and attention items.
    seconds : float
        The time for one item.
    is_measured : bool
        Whether `seconds` was measured in answers of this study.
    pay, cost : Decimal
        The pay for one session and for all sessions, without the platform's fees.
    worth : Decimal
        The pay for a session according to the stated hourly pay.
    interval : Interval
        The confidence interval of the human baseline's accuracy, if the accuracy is as expected.
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
        return minutes_of(self.asked, self.seconds)

    @property
    def whole_minutes(self) -> int:
        return math.ceil(round(self.minutes, 6))

    @property
    def pays_too_little(self) -> bool:
        return self.pay < self.worth

    @property
    def interval_text(self) -> str:
        return interval_text(self.interval, self.questions)


class SampleSlice(NamedTuple):
    """The questions of the sample with the same value of a facet, and the expected interval of their accuracy."""

    label: str
    n: int
    interval: Interval

    @property
    def text(self) -> str:
        return interval_text(self.interval, self.n)


class SampleBreakdown(NamedTuple):
    label: str
    slices: Sequence[SampleSlice]


def plan(study: Study, *, times: Sequence[int] = ()) -> Plan:
    """Return the plan of a study; `times` are the counted milliseconds of its answers so far."""
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
    return (READING + asked * seconds) / 60


def pay_of(hourly: Decimal, minutes: float) -> Decimal:
    exact = (hourly * Decimal(minutes) / 60).quantize(Decimal("0.000001"), ROUND_HALF_UP)
    return exact.quantize(CENT, ROUND_UP)  # never below the hourly pay


def expected_interval(n: int) -> Interval:
    return wilson(math.floor(EXPECTED * n + 0.5), n)


def interval_text(interval: Interval, n: int) -> str:
    return too_few_text(n) if is_too_few(n) else f"{points(interval.low)} to {points(interval.high)} %"


def times_of(study: Study) -> list[int]:
    """Return the counted milliseconds of a study's latest answers, without answers of the test link."""
    if study.pk is None or study.is_draft:
        return []
    answers = Answer.objects.current().filter(participant__study=study, participant__is_test=False)
    latest = dict(answers.order_by("-pk").values_list("pk", "participant")[:LATEST])
    times = timing.count_time(study, people=set(latest.values())).answers
    return [times.get(key, 0) for key in latest]


def breakdowns(study: Study, sample: Sample) -> list[SampleBreakdown]:
    """Return the slices of a sample by each facet; facets with only one value or with too many values are left out."""
    index = SplitIndex.open(study.split)
    found = []
    for facet in sampling.facets_of(study.split, index):
        groups = sampling.group_by(facet, sample.positions)
        if 1 < len(groups) <= MOST_VALUES:
            slices = [
                SampleSlice(one.label, len(one.positions), expected_interval(len(one.positions))) for one in groups
            ]
            found.append(SampleBreakdown(facet.label, slices))
    return found


# Durations in the texts


class StatedDuration(NamedTuple):
    words: str  # of the text that states it
    low: float  # minutes
    high: float


def fill_in(text: str, plan: Plan) -> str:
    return text.replace(MINUTES, str(plan.whole_minutes))


def contradictions(study: Study, plan: Plan) -> list[tuple[str, str]]:
    """Return the field and the problem of each text that states durations, but none near the plan's duration."""
    slack = max(1.0, NEAR * plan.minutes)
    found = []
    for kind in StudyText.Kind:
        stated = list(_durations(fill_in(getattr(study, kind), plan)))
        if stated and not any(one.low - slack <= plan.minutes <= one.high + slack for one in stated):
            said = " and ".join(f"“{one.words}”" for one in stated)
            found.append(
                (
                    str(kind),
                    f"The text says {said}, but a session takes about {plan.minutes:.1f} minutes. Replace the number "
                    f"by {MINUTES}, which stands for the planned minutes.",
                )
            )
    return found


def _durations(text: str) -> Iterator[StatedDuration]:
    for found in DURATION.finditer(text):
        low, high, unit = found.groups()
        if unit is None:
            yield StatedDuration(found[0], 30.0, 30.0)
        else:
            scale = 60.0 if unit.lower() == "hour" else 1.0
            yield StatedDuration(found[0], scale * _number(low), scale * _number(high or low))


def _number(text: str) -> float:
    return float(WORDS[text.lower()] if text.lower() in WORDS else text.replace(",", "."))
