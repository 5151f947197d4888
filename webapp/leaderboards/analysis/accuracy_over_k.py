"""Accuracy or another metric over the number k of a suite's splits, for example the percentage that a shift removes.

A curve has the runs of a method that are trained on the data of each board's own split, or on one split for all boards.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils import timezone

from generation.access import may_see_exact_figures
from generation.engine.scoring.counts.metrics import Metric
from generation.models import Split
from generation.reports.count_metrics import has_metrics, metrics_of
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import entries
from webapp.leaderboards.analysis.downloads import Table
from webapp.leaderboards.analysis.learning_curves import (
    TRAIN_SIZE,
    FigureCell,
    FigureCurve,
    FigurePoint,
    Run,
    accuracy_cell,
    label_of,
    metric_cell,
    number_equal,
)
from webapp.leaderboards.analysis.sample_complexity import run_on_own_data
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.metrics import MetricFigure, figures_of, find_metric
from webapp.leaderboards.models import Suite, SuiteMember
from webapp.leaderboards.suites import members_for


class AccuracyOverK(NamedTuple):
    """A suite's figures over k as one visitor sees them.

    Attributes
    ----------
    suite : Suite
    members : list of SuiteMember
        The members with a k whose exact figures the visitor may see, in order of k.
    withheld, missing : int
        The number of members whose answers are withheld, and of those that the visitor may not see at all.
    metrics : tuple of Metric
        The metrics that the visitor can choose besides the accuracy.
    metric : Metric or None
        The metric that is shown; None for the accuracy.
    curves : list of FigureCurve
        First those of methods, by label, then those of the site's baselines.
    """

    suite: Suite
    members: list[SuiteMember]
    withheld: int
    missing: int
    metrics: tuple[Metric, ...]
    metric: Metric | None
    curves: list[FigureCurve]

    @property
    def label(self) -> str:
        return "Accuracy" if self.metric is None else self.metric.label

    def rows(self) -> Iterator[tuple[FigureCurve, list[FigureCell | None]]]:
        for curve in self.curves:
            cells = dict(curve.points)
            yield curve, [cells.get(member.k or 0.0) for member in self.members]


CurveKey = tuple[str, int | None]
"""The method, or the kind of baseline, and the number of its training split; None for the data of each board."""


def accuracy_over_k(user: Any, suite: Suite, metric: str = "") -> AccuracyOverK:
    """Return a suite's figures over k as this visitor may see them; boards with withheld answers are left out.

    Raises `UnknownMetric` unless `metric` is empty, for the accuracy, or a metric of one of the splits.
    """
    every, shown = members_for(user, suite)
    found = sorted((one for one in shown if one.k is not None), key=lambda one: one.k or 0.0)
    members = [one for one in found if may_see_exact_figures(user, one.split)]
    metrics = tuple({one.name: one for member in members for one in metrics_of(member.split)}.values())
    chosen = find_metric(metric, metrics)
    points: dict[CurveKey, dict[float, tuple[Run, FigureCell]]] = {}
    for member in members:
        for key, run, cell in _runs(user, member, chosen):
            points.setdefault(key, {})[member.k or 0.0] = run, cell
    withheld, missing = len(found) - len(members), len(every) - len(shown)
    return AccuracyOverK(suite, members, withheld, missing, metrics, chosen, _curves(points))


def _runs(user: Any, member: SuiteMember, metric: Metric | None) -> Iterator[tuple[CurveKey, Run, FigureCell]]:
    """Yield each run with its curve, by training size, examples seen and date: the last run of a curve counts."""
    split = member.split
    page = "board_slices" if metric is None else "board_metrics"
    address = reverse(page, args=[split.dataset.slug, split.name])
    has_figures = metric is None or has_metrics(split, SplitIndex.open(split))
    found = [one for one in entries.entries_of(user, split, choose=entries.EACH) if not one.is_human]
    for entry in sorted(found, key=_size) if has_figures else ():
        assert entry.method is not None
        method = f"baseline {entry.method.baseline}" if entry.is_site_baseline else f"method {entry.method.pk}"
        run = run_on_own_data(split, entry, f"{address}?entry={entry.key}")
        yield (method, run.source), run, _cell(user, split, entry, run, metric)


def _cell(user: Any, split: Split, entry: Entry, run: Run, metric: Metric | None) -> FigureCell:
    if metric is None:
        return accuracy_cell(run)
    return metric_cell(metric, figures_of(user, split, entry).get(metric.name), run.address)


def _size(entry: Entry) -> tuple[int, int, Any]:
    _, train_size, seen = entry.configuration
    return (train_size or 0, seen or 0, entry.date)


def _curves(points: dict[CurveKey, dict[float, tuple[Run, FigureCell]]]) -> list[FigureCurve]:
    labels = [label_of(next(iter(runs.values()))[0], along=TRAIN_SIZE) for runs in points.values()]
    found = zip(points.items(), labels, number_equal(labels), strict=True)
    curves = [
        (
            key[0].startswith("baseline"),
            FigureCurve(f"{label}{number}", [FigurePoint(k, runs[k][1]) for k in sorted(runs)]),
        )
        for (key, runs), label, number in found
    ]
    return [curve for _, curve in sorted(curves, key=lambda one: (one[0], one[1].label))]


# Files


def table_of(found: AccuracyOverK, *, site: str) -> Table:
    """Return the figures as a table: LaTeX has a row for each curve, CSV has a row for each curve and k."""
    suite = found.suite
    hashes = ", ".join(f"{one.k_text}: {one.split} {one.split.fingerprint[:16]}" for one in found.members)
    return Table(
        title=f"{found.label} over {suite.k_name}: {suite.title}",
        caption=f"{suite.title}: {found.label} over {suite.k_name} ({hashes}); {timezone.localdate().isoformat()}.",
        heads=["Method", *(one.k_text for one in found.members)],
        texts=1,
        printed=[
            [curve.label, *("" if cell is None else cell.text for cell in cells)] for curve, cells in found.rows()
        ],
        heads_of_all=["method", *POINT_NAMES],
        rows=[[line[name] for name in ("method", *POINT_NAMES)] for line in _lines(found)],
        data={
            "address": f"{site}{reverse('suite_over_k', args=[suite.address_name])}",
            "suite": suite.slug,
            "k_name": suite.k_name,
            "metric": "accuracy" if found.metric is None else found.metric.name,
            "points": list(_lines(found)),
        },
    )


POINT_NAMES = ("k", "split", *MetricFigure._fields)


def _lines(found: AccuracyOverK) -> Iterator[dict[str, Any]]:
    splits = {one.k: str(one.split) for one in found.members}
    for curve in found.curves:
        for k, cell in curve.points:
            figures = {name: cell.json[name] for name in MetricFigure._fields}
            yield {"method": curve.label, "k": k, "split": splits[k], **figures}
