"""Texts are sent compressed: pages, styles, scripts, JSON, drawings."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS = ("text/", "application/json", "application/javascript", "image/svg+xml")


class CompressTexts(GZipMiddleware):
    """Compresses whole answers that are texts.

    Django adds a random number of bytes, so that the length of an answer does not tell what is in it (BREACH). An
    answer that shows a secret which stays the same says `no-transform`, and is compressed neither here nor by a proxy.
    Nor are parts of files: whoever fetches the rest asks for it by position.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Return the answer, compressed where it is a text and its reader takes that."""
        kind = response.headers.get("Content-Type", "")
        is_part = response.status_code == 206 or response.headers.get("Accept-Ranges") == "bytes"
        is_secret = "no-transform" in response.headers.get("Cache-Control", "")
        if not kind.startswith(TEXTS) or is_part or is_secret:
            return response
        return super().process_response(request, response)
