"""The fixed words of captions: relations, selectors, quantifiers, comparisons and connectives.

Values of programs are readable names (`at least 3`, `left`, `more than twice as many`). Their wording in sentences is
defined here once, for writing and for parsing.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, section 4, for the eight plain quantifiers.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

THING, THINGS = "shape", "shapes"  # the noun for any entity

RELATIONS: Mapping[str, str] = {
    "left": "to the left of",
    "right": "to the right of",
    "above": "above",
    "below": "below",
    "behind": "behind",
    "front": "in front of",
    "bigger": "bigger than",
    "smaller": "smaller than",
    "darker": "darker than",
    "lighter": "lighter than",
    "same shape": "the same shape as",
    "different shape": "a different shape from",
    "same color": "the same color as",
    "different color": "a different color from",
}
PROXIMITIES: Mapping[str, str] = {"closer": "closer to", "farther": "farther from"}
HAVING = frozenset({"same shape", "different shape", "same color", "different color"})  # take the verb to have
DIFFERING: Mapping[str, str] = {  # wording with not
    "different shape": "differ in shape from",
    "different color": "differ in color from",
}
SPATIAL = ("left", "right", "above", "below")
PLANAR = (*SPATIAL, "behind", "front")
INVERSES: Mapping[str, str] = {
    one: other
    for pair in (
        ("left", "right"),
        ("above", "below"),
        ("behind", "front"),
        ("bigger", "smaller"),
        ("darker", "lighter"),
        ("same shape", "different shape"),
        ("same color", "different color"),
        ("closer", "farther"),
    )
    for one, other in (pair, pair[::-1])
}

OF_TWO = ("left", "right", "upper", "lower", "bigger", "smaller", "darker", "lighter")
OF_ALL = ("leftmost", "rightmost", "topmost", "bottommost", "biggest", "smallest", "darkest", "lightest")
SELECTORS = (*OF_TWO, *OF_ALL)
NEAR: Mapping[str, str] = {
    "closer": "closer to",
    "farther": "farther from",
    "closest": "closest to",
    "farthest": "farthest from",
}
NEAR_OF_TWO = ("closer", "farther")
ONLY = "only"
SELECTED_BY: Mapping[str, str] = {  # the relation of the selected entity to the others
    **dict(
        zip(SELECTORS, ("left", "right", "above", "below", "bigger", "smaller", "darker", "lighter") * 2, strict=True)
    ),
    "closest": "closer",
    "closer": "closer",
    "farthest": "farther",
    "farther": "farther",
}

NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MOST_BOUND = 8
COMPARATORS = ("less", "atmost", "exactly", "not", "atleast", "more")
COUNT_WORDS = dict(
    zip(COMPARATORS, ("fewer than", "at most", "exactly", "not exactly", "at least", "more than"), strict=True)
)
RATIO_WORDS = {**COUNT_WORDS, "less": "less than"}
RATIOS: Mapping[Fraction, str] = {
    Fraction(1, 4): "a quarter",
    Fraction(1, 3): "a third",
    Fraction(1, 2): "half",
    Fraction(2, 3): "two thirds",
    Fraction(3, 4): "three quarters",
}


class Quantifier(NamedTuple):
    """A quantifier of captions.

    Attributes
    ----------
    comparator : str
        How the amount must compare with `quantity`: one of `COMPARATORS`.
    quantity : Fraction
        A number of entities, or a share of the restrictor.
    is_share : bool
    words : str
        The words before the noun.
    plural : bool
        Whether the noun and its verb are plural.
    of : str
        The words before, for example, `of the five squares`; empty if there are none.
    """

    comparator: str
    quantity: Fraction
    is_share: bool
    words: str
    plural: bool
    of: str = ""


def _plain() -> dict[str, Quantifier]:
    none, half, whole = Fraction(0), Fraction(1, 2), Fraction(1)
    return {
        "no": Quantifier("exactly", none, False, "no", False, "none"),
        "a": Quantifier("atleast", whole, False, "a", False),
        "the": Quantifier("exactly", whole, True, "the", False),
        "some": Quantifier("atleast", whole, False, "some", True, "some"),
        "two": Quantifier("exactly", Fraction(2), False, "two", True, "two"),
        "most": Quantifier("more", half, True, "most", True, "most"),
        "all": Quantifier("exactly", whole, True, "all", True, "all"),
        "every": Quantifier("exactly", whole, True, "every", False),
        "not all": Quantifier("less", whole, True, "not all", True),
    }


def _counts() -> dict[str, Quantifier]:
    found = {}
    for comparator, words in COUNT_WORDS.items():
        for number in range(1, 6):
            said = f"{words} {NUMERALS[number]}"
            name = f"{words} {number}"
            found[name] = Quantifier(comparator, Fraction(number), False, said, number != 1, said)
    return found


def _shares() -> dict[str, Quantifier]:
    found = {}
    for comparator, words in RATIO_WORDS.items():
        for share, spoken in RATIOS.items():
            if (comparator, share) != ("more", Fraction(1, 2)):  # that is `most`
                said = f"{words} {spoken}"
                found[f"{words} {share}"] = Quantifier(comparator, share, True, said, True, said)
    return found


PLAIN: Mapping[str, Quantifier] = _plain()
COUNTS: Mapping[str, Quantifier] = _counts()
SHARES: Mapping[str, Quantifier] = _shares()
QUANTIFIERS: Mapping[str, Quantifier] = {**PLAIN, **COUNTS, **SHARES}
PAPER = ("no", "a", "the", "some", "two", "most", "all", "every")


class ComparisonPhrase(NamedTuple):
    """A comparison of two numbers: `comparator` compares the first with `factor` times the second plus `more`."""

    comparator: str
    factor: Fraction
    more: int
    words: str
    than: str
    plural: bool = True


def _comparisons() -> dict[str, ComparisonPhrase]:
    one, two, half = Fraction(1), Fraction(2), Fraction(1, 2)
    found = {
        "as many": ComparisonPhrase("exactly", one, 0, "as many", "as"),
        "more": ComparisonPhrase("more", one, 0, "more", "than"),
        "fewer": ComparisonPhrase("less", one, 0, "fewer", "than"),
    }
    for factor, said in ((two, "twice as many"), (half, "half as many")):
        found[said] = ComparisonPhrase("exactly", factor, 0, f"exactly {said}", "as")
        found[f"more than {said}"] = ComparisonPhrase("more", factor, 0, f"more than {said}", "as")
        found[f"less than {said}"] = ComparisonPhrase("less", factor, 0, f"less than {said}", "as")
    for number in range(1, 6):
        for sign, said in ((1, "more"), (-1, "fewer")):
            words = f"exactly {NUMERALS[number]} {said}"
            found[f"{number} {said}"] = ComparisonPhrase("exactly", one, sign * number, words, "than", number != 1)
    return found


COMPARISONS: Mapping[str, ComparisonPhrase] = _comparisons()
JOINED: Mapping[str, str] = {
    "and": "{} and {}",
    "or": "{} or {}",
    "if": "if {}, then {}",
    "iff": "{} if and only if {}",
}
CONNECTIVES = tuple(JOINED)


def _closed_words() -> frozenset[str]:
    phrases = [
        *RELATIONS.values(),
        *DIFFERING.values(),
        *PROXIMITIES.values(),
        *SELECTORS,
        ONLY,
        *NEAR.values(),
        *NUMERALS,
        *JOINED.values(),
    ]
    phrases += [words for quantifier in QUANTIFIERS.values() for words in (quantifier.words, quantifier.of)]
    phrases += [words for comparison in COMPARISONS.values() for words in (comparison.words, comparison.than)]
    phrases += ["a an the there that of is are has have does do not . ,", THING, THINGS]
    return frozenset(re.findall(r"\w+|[^\w\s{}]", " ".join(phrases)))


CLOSED = _closed_words()  # every word and mark of captions, without shapes and colours
