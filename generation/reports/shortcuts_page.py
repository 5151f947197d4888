"""The report on shortcuts as a page and a chart: the accuracy of guesses without the picture, compared with chance.

For withheld splits, only the number of repeated questions is shown.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.utils.safestring import SafeString, mark_safe

from generation.access import Visitor, What, may_see, may_see_exact_figures
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import (
    ELSEWHERE,
    OF_THE_PAGE,
    SHARES,
    THICKNESS,
    THINNEST,
    WIDE,
    WIDTH,
    SvgPalette,
    frame_of,
)
from generation.engine.errors import BadSpec
from generation.engine.scoring.figures import LEVEL, Share, is_too_few, percent, rounded
from generation.engine.worlds.base import Published
from generation.engine.worlds.base import TextCounts as PublishedTexts
from generation.models import BlindReport, Dataset, Split
from generation.reports.shortcuts import TYPE
from generation.splits.references import reference_for

SIDE_BY_SIDE = 4  # splits whose cues are drawn together
LEVEL_TEXT = f"{LEVEL:.0%}".replace("%", " %")

# The labels of cues for users. A cue that is a facet has the facet's label.
CUES = {
    "majority": "nothing: the most frequent answer",
    TYPE: "type (Q-type mode)",
    "opening": "first three words",
    "nearest": "nearest question, by its words",
}


class CueScore(NamedTuple):
    """The score of guesses that use one cue: `right` of `n`, chance and, if there is one, the figure of a paper."""

    name: str
    label: str
    n: int
    right: int
    chance: float
    published: float | None = None
    address: str = ""

    @property
    def share(self) -> Share:
        return Share(self.right, self.n)

    @property
    def chance_text(self) -> str:
        return percent(self.chance) if self.n else ""

    @property
    def published_text(self) -> str:
        return "" if self.published is None else f"{100 * self.published:.3g} %"

    def to_json(self) -> dict[str, Any]:
        """Return the score for other programs. If there are too few questions, shares are None."""
        found = {"name": self.name, "label": self.label, "n": self.n, "right": self.right, "chance": self.chance}
        figures = shares_of(self)
        shares = dict.fromkeys(figures) if self.share.is_too_small else figures
        return {**found, **shares, "published": self.published}


class Alike(NamedTuple):
    """How many questions a split has, how many of them are different, and how many its reference also has."""

    name: str
    questions: int
    unique: int
    overlap: int | None
    reference: str
    published: PublishedTexts | None
    address: str = ""

    @property
    def unique_text(self) -> str:
        return _share(self.unique, self.questions)

    @property
    def overlap_text(self) -> str:
        return "" if self.overlap is None else _share(self.overlap, self.questions)

    @property
    def published_unique(self) -> str:
        return "" if self.published is None else _share(self.published.unique, self.published.questions)

    @property
    def published_overlap(self) -> str:
        if self.published is None or self.published.overlap is None:
            return ""
        return _share(self.published.overlap, self.published.questions)

    def to_json(self) -> dict[str, Any]:
        paper = None if self.published is None else self.published._asdict()
        found = {"name": self.name, "questions": self.questions, "unique": self.unique}
        return {**found, "overlap": self.overlap, "reference": self.reference or None, "published": paper}


class SplitGuesses(NamedTuple):
    """A split and the scores of guesses of its answers. A withheld split has no scores."""

    name: str
    reference: str
    is_withheld: bool
    sampled: int
    cues: list[CueScore]
    types: list[CueScore]
    address: str

    @property
    def n(self) -> int:
        return self.cues[0].n if self.cues else 0

    def to_json(self) -> dict[str, Any]:
        found = {"name": self.name, "reference": self.reference, "withheld": self.is_withheld, "sampled": self.sampled}
        rows = {"cues": [cue.to_json() for cue in self.cues], "types": [one.to_json() for one in self.types]}
        return {**found, **rows}


class ShortcutsView(NamedTuple):
    """A report as a user sees it: repeated questions, with all splits together in the last row, and scores."""

    source: str
    alike: list[Alike]
    scored: list[SplitGuesses]

    @property
    def drawn(self) -> list[SplitGuesses]:
        return [one for one in self.scored if not is_too_few(one.n)][:SIDE_BY_SIDE]

    def to_json(self) -> dict[str, Any]:
        alike = [one.to_json() for one in self.alike]
        return {"texts": alike, "splits": [one.to_json() for one in self.scored], "published": self.source or None}


def shares_of(row: CueScore) -> dict[str, float]:
    low, high = row.share.wilson
    return {"accuracy": rounded(row.share.value or 0.0), "low": rounded(low), "high": rounded(high)}


def _share(part: int, whole: int) -> str:
    return "" if is_too_few(whole) else percent(part / whole)


def shown_to(user: Visitor, dataset: Dataset, splits: Sequence[Split], report: BlindReport) -> ShortcutsView:
    return _shown(dataset, splits, report, withheld={split.pk for split in splits if not _may_know(user, split)})


def shown_whole(dataset: Dataset, splits: Sequence[Split], report: BlindReport) -> ShortcutsView:
    return _shown(dataset, splits, report, withheld=set())


def alike_to(user: Visitor, dataset: Dataset, splits: Sequence[Split], report: BlindReport) -> list[Alike]:
    """Return how many questions of these splits are repeated; empty if this visitor may not see them."""
    figures = {one["name"]: one for one in report.figures_json["splits"]}
    if not all(may_see(user, split, What.QUESTION) for split in splits):
        return []
    return _alike(splits, figures, _published(dataset), together=report.figures_json["texts"])


def source_of(dataset: Dataset) -> str:
    return _published(dataset).source


def _may_know(user: Visitor, split: Split) -> bool:
    return may_see_exact_figures(user, split) and reference_for(user, split) is not None


def _shown(dataset: Dataset, splits: Sequence[Split], report: BlindReport, *, withheld: set[int]) -> ShortcutsView:
    published, figures = _published(dataset), report.figures_json
    found = {one["name"]: one for one in figures["splits"]}
    measured = [split for split in splits if found[split.name]["reference"] is not None]
    scored = [_scored(split, found[split.name], published, is_withheld=split.pk in withheld) for split in measured]
    return ShortcutsView(published.source, _alike(splits, found, published, together=figures["texts"]), scored)


def _published(dataset: Dataset) -> Published:
    """Return the figures of the paper of the dataset's world; none if the world is not installed."""
    try:
        return dataset.get_world().published
    except BadSpec:
        return Published()


def _alike(splits: Sequence[Split], figures: Mapping[str, Any], published: Published, *, together: int) -> list[Alike]:
    rows = []
    for split in splits:
        found = figures[split.name]
        paper = published.texts.get(split.name)
        overlap, reference = found.get("overlap"), found["reference"] or ""
        address = split.get_absolute_url()
        rows.append(Alike(split.name, found["questions"], found["texts"], overlap, reference, paper, address))
    if len(rows) > 1:
        questions = sum(row.questions for row in rows)
        rows.append(Alike("all", questions, together, None, "", published.texts.get("")))
    return rows


def _scored(split: Split, figures: Mapping[str, Any], published: Published, *, is_withheld: bool) -> SplitGuesses:
    address, reference = split.get_absolute_url(), str(figures["reference"])
    if is_withheld:
        return SplitGuesses(split.name, reference, True, 0, [], [], address)
    cues = [_guess(one)._replace(label=CUES.get(one["name"], one["label"])) for one in figures["cues"]]
    types = [
        _guess(one)._replace(
            address=f"{address}?{urlencode([(TYPE, one['name'])])}", published=published.type_mode.get(one["name"])
        )
        for one in figures["types"]
    ]
    return SplitGuesses(split.name, reference, False, figures["sampled"], cues, types, address)


def _guess(figures: Mapping[str, Any]) -> CueScore:
    return CueScore(figures["name"], figures["label"], figures["n"], figures["right"], figures["chance"])


ROOM = 3  # pixels by which a bar is thicker than in other charts, because two lines lie across it


class ChartParts(NamedTuple):
    wide: SafeString
    narrow: SafeString


def spec_of(
    scored: Sequence[SplitGuesses], *, colors: SvgPalette, title: str = "", width: int = WIDTH
) -> dict[str, Any] | None:
    """Return the chart's specification, with a title if given; None if there is nothing to draw."""
    if not scored:
        return None
    legend = [f"{one.name}, n = {one.n:,}" for one in scored]
    split = {"field": "split", "type": "nominal", "sort": None}
    spec = {
        "data": {"values": list(_values(scored, legend))},
        "encoding": {"y": {"field": "cue", "type": "ordinal", "sort": None, "title": None}, "yOffset": split},
        "layer": [_bars(legend, colors), _intervals(colors), _chances(colors)],
        "width": width,
        "height": {"step": ROOM + THICKNESS.get(len(scored), THINNEST)},
        **frame_of(colors),
    }
    if title:
        note = "The line across a bar is chance; the thin line is the 95 % interval of the accuracy."
        spec["title"] = {"text": "Shortcuts", "subtitle": [title, note], "anchor": "start"}
        spec["padding"] = 12
    return spec


def _values(scored: Sequence[SplitGuesses], legend: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the data of each bar."""
    for one, split in zip(scored, legend, strict=True):
        for cue in one.cues:
            figures, score = shares_of(cue), cue.share
            yield {
                "cue": re.split("[:,]", cue.label)[0],
                "split": split,
                "share": figures["accuracy"],
                "low": figures["low"],
                "high": figures["high"],
                "chance": cue.chance,
                "address": ELSEWHERE + one.address,
                "said": f"{cue.label}: {score.text} ({score.interval_text}) of {split}; chance {cue.chance_text}",
            }


def _share_axis(field: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": "accuracy",
        "axis": {"format": SHARES, "tickCount": 4},
        "scale": {"domainMin": 0},
    }


def _bars(legend: Sequence[str], colors: SvgPalette) -> dict[str, Any]:
    color = {
        "field": "split",
        "type": "nominal",
        "scale": {"domain": list(legend), "range": list(colors.bars[: len(legend)])},
        "legend": {"title": None, "orient": "top", "columns": 1, "symbolType": "square"},
    }
    links = {"href": {"field": "address", "type": "nominal"}, "description": {"field": "said", "type": "nominal"}}
    return {"mark": "bar", "encoding": {"x": _share_axis("share"), "color": color, **links}}


def _intervals(colors: SvgPalette) -> dict[str, Any]:
    mark = {"type": "rule", "color": colors.soft, "strokeWidth": 1}
    return {"mark": mark, "encoding": {"x": _share_axis("low"), "x2": {"field": "high"}}}


def _chances(colors: SvgPalette) -> dict[str, Any]:
    mark = {"type": "tick", "color": colors.ink, "thickness": 2}
    return {"mark": mark, "encoding": {"x": _share_axis("chance")}}


def chart_parts(dataset: Dataset, shown: ShortcutsView, *, wait: float | None = None) -> ChartParts:
    """Return the chart as parts of the page; empty if there is nothing to draw or drawing failed."""
    specs = [spec_of(shown.drawn, colors=OF_THE_PAGE, width=width) for width in (WIDE, WIDTH)]
    found = drawings(dataset.slug, [DrawingOrder(spec) for spec in specs if spec is not None], wait=wait) or [
        None,
        None,
    ]
    # The drawing has only elements that `drawing_process` allows, and all its text is escaped.
    return ChartParts(*(mark_safe((drawing or b"").decode()) for drawing in found))  # noqa: S308
