"""Helpers for the page for a new dataset: what a browser sends, and what the response shows."""

import json
import re
from typing import Any

from generation.specs.editor import text_of
from tests.generation import small

NEW = "/datasets/new/"
TINY = {key: value for key, value in small.SPEC.items() if key != "title"} | {"splits": {"train": {"scenes": 4}}}


def text(response: Any) -> str:
    return response.content.decode()


def summary_of(response: Any) -> str:
    """Return the summary of all errors, which comes before the form."""
    found = re.search(r'<div class="banner bad wrong-fields".*?</div>', text(response), re.DOTALL)
    assert found is not None
    return found[0]


def times_said(what: str, response: Any) -> tuple[int, int]:
    """Return how often a text occurs in the summary of errors, and how often in the rest of the page."""
    summary = summary_of(response)
    return summary.count(what), text(response).replace(summary, "").count(what)


def sent(data: dict[str, Any] = TINY, /, **changes: Any) -> dict[str, Any]:
    """Return the fields that a browser sends for a spec if only `changes` were made on the page."""
    shown = text_of(data)
    about = {"slug": "mine", "visibility": "private", "licence": "CC BY 4.0", "images": "on"}
    return {"shown": shown, "spec": shown, **about, **changes}


def json_on(response: Any) -> dict[str, Any]:
    return json.loads(response.context["draft"].text)
