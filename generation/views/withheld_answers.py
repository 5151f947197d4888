"""Opening the withheld answers of a split permanently, with the secret that proves them."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation.access import owns
from generation.models import Split
from generation.splits.withheld_answers import open_answers as open_for_good
from generation.storage.split_index import SplitIndex
from generation.views.access_checks import NOTHING, find_split, refuse

PROOF = "#withheld"  # the part of the overview that shows the secret


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def open_answers(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the page that says what opening the answers makes public. Its button opens them."""
    split = find_split(request.user, slug, name)
    if not owns(request.user, split.dataset):
        raise Http404(NOTHING)
    if split.is_derived:  # it is opened together with its parent
        return redirect("open_answers", slug=slug, name=split.source.name)
    if not split.withheld:
        return redirect(split.dataset.get_absolute_url() + PROOF)
    if not split.is_complete:
        return refuse(request, split, _unfinished(split), status=409)
    if request.method != "POST":
        return render(request, "generation/open_answers.html", _context(split))
    if open_for_good(split):
        messages.success(request, f"The answers of {split.name} are open.")
    return redirect(split.dataset.get_absolute_url() + PROOF)


def _context(split: Split) -> dict[str, object]:
    facets = [facet.label for facet in SplitIndex.open(split).facets.values() if facet.reveals]
    return {"split": split, "dataset": split.dataset, "here": "Open the answers", "facets": facets}


def _unfinished(split: Split) -> str:
    """Return why the answers cannot be opened yet."""
    return (
        f"Expected a complete split, got {split.name}, whose state is {split.get_state_display()}. Its content "
        "hash must be public before its secret is shown."
    )
