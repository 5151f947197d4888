"""Lists of boards and of submissions, with the accuracies that the reader may see."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from generation.access import What, may_mention, may_see
from generation.engine.statistics import Averaged
from generation.models import Dataset, Split
from webapp.leaderboards.disclosure.figures import Figure, figure
from webapp.leaderboards.disclosure.visibility import figure_of, is_open
from webapp.leaderboards.lookup import owns
from webapp.leaderboards.models import Disclosure, Score, Submission


def boards_for(user: Any) -> QuerySet[Split]:
    """Return the splits whose boards are listed for somebody: with `methods` and `latest`, most methods first.

    A dataset may show its questions to fewer than its name; `may_see` says whether somebody may open the board.
    """
    known = Submission.objects.scored().visible_to(user)
    sent = Q(submissions__in=known, submissions__method__baseline="")
    rows = Split.objects.own().filter(dataset__in=Dataset.objects.visible_to(user), state=Split.State.COMPLETE)
    rows = rows.select_related("dataset", "parent")
    rows = rows.annotate(methods=Count("submissions__method", filter=sent, distinct=True))
    return rows.annotate(latest=Max("submissions__finished", filter=sent)).order_by("-methods", "-pk")


def with_figures(user: Any, rows: Iterable[Submission]) -> list[tuple[Submission, Figure | None]]:
    """Return the submissions that a list may show somebody, each with its accuracy; None before it is scored."""
    shown = [row for row in rows if may_list(user, row)]
    scores = {(one.submission_id, one.split_id): one for one in Score.objects.filter(submission__in=shown)}
    disclosed = {one.submission_id: one for one in Disclosure.objects.filter(submission__in=shown)}
    return [(row, _figure(user, row, scores.get((row.pk, row.split_id)), disclosed.get(row.pk))) for row in shown]


def may_list(user: Any, submission: Submission) -> bool:
    """Return whether a list may show a submission to somebody: its dataset's name is shown with it."""
    may_know = may_mention(user, submission.split.dataset) or owns(user, submission)
    return may_know and may_see(user, submission.split, What.QUESTION)


def _figure(user: Any, row: Submission, score: Score | None, disclosure: Disclosure | None) -> Figure | None:
    if score is None:
        return None
    if not is_open(user, row.split):
        return figure_of(row.split.questions, disclosure)
    return figure(Averaged(score.n, (score.right,)))
