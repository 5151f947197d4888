"""The query string of an address, and the filters in it: `?type=count&type=exist&length=8..12&q=metal&page=3`.

`QueryString` reads and writes all names and values. `read_query` reads those that select questions. Values of one facet
are joined by "or", and different facets by "and". Every error in an address is a `BadAddress`, whose text is for users.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self
from urllib.parse import parse_qsl, quote_plus, urlencode

from django.http import HttpRequest

from generation.engine.items import FacetKind
from generation.storage.split_index import WORD

WORDS, PAGE, LIST, SORT = "q", "page", "list", "sort"
ON, OFF = "1", "0"
LOWEST, HIGHEST = ".from", ".to"  # endings of the names of the two form fields of a range
MAX_WORDS = 200
MAX_CONDITIONS = 100
MAX_NUMBER = 9  # digits
MOST = 10**MAX_NUMBER - 1


class BadAddress(Exception):
    """An address that cannot be shown. The text says what was expected and what was found."""


@dataclass(frozen=True)
class QueryString:
    """The names and values in an address, unquoted and in order."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        return cls(tuple((name, value) for name, values in request.GET.lists() for value in values))

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(tuple(parse_qsl(text.strip().removeprefix("?"), keep_blank_values=True)))

    def __str__(self) -> str:
        return "?" + urlencode(self.pairs, safe=",") if self.pairs else ""

    def only(self, *names: str) -> Self:
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair[0] in names))

    def without(self, *names: str) -> Self:
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair[0] not in names))

    def last(self, name: str) -> str | None:
        return next((value for each, value in reversed(self.pairs) if each == name), None)

    def value(self, name: str, default: str = "") -> str:
        return self.last(name) or default  # forms send empty fields, too

    def values(self, name: str) -> list[str]:
        return list(dict.fromkeys(value for each, value in self.pairs if each == name and value))

    def switch(self, name: str) -> bool | None:
        """Return whether the value of a name is on or off, or None without a value; raise `BadAddress` otherwise."""
        value = self.last(name)
        if value not in (None, ON, OFF):
            raise BadAddress(f"Expected {name}={ON} or {name}={OFF}, got {shorten(str(value))}.")
        return None if value is None else value == ON

    def check_names(self, known: Collection[str]) -> None:
        check_names((name for name, _ in self.pairs), known)


class FilterFacet(Protocol):
    """The attributes of a facet that filters need; both a world's facets and an index's facets have them."""

    @property
    def name(self) -> str:
        """Return its name in addresses."""

    @property
    def label(self) -> str:
        """Return its name for users."""

    @property
    def kind(self) -> FacetKind:
        """Return how its values are interpreted."""

    @property
    def values(self) -> tuple[str, ...]:
        """Return all values, by code."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the values for users; empty if the values themselves are shown."""


class Condition(NamedTuple):
    """One value, or one range of values, of a facet."""

    facet: FilterFacet
    value: str
    codes: tuple[int, ...]

    @property
    def label(self) -> str:
        """Return the value for users."""
        if len(self.codes) == 1 and self.value in self.facet.values:
            return label_of(self.facet, self.codes[0])
        low, dots, high = self.value.partition("..")
        if not dots:
            return self.value
        return f"{low} to {high}" if low and high else f"{low} or more" if low else f"up to {high}"


class ListOrder(NamedTuple):
    """A facet by whose numbers questions are sorted, ascending or descending."""

    facet: FilterFacet
    is_descending: bool

    @property
    def value(self) -> str:
        return f"-{self.facet.name}" if self.is_descending else self.facet.name


@dataclass(frozen=True)
class Query:
    """The query of an address.

    Attributes
    ----------
    conditions : tuple of Condition
    words : str
        Search words, all of which a question must contain.
    page : int
        From 1.
    chosen : tuple of int
        Positions of questions that are selected, regardless of the filters.
    order : ListOrder or None
        None for the order of the split.
    """

    conditions: tuple[Condition, ...] = ()
    words: str = ""
    page: int = 1
    chosen: tuple[int, ...] = ()
    order: ListOrder | None = None

    @property
    def filters(self) -> dict[str, list[int]]:
        """Return, for each facet with a condition, all codes that it may have, in order."""
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
        return [*((one.facet.name, one.value) for one in self.conditions), *self._beside_conditions]

    @property
    def address(self) -> str:
        pairs = [*self.pairs, (PAGE, str(self.page))] if self.page > 1 else self.pairs
        return "?" + urlencode(pairs, safe=",")  # without filters, on the first page, it is `?`

    @property
    def everything(self) -> "Query":
        return Query(chosen=self.chosen, order=self.order)

    @property
    def filter_address(self) -> str:
        return "" if self.is_plain else Query(self.conditions, self.words).address

    @property
    def trail(self) -> str:
        return "" if self.is_plain and self.order is None else replace(self, page=1, chosen=()).address

    def around(self, facet: FilterFacet) -> tuple[str, str]:
        """Return the text before and after a new value of a facet in an address.

        A list of a hundred values needs a hundred addresses that differ only in the value.
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
        kept = tuple(one for one in self.conditions if one != condition)
        conditions = kept if len(kept) < len(self.conditions) else (*kept, condition)
        return replace(self, conditions=conditions, page=1)

    def switched(self, facet: FilterFacet, code: int) -> "Query":
        """Return the query with one value of a facet switched on or off, on the first page.

        If a range contains the value, the range is replaced by its other values.
        """
        single = Condition(facet, facet.values[code], (code,))
        chosen = self.filters.get(facet.name, [])
        if code not in chosen or single in self.conditions:
            return self.toggled(single)
        left = [Condition(facet, facet.values[other], (other,)) for other in chosen if other != code]
        return replace(self, conditions=(*self.without(facet.name).conditions, *left), page=1)

    def without(self, facet: str) -> "Query":
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
    """Return the query for the names and values of an address.

    Parameters
    ----------
    pairs : iterable of (name, value)
        Unquoted, in the order of the address. Empty values, which forms send, are ignored.
    facets : sequence of FilterFacet
        The facets by which the user may filter.
    hidden : sequence of FilterFacet
        Facets that exist but would reveal what is withheld.
    is_sortable : bool
        Whether the address may also give the order of the questions.

    Raises
    ------
    BadAddress
        For an unknown name or value, a hidden facet, or too many or too long words.
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
            raise BadAddress(_unknown_message(name, known, hidden))
    if len(conditions) > MAX_CONDITIONS:
        raise BadAddress(f"Expected at most {MAX_CONDITIONS} filters, got {len(conditions)}.")
    return Query(tuple(dict.fromkeys(conditions)), words, page, order=order)


def read_condition(facet: FilterFacet, value: str) -> Condition:
    """Return one condition: a value of the facet or, for integers, a range such as `8..12`, `8..` or `..12`.

    A number or range that no question has is a condition that no question meets.
    """
    value = value.strip()
    if value in facet.values:
        return Condition(facet, value, (facet.values.index(value),))
    if facet.kind is FacetKind.INTEGER and ".." in value:
        return _read_range(facet, value)
    if facet.kind is FacetKind.INTEGER and _is_number(value):
        return Condition(facet, value, ())
    raise BadAddress(f"Filter {facet.name}: expected {_expected(facet)}, got {shorten(value)}.")


def join_ranges(asked: QueryString) -> QueryString:
    """Return the query string with the ends of ranges joined: `length.from=8&length.to=12` becomes `length=8..12`."""
    plain: list[tuple[str, str]] = []
    ends: dict[str, dict[str, str]] = {}
    for name, value in asked.pairs:
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
    return QueryString(tuple(plain))


def label_of(facet: FilterFacet, code: int) -> str:
    return facet.labels[code] if facet.labels else facet.values[code]


def check_names(names: Iterable[str], known: Collection[str]) -> None:
    # A typing error must not be ignored.
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise BadAddress(f"Expected {', '.join(known)} in the address, got {shorten(unknown)}.")


def shorten(value: str) -> str:
    return repr(value if len(value) <= 60 else f"{value[:57]}...")


def _read_range(facet: FilterFacet, value: str) -> Condition:
    """Return the condition for `low..high`, where one end may be missing."""
    low, _, high = (part.strip() for part in value.partition(".."))
    if not (low or high) or not all(part == "" or _is_number(part) for part in (low, high)):
        raise BadAddress(f"Filter {facet.name}: expected a range such as 8..12, 8.. or ..12, got {shorten(value)}.")
    least = int(low) if low else 0
    most = int(high) if high else MOST
    codes = tuple(
        code for code, number in enumerate(facet.values) if _is_number(number) and least <= int(number) <= most
    )
    return Condition(facet, f"{low}..{high}", codes)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER


def _expected(facet: FilterFacet) -> str:
    """Return the possible values of a facet in words: all of them if there are few, otherwise examples."""
    if facet.kind is FacetKind.INTEGER and facet.values:
        return f"numbers from {facet.values[0]} to {facet.values[-1]}"
    if len(facet.values) <= 16:
        return f"one of {', '.join(facet.values)}"
    return f"one of its {len(facet.values)} values, such as {facet.values[0]} or {facet.values[-1]}"


def _unknown_message(name: str, known: Mapping[str, FilterFacet], hidden: Sequence[FilterFacet]) -> str:
    if any(facet.name == name for facet in hidden):
        return f"Answers of this split are withheld, and a filter by {name} would reveal part of them."
    return f"Expected a filter ({', '.join([*known, WORDS])}) or a page, got {shorten(name)}."


def sortable(facets: Iterable[FilterFacet]) -> list[FilterFacet]:
    return [facet for facet in facets if facet.kind is FacetKind.INTEGER]


def _read_order(value: str, known: Mapping[str, FilterFacet], hidden: Sequence[FilterFacet]) -> ListOrder:
    name = value.removeprefix("-")
    if name not in known and any(facet.name == name for facet in hidden):
        raise BadAddress(_unknown_message(name, known, hidden))
    numbers = {facet.name: facet for facet in sortable(known.values())}
    if name not in numbers:
        raise BadAddress(f"Expected {SORT} to be one of {', '.join(numbers)}, got {shorten(value)}.")
    return ListOrder(numbers[name], is_descending=value.startswith("-"))


def _read_words(value: str) -> str:
    """Return search words, separated by single spaces; raise `BadAddress`."""
    words = " ".join(value.split())
    if len(words) > MAX_WORDS:
        raise BadAddress(f"Search words: expected at most {MAX_WORDS} characters, got {len(words):,}.")
    if "\0" in words:
        raise BadAddress("Search words: expected text, got a zero character.")
    return words


def _read_page(value: str) -> int:
    if not _is_number(value) or int(value) < 1:
        raise BadAddress(f"Expected a page number from 1, got {shorten(value)}.")
    return int(value)
