"""Importing published records: the records of a split are read once, in order, and stored as rows, batch by batch.

The rows of a batch and the progress of reading are stored in one transaction, so an import that was killed continues
after the last complete batch. If a record cannot be read, the import ends for good, and nothing of it is kept.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.models import Model
from PIL import Image

from generation.engine import worlds as engine
from generation.engine.content_hash import canonical
from generation.engine.errors import BadRecord
from generation.engine.program import to_text
from generation.engine.reading.dataset_reader import FoundFiles, Reader, ReadItem, SplitFiles, SplitSummary, find_reader
from generation.engine.spec import LIMITS
from generation.making import import_sandbox
from generation.models import Chunk, Dataset, Import, ImportedSplit, Job, Question, Quota, Scene, Split
from generation.queue import leases
from generation.storage import files as storage
from generation.storage.pictures import Pictures

UPLOADS = "imports"  # the storage folder for uploaded files
SCENES = 250  # largest number of scenes in a batch
ROWS = 4_900  # largest number of scenes and questions in a batch; its transaction also writes a few other rows
LISTED = 1000  # faults that are listed one by one
WORDS = 1000  # largest number of kept answers that the world does not expect
NAMED = 20  # files, or changes of answers, that are listed one by one
LONGEST_NAMED = 100  # characters of a listed answer
FORMATS = ("PNG", "JPEG")
MOST_PIXELS = LIMITS["side"].ceiling ** 2  # limit for a picture, because the web process makes its thumbnail
STORED = (  # attributes of a question, in the order of `insert_questions`
    *("split_id", "scene_id", "position", "text", "program", "answer", "answer_kind", "spelling"),
    *("kind", "family", "scope", "source_id"),
)


class NewPicture(NamedTuple):
    """The columns of a scene that describe its picture; the size is 0 if it is not known."""

    image: str
    linked: str
    width: int
    height: int


class NewScene(NamedTuple):
    """The columns of a scene that differ from scene to scene."""

    position: int
    data: str | None
    view: str | None
    source_number: int | None
    source_image: str
    image: str
    linked: str
    width: int
    height: int


class ImportReport:
    """The report on a split: what was found, what is missing and what is wrong. It is a JSON object that grows."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data: dict[str, Any] = {
            **dict.fromkeys(("items", "scenes", "views", "programs", "answers", "families", "executed", "most"), 0),
            **dict.fromkeys(("faults", "normalised", "unknown_families", "pictures", "missing", "odd_sizes"), 0),
            "first_faults": [],
            "first_normalised": [],
            "first_missing": [],
            "first_odd_sizes": [],
            "words": [],
            "size": None,
            **data,
        }

    def add(self, read: ReadItem, *, position: int) -> None:
        """Add an item whose first question has this position."""
        item, data = read.item, self.data
        programs = sum(question.program is not None for question in item.questions)
        data["items"] += 1
        data["scenes"] += item.scene is not None
        data["views"] += item.view is not None
        data["programs"] += programs
        data["answers"] += sum(question.answer is not None for question in item.questions)
        data["families"] += sum(question.family is not None for question in item.questions)
        data["executed"] += programs if item.scene is not None else 0
        data["most"] = max(data["most"], read.most)
        data["unknown_families"] += read.unknown_families
        data["words"] += [word for word in read.words if word not in data["words"]][: WORDS - len(data["words"])]
        for fault in read.faults:
            data["faults"] += 1
            if len(data["first_faults"]) < LISTED:
                data["first_faults"].append({**fault._asdict(), "question": position + fault.question})

        for changed in read.normalised:
            data["normalised"] += 1
            pair = [text[:LONGEST_NAMED] for text in (changed.published, changed.stored)]
            if len(data["first_normalised"]) < NAMED and pair not in data["first_normalised"]:
                data["first_normalised"].append(pair)

    def add_missing(self, name: str, *, why: str) -> None:
        self.data["missing"] += 1
        if len(self.data["first_missing"]) < NAMED:
            self.data["first_missing"].append(f"{name}: {why}")

    def add_size(self, name: str, size: tuple[int, int]) -> None:
        """Add a picture. All pictures are expected to have the size of the first one."""
        self.data["pictures"] += 1
        if self.data["size"] is None:
            self.data["size"] = list(size)
        elif self.data["size"] != list(size):
            self.data["odd_sizes"] += 1
            if len(self.data["first_odd_sizes"]) < NAMED:
                self.data["first_odd_sizes"].append(f"{name}: {size[0]} × {size[1]}")

    def known(self) -> SplitSummary:
        size = self.data["size"]
        pixels = None if size is None else (size[0], size[1])
        return SplitSummary(self.data["items"], self.data["most"], pixels, tuple(self.data["words"]))


def run(job: Job, lease: leases.Lease, *, then: Callable[[Dataset], None]) -> None:
    """Read a split to its end. After the last split of a dataset, complete the spec and call `then`.

    Raises `BadRecord` if something cannot be read, and `LeaseLost` if this process no longer holds the job.
    """
    assert job.split is not None
    Split.objects.filter(pk=job.split.pk, state=Split.State.WAITING).update(state=Split.State.MAKING)
    _Intake(job, lease).run(then)


def sort(job: Job, lease: leases.Lease, *, then: Callable[[Dataset], None]) -> None:
    """Recognise the uploaded files of an import, create its splits, and call `then`.

    Raises `EngineError` for unusable files, and `LeaseLost` if this process no longer holds the job.
    """
    imported = Import.objects.get(dataset=job.dataset_id)
    found = import_sandbox.sort(imported.format, json.loads(imported.files), check=lease.check)
    spec = find_reader(imported.format).spec(found)
    with transaction.atomic():
        leases.finish(job)
        dataset = Dataset.objects.select_for_update().get(pk=job.dataset_id)
        Dataset.objects.filter(pk=dataset.pk).update(spec=json.dumps(spec, ensure_ascii=False))
        create_splits(dataset, found, spec=spec)
        then(Dataset.objects.get(pk=dataset.pk))


def create_splits(dataset: Dataset, found: FoundFiles, *, spec: dict[str, Any]) -> None:
    """Create the splits that were found. They wait to be read."""
    read = engine.get_world(dataset.world).read_stored_spec(spec, files=found.contents)
    rows = {}
    for ordinal, one in enumerate(found.splits):
        rows[one.name] = Split.objects.create(dataset=dataset, name=one.name, ordinal=ordinal, kind=Split.Kind.IMPORTED)
        ImportedSplit.objects.create(
            split=rows[one.name],
            files=describe_files(one, has_spec=bool(found.spec)),
            total=sum(stamp_of(name)[0] for name in one.files.values()),
        )
    for name, row in rows.items():
        reference = read.reference_of(name)
        if reference in rows:
            Split.objects.filter(pk=row.pk).update(reference=rows[reference])


class _Intake:
    def __init__(self, job: Job, lease: leases.Lease) -> None:
        assert job.split is not None
        self.job, self.lease, self.split = job, lease, Split.objects.select_related("dataset").get(pk=job.split.pk)
        self.origin: ImportedSplit = ImportedSplit.objects.get(split=self.split)
        self.imported: Import = Import.objects.get(dataset=self.split.dataset)
        self.reader = find_reader(self.imported.format)
        self.files = files_of(self.origin)
        self.report = ImportReport(self.origin.report_json)
        self.read_bytes = 0
        self.scenes: list[NewScene] = []
        self.questions: list[tuple[int, int, engine.Question]] = []  # place of the scene, position, question
        self.chunk = Chunk(split=self.split, number=self.split.chunks.count())

    def run(self, then: Callable[[Dataset], None]) -> None:
        check_unchanged(self.origin)
        spec = self.split.read_spec()
        reads = import_sandbox.SplitReading(
            self.imported.format, self.files, spec=spec, skip=self.split.scenes, check=self.lease.check
        )
        for read in reads:
            self.lease.check()
            self.read_bytes = reads.bytes
            self.report.data["licence"] = reads.licence
            if self.scenes and self._is_full(read):
                with transaction.atomic():
                    leases.renew(self.job)
                    self._flush()
            self._add(read)
        if not self.split.scenes and not self.scenes:
            where = ", ".join([*self.files.files.values(), *filter(None, [self.files.images])])
            raise BadRecord("Expected at least one record, got none.", where=where)
        self.report.data["licence"], self.report.data["sha256"] = reads.licence, reads.sha256
        with transaction.atomic():
            list(Dataset.objects.select_for_update().filter(pk=self.split.dataset_id))
            leases.finish(self.job)
            self._flush()
            ImportedSplit.objects.filter(pk=self.origin.pk).update(
                done=self.origin.total, report=json.dumps(self.report.data)
            )
            if not self.split.dataset.jobs.filter(kind=Job.Kind.IMPORT).exclude(state=Job.State.DONE).exists():
                settle_spec(self.split.dataset, self.reader)
                then(Dataset.objects.get(pk=self.split.dataset.pk))
        drop_uploads(self.imported)

    def _is_full(self, read: ReadItem) -> bool:
        rows = len(self.scenes) + len(self.questions) + 1 + len(read.item.questions)
        return len(self.scenes) >= SCENES or rows > ROWS

    def _add(self, read: ReadItem) -> None:
        if not self.scenes:
            self.chunk = Chunk(
                split=self.split,
                number=self.chunk.number,
                first_scene=self.split.scenes,
                first_question=self.split.questions,
                made=True,
            )
        position = self.split.questions + len(self.questions)
        self.report.add(read, position=position)
        place = self.split.scenes + len(self.scenes)
        self.scenes.append(
            NewScene(
                place,
                None if read.item.scene is None else canonical(read.item.scene.to_json()),
                None if read.item.view is None else canonical(read.item.view.to_json()),
                read.item.number,
                read.item.image_name,
                *self._picture(place, read),
            )
        )
        self.questions += [
            (len(self.scenes) - 1, position + number, question) for number, question in enumerate(read.item.questions)
        ]

    def _picture(self, position: int, read: ReadItem) -> NewPicture:
        """Return the picture of a scene, and store it if it is to be copied; if it is missing, only its size."""
        name, published = read.item.image_name, NewPicture("", "", *read.size)
        if self.imported.images == Import.Images.NONE or not self.files.images or not name:
            return published
        path = Path(self.files.images, name)
        try:
            content = path.read_bytes() if self.imported.images == Import.Images.COPIED else None
            with Image.open(path if content is None else BytesIO(content), formats=FORMATS) as image:
                size = image.size
                if size[0] * size[1] > MOST_PIXELS:
                    self.report.add_missing(name, why=f"larger than {MOST_PIXELS:,} pixels")
                    return published
        except FileNotFoundError:
            self.report.add_missing(name, why="not there")
            return published
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            self.report.add_missing(name, why=f"not a picture that can be read ({type(error).__name__})")
            return published
        self.report.add_size(name, size)
        if content is None:
            return NewPicture("", str(path.relative_to(self.split.dataset.images_folder)), *size)
        stored = Pictures(Scene(split=self.split, position=position)).stem + path.suffix.lower()
        storage.put(stored, content)
        return NewPicture(stored, "", *size)

    def _flush(self) -> None:
        """Store the batch and the progress of reading, and update `self.split`."""
        if not self.scenes:
            return
        self.chunk.scenes, self.chunk.questions = len(self.scenes), len(self.questions)
        self.chunk.save(force_insert=True)
        insert_questions(self.split, insert_scenes(self.chunk, self.scenes), self.questions)
        self.split.scenes += len(self.scenes)
        self.split.questions += len(self.questions)
        Split.objects.filter(pk=self.split.pk).update(scenes=self.split.scenes, questions=self.split.questions)
        done = min(self.read_bytes, self.origin.total)
        ImportedSplit.objects.filter(pk=self.origin.pk).update(done=done, report=json.dumps(self.report.data))
        self._check_quota()
        self.chunk = Chunk(split=self.split, number=self.chunk.number + 1)
        self.scenes, self.questions = [], []

    def _check_quota(self) -> None:
        owner = self.imported.owner
        if owner is None or owner.is_staff:
            return
        allowed, used = Quota.objects.allowed(owner), Quota.objects.used(owner)
        if used > allowed:
            raise BadRecord(
                f"Expected room for these scenes, but your quota of {allowed:,} scenes is used up. "
                "Delete datasets, or ask staff for more.",
                where=str(self.split),
            )


def insert_scenes(chunk: Chunk, scenes: Sequence[NewScene]) -> list[int]:
    """Store the scenes of a new, stored chunk in a third of the time that `bulk_create` takes; return their keys."""
    fixed = {"split_id": chunk.split_id, "chunk_id": chunk.pk, "replaced": 0, "ids_image": ""}
    rows = [(*fixed.values(), *scene) for scene in scenes]
    _insert(Scene, (*fixed, *NewScene._fields), rows)
    return list(Scene.objects.filter(chunk=chunk).order_by("position").values_list("pk", flat=True))


def insert_questions(split: Split, scenes: Sequence[int], asked: Iterable[tuple[int, int, engine.Question]]) -> None:
    """Store questions in a third of the time that `bulk_create` takes.

    `scenes` are the keys of stored scenes. A question comes with the place of its scene in `scenes` and its position.
    """
    rows = [
        (
            split.pk,
            scenes[place],
            position,
            question.text,
            None if question.program is None else to_text(question.program),
            None if question.answer is None else question.answer.text,
            "" if question.answer is None else str(question.answer.kind),
            None if question.answer is None else question.answer.spelling,
            question.kind,
            question.family,
            question.scope,
            question.source_id or "",
        )
        for place, position, question in asked
    ]
    _insert(Question, STORED, rows)


def _insert(model: type[Model], attributes: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Store rows with the values of these attributes, which must be all except the key."""
    quote = connection.ops.quote_name
    names = {field.attname: str(field.column) for field in model._meta.concrete_fields}
    columns = ", ".join(quote(names[attribute]) for attribute in attributes)
    marks = ", ".join(["%s"] * len(attributes))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({marks})", rows)  # noqa: S608


def files_of(origin: ImportedSplit) -> SplitFiles:
    data = origin.files_json
    return SplitFiles(data["name"], data["files"], data["images"])


def describe_files(split: SplitFiles, *, has_spec: bool) -> str:
    """Return a description of a split's files as JSON, with their sizes and the times of their last change."""
    stamps = {kind: stamp_of(name) for kind, name in split.files.items()}
    return json.dumps(
        {"name": split.name, "files": dict(split.files), "images": split.images, "stamps": stamps, "spec": has_spec}
    )


def stamp_of(name: str) -> list[int]:
    """Return a file's size and its time of change (0 for a file of the storage); raise `BadRecord` if it is missing."""
    path = Path(name)
    try:
        if path.is_absolute():
            found = path.stat()
            return [found.st_size, found.st_mtime_ns]
        return [default_storage.size(name), 0]
    except OSError as error:
        raise BadRecord("Expected a file, got nothing. Put it back.", where=name) from error


def check_unchanged(origin: ImportedSplit) -> None:
    """Raise `BadRecord` if a file has changed since the import began."""
    data = origin.files_json
    for kind, name in data["files"].items():
        if stamp_of(name) != data["stamps"][kind]:
            raise BadRecord("Expected the file as it was when the import began, got another.", where=name)


def settle_spec(dataset: Dataset, reader: Reader) -> None:
    """Complete the spec with the facts about all splits after reading them."""
    origins = list(ImportedSplit.objects.filter(split__dataset=dataset).select_related("split").order_by("split"))
    has_spec = any(origin.files_json["spec"] for origin in origins)
    found = FoundFiles(
        tuple(files_of(origin) for origin in origins),
        spec=dataset.spec_data if has_spec else {},
        contents={file.digest: bytes(file.content) for file in dataset.files.order_by("digest")},
    )
    known = {origin.split.name: ImportReport(origin.report_json).known() for origin in origins}
    spec = {**reader.spec(found, known), "title": dataset.title, "description": dataset.description}
    Dataset.objects.filter(pk=dataset.pk).update(spec=json.dumps(spec, ensure_ascii=False))


def drop_uploads(imported: Import) -> None:
    """Delete the uploaded files of an import if nothing is left to read."""
    left = Job.objects.filter(dataset=imported.dataset_id, kind=Job.Kind.IMPORT).exclude(state=Job.State.DONE)
    if imported.stored and not (imported.dataset_id and left.exists()):
        with suppress(OSError):
            storage.drop_folder(imported.stored)


def drop_forgotten_uploads() -> int:
    """Delete old folders of uploaded files that no import needs, left by killed uploads; return their number."""
    wanted = set(Import.objects.filter(dataset__isnull=False).exclude(stored="").values_list("stored", flat=True))
    forgotten = [name for name in storage.old_folders(UPLOADS) if name not in wanted]
    for name in forgotten:
        storage.drop_folder(name)
    return len(forgotten)


def is_read(split: Split) -> bool:
    imports = Job.objects.filter(dataset=split.dataset_id, kind=Job.Kind.IMPORT, split__isnull=False)
    return imports.exists() and not imports.exclude(state=Job.State.DONE).exists()
