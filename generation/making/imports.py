"""Imports: published files become a dataset, completely or not at all."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce

from generation import __version__
from generation.browsing.import_report import describe_normalised
from generation.engine import ENGINE_VERSION
from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import FoundFiles, SplitFiles, find_reader
from generation.making import dataset_jobs, ingestion
from generation.making.creation import SlugTaken, check_slug
from generation.models import Dataset, Import, ImportedSplit, Job, Question, SpecFile, Split

UNSORTED = "main"  # the only split in the spec of a dataset whose files are not sorted yet
SHOWN = 10  # faults that are printed for each split


class ImportRequest(NamedTuple):
    """The options of an import. By default, the licence is not stated and the dataset is private.

    Attributes
    ----------
    images : str
        `linked`, `copied` or `none`.
    images_visible : bool
        Whether everybody who sees the dataset may also see its pictures.
    stored : str
        The storage folder that contains the uploaded files.
    """

    slug: str
    format: str
    images: str = Import.Images.NONE
    licence: str = ""
    visibility: str = Dataset.Visibility.PRIVATE
    images_visible: bool = False
    title: str = ""
    owner: Any = None
    stored: str = ""


def begin(found: FoundFiles, wanted: ImportRequest) -> Dataset:
    """Create and return a dataset whose splits wait to be read; raise `BadRecord`, or `BadSpec` for an invalid name."""
    spec = find_reader(wanted.format).spec(found)
    about = {name: _text(value) for name, value in found.about.items()}
    folders = [split.images for split in found.splits if split.images]
    has_images = wanted.images != Import.Images.NONE and bool(folders)
    with _created(wanted, spec, about=about) as imported:
        dataset = imported.dataset
        assert dataset is not None
        dataset.with_images = has_images
        dataset.images_folder = os.path.commonpath(folders) if has_images and wanted.images == "linked" else ""
        dataset.save(update_fields=["with_images", "images_folder"])
        contents = found.contents.items()
        SpecFile.objects.bulk_create(SpecFile(dataset=dataset, digest=key, content=text) for key, text in contents)
        ingestion.create_splits(dataset, found, spec=spec)
        dataset_jobs.plan(dataset)
    return dataset


def order(names: Sequence[str], wanted: ImportRequest) -> Import:
    """Create an import of stored files, which a background process will read; raise `BadSpec` for an invalid name."""
    spec = find_reader(wanted.format).spec(
        FoundFiles((SplitFiles(UNSORTED, {}),))
    )  # a provisional spec, until the files are sorted
    with _created(wanted, spec, about={}) as imported:
        imported.files = json.dumps(list(names))
        imported.save(update_fields=["files"])
        assert imported.dataset is not None
        Job.objects.create(kind=Job.Kind.IMPORT, dataset=imported.dataset)
    return imported


@contextmanager
def _created(wanted: ImportRequest, spec: Mapping[str, Any], *, about: Mapping[str, str]) -> Iterator[Import]:
    """Create the rows of a dataset and its import, in one transaction with the rows that the caller creates."""
    check_slug(wanted.slug)
    try:
        with transaction.atomic():
            dataset = Dataset.objects.create(
                **{**about, "title": wanted.title or about.get("title", "")},
                slug=wanted.slug,
                licence=wanted.licence,
                world=find_reader(wanted.format).world,
                spec=json.dumps(spec, ensure_ascii=False),
                engine_version=ENGINE_VERSION,
                release=__version__,
                visibility=wanted.visibility,
                owner=wanted.owner,
                with_images=False,
                images_visible=wanted.images_visible,
            )
            yield Import.objects.create(
                dataset=dataset,
                owner=wanted.owner,
                slug=wanted.slug,
                format=wanted.format,
                images=wanted.images,
                stored=wanted.stored,
            )
    except IntegrityError as error:
        if not Dataset.objects.filter(slug=wanted.slug).exists():
            raise
        raise SlugTaken(f"Expected a new name, got {wanted.slug!r}, which already exists.", where="slug") from error


def _text(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


def check_same(dataset: Dataset, found: FoundFiles, wanted: ImportRequest) -> None:
    """Raise `BadRecord` unless the import that was started is the same as the requested one."""
    imported = Import.objects.filter(dataset=dataset).first()
    if imported is None:
        raise BadRecord("Expected an import to go on with, got a dataset that is no import.", where=dataset.slug)
    begun = {origin.split.name: ingestion.files_of(origin) for origin in _origins(dataset)}
    if begun != {split.name: split for split in found.splits}:
        raise BadRecord(
            f"Expected the files that the import was begun with ({', '.join(begun)}), got others.", where=dataset.slug
        )
    if (imported.format, imported.images) != (wanted.format, wanted.images):
        raise BadRecord(
            f"Expected the import as it was begun, {imported.format} with --images {imported.images}, got "
            f"{wanted.format} with {wanted.images}.",
            where=dataset.slug,
        )


def _origins(dataset: Dataset) -> Any:
    return ImportedSplit.objects.filter(split__dataset=dataset).select_related("split").order_by("split__ordinal")


class Way(NamedTuple):
    done: int  # bytes, as is the total
    total: int


def way_of(dataset: Dataset) -> Way:
    origins = ImportedSplit.objects.filter(split__dataset=dataset)
    return Way(**origins.aggregate(done=Coalesce(Sum("done"), 0), total=Coalesce(Sum("total"), 0)))


def describe_import(dataset: Dataset) -> Iterator[str]:
    for origin in _origins(dataset):
        yield from _told(origin.split, origin.report_json)


def compare_with_published(dataset: Dataset) -> Iterator[str]:
    """Yield a sentence for each published count of the dataset's format: what was expected, and what was read."""
    splits = {split.name: split for split in dataset.splits.filter(kind=Split.Kind.IMPORTED)}
    for one in find_reader(Import.objects.get(dataset=dataset).format).published:
        own = [splits[name] for name in one.splits if name in splits]
        if not own or own[0].name != one.splits[0] or (one.beside and one.beside not in splits):
            continue
        if one.answer:
            came = Question.objects.filter(split__in=own, answer=one.answer).count()
        else:
            came = sum(getattr(split, one.of) for split in own)
        what = f"{one.of} with the answer {one.answer}" if one.answer else one.of
        names = " + ".join(split.name for split in own)
        yield f"{names}: expected {one.number:,} {what} as published, got {came:,}"


def _told(split: Split, report: dict[str, Any]) -> Iterator[str]:
    counts = {**report, "questions": split.questions}
    said = [f"{counts[name] or 'no'} {name}" for name in ("scenes", "questions", "answers", "programs")]
    alone = split.scenes - report["scenes"]
    said += [f"{alone:,} pictures without a scene"] if alone else []
    yield f"{split.name}: {', '.join(said)}; {report['executed']:,} programs executed"
    if report["executed"] or report["faults"]:
        yield f"  {report['faults']:,} disagree with their programs"
        for fault in report["first_faults"][:SHOWN]:
            gives = (
                f"gives {fault['expected']}" if fault["kind"] == "answer" else f"has no answer ({fault['expected']})"
            )
            yield f"    question {fault['question']}: published {fault['got'] or 'nothing'}, its program {gives}"
        if report["faults"] > SHOWN:
            yield f"    and {report['faults'] - SHOWN:,} more"
    if changes := describe_normalised(report):
        yield f"  {changes}"
    if report["unknown_families"]:
        yield f"  {report['unknown_families']:,} questions are of templates that aren't ours"
    if report["pictures"] or report["missing"]:
        odd = f"{report['odd_sizes']:,} of another size"
        yield f"  {report['pictures']:,} pictures, {report['missing']:,} missing, {odd}"
        for name in [*report["first_missing"][:SHOWN], *report["first_odd_sizes"][:SHOWN]]:
            yield f"    {name}"
