"""Answers as values of JSON: their texts, and how messages quote them."""

import math

from generation.engine.replies.vocabulary import JOINT


class NoAnswer(ValueError):
    """A value that can't be an answer, for example an object."""


def text_of(value: object, *, lists: bool = False) -> str:
    """Return the text of a JSON value: `true` for true, `3` for 3.0, and an empty text for null.

    With `lists`, a list is allowed too: its text is `a,b` for ["a", "b"]. Other values raise `NoAnswer`.
    """
    if lists and isinstance(value, list):
        return JOINT.join(map(text_of, value)) or "[]"
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    raise NoAnswer(f"expected an answer in words or a number, got {quote(value)}")


def quote(value: object) -> str:
    """Return a value for a message: a shortened text in quotes with escapes, or only the kind of a list or object."""
    if isinstance(value, dict | list):
        return f"a {'list' if isinstance(value, list) else 'JSON object'}"
    if value is None:
        return "null"
    said = str(value)
    cut = f"{said[:60]}..." if len(said) > 60 else said
    return repr(cut) if isinstance(value, str) else cut
