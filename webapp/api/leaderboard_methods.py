"""API of methods, which make predictions."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from generation.browsing.sidebar import page_of
from generation.splits.query_string import QueryString, read_query
from webapp.api.errors import Problem
from webapp.api.openapi_operations import changes, reads
from webapp.api.pagination import PAGE, page_json
from webapp.api.schemas import submissions as shapes
from webapp.api.schemas.common import PageOut
from webapp.leaderboards.board_lookup import find_method
from webapp.leaderboards.forms import MethodForm
from webapp.leaderboards.models import Method

router = Router(tags=["Methods"])
SAID = ("name", "made", "shots", "description", "link", "model", "model_date", "prompt", "anonymous")


@reads(router, "methods/", PageOut[shapes.MethodOut], parameters=[PAGE])
def methods(request: HttpRequest) -> dict[str, Any]:
    """Return a page of the methods that you may see, the latest first; baselines are not listed."""
    rows = Method.objects.visible_to(request.user).filter(baseline="").for_list()
    page = page_of(read_query(QueryString.of(request).pairs, facets=()), rows.count(), of="methods")
    return page_json(request, page, [method_json(one) for one in rows[page.start : page.stop]])


@reads(router, "methods/{position:number}/", shapes.MethodOut)
def method(request: HttpRequest, number: int) -> dict[str, Any]:
    """Return a method."""
    return method_json(find_method(request.user, number))


@changes(router, "methods/", {201: shapes.MethodOut})
def new_method(request: HttpRequest, said: shapes.NewMethod) -> Any:
    """Create a method; it is private until you publish it on its page."""
    form = MethodForm(said.dict(), owner=request.user)
    made = form.save_if_valid()
    if made is None:
        raise unfit(form)
    return Status(201, method_json(made))


def method_json(one: Method) -> dict[str, Any]:
    """Return a method as JSON data for users who may see it."""
    return {name: getattr(one, name) for name in SAID} | {
        "id": one.pk,
        "by": one.by,
        "is_public": one.is_public,
        "created": one.created,
        "url": f"/api/v1/methods/{one.pk}/",
        "page": one.get_absolute_url(),
    }


def unfit(form: Any) -> Problem:
    fields = [{"where": name, "message": str(reason)} for name, reasons in form.errors.items() for reason in reasons]
    return Problem(422, " ".join(f"{one['where']}: {one['message']}" for one in fields), details={"fields": fields})
