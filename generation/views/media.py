"""Pictures under our own address, which never means another picture: browsers may keep them for ever."""

import logging
from typing import TypeVar

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from generation.models import Dataset, Scene, Split
from generation.pictures import version_of
from generation.thumbnails import thumbnail
from generation.views.finding import find_split
from webapp.access import What, may_see

log = logging.getLogger(__name__)

R = TypeVar("R", bound=HttpResponseBase)

A_YEAR = 31_536_000
MISSING = "There is no such picture, or it isn't shown."


@require_safe
def scene_image(request: HttpRequest, slug: str, name: str, position: int, version: str) -> HttpResponseBase:
    """Return a scene's picture."""
    split = find_split(request.user, slug, name)
    if not may_see(request.user, split, What.IMAGE):
        raise Http404(MISSING)
    return _file(split, _scene(split, position).image, version, name=f"{name}-{position}.png")


@require_safe
def scene_thumbnail(request: HttpRequest, slug: str, name: str, position: int, version: str) -> HttpResponse:
    """Return a scene's picture, small: what lists show of it."""
    split = find_split(request.user, slug, name)
    if not may_see(request.user, split, What.IMAGE):
        raise Http404(MISSING)
    stored = _scene(split, position).image
    if not stored or version_of(split.dataset) != version:
        raise Http404(MISSING)
    try:
        content = thumbnail(stored)
    except OSError as error:
        log.error("Expected a picture in %s, got: %s. Restore it from a backup.", stored, error)
        raise Http404(MISSING) from error
    return _kept_for_ever(split, HttpResponse(content, content_type="image/webp"))


@require_safe
def scene_ids_image(request: HttpRequest, slug: str, name: str, position: int, version: str) -> HttpResponseBase:
    """Return a scene's object-id image: 0 none, else an object's number plus one; 8 bits, 16 from 256 objects."""
    split = find_split(request.user, slug, name)
    if not may_see(request.user, split, What.IDS_IMAGE):
        raise Http404(MISSING)
    return _file(split, _scene(split, position).ids_image, version, name=f"{name}-{position}-ids.png")


def _scene(split: Split, position: int) -> Scene:
    """Return the scene at a position of a split."""
    scene = Scene.objects.filter(split=split, position=position).only("image", "ids_image").first()
    if scene is None:
        raise Http404(MISSING)
    return scene


def _file(split: Split, stored: str, version: str, *, name: str) -> FileResponse:
    """Return a stored picture under a name that tells no more than its address, if the address names this one."""
    if not stored or version_of(split.dataset) != version:
        raise Http404(MISSING)
    try:
        file = default_storage.open(stored, "rb")
    except FileNotFoundError as error:
        log.error("Expected %s in the storage, got nothing. Restore it from a backup.", stored)
        raise Http404(MISSING) from error
    return _kept_for_ever(split, FileResponse(file, content_type="image/png", filename=name))


def _kept_for_ever(split: Split, response: R) -> R:
    """Return a response that says it never changes; to proxies only where anyone may see it."""
    anyone = split.dataset.visibility == Dataset.Visibility.PUBLIC
    response["Cache-Control"] = f"{'public' if anyone else 'private'}, max-age={A_YEAR}, immutable"
    return response
