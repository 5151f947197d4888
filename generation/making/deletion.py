"""Deleting a dataset in small batches. Files go before the rows that name them, so that a crash leaves no orphans."""

from collections.abc import Callable

from django.db import transaction

from generation import extension_points
from generation.charts.drawing import drop_drawings
from generation.models import Chunk, Dataset, Import, Question, Scene, Split
from generation.splits import sealing
from generation.storage import files
from generation.storage.split_index import FOLDER

ROWS = 1000  # rows that are deleted at a time


def remove(dataset: Dataset, *, check: Callable[[], None] = lambda: None) -> None:
    """Delete a dataset with everything that belongs to it. After a crash, another call continues the deletion.

    `check` is called between batches. An exception from it stops the deletion.
    """
    with transaction.atomic():
        extension_points.release(dataset.splits.all())  # things that were added after the deletion was started
    for split in dataset.splits.all():
        _remove_split(split, check=check)
    check()
    files.drop_folder(pictures_folder(dataset))
    files.drop_folder(exports_folder(dataset))
    drop_drawings(dataset.slug)
    for uploads in Import.objects.filter(dataset=dataset).exclude(stored="").values_list("stored", flat=True):
        files.drop_folder(uploads)
    dataset.delete()


def drop_late_files(dataset: Dataset, *, index_digest: str = "") -> None:
    """Delete the files that a process wrote too late for a deleted dataset; do nothing if the dataset still exists."""
    if Dataset.objects.filter(pk=dataset.pk).exclude(state=Dataset.State.DELETING).exists():
        return
    files.drop_folder(pictures_folder(dataset))
    if index_digest:
        files.drop_folder(f"{FOLDER}/{index_digest}")


def pictures_folder(dataset: Dataset) -> str:
    return f"datasets/{dataset.pk}"


def exports_folder(dataset: Dataset) -> str:
    return f"exports/{dataset.pk}"


def _remove_split(split: Split, *, check: Callable[[], None]) -> None:
    questions = Question.objects.filter(split=split)
    while keys := list(questions.values_list("pk", flat=True)[:ROWS]):
        check()
        Question.objects.filter(pk__in=keys).delete()
    while scenes := list(Scene.objects.filter(split=split)[:ROWS]):
        check()
        for scene in scenes:
            files.drop(scene.image)
            files.drop(scene.ids_image)
        Scene.objects.filter(pk__in=[scene.pk for scene in scenes]).delete()
    while keys := list(Chunk.objects.filter(split=split).values_list("pk", flat=True)[:ROWS]):
        check()
        Chunk.objects.filter(pk__in=keys).delete()
    sealing.drop_drafts(split)
    if split.index_digest:
        files.drop_folder(f"{FOLDER}/{split.index_digest}")
