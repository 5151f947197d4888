"""Lists of whole numbers are typed and shown as ranges in a form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.worlds import names
from generation.specs import fields

NUMBERS = fields.Parameter("tasks", "Tasks", "", "numbers", True, [1, 2, 3, 5])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12))
def test_shown_numbers_are_read_back_unchanged(numbers: list[int]) -> None:
    assert fields.json_value(NUMBERS, fields.form_value(NUMBERS, {"tasks": numbers})) == numbers


@pytest.mark.parametrize(
    ("text", "meant"),
    [("1-3, 5", [1, 2, 3, 5]), ("7", [7]), ("2 - 4,9", [2, 3, 4, 9]), ("", None), ("one", "one"), ("1;2", "1;2")],
)
def test_typed_ranges_are_read(text: str, meant: object) -> None:
    assert fields.json_value(NUMBERS, text) == meant


def test_the_default_is_shown_as_a_range() -> None:
    assert fields.form_value(NUMBERS, {}) == "1-3, 5"
    assert fields.form_value(NUMBERS, {"tasks": "one"}) == "one"


def test_a_very_long_range_is_cut() -> None:
    assert len(fields.json_value(NUMBERS, "1-99999")) == fields.MANY + 1


@pytest.mark.parametrize(
    "world", [name for name in names() if name not in ("clevr", "counting", "simtown")]
)  # these worlds have no list of numbers
def test_each_world_has_a_parameter_with_a_list_of_numbers(world: str) -> None:
    assert "numbers" in {parameter.kind for parameter in fields.parameters_of(world)}


def test_descriptions_of_yes_no_parameters_name_the_default() -> None:
    said = [one.about for world in names() for one in fields.parameters_of(world) if one.kind == "yes-no"]
    assert said
    assert all(about.endswith(("default yes", "default no")) for about in said), said
