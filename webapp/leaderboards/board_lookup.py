"""Finds boards, methods, submissions and suites with the access check, and describes training splits.

Visitors without access get the same 404 as for a missing object.
"""

import secrets
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.db.models import Count, Max, Q, QuerySet
from django.http import Http404
from django.urls import Resolver404, resolve, reverse

from generation.access import Visitor, What, may_mention, may_see, may_see_exact_figures
from generation.engine.scoring.figures import Averaged, Figure, figure
from generation.extension_points import Link, Note
from generation.models import Dataset, Split, find_one
from generation.splits.query_string import BadAddress, shorten
from generation.views.access_checks import find_split as any_split
from webapp.leaderboards.disclosure.visibility import figure_of
from webapp.leaderboards.models import Disclosure, Method, Score, Submission, Suite, Training
from webapp.leaderboards.models.saved_views import PAGES

HIDDEN = "a private split"
QUESTION = "board_question"


def trained_on(user: Any, submission: Submission) -> str:
    """Return the name of the split that a submission was trained on, as this visitor may see it; empty if none.

    Visitors may see the name if its dataset is public, is their own, is the submission's own dataset, or if they
    submitted it and may still open the dataset. The name of a deleted split is shown to everybody if its dataset was
    public, otherwise only to the submission's owner.
    """
    split = submission.trained_on
    if split is None:
        may_know = submission.trained_on_listed or owns(user, submission)
        return submission.trained_on_name if may_know or not submission.trained_on_name else HIDDEN
    is_known = split.dataset_id == submission.split.dataset_id or owns(user, submission)
    may_know = may_see(user, split, What.QUESTION) and (is_known or may_mention(user, split.dataset))
    return str(split) if may_know else HIDDEN


LONGEST_SLUG = 200  # characters of a name in a query
NO_METHOD = "There is no such method, or it isn't public."
NO_SUBMISSION = "There is no such submission, or it isn't public."
NO_TRAINING = "There is no such training, or it isn't yours."
NO_SUITE = "There is no such suite."
NO_BOARD = "There is no such split, or it isn't complete yet."


def find_board(user: Any, slug: str, name: str) -> Split:
    """Return the complete split of a board if this visitor may open it; raise `Http404` otherwise."""
    split = any_split(user, slug, name)
    if not split.is_complete or not may_see(user, split, What.QUESTION):
        raise Http404(NO_BOARD)
    return split


def find_method(user: Any, number: int) -> Method:
    """Return a method that this visitor may see; raise `Http404` otherwise."""
    found = find_one(Method.objects.visible_to(user).select_related("owner").filter(pk=number))
    if found is None:
        raise Http404(NO_METHOD)
    return found


def find_own_method(user: Any, number: int) -> Method:
    """Return a method of this account; raise `Http404` otherwise."""
    found = find_one(Method.objects.filter(pk=number, owner=user.pk).select_related("owner"))
    if found is None:
        raise Http404(NO_METHOD)
    return found


def find_submission(user: Any, number: int) -> Submission:
    """Return a submission if the visitor may see its method and may open its split; raise `Http404` otherwise.

    Submissions are numbered, so anybody can try all numbers. A submission to a link-only dataset is therefore shown
    only to the owners of dataset and submission, and to staff. A submission without a score is shown only to its own
    owner and to staff.
    """
    rows = Submission.objects.select_related(
        "method__owner",
        "split__dataset",
        "split__parent",
        "split__reference",
        "trained_on__dataset",
        "trained_on__parent",
    )
    found = find_one(rows.visible_to(user).filter(pk=number))
    if found is None or not may_see(user, found.split, What.QUESTION):
        raise Http404(NO_SUBMISSION)
    if not found.is_scored and not owns(user, found):
        raise Http404(NO_SUBMISSION)
    return found


def find_own_submission(user: Any, number: int) -> Submission:
    """Return a submission of this account; staff may see all of them."""
    found = find_submission(user, number)
    if not owns(user, found):
        raise Http404(NO_SUBMISSION)
    return found


def find_training(user: Any, number: int) -> Training:
    """Return a training of this account, if it may still see the questions; staff may see all. Raise `Http404`."""
    found = find_one(Training.objects.for_list().filter(pk=number))
    if found is None or not all(may_see(user, split, What.QUESTION) for split in (found.train, found.val)):
        raise Http404(NO_TRAINING)
    if not user.is_staff and found.owner_id != user.pk:
        raise Http404(NO_TRAINING)
    return found


def trainings_for(user: Any) -> QuerySet[Training]:
    # Without trainings on datasets that the account may no longer open.
    return Training.objects.visible_to(user).for_list().filter(train__dataset__in=Dataset.objects.visible_to(user))


def owns(user: Any, submission: Submission) -> bool:
    return user.is_authenticated and (user.is_staff or submission.method.owner_id == user.pk)


def may_see_replies(user: Any, submission: Submission) -> bool:
    """Return whether a visitor who may see a submission may see its replies, if it has some.

    A reply says the answer, so the rule is that of single answers of methods; owners also see their own replies.
    """
    if not submission.replies:
        return False
    return owns(user, submission) or may_see_exact_figures(user, submission.split)


def suite_named(user: Any, name: str) -> Suite | None:
    """Return the suite with this name in a URL, or None if there is none that this visitor may open.

    A listed suite opens by its slug. An unlisted suite opens by slug and key, for its owner and staff also by its slug.
    """
    if "\0" in name:
        return None
    name = name[:LONGEST_SLUG]
    slug, _, key = name.rpartition("-")
    known = {one.slug: one for one in Suite.objects.select_related("owner").filter(slug__in=(name, slug))}
    found = known.get(name)
    if found is not None and (found.is_public or owns_suite(user, found)):
        return found
    found = known.get(slug)
    return found if found is not None and secrets.compare_digest(found.key.encode(), key.encode()) else None


def owns_suite(user: Any, suite: Suite) -> bool:
    return bool(user.is_authenticated and (user.is_staff or suite.owner_id == user.pk))


def find_suite(user: Any, name: str) -> Suite:
    """Return the suite with this name in a URL; raise `Http404` if the visitor may not open it."""
    found = suite_named(user, name)
    if found is None:
        raise Http404(NO_SUITE)
    return found


def find_own_suite(user: Any, name: str) -> Suite:
    """Return a suite of this account; staff may open all of them."""
    found = find_suite(user, name)
    if not owns_suite(user, found):
        raise Http404(NO_SUITE)
    return found


def boards_for(user: Any) -> QuerySet[Split]:
    """Return the splits with boards that lists show this visitor, with `methods` and `latest`, most methods first.

    A dataset may hide its questions from people who may see its name; `may_see` decides who may open the board.
    """
    known = Submission.objects.scored().visible_to(user)
    sent = Q(submissions__in=known, submissions__method__baseline="")
    rows = Split.objects.own().filter(dataset__in=Dataset.objects.visible_to(user), state=Split.State.COMPLETE)
    rows = rows.select_related("dataset", "parent")
    rows = rows.annotate(methods=Count("submissions__method", filter=sent, distinct=True))
    return rows.annotate(latest=Max("submissions__finished", filter=sent)).order_by("-methods", "-pk")


def with_figures(user: Any, rows: Iterable[Submission]) -> list[tuple[Submission, Figure | None]]:
    """Return the submissions that a list may show, each with its accuracy, or None if it has no score."""
    shown = [row for row in rows if may_list(user, row)]
    scores = {(one.submission_id, one.split_id): one for one in Score.objects.filter(submission__in=shown)}
    disclosed = {one.submission_id: one for one in Disclosure.objects.filter(submission__in=shown)}
    return [(row, _figure(user, row, scores.get((row.pk, row.split_id)), disclosed.get(row.pk))) for row in shown]


def may_list(user: Any, submission: Submission) -> bool:
    may_know = may_mention(user, submission.split.dataset) or owns(user, submission)
    return may_know and may_see(user, submission.split, What.QUESTION)


def _figure(user: Any, row: Submission, score: Score | None, disclosure: Disclosure | None) -> Figure | None:
    if score is None:
        return None
    if not may_see_exact_figures(user, row.split):
        return figure_of(row.split.questions, disclosure)
    return figure(Averaged(score.n, (score.right,)))


def remarks(user: Visitor, splits: Sequence[Split]) -> dict[int, Note]:
    """Return the link to each split's board, by split."""
    return {
        split.pk: Note("Leaderboard", reverse("board", args=[split.dataset.slug, split.name]))
        for split in splits
        if may_see(user, split, What.QUESTION)
    }


def nothing(user: Visitor, split: Split, position: int) -> str:
    return ""  # boards add no note to single questions


def answers_of_methods(user: Visitor, split: Split, position: int) -> Link | None:
    """Return the link from a question to the answers of methods; None if this visitor sees no scores on its split."""
    if not may_see_exact_figures(user, split) or not Score.objects.known_to(user, split).exists():
        return None
    address = reverse("board_question", args=[split.dataset.slug, split.name, position])
    return Link("Answers of methods", address)


class PageAddress(NamedTuple):
    # Only the page of a single question has a position.

    page: str
    position: int | None
    query: str


def page_of_board(text: str, split: Split) -> PageAddress:
    """Return the parts of an address; raise `BadAddress` unless it is a page of this split's board that has a name."""
    problem = BadAddress(f"Expected an address of a page of the board of {split}, got {shorten(text)}.")
    try:
        parts = urlsplit(text)
        route = resolve(parts.path)
    except (ValueError, Resolver404) as error:
        raise problem from error
    is_elsewhere = parts.scheme or parts.netloc or not text.startswith("/")
    is_board = (route.kwargs.get("slug"), route.kwargs.get("name")) == (split.dataset.slug, split.name)
    pages = {f"board_{page}" if page else "board": page for page in PAGES} | {QUESTION: "questions"}
    if is_elsewhere or not is_board or route.url_name not in pages:
        raise problem
    position = route.kwargs["number"] if route.url_name == QUESTION else None
    return PageAddress(pages[str(route.url_name)], position, parts.query)
