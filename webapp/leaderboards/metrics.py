"""The metrics that a world names besides the accuracy, for the entries of a board: errors of counts, and grounding."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.access import may_see_exact_figures
from generation.engine.predictions import PredictedBoxes
from generation.engine.scoring.counts.grounding import IOUS
from generation.engine.scoring.counts.metrics import Metric, MetricNeeds
from generation.engine.scoring.figures import is_too_few, rounded_or_none
from generation.engine.scoring.question_terms import QuestionTerms, mean_over_runs
from generation.models import Split
from generation.reports.count_metrics import average_precisions, has_metrics, metrics_of, terms_of
from generation.reports.scoring import truth_of
from generation.splits.query_string import shorten
from generation.splits.references import Reference, reference_for
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import stored_predictions
from webapp.leaderboards.entries import Entry


class MetricFigure(NamedTuple):
    """A figure of a metric over `n` questions: the mean over `runs` runs, its 95 % interval, and the deviation.

    Only `n` is known if there are too few questions, or if the figure is not defined.
    """

    n: int
    runs: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    deviation: float | None = None

    def to_json(self) -> dict[str, float | int | None]:
        found = self._asdict()
        return {name: rounded_or_none(one) if isinstance(one, float) else one for name, one in found.items()}


class MetricCell(NamedTuple):
    """A figure as a table shows it; None if the predictions do not have what the metric needs."""

    metric: Metric
    figure: MetricFigure | None

    @property
    def text(self) -> str:
        if self.figure is None:
            return "–"
        if self.figure.value is None:
            return "too few" if is_too_few(self.figure.n) else "–"
        return self.metric.text(self.figure.value)

    @property
    def beside(self) -> str:
        """Return interval, deviation and n as text; empty without a figure."""
        if self.figure is None or self.figure.value is None:
            return ""
        over = f"{self.deviation_text} over {self.figure.runs} runs" if self.deviation_text else ""
        return ", ".join(part for part in (self.interval_text, over, f"n = {self.figure.n:,}") if part)

    @property
    def is_known(self) -> bool:
        return self.figure is not None and self.figure.value is not None

    @property
    def interval_text(self) -> str:
        """Return the interval as text; empty if there is none."""
        if self.figure is None or self.figure.low is None or self.figure.high is None:
            return ""
        low, high = (self.metric.text(end).removesuffix(" %") for end in (self.figure.low, self.figure.high))
        return f"{low} to {high}"

    @property
    def deviation_text(self) -> str:
        if self.figure is None or self.figure.deviation is None:
            return ""
        return f"± {self.metric.text(self.figure.deviation)}"


class MetricRow(NamedTuple):
    entry: Entry
    cells: tuple[MetricCell, ...]  # in the order of the metrics


class MetricTable(NamedTuple):
    metrics: tuple[Metric, ...]  # those for which some entry has a figure
    rows: list[MetricRow]


class UnknownMetric(ValueError):
    """Raised for a name that is none of the known metrics; the message lists them."""


def find_metric(name: str, known: Sequence[Metric]) -> Metric | None:
    """Return the metric with this name, or None for the accuracy if the name is empty; raise `UnknownMetric`."""
    found = next((one for one in known if one.name == name), None)
    if name and found is None:
        names = ", ".join(one.name for one in known) or "none but the accuracy"
        raise UnknownMetric(f"Expected one of the metrics {names}, got {shorten(name)}.")
    return found


def metrics_for(user: Any, split: Split) -> tuple[Metric, ...]:
    """Return the metrics that predictions on a split can have; none if the visitor may not see them."""
    if not _shows_metrics(user, split):
        return ()
    index = SplitIndex.open(split)
    reference = reference_for(user, split)
    names = terms_of(split, truth_of(index), reference=reference).keys()  # right answers have every metric of numbers
    has_boxes = index.boxes is not None
    return tuple(
        one for one in metrics_of(split) if one.name in names or (one.needs == MetricNeeds.BOXES and has_boxes)
    )


def _shows_metrics(user: Any, split: Split) -> bool:
    return bool(metrics_of(split)) and may_see_exact_figures(user, split) and has_metrics(split, SplitIndex.open(split))


def metric_table(user: Any, split: Split, entries: Sequence[Entry]) -> MetricTable | None:
    """Return the metrics of these entries of a board; None if there are none, or the visitor may not see them."""
    if not _shows_metrics(user, split):
        return None
    found = [(entry, figures_of(user, split, entry)) for entry in entries]
    metrics = tuple(one for one in metrics_of(split) if any(one.name in figures for _, figures in found))
    rows = [
        MetricRow(entry, tuple(MetricCell(one, figures.get(one.name)) for one in metrics)) for entry, figures in found
    ]
    return MetricTable(metrics, rows) if metrics else None


def figures_of(user: Any, split: Split, entry: Entry) -> Mapping[str, MetricFigure]:
    """Return the figures of an entry by the names of the metrics that are defined for it and this visitor."""
    reference = reference_for(user, split)
    if entry.baseline is not None:
        return _figures([_terms_of_people(split, entry, reference)])
    digests = tuple(submission.predictions for submission in entry.submissions)
    return _figures_of_runs(digests, split.pk, split.index_digest, reference)


def figure_on(user: Any, split: Split, entry: Entry, metric: Metric, among: NDArray[np.bool_]) -> MetricFigure | None:
    runs = terms_of_runs(user, split, entry)
    has_metric = all(metric.name in one for one in runs)
    return figure_of([one[metric.name] for one in runs], among) if has_metric else None


def terms_of_runs(user: Any, split: Split, entry: Entry) -> list[dict[str, QuestionTerms]]:
    reference = reference_for(user, split)
    if entry.baseline is not None:
        return [_terms_of_people(split, entry, reference)]
    return [_terms_of_run(split, submission.predictions, reference) for submission in entry.submissions]


@functools.lru_cache(maxsize=4000)
def _figures_of_runs(
    digests: tuple[str, ...], split: int, index: str, reference: Reference | None
) -> Mapping[str, MetricFigure]:
    # `index`, the digest of the split's index, only tells cached figures apart.
    row = Split.objects.select_related("dataset", "parent").get(pk=split)
    return _figures([_terms_of_run(row, digest, reference) for digest in digests])


class RunPredictions(NamedTuple):
    codes: NDArray[np.int32]
    numbers: NDArray[np.float64] | None
    boxes: PredictedBoxes | None


def _terms_of_run(split: Split, digest: str, reference: Reference | None) -> dict[str, QuestionTerms]:
    return terms_of(split, *load_predictions(split, digest), reference=reference)


def load_predictions(split: Split, digest: str) -> RunPredictions:
    """Return stored predictions for the questions of a split. They were submitted to this split or to its parent."""
    stored, boxes = stored_predictions.load(digest), stored_predictions.load_boxes(digest)
    positions = SplitIndex.open(split).positions
    if positions is None or len(stored.codes) == split.questions:
        return RunPredictions(stored.codes, stored.numbers, boxes)
    numbers = None if stored.numbers is None else stored.numbers[positions]
    return RunPredictions(stored.codes[positions], numbers, None if boxes is None else boxes.at(positions))


def _terms_of_people(split: Split, entry: Entry, reference: Reference | None) -> dict[str, QuestionTerms]:
    """Return the terms of people's answers, for the questions of their sample."""
    [codes], asked = entry.runs(), entry.asked()
    assert asked is not None
    terms = terms_of(split, codes, reference=reference)
    return {name: one._replace(is_counted=one.is_counted & asked) for name, one in terms.items()}


def _figures(runs: Sequence[Mapping[str, QuestionTerms]]) -> dict[str, MetricFigure]:
    names = [name for name in runs[0] if all(name in one for one in runs)] if runs else []
    return {name: figure_of([one[name] for one in runs]) for name in names}


def figure_of(runs: Sequence[QuestionTerms], among: NDArray[np.bool_] | None = None) -> MetricFigure:
    """Return the figure of some runs on the questions in `among` (questions,); if these are too few, only n."""
    mean = mean_over_runs(runs)
    n, value = mean.count(among), mean.figure(among)
    if is_too_few(n) or value is None:
        return MetricFigure(n, len(runs))
    interval = mean.interval(among)
    values = [found for one in runs if (found := one.figure(among)) is not None]
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    low, high = interval or (None, None)
    return MetricFigure(n, len(runs), value, low, high, deviation)


class PrecisionRow(NamedTuple):
    entry: Entry
    figures: tuple[MetricFigure, ...]  # in the order of `IOUS`


def precision_rows(split: Split, entries: Iterable[Entry]) -> list[PrecisionRow]:
    """Return the average precisions of the entries whose predictions all have boxes."""
    found = []
    for entry in entries:
        digests = tuple(one.predictions for one in entry.submissions)
        figures = _precisions(digests, split.pk, split.index_digest) if digests else ()
        if figures:
            found.append(PrecisionRow(entry, figures))
    return found


@functools.lru_cache(maxsize=1000)
def _precisions(digests: tuple[str, ...], split: int, index: str) -> tuple[MetricFigure, ...]:
    row = Split.objects.select_related("dataset", "parent").get(pk=split)
    boxes = [load_predictions(row, digest).boxes for digest in digests]
    runs = [average_precisions(row, one) for one in boxes if one is not None]
    if not all(runs) or len(runs) < len(digests):
        return ()
    return tuple(figure_of([one[iou] for one in runs]) for iou in IOUS)
