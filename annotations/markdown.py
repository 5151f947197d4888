"""Markdown that people write: its HTML is made once, by a bounded child process, and kept beside the text.

A field `description` has a field `description_html` beside it, which begins with the digest of the text that it was
made from: text that changed in another way than by a form is rendered anew when it is next read.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db import models
from django.utils.html import escape, linebreaks
from django.utils.safestring import SafeString, mark_safe

from generation.queue import sandbox

LONGEST = 20_000  # characters
SECONDS = 5
MEMORY = 300 << 20  # of addresses, bytes
CHILD = "annotations.markdown_child"
VERSION = "1"  # changes with what the same text becomes


class BadMarkdown(ValueError):
    """Text that can't be rendered within the bounds; the message is for people."""


def html_field() -> Any:
    return models.TextField(blank=True, editable=False, help_text="Its HTML, after the digest of the text.")


@lru_cache(maxsize=32)
def render(text: str) -> str:
    """Return Markdown as clean HTML; raise `BadMarkdown`."""
    if len(text) > LONGEST:
        raise BadMarkdown(f"Expected at most {LONGEST:,} characters, got {len(text):,}.")
    if not text.strip():
        return ""
    try:
        content = text.encode("utf-8", errors="replace")
        answer = json.loads(sandbox.run(CHILD, content, seconds=SECONDS, memory=MEMORY))
    except (sandbox.TooLong, sandbox.TooBig) as error:
        raise BadMarkdown(
            f"Expected Markdown that is rendered within {SECONDS} seconds, got some that takes longer. Make it simpler."
        ) from error
    if "refused" in answer:
        raise BadMarkdown(answer["refused"])
    return str(answer["html"])


def kept(text: str) -> str:
    """Return what the field for the HTML of a text holds; raise `BadMarkdown`."""
    return f"{_digest(text)}\n{render(text)}"


def check_fields(form: Any, names: Iterable[str]) -> list[str]:
    """Render the fields of a model's form whose text is valid so far; what can't be rendered is an error of its field.

    Returns the names of the fields that keep the HTML, which are to be saved too.
    """
    changed = []
    for name in names:
        if name not in form.cleaned_data:
            continue
        try:
            setattr(form.instance, f"{name}_html", kept(str(form.cleaned_data[name])))
            changed.append(f"{name}_html")
        except BadMarkdown as error:
            form.add_error(name, str(error))
    return changed


def rendered(row: Any, name: str) -> SafeString:
    """Return the HTML of a row's text, as it is kept; text that was stored without is rendered now, and kept."""
    text = str(getattr(row, name))
    digest, _, html = str(getattr(row, f"{name}_html")).partition("\n")
    if digest != _digest(text):
        html = _rendered_late(text)
        same = type(row)._default_manager.filter(pk=row.pk, **{name: text})
        same.update(**{f"{name}_html": f"{_digest(text)}\n{html}"})
    return mark_safe(html)  # noqa: S308 - cleaned by the child


def replaced(row: Any, name: str, old: str, new: str) -> dict[str, str]:
    html, text = rendered(row, name).replace(old, new), str(getattr(row, name)).replace(old, new)
    return {name: text, f"{name}_html": f"{_digest(text)}\n{html}"}


def _rendered_late(text: str) -> str:
    """Return the HTML of a text that no form has checked: as plain lines where it can't be rendered."""
    try:
        return render(text)
    except BadMarkdown:
        return linebreaks(escape(text))


def _digest(text: str) -> str:
    return hashlib.sha256(f"{VERSION}\n{text}".encode("utf-8", errors="replace")).hexdigest()
