"""Navigation within a split: the questions to step through, how one is shown, and lists that are picked by hand.

All of it is in the address: the filters or `list=3,17,55`; `step=4&ask=1&present=1` for how a question is shown;
`choose=8` for each ticked box; `then=step` or `then=present` for what to do with the ticked questions. A cookie also
stores whether the user wants to answer before seeing the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.access import Visitor, may_see_facet
from generation.browsing.sidebar import PER_PAGE
from generation.models import Split
from generation.splits.query_string import LIST, OFF, ON, BadAddress, Query, QueryString, read_query, shorten
from generation.storage.split_index import IndexedFacet, SplitIndex

MAX_CHOSEN = 500
MAX_PICKED = 100  # limit for lists picked by hand, because every link of the page contains the list
MAX_DIGITS = 9

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Trail:
    """A question's position among the questions that the user steps through.

    Attributes
    ----------
    previous, following : int or None
        Positions of the questions before and after it, or None.
    place : int or None
        The question's place among them, from 1; None if it is not one of them.
    total : int
    pairs : list of (name, value)
        The parameters that keep the trail in an address.
    back : str
        The address of the list, on the page that contains the question.
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
    return [facet for facet in index.facets.values() if may_see_facet(user, split, facet)]


def read_filters(
    asked: QueryString, *, user: Visitor, split: Split, index: SplitIndex, is_sortable: bool = False
) -> Query:
    facets, hidden = visible_facets(user, split, index), list(index.facets.values())
    return read_query(asked.pairs, facets=facets, hidden=hidden, is_sortable=is_sortable)


def trail_of(asked: QueryString, *, user: Visitor, split: Split, position: int) -> Trail:
    """Return the trail of an address; raise `BadAddress` for an invalid one."""
    asked = asked.without(*STANCE)
    chosen, filters = asked.last(LIST), asked.without(LIST)
    if chosen is not None and filters.pairs:
        raise BadAddress(f"Expected a list or filters, got both: {LIST} and {shorten(filters.pairs[0][0])}.")
    if chosen is not None:
        return _chosen(split, read_list(chosen, questions=split.questions), position)
    if not split.is_complete:
        if filters.pairs:
            raise BadAddress(f"Expected no filters, got {shorten(filters.pairs[0][0])}: {split} isn't complete.")
        return _everything(split, position)
    index = SplitIndex.open(split)
    query = read_filters(filters, user=user, split=split, index=index, is_sortable=True)
    is_everything = query.is_plain and query.order is None
    return _everything(split, position) if is_everything else _filtered(split, index, query, position)


def in_order(index: SplitIndex, query: Query, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    if query.order is None:
        return positions
    return index.facets[query.order.facet.name].sort(positions, is_descending=query.order.is_descending)


def read_list(text: str, *, questions: int) -> list[int]:
    """Return the positions in a text such as `3,17,55`, in that order, without repeats."""
    parts = [part.strip() for part in text.split(",", MAX_CHOSEN)]
    if len(parts) > MAX_CHOSEN:
        raise BadAddress(f"Expected at most {MAX_CHOSEN} questions in a list, got more.")
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) <= MAX_DIGITS and int(part) < questions):
            raise BadAddress(
                f"Expected a list of questions from 0 to {questions - 1:,}, such as 3,17,55, got {shorten(part)}."
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
    """Return the trail through the matching questions. Other questions lead to their nearest matching neighbours.

    If the questions are sorted, a question that does not match has no previous one, and the first matching one follows.
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


STANCE = STEP, ASK, SHOW, PRESENT = "step", "ask", "show", "present"
COOKIE = "ask-first"


@dataclass(frozen=True, kw_only=True)
class Visit:
    """How a question is shown.

    Attributes
    ----------
    step : str or None
        The step in the address, not validated.
    ask : bool or None
        Whether the address hides the answer at first; None if the address does not say it.
    remembers : bool
        Whether the cookie hides the answer at first.
    shows : bool
        Whether the user requested the answer.
    presents : bool
    trail : list of (name, value)
        The parameters that keep the trail in an address.
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
        return self.asks_first and not self.shows and self.step is None  # stepping through the program shows the answer

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


def read_visit(asked: QueryString, *, remembers: bool, trail: Pairs) -> Visit:
    """Return how a question is shown; raise `BadAddress` for a switch that is neither on nor off."""
    return Visit(
        step=asked.last(STEP),
        ask=asked.switch(ASK),
        remembers=remembers,
        shows=bool(asked.switch(SHOW)),
        presents=bool(asked.switch(PRESENT)),
        trail=trail,
    )


def _query(pairs: Pairs) -> str:
    return str(QueryString(tuple(pairs)))


CHOOSE, THEN = "choose", "then"
PICKING = (LIST, CHOOSE, THEN)
KEEP, STEP = "keep", "step"


class PickedList(NamedTuple):
    """The selected questions in order, and what the form asks for; `then` is empty if no form was sent."""

    positions: list[int]
    then: str

    @property
    def leads_on(self) -> bool:
        return self.then in (STEP, PRESENT)


def read_choice(asked: QueryString, *, questions: int) -> PickedList:
    """Return the selection among this many questions; raise `BadAddress` for an invalid one."""
    listed = [read_list(value, questions=questions) for name, value in asked.pairs if name == LIST and value]
    ticked = [read_list(value, questions=questions) for name, value in asked.pairs if name == CHOOSE]
    positions = list(dict.fromkeys(position for some in (*listed, *ticked) for position in some))
    said = asked.last(THEN)
    then = said if said is not None else KEEP if ticked else ""
    if said is not None and then not in (KEEP, STEP, PRESENT):
        raise BadAddress(f"Expected {THEN}={KEEP}, {THEN}={STEP} or {THEN}={PRESENT}, got {shorten(then)}.")
    if len(positions) > MAX_PICKED:
        raise BadAddress(f"Expected at most {MAX_PICKED} chosen questions, got {len(positions)}.")
    if then in (STEP, PRESENT) and not positions:
        raise BadAddress("Expected chosen questions, got none: tick the box before each one that you want.")
    return PickedList(positions, then)


def address_of(split: Split, positions: list[int], *, presents: bool = False) -> str:
    listed = ",".join(map(str, positions))
    presenting = f"&{PRESENT}={ON}" if presents else ""
    return f"{split.get_absolute_url()}q/{positions[0]}/?{LIST}={listed}{presenting}"
