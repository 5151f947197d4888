"""Rules for all templates: dates have the same forms, landmarks are not nested, and wrong fields are listed first."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

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


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def templates_in_which(is_wrong: Callable[[str], object]) -> list[str]:
    return [name_of(path) for path in TEMPLATES if is_wrong(path.read_text())]


def test_dates_have_one_of_the_usual_forms() -> None:
    form = re.compile(r"\|date:[\"']([^\"']*)[\"']")
    assert templates_in_which(lambda page: set(form.findall(page)) - DATES) == []


def test_a_table_that_scrolls_is_not_a_landmark() -> None:
    table = re.compile(r'<div class="table-scroll[^>]*role="region"')
    assert templates_in_which(table.search) == []


def test_a_form_with_its_own_layout_lists_all_wrong_fields_first() -> None:
    wrong = templates_in_which(lambda page: "as_field_group" in page and 'include "webapp/_wrong.html"' not in page)
    assert [name for name in wrong if not name.endswith("/_form.html")] == []


QUESTIONS = re.compile(r"\{\{ *((?:\w+\.)*(?:question|asked|other|equivalent|choice)\.text) *\}\}")
LINES = re.compile(r"\{\{ *(?:line\.text|line) *\}\}")


def test_elements_with_questions_choices_and_stories_have_a_language_and_a_direction() -> None:
    without = [(name_of(path), text) for path in TEMPLATES for text in texts_without_language(path.read_text())]
    assert without == []


def texts_without_language(page: str) -> Iterator[str]:
    for found in QUESTIONS.finditer(page):
        tag = f"{{% language {found[1]} %}}"
        heading = f"{{% block heading_attributes %}}{tag}{{% endblock %}}\n{{% block heading %}}"
        if not page[: found.start()].endswith((f"{tag}>", heading, 'value="')):
            yield found[0]
    for found in LINES.finditer(page):
        opening = max(page.rfind(tag, 0, found.start()) for tag in ('<ol class="story', '<span class="preset-story"'))
        if "{% language" not in page[opening:].partition(">")[0]:
            yield found[0]


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
