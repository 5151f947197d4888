"""API of files: all questions of a split, all its pictures, one picture."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from ninja import Router

from generation.access import What, may_see
from generation.browsing.pictures import version_of
from generation.models import Split
from generation.views import media
from generation.views.access_checks import find_split
from webapp.api.datasets import shows_steps
from webapp.api.errors import Problem
from webapp.api.files import images_tar
from webapp.api.files.questions_file import QuestionsFile, StepsFile
from webapp.api.files.ranges import as_file, is_part, send, unchanged
from webapp.api.openapi_operations import reads
from webapp.api.questions import SPLIT

router = Router(tags=["Files"])
GZIP, TAR = "application/gzip", "application/x-tar"
PICTURES = ("image/png", "image/jpeg")


@reads(router, SPLIT + "questions.jsonl.gz", media=[GZIP])
def questions_file(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Return all questions as gzipped JSON lines, as in the export `jsonl`.

    The first request waits until the file is made. The file is then kept for some time, and can be requested in parts.
    """
    return _lines_file(request, QuestionsFile(_complete(request, slug, name), request.user))


@reads(router, SPLIT + "steps.jsonl.gz", media=[GZIP])
def steps_file(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Return the steps of all programs with their results as gzipped JSON lines, made and kept as the questions.

    `prompt` asks a model for the results of the steps; a question without a program has null.
    """
    found = _complete(request, slug, name)
    if not shows_steps(request.user, found):
        raise Problem(403, f"The answers of {found} are withheld, and so are the steps that compute them.")
    return _lines_file(request, StepsFile(found, request.user))


def _lines_file(request: HttpRequest, found: QuestionsFile) -> HttpResponseBase:
    row = found.split.row
    saved = f"{row.dataset.slug}-{row.name}-{found.content}.jsonl.gz"
    size = found.size
    if size is None and is_part(request, found.etag):
        size = _size_when_built(found)
    if size is not None:
        return send(request, found.read, size=size, etag=found.etag, kind=GZIP, name=saved)
    known = unchanged(request, found.etag)
    if known is not None:
        return known
    whole = HttpResponse if request.method == "HEAD" else StreamingHttpResponse
    content = b"" if request.method == "HEAD" else found.build()
    return as_file(whole(content, content_type=GZIP), etag=found.etag, name=saved)


@reads(router, SPLIT + "images.tar", media=[TAR])
def images_file(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Return all pictures of a split in one tar file, named by split and scene: `val_000013.png`."""
    found = _complete(request, slug, name)
    if not found.dataset.with_images or not may_see(request.user, found, What.IMAGE):
        raise Http404(f"Expected a split whose pictures you may see, got {found}.")
    layout = images_tar.layout_of(found)
    return send(
        request,
        lambda start, stop: images_tar.read(found, layout, start, stop),
        size=layout.size,
        etag=images_tar.etag_of(found, layout),
        kind=TAR,
        name=f"{slug}-{name}-images.tar",
    )


@reads(router, SPLIT + "scenes/{position:position}/image", media=PICTURES)
def scene_image(request: HttpRequest, slug: str, name: str, position: int) -> HttpResponseBase:
    """Return a scene's picture."""
    version = version_of(find_split(request.user, slug, name).dataset)
    return _asked_anew(media.scene_image(request, slug, name, position, version))


@reads(router, SPLIT + "scenes/{position:position}/ids", media=PICTURES[:1])
def scene_ids(request: HttpRequest, slug: str, name: str, position: int) -> HttpResponseBase:
    """Return a scene's object-id image: 0 for none, else an object's number plus one; 8 bits, 16 from 256 objects."""
    version = version_of(find_split(request.user, slug, name).dataset)
    return _asked_anew(media.scene_ids_image(request, slug, name, position, version))


def _asked_anew(response: HttpResponseBase) -> HttpResponseBase:
    response["Cache-Control"] = "private, no-cache"
    return response


def _complete(request: HttpRequest, slug: str, name: str) -> Split:
    found = find_split(request.user, slug, name)
    if not found.is_complete:
        raise Http404(f"Expected a complete split, got {found}, whose state is {found.get_state_display()}.")
    return found


def _size_when_built(found: QuestionsFile) -> int | None:
    for _ in found.build():
        pass
    return found.size  # None if the file can't be stored
