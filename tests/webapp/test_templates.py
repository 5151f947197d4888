"""Rules for all templates: dates have the same forms, landmarks are not nested, and wrong fields are listed first."""

import re
from pathlib import Path

import pytest

from generation.templatetags.texts import language
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


QUESTIONS = re.compile(r"\{\{ *((?:\w+\.)*(?:question|asked|other|equivalent|choice)\.text) *\}\}")
LINES = re.compile(r"\{\{ *(?:line\.text|line) *\}\}")


@pytest.mark.parametrize("path", TEMPLATES, ids=ids)
def test_elements_with_questions_choices_and_stories_have_a_language_and_a_direction(path: Path) -> None:
    page = path.read_text()
    for found in QUESTIONS.finditer(page):
        tag = f"{{% language {found[1]} %}}"
        heading = f"{{% block heading_attributes %}}{tag}{{% endblock %}}\n{{% block heading %}}"
        before = page[: found.start()]
        assert before.endswith((f"{tag}>", heading, 'value="')), found[0]
    for found in LINES.finditer(page):
        opening = max(page.rfind(tag, 0, found.start()) for tag in ('<ol class="story', '<span class="preset-story"'))
        assert "{% language" in page[opening:].partition(">")[0]


def test_the_language_of_a_text_is_that_of_most_of_its_letters() -> None:
    for text, expected in {
        "What colour is the cube?": "en",
        "What colour is the \u05e7\u05d5\u05d1\u05d9\u05d9\u05d4?": "en",
        "Wie groß ist “Å”?": "en",
        "42": "en",
        "\u05db\u05de\u05d4 \u05db\u05d3\u05d5\u05e8\u05d9\u05dd?": "und",
        "\u0643\u0645 cat": "en",
        "\u4ec0\u4e48": "und",
    }.items():
        assert language(text) == f' lang="{expected}" dir="auto"', text
