"""Sealing: computing a split's fingerprint and index in one pass over its rows."""

import hashlib
import json
import os
import shutil
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from django.db import transaction
from numpy.typing import NDArray

from generation.engine.content_hash import Fingerprint, digest, question_line
from generation.engine.errors import BadScene
from generation.engine.items import Facet, FacetKind, Needs
from generation.models import Split
from generation.queue.leases import Lease, NoLease
from generation.storage import files
from generation.storage.counted_boxes import FILES, BoxColumns, CountedBoxes
from generation.storage.items import ItemRows, StoredItem, load_items, load_rows
from generation.storage.question_hashes import KeyColumns
from generation.storage.split_index import FOLDER, FORMAT, MANIFEST, WORD, IndexedFacet

SCENES = 250  # scenes that are read at a time
NO_LEASE = NoLease()


class SealedSplit(NamedTuple):
    fingerprint: str
    index_digest: str


def seal(split: Split, lease: Lease | NoLease = NO_LEASE) -> SealedSplit:
    """Build and store the index of a split with all its rows; return its fingerprint and the digest of the index.

    Raises `LeaseLost` if another process has taken over, and `BadScene` if a row is missing or a value is not in the
    vocabulary.
    """
    fingerprint, columns = Fingerprint(), Columns(split)
    for batch in _all_rows(split, check=lease.check):
        fingerprint.add_lines(line for stored in batch for line in _lines(stored))
        columns.add(batch)
    if columns.n != split.questions:
        raise BadScene(f"Expected {split.questions} questions, got {columns.n}.", where=str(split))
    with Draft(split, lease) as draft:
        columns.write(draft.folder)
        index_digest = draft.digest()
        with transaction.atomic():  # saved before publishing, so that deleting the split also finds the index
            lease.confirm()
            Split.objects.filter(pk=split.pk).update(index_digest=index_digest)
        draft.publish(index_digest)
    return SealedSplit(fingerprint.hexdigest(), index_digest)


def _lines(stored: ItemRows) -> Iterator[str]:
    # Scenes and programs are stored in canonical form.
    yield stored.scene.data or "null"
    for row in stored.questions:
        yield question_line(row.text, row.kind, row.answer, row.program, row.family, row.scope)


def fingerprint_of(split: Split) -> str:
    """Return the fingerprint of a split's current rows; raise `BadScene` if a row is missing."""
    fingerprint, questions = Fingerprint(), 0
    for stored in load_items(split, 0, split.scenes) if split.is_derived else _all_items(split):
        fingerprint.add(stored.scene.scene_json, (question.to_json() for question in stored.item.questions))
        questions += len(stored.questions)
    if questions != split.questions:
        raise BadScene(f"Expected {split.questions} questions, got {questions}.", where=str(split))
    return fingerprint.hexdigest()


def _all_items(split: Split) -> Iterator[StoredItem]:
    for first in range(0, split.scenes, SCENES):
        batch = list(load_items(split, first, SCENES))
        _check_scenes(split, first, [stored.scene.position for stored in batch])
        yield from batch


def _all_rows(split: Split, *, check: Callable[[], None]) -> Iterator[list[ItemRows]]:
    for first in range(0, split.scenes, SCENES):
        check()
        batch = load_rows(split, first, SCENES)
        _check_scenes(split, first, [stored.scene.position for stored in batch])
        yield batch


def _check_scenes(split: Split, first: int, found: Sequence[int]) -> None:
    """Raise `BadScene` if a scene of the batch from `first` is missing; `found` has the positions, ascending."""
    position = first
    for came in found:
        if came != position:
            break
        position += 1
    if position != min(first + SCENES, split.scenes):
        raise BadScene("Expected this scene, got none.", where=f"{split} scene {position}")


class Columns:
    """The values of an index, collected in question order. A question needs 4 bytes per word and 1 or 2 per facet."""

    def __init__(self, split: Split) -> None:
        self.world, self.spec = split.dataset.get_world(), split.read_spec()
        self.where, self.split = str(split), split.pk
        self.n = 0
        facets = self.world.facets(self.spec)
        self.facets = [facet for facet in facets if facet.needs == Needs.ITEM]
        self.keys = KeyColumns([facet.name for facet in facets if facet.needs == Needs.TRAIN])
        self.codes = {facet.name: array(_typecode(_code_count(facet))) for facet in self.facets}
        self.answer_values = self.world.answers(self.spec)
        self.answer_codes = {text: code for code, text in enumerate(self.answer_values)}
        self.answers = array(_typecode(len(self.answer_values)))
        self.scenes = array("I")
        self.sources: list[bytes] = []
        self.words: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self.boxes = BoxColumns(self.world, self.spec) if self.world.most_counted(self.spec) is not None else None

    def add(self, batch: Sequence[ItemRows]) -> None:
        """Add the questions of some scenes."""
        rows = [row for stored in batch for row in stored.questions]
        scenes = [stored.scene.position for stored in batch for _ in stored.questions]
        self._add_facets(batch, scenes)
        for number, row in enumerate(rows, self.n):
            if row.position != number:
                raise BadScene(f"Expected question {number}, got {row.position}.", where=self.where)
            self.answers.append(self._answer_code(row.answer, question=number))
            for word in set(WORD.findall(row.text.lower())):
                self.words[word].append(number)
        self.n += len(rows)
        self.scenes.extend(scenes)
        self.sources += [row.source_id.encode() for row in rows]
        for stored in batch:
            for question in stored.item.questions:
                self.keys.add(self.world.train_keys(self.spec, stored.item, question))
            if self.boxes is not None:
                self.boxes.add(stored.item)

    def _add_facets(self, batch: Sequence[ItemRows], scenes: Sequence[int]) -> None:
        coded = [self.world.facet_codes(self.spec, stored.item) for stored in batch]
        for facet in self.facets:
            codes = [of_scene[facet.name] for of_scene in coded]
            for stored, found in zip(batch, codes, strict=True):
                if len(found) != len(stored.questions):
                    where = self._place(facet, stored.scene.position)
                    raise BadScene(f"Expected {len(stored.questions)} codes, got {len(found)}.", where=where)
            self._add_codes(facet, np.fromiter(chain.from_iterable(codes), np.int64, len(scenes)), scenes)

    def _add_codes(self, facet: Facet, codes: NDArray[np.int64], scenes: Sequence[int]) -> None:
        column, limit = self.codes[facet.name], _code_count(facet)
        wrong = np.flatnonzero(codes >= limit)
        if len(wrong):
            where = self._place(facet, scenes[wrong[0]])
            raise BadScene(f"Expected a code below {limit}, got {codes[wrong[0]]}.", where=where)
        column.frombytes(np.where(codes < 0, _none(column), codes).astype(column.typecode).tobytes())

    def _place(self, facet: Facet, scene: int) -> str:
        return f"{self.where} scene {scene}, facet {facet.name}"

    def _answer_code(self, answer: str | None, *, question: int) -> int:
        if answer is None:
            return _none(self.answers)
        if answer not in self.answer_codes:
            raise BadScene(
                f"Expected an answer of the vocabulary, got {answer!r}.", where=f"{self.where} question {question}"
            )
        return self.answer_codes[answer]

    def write(self, folder: Path) -> None:
        """Write the columns into an empty folder, with a manifest."""
        entries = []
        for number, facet in enumerate(self.facets):
            entries.append(facet_entry(facet, file=f"facet_{number:02d}.npy"))
            save(folder / entries[-1]["file"], _numbers(self.codes[facet.name]))
        save(folder / "answers.npy", _numbers(self.answers))
        save(folder / "scenes.npy", _numbers(self.scenes))
        vocabulary = sorted(self.words)
        self._write_words(folder, vocabulary)
        if any(self.sources):
            save(folder / "sources.npy", np.array(self.sources, dtype=np.bytes_))
        boxes = None if self.boxes is None else self.boxes.taken()
        if boxes is not None:
            save_boxes(folder, boxes)
        manifest = {
            "format": FORMAT,
            "split": self.split,  # so that no two splits share an index, and each can be deleted alone
            "n": self.n,
            "facets": entries,
            "answers": list(self.answer_values),
            "words": vocabulary,
            "sources": any(self.sources),
            "keys": self._write_keys(folder),
            **({} if boxes is None else {"boxes": True}),
        }
        files.write_synced(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False).encode())

    def _write_keys(self, folder: Path) -> list[dict[str, str]]:
        """Write the keys of each name, and return the names of their files."""
        entries = []
        for number, (name, keys) in enumerate(self.keys.taken()):
            entries.append({"name": name, **{part: f"keys_{number:02d}_{part}.npy" for part in keys._fields}})
            for part, values in keys._asdict().items():
                save(folder / entries[-1][part], values)
        return entries

    def _write_words(self, folder: Path, vocabulary: Sequence[str]) -> None:
        """Write the start of each word's postings, and all postings. Memory is freed word by word."""
        starts = np.zeros(len(vocabulary) + 1, dtype=np.int64)
        np.cumsum([len(self.words[word]) for word in vocabulary], out=starts[1:])
        postings = np.zeros(starts[-1], dtype=np.uint32)
        for number, word in enumerate(vocabulary):
            postings[starts[number] : starts[number + 1]] = _numbers(self.words.pop(word))
        save(folder / "word_starts.npy", starts)
        save(folder / "word_postings.npy", postings)


class Draft:
    """A temporary folder in which an index is written before it is published."""

    def __init__(self, split: Split, lease: Lease | NoLease) -> None:
        self.split, self.lease = split, lease
        self.home = files.local_path(FOLDER)
        self.folder = _new_draft(split)

    def __enter__(self) -> "Draft":
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        left = _drafts_of(self.split)
        self.lease.confirm()  # after this, no other process may publish one of these drafts
        for draft in left:
            _drop_draft(draft, self.split)
        self.folder.mkdir()
        return self

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def digest(self) -> str:
        return digest([[file, _sha256(self.folder / file)] for file in self._names()])

    def publish(self, name: str) -> None:
        """Store the index under its name, completely or not at all."""
        if self.home is None:
            for file in sorted(self._names(), key=lambda file: file == MANIFEST):
                files.put(f"{FOLDER}/{name}/{file}", (self.folder / file).read_bytes())
        elif not (self.home / name / MANIFEST).exists():
            self.folder.rename(self.home / name)
            files.sync_folder((self.home / name).parent)

    def _names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


def drop_drafts(split: Split) -> None:
    for draft in _drafts_of(split):
        _drop_draft(draft, split)


def _drafts_folder() -> Path:
    home = files.local_path(FOLDER)
    return home if home is not None else Path(settings.VAR_DIR, "cache")


def _new_draft(split: Split) -> Path:
    return _drafts_folder() / files.draft_name(f"split-{split.pk}")


def _drafts_of(split: Split) -> list[Path]:
    return list(_drafts_folder().glob(f".split-{split.pk}.*"))


def _drop_draft(draft: Path, split: Split) -> None:
    """Delete a draft. It is renamed first, so that a draft that is being published stays complete."""
    doomed = _new_draft(split)
    with suppress(FileNotFoundError):
        draft.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def _code_count(facet: Facet) -> int:
    # Each set of flags has a code.
    return 1 << len(facet.values) if facet.kind == FacetKind.FLAGS else len(facet.values)


def _typecode(count: int) -> str:
    if count > 65535:
        raise BadScene(f"Expected at most 65,535 values, got {count}.")
    return "B" if count <= 255 else "H"


def _none(column: "array[int]") -> int:
    return int((1 << (8 * column.itemsize)) - 1)


def _numbers(column: "array[int]") -> NDArray[Any]:
    return np.frombuffer(column, dtype=column.typecode) if len(column) else np.zeros(0, dtype=column.typecode)


def facet_entry(facet: Facet | IndexedFacet, *, file: str) -> dict[str, Any]:
    """Return the manifest's entry for a facet whose codes are in a file."""
    return {
        "name": facet.name,
        "label": facet.label,
        "kind": str(facet.kind),
        "values": list(facet.values),
        "labels": list(facet.labels),
        "bins": list(facet.bins),
        "reveals": facet.reveals,
        "file": file,
    }


def save(path: Path, values: NDArray[Any]) -> None:
    """Write an array to a file, and wait until it is on the disk."""
    with path.open("wb") as file:  # like `np.save`, whose errors do not give the reason
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
        file.write(values.data)
        file.flush()
        os.fsync(file.fileno())


def save_boxes(folder: Path, boxes: CountedBoxes) -> None:
    arrays: tuple[NDArray[Any], ...] = (boxes.starts, boxes.boxes, boxes.known)
    for name, values in zip(FILES, arrays, strict=True):
        save(folder / f"{name}.npy", values)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
