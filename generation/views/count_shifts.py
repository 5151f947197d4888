"""The page of a count shift: what it does to train, val and test, with its charts and its figures as files."""

from typing import Any, NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.shifted_counts import spec_of
from generation.charts.vega import OF_PAPER, OF_THE_PAGE
from generation.engine.formats.spreadsheets import csv_lines
from generation.engine.scoring.counts.label_shift import COMMON_WORDS
from generation.models import Dataset
from generation.reports.count_shifts import (
    PAPER,
    TEST,
    CountShiftFamily,
    Guesses,
    SetCounts,
    family_of,
    guesses,
    published_counts,
    published_methods,
    similarities,
)
from generation.splits import count_shifts
from generation.splits.count_shifts import CountShift, sets_of
from generation.splits.query_string import QueryString, shorten
from generation.splits.split_recipes import command
from generation.views.access_checks import find_dataset

KINDS = {"svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv; charset=utf-8"}
NO_SHIFT = "This dataset has no count shift with this name."


class SetView(NamedTuple):
    """A set as the page shows it: its drawing, which may be empty, and the paper's number of rare answers, if any."""

    shifted: SetCounts
    drawing: SafeString
    published: int | None

    @property
    def odd(self) -> tuple[int, int]:
        before, after = self.shifted.odd_and_even()
        return before[0], after[0]

    @property
    def even(self) -> tuple[int, int]:
        before, after = self.shifted.odd_and_even()
        return before[1], after[1]

    @property
    def rows(self) -> list[tuple[int, int, int]]:
        counts = zip(self.shifted.before.tolist(), self.shifted.after.tolist(), strict=True)
        return [(number, before, after) for number, (before, after) in enumerate(counts) if before]


@require_safe
def count_shift(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the page of a count shift."""
    dataset, family = _find(request, slug, name)
    specs = [_spec(one, family, is_paper=False) for one in family.sets]
    drawn = drawings(dataset.slug, [DrawingOrder(spec) for spec in specs])
    published = published_counts(dataset, family)
    shown = [
        SetView(one, _as_html(drawing), published.get(one.role))
        for one, drawing in zip(family.sets, drawn, strict=True)
    ]
    found = guesses(family)
    context = {
        "dataset": dataset,
        "family": family,
        "shown": shown,
        "similarities": similarities(request.user, family),
        "columns": found.columns,
        "guesses": _in_percent(found),
        "paper": PAPER,
        "has_paper": any(line.paper for line in found.lines),
        "has_published": bool(published),
        "methods": [(name, *map(_percent, shares)) for name, shares in published_methods(family).items()],
        "common_words": sorted(COMMON_WORDS),
        "commands": _commands(dataset, family),
    }
    return render(request, "generation/count_shift.html", context)


@require_safe
def count_shift_file(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    """Return the counts as CSV, or the chart of one set (`?set=test`) as SVG or PDF."""
    dataset, family = _find(request, slug, name)
    title = f"{dataset.slug}-{name}"
    if kind == "csv":
        return _file(_as_csv(family).encode(), f"{title}.csv", kind=kind)
    wanted = QueryString.of(request).value("set") or TEST
    chosen = family.find(wanted)
    if chosen is None:
        known = ", ".join(one.role for one in family.sets) or "none"
        return _refuse(request, dataset, f"Expected one of the sets {known}, got {shorten(wanted)}.")
    order = DrawingOrder(_spec(chosen, family, is_paper=True), kind=kind, site=settings.PUBLIC_URL)
    [drawing] = drawings(dataset.slug, [order])
    if drawing is None:
        message = "This chart is not drawn yet. Load it again in a moment. Its figures are in the CSV file."
        return _refuse(request, dataset, message)
    return _file(drawing, f"{title}-{chosen.role}.{kind}", kind=kind)


def _find(request: HttpRequest, slug: str, name: str) -> tuple[Dataset, CountShiftFamily]:
    dataset = find_dataset(request.user, slug)
    family = family_of(request.user, dataset, name)
    if family is None:
        raise Http404(NO_SHIFT)
    return dataset, family


def _commands(dataset: Dataset, family: CountShiftFamily) -> list[str]:
    """Return the command that makes the sets of a shift again, or one for each set if they were not made together."""
    if not family.sets:
        return []
    recipe = family.sets[0].recipe
    groups = {one.recipe.parity.grouped_by for one in family.sets if one.recipe.parity is not None}
    shift = CountShift(family.kept, family.rule.removed, recipe.filter, max(groups), recipe.seed)
    together = {one.name: one.recipe for one in sets_of(dataset, shift, suffix=family.name)}
    if all(together.get(one.split.name) == one.recipe for one in family.sets):
        return [count_shifts.command(dataset.slug, shift, suffix=family.name)]
    return [command(one.recipe, dataset=dataset.slug, name=one.split.name) for one in family.sets]


def _spec(one: SetCounts, family: CountShiftFamily, *, is_paper: bool) -> dict[str, Any]:
    assert one.recipe.parity is not None
    rare = "even" if one.recipe.parity.kept == "odd" else "odd"
    colors = OF_PAPER if is_paper else OF_THE_PAGE
    titles = {"title": str(one.split), "subtitle": "pale bars: before the shift"} if is_paper else {}
    return spec_of(one.before.tolist(), one.after.tolist(), rare=rare, colors=colors, **titles)


def _as_html(drawing: bytes | None) -> SafeString:
    return mark_safe((drawing or b"").decode())  # noqa: S308 - only allowed elements, with escaped text


def _in_percent(found: Guesses) -> list[dict[str, Any]]:
    """Return the lines of a table, in percent with two decimal places, as the paper has them."""
    return [
        {
            "label": line.label,
            "shares": ["–" if share is None else _percent(share) for share in line.shares],
            "paper": [_percent(share) for share in line.paper],
        }
        for line in found.lines
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _as_csv(family: CountShiftFamily) -> str:
    rows: list[list[object]] = [["set", "answer", "before", "after"]]
    for one in family.sets:
        counts = zip(one.before.tolist(), one.after.tolist(), strict=True)
        rows += [[one.split.name, number, *pair] for number, pair in enumerate(counts) if pair[0]]
    return "".join(csv_lines(rows))


def _file(content: bytes, name: str, *, kind: str) -> HttpResponse:
    response = HttpResponse(content, content_type=KINDS[kind])
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-cache"
    return response


def _refuse(request: HttpRequest, dataset: Dataset, message: str) -> HttpResponse:
    return render(request, "generation/refused.html", {"dataset": dataset, "message": message}, status=404)
