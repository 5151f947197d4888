"""API of boards of splits and suites."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router

from generation.access import may_see_exact_figures
from generation.browsing.sidebar import page_of
from generation.splits.query_string import BadAddress, QueryString, read_query, shorten
from webapp.api.openapi_operations import reads
from webapp.api.pagination import PAGE, page_json
from webapp.api.schemas import submissions as shapes
from webapp.api.schemas.common import PageOut
from webapp.leaderboards import suites as suite_boards
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.board_lookup import find_board, find_suite
from webapp.leaderboards.boards import board_of
from webapp.leaderboards.models import SavedView, Suite
from webapp.leaderboards.ranking.board_orders import read_request, sorts_of
from webapp.leaderboards.ranking.board_rows import ASKED
from webapp.leaderboards.views.submissions import template_file

router = Router(tags=["Boards"])
BOARD = "boards/{slug:slug}/{split:name}/"
Show = Literal["best", "latest", "each", "all"]
Made = Literal["zero-shot", "few-shot", "trained", "elsewhere", "baseline", "human"]


@reads(router, BOARD, shapes.BoardOut)
def board(
    request: HttpRequest,
    slug: str,
    name: str,
    show: Show = "best",
    made: Query[list[Made]] = (),  # type: ignore[assignment]
    sort: str = "",
    q: str = "",
    ranks: Literal["", "0", "1"] = "",
    weights: str = "",
) -> dict[str, Any]:
    """Return a split's board: `show` says which of a method's submissions, `made` and `q` which methods.

    `ranks=1` adds the interval of ranks of each row. `weights=type:count=2,exist=0.5` gives weights to the values of a
    facet and sorts by the weighted accuracy.
    """
    split = find_board(request.user, slug, name)
    QueryString.of(request).check_names(ASKED)
    wanted = read_request(
        request.user, split, choose=show, made=made, sort=sort, words=q, has_ranks=ranks == "1", weights=weights
    )
    found = board_of(request.user, split, wanted)
    if wanted.sort not in dict(sorts_of(found)):
        raise BadAddress(f"Expected to sort by one of {', '.join(dict(sorts_of(found)))}, got {shorten(sort)}.")
    return dict(downloads.of_board(found, site="").data)


@reads(router, f"{BOARD}template.jsonl", media=["application/x-ndjson"])
def template(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Return a template of predictions with one line for each question."""
    return template_file(request, slug, name, "jsonl")


@reads(router, f"{BOARD}views/", PageOut[shapes.SavedViewOut], parameters=[PAGE])
def board_views(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return a page of the board's saved views that you may see, your own first."""
    split = find_board(request.user, slug, name)
    rows = SavedView.objects.for_board(request.user, split, is_open=may_see_exact_figures(request.user, split))
    page = page_of(read_query(QueryString.of(request).pairs, facets=()), rows.count(), of="views")
    return page_json(request, page, [_view_json(one) for one in rows[page.start : page.stop]])


@reads(router, "suites/", PageOut[shapes.SuiteOut], parameters=[PAGE])
def suites(request: HttpRequest) -> dict[str, Any]:
    """Return a page of the suites that you may see in lists."""
    rows = Suite.objects.visible_to(request.user).order_by("title", "pk")
    page = page_of(read_query(QueryString.of(request).pairs, facets=()), rows.count(), of="suites")
    return page_json(request, page, [_suite_json(one) for one in rows[page.start : page.stop]])


@reads(router, "suites/{slug:slug}/", shapes.SuiteBoardOut)
def suite(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Return a suite's board: a column for each split that you may see, their mean, and named gaps."""
    return dict(downloads.of_suite(suite_boards.board_of(request.user, find_suite(request.user, slug)), site="").data)


def _suite_json(one: Suite) -> dict[str, Any]:
    return {
        "slug": one.slug,
        "title": one.title,
        "description": one.description,
        "url": f"/api/v1/suites/{one.address_name}/",
        "page": one.get_absolute_url(),
    }


def _view_json(view: SavedView) -> dict[str, Any]:
    return {
        "name": view.name,
        "owner": view.owner.get_username(),
        "page": view.page_text,
        "address": view.get_absolute_url(),
        "is_public": view.is_public,
        "created": view.created.isoformat(),
    }
