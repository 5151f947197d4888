"""Registration for upper layers, so that lower layers need not import them: links, notes, and referrers of datasets.

Each upper layer registers functions when it is loaded. Links are shown to the owner on a split's page. Actions are
buttons there, whose functions check what the user may do. Notes are lines with a link on the pages of splits and
questions; their functions check what the user may see. Some things that refer to a dataset prevent its deletion, and
others are deleted with it. A page names the things that prevent it, so a referrer must return only names that the
dataset's owner may know.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from generation.access import Visitor
from generation.engine.errors import EngineError
from generation.models import Dataset, Split


class Link(NamedTuple):
    label: str
    address: str


LinkMaker = Callable[[Split, str], Link]

_LINKS: dict[str, LinkMaker] = {}


def register_link(name: str, link: LinkMaker) -> None:
    """Show the link that `link` returns on the page of each complete split. The same name replaces it.

    `link` gets the split and the filter in the address of its page, empty for all questions.
    """
    _LINKS[name] = link


def links_for(split: Split, text: str = "") -> list[Link]:
    return [_LINKS[name](split, text) for name in sorted(_LINKS)]


SplitAction = Callable[[Visitor, Split], Link | None]

_ACTIONS: dict[str, SplitAction] = {}


def register_action(name: str, action: SplitAction) -> None:
    """Show the button that `action` returns on the page of each complete split. The same name replaces it.

    `action` checks what the user may do, and returns None for no button.
    """
    _ACTIONS[name] = action


def actions_for(user: Visitor, split: Split) -> list[Link]:
    found = (_ACTIONS[name](user, split) for name in sorted(_ACTIONS))
    return [link for link in found if link is not None]


class Note(NamedTuple):
    text: str
    address: str  # of details


SplitNotes = Callable[[Visitor, Sequence[Split]], Mapping[int, Note]]
QuestionNote = Callable[[Visitor, Split, int], str]

_NOTES_ON_SPLITS: dict[str, SplitNotes] = {}
_NOTES_ON_QUESTIONS: dict[str, QuestionNote] = {}


def register_notes(name: str, *, of_splits: SplitNotes, of_question: QuestionNote) -> None:
    """Show notes on splits, which `of_splits` returns by key, and on questions. The same name replaces them.

    `of_question` returns a note about people's answers, or an empty text. Pages show it together with the right answer.
    """
    _NOTES_ON_SPLITS[name] = of_splits
    _NOTES_ON_QUESTIONS[name] = of_question


def notes_on_splits(user: Visitor, splits: Sequence[Split]) -> dict[int, list[Note]]:
    """Return the notes on complete splits, by their keys."""
    found: dict[int, list[Note]] = {}
    complete = [split for split in splits if split.is_complete]
    for name in sorted(_NOTES_ON_SPLITS) if complete else ():
        for key, note in _NOTES_ON_SPLITS[name](user, complete).items():
            found.setdefault(key, []).append(note)
    return found


def notes_on_question(user: Visitor, split: Split, position: int) -> list[str]:
    """Return the notes on a question of a complete split; its position counts from 0."""
    if not split.is_complete:
        return []
    said = (_NOTES_ON_QUESTIONS[name](user, split, position) for name in sorted(_NOTES_ON_QUESTIONS))
    return [text for text in said if text]


QuestionLink = Callable[[Visitor, Split, int], Link | None]

_LINKS_OF_QUESTIONS: dict[str, QuestionLink] = {}


def register_question_link(name: str, link: QuestionLink) -> None:
    """Show the link that `link` returns on the page of a question together with its answer. The same name replaces it.

    `link` checks what the user may see, and returns None for no link. It gets the question's position, from 0.
    """
    _LINKS_OF_QUESTIONS[name] = link


def links_for_question(user: Visitor, split: Split, position: int) -> list[Link]:
    """Return the links of a question of a complete split."""
    if not split.is_complete:
        return []
    found = (_LINKS_OF_QUESTIONS[name](user, split, position) for name in sorted(_LINKS_OF_QUESTIONS))
    return [link for link in found if link is not None]


Referrer = Callable[[Dataset], Iterable[str]]
SplitReferrer = Callable[[Split], Iterable[str]]
Losses = Callable[[QuerySet[Split]], Iterable[str]]
Release = Callable[[QuerySet[Split]], None]

_REFERRERS: dict[str, Referrer] = {}
_SPLIT_REFERRERS: dict[str, SplitReferrer] = {}
_LOSSES: dict[str, tuple[Losses, Release]] = {}
NAMED = 5


class Referred(EngineError):
    """A dataset or split cannot be deleted, because something needs it."""


def register_referrer(name: str, referrer: Referrer, *, of_split: SplitReferrer | None = None) -> None:
    """Register a function that returns what refers to a dataset. The same name replaces it.

    `of_split` returns what refers to one of its splits. Without it, everything that refers to a dataset is taken to
    refer to each of its splits.
    """
    _REFERRERS[name] = referrer
    _SPLIT_REFERRERS[name] = of_split or (lambda split: referrer(split.dataset))


def register_losses(name: str, losses: Losses, release: Release) -> None:
    """Register `losses`, which describes what is deleted together with splits, and `release`, which deletes it.

    `release` runs in the transaction that decides on the deletion, and may run again later.
    """
    _LOSSES[name] = (losses, release)


def losses_of(splits: QuerySet[Split]) -> list[str]:
    return [sentence for name in sorted(_LOSSES) for sentence in _LOSSES[name][0](splits)]


def release(splits: QuerySet[Split]) -> None:
    for name in sorted(_LOSSES):
        _LOSSES[name][1](splits)


def referring_to(dataset: Dataset) -> list[str]:
    return [thing for name in sorted(_REFERRERS) for thing in _REFERRERS[name](dataset)]


def referring_to_split(split: Split) -> list[str]:
    return [thing for name in sorted(_SPLIT_REFERRERS) for thing in _SPLIT_REFERRERS[name](split)]


def check_unreferred(dataset: Dataset) -> None:
    _check("dataset", referring_to(dataset), where=dataset.slug, advice=" Archive it instead.")


def check_split_unreferred(split: Split) -> None:
    _check("split", referring_to_split(split), where=str(split))


def _check(kind: str, things: list[str], *, where: str, advice: str = "") -> None:
    if things:
        more = f" and {len(things) - NAMED} more" if len(things) > NAMED else ""
        raise Referred(
            f"Expected a {kind} that nothing refers to, got one that {', '.join(things[:NAMED])}{more} "
            f"refer{'s' if len(things) == 1 else ''} to.{advice}",
            where=where,
        )
