"""Markdown that users write: a child process with limits renders it once, and the HTML is stored with the text.

For example, the HTML of a field `description` is in the field `description_html`. The HTML field begins with the digest
of the text from which the HTML was made. If the text was changed without a form, it is rendered again when its HTML is
read the next time.
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
MEMORY = 300 << 20  # bytes of address space
CHILD = "annotations.markdown_process"
VERSION = "1"  # change this when the same text gives different HTML


class BadMarkdown(ValueError):
    """The text can't be rendered within the limits; the message is for users."""


def html_field() -> Any:
    return models.TextField(blank=True, editable=False, help_text="Its HTML, after the digest of the text.")


@lru_cache(maxsize=32)
def render(text: str) -> str:
    """Return Markdown as sanitised HTML; raise `BadMarkdown` if it can't be rendered within the limits."""
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


def html_of_form(text: str) -> str:
    return f"{_digest(text)}\n{render(text)}"


def check_fields(form: Any, names: Iterable[str]) -> list[str]:
    """Render the Markdown fields of a form that have no error yet; add an error to a field that can't be rendered.

    Return the names of the changed HTML fields, which the caller must save too.
    """
    changed = []
    for name in names:
        if name not in form.cleaned_data:
            continue
        try:
            setattr(form.instance, f"{name}_html", html_of_form(str(form.cleaned_data[name])))
            changed.append(f"{name}_html")
        except BadMarkdown as error:
            form.add_error(name, str(error))
    return changed


def render_row(row: Any, name: str) -> SafeString:
    """Return the stored HTML of a row's text; if it is missing or outdated, render and store it now."""
    text = str(getattr(row, name))
    digest, _, html = str(getattr(row, f"{name}_html")).partition("\n")
    if digest != _digest(text):
        html = _rendered_late(text)
        same = type(row)._default_manager.filter(pk=row.pk, **{name: text})
        same.update(**{f"{name}_html": f"{_digest(text)}\n{html}"})
    return mark_safe(html)  # noqa: S308 - cleaned by the child


def replace_text(row: Any, name: str, old: str, new: str) -> dict[str, str]:
    html, text = render_row(row, name).replace(old, new), str(getattr(row, name)).replace(old, new)
    return {name: text, f"{name}_html": f"{_digest(text)}\n{html}"}


def _rendered_late(text: str) -> str:
    """Return the HTML of a text that no form has checked; if the text can't be rendered, escape it as plain lines."""
    try:
        return render(text)
    except BadMarkdown:
        return linebreaks(escape(text))


def _digest(text: str) -> str:
    return hashlib.sha256(f"{VERSION}\n{text}".encode("utf-8", errors="replace")).hexdigest()
