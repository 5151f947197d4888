"""Views of boards: the list, the board of a split, and its table as a file."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.access import What, is_withheld, may_mention, may_see, owns
from generation.models import Split
from generation.site_addresses import site_address
from generation.splits.query_string import BadAddress, QueryString, shorten
from webapp.leaderboards import baselines
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.board_lookup import boards_for, find_board
from webapp.leaderboards.boards import ACCURACY, ASKED, Board, BoardRequest, board_of, made_of, sorts_of
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.entries import BEST, CHOICES
from webapp.leaderboards.models import Method, Submission, Suite
from webapp.leaderboards.replies.coverage import least_coverage
from webapp.leaderboards.training.orders import may_train

A_PAGE = 40
BAD, ABSENT = 400, 404
LONGEST = 100  # characters of a search


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
    """Return a split's board: `?show=latest&made=trained&sort=date&q=word` select and order the rows."""
    split = find_board(request.user, slug, name)
    context: dict[str, Any] = {"split": split, "dataset": split.dataset}
    try:
        wanted = _wanted(request)
        found, sorts = _sorted(request, split, wanted)
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
        "query": request.GET.urlencode(),
        "about": [(row, baselines.describe(row.entry.method)) for row in found.rows if row.entry.is_site_baseline],
        "under_way": _under_way(request.user, split),
        "is_limited": is_withheld(split),
        "derived": _related_splits(split),
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
        found, _ = _sorted(request, split, _wanted(request))
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


def _wanted(request: HttpRequest) -> BoardRequest:
    """Return which rows a URL asks for; raise `BadAddress` for unknown parameters or values."""
    asked = QueryString.of(request)
    asked.check_names(ASKED)
    choose, sort = asked.value("show", BEST), asked.value("sort", ACCURACY)
    made, words = tuple(asked.values("made")), asked.value("q")
    if choose not in CHOICES:
        raise BadAddress(f"Expected to show one of {', '.join(CHOICES)}, got {shorten(choose)}.")
    unknown = [value for value in made if value not in Method.Made.values]
    if unknown:
        raise BadAddress(f"Expected one of the types {', '.join(Method.Made.values)}, got {shorten(unknown[0])}.")
    if len(words) > LONGEST or "\0" in words:
        raise BadAddress(f"Expected at most {LONGEST} characters to search for, got a longer text or other characters.")
    return BoardRequest(choose, made, sort, words)


def _under_way(user: Any, split: Split) -> list[Submission]:
    if not user.is_authenticated:
        return []
    return list(Submission.objects.under_way().filter(method__owner=user.pk, split=split).select_related("method"))


def _related_splits(split: Split) -> list[Split]:
    # The boards of these splits show the same submissions.
    if split.parent is not None:
        return [split.parent]
    return list(split.derived.filter(state=Split.State.COMPLETE).select_related("dataset").order_by("ordinal")[:20])
