"""No one-line docstring stands over a body of three lines or fewer, unless a program reads or copies it."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generation.management.world_packages import STARTER
from webapp.api.urls import api

ROOT = Path(__file__).parents[1]
FOLDERS = ("generation", "annotations", "webapp", "static")
ENGINE = ROOT / "generation" / "engine"  # others build on the engine, so all of its docstrings stay
BUILT = ROOT / "static" / "ask.py"
API = ROOT / "webapp" / "api"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def sources() -> list[Path]:
    """Return the modules of the product without the engine, the starter, which is copied, and built files."""
    found = [ROOT / "manage.py", *(path for folder in FOLDERS for path in ROOT.joinpath(folder).rglob("*.py"))]
    return [path for path in found if not {ENGINE, STARTER} & set(path.parents) and path != BUILT]


def short_docstrings(source: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each one-line docstring over one to three lines. A docstring may be the whole body."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Definition) and 1 <= lines_under_docstring(node) <= 3:
            text = (ast.get_docstring(node) or "").strip()
            if text and "\n" not in text:
                yield node.name, text


def lines_under_docstring(node: Definition) -> int:
    if len(node.body) == 1:
        return 0
    first, last = node.body[1], node.body[-1]
    begin = min(part.lineno for part in (first, *getattr(first, "decorator_list", ())))
    return (last.end_lineno or last.lineno) - begin + 1


def descriptions(value: Any) -> Iterator[str]:
    """Yield the descriptions in a part of the API's description; those of operations and schemas are docstrings."""
    if isinstance(value, dict):
        if isinstance(value.get("description"), str):
            yield value["description"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from descriptions(one)


def test_no_short_body_has_a_docstring_of_one_line() -> None:
    read = set(descriptions(api.get_openapi_schema()))
    files = sources()
    assert len(files) > 300
    assert [
        f"{path.relative_to(ROOT)}: {name}: delete the docstring, and say what it adds in a name or a comment"
        for path in files
        for name, text in short_docstrings(path.read_text(encoding="utf-8"))
        if API not in path.parents or text not in read
    ] == []


def test_the_api_reads_docstrings_over_short_bodies() -> None:
    read = set(descriptions(api.get_openapi_schema()))
    short = {text for path in API.rglob("*.py") for _, text in short_docstrings(path.read_text(encoding="utf-8"))}
    assert short & read


BODY = "    first = 1\n    second = 2\n    return 3\n"


@pytest.mark.parametrize(
    "source",
    [
        f'def planted():\n    """Return 3."""\n{BODY}',
        f'def planted():\n    """Return 3.\n    """\n\n{BODY}',
        f'async def planted():\n    """Return 3."""\n    # Three lines.\n{BODY}',
        'class planted:\n    """A pair."""\n\n    first: int\n    second: int\n',
        'class planted:\n    """A thing."""\n\n    @property\n    def first(self):\n        return 1\n',
        'class Outer:\n    size = 1\n\n    class planted:\n        """Sorted."""\n\n        ordering = ("pk",)\n',
    ],
)
def test_a_planted_docstring_is_found(source: str) -> None:
    assert [name for name, _ in short_docstrings(source)] == ["planted"]


@pytest.mark.parametrize(
    "source",
    [
        f"def kept():\n{BODY}",
        f'def kept():\n    """Return 3."""\n    zeroth = 0\n{BODY}',
        f'def kept():\n    """Return 3.\n\n    Why it is 3.\n    """\n{BODY}',
        'def kept():\n    """Do nothing."""\n',
        'class Kept(Exception):\n    """Something is wrong."""\n',
        'class Kept:\n    """A thing."""\n\n    @property\n    @cached\n    def first(self):\n        return 1\n',
    ],
)
def test_another_docstring_is_not_found(source: str) -> None:
    assert list(short_docstrings(source)) == []
