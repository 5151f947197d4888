"""Rules of a spec: things must match one of the rules `only`, if there are any, and none of the rules `never`.

A rule maps attributes to values. A thing matches the rule if, for each attribute, it has one of those values. Numbers
may be given as ranges: `8..12`, `8..` or `..12`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field

from generation.engine.errors import BadSpec
from generation.engine.reading.bounded_json import loads

RANGE = re.compile(r"(\d{0,9})\.\.(\d{0,9})")
CONDITION_START = re.compile(r"\s+(?=[^\s=]*=)")
SHOWN = 12  # the largest number of values that a message lists


def _listed(value: Any) -> Any:
    values = value if isinstance(value, list) else [value]
    return [str(one) if type(one) is int else one for one in values]


def _no_nul(values: list[str]) -> list[str]:
    if any("\0" in one for one in values):
        raise ValueError("Expected values without NUL characters")
    return values


Values = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1, max_length=1000), AfterValidator(_no_nul)]
Rule = Annotated[dict[str, Values], Field(min_length=1, max_length=20)]
Rules = Annotated[list[Rule], Field(max_length=100)]


class RuleValues(NamedTuple):
    """The values that an attribute may have, and whether they are numbers."""

    values: Sequence[str]
    are_numbers: bool = False


Meant = Mapping[str, frozenset[str]]
"""A rule with its ranges expanded: for each attribute, all values that match."""


class RuleSet(NamedTuple):
    """The rules of a spec: something is allowed if it matches one of `only`, if there are any, and none of `never`."""

    only: tuple[Meant, ...] = ()
    never: tuple[Meant, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return the attributes that the rules name."""
        return frozenset(name for rule in (*self.only, *self.never) for name in rule)

    def allows(self, values: Mapping[str, str | None]) -> bool:
        """Return whether these values are allowed. An attribute with the value None matches no rule that names it."""
        if self.only and not any(_fits(rule, values) for rule in self.only):
            return False
        return not any(_fits(rule, values) for rule in self.never)

    def may_allow(self, possible: Mapping[str, frozenset[str]]) -> bool:
        """Return whether some choice among the possible values is allowed. Other attributes may have any value."""
        if self.only and not any(_can_fit(rule, possible) for rule in self.only):
            return False
        return not any(_must_fit(rule, possible) for rule in self.never)

    def must_allow(self, possible: Mapping[str, frozenset[str]]) -> bool:
        """Return whether every choice among the possible values is allowed."""
        if self.only and not any(_must_fit(rule, possible) for rule in self.only):
            return False
        return not any(_can_fit(rule, possible) for rule in self.never)


def _fits(rule: Meant, values: Mapping[str, str | None]) -> bool:
    return all(values[name] in wanted for name, wanted in rule.items())


def _can_fit(rule: Meant, possible: Mapping[str, frozenset[str]]) -> bool:
    return all(name not in possible or possible[name] & wanted for name, wanted in rule.items())


def _must_fit(rule: Meant, possible: Mapping[str, frozenset[str]]) -> bool:
    return all(name in possible and possible[name] <= wanted for name, wanted in rule.items())


def read_rules(
    rules: Sequence[Mapping[str, Sequence[str]]], *, known: Mapping[str, RuleValues], where: str
) -> tuple[Meant, ...]:
    """Return rules with their ranges expanded; raise `BadSpec` for an unknown attribute or value."""
    return tuple(
        {name: _read(name, values, known, where=f"{where}.{number}") for name, values in rule.items()}
        for number, rule in enumerate(rules)
    )


def _read(name: str, values: Sequence[str], known: Mapping[str, RuleValues], *, where: str) -> frozenset[str]:
    if name not in known:
        raise BadSpec(f"Expected rules about {', '.join(known)}, got {name[:60]!r}.", where=where)
    found: set[str] = set()
    for value in values:
        meant = matching_values(value, known[name])
        if not meant:
            raise BadSpec(f"Expected {_expected(known[name])}, got {value[:60]!r}.", where=f"{where}.{name}")
        found |= meant
    return frozenset(found)


def matching_values(value: str, known: RuleValues) -> set[str]:
    """Return the known values that a rule's value or range matches."""
    ends = RANGE.fullmatch(value) if known.are_numbers else None
    if ends is None or value == "..":
        return {value} & set(known.values)
    low, high = int(ends[1] or 0), int(ends[2] or 10**9)
    return {number for number in known.values if low <= int(number) <= high}


def _expected(known: RuleValues) -> str:
    if known.are_numbers:
        return f"a number of {known.values[0]}..{known.values[-1]}, or a range of them such as 8..12, 8.. or ..12"
    if len(known.values) <= SHOWN:
        return f"one of {', '.join(known.values)}"
    return f"one of its {len(known.values)} values, as {known.values[0]} or {known.values[-1]}"


def as_lines(rules: Any) -> str | None:
    """Return rules as lines such as `shape=cube color=gray,blue`; None if lines cannot express them."""
    try:
        lines = [" ".join(f"{name}={','.join(_listed(values))}" for name, values in rule.items()) for rule in rules]
    except (AttributeError, TypeError):
        return None
    text = "\n".join(lines)
    return (
        text if of_lines(text) == [{name: _listed(values) for name, values in rule.items()} for rule in rules] else None
    )


def of_lines(text: str) -> list[dict[str, list[str]]] | str:
    """Return the rules that a text describes, without checking names. JSON is parsed, or returned if invalid."""
    if text.lstrip().startswith("["):
        try:
            found: list[dict[str, list[str]]] = loads(text)
        except ValueError:
            return text
        return found
    rules = []
    for line in text.splitlines():
        rule: dict[str, list[str]] = {}
        for condition in _conditions(line):
            name, _, values = condition.partition("=")
            rule.setdefault(name, []).extend(values.split(","))
        if rule:
            rules.append(rule)
    return rules


def _conditions(line: str) -> list[str]:
    """Return the conditions of a line; a word without `=` belongs to the value before it: `color=dark blue,red`."""
    return [" ".join(condition.split()) for condition in CONDITION_START.split(line.strip()) if condition]
