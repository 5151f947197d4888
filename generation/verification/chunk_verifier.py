"""Proving the rows of one batch, with its pictures and its part of the index."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from generation.engine.content_hash import canonical
from generation.engine.errors import EngineError
from generation.engine.items import Item, Media
from generation.engine.items import Question as EngineQuestion
from generation.engine.verification.batches import BatchItem, BatchProver, StoredPictures
from generation.engine.verification.checks import read_picture
from generation.engine.verification.proof import Proof
from generation.engine.verification.verdict import Finding
from generation.models import Chunk, Question, Scene, Split
from generation.storage import files
from generation.storage.items import engine_question
from generation.storage.pictures import Pictures
from generation.storage.question_hashes import KeyColumns
from generation.verification.index_columns import ColumnProof

UNREADABLE = (EngineError, ValueError, KeyError, TypeError, AttributeError)  # errors that a tampered row can cause


class BatchTask(NamedTuple):
    split: Split
    chunk: Chunk
    again: tuple[int, ...] = ()  # positions of the scenes whose pictures are drawn again


class StoredRows(NamedTuple):
    scene: Scene
    questions: Sequence[Question]


class ChunkProof(NamedTuple):
    """The result of proving a batch.

    Attributes
    ----------
    findings : list of Finding
    proof : Proof
        What was proved, and what cannot be proved.
    hashed : bytes
        The bytes of the batch that the split's content hash covers.
    words : Counter of str
        The number of the batch's questions that contain each word.
    sources : bool
        Whether a question has the id under which it was published.
    keys : KeyColumns
        The keys of its questions, which are compared with those of the train split.
    """

    findings: list[Finding]
    proof: Proof
    hashed: bytes
    words: Counter[str]
    sources: bool
    keys: KeyColumns


def prove_chunk(task: BatchTask) -> ChunkProof:
    return _ChunkProver(task).prove()


class _ChunkProver(BatchProver):
    """Proves one batch, row by row."""

    def __init__(self, task: BatchTask) -> None:
        split, self.chunk, again = task
        is_made = split.kind == Split.Kind.GENERATED
        super().__init__(
            split.dataset.get_world(),
            split.name,
            spec=split.read_spec(),
            is_made=is_made,
            drawn=(split.dataset.read_spec(), split.name) if is_made else None,
            again=again,
        )
        self.split = split
        self.columns = ColumnProof(split)
        self.scenes = {
            row.position: row for row in Scene.objects.between(split, self.chunk.first_scene, self.chunk.scenes)
        }

    def prove(self) -> ChunkProof:
        chunk = self.chunk
        hashed = self.prove_items()
        self.findings += self.columns.words(self.proof, first=chunk.first_question, count=chunk.questions)
        replaced = sum(row.replaced for row in self.scenes.values())
        if replaced != chunk.replaced:
            self._find("rows", f"{chunk.replaced} scenes replaced in batch {chunk.number}", str(replaced))
        return ChunkProof(
            self.findings, self.proof, hashed, self.columns.counts, self.columns.sources, self.columns.keys
        )

    def read_items(self) -> Iterator[BatchItem]:
        asked = self._asked(self.scenes)
        for position in range(self.chunk.first_scene, self.chunk.first_scene + self.chunk.scenes):
            row = self.scenes.get(position)
            if row is None:
                self._find("rows", "a row of this scene", "none", scene=position)
                continue
            row.split = self.split
            rows = asked.get(row.pk, [])
            source = StoredRows(row, rows)
            yield BatchItem(source, self._item(row, rows), position, [question.position for question in rows])

    def _find(self, check: str, expected: str, came: str, *, scene: int | None = None, at: int | None = None) -> None:
        self.findings.append(Finding(self.name, check, expected, came, scene, at))

    def _asked(self, scenes: dict[int, Scene]) -> dict[int, list[Question]]:
        """Return the batch's questions by their scene's id, in order. Report missing and misplaced questions."""
        chunk, places = self.chunk, {row.pk: row.position for row in scenes.values()}
        last = chunk.first_question + chunk.questions
        rows = Question.objects.filter(split=self.split, position__gte=chunk.first_question, position__lt=last)
        asked: dict[int, list[Question]] = {}
        before, expected = -1, chunk.first_question
        for row in rows.order_by("position"):
            for missing in range(expected, row.position):
                self._find("rows", "a row of this question", "none", at=missing)
            expected = row.position + 1
            place = places.get(row.scene_id, -1)
            if place < before:
                about = f"one about scene {place}" if place >= 0 else "one about a scene of another batch"
                self._find("rows", f"a question about scene {before} or later", about, at=row.position)
            before = max(before, place)
            asked.setdefault(row.scene_id, []).append(row)
        for missing in range(expected, last):
            self._find("rows", "a row of this question", "none", at=missing)
        return asked

    def _item(self, row: Scene, questions: Sequence[Question]) -> Item:
        """Return a scene as the engine's item. If a part cannot be read, note a flaw and leave the part out."""
        return Item(
            scene=self._read(row, "scene"),
            view=self._read(row, "view"),
            questions=tuple(self._question(number, question) for number, question in enumerate(questions)),
            replaced=row.replaced,
        )

    def _read(self, row: Scene, what: str) -> Any:
        """Return a row's scene or view, or None. In a generated split, it must contain exactly the stored data."""
        try:
            data = row.scene_json if what == "scene" else row.view_json
            if data is None:
                if self.is_made and what == "scene":
                    self.proof.flaw("scenes", "a scene", "none")
                return None
            found: Any = self.world.read_scene(data) if what == "scene" else self.world.read_view(data)
            if self.is_made:
                same = canonical(found.to_json()) == canonical(data)
                self.proof.hold("scenes", same, f"nothing in the {what} beyond what it is made of", "more")
        except UNREADABLE as error:
            self.proof.flaw("scenes", f"a {what} that can be read", error)
            return None
        return found

    def _question(self, number: int, row: Question) -> EngineQuestion:
        try:
            return engine_question(row)
        except UNREADABLE as error:
            self.proof.flaw("programs", "a question whose program and answer can be read", error, question=number)
            return EngineQuestion(row.text, kind=row.kind, family=row.family)

    def scene_line(self, stored: BatchItem) -> str:
        row = stored.source.scene
        try:
            return canonical(row.scene_json)
        except ValueError:
            return str(row.data)

    def prove_place(self, stored: BatchItem) -> None:
        ours = stored.source.scene.chunk_id == self.chunk.pk
        self.proof.hold("rows", ours, f"a scene of batch {self.chunk.number}", "of another batch")

    def prove_facets(self, stored: BatchItem) -> None:
        self.columns.add(stored.source.scene, stored.source.questions, stored.item, self.proof)

    def read_pictures(self, stored: BatchItem) -> StoredPictures | None:
        row, proof = stored.source.scene, self.proof
        if not row.image and not row.linked:
            if self.is_made and self.split.dataset.with_images:
                proof.flaw("images", "a picture", "none")
            elif self.world.media is Media.IMAGE:
                proof.leave("scenes without a picture")
            return None
        if self.is_made:
            names = f"{Pictures(row).stem}.png", f"{Pictures(row).stem}-ids.png"
            proof.same("images", names, (row.image, row.ids_image), what="the files ")
        rgb = self._pixels(row, "images", row.image or row.linked)
        ids = self._pixels(row, "masks", row.ids_image) if row.ids_image else None
        if rgb is not None:
            proof.same("images", (row.height, row.width), rgb.shape[:2], what="height and width ")
        return StoredPictures(rgb, None if ids is None else ids.astype(np.uint16))

    def _pixels(self, row: Scene, check: str, name: str) -> Any:
        """Return the pixels of a picture. If it cannot be read, note a flaw and return None."""
        try:
            if check == "images" and row.linked:
                content = Path(self.split.dataset.images_folder, row.linked).read_bytes()
            else:
                content = files.get(name)
        except OSError as error:
            self.proof.flaw(check, f"the file {name}", files.in_words(error) if error.errno else "none")
            return None
        return read_picture(content, self.proof, check=check, what=f"the file {name}")
