"""The questions of a split, by filters that stand in the address, each scene beside its questions."""

import functools
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.browse import BadAddress, Query, ranges_joined, read_query
from generation.index import IndexedFacet, SplitIndex, open_digest
from generation.models import Question, Split
from generation.paging import NoSuchPage, page_of
from generation.pictures import Picture, picture_of
from generation.shortcuts import BROWSE
from generation.sidebar import Counts, chips, panels
from generation.trail import visible_facets
from generation.views.finding import find_split, pairs_of, refuse
from generation.visit import is_remembered
from webapp.access import What, may_see


class Group(NamedTuple):
    """A scene with those of its questions that are on the page."""

    scene: int
    picture: Picture | None
    questions: list[Question]


@require_safe
def browse(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return one page of the questions that the address asks for."""
    split = find_split(request.user, slug, name)
    if not split.is_complete:
        return render(request, "generation/split_unfinished.html", {"split": split, "dataset": split.dataset})
    index = SplitIndex.open(split)
    facets = visible_facets(request.user, split, index)
    pairs, has_range_fields = ranges_joined(pairs_of(request))
    try:
        query = read_query(pairs, facets=facets, hidden=list(index.facets.values()))
        if has_range_fields:
            return HttpResponseRedirect(query.address)
        return _page(request, split, index=index, facets=facets, query=query)
    except BadAddress as error:
        return refuse(request, split, str(error), status=400)
    except NoSuchPage as error:
        return refuse(request, split, str(error), status=404)


def _page(
    request: HttpRequest, split: Split, *, index: SplitIndex, facets: Sequence[IndexedFacet], query: Query
) -> HttpResponse:
    """Return the page of a query."""
    found = index.find(query.filters, query.each_word)
    page = page_of(query, len(found.positions))
    questions = Question.objects.for_browse(split, found.positions[page.start : page.stop].tolist())
    context = {
        "split": split,
        "path": request.path,
        "kept": query.with_words("").pairs,
        "dataset": split.dataset,
        "query": query,
        "page": page,
        "groups": _grouped(questions, split),
        "panels": panels(
            facets,
            counts=found.counts(),
            query=query,
            of_all=counts_of_all(split.index_digest),
        ),
        "chips": chips(query),
        "trail": "" if query.is_plain else query.on_page(1).address,
        "shortcuts": BROWSE,
        "of_all": index.n,
        "answers_open": (answers_open := may_see(request.user, split, What.ANSWER)),
        "shows_answers": answers_open and not is_remembered(request.COOKIES),
    }
    return render(request, "generation/browse.html", context)


@functools.lru_cache(maxsize=64)
def counts_of_all(index_digest: str) -> Counts:
    """Return how many questions of a sealed split have each value of each facet; counted once a process."""
    return open_digest(index_digest).counts({})


def _grouped(questions: Sequence[Question], split: Split) -> list[Group]:
    """Return questions in their order, those of one scene together."""
    return [
        Group(scene.position, picture_of(scene, split, small=True), list(theirs))
        for scene, theirs in groupby(questions, key=lambda question: question.scene)
    ]
