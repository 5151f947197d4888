"""What every answer to participants says, whoever makes it: the site's own pages for errors, too."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from annotations.urls import TAKING


class PrivateAddresses:
    """Middleware: nobody keeps an answer to a participant, and no address of one is sent on.

    Their addresses hold what only they know; a first visit's has what a platform calls them. It comes before all other
    middleware, so that what these answer by themselves is meant as well.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the site's answer."""
        response = self.get_response(request)
        if request.path_info.startswith(f"/{TAKING}"):
            response.setdefault("Cache-Control", "no-store")
            response["Referrer-Policy"] = "no-referrer"
        return response
