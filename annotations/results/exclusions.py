"""Leaving people out as the stated rules say, and the figures three ways: without that, with it, as it stands now.

By rule or by hand, leaving somebody out of the data is never a refusal to pay.
"""

from collections.abc import Sequence
from typing import NamedTuple

from annotations.answering.participants import Person
from annotations.models import Study
from annotations.results import figures
from annotations.results.figures import Gathered, Headline

MOST_NAMED = 10


def _names(people: Sequence[Person]) -> str:
    named = ", ".join(person.pseudonym for person in people[:MOST_NAMED])
    return named if len(people) <= MOST_NAMED else f"{named} and {len(people) - MOST_NAMED} more"


class Side(NamedTuple):
    """The figures with so many people left out."""

    left_out: int
    headline: Headline


class Sides(NamedTuple):
    """The figures three ways.

    Attributes
    ----------
    everyone, by_rules : Side
        With nobody left out, and with exactly those whom the stated rules leave out, whether that was done or not.
    now : Side
        As it stands: rules, what was done by hand, and who was taken back.
    extra, spared, waiting : list of Person
        Left out, and no rule says so; taken back, though the rules leave them out; left out by the rules, and nobody
        has done it yet.
    """

    everyone: Side
    by_rules: Side
    now: Side
    extra: list[Person]
    spared: list[Person]
    waiting: list[Person]

    @property
    def text(self) -> str:
        """Return in a line how what stands differs from what the stated rules say."""
        parts = (
            (self.extra, "left out besides"),
            (self.spared, "taken back, though the rules leave them out"),
            (self.waiting, "left out by the rules, and not yet here"),
        )
        said = [f"{_names(people)} {'is' if len(people) == 1 else 'are'} {what}" for people, what in parts if people]
        if said:
            return f"What stands now differs from the stated rules: {'; '.join(said)}."
        if self.by_rules.left_out:
            return "What stands now is what the stated rules say."
        return "Nobody is left out, by the stated rules or otherwise."


def sides(study: Study, found: Gathered, people: Sequence[Person]) -> Sides:
    """Return the figures of a study three ways; `found` is what counts now, `people` everybody who came."""
    worked = [one for one in people if one.said and not one.participant.is_test]
    due = {one.participant.pk for one in worked if one.is_due}
    out = {one.participant.pk for one in worked if one.participant.excluded is not None}
    others = figures.gather_without(study, [(), due])
    everyone, by_rules = (figures.headline(one) for one in others)
    return Sides(
        everyone=Side(0, everyone),
        by_rules=Side(len(due), by_rules),
        now=Side(len(out), figures.headline(found)),
        extra=[one for one in worked if one.participant.pk in out - due],
        spared=[one for one in worked if one.is_due and one.participant.taken_back is not None],
        waiting=[one for one in worked if one.is_waiting],
    )
