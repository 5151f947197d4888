"""Compares a study's figures if nobody were excluded, if exactly the stated rules were applied, and as they are now.

An exclusion from the data, by a rule or by hand, never means that the participant is not paid.
"""

from collections.abc import Sequence
from typing import NamedTuple

from annotations.answering.participants import Person
from annotations.models import Study
from annotations.results import study_statistics
from annotations.results.study_statistics import GatheredAnswers, Headline

MOST_NAMED = 10


def _names(people: Sequence[Person]) -> str:
    named = ", ".join(person.pseudonym for person in people[:MOST_NAMED])
    return named if len(people) <= MOST_NAMED else f"{named} and {len(people) - MOST_NAMED} more"


class Side(NamedTuple):
    left_out: int  # excluded participants
    headline: Headline


class Sides(NamedTuple):
    """A study's figures for three sets of exclusions.

    Attributes
    ----------
    everyone : Side
        Nobody is excluded.
    by_rules : Side
        Exactly those participants are excluded whom the stated rules exclude, even if this was not done yet.
    now : Side
        The current exclusions: by rules and by hand, without participants who were taken back.
    extra : list of Person
        Participants who are excluded although no rule excludes them.
    spared : list of Person
        Participants who were taken back although the rules exclude them.
    waiting : list of Person
        Participants who are not excluded yet although the rules exclude them.
    """

    everyone: Side
    by_rules: Side
    now: Side
    extra: list[Person]
    spared: list[Person]
    waiting: list[Person]

    @property
    def text(self) -> str:
        """Describe how the current exclusions differ from the stated rules."""
        parts = (
            (self.extra, "excluded without a rule"),
            (self.spared, "included again, although a rule excludes them"),
            (self.waiting, "not excluded yet, although a rule excludes them"),
        )
        said = [f"{_names(people)} {'is' if len(people) == 1 else 'are'} {what}" for people, what in parts if people]
        if said:
            return f"The current exclusions differ from the rules: {'; '.join(said)}."
        if self.by_rules.left_out:
            return "The current exclusions follow the rules."
        return "Nobody is excluded."


def sides(study: Study, found: GatheredAnswers, people: Sequence[Person]) -> Sides:
    """Return the figures for three sets of exclusions; `found` has the answers that count now, `people` is everyone."""
    worked = [one for one in people if one.said and not one.participant.is_test]
    due = {one.participant.pk for one in worked if one.is_due}
    out = {one.participant.pk for one in worked if one.participant.excluded is not None}
    others = study_statistics.gather_without(study, [(), due])
    everyone, by_rules = (study_statistics.headline(one) for one in others)
    return Sides(
        everyone=Side(0, everyone),
        by_rules=Side(len(due), by_rules),
        now=Side(len(out), study_statistics.headline(found)),
        extra=[one for one in worked if one.participant.pk in out - due],
        spared=[one for one in worked if one.is_due and one.participant.taken_back is not None],
        waiting=[one for one in worked if one.is_waiting],
    )
