"""Pictures. An address always means the same picture, so browsers may store it forever."""

import functools
import logging
from pathlib import PurePath
from typing import TypeVar

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from generation.access import What, may_see
from generation.browsing.pictures import version_of
from generation.models import Dataset, Scene, Split, find_one
from generation.storage import pictures
from generation.storage.pictures import Pictures, name_of, thumbnail
from generation.views.access_checks import find_split
from generation.views.stored_files import sent_by_proxy

log = logging.getLogger(__name__)

R = TypeVar("R", bound=HttpResponseBase)

A_YEAR = 31_536_000
MISSING = "There is no such picture, or it isn't shown."


@require_safe
def scene_image(request: HttpRequest, slug: str, name: str, position: int, version: str) -> HttpResponseBase:
    split = find_split(request.user, slug, name)
    if not may_see(request.user, split, What.IMAGE):
        raise Http404(MISSING)
    scene = _scene(split, position)
    check_version(split, scene.image or scene.linked, version)
    shown = f"{name}-{position}{PurePath(scene.image or scene.linked).suffix}"
    return _not_modified(request, split) or _kept_for_ever(split, _picture(scene, split, name=shown))


@require_safe
def scene_thumbnail(request: HttpRequest, slug: str, name: str, position: int, version: str) -> HttpResponseBase:
    """Return the thumbnail of a scene's picture, for lists."""
    split = find_split(request.user, slug, name)
    if not may_see(request.user, split, What.IMAGE):
        raise Http404(MISSING)
    scene = _scene(split, position)
    check_version(split, scene.image or scene.linked, version)
    return _not_modified(request, split) or _kept_for_ever(split, _small(scene, split))


@require_safe
def scene_ids_image(request: HttpRequest, slug: str, name: str, position: int, version: str) -> HttpResponseBase:
    """Return a scene's object-id image: 0 for none, otherwise an object's number plus one; 8 bits, or 16 if needed."""
    split = find_split(request.user, slug, name)
    if not may_see(request.user, split, What.IDS_IMAGE):
        raise Http404(MISSING)
    stored = _scene(split, position).ids_image
    check_version(split, stored, version)
    return _not_modified(request, split) or _kept_for_ever(split, _file(stored, name=f"{name}-{position}-ids.png"))


def check_version(split: Split, stored: str, version: str) -> None:
    if not stored or version_of(split.dataset) != version:
        raise Http404(MISSING)


def _scene(split: Split, position: int) -> Scene:
    kept = ("image", "ids_image", "linked", "position")
    scene = find_one(Scene.objects.filter(split=split, position=position).only(*kept))
    if scene is None:
        raise Http404(MISSING)
    return scene


def _picture(scene: Scene, split: Split, *, name: str) -> HttpResponseBase:
    """Return a scene's picture, stored or linked; raise `Http404`."""
    if not scene.linked:
        return _file(scene.image, name=name)
    try:
        file = pictures.path_of(scene, split.dataset).open("rb")
    except OSError as error:
        raise _lost(scene.linked, error) from error
    return FileResponse(file, content_type=pictures.type_of(scene.linked), filename=name)


def _file(stored: str, *, name: str) -> HttpResponseBase:
    """Return a stored picture with a file name that reveals no more than its address; raise `Http404`."""
    sent = sent_by_proxy(stored, content_type=pictures.type_of(stored))
    if sent is not None:
        sent["Content-Disposition"] = f'inline; filename="{name}"'
        return sent
    try:
        file = default_storage.open(stored, "rb")
    except FileNotFoundError as error:
        raise _lost(stored, "nothing") from error
    return FileResponse(file, content_type=pictures.type_of(stored), filename=name)


def _small(scene: Scene, split: Split) -> HttpResponse:
    """Return the thumbnail of a picture, and make it if it does not exist; raise `Http404`."""
    scene.split = split
    stored = scene.image or f"{Pictures(scene).stem}.png"
    sent = sent_by_proxy(name_of(stored), content_type="image/webp")
    if sent is not None:
        return sent
    try:
        made = thumbnail(stored, read=functools.partial(pictures.picture_bytes, scene, split.dataset))
        return HttpResponse(made, content_type="image/webp")
    except OSError as error:
        raise _lost(stored, error) from error


def _lost(stored: str, found: object) -> Http404:
    log.error("Expected a picture in %s, got: %s. Restore it from a backup.", stored, found)
    return Http404(MISSING)


def _not_modified(request: HttpRequest, split: Split) -> HttpResponseBase | None:
    found = get_conditional_response(request, etag=_etag(split))
    return None if found is None else _kept_for_ever(split, found)


def _kept_for_ever(split: Split, response: R) -> R:
    """Return a response with headers that it never changes. Proxies may store it only if everybody may see it."""
    anyone = split.dataset.visibility == Dataset.Visibility.PUBLIC and split.dataset.images_visible
    response["Cache-Control"] = f"{'public' if anyone else 'private'}, max-age={A_YEAR}, immutable"
    response["ETag"] = _etag(split)
    return response


def _etag(split: Split) -> str:
    return f'"{version_of(split.dataset)}"'
