"""Where a reader is in a split: the questions to step through, how one is looked at, and a list picked by hand.

All of it stands in the address: the filters or `list=3,17,55`, `step=4&ask=1&present=1` for how a question is looked
at, `choose=8` for each box that is ticked, `then=step` or `then=present` for what to do with the ticked ones. Whether
a reader wants to be asked first is also kept in a cookie.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from generation.access import Visitor, may_see_facet
from generation.browsing.sidebar import PER_PAGE
from generation.models import Split
from generation.splits.filters import LIST, BadAddress, Query, read_query, shortened
from generation.storage.index import IndexedFacet, SplitIndex

MAX_CHOSEN = 500
MAX_PICKED = 100  # by hand; every link of the page on which they are picked names them
MAX_DIGITS = 9

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Trail:
    """Where a question stands among those that its reader goes through.

    Attributes
    ----------
    previous, following : int or None
        Positions of the questions before and after it.
    place : int or None
        The question's place among them, from 1; None if it is not one of them.
    total : int
    pairs : list of (name, value)
        What keeps the trail in an address.
    back : str
        The address of the list, on the page where the question stands.
    """

    previous: int | None
    following: int | None
    place: int | None
    total: int
    pairs: Pairs
    back: str

    @property
    def is_everything(self) -> bool:
        return not self.pairs

    @property
    def is_list(self) -> bool:
        return any(name == LIST for name, _ in self.pairs)


def visible_facets(user: Visitor, split: Split, index: SplitIndex) -> list[IndexedFacet]:
    """Return the facets that this visitor may filter by."""
    return [facet for facet in index.facets.values() if may_see_facet(user, split, facet)]


def trail_of(pairs: Iterable[tuple[str, str]], *, user: Visitor, split: Split, position: int) -> Trail:
    """Return the trail that an address asks for; raise `BadAddress` where it makes no sense."""
    pairs = list(pairs)
    chosen = [value for name, value in pairs if name == LIST]
    filters = [(name, value) for name, value in pairs if name != LIST]
    if chosen and filters:
        raise BadAddress(f"Expected a list or filters, got both: {LIST} and {shortened(filters[0][0])}.")
    if chosen:
        return _chosen(split, read_list(chosen[-1], questions=split.questions), position)
    if not split.is_complete:
        if filters:
            raise BadAddress(f"Expected no filters, got {shortened(filters[0][0])}: {split} isn't complete.")
        return _everything(split, position)
    index = SplitIndex.open(split)
    facets, hidden = visible_facets(user, split, index), list(index.facets.values())
    query = read_query(filters, facets=facets, hidden=hidden, is_sortable=True)
    is_everything = query.is_plain and query.order is None
    return _everything(split, position) if is_everything else _filtered(split, index, query, position)


def in_order(index: SplitIndex, query: Query, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    if query.order is None:
        return positions
    return index.facets[query.order.facet.name].sort(positions, is_descending=query.order.is_descending)


def read_list(text: str, *, questions: int) -> list[int]:
    """Return the positions in a text such as `3,17,55`, each once, in that order."""
    parts = [part.strip() for part in text.split(",", MAX_CHOSEN)]
    if len(parts) > MAX_CHOSEN:
        raise BadAddress(f"Expected at most {MAX_CHOSEN} questions in a list, got more.")
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) <= MAX_DIGITS and int(part) < questions):
            raise BadAddress(
                f"Expected a list of questions from 0 to {questions - 1:,}, such as 3,17,55, got {shortened(part)}."
            )
    return list(dict.fromkeys(int(part) for part in parts))


def _everything(split: Split, position: int) -> Trail:
    following = position + 1
    return Trail(
        previous=position - 1 if position else None,
        following=following if split.is_complete and following < split.questions else None,
        place=position + 1,
        total=split.questions,
        pairs=[],
        back=split.get_absolute_url() + _on_page(Query(), position),
    )


def _filtered(split: Split, index: SplitIndex, query: Query, position: int) -> Trail:
    """Return the trail through what passes the filters; from a question that doesn't, to its neighbours that do.

    Where questions are sorted, one that does not pass has no neighbours: the first of those that do follows it.
    """
    found = index.select(query.filters, query.each_word)
    at = int(np.searchsorted(found, position))
    is_there = at < len(found) and int(found[at]) == position
    if query.order is not None:
        found = in_order(index, query, found)
        at = int(np.flatnonzero(found == position)[0]) if is_there else 0
    after = at + is_there
    return Trail(
        previous=int(found[at - 1]) if at else None,
        following=int(found[after]) if after < len(found) else None,
        place=at + 1 if is_there else None,
        total=len(found),
        pairs=query.pairs,
        back=split.get_absolute_url() + _on_page(query, min(at, max(len(found) - 1, 0))),
    )


def _chosen(split: Split, positions: Sequence[int], position: int) -> Trail:
    at = positions.index(position) if position in positions else None
    after = 0 if at is None else at + 1
    return Trail(
        previous=positions[at - 1] if at else None,
        following=positions[after] if after < len(positions) else None,
        place=None if at is None else at + 1,
        total=len(positions),
        pairs=[(LIST, ",".join(map(str, positions)))],
        back=split.get_absolute_url()
        + (Query(chosen=tuple(positions)).address if len(positions) <= MAX_PICKED else ""),
    )


def _on_page(query: Query, place: int) -> str:
    address = query.on_page(place // PER_PAGE + 1).address
    return "" if address == "?" else address


STEP, ASK, SHOW, PRESENT = "step", "ask", "show", "present"
COOKIE = "ask-first"
ON, OFF = "1", "0"


@dataclass(frozen=True, kw_only=True)
class Visit:
    """How a question is looked at.

    Attributes
    ----------
    step : str or None
        The step asked for, not checked.
    ask : bool or None
        Whether the address says to ask first; None where it says nothing.
    remembers : bool
        Whether that was chosen earlier.
    shows : bool
        Whether its reader asked for the answer.
    presents : bool
    trail : list of (name, value)
        What keeps the way to the next question in the address.
    """

    step: str | None = None
    ask: bool | None = None
    remembers: bool = False
    shows: bool = False
    presents: bool = False
    trail: Pairs

    @property
    def asks_first(self) -> bool:
        return self.remembers if self.ask is None else self.ask

    @property
    def hides(self) -> bool:
        """Return whether they still wait; who steps through the program asked for it."""
        return self.asks_first and not self.shows and self.step is None

    @property
    def onward(self) -> str:
        return _query(self._kept())

    @property
    def elsewhere(self) -> str:
        return _query(self._stance())

    @property
    def scene_stance(self) -> str:
        return "".join(f"&{name}={value}" for name, value in self._stance())

    @property
    def start(self) -> str:
        return _query([*self._kept(), *([(SHOW, ON)] if self.asks_first else [])]) or "?"

    @property
    def stem(self) -> str:
        """Return an address of this question to which `step=4` is added."""
        query = _query(self._kept())
        return f"{query}&" if query else "?"

    @property
    def other_ask(self) -> str:
        return _query([*self.trail, (ASK, OFF if self.asks_first else ON), *self._presenting()])

    @property
    def other_present(self) -> str:
        presenting = [] if self.presents else [(PRESENT, ON)]
        return _query([*self.trail, *self._asking(), *presenting, *self._here()]) or "?"

    def _kept(self) -> Pairs:
        return [*self.trail, *self._stance()]

    def _stance(self) -> Pairs:
        return [*self._asking(), *self._presenting()]

    def _asking(self) -> Pairs:
        return [] if self.ask is None else [(ASK, ON if self.ask else OFF)]

    def _presenting(self) -> Pairs:
        return [(PRESENT, ON)] if self.presents else []

    def _here(self) -> Pairs:
        if self.step is not None:
            return [(STEP, self.step)]
        return [(SHOW, ON)] if self.asks_first and self.shows else []


def is_remembered(cookies: Mapping[str, str]) -> bool:
    return cookies.get(COOKIE) == ON


def split_visit(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], Pairs]:
    """Return what an address says of the visit, and what is left: the filters or the list."""
    own: dict[str, str] = {}
    rest: Pairs = []
    for name, value in pairs:
        if name in (STEP, ASK, SHOW, PRESENT):
            own[name] = value
        else:
            rest.append((name, value))
    return own, rest


def read_visit(own: Mapping[str, str], *, remembers: bool, trail: Pairs) -> Visit:
    """Return how a question is to be shown; raise `BadAddress` for what is neither on nor off."""
    return Visit(
        step=own.get(STEP),
        ask=_switch(own, ASK),
        remembers=remembers,
        shows=bool(_switch(own, SHOW)),
        presents=bool(_switch(own, PRESENT)),
        trail=trail,
    )


def _switch(own: Mapping[str, str], name: str) -> bool | None:
    value = own.get(name)
    if value not in (None, ON, OFF):
        raise BadAddress(f"Expected {name}={ON} or {name}={OFF}, got {shortened(str(value))}.")
    return None if value is None else value == ON


def _query(pairs: Pairs) -> str:
    return "?" + urlencode(pairs, safe=",") if pairs else ""


CHOOSE, THEN = "choose", "then"
KEEP, STEP = "keep", "step"


class PickedList(NamedTuple):
    """The chosen questions in their order, and what a form asks for; `then` is empty where nothing was sent."""

    positions: list[int]
    then: str

    @property
    def leads_on(self) -> bool:
        return self.then in (STEP, PRESENT)


def split_choice(pairs: Iterable[tuple[str, str]]) -> tuple[Pairs, Pairs]:
    """Return what an address says of the choice, and what is left: the filters."""
    own: Pairs = []
    rest: Pairs = []
    for pair in pairs:
        (own if pair[0] in (LIST, CHOOSE, THEN) else rest).append(pair)
    return own, rest


def read_choice(own: Pairs, *, questions: int) -> PickedList:
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
    return PickedList(positions, then)


def address_of(split: Split, positions: list[int], *, presents: bool = False) -> str:
    listed = ",".join(map(str, positions))
    presenting = f"&{PRESENT}={ON}" if presents else ""
    return f"{split.get_absolute_url()}q/{positions[0]}/?{LIST}={listed}{presenting}"
