"""Access rules: who may see and do what. Views, templates, exports, the API and files all ask here."""

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
RESEARCHERS = "researcher"  # the group whose members make datasets; a migration creates it


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


# What a withheld split still shows. Facets that reveal nothing beyond the question's words are also shown; see
# `may_see_facet`.
OPEN_WHILE_WITHHELD = frozenset({What.IMAGE, What.STORY, What.QUESTION})


# Users who may see all of these of a withheld split also see its exact figures. Others see what its owner publishes.
EXACT = (What.PER_QUESTION_RESULT, What.ANSWER, What.FACET, What.HUMAN_ANSWERS)


class Visitor(Protocol):
    """The user of a request: an account or an anonymous user."""

    @property
    def pk(self) -> object: ...
    @property
    def is_staff(self) -> bool: ...
    @property
    def is_authenticated(self) -> bool: ...
    @property
    def groups(self) -> Any: ...


class DatasetLike(Protocol):
    """The attributes of a dataset that access rules need: `visibility` is "private", "link" or "public".

    `archived` is the time when it was archived, or None. `images_visible` is False if only its owner may see its
    pictures.
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
    """The attributes of a split that access rules need."""

    @property
    def withheld(self) -> bool: ...
    @property
    def dataset(self) -> DatasetLike: ...


class FacetLike(Protocol):
    @property
    def reveals(self) -> bool: ...


class AccessCheck(NamedTuple):
    dataset: DatasetLike
    split: SplitLike | None  # None for the dataset as a whole
    what: What | None


_ASKED: ContextVar[list[AccessCheck] | None] = ContextVar("asked", default=None)


@contextmanager
def recorded() -> Iterator[list[AccessCheck]]:
    """Yield the list of checks that are made in this block, so that tests find pages that show unchecked things."""
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
    if not user.is_authenticated:
        return False
    return user.is_staff or user.groups.filter(name=RESEARCHERS).exists()


def owns(user: Visitor, dataset: DatasetLike) -> bool:
    """Return whether the account owns the dataset or is staff."""
    _note(dataset)
    if not user.is_authenticated:
        return False
    return user.is_staff or (dataset.owner_id is not None and dataset.owner_id == user.pk)


def may_list(user: Visitor, dataset: DatasetLike) -> bool:
    return owns(user, dataset) or (dataset.visibility == "public" and not dataset.archived)


def may_open(user: Visitor, dataset: DatasetLike) -> bool:
    # Users who know its address may open a link-only dataset.
    return owns(user, dataset) or dataset.visibility in ("public", "link")


def may_mention(user: Visitor, dataset: DatasetLike) -> bool:
    # The name of a link-only dataset must stay secret.
    return owns(user, dataset) or dataset.visibility == "public"


def may_see(user: Visitor, split: SplitLike, what: What) -> bool:
    """Return whether this user may see this kind of thing in this split.

    Staff and the owner see everything. Others see what belongs to a dataset that they may open. If the split's answers
    are withheld, they see only images, story lines and question texts. They see no images if the owner hides them. What
    is withheld in a split is also withheld in splits that are derived from it, so the parent is checked, too.
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
    return not is_withheld(split) or what in OPEN_WHILE_WITHHELD


def is_withheld(split: SplitLike) -> bool:
    parent: SplitLike | None = getattr(split, "parent", None)
    return split.withheld or (parent is not None and parent.withheld)


def may_see_exact_figures(user: Visitor, split: SplitLike) -> bool:
    return all(may_see(user, split, what) for what in EXACT)


def may_see_facet(user: Visitor, split: SplitLike, facet: FacetLike) -> bool:
    return may_see(user, split, What.FACET if facet.reveals else What.QUESTION)


# Who may upload files; this is checked before the request's body is read


class Uploads(NamedTuple):
    """The upload rules of a view: its check of the user, and the limit in megabytes (None: the site's limit)."""

    refuse: Callable[..., HttpResponseBase | None]
    megabytes: int | None

    @property
    def most(self) -> int:
        return min(self.megabytes or settings.UPLOAD_MB, settings.UPLOAD_MB) * MEGABYTE


def takes_uploads(
    refuse: Callable[..., HttpResponseBase | None], *, megabytes: int | None = None
) -> Callable[[View], View]:
    """Return a decorator for a view that accepts more than `webapp.running.request_limits.SMALL` bytes.

    Parameters
    ----------
    refuse : callable
        Called before the body is read, with the request and the arguments of its address. For users who may not upload,
        it returns a response or raises `PermissionDenied` or `Http404`; for others it returns None.
    megabytes : int, optional
        The limit of the view. The setting `UPLOAD_MB` is always a limit, too.
    """

    def decorate(view: View) -> View:
        view.takes_uploads = Uploads(refuse, megabytes)  # type: ignore[attr-defined]
        return view

    return decorate


def accounts_only(request: HttpRequest, **_: Any) -> None:
    if not request.user.is_authenticated:
        raise PermissionDenied("Expected somebody who is signed in.")


def researchers_only(request: HttpRequest, **_: Any) -> None:
    if not is_researcher(request.user):
        raise PermissionDenied("Expected a researcher's account.")
