"""Proving a batch's part of the index: the values of each question in the split's columns are computed again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from generation.engine.errors import EngineError
from generation.engine.items import Facet, Item, Needs
from generation.engine.verification.checks import can_have_facets
from generation.engine.verification.proof import QUESTIONS, Proof
from generation.engine.verification.verdict import Finding
from generation.models import Question, Scene, Split
from generation.storage.counted_boxes import boxes_of
from generation.storage.question_hashes import KeyColumns
from generation.storage.split_index import WORD, NotIndexed, SplitIndex, fetch

BROKEN = (NotIndexed, OSError, ValueError, KeyError, TypeError, EOFError)  # errors that a tampered index can cause


class ColumnProof:
    """Proves the columns of some questions, and collects the data for the proof of the whole index.

    Attributes
    ----------
    counts : Counter of str
        The number of the questions that contain each word.
    sources : bool
        Whether a question has the id under which it was published.
    keys : KeyColumns
        The keys of the questions, which are compared with those of the train split.
    """

    def __init__(self, split: Split) -> None:
        self.name, self.world, self.spec = split.name, split.dataset.get_world(), split.read_spec()
        self.index: SplitIndex | None = open_fresh(split)
        facets = self.world.facets(self.spec)
        self.facets = [facet for facet in facets if facet.needs == Needs.ITEM]
        self.keys = KeyColumns([facet.name for facet in facets if facet.needs == Needs.TRAIN])
        self.answers = {answer: code for code, answer in enumerate(self.world.answers(self.spec))}
        self.places: dict[str, list[int]] = {}
        self.counts: Counter[str] = Counter()
        self.sources = False

    def add(self, row: Scene, questions: Sequence[Question], item: Item, proof: Proof) -> None:
        """Prove the columns of a scene's questions, without their words. `proof` has the item's flaws so far."""
        for question, asked in zip(questions, item.questions, strict=True):
            for word in set(WORD.findall(question.text.lower())):
                self.places.setdefault(word, []).append(question.position)
            self.sources |= bool(question.source_id)
            self.keys.add(self.world.train_keys(self.spec, item, asked))
        if self.index is None:
            return
        if not can_have_facets(item, proof):
            return
        try:
            coded = self.world.facet_codes(self.spec, item)
        except (EngineError, KeyError, ValueError) as error:
            proof.flaw("facets", "facets that can be worked out", error)
            return
        for number, question in enumerate(questions):
            if question.position < self.index.n:
                self._prove_one(self.index, row, question, number, coded, proof)
        if self.world.most_counted(self.spec) is not None:
            self._prove_boxes(self.index, questions, item, proof)

    def _prove_boxes(self, index: SplitIndex, questions: Sequence[Question], item: Item, proof: Proof) -> None:
        """Prove the boxes of the objects that these questions count."""
        for number, (question, boxes) in enumerate(zip(questions, boxes_of(self.world, self.spec, item), strict=True)):
            stored = index.boxes if question.position < index.n else None
            found = None if stored is None else stored.of(question.position)
            expected = None if boxes is None else np.array(boxes, np.float32).reshape(-1, 4).tolist()
            came = None if found is None else found.tolist()
            proof.same("facets", expected, came, what="boxes ", question=number)

    def _prove_one(
        self,
        index: SplitIndex,
        row: Scene,
        question: Question,
        number: int,
        coded: Mapping[str, Sequence[int]],
        proof: Proof,
    ) -> None:
        at = question.position
        for facet in self.facets:
            column = index.facets.get(facet.name)
            if column is None:  # `IndexProof` proves the manifest
                continue
            expected, came = coded[facet.name][number], int(column.codes[at])
            if came != (expected if expected >= 0 else column.none):
                said = f"{facet.name} {_value(facet, expected)}"
                proof.flaw("facets", said, _value(facet, -1 if came == column.none else came), question=number)
        none = int(np.iinfo(index.answers.dtype).max)
        answer = none if question.answer is None else self.answers.get(question.answer, -1)
        proof.same("facets", answer, int(index.answers[at]), what="answer code ", question=number)
        proof.same("facets", row.position, int(index.scenes[at]), what="scene ", question=number)
        proof.same("facets", question.source_id or None, index.source_id(at), what="source id ", question=number)

    def words(self, proof: Proof, *, first: int, count: int) -> list[Finding]:
        """Return what is wrong with the words of `count` questions from `first`, and forget their positions."""
        self.counts = Counter({word: len(places) for word, places in self.places.items()})
        if self.index is None:
            return []
        wrong: dict[int, Finding] = {}
        asked: set[int] = set()
        for word, places in self.places.items():
            asked.update(places)
            postings = self.index.containing(word)
            low, high = np.searchsorted(postings, (first, first + count))
            came = set(postings[low:high].tolist())
            for place in sorted(came.symmetric_difference(places)):
                expected, got = ("found", "not found") if place in places else ("not found", "found")
                finding = Finding(self.name, "words", f"to be {expected} by {word!r}", got, None, place)
                wrong.setdefault(place, finding)
        proof.proved["words", QUESTIONS] += len(asked - wrong.keys())
        self.places = {}
        return [wrong[place] for place in sorted(wrong)]


def _value(facet: Facet, code: int) -> Any:
    return facet.values[code] if 0 <= code < len(facet.values) else "none" if code < 0 else f"code {code}"


def open_fresh(split: Split) -> SplitIndex | None:
    """Return a split's index, read again; None if it cannot be read, which `IndexProof` reports."""
    try:
        return SplitIndex(fetch(split.index_digest), seen=seen_folder(split))
    except BROKEN:
        return None


def seen_folder(split: Split) -> Path | None:
    # The second part of the index, with the overlap with the reference.
    return fetch(f"{split.index_digest}/{split.seen_digest}") if split.seen_digest else None
