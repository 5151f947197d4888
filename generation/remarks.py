"""What upper layers have to say of splits and questions: a line with a link, on the pages that show them.

A lower layer does not know the upper ones. Each of them registers, when it is loaded, functions that say it; they ask
for themselves what a visitor may know.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from generation.access import Visitor
from generation.models import Split


class Remark(NamedTuple):
    """A line, and where to read more."""

    text: str
    address: str


OfSplits = Callable[[Visitor, Sequence[Split]], Mapping[int, Remark]]
OfQuestion = Callable[[Visitor, Split, int], str]

_OF_SPLITS: dict[str, OfSplits] = {}
_OF_QUESTIONS: dict[str, OfQuestion] = {}


def register(name: str, *, of_splits: OfSplits, of_question: OfQuestion) -> None:
    """Let functions say something of splits, by their keys, and of a question; the same name replaces them.

    `of_question` gives what people said, or nothing; it stands where the right answer stands.
    """
    _OF_SPLITS[name] = of_splits
    _OF_QUESTIONS[name] = of_question


def on_splits(user: Visitor, splits: Sequence[Split]) -> dict[int, list[Remark]]:
    """Return what is to be said of complete splits, by their keys."""
    found: dict[int, list[Remark]] = {}
    complete = [split for split in splits if split.is_complete]
    for name in sorted(_OF_SPLITS) if complete else ():
        for key, remark in _OF_SPLITS[name](user, complete).items():
            found.setdefault(key, []).append(remark)
    return found


def on_question(user: Visitor, split: Split, position: int) -> list[str]:
    """Return what is to be said of a question of a complete split, whose position counts from 0."""
    if not split.is_complete:
        return []
    said = (_OF_QUESTIONS[name](user, split, position) for name in sorted(_OF_QUESTIONS))
    return [text for text in said if text]
