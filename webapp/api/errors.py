"""Errors of the API, all in one form: `{"error": {"code", "message", "details"}}`."""

import math
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from generation.browsing.sidebar import NoSuchPage
from generation.splits.query_string import BadAddress

BEGINS = "/api/"
CODES = {
    400: "bad_request",
    401: "not_signed_in",
    403: "not_allowed",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    412: "changed",
    413: "too_large",
    416: "no_such_range",
    422: "invalid",
    429: "too_many_requests",
    500: "our_mistake",
    503: "away",
}
BEARER = {"WWW-Authenticate": "Bearer"}
NOTHING = "There is nothing at this address. The list of addresses is at /api/v1/docs"
NO_TOKEN = "Expected a token (Authorization: Bearer hs_...) or a session, got neither."  # noqa: S105 - a message


class Problem(Exception):
    """A refused request: status and code for programs, a message for users, and details for both."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code or CODES[status]
        self.details, self.headers = dict(details or {}), dict(headers or {})

    @property
    def response(self) -> HttpResponse:
        error = {"code": self.code, "message": self.message, "details": self.details}
        return JsonResponse({"error": error}, status=self.status, headers=self.headers)


def too_many(message: str, *, wait: float) -> Problem:
    seconds = max(1, math.ceil(wait))
    return Problem(429, message, details={"retry_after": seconds}, headers={"Retry-After": str(seconds)})


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith(BEGINS)


def handle_errors(api: NinjaAPI) -> None:
    # Unexpected errors go to the site's own handlers.
    for kind in (Problem, Http404, NoSuchPage, BadAddress, PermissionDenied, HttpError, ValidationError):
        api.add_exception_handler(kind, _answer)


def _answer(request: HttpRequest, error: Any) -> HttpResponse:
    return problem_of(error).response


def problem_of(error: Exception) -> Problem:
    """Return the API's error for an exception of this project, of Django or of ninja."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, ValidationError):
        return _invalid(error)
    if isinstance(error, AuthenticationError):
        return Problem(401, NO_TOKEN, headers=BEARER)
    if isinstance(error, HttpError):
        return Problem(error.status_code, str(error))
    if isinstance(error, PermissionDenied):
        return Problem(403, str(error))
    return Problem(400 if isinstance(error, BadAddress) else 404, str(error) or NOTHING)


def _invalid(error: ValidationError) -> Problem:
    fields = [{"where": ".".join(map(str, one["loc"])), "message": str(one["msg"])} for one in error.errors]
    said = "; ".join(f"{one['where']}: {one['message']}" for one in fields)
    return Problem(422, f"Expected valid parameters, got errors: {said}.", details={"fields": fields})
