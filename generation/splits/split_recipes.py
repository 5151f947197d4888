"""Reading, applying and describing recipes. A recipe selects the questions of a split for a derived split.

A recipe is JSON: `{"parent": "val", "filter": "type=count&length=8..12", "sample": 2000, "seed": 7}`. Its parts are
applied in the order of the fields: the filter, held-out scenes, the parity of answers, the shares of facet values, then
the first questions, a sample or a share of the rest. Random choices depend only on the seed and the parent's name.

References
----------
Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, section 3 (the parity).
"""

import json
import math
import re
import shlex
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from generation.engine.errors import EngineError
from generation.engine.items import FacetKind
from generation.engine.reading.bounded_json import BadJson, loads
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.spec import Frozen, Plain, SplitName, read
from generation.models import Split
from generation.splits.query_string import (
    PAGE,
    BadAddress,
    Query,
    QueryString,
    join_ranges,
    label_of,
    read_query,
    shorten,
)
from generation.storage.split_index import IndexedFacet, SplitIndex

MOST_LETTERS = 8000  # limit of characters of a filter
THINNED, DRAWN, UNPAIRED, HELD_OUT = range(4)  # indexes of random streams, so that the choices are independent
FEW = 10  # questions that are kept of a group whose share would be less than one question
NAMED = 6  # limit of values that a description names one by one

Positions = NDArray[np.int64]
Percent = Annotated[float, Field(gt=0, le=100)]
Kept = Annotated[float, Field(ge=0, le=100)]


class BadRecipe(EngineError):
    """A recipe cannot be applied (`where` is the path of the field)."""


class ParityRule(Frozen):
    """Which numbers are kept as answers: those of one parity, and of each group of the others a share.

    A group has the same answer, and the same value of the facet `grouped_by`. Of n questions, int(n k) are kept, where
    k is the share that is not removed; where this is 0, but k is not, the group keeps min(`FEW`, n).

    Attributes
    ----------
    kept : str
        `odd` or `even`: all questions with such an answer are kept.
    removed : float
        The percentage that is removed of the others.
    grouped_by : str
        A facet, for example whether questions are simple; empty if answers alone make groups.
    """

    kept: Literal["odd", "even"]
    removed: Kept
    grouped_by: Plain = ""

    def kept_of(self, count: int) -> int:
        # `count` is the size of a group of the other parity.
        share = 1 - Fraction(str(self.removed)) / 100
        return int(count * share) or (min(FEW, count) if share else 0)


class Recipe(Frozen):
    """A selection of a split's questions.

    Attributes
    ----------
    parent : str
        The name of the split.
    filter : str
        In the form of the page's address: `type=count&length=8..12&q=metal`; empty for all questions.
    held_out, without_held_out : float or None
        A percentage of the scenes that have questions: those drawn at random are taken, or all others.
    parity : ParityRule or None
        Shifts the distribution of answers that are numbers.
    shares : dict of str to dict of str to float
        For one facet, the percentage of questions to keep for some of its values: `{"answer": {"1": 10, "3": 10}}`.
        Questions with other values are all kept.
    first, sample : int or None
        How many of the remaining questions are taken: the first ones, or a random sample.
    share : float or None
        The percentage of the remaining questions that is taken, as a random sample.
    seed : int
        Seed of the samples and shares.
    """

    parent: SplitName
    filter: Plain = Field(default="", max_length=MOST_LETTERS)
    held_out: Percent | None = None
    without_held_out: Percent | None = None
    parity: ParityRule | None = None
    shares: dict[Plain, dict[Plain, Kept]] = Field(default={}, max_length=1)
    first: int | None = Field(default=None, ge=1)
    sample: int | None = Field(default=None, ge=1)
    share: Percent | None = None
    seed: int = Field(default=0, ge=0, lt=2**64)

    @field_validator("shares")
    @classmethod
    def _names_values(cls, shares: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        for facet, kept in shares.items():
            if not kept:
                raise ValueError(f"Expected values of {facet} with their shares, got none")
        return shares

    @model_validator(mode="after")
    def _takes_one_way(self) -> Self:
        given = [name for name in ("first", "sample", "share") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"Expected one of first, sample and share, got {' and '.join(given)}")
        if None not in (self.held_out, self.without_held_out):
            raise ValueError("Expected one of held_out and without_held_out, got both")
        if not (given or self.filter or self.shares or self.parity or self.holds_out):
            raise ValueError(
                "Expected a filter, first, sample, share, shares, parity, held_out or without_held_out, got none, "
                "which is the whole split"
            )
        return self

    @property
    def holds_out(self) -> bool:
        return self.held_out is not None or self.without_held_out is not None

    @property
    def is_drawn(self) -> bool:
        # The seed matters only if random choices are made.
        is_thinned = self.parity is not None or bool(self.shares)
        return self.sample is not None or self.share is not None or self.holds_out or is_thinned

    def to_json(self) -> str:
        data = self.model_dump(mode="json", exclude_defaults=True)
        return json.dumps(data | ({"seed": self.seed} if self.is_drawn else {}), ensure_ascii=False)


def read_recipe(data: Mapping[str, Any] | str) -> Recipe:
    """Return a validated recipe; raise `BadRecipe` with the path of the field, what was expected and what was found."""
    try:
        return read(Recipe, loads(data) if isinstance(data, str) else data)
    except BadJson as error:
        raise BadRecipe(str(error), where="recipe") from error
    except EngineError as error:
        raise BadRecipe(error.reason, where=error.where) from error


def pairs_of_filter(text: str) -> tuple[tuple[str, str], ...]:
    return join_ranges(QueryString.parse(text)).without(PAGE).pairs


def plain_filter(query: Query) -> str:
    return urlencode(Query(query.conditions, query.words).pairs)


class Chooser:
    """Applies recipes to one split.

    If the split's answers are withheld, a recipe may use only facets that the question's words already reveal.
    Otherwise the selection would reveal the values of other facets.
    """

    def __init__(self, parent: Split, index: SplitIndex) -> None:
        self.parent, self.index = parent, index
        facets = index.facets.values()
        self.facets = [facet for facet in facets if not (parent.withheld and facet.reveals)]

    def read_filter(self, text: str) -> Query:
        """Return the query of a filter; raise `BadRecipe`."""
        try:
            return read_query(pairs_of_filter(text), facets=self.facets, hidden=list(self.index.facets.values()))
        except (BadAddress, ValueError) as error:
            raise BadRecipe(str(error), where="filter") from error

    def choose(self, recipe: Recipe) -> Positions:
        """Return the positions of the selected questions, in order; raise `BadRecipe` if there are none, or too few."""
        query = self.read_filter(recipe.filter)
        found = self.index.find(query.filters, query.each_word).positions
        left = self._thinned(self._of_parity(self._of_scenes(found, recipe), recipe), recipe)
        wanted = self._wanted(recipe, len(left))
        if wanted > len(left):
            field = "first" if recipe.first is not None else "sample"
            raise BadRecipe(
                f"Expected at most {len(left):,} questions (there are no more), got {wanted:,}.", where=field
            )
        if wanted == 0:
            raise BadRecipe(f"Expected at least one question, got none of {self.parent.questions:,}.", where="recipe")
        if recipe.first is not None or wanted == len(left):
            return left[:wanted]
        return lowest(left, keys=self._keys(recipe, DRAWN), count=wanted)

    def _of_scenes(self, found: Positions, recipe: Recipe) -> Positions:
        """Return the positions of questions about the held-out scenes, or about the others, as the recipe says."""
        percent = recipe.held_out if recipe.without_held_out is None else recipe.without_held_out
        if percent is None:
            return found
        scenes = self.index.scenes[found]
        keys = np.asarray(self._stream(recipe, HELD_OUT).generator.random(self.parent.scenes))
        is_asked, is_held_out = np.zeros((2, self.parent.scenes), np.bool_)
        is_asked[scenes] = True
        every = np.flatnonzero(is_asked)
        is_held_out[lowest(every, keys=keys, count=int(len(every) * Fraction(str(percent)) / 100))] = True
        return found[is_held_out[scenes] == (recipe.held_out is not None)]

    def _of_parity(self, found: Positions, recipe: Recipe) -> Positions:
        """Return the positions that remain after the rule of parity is applied; see `ParityRule`."""
        rule = recipe.parity
        if rule is None:
            return found
        numbers = self._numbers(found)
        keys, kept = self._keys(recipe, UNPAIRED)[found], numbers % 2 == (rule.kept == "odd")
        groups = numbers
        if rule.grouped_by:
            codes = self._facet(rule.grouped_by, where="parity.grouped_by").codes[found].astype(np.int64)
            groups = numbers * (int(codes.max(initial=0)) + 1) + codes
        for theirs in by_group(np.flatnonzero(~kept), groups):
            kept[lowest(theirs, keys=keys, count=rule.kept_of(len(theirs)))] = True
        return found[kept]

    def _numbers(self, found: Positions) -> NDArray[np.int64]:
        """Return the answers of questions as numbers; raise `BadRecipe` if some are no numbers, or withheld."""
        if self.parent.withheld:
            raise BadRecipe(
                f"Answers of {self.parent} are withheld, and their parity would reveal part of them.", where="parity"
            )
        codes = self.index.answers[found]
        texts = self.index.answer_values
        used = [code for code in np.unique(codes).tolist() if code < len(texts)]  # a higher code is no answer
        wrong = [texts[code] for code in used if not re.fullmatch(r"[0-9]{1,9}", texts[code])]
        wrong += ["no answer"] * bool((codes >= len(texts)).any())
        if wrong:
            raise BadRecipe(
                f"Expected answers that are numbers, got {', '.join(map(shorten, wrong[:3]))}. Choose questions about "
                "numbers with a filter, such as type=count.",
                where="parity",
            )
        table = np.zeros(len(texts), np.int64)
        table[used] = [int(texts[code]) for code in used]
        return table[codes]

    def _thinned(self, found: Positions, recipe: Recipe) -> Positions:
        """Return the positions that remain after the shares of facet values are applied."""
        kept = np.ones(len(found), dtype=np.bool_)
        for name, shares in recipe.shares.items():
            facet, keys = self._facet(name), self._keys(recipe, THINNED)[found]
            codes = facet.codes[found]
            for value, percent in shares.items():
                theirs = np.flatnonzero(codes == self._code(facet, value))
                kept[theirs] = False
                kept[lowest(theirs, keys=keys, count=part_of(len(theirs), percent))] = True
        return found[kept]

    def _wanted(self, recipe: Recipe, left: int) -> int:
        if recipe.share is not None:
            return part_of(left, recipe.share)
        return recipe.first or recipe.sample or left

    def _keys(self, recipe: Recipe, which: int) -> NDArray[np.float64]:
        return np.asarray(self._stream(recipe, which).generator.random(self.index.n))  # the lowest numbers are taken

    def _stream(self, recipe: Recipe, which: int) -> Stream:
        return stream(seed=recipe.seed, split=self.parent.name, index=which, stage=Stage.SAMPLE)

    def _facet(self, name: str, *, where: str = "shares") -> IndexedFacet:
        facet = self.index.facets.get(name)
        known = ", ".join(one.name for one in self.facets if one.kind is not FacetKind.FLAGS)
        if facet is None or facet.kind is FacetKind.FLAGS:
            raise BadRecipe(f"Expected one of {known}, got {shorten(name)}.", where=where)
        if facet not in self.facets:
            raise BadRecipe(
                f"Answers of {self.parent} are withheld, and shares by {name} would reveal part of them.",
                where=where,
            )
        return facet

    def _code(self, facet: IndexedFacet, value: str) -> int:
        if value not in facet.values:
            few = ", ".join(facet.values) if len(facet.values) <= 16 else f"{facet.values[0]} .. {facet.values[-1]}"
            raise BadRecipe(f"Expected one of {few}, got {shorten(value)}.", where=f"shares.{facet.name}")
        return facet.values.index(value)


def lowest(positions: Positions, *, keys: NDArray[np.float64], count: int) -> Positions:
    """Return the positions with the lowest keys, in order. Among equal keys the first positions are taken."""
    if not 0 < count < len(positions):
        return np.sort(positions[:count])
    own = keys[positions]
    last = np.partition(own, count - 1)[count - 1]
    is_taken = own < last
    is_taken[np.flatnonzero(own == last)[: count - np.count_nonzero(is_taken)]] = True
    return np.sort(positions[is_taken])


def by_group(positions: Positions, groups: NDArray[np.int64]) -> list[Positions]:
    """Return the positions of each group, in order; `groups` has the group of each position, a number from 0.

    Numbers below 65,536 are sorted in linear time.
    """
    own = groups[positions]
    own = own.astype(np.min_scalar_type(own.max(initial=0)))
    order = np.argsort(own, kind="stable")
    return np.split(positions[order], np.flatnonzero(np.diff(own[order])) + 1)


def part_of(count: int, percent: float) -> int:
    return math.floor(round(count * percent / 100, 6) + 0.5)


def in_words(recipe: Recipe, *, n: int, parent: Split, index: SplitIndex | None) -> str:
    """Return a description of a recipe: `2,000 of 15,000 questions of val where type is count, sampled with seed 7`.

    Without the parent's index, the description names values as addresses do.
    """
    parts = [f"{n:,} of {parent.questions:,} questions of {parent.name}"]
    facets = {} if index is None else index.facets
    parts += _filter_in_words(recipe.filter, facets)
    if recipe.first is not None:
        parts.append(", the first of them")
    if recipe.holds_out:
        which = "" if recipe.held_out is not None else " not"
        parts.append(f", about scenes that are{which} among {recipe.held_out or recipe.without_held_out:g} % held out")
    parts += [f", {_parity_in_words(recipe.parity, facets)}"] if recipe.parity is not None else []
    parts += [f", with {_shares_in_words(name, of, facets)}" for name, of in recipe.shares.items()]
    if recipe.share is not None:
        parts.append(f", {recipe.share:g} % of them")
    if recipe.is_drawn:
        parts.append(f", {'sampled' if recipe.first is None else 'drawn'} with seed {recipe.seed}")
    return "".join(parts)


def _parity_in_words(rule: ParityRule, facets: Mapping[str, IndexedFacet]) -> str:
    if rule.removed == 100:
        return f"with all {rule.kept} answers and none of the others"
    if rule.removed == 0:
        return "with all answers"
    share = f"{float(100 - Fraction(str(rule.removed))):g} %"
    by = f" and {_label(facets.get(rule.grouped_by), rule.grouped_by)}" if rule.grouped_by else ""
    return f"with all {rule.kept} answers and {share} of each other answer{by} ({FEW} where that is less than one)"


def _filter_in_words(text: str, facets: Mapping[str, IndexedFacet]) -> list[str]:
    """Return the conditions of a filter in words, by facet. Unknown facets are named as in addresses."""
    said: dict[str, list[str]] = {}
    words = ""
    for name, value in pairs_of_filter(text):
        if name == "q":
            words = value
        else:
            said.setdefault(name, []).append(_value_in_words(facets.get(name), value))
    each = [f"{_label(facets.get(name), name)} is {_joined(values)}" for name, values in said.items()]
    parts = [f" where {' and '.join(each)}"] if each else []
    return [*parts, *([f"{' and' if each else ' where'} the words “{words}” occur"] if words else [])]


def _value_in_words(facet: IndexedFacet | None, value: str) -> str:
    if facet is not None and value in facet.values:
        return label_of(facet, facet.values.index(value))
    low, dots, high = value.partition("..")
    if not dots:
        return value
    return f"{low} to {high}" if low and high else f"{low} or more" if low else f"at most {high}"


def _shares_in_words(name: str, shares: Mapping[str, float], facets: Mapping[str, IndexedFacet]) -> str:
    """Return the shares of values in words, grouped by share: `only 10 % of those whose answer is 1 or 3`."""
    by_share: dict[float, list[str]] = {}
    for value, percent in shares.items():
        by_share.setdefault(percent, []).append(_value_in_words(facets.get(name), value))
    kept = {percent: f"only {percent:g} %" if percent else "none" for percent in by_share}
    label = _label(facets.get(name), name)
    each = (f"{kept[percent]} of those whose {label} is {_joined(values)}" for percent, values in by_share.items())
    return " and ".join(each)


def _label(facet: IndexedFacet | None, name: str) -> str:
    return name if facet is None else facet.label.lower()


def _joined(values: list[str]) -> str:
    if len(values) > NAMED:
        return f"one of {len(values)} values"
    return " or ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else values)


def command(recipe: Recipe, *, dataset: str, name: str) -> str:
    """Return the command that makes a derived split with this recipe."""
    parts = ["python manage.py derive", f"{dataset}/{recipe.parent}", "--name", name]
    if recipe.filter:
        parts += ["--filter", shlex.quote(recipe.filter)]
    for option in ("held_out", "without_held_out"):
        percent = getattr(recipe, option)
        parts += [f"--{option.replace('_', '-')}", f"{percent:g}"] if percent is not None else []
    if recipe.parity is not None:
        parts += ["--parity", f"{recipe.parity.kept}:{recipe.parity.removed:g}"]
        parts += ["--parity-by", shlex.quote(recipe.parity.grouped_by)] if recipe.parity.grouped_by else []
    for facet, shares in recipe.shares.items():
        for value, percent in shares.items():
            parts += ["--keep", shlex.quote(f"{facet}={value}:{percent:g}")]
    for option in ("first", "sample", "share"):
        wanted = getattr(recipe, option)
        parts += [f"--{option}", f"{wanted:g}" if option == "share" else str(wanted)] if wanted is not None else []
    return " ".join([*parts, *(["--seed", str(recipe.seed)] if recipe.is_drawn else [])])
