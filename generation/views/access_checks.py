"""Fetching the objects of pages with the access check: users without access get the same 404 as for missing ones."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from generation.access import Visitor, may_open
from generation.charts.counts import side_by_side
from generation.models import Dataset, Split, find_one
from generation.splits.query_string import shorten

NOTHING = "There is no such dataset, or it isn't public."


def find_dataset(user: Visitor, slug: str) -> Dataset:
    """Return the dataset at this address if this user may open it; raise `Http404`."""
    dataset = find_one(Dataset.objects.exclude(state=Dataset.State.DELETING).filter(slug=slug))
    if dataset is None or not may_open(user, dataset):
        raise Http404(NOTHING)
    return dataset


def find_split(user: Visitor, slug: str, name: str) -> Split:
    """Return the split at this address with its dataset if this user may open it; raise `Http404`."""
    splits = Split.objects.for_browse().exclude(dataset__state=Dataset.State.DELETING)
    split = find_one(splits.filter(dataset__slug=slug, name=name))
    if split is None or not may_open(user, split.dataset):
        raise Http404(NOTHING)
    return split


def counted_splits(splits: Sequence[Split], wanted: str | None) -> list[Split]:
    """Return the complete splits that are counted: the wanted one, otherwise those of the charts; raise `Http404`."""
    counted = side_by_side(splits, wanted)
    if wanted is not None and not counted:
        raise Http404(f"Expected a complete split of this dataset, got {shorten(wanted)}.")
    return counted


def refuse(request: HttpRequest, split: Split, message: str, *, status: int, **more: Any) -> HttpResponse:
    context = {"split": split, "dataset": split.dataset, "message": message, **more}
    return render(request, "generation/refused.html", context, status=status)


def refuse_list(request: HttpRequest, message: str, *, status: int) -> HttpResponse:
    return render(request, "generation/refused.html", {"message": message}, status=status)
