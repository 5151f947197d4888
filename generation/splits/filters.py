"""Filters as they stand in the address: `?type=count&type=exist&length=8..12&q=metal&page=3`, read, checked, written.

Values of one facet are joined by or, facets by and. Whatever is wrong with an address is a `BadAddress`, whose text
is for people.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol
from urllib.parse import quote_plus, urlencode

from generation.engine.items import FacetKind
from generation.storage.index import WORD

WORDS, PAGE, LIST, SORT = "q", "page", "list", "sort"
LOWEST, HIGHEST = ".from", ".to"  # how the form of a range names its two ends
MAX_WORDS = 200
MAX_CONDITIONS = 100
MAX_NUMBER = 9  # digits
MOST = 10**MAX_NUMBER - 1


class BadAddress(Exception):
    """What an address asks for can't be shown; the text says what was expected and what came."""


class FilterFacet(Protocol):
    """What filters need of a facet, be it a world's or an index's."""

    @property
    def name(self) -> str:
        """Return how addresses call it."""

    @property
    def label(self) -> str:
        """Return how people call it."""

    @property
    def kind(self) -> FacetKind:
        """Return how its values are to be read."""

    @property
    def values(self) -> tuple[str, ...]:
        """Return every value, by code."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the values for people, or nothing where the values serve."""


class Condition(NamedTuple):
    """One value, or one range of values, that a facet may have."""

    facet: FilterFacet
    value: str
    codes: tuple[int, ...]

    @property
    def label(self) -> str:
        """Return the value for people."""
        if len(self.codes) == 1 and self.value in self.facet.values:
            return label_of(self.facet, self.codes[0])
        low, dots, high = self.value.partition("..")
        if not dots:
            return self.value
        return f"{low} to {high}" if low and high else f"{low} or more" if low else f"up to {high}"


class ListOrder(NamedTuple):
    """By which numbers questions are listed, the lowest or the highest first."""

    facet: FilterFacet
    is_descending: bool

    @property
    def value(self) -> str:
        """Return it as addresses have it: `length`, or `-length` for the highest first."""
        return f"-{self.facet.name}" if self.is_descending else self.facet.name


@dataclass(frozen=True)
class Query:
    """What an address asks for.

    Attributes
    ----------
    conditions : tuple of Condition
    words : str
        Free words, all of which the question must have.
    page : int
        From 1.
    chosen : tuple of int
        Positions of questions that were picked out, whatever the filters.
    order : Order or None
        None for the order of the split.
    """

    conditions: tuple[Condition, ...] = ()
    words: str = ""
    page: int = 1
    chosen: tuple[int, ...] = ()
    order: ListOrder | None = None

    @property
    def filters(self) -> dict[str, list[int]]:
        """Return, for each facet with a condition, every code it may have, in order."""
        wanted: dict[str, set[int]] = {}
        for condition in self.conditions:
            wanted.setdefault(condition.facet.name, set()).update(condition.codes)
        return {name: sorted(codes) for name, codes in wanted.items()}

    @property
    def each_word(self) -> list[str]:
        return list(dict.fromkeys(WORD.findall(self.words.lower())))

    @property
    def is_plain(self) -> bool:
        return not self.conditions and not self.words

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the names and values of the address, without the page."""
        return [*((one.facet.name, one.value) for one in self.conditions), *self._beside_conditions]

    @property
    def address(self) -> str:
        """Return the query string with its question mark; the first page of everything is `?`."""
        pairs = [*self.pairs, (PAGE, str(self.page))] if self.page > 1 else self.pairs
        return "?" + urlencode(pairs, safe=",")

    @property
    def everything(self) -> "Query":
        """Return it without its filters."""
        return Query(chosen=self.chosen, order=self.order)

    @property
    def filter_address(self) -> str:
        """Return the address of its filters alone; empty where nothing is filtered."""
        return "" if self.is_plain else Query(self.conditions, self.words).address

    @property
    def trail(self) -> str:
        """Return what leads a question's reader through what passes the filters: its address without what is chosen."""
        return "" if self.is_plain and self.order is None else replace(self, page=1, chosen=()).address

    def around(self, facet: FilterFacet) -> tuple[str, str]:
        """Return what stands before and after a value of a facet in the address that has it added.

        A list of a hundred values needs a hundred addresses that differ in the value alone.
        """
        conditions = [(condition.facet.name, condition.value) for condition in self.conditions]
        before = urlencode(conditions) + "&" if conditions else ""
        after = self._beside_conditions
        return f"?{before}{quote_plus(facet.name)}=", "&" + urlencode(after, safe=",") if after else ""

    def on_page(self, page: int) -> "Query":
        return replace(self, page=page)

    def with_words(self, words: str) -> "Query":
        return replace(self, words=words, page=1)

    def toggled(self, condition: Condition) -> "Query":
        """Return the filters with this condition taken away if it was there, else added; on the first page."""
        kept = tuple(one for one in self.conditions if one != condition)
        conditions = kept if len(kept) < len(self.conditions) else (*kept, condition)
        return replace(self, conditions=conditions, page=1)

    def switched(self, facet: FilterFacet, code: int) -> "Query":
        """Return the filters with one value of a facet on if it was off, else off; on the first page.

        A range that holds the value gives way to the single values that are left of it.
        """
        single = Condition(facet, facet.values[code], (code,))
        chosen = self.filters.get(facet.name, [])
        if code not in chosen or single in self.conditions:
            return self.toggled(single)
        left = [Condition(facet, facet.values[other], (other,)) for other in chosen if other != code]
        return replace(self, conditions=(*self.without(facet.name).conditions, *left), page=1)

    def without(self, facet: str) -> "Query":
        """Return the filters without any condition on a facet, on the first page."""
        return replace(self, conditions=tuple(one for one in self.conditions if one.facet.name != facet), page=1)

    def with_chosen(self, chosen: Iterable[int]) -> "Query":
        return replace(self, chosen=tuple(chosen))

    @property
    def _beside_conditions(self) -> list[tuple[str, str]]:
        words = [(WORDS, self.words)] if self.words else []
        order = [(SORT, self.order.value)] if self.order is not None else []
        chosen = [(LIST, ",".join(map(str, self.chosen)))] if self.chosen else []
        return [*words, *order, *chosen]


def read_query(
    pairs: Iterable[tuple[str, str]],
    *,
    facets: Sequence[FilterFacet],
    hidden: Sequence[FilterFacet] = (),
    is_sortable: bool = False,
) -> Query:
    """Return what the names and values of an address ask for.

    Parameters
    ----------
    pairs : iterable of (name, value)
        As they stand in the address, unquoted; empty values are passed over, as forms send them.
    facets : sequence of Facet
        Those that may be filtered by.
    hidden : sequence of Facet
        Those that exist but would reveal what is withheld.
    is_sortable : bool
        Whether the address may also say in which order questions are listed.

    Raises
    ------
    BadAddress
        For an unknown name or value, a facet that is hidden, too many or too long words.
    """
    known = {facet.name: facet for facet in facets}
    conditions: list[Condition] = []
    words, page = "", 1
    order: ListOrder | None = None
    for name, value in pairs:
        if name == WORDS:
            words = _read_words(value)
        elif name == PAGE:
            page = _read_page(value)
        elif name == SORT and is_sortable:
            order = _read_order(value, known, hidden) if value else None
        elif name in known:
            conditions += [read_condition(known[name], value)] if value.strip() else []
        else:
            raise BadAddress(_unknown(name, known, hidden))
    if len(conditions) > MAX_CONDITIONS:
        raise BadAddress(f"Expected at most {MAX_CONDITIONS} filters, got {len(conditions)}.")
    return Query(tuple(dict.fromkeys(conditions)), words, page, order=order)


def read_condition(facet: FilterFacet, value: str) -> Condition:
    """Return one condition: a value of the facet, or for whole numbers a range such as `8..12`, `8..` or `..12`.

    A number or a range that no question can have is a condition that none passes.
    """
    value = value.strip()
    if value in facet.values:
        return Condition(facet, value, (facet.values.index(value),))
    if facet.kind is FacetKind.INTEGER and ".." in value:
        return _read_range(facet, value)
    if facet.kind is FacetKind.INTEGER and _is_number(value):
        return Condition(facet, value, ())
    raise BadAddress(f"Filter {facet.name}: expected {_expected(facet)}, got {shortened(value)}.")


def ranges_joined(pairs: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], bool]:
    """Return the pairs with `length.from=8` and `length.to=12` made `length=8..12`, and whether there were such."""
    plain: list[tuple[str, str]] = []
    ends: dict[str, dict[str, str]] = {}
    for name, value in pairs:
        for ending in (LOWEST, HIGHEST):
            if name.endswith(ending):
                ends.setdefault(name.removesuffix(ending), {})[ending] = value.strip()
                break
        else:
            plain.append((name, value))
    for name, found in ends.items():
        low, high = found.get(LOWEST, ""), found.get(HIGHEST, "")
        if low or high:
            plain.append((name, low if low == high else f"{low}..{high}"))
    return plain, bool(ends)


def label_of(facet: FilterFacet, code: int) -> str:
    return facet.labels[code] if facet.labels else facet.values[code]


def check_names(names: Iterable[str], known: Collection[str]) -> None:
    """Raise `BadAddress` for a name that an address isn't read for: a slip would be passed over otherwise."""
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise BadAddress(f"Expected {', '.join(known)} in the address, got {shortened(unknown)}.")


def shortened(value: str) -> str:
    return repr(value if len(value) <= 60 else f"{value[:57]}...")


def _read_range(facet: FilterFacet, value: str) -> Condition:
    """Return the condition for `low..high`, either end of which may be left open."""
    low, _, high = (part.strip() for part in value.partition(".."))
    if not (low or high) or not all(part == "" or _is_number(part) for part in (low, high)):
        raise BadAddress(f"Filter {facet.name}: expected a range such as 8..12, 8.. or ..12, got {shortened(value)}.")
    least = int(low) if low else 0
    most = int(high) if high else MOST
    codes = tuple(
        code for code, number in enumerate(facet.values) if _is_number(number) and least <= int(number) <= most
    )
    return Condition(facet, f"{low}..{high}", codes)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER


def _expected(facet: FilterFacet) -> str:
    """Return in words what values a facet has: all of a few, an example of many."""
    if facet.kind is FacetKind.INTEGER and facet.values:
        return f"numbers of {facet.values[0]}..{facet.values[-1]}"
    if len(facet.values) <= 16:
        return f"one of {', '.join(facet.values)}"
    return f"one of its {len(facet.values)} values, as {facet.values[0]} or {facet.values[-1]}"


def _unknown(name: str, known: Mapping[str, FilterFacet], hidden: Sequence[FilterFacet]) -> str:
    """Return why a name can't be filtered by."""
    if any(facet.name == name for facet in hidden):
        return f"Answers of this split are withheld, and a filter by {name} would give part of them away."
    return f"Expected a filter ({', '.join([*known, WORDS])}) or a page, got {shortened(name)}."


def sortable(facets: Iterable[FilterFacet]) -> list[FilterFacet]:
    """Return the facets that questions can be sorted by: those whose values are numbers."""
    return [facet for facet in facets if facet.kind is FacetKind.INTEGER]


def _read_order(value: str, known: Mapping[str, FilterFacet], hidden: Sequence[FilterFacet]) -> ListOrder:
    name = value.removeprefix("-")
    if name not in known and any(facet.name == name for facet in hidden):
        raise BadAddress(_unknown(name, known, hidden))
    numbers = {facet.name: facet for facet in sortable(known.values())}
    if name not in numbers:
        raise BadAddress(f"Expected {SORT} to be one of {', '.join(numbers)}, got {shortened(value)}.")
    return ListOrder(numbers[name], is_descending=value.startswith("-"))


def _read_words(value: str) -> str:
    """Return free words with single spaces between them."""
    words = " ".join(value.split())
    if len(words) > MAX_WORDS:
        raise BadAddress(f"Search words: expected at most {MAX_WORDS} characters, got {len(words):,}.")
    if "\0" in words:
        raise BadAddress("Search words: expected text, got a zero character.")
    return words


def _read_page(value: str) -> int:
    if not _is_number(value) or int(value) < 1:
        raise BadAddress(f"Expected a page number from 1, got {shortened(value)}.")
    return int(value)
