"""Sets the headers of all responses to participants, including error pages."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from annotations.urls import TAKING


class PrivateAddresses:
    """Middleware: prevents caching of responses to participants, and sending of their addresses as referrer.

    These addresses contain the participant's secret or, on the first visit, the platform's name for the participant.
    This middleware comes before all others except the request log, so that it also sets the headers of responses that
    other middleware creates. A response that sets `Cache-Control` itself keeps it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path_info.startswith(f"/{TAKING}"):
            response.setdefault("Cache-Control", "no-store")
            response["Referrer-Policy"] = "no-referrer"
        return response
