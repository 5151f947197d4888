"""Pages of lists: what addresses may say of them, and how one is answered."""

from typing import Any

from django.http import HttpRequest

from generation.paging import Page

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


def filter_of(name: str, about: str = "") -> dict[str, Any]:
    """Return how a filter is described; one that is named twice lets both values through."""
    return {"name": name, "in": "query", "description": about, "schema": {"type": "array", "items": {"type": "string"}}}


def page_json(request: HttpRequest, page: Page, results: list[Any]) -> dict[str, Any]:
    """Return a page as it is answered."""
    return {
        "count": page.total,
        "page": page.number,
        "pages": page.pages,
        "next": request.path + page.next if page.next else None,
        "previous": request.path + page.previous if page.previous else None,
        "results": results,
    }
