"""Charts of new splits are drawn in the background, so that the first visitor does not wait for them.

Drawings are kept on the machine that made them. Another machine draws them when its first visitor asks.
"""

import logging

from celery import current_app, current_task
from django.contrib.auth.models import AnonymousUser

from generation.access import Visitor
from generation.browsing.dataset import shown_charts
from generation.charts.counts import side_by_side
from generation.models import Dataset, Split
from generation.queue import DEFAULT
from generation.reports import shortcut_jobs, shortcuts_page
from generation.reports.shortcuts_page import shown_to

TASK = "generation.tasks.draw"
HINT_LIFE = 600.0  # seconds
PATIENCE = 60.0  # seconds to wait for the drawings of a page

log = logging.getLogger(__name__)


def ask(split: Split) -> None:
    """Have the charts of a split that is complete now drawn, where a background process completed it.

    Of what a command made, the charts are drawn with the report on shortcuts, which the next sweep begins.
    """
    if not current_task:
        return
    try:
        current_app.send_task(TASK, [split.pk], queue=DEFAULT, expires=HINT_LIFE, retry=False)
    except Exception:
        log.warning("The charts of %s could not be asked for; its page has them drawn.", split, exc_info=True)


def draw(dataset: Dataset, *, wanted: str | None = None) -> None:
    """Draw the charts of a dataset's pages, as visitors see them and as its owner does; `wanted` names one split."""
    splits = list(dataset.splits.select_related("dataset", "reference", "parent").order_by("ordinal"))
    complete = shortcut_jobs.complete_splits(dataset)
    report = shortcut_jobs.find(dataset, complete) if dataset.state == Dataset.State.COMPLETE else None
    viewers: list[Visitor] = [AnonymousUser(), *([dataset.owner] if dataset.owner is not None else [])]
    for viewer in viewers:
        shown_charts(viewer, dataset, side_by_side(splits, wanted), wait=PATIENCE)
        if report is not None:
            shortcuts_page.drawn(dataset, shown_to(viewer, dataset, complete, report), wait=PATIENCE)
