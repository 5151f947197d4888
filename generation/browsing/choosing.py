"""Questions that somebody picks out while browsing, to step through them one after the other.

They stand in the address beside the filters, `?type=count&list=3,17,55`. A form adds `choose=8` for each box that is
ticked on its page, and `then=step` or `then=present` for what shall be done with all of them.
"""

from collections.abc import Iterable
from typing import NamedTuple

from generation.browsing.trail import MAX_PICKED, Pairs, read_list
from generation.browsing.visit import ON, PRESENT
from generation.models import Split
from generation.splits.filters import LIST, BadAddress, shortened

CHOOSE, THEN = "choose", "then"
KEEP, STEP = "keep", "step"


class Choice(NamedTuple):
    """The chosen questions in their order, and what a form asks for; `then` is empty where nothing was sent."""

    positions: list[int]
    then: str

    @property
    def leads_on(self) -> bool:
        """Return whether the questions themselves are asked for."""
        return self.then in (STEP, PRESENT)


def parted(pairs: Iterable[tuple[str, str]]) -> tuple[Pairs, Pairs]:
    """Return what an address says of the choice, and what is left: the filters."""
    own: Pairs = []
    rest: Pairs = []
    for pair in pairs:
        (own if pair[0] in (LIST, CHOOSE, THEN) else rest).append(pair)
    return own, rest


def read_choice(own: Pairs, *, questions: int) -> Choice:
    """Return what is chosen of so many questions; raise `BadAddress` where that makes no sense."""
    listed = [read_list(value, questions=questions) for name, value in own if name == LIST and value]
    ticked = [read_list(value, questions=questions) for name, value in own if name == CHOOSE]
    positions = list(dict.fromkeys(position for some in (*listed, *ticked) for position in some))
    asked = [value for name, value in own if name == THEN]
    then = asked[-1] if asked else KEEP if ticked else ""
    if asked and then not in (KEEP, STEP, PRESENT):
        raise BadAddress(f"Expected {THEN}={KEEP}, {THEN}={STEP} or {THEN}={PRESENT}, got {shortened(then)}.")
    if len(positions) > MAX_PICKED:
        raise BadAddress(f"Expected at most {MAX_PICKED} chosen questions, got {len(positions)}.")
    if then in (STEP, PRESENT) and not positions:
        raise BadAddress("Expected chosen questions, got none: tick the box before each one that you want.")
    return Choice(positions, then)


def address_of(split: Split, positions: list[int], *, presents: bool = False) -> str:
    """Return the address of the first chosen question, from which the others follow."""
    listed = ",".join(map(str, positions))
    presenting = f"&{PRESENT}={ON}" if presents else ""
    return f"{split.get_absolute_url()}q/{positions[0]}/?{LIST}={listed}{presenting}"
