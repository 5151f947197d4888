"""Presets as cards: grouped by world, each with a thumbnail that its world made.

A thumbnail is a picture (`static/presets/NAME.webp`) or the first lines of a story (`NAME.txt`). The command
`python -m tests.thumbnails` writes these files for the worlds of Horsesense. A world of another package has no files:
its thumbnails are made when the page is requested, at most one for each request, and cached.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache as site_cache
from django.templatetags.static import static
from PIL import Image

from generation.engine.content_hash import digest
from generation.engine.errors import EngineError
from generation.engine.items import Media
from generation.engine.worlds import REGISTRY, World, find_preset, get_maker, get_world, usable
from generation.specs import loading, previews

MINI = "-mini"  # the end of the names of presets that are made in a minute
FOLDER = settings.BASE_DIR / "static" / "presets"
LINES = 4  # lines of a story in a thumbnail
CACHED = 30 * 24 * 3600  # seconds


class Thumbnail(NamedTuple):
    """The address of a picture with its size in pixels, or the first lines of a story."""

    image: str = ""
    width: int = 0
    height: int = 0
    story: Sequence[str] = ()


class PresetCard(NamedTuple):
    """A preset as the page of a new dataset shows it."""

    name: str
    media: Media
    is_crisp: bool
    title: str
    description: str
    scenes: int
    splits: int
    thumbnail: Thumbnail


class PresetGroup(NamedTuple):
    world: str
    cards: list[PresetCard]  # the mini presets, if there are any
    full_size: list[PresetCard]  # all others


def preset_names() -> list[str]:
    return [name for world in usable() if world.maker is not None for name in world.maker.presets()]


def first_preset() -> str:
    names = preset_names()
    return next((name for name in names if name.endswith(MINI)), names[0])


def preset_groups() -> list[PresetGroup]:
    """Return the presets of each world, first the world of the first preset."""
    first = loading.world_of(find_preset(first_preset()))
    worlds = sorted(usable(), key=lambda world: world.name != first)
    _make_one_missing(worlds)
    return [_group(world) for world in worlds if world.maker is not None]


def _group(world: World) -> PresetGroup:
    names = world.maker.presets() if world.maker is not None else ()
    cards = {name: preset_card(name) for name in names}
    mini = [name for name in names if name.endswith(MINI)] or list(names)
    full_size = [name for name in names if name not in mini]
    return PresetGroup(world.label, [cards[name] for name in mini], [cards[name] for name in full_size])


def preset_card(name: str) -> PresetCard:
    """Return the card of a preset."""
    data = find_preset(name)
    world = get_world(loading.world_of(data))
    splits = data.get("splits", {})
    return PresetCard(
        name=name,
        media=world.media,
        is_crisp=not world.display.smooth,
        title=str(data.get("title") or name),
        description=str(data.get("description", "")),
        scenes=sum(split["scenes"] for split in splits.values()),
        splits=len(splits),
        thumbnail=_from_files(name) if world.name in REGISTRY else _from_cache(name) or Thumbnail(),
    )


def make_thumbnail(name: str) -> Thumbnail:
    """Return a scene of a preset, made under the limits of a preview: a picture, or the first lines of a story.

    The n-th preset of a world shows its n-th scene, because presets with the same seed often have the same scenes.
    """
    source = loading.load(name)
    split = next(iter(source.data["splits"]))
    number = get_maker(loading.world_of(source.data)).presets().index(name)
    scene = previews.make(source.data, split=split, files=source.files, scenes=number + 1).scenes[-1]
    return Thumbnail(scene.image, scene.width, scene.height, scene.story[:LINES])


@cache
def _from_files(name: str) -> Thumbnail:
    picture, story = FOLDER / f"{name}.webp", FOLDER / f"{name}.txt"
    if picture.exists():
        with Image.open(picture) as image:
            return Thumbnail(static(f"presets/{picture.name}"), *image.size)
    return Thumbnail(story=story.read_text().splitlines()) if story.exists() else Thumbnail()


def _from_cache(name: str) -> Thumbnail | None:
    kept = site_cache.get(_cache_key(name))
    return None if kept is None else Thumbnail(*kept)


def _make_one_missing(worlds: Sequence[World]) -> None:
    """Make one missing thumbnail of a preset of another package.

    If a preset fails, an empty thumbnail is cached, so that it is not tried again at once.
    """
    others = [world.maker for world in worlds if world.maker is not None and world.name not in REGISTRY]
    names = (name for maker in others for name in maker.presets())
    name = next((name for name in names if _from_cache(name) is None), None)
    if name is None:
        return
    try:
        made = make_thumbnail(name)
    except EngineError:
        made = Thumbnail()
    site_cache.set(_cache_key(name), list(made), CACHED)


def _cache_key(name: str) -> str:
    return f"generation.presets:{digest(find_preset(name))}"
