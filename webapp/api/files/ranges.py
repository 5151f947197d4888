"""Sends files completely or in part, so that an interrupted download can continue."""

import re
from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response

from webapp.api.errors import Problem

ASKED = re.compile(r"bytes=(?P<first>[0-9]{0,18})-(?P<last>[0-9]{0,18})")
Read = Callable[[int, int], Iterator[bytes]]


def read_range(header: str, size: int) -> slice | None:
    """Return the requested part of a file, or None for the whole file or an invalid header.

    Raises
    ------
    Problem
        416, if the part begins after the end of the file.
    """
    found = ASKED.fullmatch(header.strip())
    if found is None or not (found["first"] or found["last"]):
        return None
    if not found["first"]:
        first, last = max(0, size - int(found["last"])), size - 1
    else:
        first, last = int(found["first"]), int(found["last"] or size - 1)
        if found["last"] and last < first:
            return None
    if first >= size:
        message = f"Expected a part of a file of {size:,} bytes, got one that begins at byte {first:,}."
        raise Problem(416, message, headers={"Content-Range": f"bytes */{size}"})
    return slice(first, min(last, size - 1) + 1)


def unchanged(request: HttpRequest, etag: str) -> HttpResponseBase | None:
    """Return 304 if the sender already has the file, None if it must be sent; raise `Problem` (412) if it changed."""
    found = get_conditional_response(request, etag=etag)
    if found is not None and found.status_code == 412:
        raise Problem(412, "Expected the same file as before, but it has changed.")
    if found is not None:
        found["ETag"] = etag
    return found


def is_part(request: HttpRequest, etag: str) -> bool:
    return "Range" in request.headers and request.headers.get("If-Range", etag) == etag


def send(request: HttpRequest, read: Read, *, size: int, etag: str, kind: str, name: str) -> HttpResponseBase:
    """Return a file or the requested part of it.

    Parameters
    ----------
    request : HttpRequest
    read : callable
        Yields the bytes from one offset up to another.
    size : int
        Size of the whole file in bytes.
    etag : str
        The ETag in quotes; different contents have different ETags.
    kind : str
        The media type.
    name : str
        The name of the downloaded file.
    """
    known = unchanged(request, etag)
    if known is not None:
        return known
    part = read_range(request.headers["Range"], size) if is_part(request, etag) else None
    start, stop = (0, size) if part is None else (part.start, part.stop)
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse(content_type=kind)
    else:
        response = StreamingHttpResponse(read(start, stop), content_type=kind)
    if part is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    response["Content-Length"] = str(stop - start)
    return as_file(response, etag=etag, name=name)


def as_file(response: HttpResponseBase, *, etag: str, name: str) -> HttpResponseBase:
    """Return the response with the headers of a download that supports ranges."""
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = etag
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
