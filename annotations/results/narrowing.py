"""Which questions the results page lists: `?flag=split&by=type&value=count&right=yes&given=no`, all of it at will."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from annotations.results import question_review
from annotations.results.figures import Gathered, sliced, values_of, within
from generation.engine.errors import EngineError
from generation.storage.index import IndexedFacet

FLAG, BY, VALUE, RIGHT, GIVEN = "flag", "by", "value", "right", "given"
NAMES = (FLAG, BY, VALUE, RIGHT, GIVEN)
EVERY = "every"
FLAGS = {"": "any flag", **question_review.FLAGS, EVERY: "every question"}
LONGEST = 60


class BadAddress(EngineError):
    """An address names what there isn't (`where` is the parameter)."""


class Chip(NamedTuple):
    """A part of what is asked for, and the query without it."""

    label: str
    query: str


class Narrowed(NamedTuple):
    """What is asked for.

    Attributes
    ----------
    flag : str
        A key of `FLAGS`.
    among : array (questions,) of bool
    chips : list of Chip
    query : str
        The whole of it, without the page.
    flags : list of (query, label, whether it is this one)
    """

    flag: str
    among: NDArray[np.bool_]
    chips: list[Chip]
    query: str
    flags: list[tuple[str, str, bool]]

    def has(self, flags: Sequence[str]) -> bool:
        """Return whether a question with these flags is asked for."""
        return self.flag == EVERY or (FLAGS[self.flag] in flags if self.flag else bool(flags))


def read(asked: Mapping[str, str], found: Gathered, facets: Sequence[IndexedFacet]) -> Narrowed:
    """Return what an address asks for; raise `BadAddress` where it names what there isn't."""
    kept = {name: asked[name] for name in NAMES if asked.get(name)}
    flag = kept.get(FLAG, "")
    _check(flag, list(FLAGS), FLAG)
    among, chips = np.ones(found.votes.n, np.bool_), []
    if BY in kept or VALUE in kept:
        facet, label = _part(kept, facets)
        among &= within(facet, kept[VALUE])
        chips.append(Chip(f"{facet.label}: {label}", _without(kept, BY, VALUE)))
    for name, said in ((RIGHT, "right answer"), (GIVEN, "somebody said")):
        if name in kept:
            among &= _with_word(found, name, kept[name])
            chips.append(Chip(f"{said}: {kept[name]}", _without(kept, name)))
    flags = [
        (_without(kept, FLAG) if not name else urlencode(kept | {FLAG: name}), label, name == flag)
        for name, label in FLAGS.items()
    ]
    return Narrowed(flag, among, chips, urlencode(kept), flags)


def _part(kept: Mapping[str, str], facets: Sequence[IndexedFacet]) -> tuple[IndexedFacet, str]:
    """Return the facet that is named, and what its part is called."""
    by = {facet.name: facet for facet in facets}
    _check(kept.get(BY, ""), list(by), BY)
    facet = by[kept[BY]]
    values = values_of(facet)
    _check(kept.get(VALUE, ""), values, VALUE)
    return facet, sliced(facet)[1][values.index(kept[VALUE])]


def _with_word(found: Gathered, name: str, word: str) -> NDArray[np.bool_]:
    """Return (questions,) those with this right answer, or that somebody gave this answer to."""
    _check(word, list(found.vocabulary), name)
    code = found.vocabulary.index(word)
    if name == RIGHT:
        return np.equal(found.truth, code)
    among = np.zeros(found.votes.n, np.bool_)
    among[found.votes.questions[found.votes.answers == code]] = True
    return among


def _check(word: str, words: Sequence[str], where: str) -> None:
    if word not in words:
        some = ", ".join(one for one in words if one)
        some = some if len(some) <= 10 * LONGEST else f"{some[: 10 * LONGEST]} …"
        raise BadAddress(
            f"Expected {where} to be one of {some or 'none'}, got {word[:LONGEST] or 'nothing'}.", where=where
        )


def _without(kept: Mapping[str, str], *names: str) -> str:
    return urlencode({name: value for name, value in kept.items() if name not in names})
