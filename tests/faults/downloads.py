"""Downloads that are too large for the buffer of a socket: one is made while it is sent, one comes from a file."""

import tempfile
from collections.abc import Iterator

from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.urls import path

from webapp.urls import *  # noqa: F403
from webapp.urls import urlpatterns as pages

PIECES, PIECE = 500, b"x" * 100_000


def streamed_response(request: HttpRequest) -> StreamingHttpResponse:
    def pieces() -> Iterator[bytes]:
        for _ in range(PIECES):
            yield PIECE

    return StreamingHttpResponse(pieces(), content_type="application/octet-stream")


def file_response(request: HttpRequest) -> FileResponse:
    file = tempfile.TemporaryFile()  # noqa: SIM115  # the response closes it
    file.truncate(PIECES * len(PIECE))
    return FileResponse(file, content_type="application/octet-stream")


urlpatterns = [path("download/made/", streamed_response), path("download/file/", file_response), *pages]
