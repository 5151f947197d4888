"""Worlds whose texts may be told in words that a user brings, and learned from files that others published."""

from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable


class Learnt(NamedTuple):
    """A lexicon as JSON, and what is in it, in words."""

    data: dict[str, Any]
    about: str


@runtime_checkable
class HasLexicon(Protocol):
    """A world that learns lexicons, the field `lexicon` of its specs."""

    def learn_lexicon(self, path: Path, *, english: Path | None) -> Learnt:
        """Return the lexicon of published files; raise `BadRecord`.

        `english`: the English files of the same texts; None for those that are found beside `path`, if they are needed.
        """
