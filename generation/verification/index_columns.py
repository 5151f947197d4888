"""Proving a batch's part of the index: what a split's columns say of each question is worked out again."""

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
from generation.storage.question_hashes import KeyColumns
from generation.storage.split_index import WORD, NotIndexed, SplitIndex, fetch

BROKEN = (NotIndexed, OSError, ValueError, KeyError, TypeError, EOFError)  # what a tampered index can lead to


class ColumnProof:
    """Proves the columns of some questions, and gathers what concerns all of the split's together.

    Attributes
    ----------
    counts : Counter of str
        In how many of the questions each word is.
    sources : bool
        Whether a question says what it was called where it was published.
    keys : KeyColumns
        What a train split must have of the questions.
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
        """Prove what the columns say of a scene's questions, but their words; `proof` has the item's flaws so far."""
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
            if column is None:  # the manifest is proved elsewhere
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
        """Return what is wrong with the words of the questions from `first`; done with, their places are dropped."""
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
    """Return a split's index, read anew; None where it can't be read, which `IndexProof` finds."""
    try:
        return SplitIndex(fetch(split.index_digest), seen=seen_folder(split))
    except BROKEN:
        return None


def seen_folder(split: Split) -> Path | None:
    """Return the second part of a split's index, which says what its reference has; None where there is none."""
    return fetch(f"{split.index_digest}/{split.seen_digest}") if split.seen_digest else None
