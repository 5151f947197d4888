"""How often each kind of object occurs in the scenes of a split, counted in a sample of the scenes."""

import functools
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.shortcuts import sample_positions
from generation.models import Scene, Split
from generation.storage.items import item_of

SAMPLE = 1000  # the largest number of scenes that are read


class SceneObjects(NamedTuple):
    """The objects of some scenes of a split.

    Attributes
    ----------
    scenes : array (scenes,) of int64
        The positions of these scenes in the split, ascending.
    counts : array (scenes, kinds) of int64
        How many objects of each kind each scene has. Objects with the same label are of the same kind.
    """

    scenes: NDArray[np.int64]
    kinds: tuple[str, ...]
    counts: NDArray[np.int64]

    def among(self, scenes: NDArray[np.integer]) -> NDArray[np.int64]:
        # Shape (kinds,). Only scenes that were read are counted.
        found: NDArray[np.int64] = self.counts[np.isin(self.scenes, scenes)].sum(axis=0)
        return found


def objects_of(split: Split) -> SceneObjects:
    return _objects(split.pk, split.index_digest)


@functools.lru_cache(maxsize=32)
def _objects(split: int, digest: str) -> SceneObjects:
    """Count the objects of a split; `digest` is that of its index, so that the cache is not used after a change."""
    row = Split.objects.select_related("dataset", "parent").get(pk=split)
    world, spec = row.dataset.get_world(), row.read_spec()
    positions = sample_positions(row.scenes, SAMPLE)
    scenes = Scene.objects.filter(split=row, position__in=positions.tolist()).order_by("position")
    items = {scene.position: item_of(scene, world=world) for scene in scenes}
    counted = [
        Counter(element.label for element in world.elements(spec, item)) if item.scene is not None else Counter()
        for item in items.values()
    ]
    kinds = sorted(set().union(*counted))
    counts = np.array([[one[kind] for kind in kinds] for one in counted], np.int64).reshape(len(counted), len(kinds))
    return SceneObjects(np.fromiter(items, np.int64), tuple(kinds), counts)
