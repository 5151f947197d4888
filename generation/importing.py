"""Imports: other people's files become a dataset, whole or not at all."""

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce

from generation import __version__, intake, jobs, store
from generation.engine import ENGINE_VERSION
from generation.engine import worlds as engine
from generation.engine.errors import BadRecord
from generation.engine.reading import Found, find_reader
from generation.models import Dataset, Import, ImportedSplit, SpecFile, Split

SHOWN = 10  # faults, of each split, that are printed


class Wanted(NamedTuple):
    """What somebody says of an import. What isn't said is unstated, and private.

    Attributes
    ----------
    images : str
        `linked`, `copied` or `none`.
    images_visible : bool
        Whether strangers who see the dataset may see its pictures.
    stored : str
        The folder of the storage in which uploaded files wait.
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


def begin(found: Found, wanted: Wanted) -> Dataset:
    """Return a new dataset whose splits wait to be read; raise `BadRecord`, or `BadSpec` for a name that won't do."""
    store.check_slug(wanted.slug)
    reader = find_reader(wanted.format)
    spec = reader.spec(found)
    about = {name: _text(value) for name, value in found.about.items()}
    folders = [split.images for split in found.splits if split.images]
    has_images = wanted.images != Import.Images.NONE and bool(folders)
    try:
        with transaction.atomic():
            dataset = Dataset.objects.create(
                **about | {"title": wanted.title or about.get("title", "")},
                slug=wanted.slug,
                licence=wanted.licence,
                world=reader.world,
                spec=json.dumps(spec, ensure_ascii=False),
                engine_version=ENGINE_VERSION,
                release=__version__,
                visibility=wanted.visibility,
                owner=wanted.owner,
                with_images=has_images,
                images_visible=wanted.images_visible,
                images_folder=os.path.commonpath(folders) if has_images and wanted.images == "linked" else "",
            )
            Import.objects.create(
                dataset=dataset,
                owner=wanted.owner,
                slug=wanted.slug,
                format=wanted.format,
                images=wanted.images,
                stored=wanted.stored,
            )
            contents = found.contents.items()
            SpecFile.objects.bulk_create(SpecFile(dataset=dataset, digest=key, content=text) for key, text in contents)
            _create_splits(dataset, found, spec=spec)
            jobs.plan(dataset)
    except IntegrityError as error:
        if not Dataset.objects.filter(slug=wanted.slug).exists():
            raise
        raise store.SlugTaken(f"Expected a new name, got {wanted.slug!r}, which exists.", where="slug") from error
    return dataset


def _text(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _create_splits(dataset: Dataset, found: Found, *, spec: dict[str, Any]) -> None:
    read = engine.get_world(dataset.world).read_spec(spec, files=found.contents)
    rows = {}
    for ordinal, one in enumerate(found.splits):
        rows[one.name] = Split.objects.create(dataset=dataset, name=one.name, ordinal=ordinal, kind=Split.Kind.IMPORTED)
        ImportedSplit.objects.create(
            split=rows[one.name],
            files=intake.described(one, has_spec=bool(found.spec)),
            total=sum(intake.stamp_of(name)[0] for name in one.files.values()),
        )
    for name, row in rows.items():
        reference = read.reference_of(name)
        if reference in rows:
            Split.objects.filter(pk=row.pk).update(reference=rows[reference])


def check_same(dataset: Dataset, found: Found, wanted: Wanted) -> None:
    """Raise `BadRecord` unless an import that was begun is the one now asked for."""
    imported = Import.objects.filter(dataset=dataset).first()
    if imported is None:
        raise BadRecord("Expected an import to go on with, got a dataset that is no import.", where=dataset.slug)
    begun = {origin.split.name: intake.files_of(origin) for origin in _origins(dataset)}
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
    """How far the reading is, in bytes."""

    done: int
    total: int


def way_of(dataset: Dataset) -> Way:
    """Return how far an import is."""
    origins = ImportedSplit.objects.filter(split__dataset=dataset)
    return Way(**origins.aggregate(done=Coalesce(Sum("done"), 0), total=Coalesce(Sum("total"), 0)))


def told(dataset: Dataset) -> Iterator[str]:
    """Yield what was found, a line each, for the command line."""
    for origin in _origins(dataset):
        yield from _told(origin.split, origin.report_json)


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
    if report["unknown_families"]:
        yield f"  {report['unknown_families']:,} questions are of templates that aren't ours"
    if report["pictures"] or report["missing"]:
        odd = f"{report['odd_sizes']:,} of another size"
        yield f"  {report['pictures']:,} pictures, {report['missing']:,} missing, {odd}"
        for name in [*report["first_missing"][:SHOWN], *report["first_odd_sizes"][:SHOWN]]:
            yield f"    {name}"
