"""Compression of text responses: pages, styles, scripts, JSON, drawings."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS = ("text/", "application/json", "application/javascript", "image/svg+xml")


class CompressTexts(GZipMiddleware):
    """Middleware: compresses complete text responses.

    Django adds a random number of bytes, so that the length of a response does not reveal its content (BREACH). A
    response that shows a permanent secret has the `Cache-Control` directive `no-transform`; neither this middleware nor
    a proxy compresses it. Parts of files are not compressed either, because clients request the rest by byte position.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "")
        is_part = response.status_code == 206 or response.headers.get("Accept-Ranges") == "bytes"
        is_secret = "no-transform" in response.headers.get("Cache-Control", "")
        if not kind.startswith(TEXTS) or is_part or is_secret:
            return response
        return super().process_response(request, response)
