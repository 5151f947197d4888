"""What of a published human baseline somebody may see: on withheld splits one figure, rounded down."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotations.models import Baseline
from annotations.results import baseline as baselines
from annotations.results.answer_files import cell
from annotations.studies import disclosure
from generation.access import Visitor, What, may_see, may_see_facet
from generation.charts.counts import TOO_FEW
from generation.engine.scoring.figures import interval_text, percent
from generation.engine.scoring.statistics import Interval, wilson
from generation.extensions import Note
from generation.models import Split

COLUMNS = ("facet", "value", "n", "accuracy", "low", "high", "correct")
TOLD = (What.HUMAN_ANSWERS, What.ANSWER)  # where single questions may be told: which answer was taken for which
PLACES = 3  # decimals of a share: a tenth of a point


class BaselineFigure(NamedTuple):
    """A share of `n` with its interval, for those who may see the answers: only n where there are too few."""

    label: str
    right: int
    n: int
    crossed: Interval | None = None

    @property
    def is_too_small(self) -> bool:
        return self.n < TOO_FEW

    @property
    def text(self) -> str:
        return f"too few (n = {self.n:,})" if self.is_too_small else percent(self.right / self.n)

    @property
    def wilson_text(self) -> str:
        """Return Wilson's 95 % interval for people; nothing where there are too few."""
        return "" if self.is_too_small else interval_text(wilson(self.right, self.n))

    @property
    def crossed_text(self) -> str:
        """Return the interval over questions and people for people; nothing where there is none."""
        return "" if self.is_too_small or self.crossed is None else interval_text(self.crossed)

    def data(self) -> dict[str, Any]:
        """Return it for a file: shares to a tenth of a point, and how many were right."""
        if self.is_too_small:
            return {"n": self.n, "correct": self.right}
        found = wilson(self.right, self.n)
        shares = {"accuracy": self.right / self.n, "low": found.low, "high": found.high}
        rounded = {name: round(value, PLACES) for name, value in shares.items()}
        return {"n": self.n, **rounded, "correct": self.right}


class PublishedFigure(NamedTuple):
    """The one figure of people on withheld answers: a share of `n`, or None where it opens with the answers."""

    n: int
    share: float | None

    @property
    def is_too_small(self) -> bool:
        return self.share is None

    @property
    def text(self) -> str:
        return "opens with the answers" if self.share is None else percent(self.share)

    @property
    def wilson_text(self) -> str:
        """Return no interval: it would be finer than the share."""
        return ""

    @property
    def crossed_text(self) -> str:
        return ""

    def data(self) -> dict[str, Any]:
        return {"n": self.n} | ({} if self.share is None else {"accuracy": self.share})


class FacetSlices(NamedTuple):
    """A facet with its slices."""

    name: str
    label: str
    reveals: bool
    rows: list[BaselineFigure]


class BaselineView(NamedTuple):
    """A published baseline as one visitor sees it.

    Attributes
    ----------
    is_open : bool
        Whether what people said of single questions may be told.
    majority : Figure or PublishedFigure
        Of questions.
    single : Figure or None
        Of answers; None where answers are withheld.
    everyone : Figure or None
        The majority with nobody excluded, where somebody was.
    parts : list of Part
    confused : list of (right, given, times, n)
    methods : str
        Empty where answers are withheld, because it has figures in it.
    figures : mapping
        The rest, as it was stored.
    """

    is_open: bool
    majority: BaselineFigure | PublishedFigure
    single: BaselineFigure | None
    everyone: BaselineFigure | None
    parts: list[FacetSlices]
    confused: list[list[Any]]
    methods: str
    figures: Mapping[str, Any]


def shown(user: Visitor, baseline: Baseline) -> BaselineView:
    """Return a published baseline as a visitor may see it, who may open its dataset."""
    figures: dict[str, Any] = json.loads(baseline.figures)
    if not _is_open(user, baseline.split):
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
    if _is_open(user, baseline.split):
        return BaselineFigure("", baseline.right, baseline.asked)
    return PublishedFigure(baseline.asked, disclosure.share_of(baseline))


def _is_open(user: Visitor, split: Split) -> bool:
    return all(may_see(user, split, what) for what in TOLD)


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
    """Return a baseline with its slices as JSON has it."""
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
    """Yield the lines of a CSV file: the whole, and where answers are open single answers and each slice."""
    writer: Any = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    wholes = [("", "majority of a question's answers", found.majority), ("", "single answer", found.single)]
    slices = ((part.name, row.label, row) for part in found.parts for row in part.rows)
    for facet, label, figure in (*wholes, *slices):
        if figure is None:
            continue
        data = figure.data()
        yield writer.writerow([facet, cell(label), *(data.get(name, "") for name in COLUMNS[2:])])


class _Echo:
    """A file that gives back what is written."""

    def write(self, text: str) -> str:
        return text


def predictions(baseline: Baseline) -> Iterator[str]:
    """Yield the majority as lines of JSON, one for each question that was asked; a tie has no answer."""
    arrays = baselines.load(baseline)
    for position in arrays.asked.nonzero()[0].tolist():
        code = int(arrays.predictions[position])
        answer = arrays.words[code] if code >= 0 else None
        yield json.dumps({"question_id": position, "answer": answer}, ensure_ascii=False) + "\n"


# What the pages of splits and questions say


def remarks(user: Visitor, splits: Sequence[Split]) -> dict[int, Note]:
    """Return, by split, what people got right of it, where that was published."""
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


def said_of(user: Visitor, split: Split, position: int) -> str:
    """Return what people said of a question; empty where nothing was published, or it may not be told."""
    if not _is_open(user, split):
        return ""
    latest = Baseline.objects.published().filter(split=split).first()
    if latest is None:
        return ""
    try:
        said = baselines.load(latest).said(position)
    except baselines.Damaged:  # their own page says so
        return ""
    return ", ".join(f"{text} × {times}" for text, times in said)


def address_of(split: Split) -> str:
    """Return where the human row of a split is read."""
    return f"{split.get_absolute_url()}people/"
