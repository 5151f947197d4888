"""What goes into the database and the file storage, and how it comes out again as the engine's items."""

import hashlib
import io
import json
import re
import secrets as chance
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db import IntegrityError, transaction
from django.utils.functional import cached_property
from numpy.typing import NDArray
from PIL import Image

from generation import __version__
from generation.engine import ENGINE_VERSION
from generation.engine import worlds as engine
from generation.engine.canonical import canonical
from generation.engine.errors import BadScene, BadSpec
from generation.engine.program import to_text
from generation.engine.seeding import SECRET_BYTES
from generation.engine.spec import RESERVED_NAMES, BaseSpec
from generation.models import Chunk, Dataset, Job, Question, Scene, SpecFile, Split
from generation.models.datasets import SLUG_PATTERN
from generation.queue import leases
from generation.storage import files as storage
from generation.storage.index import SplitIndex

ROWS = 5000  # at most, in one transaction
CHOSEN = 900  # questions of a derived split that are read at a time
PNG_LEVEL = 1  # twice as fast as the default for files a tenth larger


class SlugTaken(BadSpec):
    """There is a dataset of that name."""


def create_dataset(
    data: Mapping[str, Any],
    *,
    slug: str,
    files: Mapping[str, bytes] = engine.NO_FILES,
    owner: Any = None,
    visibility: str = Dataset.Visibility.PRIVATE,
    images: bool = True,
    secrets: Mapping[str, str] | None = None,
) -> Dataset:
    """Return a new dataset with its splits and chunks, nothing of it made yet; `jobs.plan` says what to do.

    Parameters
    ----------
    data : mapping
        The spec as JSON, with files named by digest.
    slug : str
    files : mapping of str to bytes
        The files that the spec names.
    owner : User or None
    visibility : str
    images : bool
        Whether pictures are to be drawn.
    secrets : mapping of str to str
        Splits' secrets as hexadecimal digits; a split whose answers are withheld and that is not named gets a new one.

    Raises
    ------
    BadSpec
        Nothing is stored then. `SlugTaken` where the name is in use.
    """
    check_slug(slug)
    world = engine.get_world(str(data.get("world")))
    maker = engine.get_maker(world.name)
    spec = world.read_spec(data, files=files)
    if images:
        spec.check_here()
    keys = _secrets(spec, secrets or {})
    plans = {name: maker.plan(spec, name) for name in spec.splits}
    try:
        with transaction.atomic():
            dataset = Dataset.objects.create(
                slug=slug,
                title=spec.title,
                description=spec.description,
                world=world.name,
                spec=json.dumps(spec.to_json(), ensure_ascii=False),
                engine_version=ENGINE_VERSION,
                release=__version__,
                visibility=visibility,
                owner=owner,
                with_images=images and world.media == engine.Media.IMAGE,
            )
            SpecFile.objects.bulk_create(
                SpecFile(dataset=dataset, digest=digest, content=content) for digest, content in files.items()
            )
            _create_splits(dataset, spec, plans=plans, keys=keys)
    except IntegrityError as error:
        if not Dataset.objects.filter(slug=slug).exists():
            raise
        raise SlugTaken(f"Expected a new name, got {slug!r}, which exists.", where="slug") from error
    return dataset


def check_slug(slug: str) -> None:
    """Raise `BadSpec` for what can't be a dataset's name in addresses."""
    if not re.match(SLUG_PATTERN, slug):
        raise BadSpec(
            f"Expected small letters, digits and hyphens, 60 at most, the first no hyphen, got {slug!r}.", where="slug"
        )
    if slug in RESERVED_NAMES:
        raise BadSpec(f"Expected another name than {', '.join(sorted(RESERVED_NAMES))}, got {slug!r}.", where="slug")


def check_secrets(given: Mapping[str, str], *, splits: Collection[str]) -> None:
    """Raise `BadSpec` for a secret that is none, or of no split."""
    for name, text in given.items():
        if name not in splits:
            raise BadSpec(f"Expected one of {', '.join(splits)}, got {name!r}.", where="--secret")
        if not re.fullmatch(r"[0-9a-fA-F]{32}", text):
            raise BadSpec(f"Expected 32 hexadecimal digits, got {len(text)} characters.", where=f"--secret {name}")


def _secrets(spec: BaseSpec, given: Mapping[str, str]) -> dict[str, str]:
    """Return the secret of every split that has one, as hexadecimal digits."""
    check_secrets(given, splits=spec.splits)
    made = {name: chance.token_hex(SECRET_BYTES) for name, split in spec.splits.items() if split.withheld}
    return made | {name: text.lower() for name, text in given.items()}


def _create_splits(
    dataset: Dataset, spec: BaseSpec, *, plans: Mapping[str, Sequence[engine.Chunk]], keys: Mapping[str, str]
) -> None:
    splits: dict[str, Split] = {}
    for ordinal, (name, split) in enumerate(spec.splits.items()):
        secret = keys.get(name, "")
        splits[name] = Split.objects.create(
            dataset=dataset,
            name=name,
            ordinal=ordinal,
            withheld=split.withheld,
            secret=secret,
            secret_sha256=hashlib.sha256(bytes.fromhex(secret)).hexdigest() if secret else "",
            scenes=sum(chunk.items for chunk in plans[name]),
            questions=sum(chunk.questions for chunk in plans[name]),
        )
        Chunk.objects.bulk_create(
            (
                Chunk(
                    split=splits[name],
                    number=chunk.number,
                    first_scene=chunk.first_item,
                    scenes=chunk.items,
                    first_question=chunk.first_question,
                    questions=chunk.questions,
                )
                for chunk in plans[name]
            ),
            batch_size=ROWS,
        )
    for name, split_row in splits.items():
        reference = spec.reference_of(name)
        if reference is not None:
            Split.objects.filter(pk=split_row.pk).update(reference=splits[reference])


class ChunkWriter:
    """Puts a chunk's items into rows, in transactions of at most `ROWS`, each under the job's token.

    The last transaction also says that the chunk is made and what follows from it; what an earlier attempt that
    was killed left behind is cleared first.
    """

    def __init__(self, job: Job) -> None:
        assert job.chunk is not None and job.split is not None
        self.job, self.chunk, self.split = job, job.chunk, job.split
        self.scenes: list[Scene] = []
        self.questions: list[Question] = []
        self.scene_at, self.question_at = self.chunk.first_scene, self.chunk.first_question
        self.replaced = 0

    def write(self, items: Iterable[engine.Item], *, then: Sequence[Job] = ()) -> None:
        """Store all items and finish the job; `then` are the jobs that follow. Raises `LeaseLost`, `BadScene`."""
        self._clear()
        for item in items:
            if len(self.scenes) + len(self.questions) + 1 + len(item.questions) > ROWS:
                with transaction.atomic():
                    leases.renew(self.job)
                    self._flush()
            self._add(item)
        self._check_complete()
        with transaction.atomic():
            leases.renew(self.job)
            self._flush()
            Chunk.objects.filter(pk=self.chunk.pk).update(made=True, replaced=self.replaced)
            Job.objects.bulk_create(then, ignore_conflicts=True)
            leases.finish(self.job)

    def _clear(self) -> None:
        while True:
            with transaction.atomic():
                leases.renew(self.job)
                left = list(self.chunk.scene_set.values_list("pk", flat=True)[:100])
                if not left:
                    return
                Question.objects.filter(scene__in=left).delete()
                Scene.objects.filter(pk__in=left).delete()

    def _add(self, item: engine.Item) -> None:
        scene = Scene(
            split=self.split,
            chunk=self.chunk,
            position=self.scene_at,
            data=None if item.scene is None else canonical(item.scene.to_json()),
            view=None if item.view is None else canonical(item.view.to_json()),
            source_number=item.number,
            source_image=item.image_name,
            replaced=item.replaced,
        )
        self.scenes.append(scene)
        for number, question in enumerate(item.questions):
            self.questions.append(question_row(question, scene=scene, position=self.question_at + number))
        self.scene_at += 1
        self.question_at += len(item.questions)
        self.replaced += item.replaced

    def _flush(self) -> None:
        Scene.objects.bulk_create(self.scenes)
        Question.objects.bulk_create(self.questions)
        self.scenes, self.questions = [], []

    def _check_complete(self) -> None:
        chunk = self.chunk
        made = self.scene_at - chunk.first_scene, self.question_at - chunk.first_question
        if made != (chunk.scenes, chunk.questions):
            raise BadScene(
                f"Expected {chunk.scenes} scenes with {chunk.questions} questions, got {made[0]} with {made[1]}.",
                where=str(chunk),
            )


def question_row(question: engine.Question, *, scene: Scene, position: int) -> Question:
    """Return a question of the engine as a row that is not stored yet."""
    answer = question.answer
    return Question(
        split=scene.split,
        scene=scene,
        position=position,
        text=question.text,
        program=None if question.program is None else to_text(question.program),
        answer=None if answer is None else answer.text,
        answer_kind="" if answer is None else answer.kind,
        spelling=None if answer is None else answer.spelling,
        kind=question.kind,
        family=question.family,
        scope=question.scope,
        source_id=question.source_id or "",
    )


def engine_question(row: Question) -> engine.Question:
    """Return a stored question as the engine knows it."""
    answer = None
    if row.answer is not None:
        answer = engine.Answer(row.answer, engine.AnswerKind(row.answer_kind), row.spelling)
    return engine.Question(
        text=row.text,
        program=row.steps,
        answer=answer,
        kind=row.kind,
        family=row.family,
        scope=row.scope,
        source_id=row.source_id or None,
    )


class Stored(NamedTuple):
    """A scene with its questions, as rows and as the engine's item."""

    scene: Scene
    questions: tuple[Question, ...]
    item: engine.Item


def load_item(scene: Scene) -> Stored:
    """Return one stored scene with its questions, in order."""
    return _stored(scene.split.dataset.get_world(), scene, list(scene.question_set.order_by("position")))


def load_items(split: Split, first: int, count: int) -> Iterator[Stored]:
    """Yield the stored scenes from position `first`, at most `count`, each with its questions, in order.

    Of a derived split the scenes that its questions are about are counted, each with those of its questions that it
    has, numbered as it counts them; the scenes keep the positions they have in the parent.
    """
    if split.is_derived:
        index = SplitIndex.open(split)
        assert index.positions is not None
        starts = [*index.scene_starts[first : first + count + 1].tolist(), index.n][: count + 1]
        part = slice(starts[0], starts[-1])
        yield from load_chosen(split.source, index.positions[part], scenes=index.scenes[part], start=starts[0])
        return
    world = split.dataset.get_world()
    scenes = list(Scene.objects.between(split, first, count))
    asked: dict[int, list[Question]] = {scene.pk: [] for scene in scenes}
    for question in Question.objects.filter(scene__in=list(asked)).order_by("position"):
        asked[question.scene_id].append(question)
    for scene in scenes:
        yield _stored(world, scene, asked[scene.pk])


def load_chosen(
    split: Split, positions: NDArray[np.integer], *, scenes: NDArray[np.integer], start: int = 0
) -> Iterator[Stored]:
    """Yield the scenes of some questions with these questions alone, in order, numbered from `start`.

    Parameters
    ----------
    split : Split
        The one that has them.
    positions, scenes : arrays of int
        Of each question its position and that of its scene, ascending.
    start : int
    """
    world = split.dataset.get_world()
    first = 0
    while first < len(positions):
        last = scenes[min(first + CHOSEN, len(scenes)) - 1]
        stop = int(np.searchsorted(scenes, last, side="right"))
        about = Scene.objects.filter(split=split, position__in=np.unique(scenes[first:stop]).tolist())
        asked: dict[int, list[Question]] = {}
        rows = Question.objects.filter(split=split, position__in=positions[first:stop].tolist()).order_by("position")
        for number, question in enumerate(rows, start + first):
            question.position = number
            asked.setdefault(question.scene_id, []).append(question)
        for scene in about.order_by("position"):
            yield _stored(world, scene, asked.get(scene.pk, []))
        first = stop


def _stored(world: engine.World, scene: Scene, questions: Sequence[Question]) -> Stored:
    return Stored(scene, tuple(questions), item_of(scene, world=world, questions=questions))


def item_of(scene: Scene, *, world: engine.World, questions: Sequence[Question] = ()) -> engine.Item:
    """Return a stored scene as the engine has it, with these of its questions."""
    data, view = scene.scene_json, scene.view_json
    return engine.Item(
        scene=None if data is None else world.read_scene(data),
        view=None if view is None else world.read_view(view),
        questions=tuple(engine_question(question) for question in questions),
        replaced=scene.replaced,
        number=scene.source_number,
        image_name=scene.source_image,
    )


class Pictures:
    """Where the pictures of a scene are kept, and how they get there."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @cached_property
    def stem(self) -> str:
        """Return the file name without what tells picture and object ids apart."""
        split, position = self.scene.split, self.scene.position
        return f"datasets/{split.dataset_id}/{split.name}/{position // 1000:04d}/{position:07d}"

    def store(self, rgb: NDArray[np.uint8], ids: NDArray[np.uint16]) -> None:
        """Store both pictures and note their names and size on the scene, which the caller saves.

        Parameters
        ----------
        rgb : array (height, width, 3) of uint8, sRGB
        ids : array (height, width) of uint16, 0 where there is no object
        """
        image, ids_image = f"{self.stem}.png", f"{self.stem}-ids.png"
        storage.put(image, png(rgb))
        storage.put(ids_image, png(ids.astype(np.uint8) if ids.max(initial=0) < 256 else ids))
        self.scene.image, self.scene.ids_image = image, ids_image
        self.scene.height, self.scene.width = rgb.shape[:2]


def png(pixels: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    """Return an image of 8-bit colour, 8-bit grey or 16-bit grey as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()
