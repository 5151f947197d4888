"""`QueryString` reads and writes the names and values of addresses."""

import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from generation.splits.query_string import BadAddress, QueryString

TEXT = st.text(st.characters(codec="utf-8"), min_size=1)


@given(st.lists(st.tuples(TEXT, st.text(st.characters(codec="utf-8")))))
def test_a_written_query_string_is_read_back_unchanged(pairs: list[tuple[str, str]]) -> None:
    query = QueryString(tuple(pairs))
    assert QueryString.parse(str(query)).pairs == query.pairs


def test_values_of_a_request_are_grouped_by_name() -> None:
    query = QueryString.of(RequestFactory().get("/?type=count&page=3&type=exist&q="))
    assert query.pairs == (("type", "count"), ("type", "exist"), ("page", "3"), ("q", ""))
    assert (query.only("page").pairs, query.without("type", "q").pairs) == ((("page", "3"),), (("page", "3"),))
    assert str(query) == "?type=count&type=exist&page=3&q="


def test_the_last_of_several_values_counts_and_empty_values_are_ignored() -> None:
    query = QueryString.parse("?a=1&a=2&a=1&a=&b=")
    assert (query.last("a"), query.last("b"), query.last("c")) == ("", "", None)
    assert (query.value("a", "x"), query.value("c", "x"), query.value("c")) == ("x", "x", "")
    assert (query.values("a"), query.values("b")) == (["1", "2"], [])


def test_a_switch_is_on_off_or_missing() -> None:
    query = QueryString.parse("on=1&off=0&odd=yes")
    assert (query.switch("on"), query.switch("off"), query.switch("none")) == (True, False, None)
    with pytest.raises(BadAddress, match="Expected odd=1 or odd=0, got 'yes'"):
        query.switch("odd")


def test_an_unknown_name_is_refused() -> None:
    QueryString.parse("a=1&b=2").check_names(["a", "b"])
    with pytest.raises(BadAddress, match="Expected a in the address, got 'b'"):
        QueryString.parse("a=1&b=2").check_names(["a"])
