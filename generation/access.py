"""Who may see and do what: the one place where views, templates, exports, API and files ask."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import TextChoices
from django.http import HttpRequest, HttpResponseBase

View = TypeVar("View", bound=Callable[..., Any])
MEGABYTE = 1_000_000
RESEARCHERS = "researcher"  # the group whose members make datasets; a migration makes it


class What(TextChoices):
    """The kinds of things that a split can show."""

    IMAGE = "image"
    QUESTION = "question"
    ANSWER = "answer"
    PROGRAM = "program"
    SCENE = "scene"
    IDS_IMAGE = "ids_image", "object-id image"
    FACET = "facet"
    PER_QUESTION_RESULT = "per_question_result", "result per question"
    HUMAN_ANSWERS = "human_answers", "people's answers"
    STORY = "story", "lines of a story"


# What a withheld split still shows. A facet that reveals nothing beyond the question's words needs no asking:
# `may_see_facet` says so.
OPEN_WHILE_WITHHELD = frozenset({What.IMAGE, What.STORY, What.QUESTION})


class Visitor(Protocol):
    """Whoever looks: an account, or nobody in particular."""

    @property
    def pk(self) -> object: ...
    @property
    def is_staff(self) -> bool: ...
    @property
    def is_authenticated(self) -> bool: ...
    @property
    def groups(self) -> Any: ...


class DatasetLike(Protocol):
    """What is asked of a dataset: `visibility` is "private", "link" or "public"; `archived` says since when.

    `images_visible` is False where its pictures aren't ours to show.
    """

    @property
    def visibility(self) -> str: ...
    @property
    def owner_id(self) -> object: ...
    @property
    def archived(self) -> object: ...
    @property
    def images_visible(self) -> bool: ...


class SplitLike(Protocol):
    """What is asked of a split."""

    @property
    def withheld(self) -> bool: ...
    @property
    def dataset(self) -> DatasetLike: ...


class FacetLike(Protocol):
    """What is asked of a facet."""

    @property
    def reveals(self) -> bool: ...


class AccessCheck(NamedTuple):
    """A question that was put here: about a dataset as a whole, or about a kind of thing of one of its splits."""

    dataset: DatasetLike
    split: SplitLike | None
    what: What | None


_ASKED: ContextVar[list[AccessCheck] | None] = ContextVar("asked", default=None)


@contextmanager
def recorded() -> Iterator[list[AccessCheck]]:
    """Give the list of what is asked here meanwhile: so tests find the page that shows without asking."""
    asked: list[AccessCheck] = []
    token = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(token)


def _note(dataset: DatasetLike, split: SplitLike | None = None, what: What | None = None) -> None:
    asked = _ASKED.get()
    if asked is not None:
        asked.append(AccessCheck(dataset, split, what))


def is_researcher(user: Visitor) -> bool:
    """Return whether the account may make datasets and studies: members of the researchers' group, and staff."""
    if not user.is_authenticated:
        return False
    return user.is_staff or user.groups.filter(name=RESEARCHERS).exists()


def owns(user: Visitor, dataset: DatasetLike) -> bool:
    """Return whether the dataset is this account's, or the account is staff's."""
    _note(dataset)
    if not user.is_authenticated:
        return False
    return user.is_staff or (dataset.owner_id is not None and dataset.owner_id == user.pk)


def may_list(user: Visitor, dataset: DatasetLike) -> bool:
    """Return whether lists show the dataset: public ones to all, others and archived ones to their owner and staff."""
    return owns(user, dataset) or (dataset.visibility == "public" and not dataset.archived)


def may_open(user: Visitor, dataset: DatasetLike) -> bool:
    """Return whether the dataset's own pages answer: those who know its address see a link-only one too."""
    return owns(user, dataset) or dataset.visibility in ("public", "link")


def may_mention(user: Visitor, dataset: DatasetLike) -> bool:
    """Return whether pages about something else may name the dataset: of a link-only one the name is the key."""
    return owns(user, dataset) or dataset.visibility == "public"


def may_see(user: Visitor, split: SplitLike, what: What) -> bool:
    """Return whether this visitor may see this kind of thing in this split.

    Staff and owner see everything. Others see what belongs to a dataset they may open; where the split's
    answers are withheld, image, lines of a story and question text alone; no image where its owner keeps those to
    herself. What is withheld of a split is withheld of those derived from it: its parent is asked as well.
    """
    _note(split.dataset, split, what)
    parent: SplitLike | None = getattr(split, "parent", None)
    if parent is not None:
        _note(split.dataset, parent, what)
    if owns(user, split.dataset):
        return True
    if not may_open(user, split.dataset):
        return False
    if what == What.IMAGE and not split.dataset.images_visible:
        return False
    withheld = split.withheld or (parent is not None and parent.withheld)
    return not withheld or what in OPEN_WHILE_WITHHELD


def may_see_facet(user: Visitor, split: SplitLike, facet: FacetLike) -> bool:
    """Return whether this visitor may filter by, count or read this facet in this split."""
    return may_see(user, split, What.FACET if facet.reveals else What.QUESTION)


# Who may send files, before anything of them is read


class Uploads(NamedTuple):
    """What a view takes: its check of who asks, and the most megabytes (None: as many as the site takes at all)."""

    refuse: Callable[..., HttpResponseBase | None]
    megabytes: int | None

    @property
    def most(self) -> int:
        """Return the size of the largest body, in bytes."""
        return min(self.megabytes or settings.UPLOAD_MB, settings.UPLOAD_MB) * MEGABYTE


def takes_uploads(
    refuse: Callable[..., HttpResponseBase | None], *, megabytes: int | None = None
) -> Callable[[View], View]:
    """Return a decorator for a view that takes more than `webapp.running.uploads.SMALL` bytes.

    Parameters
    ----------
    refuse : callable
        Called before the body is read, with the request and the parts of its address. It returns an answer, or raises
        `PermissionDenied` or `Http404`, for somebody who may send nothing there; None for others.
    megabytes : int, optional
        The most that the view takes; never more than the setting `UPLOAD_MB`.
    """

    def decorate(view: View) -> View:
        view.takes_uploads = Uploads(refuse, megabytes)  # type: ignore[attr-defined]
        return view

    return decorate


def accounts_only(request: HttpRequest, **_: Any) -> None:
    """Refuse uploads of somebody who is not signed in; a check for `takes_uploads`."""
    if not request.user.is_authenticated:
        raise PermissionDenied("Expected somebody who is signed in.")


def researchers_only(request: HttpRequest, **_: Any) -> None:
    """Refuse uploads of other accounts; a check for `takes_uploads`."""
    if not is_researcher(request.user):
        raise PermissionDenied("Expected a researcher's account.")
