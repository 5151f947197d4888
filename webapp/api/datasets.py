"""API of datasets and their splits."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from ninja import Router

from generation.access import Visitor, What, is_researcher, may_see
from generation.browsing.dataset import cards_of, read_list_query
from generation.browsing.navigation import visible_facets
from generation.engine.errors import EngineError
from generation.models import Dataset, FreshTwin, Split
from generation.splits.query_string import Query, QueryString
from generation.storage.split_index import SplitIndex
from generation.views.access_checks import find_dataset, find_split
from webapp.api.openapi_operations import reads
from webapp.api.pagination import PAGE, WORDS, filter_of, page_json
from webapp.api.schemas import common
from webapp.leaderboards.fresh_twins.listing import source_name

router = Router(tags=["Datasets"])
KEPT = (
    *("slug", "title", "description", "licence", "version", "citation", "world", "state", "visibility"),
    *("created", "completed", "fingerprint", "engine_version", "release", "with_images"),
)
LISTED = [WORDS, *(filter_of(name) for name in ("world", "state", "visibility")), PAGE]


@reads(router, "account/", common.Account, accounts=True)
def account(request: HttpRequest) -> dict[str, Any]:
    """Return the account of the token or session."""
    user: Any = request.user
    return {
        "username": user.username,
        "name": user.get_full_name(),
        "is_researcher": is_researcher(user),
        "is_staff": user.is_staff,
    }


@reads(router, "datasets/", common.PageOut[common.DatasetOut], parameters=LISTED)
def datasets(request: HttpRequest) -> dict[str, Any]:
    """Return a page of the datasets that you may see in lists, newest first; filters as on the page of datasets."""
    query: Query = read_list_query(QueryString.of(request))
    cards, page = cards_of(request.user, query)
    return page_json(request, page, [dataset_json(card.dataset, card.dataset.splits.all()) for card in cards])


@reads(router, "datasets/{slug:slug}/", common.DatasetOut)
def dataset(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Return a dataset with its splits, including question sets."""
    found = find_dataset(request.user, slug)
    return dataset_json(found, found.splits.for_browse())


@reads(router, "datasets/{slug:slug}/splits/{split:name}/", common.SplitInFull)
def split(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return a split with its vocabulary of answers, and the facets that you may filter by."""
    found = find_split(request.user, slug, name)
    url = split_url(found)
    full = {
        **_vocabulary(found),
        "facets": _facets(request.user, found),
        "questions_url": f"{url}questions/",
        "scenes_url": f"{split_url(found.source)}scenes/",
        "questions_file": f"{url}questions.jsonl.gz",
        "twin_of": source_name(request.user, found),
        "fresh_twins": [str(twin.split) for twin in FreshTwin.objects.complete_for(request.user, found)],
    }
    if found.dataset.with_images and may_see(request.user, found, What.IMAGE):
        full["images_file"] = f"{url}images.tar"
    if shows_steps(request.user, found):
        full["steps_file"] = f"{url}steps.jsonl.gz"
    return split_json(found) | full


def shows_steps(user: Visitor, split: Split) -> bool:
    return all(may_see(user, split, what) for what in (What.ANSWER, What.PROGRAM, What.SCENE))


def dataset_json(dataset: Dataset, splits: Iterable[Split]) -> dict[str, Any]:
    """Return a dataset as JSON data for users who may open it."""
    return {name: getattr(dataset, name) for name in KEPT} | {
        "authors": [line.strip() for line in dataset.authors.splitlines() if line.strip()],
        "splits": [split_json(split) for split in _in_place(dataset, splits)],
        "url": f"/api/v1/datasets/{dataset.slug}/",
        "page": dataset.get_absolute_url(),
    }


def _in_place(dataset: Dataset, splits: Iterable[Split]) -> list[Split]:
    """Return splits linked with their dataset and one another, which saves database queries."""
    known = {split.pk: split for split in splits}
    for split in known.values():
        split.dataset = dataset
        split.parent = known.get(split.parent_id) if split.parent_id else None
        split.reference = known.get(split.reference_id) if split.reference_id else None
    return list(known.values())


def split_json(split: Split) -> dict[str, Any]:
    """Return a split as JSON data for users who may open its dataset."""
    kept = ("name", "kind", "state", "withheld", "opened", "scenes", "questions", "fingerprint")
    return {name: getattr(split, name) for name in kept} | {
        "parent": split.parent.name if split.parent is not None else None,
        "reference": split.own_reference.name if split.own_reference is not None else None,
        "url": split_url(split),
        "page": split.get_absolute_url(),
    }


def split_url(split: Split) -> str:
    return f"/api/v1/datasets/{split.dataset.slug}/splits/{split.name}/"


def _vocabulary(split: Split) -> dict[str, Any]:
    """Return all possible answers, and other words for them; empty if this release does not have the split's world."""
    try:
        world, spec = split.dataset.get_world(), split.read_spec()
        return {"answers": list(world.answers(spec)), "synonyms": dict(world.synonyms(spec))}
    except EngineError:
        return {"answers": [], "synonyms": {}}


def _facets(user: Visitor, split: Split) -> list[dict[str, Any]]:
    if not split.is_complete:
        return []
    return [
        {"name": one.name, "label": one.label, "kind": one.kind, "values": list(one.values), "reveals": one.reveals}
        for one in visible_facets(user, split, SplitIndex.open(split))
    ]
