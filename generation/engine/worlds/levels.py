"""Levels: what makes a world's questions harder, one attribute at a time, as changes of a spec.

Each attribute has the levels of `NAMES`, from the easiest to the hardest, and some attributes also have a number.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from generation.engine.errors import BadSpec
from generation.engine.only_never_rules import RuleValues, matching_values

NAMES = ("easy", "medium", "hard")
NEVER = "never"  # lists of this name get further rules; every other value is replaced
NO_FACETS: Mapping[str, RuleValues] = MappingProxyType({})

Change = Mapping[str, Any]
"""New values of a spec's fields, by their dotted paths, such as `scene.objects_max`."""

Level = str | int
"""The name of a level, or a number."""


class Trend(StrEnum):
    """How the codes of a facet show that a level is harder."""

    MORE = "more"  # their mean is larger
    LESS = "less"  # their mean is smaller
    VARIETY = "variety"  # more of them occur


class LevelAttribute(NamedTuple):
    """One attribute that makes questions harder.

    Attributes
    ----------
    name : str
        Used in `at(name=level)`.
    label : str
        What it is, for people.
    facet : str
        The facet that measures it.
    trend : Trend
        How this facet's codes show that a level is harder.
    levels : mapping of str to Change
        The changes of each level, from the easiest one; the keys are `NAMES`.
    labels : mapping of str to str
        What each level has, for people.
    number : callable or None
        Returns the changes for a number; None for an attribute without numbers.
    is_joint : bool
        Whether a level for all attributes sets this attribute too.
    """

    name: str
    label: str
    facet: str
    trend: Trend
    levels: Mapping[str, Change]
    labels: Mapping[str, str]
    number: Callable[[int], Change] | None = None
    is_joint: bool = True

    def change(self, level: Level) -> Change:
        """Return the changes of a level.

        Parameters
        ----------
        level : str or int
            The name of a level; a number only if the attribute has numbers.

        Returns
        -------
        Change

        Raises
        ------
        BadSpec
            If the attribute has no such level.
        """
        if isinstance(level, str) and level in self.levels:
            return self.levels[level]
        if isinstance(level, int) and not isinstance(level, bool) and self.number is not None and level >= 0:
            return self.number(level)
        number = " or a number from 0" if self.number is not None else ""
        raise BadSpec(f"Expected one of {', '.join(self.levels)}{number}, got {level!r}.", where=self.name)


def named(*levels: Change) -> dict[str, Change]:
    """Return the changes of each level, given from the easiest to the hardest."""
    return dict(zip(NAMES, levels, strict=True))


def labelled(*labels: str) -> dict[str, str]:
    """Return the labels of each level, given from the easiest to the hardest."""
    return dict(zip(NAMES, labels, strict=True))


def outside(facet: str, low: int, high: int | None = None) -> list[dict[str, list[str]]]:
    """Return the rules that forbid a facet's numbers outside a range.

    Parameters
    ----------
    facet : str
    low : int
    high : int or None
        None for no upper bound.

    Returns
    -------
    list of dict
        Rules of `generation.engine.only_never_rules`.
    """
    rules = [{facet: [f"..{low - 1}"]}] if low > 0 else []
    return rules + ([{facet: [f"{high + 1}.."]}] if high is not None else [])


def choose(attributes: Sequence[LevelAttribute], level: str | None, chosen: Mapping[str, Level]) -> dict[str, Level]:
    """Return the level of each attribute.

    Parameters
    ----------
    attributes : sequence of LevelAttribute
        Those of the world.
    level : str or None
        The level of all attributes that are joint; None to set only those that are `chosen`.
    chosen : mapping of str to Level
        The level of single attributes, which come before `level`.

    Raises
    ------
    BadSpec
        If the world has no levels, no such level or no such attribute.
    """
    known = {attribute.name: attribute for attribute in attributes}
    if not known:
        raise BadSpec("Expected a world with levels, got one without.", where="level")
    if level is not None and level not in NAMES:
        raise BadSpec(f"Expected one of {', '.join(NAMES)}, got {level!r}.", where="level")
    for name in chosen:
        if name not in known:
            raise BadSpec(f"Expected one of {', '.join(known)}, got {name!r}.", where="level")
    joint = {} if level is None else {name: level for name, attribute in known.items() if attribute.is_joint}
    return {**joint, **chosen}


def apply(
    data: Mapping[str, Any], changes: Sequence[Change], *, facets: Mapping[str, RuleValues] = NO_FACETS
) -> dict[str, Any]:
    """Return a spec's JSON with changed fields.

    Parameters
    ----------
    data : mapping
        The JSON, which stays as it is.
    changes : sequence of Change
        Later changes come after earlier ones. A value replaces the field's value; rules named `never` are added.
    facets : mapping of str to RuleValues
        The values of the spec's facets. A rule that none of them matches forbids nothing, and a spec refuses it, so it
        is left out: for example one about programs longer than the longest.

    Returns
    -------
    dict
    """
    result = deepcopy(dict(data))
    for change in changes:
        for path, value in change.items():
            *folders, name = path.split(".")
            place = result
            for folder in folders:
                place = place.setdefault(folder, {})
            if name == NEVER:
                place[name] = [*place.get(name, []), *(rule for rule in value if _matches_any(rule, facets))]
            else:
                place[name] = deepcopy(value)
    return result


def _matches_any(rule: Mapping[str, Sequence[str]], facets: Mapping[str, RuleValues]) -> bool:
    """Return whether a facet has a value that the rule names; True if the facet is not known here."""
    return all(name not in facets or any(matching_values(one, facets[name]) for one in rule[name]) for name in rule)
