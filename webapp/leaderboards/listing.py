"""Lists of submissions, each with its accuracy as whoever looks may see it."""

from collections.abc import Iterable
from typing import Any

from generation.engine.statistics import Averaged
from webapp.access import What, may_see
from webapp.leaderboards.figures import Figure, figure, is_coarse
from webapp.leaderboards.models import Score, Submission


def with_figures(user: Any, rows: Iterable[Submission]) -> list[tuple[Submission, Figure | None]]:
    """Return submissions to splits that somebody may see, each with its accuracy there; None before it is scored."""
    shown = [row for row in rows if may_see(user, row.split, What.QUESTION)]
    scores = {(one.submission_id, one.split_id): one for one in Score.objects.filter(submission__in=shown)}
    return [(row, _figure(user, scores.get((row.pk, row.split_id)), row)) for row in shown]


def _figure(user: Any, score: Score | None, row: Submission) -> Figure | None:
    if score is None:
        return None
    return figure(Averaged(score.n, (score.right,)), coarse=is_coarse(user, row.split))
