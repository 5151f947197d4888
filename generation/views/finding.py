"""What the pages are about, fetched with the access check: strangers get the same 404 as for what isn't there."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from generation.access import Visitor, may_open
from generation.charts.counts import side_by_side
from generation.models import Dataset, Split
from generation.splits.filters import shortened

NOTHING = "There is no such dataset, or it isn't public."


def find_dataset(user: Visitor, slug: str) -> Dataset:
    """Return the dataset at this address, if this visitor may open it."""
    dataset = Dataset.objects.exclude(state=Dataset.State.DELETING).filter(slug=slug).first()
    if dataset is None or not may_open(user, dataset):
        raise Http404(NOTHING)
    return dataset


def find_split(user: Visitor, slug: str, name: str) -> Split:
    """Return the split at this address with its dataset, if this visitor may open that."""
    splits = Split.objects.for_browse().exclude(dataset__state=Dataset.State.DELETING)
    split = splits.filter(dataset__slug=slug, name=name).first()
    if split is None or not may_open(user, split.dataset):
        raise Http404(NOTHING)
    return split


def counted_splits(splits: Sequence[Split], wanted: str | None) -> list[Split]:
    """Return the complete splits whose questions are counted: the one asked for, else those that stand side by side."""
    counted = side_by_side(splits, wanted)
    if wanted is not None and not counted:
        raise Http404(f"Expected a complete split of this dataset, got {shortened(wanted)}.")
    return counted


def refuse(request: HttpRequest, split: Split, message: str, *, status: int, **more: Any) -> HttpResponse:
    """Return the page that says what is wrong with an address, and where to go on."""
    context = {"split": split, "dataset": split.dataset, "message": message, **more}
    return render(request, "generation/refused.html", context, status=status)


def refuse_list(request: HttpRequest, message: str, *, status: int) -> HttpResponse:
    return render(request, "generation/refused.html", {"message": message}, status=status)


def pairs_of(request: HttpRequest) -> list[tuple[str, str]]:
    return [(name, value) for name, values in request.GET.lists() for value in values]
