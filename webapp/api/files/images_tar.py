"""All pictures of a split as one tar file that is never stored: every part of it is computed from its offset.

It is byte for byte the same as `images.tar` of the export `jsonl`.
"""

import functools
import tarfile
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.browsing.pictures import version_of
from generation.models import Scene, Split
from generation.models.items import SceneQuerySet
from generation.storage import files, pictures
from generation.storage.split_index import SplitIndex

BLOCK, RECORD = tarfile.BLOCKSIZE, tarfile.RECORDSIZE
SOME = 500  # scenes read per query
FIELDS = ("position", "image", "linked")


class TarLayout(NamedTuple):
    """The offset of each picture in the file.

    Attributes
    ----------
    scenes : array (pictures,) of int64
        Positions of the scenes in the split that has them.
    places : array (pictures,) of int64
        Their positions among the exported scenes, which give the names.
    sizes : array (pictures,) of int64
        Size of each picture's file, in bytes.
    starts : array (pictures + 1,) of int64
        Offset of each header, and the end of the last picture.
    """

    scenes: NDArray[np.int64]
    places: NDArray[np.int64]
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def size(self) -> int:
        return -(-(int(self.starts[-1]) + 2 * BLOCK) // RECORD) * RECORD  # two empty blocks end the file


def layout_of(split: Split) -> TarLayout:
    return _layout(split, version_of(split.dataset) + split.fingerprint, _pictures(split).count())


def etag_of(split: Split, layout: TarLayout) -> str:
    # It contains nothing that a split withholds.
    return f'"{version_of(split.dataset)}-{split.pk}-{len(layout.sizes)}"'


def read(split: Split, layout: TarLayout, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes of the file from offset `start` up to `stop`."""
    end = int(layout.starts[-1])
    first = int(np.searchsorted(layout.starts, start, side="right")) - 1
    last = int(np.searchsorted(layout.starts[:-1], stop, side="left"))
    for some in range(first, last, SOME):
        rows = _rows(split, layout.scenes[some : min(some + SOME, last)])
        for number, scene in enumerate(rows, some):
            at = int(layout.starts[number])
            entry = _entry(scene, split, layout, number)
            yield entry[max(0, start - at) : stop - at]
    for at in range(max(start, end), stop, RECORD):
        yield bytes(min(RECORD, stop - at))


def _pictures(split: Split) -> SceneQuerySet:
    return Scene.objects.filter(split=split.source).exclude(image="", linked="").order_by("position")


@functools.lru_cache(maxsize=32)
def _layout(split: Split, version: str, count: int) -> TarLayout:
    """Return the layout; the arguments are the cache key, and keys of splits are never reused."""
    places = _places(split)
    known = files.sizes_below(f"datasets/{split.dataset_id}/{split.source.name}/")
    scenes, sizes = [], []
    for scene in _pictures(split).only(*FIELDS).iterator(chunk_size=SOME):
        if scene.position in places:
            scenes.append(scene.position)
            sizes.append(_size(scene, split, known))
    blocks = np.array([BLOCK + -(-size // BLOCK) * BLOCK for size in sizes], dtype=np.int64)
    return TarLayout(
        np.array(scenes, dtype=np.int64),
        np.array([places[scene] for scene in scenes], dtype=np.int64),
        np.array(sizes, dtype=np.int64),
        np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64),
    )


def _places(split: Split) -> dict[int, int] | range:
    if not split.is_derived:
        return range(split.scenes)
    return {int(scene): place for place, scene in enumerate(np.unique(SplitIndex.open(split).scenes))}


def _size(scene: Scene, split: Split, known: dict[str, int]) -> int:
    if scene.linked:
        return pictures.path_of(scene, split.dataset).stat().st_size
    return known[scene.image] if scene.image in known else files.size(scene.image)


def _rows(split: Split, positions: NDArray[np.int64]) -> list[Scene]:
    rows = list(_pictures(split).filter(position__in=positions.tolist()).only(*FIELDS))
    if len(rows) != len(positions):
        raise OSError(f"Expected {len(positions)} pictures of {split}, got {len(rows)}.")
    return rows


def _entry(scene: Scene, split: Split, layout: TarLayout, number: int) -> bytes:
    """Return a picture with header and padding, without owner and time."""
    content = pictures.picture_bytes(scene, split.dataset)
    if len(content) != layout.sizes[number]:
        raise OSError(f"Expected {layout.sizes[number]} bytes in the picture of {scene}, got {len(content)}.")
    suffix = PurePath(scene.image or scene.linked).suffix or ".png"
    entry = tarfile.TarInfo(f"{split.name}_{layout.places[number]:06d}{suffix}")
    entry.size, entry.mtime, entry.mode = len(content), 0, 0o644
    return entry.tobuf(tarfile.PAX_FORMAT) + content + bytes(-len(content) % BLOCK)
