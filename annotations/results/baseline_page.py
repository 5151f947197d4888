"""The part of a published human baseline that a visitor may see; for a withheld split, one figure, rounded down."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotations.models import Baseline
from annotations.results import baseline as baselines
from annotations.studies import baseline_disclosure
from generation.access import Visitor, What, may_see, may_see_exact_figures, may_see_facet
from generation.engine.formats.spreadsheets import csv_file
from generation.engine.scoring.figures import Interval, Share, interval_text, percent
from generation.extension_points import Note
from generation.models import Split

COLUMNS = ("facet", "value", "n", "accuracy", "low", "high", "correct")
PLACES = 3  # decimal places of a share, that is, a tenth of a percentage point


class BaselineFigure(NamedTuple):
    """A share of `n` with its interval, for visitors who may see the answers; if n is too small, only n is shown."""

    label: str
    right: int
    n: int
    crossed: Interval | None = None

    @property
    def share(self) -> Share:
        return Share(self.right, self.n)

    @property
    def is_too_small(self) -> bool:
        return self.share.is_too_small

    @property
    def text(self) -> str:
        return self.share.text

    @property
    def wilson_text(self) -> str:
        return self.share.interval_text

    @property
    def crossed_text(self) -> str:
        return "" if self.is_too_small or self.crossed is None else interval_text(self.crossed)

    def data(self) -> dict[str, Any]:
        """Return the figure for a file: shares to a tenth of a percentage point, and the number of right answers."""
        if self.is_too_small:
            return {"n": self.n, "correct": self.right}
        found = self.share.wilson
        shares = {"accuracy": self.right / self.n, "low": found.low, "high": found.high}
        rounded = {name: round(value, PLACES) for name, value in shares.items()}
        return {"n": self.n, **rounded, "correct": self.right}


class PublishedFigure(NamedTuple):
    """The only figure of people on withheld answers: a share of `n`; None if it is published with the answers."""

    n: int
    share: float | None

    @property
    def is_too_small(self) -> bool:
        return self.share is None

    @property
    def text(self) -> str:
        return "shown when the answers are opened" if self.share is None else percent(self.share)

    @property
    def wilson_text(self) -> str:
        return ""  # an interval would reveal more than the rounded share

    @property
    def crossed_text(self) -> str:
        return ""

    def data(self) -> dict[str, Any]:
        return {"n": self.n} | ({} if self.share is None else {"accuracy": self.share})


class FacetSlices(NamedTuple):
    name: str
    label: str
    reveals: bool
    rows: list[BaselineFigure]


class BaselineView(NamedTuple):
    """A published baseline, with only those parts that one visitor may see.

    Attributes
    ----------
    is_open : bool
        Whether the visitor may see answers to single questions.
    majority : BaselineFigure or PublishedFigure
        Accuracy of majority answers.
    single : BaselineFigure or None
        Accuracy of single answers; None if answers are withheld.
    everyone : BaselineFigure or None
        Accuracy of majority answers if nobody were excluded; None if nobody was excluded or answers are withheld.
    parts : list of FacetSlices
    confused : list of (right, given, times, n)
    methods : str
        Empty if answers are withheld, because the text contains figures.
    figures : mapping
        All figures as they were stored.
    """

    is_open: bool
    majority: BaselineFigure | PublishedFigure
    single: BaselineFigure | None
    everyone: BaselineFigure | None
    parts: list[FacetSlices]
    confused: list[list[Any]]
    methods: str
    figures: Mapping[str, Any]


def view_of(user: Visitor, baseline: Baseline) -> BaselineView:
    """Return the parts of a published baseline that this visitor may see; the caller checks access to the dataset."""
    figures: dict[str, Any] = json.loads(baseline.figures)
    if not may_see_exact_figures(user, baseline.split):
        return BaselineView(False, figure_for(user, baseline), None, None, [], [], "", figures)
    everyone = figures["everyone"]
    return BaselineView(
        is_open=True,
        majority=_figure(figures, "majority"),
        single=_figure(figures, "single"),
        everyone=None if everyone is None else _figure(everyone, "majority"),
        parts=[part for part in _parts(figures) if may_see_facet(user, baseline.split, part)],
        confused=figures["confused"],
        methods=baseline.methods,
        figures=figures,
    )


def figure_for(user: Visitor, baseline: Baseline) -> BaselineFigure | PublishedFigure:
    if may_see_exact_figures(user, baseline.split):
        return BaselineFigure("", baseline.right, baseline.asked)
    return PublishedFigure(baseline.asked, baseline_disclosure.share_of(baseline))


def _figure(figures: Mapping[str, Any], name: str) -> BaselineFigure:
    right, n = figures[name]
    interval = figures[f"{name}_interval"]
    return BaselineFigure("", right, n, None if interval is None else Interval(*interval))


def _parts(figures: Mapping[str, Any]) -> Iterator[FacetSlices]:
    for one in figures["facets"]:
        rows = [BaselineFigure(label, right, n) for label, right, n in one["values"]]
        if rows:
            yield FacetSlices(one["name"], one["label"], one["reveals"], rows)


# Files


def as_data(baseline: Baseline, found: BaselineView) -> dict[str, Any]:
    """Return a baseline with its slices as JSON data."""
    figures = found.figures
    return {
        "dataset": baseline.split.dataset.slug,
        "split": baseline.split.name,
        "baseline": baseline.number,
        "published": baseline.published.isoformat(timespec="seconds"),
        "withdrawn": None if baseline.withdrawn is None else baseline.withdrawn.isoformat(timespec="seconds"),
        "people": baseline.people,
        "answers_per_question": baseline.per_question,
        "ties": baseline.ties,
        "alpha": None if figures["alpha"] is None else round(figures["alpha"], PLACES),
        **found.majority.data(),
        "single": None if found.single is None else found.single.data(),
        "facets": {part.name: {row.label: row.data() for row in part.rows} for part in found.parts},
    }


def as_csv(found: BaselineView) -> Iterator[str]:
    yield from csv_file([COLUMNS, *_csv_rows(found)])


def _csv_rows(found: BaselineView) -> Iterator[list[object]]:
    wholes = [("", "majority of a question's answers", found.majority), ("", "single answer", found.single)]
    slices = ((part.name, row.label, row) for part in found.parts for row in part.rows)
    for facet, label, figure in (*wholes, *slices):
        if figure is None:
            continue
        data = figure.data()
        yield [facet, label, *(data.get(name, "") for name in COLUMNS[2:])]


def predictions(baseline: Baseline) -> Iterator[str]:
    """Yield the majority answers as lines of JSON, one per question with an answer; for a tie, the answer is null."""
    arrays = baselines.load(baseline)
    for position in arrays.asked.nonzero()[0].tolist():
        code = int(arrays.predictions[position])
        answer = arrays.words[code] if code >= 0 else None
        yield json.dumps({"question_id": position, "answer": answer}, ensure_ascii=False) + "\n"


# Notes on the pages of splits and questions


def remarks(user: Visitor, splits: Sequence[Split]) -> dict[int, Note]:
    """Return for each split with a published baseline a note with the accuracy of people, by the split's key."""
    latest: dict[int, Baseline] = {}
    for row in Baseline.objects.published().filter(split__in=splits):
        latest.setdefault(row.split_id, row)
    named = {split.pk: split for split in splits}
    found = {}
    for key, row in latest.items():
        split = row.split = named[key]
        if may_see(user, split, What.QUESTION):
            figure = figure_for(user, row)
            n = f" (n = {figure.n:,})" if not figure.is_too_small or isinstance(figure, PublishedFigure) else ""
            found[key] = Note(f"People: {figure.text}{n}", address_of(split))
    return found


def answers_to(user: Visitor, split: Split, position: int) -> str:
    """Return the answers of people to a question as text; empty if none are published or visible to this visitor."""
    if not may_see_exact_figures(user, split):
        return ""
    latest = Baseline.objects.published().filter(split=split).first()
    if latest is None:
        return ""
    try:
        said = baselines.load(latest).said(position)
    except baselines.DamagedBaseline:  # the page of the baseline reports the error
        return ""
    return ", ".join(f"{text} × {times}" for text, times in said)


def address_of(split: Split) -> str:
    return f"{split.get_absolute_url()}people/"
