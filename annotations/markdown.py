"""Markdown that researchers write, as HTML that nothing but text, lists, tables and links can come through."""

import markdown
import nh3
from django.utils.safestring import SafeString, mark_safe

TAGS = nh3.ALLOWED_TAGS - {"img", "h1"}  # a page has one title, and tells nobody else that it is looked at


def rendered(text: str) -> SafeString:
    """Return Markdown as clean HTML."""
    body = markdown.markdown(text, extensions=["tables", "sane_lists"])
    return mark_safe(nh3.clean(body, tags=TAGS, link_rel="noopener noreferrer"))  # noqa: S308 - cleaned just now
