"""Views of boards: the list, the board of a split, and its table as a file."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from generation.access import What, is_withheld, may_mention, may_see, owns
from generation.models import Split
from generation.site_addresses import site_address
from generation.splits.query_string import BadAddress, QueryString, shorten
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import baselines
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.board_lookup import boards_for, find_board
from webapp.leaderboards.boards import board_of
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.entries import BEST, CHOICES
from webapp.leaderboards.models import Method, SavedView, Submission, Suite
from webapp.leaderboards.ranking import slice_weights
from webapp.leaderboards.ranking.board_orders import made_of, read_request, sorts_of
from webapp.leaderboards.ranking.board_rows import ASKED, RANKS, Board, BoardRequest
from webapp.leaderboards.ranking.slice_weights import AS_IN_SPLIT, EQUAL, FACET, WEIGHTS
from webapp.leaderboards.replies.coverage import least_coverage
from webapp.leaderboards.training.orders import may_train

A_PAGE = 40
BAD, ABSENT = 400, 404
LONGEST = 100  # characters of a search
MOST_VIEWS = 12  # saved views that a board lists


@require_safe
def boards(request: HttpRequest) -> HttpResponse:
    """Return the list of boards that this visitor may see, those with the most methods first."""
    page = Paginator(boards_for(request.user), A_PAGE).get_page(request.GET.get("page"))
    shown = [split for split in page.object_list if may_see(request.user, split, What.QUESTION)]
    context = {
        "page": page,
        "splits": shown,
        "suites": Suite.objects.visible_to(request.user).order_by("title", "pk")[:A_PAGE],
    }
    return render(request, "leaderboards/boards.html", context)


@require_safe
def board(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return a split's board: `?show=latest&made=trained&sort=date&q=word` select and order the rows.

    `ranks=1` adds the interval of ranks of each row, and `weights=type:count=2` ranks the rows by weighted slices.
    """
    split = find_board(request.user, slug, name)
    context: dict[str, Any] = {"split": split, "dataset": split.dataset}
    asked = QueryString.of(request)
    joined = slice_weights.join_weights(asked)
    if joined != asked:  # the form of weights sends a field for each value
        return redirect(f"{request.path}{joined}")
    try:
        wanted = _wanted(request, split, beside=(FACET,))
        found, sorts = _sorted(request, split, wanted)
        weights_form = _weights_form(request, found)
    except BadAddress as error:
        return render(request, "generation/refused.html", {**context, "message": str(error)}, status=BAD)
    context |= {
        "board": found,
        "is_open": found.is_open,
        "has_metrics": bool(found.metrics),
        "owns": owns(request.user, split.dataset),
        "may_train": may_train(request.user, split.dataset),
        "plan": None if found.is_open else disclosure_budget.plan_of(split),
        "is_named": may_mention(request.user, split.dataset),
        "wanted": wanted,
        "choices": CHOICES.items(),
        "sorts": sorts,
        "made": made_of(),
        "query": urlencode(asked.without(FACET).pairs),
        **weights_form,
        "about": [(row, baselines.describe(row.entry.method)) for row in found.rows if row.entry.is_site_baseline],
        "under_way": _under_way(request.user, split),
        "is_limited": is_withheld(split),
        "derived": _related_splits(split),
        "saved_views": list(SavedView.objects.for_board(request.user, split, is_open=found.is_open)[:MOST_VIEWS]),
        "least_coverage": least_coverage(split),
    }
    return render(request, "leaderboards/board.html", context)


@require_safe
def board_file(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    """Return a board as CSV, JSON or LaTeX, with the rows and the order of the URL."""
    split = find_board(request.user, slug, name)
    context: dict[str, Any] = {"split": split, "dataset": split.dataset}
    if kind not in downloads.KINDS:
        context["message"] = f"Expected one of {', '.join(downloads.KINDS)}, got {shorten(kind)}."
        return render(request, "generation/refused.html", context, status=ABSENT)
    try:
        found, _ = _sorted(request, split, _wanted(request, split))
    except BadAddress as error:
        return render(request, "generation/refused.html", {**context, "message": str(error)}, status=BAD)
    site = site_address(request)
    return downloads.response(downloads.of_board(found, site=site), kind=kind, name=f"{slug}-{name}-board")


def _sorted(request: HttpRequest, split: Split, wanted: BoardRequest) -> tuple[Board, list[tuple[str, str]]]:
    """Return a board and its possible orders; raise `BadAddress` if the wanted order is not one of them."""
    found = board_of(request.user, split, wanted)
    sorts = sorts_of(found)
    if wanted.sort not in dict(sorts):
        raise BadAddress(f"Expected to sort by one of {', '.join(dict(sorts))}, got {shorten(wanted.sort)}.")
    return found, sorts


def _wanted(request: HttpRequest, split: Split, *, beside: Sequence[str] = ()) -> BoardRequest:
    """Return which rows a URL asks for; raise `BadAddress` for unknown parameters or values."""
    asked = QueryString.of(request)
    asked.check_names((*ASKED, *beside))
    choose, made, words = asked.value("show", BEST), asked.values("made"), asked.value("q")
    if choose not in CHOICES:
        raise BadAddress(f"Expected to show one of {', '.join(CHOICES)}, got {shorten(choose)}.")
    unknown = [value for value in made if value not in Method.Made.values]
    if unknown:
        raise BadAddress(f"Expected one of the types {', '.join(Method.Made.values)}, got {shorten(unknown[0])}.")
    if len(words) > LONGEST or "\0" in words:
        raise BadAddress(f"Expected at most {LONGEST} characters to search for, got a longer text or other characters.")
    return read_request(
        request.user,
        split,
        choose=choose,
        made=made,
        sort=asked.value("sort"),
        words=words,
        has_ranks=bool(asked.value(RANKS)) and bool(asked.switch(RANKS)),
        weights=asked.value(WEIGHTS),
    )


def _weights_form(request: HttpRequest, found: Board) -> dict[str, Any]:
    """Return the facets that can have weights, the fields of the chosen one, and links.

    Raises `BadAddress` if the chosen facet has no weights.
    """
    if not found.is_open:
        return {}
    user, split, asked = request.user, found.split, QueryString.of(request)
    index = SplitIndex.open(split)
    facets, name = slice_weights.weighable(user, split, index), asked.value(FACET)
    fields = found.weights
    if name and (fields is None or fields.facet != name):
        fields = slice_weights.weights_of_facet(user, split, index, name)
    kept = asked.without(FACET, WEIGHTS, "sort").pairs  # the order by weighted accuracy is the usual one with weights
    ready = [] if fields is None else [("each value equally", EQUAL), ("as in the split", AS_IN_SPLIT)]
    return {
        "weighable": facets,
        "weight_fields": fields,
        "edits_weights": bool(name),
        "ready_weights": [
            (label, urlencode([*kept, (WEIGHTS, f"{fields.facet}:{value}")])) for label, value in ready if fields
        ],
        "kept_with_weights": kept,
        "without_weights": urlencode(kept),
    }


def _under_way(user: Any, split: Split) -> list[Submission]:
    if not user.is_authenticated:
        return []
    return list(Submission.objects.under_way().filter(method__owner=user.pk, split=split).select_related("method"))


def _related_splits(split: Split) -> list[Split]:
    # The boards of these splits show the same submissions.
    if split.parent is not None:
        return [split.parent]
    return list(split.derived.filter(state=Split.State.COMPLETE).select_related("dataset").order_by("ordinal")[:20])
