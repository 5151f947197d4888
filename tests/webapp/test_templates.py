"""What holds in every template: dates look alike, no landmark stands twice, wrong fields are said at once."""

import re
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT

TEMPLATES = sorted(path for room in ("generation", "annotations", "webapp") for path in (ROOT / room).rglob("*.html"))
DATES = {"j M Y", "j M Y, H:i", "H:i", "c", "e"}  # a day, a moment, a time of today, for machines, a time zone


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", TEMPLATES, ids=ids)
def test_dates_look_alike(path: Path) -> None:
    assert set(re.findall(r"\|date:[\"']([^\"']*)[\"']", path.read_text())) <= DATES


@pytest.mark.parametrize("path", TEMPLATES, ids=ids)
def test_a_table_that_scrolls_is_no_landmark_beside_its_section(path: Path) -> None:
    assert not re.search(r'<div class="table-scroll[^>]*role="region"', path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=ids)
def test_a_form_that_is_laid_out_by_hand_says_all_that_is_wrong_first(path: Path) -> None:
    text = path.read_text()
    if "as_field_group" in text and path.name != "_form.html":
        assert 'include "webapp/_wrong.html"' in text
