"""From question to question: all of a split in order, those that pass the filters of an address, or a chosen list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generation.access import Visitor, may_see_facet
from generation.browsing.paging import PER_PAGE
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
        Which it is of them, from 1; None where it isn't one of them.
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
        """Return whether it goes through all questions of the split."""
        return not self.pairs

    @property
    def is_list(self) -> bool:
        """Return whether it goes through chosen questions."""
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
    """Return positions, given ascending, in the order that a query asks for."""
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
