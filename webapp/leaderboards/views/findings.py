"""Views of findings: the list, and the page of a finding with its record as a file."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.charts.vega import OF_THE_PAGE, WIDE
from generation.durations import duration
from generation.engine.learners.base import SizeName
from generation.models import Dataset
from generation.splits.query_string import BadAddress, QueryString, shorten
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.findings import examples_needed, pages, records
from webapp.leaderboards.findings.chart import describe_headline, describe_marks, headline_spec, left_out, spec_of
from webapp.leaderboards.findings.definitions import BadFinding, Definition, command_of, load
from webapp.leaderboards.findings.records import FindingRecord, RecordedFigure
from webapp.leaderboards.views.analysis.board_selection import drawings_of

CHARTS = "findings."  # the start of the folders of charts; names of datasets have no dot
SIZE = "size"
HALF = 500  # pixels of a chart beside the outcomes


@require_safe
def findings(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboards/findings.html", {"findings": pages.summaries()})


@require_safe
def finding(request: HttpRequest, name: str) -> HttpResponse:
    """Return a finding at one size: `?size=paper`; by default at the first size that is recorded."""
    definition = _find(name)
    sizes = [pages.summary_of(name, size, definition=definition) for size in definition.sizes]
    try:
        chosen = _chosen(request, definition, sizes)
    except BadAddress as error:
        return render(request, "generation/refused.html", {"message": str(error)}, status=400)
    record = chosen.record
    tables = pages.tables_of(definition, chosen.size, record)
    figures = {} if record is None else record.figures
    specs = [spec_of(one.table, figures, is_share=one.is_share, colors=OF_THE_PAGE) for one in tables]
    bars = pages.headline_figures(definition, chosen.size, record)
    headline = headline_spec(bars, colors=OF_THE_PAGE)
    drawn = drawings_of(f"{CHARTS}{name}", specs, wide=WIDE)
    statements = pages.statements_of(definition, chosen.size, record)
    context = {
        "name": name,
        "definition": definition,
        "sizes": sizes,
        "size": chosen.size,
        "about_size": definition.sizes[chosen.size].about,
        "record": record,
        "counts": chosen.counts,
        "is_outdated": chosen.is_outdated,
        "tables": [
            {
                "view": one,
                "drawing": drawing,
                "marks": describe_marks(one.table, figures),
                "left_out": left_out(one.table),
            }
            for one, drawing in zip(tables, drawn, strict=True)
        ],
        "diagrams": _diagrams(name, chosen.size, definition, figures),
        "seeds": "" if record is None else pages.describe_seeds(record),
        "headline": drawings_of(f"{CHARTS}{name}", [headline], wide=HALF)[0],
        "headline_marks": describe_headline(bars),
        "statements": statements,
        "groups": pages.grouped(statements),
        "duration": "" if record is None else duration(record.seconds),
        "trainings": [] if record is None else pages.trainings_of(record),
        "here": _slugs_here(request, record),
        "command": command_of(name, chosen.size),
        "needs_torch": pages.needs_torch(definition, chosen.size),
        "effort": chosen.effort,
    }
    return render(request, "leaderboards/finding.html", context)


def _diagrams(
    name: str, size: SizeName, definition: Definition, figures: Mapping[str, RecordedFigure]
) -> list[dict[str, Any]]:
    """Return the diagrams of needed examples of a size, with their lines if all figures are recorded."""
    found = [(one, examples_needed.lines_of(one, definition, figures)) for one in definition.diagrams_of(size)]
    specs = [examples_needed.spec_of(one, lines, colors=OF_THE_PAGE) for one, lines in found]
    drawn = drawings_of(f"{CHARTS}{name}", specs, wide=WIDE)
    return [
        {"diagram": one, "lines": lines, "drawing": drawing} for (one, lines), drawing in zip(found, drawn, strict=True)
    ]


@require_safe
def finding_file(request: HttpRequest, name: str, size: SizeName) -> HttpResponse:
    """Return the record of a size as JSON."""
    definition = _find(name)
    record = records.load_latest(name, size) if size in definition.sizes else None
    if record is None:
        message = f"Expected a size with a record, got {shorten(size)}."
        return render(request, "generation/refused.html", {"message": message}, status=404)
    content = record.model_dump_json(indent=1).encode()
    return downloads.private_file(content, content_type="application/json", name=f"{name}-{size}.json")


def _find(name: str) -> Definition:
    try:
        return load(name)
    except BadFinding as error:
        raise Http404(str(error)) from error


def _chosen(request: HttpRequest, definition: Definition, sizes: list[pages.SizeSummary]) -> pages.SizeSummary:
    """Return the size that the address names; raise `BadAddress` for an unknown one."""
    asked = QueryString.of(request)
    asked.check_names((SIZE,))
    wanted = asked.value(SIZE)
    if not wanted:
        return next((one for one in sizes if one.record is not None), sizes[0])
    found = next((one for one in sizes if one.size == wanted), None)
    if found is None:
        raise BadAddress(f"Expected one of {', '.join(definition.sizes)} for size, got {shorten(wanted)}.")
    return found


def _slugs_here(request: HttpRequest, record: FindingRecord | None) -> set[str]:
    wanted = {} if record is None else {one.slug: one.content_hash for one in record.datasets}
    rows = Dataset.objects.visible_to(request.user).filter(slug__in=wanted)
    return {slug for slug, found in rows.values_list("slug", "fingerprint") if wanted[slug] == found}
