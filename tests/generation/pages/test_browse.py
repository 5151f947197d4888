"""Filters in the address."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.items import Facet, FacetKind
from generation.splits.query_string import MAX_CONDITIONS, BadAddress, QueryString, join_ranges, read_query
from tests.proof import size

TYPE = Facet(
    "type", "Type", FacetKind.CATEGORY, ("count", "exist", "query_color"), False, labels=("Count", "Exist", "Colour")
)
LENGTH = Facet("length", "Program length", FacetKind.INTEGER, tuple(str(n) for n in range(2, 26)), False)
ANSWER = Facet("answer", "Answer", FacetKind.CATEGORY, ("yes", "no"), True)
FACETS = (TYPE, LENGTH, ANSWER)


def read(*pairs, facets=FACETS, hidden=()):
    return read_query(pairs, facets=facets, hidden=hidden)


def test_values_of_one_facet_are_joined():
    assert read(("type", "exist"), ("type", "count")).filters == {"type": [0, 1]}


def test_a_range_selects_every_number_in_it():
    assert read(("length", "8..12")).filters == {"length": [6, 7, 8, 9, 10]}


@pytest.mark.parametrize(("value", "codes"), [("24..", [22, 23]), ("..3", [0, 1]), (" 5 .. 5 ", [3]), ("5", [3])])
def test_a_range_may_be_open_at_either_end(value, codes):
    assert read(("length", value)).filters == {"length": codes}


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("90..99", "90 to 99"),
        ("12..8", "12 to 8"),
        ("..1", "up to 1"),
        ("26..", "26 or more"),
        ("0", "0"),
        ("30", "30"),
    ],
)
def test_a_range_without_values_is_a_filter_that_matches_nothing(value, label):
    query = read(("length", value), ("type", "count"))
    assert query.filters == {"length": [], "type": [0]}
    assert query.conditions[0].label == label
    assert query.toggled(query.conditions[0]).address == "?type=count"


def test_words_are_kept_with_single_spaces():
    assert read(("q", "  red   cube ")).words == "red cube"


def test_empty_values_that_forms_send_are_ignored():
    assert read(("type", ""), ("q", "")).is_plain


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("typ", "count", "type, length, answer, q"),
        ("type", "colour", "one of count, exist, query_color, got 'colour'"),
        ("type", "1..2", "one of count"),
        ("length", "..", "range such as 8..12"),
        ("length", "a..b", "range such as 8..12"),
        ("length", "-3..4", "range such as 8..12"),
        ("length", "²..9", "range such as 8..12"),
        ("length", "9" * 5000 + "..", "range such as 8..12"),
        ("q", "x" * 10_000, "at most 200 characters, got 10,000"),
        ("q", "a\0b", "zero character"),
        ("page", "0", "page number from 1"),
        ("page", "two", "page number from 1"),
        ("page", "9" * 5000, "page number from 1"),
    ],
)
def test_an_invalid_condition_is_refused_with_a_message(name, value, says):
    with pytest.raises(BadAddress) as refused:
        read((name, value))
    assert says in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_facet_that_would_reveal_withheld_answers_is_refused():
    with pytest.raises(BadAddress, match="withheld"):
        read(("answer", "yes"), facets=(TYPE, LENGTH), hidden=(ANSWER,))


def test_too_many_filters_are_refused():
    with pytest.raises(BadAddress, match="at most"):
        read(*[("length", f"{n % 24 + 2}") for n in range(MAX_CONDITIONS + 1)])


def test_toggling_twice_gives_the_same_filters_on_the_first_page():
    query = read(("type", "count"), ("q", "red"), ("page", "4"))
    other = read(("length", "8..12")).conditions[0]
    assert query.toggled(other).address == "?type=count&length=8..12&q=red"
    assert query.toggled(other).toggled(other) == query.on_page(1)


def test_switching_off_a_value_within_a_range_leaves_the_others():
    query = read(("length", "8..10"))
    assert query.switched(LENGTH, 7).address == "?length=8&length=10"
    assert query.switched(LENGTH, 0).address == "?length=8..10&length=2"
    assert query.switched(LENGTH, 0).switched(LENGTH, 0) == query


def test_without_removes_every_condition_of_a_facet():
    query = read(("type", "count"), ("type", "exist"), ("length", "8.."))
    assert query.without("type").address == "?length=8.."


def test_conditions_have_readable_labels():
    labels = [one.label for one in read(("type", "query_color"), ("length", "8..12"), ("length", "4")).conditions]
    assert labels == ["Colour", "8 to 12", "4"]


def test_ranges_of_forms_become_one_value():
    for sent, read_as in [
        ("length.from=8&type=count&length.to=12", "type=count&length=8..12"),
        ("length.from=8&length.to=", "length=8.."),
        ("length.from=&length.to=", ""),
        ("type=count", "type=count"),
    ]:
        assert join_ranges(QueryString.parse(sent)) == QueryString.parse(read_as)


@settings(max_examples=size(2000, most=25))
@given(
    st.lists(
        st.tuples(st.sampled_from(["type", "length", "answer", "q", "page", "x"]), st.text(max_size=12)), max_size=5
    )
)
def test_any_address_is_read_or_refused(pairs):
    try:
        query = read(*pairs)
    except BadAddress:
        return
    for name, codes in query.filters.items():
        assert codes
        assert name in ("type", "length", "answer")


@pytest.mark.parametrize(
    "pairs", [(), (("q", "red & big"),), (("type", "exist"), ("length", "3..9")), (("length", "4"), ("q", "a=b c"))]
)
def test_around_gives_the_address_that_adds_a_value_before_and_after_the_value(pairs):
    query = read(*pairs)
    for facet in FACETS:
        before, after = query.around(facet)
        for code, value in enumerate(facet.values):
            if code not in query.filters.get(facet.name, ()):
                assert before + value + after == query.switched(facet, code).address
