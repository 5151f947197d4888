"""The style sheets have no class that no page uses."""

import re
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT
from webapp.leaderboards.ranking.board_rows import shade

SHEETS = sorted((ROOT / "static").glob("*.css"))
OF_DJANGO = {"errorlist", "info", "success", "warning", "error"}  # lists of a form's errors, messages
ATTRIBUTE = re.compile(r'class="((?:\{[{%].*?[%}]\}|[^"])*)"')


def classes_of(sheet: Path) -> set[str]:
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
    selectors = re.sub(r"\{[^{}]*\}", "{}", text)
    return set(re.findall(r"\.([a-z][\w-]*)", selectors))


def possible_classes() -> set[str]:
    """Return every word that may be a class: words in `class` attributes of templates, and in quotes in code."""
    words = OF_DJANGO | {shade(tenth / 10) for tenth in range(10)}
    for folder in ("webapp", "generation", "annotations", "static/js"):
        for path in ROOT.joinpath(folder).rglob("*.*"):
            found = {".html": ATTRIBUTE, ".py": re.compile(r'["\'](.*?)["\']'), ".js": re.compile(r'["\'`](.*?)["\'`]')}
            if path.suffix in found:
                for text in found[path.suffix].findall(path.read_text()):
                    words.update(re.findall(r"[\w-]+", text))
    return words


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_class_of_a_style_sheet_is_used(sheet: Path) -> None:
    assert classes_of(sheet) - possible_classes() == set()


def test_classes_are_found() -> None:
    assert {"card", "num", "skip"} <= classes_of(ROOT / "static/app.css")
