"""The list of a split's questions, filtered by the address, with each scene beside its questions."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation import extension_points
from generation.access import Visitor, What, may_see, owns
from generation.browsing.import_report import absent_of
from generation.browsing.keyboard import BROWSE
from generation.browsing.navigation import (
    PICKING,
    PRESENT,
    address_of,
    in_order,
    is_remembered,
    read_choice,
    read_filters,
    visible_facets,
)
from generation.browsing.pictures import Picture, picture_of
from generation.browsing.sidebar import OPEN, Chip, NoSuchPage, chips, page_of, panels
from generation.browsing.stories import Beginning, beginnings
from generation.models import Job, Question, Split
from generation.site_addresses import site_address
from generation.splits.query_string import (
    MOST,
    PAGE,
    BadAddress,
    Query,
    QueryString,
    check_names,
    join_ranges,
    sortable,
)
from generation.splits.question_sets import describe_recipe
from generation.storage import items
from generation.storage.split_index import IndexedFacet, SplitIndex, counts_of_all
from generation.views.access_checks import find_split, refuse


class SceneGroup(NamedTuple):
    """A scene with its questions on the page."""

    scene: int
    picture: Picture | None
    story: Beginning | None
    questions: list[Question]


@require_safe
def browse(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return one page of the questions that match the address."""
    split = find_split(request.user, slug, name)
    if not split.is_complete:
        return render(request, "generation/split_unfinished.html", _unfinished(request, split))
    index = SplitIndex.open(split)
    asked = QueryString.of(request)
    opened = [value for _, value in asked.only(OPEN).pairs]
    narrowed = asked.without(OPEN, *PICKING)
    joined = join_ranges(narrowed)
    try:
        choice = read_choice(asked, questions=split.questions)
        filters = read_filters(joined, user=request.user, split=split, index=index, is_sortable=True)
        if choice.leads_on:
            return HttpResponseRedirect(address_of(split, choice.positions, presents=choice.then == PRESENT))
        query = filters.with_chosen(choice.positions)
        if joined != narrowed or choice.then:
            return HttpResponseRedirect(query.address)
        check_names(opened, index.facets)
        return _page(request, split, index=index, query=query, opened=opened)
    except BadAddress as error:
        return refuse(request, split, str(error), status=400)
    except NoSuchPage as error:
        return refuse(request, split, str(error), status=404)


def _page(
    request: HttpRequest,
    split: Split,
    *,
    index: SplitIndex,
    query: Query,
    opened: Sequence[str],
) -> HttpResponse:
    facets = visible_facets(request.user, split, index)
    found = index.find(query.filters, query.each_word)
    page = page_of(query, len(found.positions))
    shown = in_order(index, query, found.positions)[page.start : page.stop].tolist()
    questions = items.questions_at(split, shown)
    context = {
        "split": split,
        "path": request.path,
        "kept": query.with_words("").pairs,
        "beside": _beside(query, shown),
        "dataset": split.dataset,
        "query": query,
        "page": page,
        "groups": _grouped(questions, split, user=request.user),
        "panels": panels(
            facets,
            counts=found.counts(),
            query=query,
            of_all=counts_of_all(split.index_digest, split.seen_digest),
            opened=opened,
        ),
        "most": MOST,
        "sorts": _sorts(facets, query),
        "unsorted": replace(query, order=None).pairs,
        "chips": chips(query),
        "trail": query.trail,
        "chosen": _chosen(query),
        "shared": site_address(request) + address_of(split, list(query.chosen)) if query.chosen else "",
        "shortcuts": BROWSE,
        "of_all": index.n,
        "absent": absent_of(split),
        "owns": owns(request.user, split.dataset),
        "links": extension_points.links_for(split, query.filter_address.removeprefix("?"))
        if found.positions.size
        else [],
        "actions": extension_points.actions_for(request.user, split),
        "notes": extension_points.notes_on_splits(request.user, [split]).get(split.pk, []),
        "said": describe_recipe(split) if split.is_derived else "",
        "answers_open": (answers_open := may_see(request.user, split, What.ANSWER)),
        "shows_answers": answers_open and not is_remembered(request.COOKIES),
    }
    return render(request, "generation/browse.html", context)


class SortChoice(NamedTuple):
    value: str  # in the address
    label: str
    is_on: bool


def _sorts(facets: Sequence[IndexedFacet], query: Query) -> list[SortChoice]:
    """Return the ways to sort; none if the split has no numeric facets."""
    on = "" if query.order is None else query.order.value
    ways = [
        SortChoice(sign + facet.name, f"{facet.label}, {first} first", on == sign + facet.name)
        for facet in sortable(facets)
        for sign, first in (("", "lowest"), ("-", "highest"))
    ]
    return [SortChoice("", "question number", not on), *ways] if ways else []


def _unfinished(request: HttpRequest, split: Split) -> dict[str, Any]:
    """Return the context for a split that cannot be browsed yet. Only its owner sees why it failed."""
    is_own = owns(request.user, split.dataset)
    failed = split.jobs.filter(state=Job.State.FAILED).first() if split.is_derived and is_own else None
    return {
        "split": split,
        "dataset": split.dataset,
        "owns": is_own,
        "said": describe_recipe(split) if split.is_derived else "",
        "trouble": failed.message if failed is not None else "",
    }


def _beside(query: Query, shown: Collection[int]) -> list[tuple[str, str]]:
    elsewhere = query.with_chosen(position for position in query.chosen if position not in shown)
    return [*elsewhere.pairs, *([(PAGE, str(query.page))] if query.page > 1 else [])]


def _chosen(query: Query) -> list[Chip]:
    """Return the selected questions, each with the address without it."""
    return [
        Chip("question", str(position), query.with_chosen(other for other in query.chosen if other != position).address)
        for position in query.chosen
    ]


def _grouped(questions: Sequence[Question], split: Split, *, user: Visitor) -> list[SceneGroup]:
    """Return questions in order, grouped by scene."""
    with_pictures, with_stories = may_see(user, split, What.IMAGE), may_see(user, split, What.STORY)
    stories = beginnings([question.scene for question in questions], split) if with_stories else {}
    groups = []
    for scene, theirs in groupby(questions, key=lambda question: question.scene):
        picture = picture_of(scene, split, small=True) if with_pictures else None
        groups.append(SceneGroup(scene.position, picture, stories.get(scene.position), list(theirs)))
    return groups
