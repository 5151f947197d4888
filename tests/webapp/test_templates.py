"""Rules for all templates: dates have the same forms, landmarks are not nested, and wrong fields are listed first."""

import re
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT

TEMPLATES = sorted(path for room in ("generation", "annotations", "webapp") for path in (ROOT / room).rglob("*.html"))
DATES = {
    "j M Y",
    "j M Y, H:i",
    "H:i",
    "c",
    "e",
}  # a day, a date with time, a time of today, ISO 8601 for programs, a time zone


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", TEMPLATES, ids=ids)
def test_dates_have_one_of_the_usual_forms(path: Path) -> None:
    assert set(re.findall(r"\|date:[\"']([^\"']*)[\"']", path.read_text())) <= DATES


@pytest.mark.parametrize("path", TEMPLATES, ids=ids)
def test_a_table_that_scrolls_is_not_a_landmark(path: Path) -> None:
    assert not re.search(r'<div class="table-scroll[^>]*role="region"', path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=ids)
def test_a_form_with_its_own_layout_lists_all_wrong_fields_first(path: Path) -> None:
    text = path.read_text()
    if "as_field_group" in text and path.name != "_form.html":
        assert 'include "webapp/_wrong.html"' in text
