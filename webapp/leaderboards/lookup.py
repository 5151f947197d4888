"""What the pages are about, fetched with the access check: strangers get the same 404 as for what isn't there."""

import secrets
from typing import Any

from django.http import Http404

from generation.access import What, may_see
from generation.models import Split
from generation.views.finding import find_split as any_split
from webapp.leaderboards.models import Method, Submission, Suite

LONGEST_SLUG = 200  # characters of a name that is looked for
NO_METHOD = "There is no such method, or it isn't public."
NO_SUBMISSION = "There is no such submission, or it isn't public."
NO_SUITE = "There is no such suite."
NO_BOARD = "There is no such split, or it isn't complete yet."


def find_board(user: Any, slug: str, name: str) -> Split:
    """Return the complete split whose board is asked for, if this visitor may open it."""
    split = any_split(user, slug, name)
    if not split.is_complete or not may_see(user, split, What.QUESTION):
        raise Http404(NO_BOARD)
    return split


def find_method(user: Any, number: int) -> Method:
    """Return a method that this visitor may know of."""
    found = Method.objects.visible_to(user).select_related("owner").filter(pk=number).first()
    if found is None:
        raise Http404(NO_METHOD)
    return found


def find_own_method(user: Any, number: int) -> Method:
    """Return a method of this account."""
    found = Method.objects.filter(pk=number, owner=user.pk).select_related("owner").first()
    if found is None:
        raise Http404(NO_METHOD)
    return found


def find_submission(user: Any, number: int) -> Submission:
    """Return a submission of a method that this visitor may know of, to a split that they may open.

    Submissions are numbered, so that anybody can try all of them: one to a link-only dataset is shown to the owners of
    the dataset and of the submission, and to staff. So is one that has no score yet.
    """
    rows = Submission.objects.select_related(
        "method__owner",
        "split__dataset",
        "split__parent",
        "split__reference",
        "trained_on__dataset",
        "trained_on__parent",
    )
    found = rows.visible_to(user).filter(pk=number).first()
    if found is None or not may_see(user, found.split, What.QUESTION):
        raise Http404(NO_SUBMISSION)
    if not found.is_scored and not owns(user, found):
        raise Http404(NO_SUBMISSION)
    return found


def find_own_submission(user: Any, number: int) -> Submission:
    """Return a submission of this account, or to staff any that somebody sent."""
    found = find_submission(user, number)
    if not owns(user, found):
        raise Http404(NO_SUBMISSION)
    return found


def owns(user: Any, submission: Submission) -> bool:
    """Return whether a submission is this account's, or the account is staff's."""
    return user.is_authenticated and (user.is_staff or submission.method.owner_id == user.pk)


def suite_named(user: Any, name: str) -> Suite | None:
    """Return the suite that an address names, or None where there is none that this visitor may open.

    A listed suite opens by its slug. An unlisted one opens by slug and key, and to its owner and staff by its slug.
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
    """Return whether a suite is this account's, or the account is staff's."""
    return bool(user.is_authenticated and (user.is_staff or suite.owner_id == user.pk))


def find_suite(user: Any, name: str) -> Suite:
    """Return the suite at this address; visitors see those of its members that they may see."""
    found = suite_named(user, name)
    if found is None:
        raise Http404(NO_SUITE)
    return found


def find_own_suite(user: Any, name: str) -> Suite:
    """Return a suite of this account, or to staff any."""
    found = find_suite(user, name)
    if not owns_suite(user, found):
        raise Http404(NO_SUITE)
    return found
