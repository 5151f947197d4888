"""Drawing pictures again that were lost or left out of a backup, by the jobs that drew them first."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePosixPath

from django.core.files.storage import default_storage

from generation.engine import ENGINE_VERSION
from generation.models import Dataset, Job, JobQuerySet, Scene, Split, Turn
from generation.models.datasets import SLICE

ROWS = 1000  # rows that are read or changed at a time


def is_drawable(*, kind: str, engine_version: str) -> bool:
    return kind == Split.Kind.GENERATED and engine_version == ENGINE_VERSION


def folder_of(*, dataset: int, split: str) -> str:
    return f"datasets/{dataset}/{split}"


def lost(split: Split) -> Iterator[Scene]:
    """Yield, in order, the scenes of a split whose pictures are missing in the storage."""
    drawn = Scene.objects.filter(split=split).exclude(image="").order_by("position")
    drawn = drawn.only("pk", "chunk_id", "position", "image", "ids_image")
    for folder, scenes in groupby(drawn.iterator(ROWS), key=lambda scene: str(PurePosixPath(scene.image).parent)):
        names = _names_in(folder)
        for scene in scenes:
            if not {PurePosixPath(name).name for name in (scene.image, scene.ids_image) if name} <= names:
                yield scene


def draw_again(split: Split) -> int:
    """Request that the lost pictures of a split are drawn again; return the number of their scenes.

    The dataset is then being made again until the pictures are drawn. Its scenes and questions do not change.
    """
    first_scenes = dict(split.chunks.values_list("pk", "first_scene"))
    count = 0
    for chunk, scenes in groupby(lost(split), key=lambda scene: scene.chunk_id):
        found = list(scenes)
        count += len(found)
        for start in range(0, len(found), ROWS):
            keys = [scene.pk for scene in found[start : start + ROWS]]
            Scene.objects.filter(pk__in=keys).update(image="", ids_image="", width=0, height=0)
        parts = {(scene.position - first_scenes[chunk]) // SLICE for scene in found}
        _start_over(Job.objects.filter(chunk=chunk, kind=Job.Kind.IMAGES, part__in=parts))
    if count and split.is_complete:
        _start_over(Job.objects.filter(split=split, kind=Job.Kind.SEAL))
        Dataset.objects.filter(pk=split.dataset_id, state=Dataset.State.COMPLETE).update(state=Dataset.State.MAKING)
    if count:
        Turn.objects.offer(split.dataset_id)
    return count


def _start_over(jobs: JobQuerySet) -> None:
    jobs.start_over(token="", lease=None)


def _names_in(folder: str) -> set[str]:
    try:
        return set(default_storage.listdir(folder)[1])
    except FileNotFoundError:
        return set()
