"""Datasets and their splits."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from ninja import Router

from generation.access import Visitor, What, is_researcher, may_see
from generation.browsing.dataset import cards_of, read_list_query
from generation.browsing.navigation import visible_facets
from generation.engine.errors import EngineError
from generation.models import Dataset, Split
from generation.splits.filters import Query
from generation.storage.index import SplitIndex
from generation.views.finding import find_dataset, find_split, pairs_of
from webapp.api.operations import reads
from webapp.api.pages import PAGE, WORDS, filter_of, page_json
from webapp.api.shapes import general

router = Router(tags=["Datasets"])
TEXT = {"type": "string"}
KEPT = (
    *("slug", "title", "description", "licence", "version", "citation", "world", "state", "visibility"),
    *("created", "completed", "fingerprint", "engine_version", "release", "with_images"),
)
LISTED = [WORDS, *(filter_of(name) for name in ("world", "state", "visibility")), PAGE]


@reads(router, "account/", general.Account, accounts=True)
def account(request: HttpRequest) -> dict[str, Any]:
    """Return whose token or session it is."""
    user: Any = request.user
    return {
        "username": user.username,
        "name": user.get_full_name(),
        "is_researcher": is_researcher(user),
        "is_staff": user.is_staff,
    }


@reads(router, "datasets/", general.Page[general.Dataset], parameters=LISTED)
def datasets(request: HttpRequest) -> dict[str, Any]:
    """Return a page of the datasets that lists show whoever asks, newest first; filters as on the page of datasets."""
    query: Query = read_list_query(pairs_of(request))
    cards, page = cards_of(request.user, query)
    return page_json(request, page, [dataset_json(card.dataset, card.dataset.splits.all()) for card in cards])


@reads(router, "datasets/{slug:slug}/", general.Dataset)
def dataset(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Return a dataset with its splits, question sets among them."""
    found = find_dataset(request.user, slug)
    return dataset_json(found, found.splits.for_browse())


@reads(router, "datasets/{slug:slug}/splits/{split:name}/", general.SplitInFull)
def split(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return a split with its vocabulary of answers, and the facets that whoever asks may filter by."""
    found = find_split(request.user, slug, name)
    url = split_url(found)
    full = {
        "answers": _vocabulary(found),
        "facets": _facets(request.user, found),
        "questions_url": f"{url}questions/",
        "scenes_url": f"{split_url(found.source)}scenes/",
        "questions_file": f"{url}questions.jsonl.gz",
    }
    if found.dataset.with_images and may_see(request.user, found, What.IMAGE):
        full["images_file"] = f"{url}images.tar"
    return split_json(found) | full


def dataset_json(dataset: Dataset, splits: Iterable[Split]) -> dict[str, Any]:
    """Return what is said of a dataset to whoever may open it."""
    return {name: getattr(dataset, name) for name in KEPT} | {
        "authors": [line.strip() for line in dataset.authors.splitlines() if line.strip()],
        "splits": [split_json(split) for split in _in_place(dataset, splits)],
        "url": f"/api/v1/datasets/{dataset.slug}/",
        "page": dataset.get_absolute_url(),
    }


def _in_place(dataset: Dataset, splits: Iterable[Split]) -> list[Split]:
    """Return splits that know their dataset and one another, so that nothing more is asked of the database."""
    known = {split.pk: split for split in splits}
    for split in known.values():
        split.dataset = dataset
        split.parent = known.get(split.parent_id) if split.parent_id else None
        split.reference = known.get(split.reference_id) if split.reference_id else None
    return list(known.values())


def split_json(split: Split) -> dict[str, Any]:
    """Return what is said of a split to whoever may open its dataset."""
    kept = ("name", "kind", "state", "withheld", "opened", "scenes", "questions", "fingerprint")
    return {name: getattr(split, name) for name in kept} | {
        "parent": split.parent.name if split.parent is not None else None,
        "reference": split.reference.name if split.reference is not None else None,
        "url": split_url(split),
        "page": split.get_absolute_url(),
    }


def split_url(split: Split) -> str:
    """Return where programs ask for more of a split."""
    return f"/api/v1/datasets/{split.dataset.slug}/splits/{split.name}/"


def _vocabulary(split: Split) -> list[str]:
    """Return every answer that there is; nothing of a world that this program does not have."""
    try:
        return list(split.dataset.get_world().answers(split.read_spec()))
    except EngineError:
        return []


def _facets(user: Visitor, split: Split) -> list[dict[str, Any]]:
    if not split.is_complete:
        return []
    return [
        {"name": one.name, "label": one.label, "kind": one.kind, "values": list(one.values), "reveals": one.reveals}
        for one in visible_facets(user, split, SplitIndex.open(split))
    ]
