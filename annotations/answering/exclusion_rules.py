"""The rules for excluding participants. They are stated before a study opens, and can't be changed later.

No rule depends on whether answers to questions of the sample are right. When a study opens, its rules with all
thresholds are stored as canonical JSON, together with the SHA-256 of this text and the time. From then on, only this
text defines the rules.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple, Protocol

from django.db.models import F

from annotations.answering import color_vision
from annotations.answering.answer_forms import PressedButtons, swatches_of
from annotations.models import Participant, Study
from generation.engine.content_hash import canonical

FIELDS = ("out_attention", "out_checks", "out_fast", "out_straight", "out_buttons", "out_colours", "out_unfinished")
FIRST = {"out_attention": 2, "out_fast": "1.5"}  # initial values in the form of a new study
FINISHED = {Participant.Stage.COMMENT, Participant.Stage.COMPLETED}


class Fast(NamedTuple):
    below: int = 1500  # milliseconds; a median of the counted times below this is too fast
    answers: int = 10  # fewer answers are not judged


class Straight(NamedTuple):
    """Limits for the same answer or button.

    They are reached if it comes `run` times in a row, or in more than `percent` % of at least `answers` answers. Only
    flags use `every`: the limits are also reached if there are at least this many answers and all are the same.
    """

    run: int = 12
    percent: int = 90
    answers: int = 15
    every: int | None = None


class ExclusionRules(NamedTuple):
    """The thresholds of the exclusion rules; the threshold of a rule that is off is None.

    Attributes
    ----------
    attention, checks, colours : int or None
        The number of failed attention items, wrong check questions and confused pairs of colours from which on the rule
        excludes a participant.
    fast : Fast or None
    straight, buttons : Straight or None
        The limits for the same answer, and for the button at the same place, over all questions or over questions with
        the same buttons.
    unfinished : bool or None
        True if an unfinished session is a reason for exclusion.
    hours : int
        A session ends after this many hours without an answer.
    """

    attention: int | None = None
    checks: int | None = None
    fast: Fast | None = None
    straight: Straight | None = None
    buttons: Straight | None = None
    colours: int | None = None
    unfinished: bool | None = None
    hours: int = 3

    @property
    def on(self) -> list[str]:
        return [name for name in NAMES if getattr(self, name) is not None]


NAMES = ExclusionRules._fields[:-1]


class ParticipantWork(Protocol):
    """The part of a participant's work on which the rules depend."""

    participant: Participant
    said: list[tuple[int, str]]
    pressed: list[PressedButtons]
    times: list[int]
    last: datetime | None

    @property
    def missed(self) -> int:
        """Return how many attention items were answered wrongly."""

    @property
    def mistakes(self) -> int:
        """Return how many check questions were answered wrongly."""


# The rules of a study


def rules_of(study: Study) -> ExclusionRules:
    """Return the rules of a study: those that were fixed when it opened, or those in the fields of a draft.

    An opened study without fixed rules has no rules.
    """
    if study.rules:
        return read(study.rules)
    return draft_rules(study) if study.is_draft else ExclusionRules()


def draft_rules(study: Study) -> ExclusionRules:
    """Return the rules in a study's fields; a rule about items that the study does not have is off."""
    has_checks = study.easy_id is not None and study.checks > 0
    has_colours = study.out_colours and len(set(swatches_of(study.split).values())) > 1
    return ExclusionRules(
        attention=study.out_attention if study.attention else None,
        checks=study.out_checks if has_checks else None,
        fast=None if study.out_fast is None else Fast(int(1000 * Decimal(study.out_fast))),
        straight=Straight() if study.out_straight else None,
        buttons=Straight() if study.out_buttons else None,
        colours=color_vision.SLIPS + 1 if has_colours else None,
        unfinished=True if study.out_unfinished else None,
    )


def text_of(study: Study, rules: ExclusionRules) -> str:
    """Return rules as canonical JSON; the digest of rules is the SHA-256 of this text in UTF-8."""
    fast = rules.fast
    return canonical(
        {
            "study": study.code,
            "left_out": {
                "attention_items_failed": rules.attention,
                "check_questions_wrong": rules.checks,
                "median_visible_ms": None if fast is None else {"below": fast.below, "from_answers": fast.answers},
                "same_answer": _as_json(rules.straight),
                "same_button": _as_json(rules.buttons),
                "colour_pairs_mistaken": rules.colours,
                "session_not_finished": rules.unfinished is not None,
            },
            "session_ends_after_hours": rules.hours,
        }
    )


def _as_json(limits: Straight | None) -> dict[str, int] | None:
    if limits is None:
        return None
    return {"in_a_row": limits.run, "more_than_percent": limits.percent, "of_answers_from": limits.answers}


def _straight(said: dict[str, int] | None) -> Straight | None:
    return None if said is None else Straight(said["in_a_row"], said["more_than_percent"], said["of_answers_from"])


def read(text: str) -> ExclusionRules:
    """Return the rules from their canonical JSON."""
    whole: dict[str, Any] = json.loads(text)
    said: dict[str, Any] = whole["left_out"]
    fast = said["median_visible_ms"]
    return ExclusionRules(
        attention=said["attention_items_failed"],
        checks=said["check_questions_wrong"],
        fast=fast and Fast(fast["below"], fast["from_answers"]),
        straight=_straight(said["same_answer"]),
        buttons=_straight(said.get("same_button")),  # studies that opened before this rule existed lack it
        colours=said["colour_pairs_mistaken"],
        unfinished=said["session_not_finished"] or None,
        hours=whole["session_ends_after_hours"],
    )


def freeze(study: Study) -> None:
    """Store the rules in the study's fields as its fixed rules, unless its rules are already fixed."""
    text = text_of(study, draft_rules(study))
    digest = hashlib.sha256(text.encode()).hexdigest()
    unset = Study.objects.filter(pk=study.pk, rules="")
    unset.update(rules=text, rules_digest=digest, rules_frozen=F("opened"))
    study.refresh_from_db()


def in_words(rules: ExclusionRules) -> dict[str, str]:
    """Return a description of each rule that is on, in the order of `ExclusionRules`."""
    fast, straight, buttons = rules.fast or Fast(), rules.straight or Straight(), rules.buttons or Straight()
    said = {
        "attention": _or_more(rules.attention, "failed attention item"),
        "checks": f"wrong answers to {_or_more(rules.checks, 'check question')}",
        "fast": f"a median answer time below {fast.below / 1000:g} s, with at least {fast.answers} answers",
        "straight": f"the same answer {_over_and_over(straight)}",
        "buttons": f"the button at the same place {_over_and_over(buttons)}, counted over all questions and over "
        "questions with the same buttons",
        "colours": f"{rules.colours} or more mistakes in {color_vision.PAIRS} pairs of colours",
        "unfinished": f"an unfinished session: no answer for {rules.hours} hours, or the study was closed",
    }
    return {name: said[name] for name in rules.on}


def _over_and_over(limits: Straight) -> str:
    return f"{limits.run} times in a row, or in more than {limits.percent} % of at least {limits.answers} answers"


def _or_more(n: int | None, noun: str) -> str:
    return f"{n} or more {noun}s"


# Applying the rules to sessions


def has_ended(rules: ExclusionRules, work: ParticipantWork, *, is_open: bool, now: datetime) -> bool:
    if work.participant.stage in FINISHED or not is_open:
        return True
    return work.last is not None and (now - work.last).total_seconds() > 3600 * rules.hours


def broken(rules: ExclusionRules, work: ParticipantWork) -> list[str]:
    """Return the names of the rules that exclude a participant because of their work."""
    texts = [text for _, text in work.said if text]
    found = {
        "attention": rules.attention is not None and work.missed >= rules.attention,
        "checks": rules.checks is not None and work.mistakes >= rules.checks,
        "fast": rules.fast is not None and is_too_fast(work.times, rules.fast),
        "straight": rules.straight is not None and is_straight_lining(texts, rules.straight),
        "buttons": rules.buttons is not None and bool(one_button(work.pressed, rules.buttons)),
        "colours": rules.colours is not None and (work.participant.mistaken or 0) >= rules.colours,
        "unfinished": rules.unfinished is not None and work.participant.stage not in FINISHED,
    }
    return [name for name in NAMES if found[name]]


def is_straight_lining(said: Sequence[Hashable], limits: Straight | None = None) -> bool:
    """Return whether the values repeat so often that they reach the limits."""
    limits = limits or Straight()
    n, longest = len(said), max((len(list(run)) for _, run in groupby(said)), default=0)
    most = max(Counter(said).values(), default=0)
    is_every = limits.every is not None and longest == n >= limits.every
    return is_every or longest >= limits.run or (n >= limits.answers and 100 * most > limits.percent * n)


def one_button(pressed: Sequence[PressedButtons], limits: Straight | None = None) -> str:
    """Describe which button was pressed so often that it reaches the limits, and how often; empty if none was.

    The places of the buttons are compared over all questions, and over the questions with the same buttons.
    """
    places = [one.places for one in pressed]
    if is_straight_lining(places, limits):
        place, times = Counter(places).most_common(1)[0]
        return f"{_place_in_words(place)} in {times} of {len(places)} answers"
    groups: dict[tuple[str, ...], list[tuple[int, ...]]] = defaultdict(list)
    for one in pressed:
        groups[one.buttons].append(one.places)
    for buttons, group in groups.items():
        if is_straight_lining(group, limits):
            place, times = Counter(group).most_common(1)[0]
            named = ", ".join(buttons[one] for one in place)
            return f"“{named}” in {times} of {len(group)} answers to questions that have it"
    return ""


def _place_in_words(place: Sequence[int]) -> str:
    if len(place) > 1:
        return f"buttons {', '.join(str(one + 1) for one in place)}"
    return "the first button" if place[0] == 0 else f"button {place[0] + 1}"


def is_too_fast(times: Sequence[int], limits: Fast | None = None) -> bool:
    limits = limits or Fast()
    return len(times) >= limits.answers and median(times) < limits.below
