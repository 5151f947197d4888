"""Drawing the charts of new splits in the background, so that the first visitor does not wait for them.

This is not a job. Drawings are kept on the machine that made them, and a page draws the charts that are missing. A hint
that gets lost does no harm, so there is no row that a process must claim.
"""

from django.contrib.auth.models import AnonymousUser

from generation.access import Visitor
from generation.browsing.dataset import shown_charts
from generation.charts.counts import side_by_side
from generation.models import Dataset, Split
from generation.queue import DEFAULT, runner, wakeups
from generation.reports import shortcuts, shortcuts_page

TASK = "generation.tasks.draw"
HINT_LIFE = 600.0  # seconds
PATIENCE = 60.0  # seconds to wait for the drawings of a page


def ask(split: Split) -> None:
    """Request the drawing of the charts of a split's pages, if this process is a background process.

    For datasets that a command made, a background process requests it after it has made the report on shortcuts.
    """
    if wakeups.is_in_worker():
        runner.send_hint(TASK, split.pk, queue=DEFAULT, life=HINT_LIFE)


def draw_charts_of(split: int) -> None:
    """Draw the charts of a split's pages. Do nothing if the split does not exist or is not complete."""
    kept = Split.objects.select_related("dataset").exclude(dataset__state=Dataset.State.DELETING)
    found = kept.filter(pk=split, state=Split.State.COMPLETE).first()
    if found is not None:
        draw(found.dataset, wanted=found.name if found.is_derived else None)


def draw(dataset: Dataset, *, wanted: str | None = None) -> None:
    """Draw the charts of a dataset's pages, for visitors and for its owner; `wanted` is the name of one split."""
    splits = list(dataset.splits.select_related("dataset", "reference", "parent").order_by("ordinal"))
    complete = shortcuts.complete_splits(dataset)
    report = shortcuts.find_report(dataset, complete) if dataset.state == Dataset.State.COMPLETE else None
    viewers: list[Visitor] = [AnonymousUser(), *([dataset.owner] if dataset.owner is not None else [])]
    for viewer in viewers:
        shown_charts(viewer, dataset, side_by_side(splits, wanted), wait=PATIENCE)
        if report is not None:
            shown = shortcuts_page.shown_to(viewer, dataset, complete, report)
            shortcuts_page.chart_parts(dataset, shown, wait=PATIENCE)
