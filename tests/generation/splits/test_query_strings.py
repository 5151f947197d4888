"""Names and values of addresses are read and written by one class."""

import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from generation.splits.query_string import BadAddress, QueryString

TEXT = st.text(st.characters(codec="utf-8"), min_size=1)


@given(st.lists(st.tuples(TEXT, st.text(st.characters(codec="utf-8")))))
def test_what_is_written_is_read_again(pairs: list[tuple[str, str]]) -> None:
    asked = QueryString(tuple(pairs))
    assert QueryString.parse(str(asked)).pairs == asked.pairs


def test_a_request_is_read_name_by_name() -> None:
    asked = QueryString.of(RequestFactory().get("/?type=count&page=3&type=exist&q="))
    assert asked.pairs == (("type", "count"), ("type", "exist"), ("page", "3"), ("q", ""))
    assert (asked.only("page").pairs, asked.without("type", "q").pairs) == ((("page", "3"),), (("page", "3"),))
    assert str(asked) == "?type=count&type=exist&page=3&q="


def test_of_several_values_the_last_counts_and_empty_ones_are_left_open() -> None:
    asked = QueryString.parse("?a=1&a=2&a=1&a=&b=")
    assert (asked.last("a"), asked.last("b"), asked.last("c")) == ("", "", None)
    assert (asked.value("a", "x"), asked.value("c", "x"), asked.value("c")) == ("x", "x", "")
    assert (asked.values("a"), asked.values("b")) == (["1", "2"], [])


def test_a_switch_is_on_off_or_not_there() -> None:
    asked = QueryString.parse("on=1&off=0&odd=yes")
    assert (asked.switch("on"), asked.switch("off"), asked.switch("none")) == (True, False, None)
    with pytest.raises(BadAddress, match="Expected odd=1 or odd=0, got 'yes'"):
        asked.switch("odd")


def test_a_name_that_is_not_read_is_refused() -> None:
    QueryString.parse("a=1&b=2").check_names(["a", "b"])
    with pytest.raises(BadAddress, match="Expected a in the address, got 'b'"):
        QueryString.parse("a=1&b=2").check_names(["a"])
