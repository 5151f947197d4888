"""Headers of every response to participants, error pages included."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from annotations.urls import TAKING


class PrivateAddresses:
    """Middleware: responses to participants are not cached, and their addresses are not sent as referrer.

    These addresses contain the participant's secret, or on the first visit the platform's name for them. This
    middleware comes before all others except the request log, so that it also covers responses that other middleware
    makes.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path_info.startswith(f"/{TAKING}"):
            response.setdefault("Cache-Control", "no-store")
            response["Referrer-Policy"] = "no-referrer"
        return response
