"""Compression of text responses: pages, styles, scripts, JSON, drawings."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS = ("text/", "application/json", "application/javascript", "image/svg+xml")


class CompressTexts(GZipMiddleware):
    """Compresses complete responses that are texts.

    Django adds a random number of bytes, so that the length of a response does not reveal its content (BREACH). A
    response that shows a permanent secret has `no-transform`; it is compressed neither here nor by a proxy. Parts of
    files are not compressed either, because clients request the rest by byte position.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "")
        is_part = response.status_code == 206 or response.headers.get("Accept-Ranges") == "bytes"
        is_secret = "no-transform" in response.headers.get("Cache-Control", "")
        if not kind.startswith(TEXTS) or is_part or is_secret:
            return response
        return super().process_response(request, response)
