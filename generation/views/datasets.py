"""The list of datasets, and the overview of one."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from generation import extension_points
from generation.access import Visitor, What, is_researcher, may_mention, may_see, owns
from generation.browsing import stories
from generation.browsing.dataset import (
    cards_of,
    choices,
    read_list_query,
    repeats_of,
    sections_of,
    shown_charts,
    singles_of,
    world_label,
)
from generation.browsing.import_report import import_view
from generation.browsing.pictures import strips
from generation.browsing.sidebar import NoSuchPage, chips
from generation.extension_points import Note
from generation.models import Dataset, Split
from generation.reports.count_shifts import names_of
from generation.reports.shortcuts import find_report
from generation.reports.shortcuts_page import Alike, alike_to
from generation.reports.shortcuts_page import source_of as paper_of
from generation.specs.reproduction import hidden_files, recipe, spec_as_json, spec_as_zip
from generation.splits.query_string import BadAddress, QueryString
from generation.splits.question_sets import describe_recipe
from generation.splits.withheld_answers import withheld_splits
from generation.views.access_checks import counted_splits, find_dataset, refuse_list
from generation.views.owner_actions import making_context

FEW = 6  # largest number of datasets that are listed without a search form
STRIP = 6  # pictures at the head of an overview
STORIES = 3  # beginnings of stories at the head of an overview


@require_safe
def datasets(request: HttpRequest) -> HttpResponse:
    """Return the list of datasets that this user may see: `?q=shapes&world=clevr&state=complete&page=3`."""
    try:
        asked = QueryString.of(request)
        query = read_list_query(asked)
        if any(not asked.last(name) for name, _ in asked.pairs):  # forms also send their empty fields
            return redirect(request.path + ("" if query.is_plain else query.address))
        cards, page = cards_of(request.user, query)
    except BadAddress as error:
        return refuse_list(request, str(error), status=400)
    except NoSuchPage as error:
        return refuse_list(request, str(error), status=404)
    context = {
        "cards": cards,
        "page": page,
        "query": query,
        "chips": chips(query),
        "fields": choices(query, names=_filters(request.user)),
        "has_form": page.total > FEW or not query.is_plain,
        "is_researcher": is_researcher(request.user),
    }
    return render(request, "generation/datasets.html", context)


@require_safe
def dataset(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the overview of a dataset. `?split=val` counts only that split; otherwise all splits are counted."""
    found = find_dataset(request.user, slug)
    everything = list(found.splits.select_related("dataset", "reference__dataset", "parent").order_by("ordinal"))
    splits = [split for split in everything if not split.is_derived]
    wanted = QueryString.of(request).value("split") or None
    counted = counted_splits(everything, wanted)
    spec = found.spec_data
    has_files = found.files.exists()
    open_scenes = [split for split in splits if split.is_complete and may_see(request.user, split, What.SCENE)]
    context = {
        **making_context(request.user, found, splits),
        "world": world_label(found),
        "imported": import_view(request.user, found, splits),
        "seed": spec.get("seed", 0),
        "splits": splits,
        "rows": _rows(request.user, everything),
        "shifts": names_of(everything),
        "totals": _totals(splits, open_scenes=open_scenes),
        "shows_replaced": {split.pk for split in open_scenes},
        "guarded": (guards := withheld_splits(request.user, splits)),
        "pictures": strips([found], user=request.user, pictures=STRIP).get(found.pk, []),
        "stories": stories.strips([found], user=request.user, stories=STORIES).get(found.pk, []),
        "first": counted[0] if counted else None,
        "counted": counted,
        "query": "" if wanted is None else f"?split={wanted}",
        "charts": shown_charts(request.user, found, counted),
        "repeats": repeats_of(request.user, found, [split for split in splits if split.is_complete]),
        "alike": _alike(request.user, found, splits),
        "source": paper_of(found),
        "singles": singles_of(spec),
        "sections": sections_of(spec),
        "recipe": recipe(found, splits=everything, has_files=has_files, sees_secrets=owns(request.user, found)),
        "spec_address": reverse("dataset_spec_files" if has_files else "dataset_spec", args=[found.slug]),
    }
    response = render(request, "generation/dataset.html", context)
    if any(one.secret and one.split.withheld for one in guards):
        patch_cache_control(response, no_transform=True)  # the length of a compressed page could reveal the secret
    return response


@require_safe
def spec(request: HttpRequest, slug: str) -> HttpResponse:
    found = find_dataset(request.user, slug)
    return _download(spec_as_json(found).encode(), f"{found.slug}.json", kind="application/json")


@require_safe
def spec_with_files(request: HttpRequest, slug: str) -> HttpResponse:
    found = find_dataset(request.user, slug)
    hidden = hidden_files(found, sees=partial(may_see, request.user))
    return _download(spec_as_zip(found, hidden=hidden), f"{found.slug}-spec.zip", kind="application/zip")


class SplitRow(NamedTuple):
    split: Split
    said: str  # the questions of a derived split in words
    reference: str  # the name of the split that it is compared with, as the user may see it
    notes: list[Note]


def _rows(user: Visitor, splits: list[Split]) -> list[SplitRow]:
    """Return splits in order, each followed by the splits that are derived from it."""
    found = extension_points.notes_on_splits(user, splits)
    rows = []
    for split in splits:
        if not split.is_derived:
            rows.append(_row(user, split, "", found))
            derived = [other for other in splits if other.parent_id == split.pk]
            rows += [_row(user, other, describe_recipe(other), found) for other in derived]
    return rows


def _row(user: Visitor, split: Split, said: str, notes: Mapping[int, list[Note]]) -> SplitRow:
    return SplitRow(split, said, _reference_name(user, split), notes.get(split.pk, []))


def _reference_name(user: Visitor, split: Split) -> str:
    if split.reference is None or split.own_reference is not None:
        return "" if split.reference is None else split.reference.name
    return str(split.reference) if may_mention(user, split.reference.dataset) else ""


def _filters(user: Visitor) -> list[str]:
    # Visitors without an account need no choice of who sees a dataset.
    return ["world", "state", *(["visibility"] if user.is_authenticated else [])]


def _totals(splits: list[Split], *, open_scenes: list[Split]) -> dict[str, int | None]:
    """Return the numbers of scenes and questions, and of replaced scenes if the user may see all scenes."""
    return {
        "scenes": sum(split.scenes for split in splits),
        "questions": sum(split.questions for split in splits),
        "replaced": sum(split.replaced for split in splits) if len(open_scenes) == len(splits) else None,
    }


def _alike(user: Visitor, dataset: Dataset, splits: list[Split]) -> list[Alike]:
    """Return how many questions repeat, if a report has counted it; otherwise an empty list."""
    if dataset.state != Dataset.State.COMPLETE:
        return []
    counted = [split for split in splits if split.is_complete and not split.is_derived]
    report = find_report(dataset, counted)
    return [] if report is None else alike_to(user, dataset, counted, report)


def _download(content: bytes, name: str, *, kind: str) -> HttpResponse:
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
