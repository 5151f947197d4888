"""Downloads that fit in no buffer of a socket: made while they are sent, and from a file."""

import tempfile
from collections.abc import Iterator

from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.urls import path

from webapp.urls import *  # noqa: F403
from webapp.urls import urlpatterns as pages

PIECES, PIECE = 500, b"x" * 100_000


def made(request: HttpRequest) -> StreamingHttpResponse:
    def pieces() -> Iterator[bytes]:
        for _ in range(PIECES):
            yield PIECE

    return StreamingHttpResponse(pieces(), content_type="application/octet-stream")


def from_file(request: HttpRequest) -> FileResponse:
    file = tempfile.TemporaryFile()  # noqa: SIM115  # the response closes it
    file.truncate(PIECES * len(PIECE))
    return FileResponse(file, content_type="application/octet-stream")


urlpatterns = [path("download/made/", made), path("download/file/", from_file), *pages]
