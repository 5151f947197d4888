"""Responses with stored files. The web server sends a file of this machine's disk without a thread."""

from urllib.parse import quote

from django.conf import settings
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse

from generation.storage import files


def sent_by_proxy(stored: str, *, content_type: str) -> HttpResponse | None:
    """Return a response for which the proxy sends a local file; None if it cannot, or without a local file."""
    path = files.local_path(stored)
    if not settings.PROXY_SENDS_FILES or path is None or not path.is_file():
        return None
    return HttpResponse(content_type=content_type, headers={"X-Accel-Redirect": quote(f"/{stored}")})


def sent_by_site(stored: str, *, content_type: str, lost: str) -> HttpResponseBase:
    """Return a response for which the site sends a file from its disk or its bucket.

    If there is no file, raise `Http404` with the message `lost`.
    """
    path = files.local_path(stored)
    try:
        if path is not None:
            return FileResponse(path.open("rb"), content_type=content_type)
        size = default_storage.size(stored)
    except FileNotFoundError as error:
        raise Http404(lost) from error
    return StreamingHttpResponse(files.pieces(stored), content_type=content_type, headers={"Content-Length": str(size)})
