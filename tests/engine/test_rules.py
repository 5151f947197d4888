"""Rules for allowed values, compared with a twin that tries every combination of values."""

import json
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadSpec
from generation.engine.only_never_rules import Meant, RuleSet, RuleValues, as_lines, of_lines, read_rules

NAMES = {"one": ("a", "b", "c"), "two": ("x", "y"), "three": ("0", "1", "2")}
KNOWN = {name: RuleValues(values, are_numbers=name == "three") for name, values in NAMES.items()}


def some(values: tuple[str, ...]) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(values), min_size=1)


RULES = st.lists(
    st.fixed_dictionaries({}, optional={name: some(values) for name, values in NAMES.items()}).filter(bool), max_size=3
).map(tuple)
WANTED = st.builds(RuleSet, RULES, RULES)
POSSIBLE = st.fixed_dictionaries({name: some(values) for name, values in NAMES.items()})


def is_allowed_by_twin(wanted: RuleSet, values: Mapping[str, str]) -> bool:
    """Return whether the values fit at least one rule of `only` (if it has rules) and no rule of `never`."""
    fits = [[all(values[name] in rule[name] for name in rule) for rule in rules] for rules in wanted]
    return (not fits[0] or True in fits[0]) and True not in fits[1]


@given(WANTED)
def test_a_rule_set_allows_the_same_as_the_twin(wanted: RuleSet):
    for values in product(*NAMES.values()):
        thing = dict(zip(NAMES, values, strict=True))
        assert wanted.allows(thing) == is_allowed_by_twin(wanted, thing)


@given(WANTED, POSSIBLE, st.frozensets(st.sampled_from(sorted(NAMES))))
def test_may_allow_and_must_allow_agree_with_trying_all_possible_values(
    wanted: RuleSet, possible: Meant, told: frozenset[str]
):
    """An attribute that is not known may have any value."""
    each = [
        wanted.allows(dict(zip(NAMES, values, strict=True)))
        for values in product(*(possible[name] if name in told else NAMES[name] for name in NAMES))
    ]
    known = {name: possible[name] for name in told}
    assert wanted.may_allow(known) or not any(each)
    assert all(each) or not wanted.must_allow(known)


def test_a_missing_value_fits_no_rule_about_it():
    assert not RuleSet(only=({"one": frozenset("a")},)).allows({"one": None})
    assert RuleSet(never=({"one": frozenset("a")},)).allows({"one": None})


@pytest.mark.parametrize(
    ("said", "meant"), [("1", "1"), ("1..2", "12"), ("..1", "01"), ("1..", "12"), ("0..9", "012"), ("02..2", "2")]
)
def test_numbers_may_be_ranges(said: str, meant: str):
    assert read_rules([{"three": [said]}], known=KNOWN, where="here") == ({"three": frozenset(meant)},)


@pytest.mark.parametrize(
    ("rule", "where", "expected"),
    [
        ({"four": ["a"]}, "here.0", "about one, two, three, got 'four'"),
        ({"one": ["a", "d"]}, "here.0.one", "one of a, b, c, got 'd'"),
        ({"one": ["a..b"]}, "here.0.one", "got 'a..b'"),
        ({"three": ["2..1"]}, "here.0.three", "a number of 0..2, or a range"),
        ({"three": [".."]}, "here.0.three", "got '..'"),
        ({"three": ["3.."]}, "here.0.three", "got '3..'"),
    ],
)
def test_unknown_names_and_values_are_refused_and_their_place_is_named(
    rule: dict[str, list[str]], where: str, expected: str
):
    with pytest.raises(BadSpec) as refused:
        read_rules([rule], known=KNOWN, where="here")
    assert refused.value.where == where
    assert expected in refused.value.reason


LINES = "shape=cube color=gray,blue\nsize=large"
LISTS = [{"shape": ["cube"], "color": ["gray", "blue"]}, {"size": ["large"]}]


def test_rules_are_written_and_read_as_lines():
    assert as_lines(LISTS) == as_lines([{"shape": "cube", "color": ["gray", "blue"]}, {"size": "large"}]) == LINES
    assert of_lines(f"\n {LINES} \n\n") == LISTS
    assert of_lines("shape=cube shape=sphere") == [{"shape": ["cube", "sphere"]}]
    spaced = [{"color": ["dark blue", "red"], "shape": ["pointed hat"]}, {"color": ["青"]}]
    assert (
        as_lines(spaced) == "color=dark blue,red shape=pointed hat\ncolor=青" and of_lines(as_lines(spaced)) == spaced
    )
    assert of_lines("") == of_lines(" \n ") == []


@given(
    st.lists(st.dictionaries(st.text(max_size=4), st.lists(st.text(max_size=4), min_size=1, max_size=3)), max_size=3)
)
def test_rules_that_lines_cannot_express_are_kept_as_json(rules: list[dict[str, list[str]]]):
    lines = as_lines(rules)
    assert lines is None or of_lines(lines) == rules
    assert of_lines(json.dumps(rules)) == rules


@pytest.mark.parametrize("rules", [3, None, "shape=cube", ["shape"], [{"shape": 3.5}], [{"shape": [[]]}]])
def test_invalid_rules_are_not_written_as_lines(rules: Any):
    assert as_lines(rules) is None


def test_invalid_lines_are_passed_on_and_not_refused():
    assert of_lines("cube, red") == [{"cube, red": [""]}]
    assert of_lines("[not json") == "[not json"
