"""Pagination of the API's lists."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from generation.browsing.sidebar import Page
from generation.splits.query_string import BadAddress, QueryString

PAGE = {
    "name": "page",
    "in": "query",
    "description": "Which page, from 1.",
    "schema": {"type": "integer", "minimum": 1, "maximum": 999_999_999, "default": 1},
}
WORDS = {
    "name": "q",
    "in": "query",
    "description": "Words, all of which have to be there.",
    "schema": {"type": "string", "maxLength": 200},
}


SIZE = 100
MOST = 1000  # of a page
SIZE_NAME = "size"
SIZED = {
    "name": SIZE_NAME,
    "in": "query",
    "description": f"How many a page has, {MOST} at most.",
    "schema": {"type": "integer", "minimum": 1, "maximum": MOST, "default": SIZE},
}


def filter_of(name: str, about: str = "") -> dict[str, Any]:
    # If a filter is given twice, both values match.
    return {"name": name, "in": "query", "description": about, "schema": {"type": "array", "items": {"type": "string"}}}


def page_json(request: HttpRequest, page: Page, results: list[Any]) -> dict[str, Any]:
    """Return a page as JSON data."""
    return {
        "count": page.total,
        "page": page.number,
        "pages": page.pages,
        "next": request.path + page.next if page.next else None,
        "previous": request.path + page.previous if page.previous else None,
        "results": results,
    }


def page_size_of(asked: QueryString) -> tuple[int, QueryString]:
    """Return the page size and the other parameters of a URL; raise `BadAddress`."""
    size = SIZE
    for name, value in asked.pairs:
        if name == SIZE_NAME:
            if not (value.isascii() and value.isdigit() and len(value) <= 4 and 1 <= int(value) <= MOST):
                raise BadAddress(f"Expected {SIZE_NAME} from 1 to {MOST}, got {value[:60]!r}.")
            size = int(value)
    return size, asked.without(SIZE_NAME)


def keeping(answer: dict[str, Any], size: int, pairs: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Add the page size and these parameters to the links to the next and previous page."""
    kept = [*pairs, *([] if size == SIZE else [(SIZE_NAME, str(size))])]
    for name in ("next", "previous") if kept else ():
        answer[name] = f"{answer[name]}&{urlencode(kept)}" if answer[name] else None
    return answer
