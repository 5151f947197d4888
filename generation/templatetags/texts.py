"""The template tag for questions, lines of stories, and answers to choose: their language and direction."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

ENGLISH, UNKNOWN = "en", "und"
LATIN = 0x250  # the first character after the letters of European languages


@register.simple_tag
def language(text: str) -> SafeString:
    """Return the attributes of an element with this text, or of a list of lines that begins with it.

    All worlds write English, also around words of a vocabulary in another script. A text of an import that is mostly
    in another script has an unknown language. The first letter decides the direction.
    """
    return format_html(' lang="{}" dir="auto"', ENGLISH if text.isascii() or _is_mostly_latin(text) else UNKNOWN)


def _is_mostly_latin(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(ord(letter) < LATIN for letter in letters) >= len(letters)
