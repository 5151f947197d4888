"""Views of the published human baselines of a split, for all visitors who may see its questions."""

from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations.models import Baseline
from annotations.results import baseline as baselines
from annotations.results import baseline_page
from generation.access import Visitor, What, may_see, may_see_exact_figures
from generation.engine.scoring.figures import TOO_FEW
from generation.models import Split
from generation.views.access_checks import NOTHING, find_split

A_NUMBER = 1_000_000_000


@require_safe
def people(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the page of a split's current human baseline: the latest one that is not withdrawn.

    If all baselines of the split are withdrawn, the page is that of the latest one.
    """
    split = _find_split(request.user, slug, name)
    standing = list(baselines.published_baselines(split))
    found = standing[0] if standing else Baseline.objects.filter(split=split).last()
    if found is None:
        raise Http404(f"{split} has no published human baseline.")
    return _page(request, found, standing=standing)


@require_safe
def version(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponse:
    split = _find_split(request.user, slug, name)
    return _page(request, _find(split, number), standing=list(baselines.published_baselines(split)))


@require_safe
def slices(request: HttpRequest, slug: str, name: str, number: int, kind: str) -> HttpResponse:
    """Return the slices of a baseline as a CSV or JSON file."""
    found = _find(_find_split(request.user, slug, name), number)
    _check_stands(request.user, found)
    seen = baseline_page.view_of(request.user, found)
    if kind == "json":
        return _saved(JsonResponse(baseline_page.as_data(found, seen)), found, "slices.json")
    lines = StreamingHttpResponse(baseline_page.as_csv(seen), content_type="text/csv; charset=utf-8")
    return _saved(lines, found, "slices.csv")


@require_safe
def predictions(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponse:
    """Return the majority answers as a prediction file; 404 for visitors who may not see single answers."""
    split = _find_split(request.user, slug, name)
    if not may_see_exact_figures(request.user, split):
        raise Http404(NOTHING)
    found = _find(split, number)
    _check_stands(request.user, found)
    baselines.load(found)  # raises the error for an unreadable file before the response begins
    lines: Iterator[str] = baseline_page.predictions(found)
    return _saved(StreamingHttpResponse(lines, content_type="application/x-ndjson"), found, "predictions.jsonl")


def _find_split(user: Visitor, slug: str, name: str) -> Split:
    split = find_split(user, slug, name)
    if not may_see(user, split, What.QUESTION):
        raise Http404(NOTHING)
    return split


def _find(split: Split, number: int) -> Baseline:
    rows = Baseline.objects.filter(split=split).select_related("split__dataset", "split__parent", "publisher", "study")
    found = rows.filter(number=number).first() if number < A_NUMBER else None
    if found is None:
        raise Http404(f"Expected the number of a published human baseline of {split}, got {number}.")
    return found


def _check_stands(user: Visitor, baseline: Baseline) -> None:
    if baseline.is_withdrawn and not _runs(user, baseline):
        raise Http404("This human baseline was withdrawn.")


def _runs(user: Visitor, baseline: Baseline) -> bool:
    is_theirs = user.is_authenticated and (user.is_staff or baseline.study.owner_id == user.pk)
    return bool(is_theirs and may_see(user, baseline.split, What.HUMAN_ANSWERS))


def _page(request: HttpRequest, found: Baseline, *, standing: list[Baseline]) -> HttpResponse:
    runs = _runs(request.user, found)
    is_shown = runs or not found.is_withdrawn
    newer = next((one for one in standing if one.study_id == found.study_id and one.number > found.number), None)
    context: dict[str, Any] = {
        "split": found.split,
        "dataset": found.split.dataset,
        "here": "Human baseline",
        "baseline": found,
        "seen": baseline_page.view_of(request.user, found) if is_shown else None,
        "newer": newer,
        "others": [(one, baseline_page.figure_for(request.user, one)) for one in standing if one.pk != found.pk],
        "runs": runs,
        "too_few": TOO_FEW,
    }
    return render(request, "annotations/baseline.html", context)


def _saved(response: Any, found: Baseline, name: str) -> HttpResponse:
    """Make the response a download with a file name that describes the content, and return it."""
    split = found.split
    whole = f"{split.dataset.slug}-{split.name}-people-{found.number}-{name}"
    response["Content-Disposition"] = f'attachment; filename="{whole}"'
    return response
