"""Turns functions into operations of the API: access, response schemas, and descriptions."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers
from ninja import Router

from generation.access import Uploads
from webapp.api.authentication import ACCOUNTS, EVERYBODY
from webapp.api.errors import Problem
from webapp.api.schemas.common import ErrorBody

View = Callable[..., Any]

ERRORS = {
    "4XX": {
        "description": "What is wrong with the request.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
    }
}


def reads(
    router: Router,
    path: str,
    answer: Any = None,
    *,
    media: Sequence[str] = (),
    parameters: Sequence[dict[str, Any]] = (),
    accounts: bool = False,
) -> Callable[[View], View]:
    """Return a decorator that makes a function answer GET and HEAD.

    Parameters
    ----------
    router : Router
    path : str
    answer : schema, optional
        The schema of the JSON response. Unset fields are omitted.
    media : sequence of str
        Media types of a response that is a file.
    parameters : sequence of dict
        OpenAPI descriptions of the query parameters that the function reads itself.
    accounts : bool
        Whether only accounts may call it.
    """
    described: dict[str, Any] = {"responses": dict(ERRORS), "parameters": [dict(one) for one in parameters]}
    if media:
        binary = {"schema": {"type": "string", "format": "binary"}}
        described["responses"]["200"] = {"description": "The file.", "content": dict.fromkeys(media, binary)}
    options: dict[str, Any] = {"auth": ACCOUNTS if accounts else EVERYBODY, "exclude_unset": True}

    def operation(view: View) -> View:
        shapes = {404: ErrorBody} if answer is None else {200: answer, 404: ErrorBody}
        router.api_operation(["HEAD"], path, response=shapes, include_in_schema=False, **options)(view)
        router.get(path, response=shapes, url_name=view.__name__, openapi_extra=described, **options)(view)
        return view

    return operation


def changes(router: Router, path: str, answers: dict[int, Any]) -> Callable[[View], View]:
    """Return a decorator that makes a function answer POST requests of accounts with these schemas, by status."""

    def operation(view: View) -> View:
        described = {"responses": dict(ERRORS)}
        shapes = {**answers, 404: ErrorBody}
        options: dict[str, Any] = {"auth": ACCOUNTS, "exclude_unset": True, "url_name": view.__name__}
        router.post(path, response=shapes, openapi_extra=described, **options)(view)
        return view

    return operation


def described_view(view: View) -> View:
    """Return a view of the API whose responses are private, and which refuses other methods in the API's form."""

    @functools.wraps(view)
    def answer(request: HttpRequest, *args: Any, **parts: Any) -> HttpResponseBase:
        response: HttpResponseBase = view(request, *args, **parts)
        if response.status_code == 405:
            allowed = ", ".join(sorted(response.headers["Allow"].split(", ")))
            message = f"Expected {allowed}, got {request.method}."
            response = Problem(405, message, headers={"Allow": allowed}).response
        response.setdefault("Cache-Control", "private, no-cache")
        patch_vary_headers(response, ["Authorization", "Cookie"])
        return response

    return answer


def upload_views(routers: Iterable[Router]) -> dict[str, Uploads]:
    """Return the upload settings of the operations by the names of their URLs."""
    found = {}
    for router in routers:
        for view in router.path_operations.values():
            for operation in view.operations:
                if hasattr(operation.view_func, "takes_uploads"):
                    found[str(view.url_name)] = operation.view_func.takes_uploads
    return found
