"""Weights that a reader gives to the slices of a facet, in the address: `weights=type:count=2,exist=0.5`.

The weighted accuracy is the mean of the accuracies on the values of the facet, each with its weight. A value that the
address does not name has the weight 1. `weights=type:equal` gives every value the weight 1, and `weights=type:split`
the number of its questions, as in the split. In a value's name, the characters `,`, `=` and `%` are percent-encoded.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from annotations.results.study_statistics import slicing_of, values_of
from generation.access import Visitor
from generation.engine.items import FacetKind
from generation.engine.scoring import figures
from generation.engine.scoring.figures import Figure
from generation.engine.scoring.weights.reweighting import accuracy_of_slices
from generation.models import Split
from generation.splits.query_string import BadAddress, QueryString, shorten
from generation.storage.split_index import IndexedFacet, SplitIndex, counts_of_all
from webapp.leaderboards.disclosure.visibility import facets_for
from webapp.leaderboards.entries import Entry, people_by, reweighted_figure, right_by

WEIGHTS, FACET, OF_VALUE = "weights", "weigh", "weight."  # names in addresses; the last two are those of the form
EQUAL, AS_IN_SPLIT = "equal", "split"
MOST_VALUES = 60
TOO_FEW_OF_A_VALUE = "too few of a value"
NUMBER = re.compile(r"[0-9]{1,7}([.][0-9]{1,6})?")
SEPARATORS = str.maketrans({"%": "%25", ",": "%2C", "=": "%3D"})


class SliceWeights(NamedTuple):
    """The weights of a facet's values.

    Attributes
    ----------
    facet, label : str
        The name of the facet, and its name for readers.
    values, labels : sequence of str
    numbers : tuple of float
        The weight of each value.
    counts : tuple of int
        The number of questions of each value.
    parts : tuple of int
        For each code of the facet, the position of its value: integers may be in bins; -1 for none.
    """

    facet: str
    label: str
    values: Sequence[str]
    labels: Sequence[str]
    numbers: tuple[float, ...]
    counts: tuple[int, ...]
    parts: tuple[int, ...]

    @property
    def is_equal(self) -> bool:
        return all(number == 1 for number in self.numbers)

    @property
    def is_as_in_split(self) -> bool:
        return self.numbers == tuple(map(float, self.counts))

    @property
    def text(self) -> str:
        """Return the weights as in the address."""
        if self.is_equal:
            return f"{self.facet}:{EQUAL}"
        if self.is_as_in_split:
            return f"{self.facet}:{AS_IN_SPLIT}"
        named = zip(self.values, self.numbers, strict=True)
        return f"{self.facet}:" + ",".join(f"{_escape(one)}={number_text(n)}" for one, n in named if n != 1)

    @property
    def fields(self) -> list[tuple[str, str, str, int]]:
        # Name, label, weight and number of questions of each value in the form.
        found = zip(self.values, self.labels, self.numbers, self.counts, strict=True)
        return [(f"{OF_VALUE}{value}", label, number_text(number), n) for value, label, number, n in found if n]

    @property
    def counted(self) -> NDArray[np.float64]:
        # The weight of each value, 0 if it has too few questions, shape (values,).
        enough = [not figures.is_too_few(n) for n in self.counts]
        return np.where(enough, self.numbers, 0.0)

    @property
    def left_out(self) -> list[tuple[str, int]]:
        # Label and number of questions of values with a weight that do not count.
        found = zip(self.labels, self.numbers, self.counts, strict=True)
        return [(label, n) for label, number, n in found if number and n and figures.is_too_few(n)]

    @property
    def described(self) -> str:
        """Describe the weights in words, such as “type: count 2, every other value 1”."""
        if self.is_equal:
            return f"{self.label}: each value equally"
        if self.is_as_in_split:
            return f"{self.label}: as in the split"
        named = zip(self.labels, self.numbers, self.counts, strict=True)
        told = [f"{label} {number_text(number)}" for label, number, n in named if n and number != 1]
        return f"{self.label}: {', '.join(told)}, every other value 1"


def number_text(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _escape(value: str) -> str:
    return value.translate(SEPARATORS)


def weighable(user: Visitor, split: Split, index: SplitIndex) -> list[IndexedFacet]:
    # With flags, a question can have several values, and therefore several weights.
    found = [one for one in facets_for(user, split, index) if one.kind != FacetKind.FLAGS]
    return [one for one in found if 1 < len(values_of(one)) <= MOST_VALUES]


def weights_by(facet: IndexedFacet, index_digest: str) -> SliceWeights:
    """Return equal weights of the values of a facet."""
    slicing, labels = slicing_of(facet)
    codes, places = np.unique(np.asarray(facet.codes, np.int64), return_index=True)
    is_value = codes < len(facet.values)
    found = slicing.codes[places[is_value]].astype(np.int64)
    parts = np.full(len(facet.values), -1, np.int64)
    parts[codes[is_value]] = np.where(found < slicing.values, found, -1)
    values = values_of(facet)
    counts = _sums(counts_of_all(index_digest)[facet.name], parts, len(values)).astype(np.int64).tolist()
    ones = (1.0,) * len(values)
    return SliceWeights(facet.name, facet.label, values, labels, ones, tuple(counts), tuple(parts.tolist()))


def read_weights(user: Visitor, split: Split, index: SplitIndex, text: str) -> SliceWeights:
    """Return the weights in an address.

    Raises
    ------
    BadAddress
        If the text names no facet, an unknown value, a value twice, or a weight that is not a number from 0, or if no
        value with enough questions has a weight.
    """
    name, _, rest = text.partition(":")
    equal = weights_of_facet(user, split, index, name)
    found = equal._replace(numbers=_read_numbers(equal, rest))
    if not found.counted.any():
        raise BadAddress(
            f"Expected a weight above 0 for a value of {equal.label} with at least {figures.TOO_FEW} questions, got "
            f"none."
        )
    return found


def _read_numbers(equal: SliceWeights, text: str) -> tuple[float, ...]:
    if text == EQUAL:
        return equal.numbers
    if text == AS_IN_SPLIT:
        return tuple(map(float, equal.counts))
    given: dict[str, float] = {}
    for term in text.split(","):
        quoted, equals, number = term.rpartition("=")
        value = unquote(quoted)
        if not equals or value not in equal.values or value in given:
            raise BadAddress(
                f"Expected weights such as {_example(equal)}, with each value of {equal.label} at most once, got "
                f"{shorten(term)}."
            )
        given[value] = _read_number(value, number)
    return tuple(given.get(value, 1.0) for value in equal.values)


def weights_of_facet(user: Visitor, split: Split, index: SplitIndex, name: str) -> SliceWeights:
    """Return equal weights of a facet's values; raise `BadAddress` if it has no weights."""
    known = {facet.name: facet for facet in weighable(user, split, index)}
    if name not in known:
        named = ", ".join(known) or "no facet of this board"
        raise BadAddress(f"Expected weights of one of the facets {named}, got {shorten(name)}.")
    return weights_by(known[name], split.index_digest)


def _example(one: SliceWeights) -> str:
    return f"{one.facet}:{_escape(one.values[0])}=2,{_escape(one.values[-1])}=0.5"


def _read_number(value: str, text: str) -> float:
    if not NUMBER.fullmatch(text.strip()):
        raise BadAddress(
            f"Expected a weight from 0 to 9999999 with at most six decimal places for {shorten(value)}, got "
            f"{shorten(text)}."
        )
    return float(text)


def join_weights(asked: QueryString) -> QueryString:
    """Return the query string with the fields of the form joined into `weights`; empty fields have the weight 1."""
    fields = [(name.removeprefix(OF_VALUE), value.strip()) for name, value in asked.pairs if name.startswith(OF_VALUE)]
    facet = asked.value(FACET)
    if not fields or not facet:
        return asked
    kept = [(n, v) for n, v in asked.pairs if v and n not in (WEIGHTS, FACET) and not n.startswith(OF_VALUE)]
    named = [f"{_escape(value)}={number}" for value, number in fields if number not in ("", "1")]
    return QueryString((*kept, (WEIGHTS, f"{facet}:{','.join(named) or EQUAL}")))


def weighted_figure(entry: Entry, weights: SliceWeights) -> Figure:
    """Return the weighted accuracy of an entry; the visitor must see exact figures.

    It is missing if the entry was asked too few questions with a value that counts, because this value would be left
    out and the figures of the rows would not be comparable.
    """
    counted = weights.counted
    if entry.baseline is not None:
        slices = [people_by(entry.baseline.digest, entry.split.index_digest, weights.facet)]
    else:
        slices = [right_by(one.predictions, entry.split.index_digest, weights.facet) for one in entry.submissions]
    parts, size = np.array(weights.parts), len(weights.values)
    n = _sums(slices[0].n, parts, size)
    rights = np.stack([_sums(one.right, parts, size) for one in slices])
    if any(figures.is_too_few(int(one)) for one in n[counted > 0]):
        return Figure(int(n[counted > 0].sum()), len(slices), note=TOO_FEW_OF_A_VALUE)
    return reweighted_figure(accuracy_of_slices(n, rights, counted))


def _sums(numbers: NDArray[Any], parts: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    found = np.zeros(size)
    np.add.at(found, parts[parts >= 0], numbers[parts >= 0])
    return found


def weighted_ranks(found: Sequence[tuple[Entry, Figure]]) -> dict[str, int]:
    # By the entries' keys; equal figures share a rank.
    shares = {entry.key: round(figure.share, 12) for entry, figure in found if figure.share is not None}
    return {key: 1 + sum(other > share for other in shares.values()) for key, share in shares.items()}


def merit(figure: Figure | None) -> float:
    return -math.inf if figure is None or figure.share is None else figure.share
