"""The report on shortcuts: scores of guesses that use only the words of questions and not the pictures.

The words come from indexes and texts. Guesses are learned on a split's reference. A facet is a cue only if it reveals
nothing beyond the words. `report_jobs` computes the report once. `shortcuts_page` shows what a user may see of it.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.content_hash import digest
from generation.engine.items import Question as Asked
from generation.engine.scoring import shortcuts
from generation.engine.scoring.shortcuts import GuessScore, Ints
from generation.engine.worlds import World
from generation.models import BlindReport, Dataset, Question, Split
from generation.storage.split_index import WORD, IndexedFacet, SplitIndex

VERSION = 1  # changes with the computation, so that reports are computed again
SAMPLE = 2000  # largest number of questions of a split whose nearest question is searched
TYPE = "type"  # the facet of a question's type, which is its `kind`
FIRST = 3  # number of words
READ = 5000  # texts that are read at a time
PIECE = 200  # questions with different words whose nearest questions are searched at a time


def complete_splits(dataset: Dataset) -> list[Split]:
    return [split for split in dataset.splits.own().for_browse() if split.is_complete]


def report_key(splits: Sequence[Split]) -> str:
    parts = [[split.name, split.index_digest, split.reference.name if split.reference else ""] for split in splits]
    return digest([VERSION, parts])


def find_report(dataset: Dataset, splits: Sequence[Split]) -> BlindReport | None:
    key = report_key(splits)
    return BlindReport.objects.filter(dataset=dataset, state=BlindReport.State.DONE, key=key).first()


class QuestionTexts(NamedTuple):
    hashes: NDArray[np.uint64]
    openings: Ints  # the corpus's number of the first words of each text


class Corpus:
    """Texts of several splits. The same first words have the same number in all of them."""

    def __init__(self) -> None:
        self.openings: dict[str, int] = {}

    def read(self, texts: Iterator[str], *, n: int) -> QuestionTexts:
        """Return the hashes and the numbers of the first words of `n` texts."""
        found = QuestionTexts(np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.int64))
        for place, text in enumerate(texts):
            found.hashes[place] = hash_of(text)
            found.openings[place] = self.openings.setdefault(first_words(text), len(self.openings))
        return found


def hash_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")  # 64 bits


def first_words(text: str) -> str:
    words = (match[0] for match in WORD.finditer(text.lower()))
    return " ".join(word for word, _ in zip(words, range(FIRST), strict=False))


def texts_of(split: Split) -> Iterator[str]:
    asked = Question.objects.filter(split=split).order_by("position")
    yield from asked.values_list("text", flat=True).iterator(chunk_size=READ)


NO_TEXT = QuestionTexts(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))


class SplitTexts:
    """The data of a split for learning and scoring: its index, and its texts if they are needed."""

    def __init__(self, split: Split, text: QuestionTexts = NO_TEXT) -> None:
        self.split, self.text = split, text
        self.index = SplitIndex.open(split)

    @cached_property
    def answers(self) -> Ints:
        # Codes of the split's own vocabulary.
        codes = np.asarray(self.index.answers, dtype=np.int64)
        return np.where(codes < len(self.index.answer_values), codes, shortcuts.NONE)

    def groups(self, facet: IndexedFacet) -> Ints:
        codes = np.asarray(facet.codes, dtype=np.int64)
        return np.where(codes == facet.none, -1, codes)


def choices_of(split: Split, index: SplitIndex) -> Ints:
    """Return the number of possible answers of each question's type, an array (questions,)."""
    every, facet = len(index.answer_values), index.facets.get(TYPE)
    if facet is None:
        return np.full(index.n, every, np.int64)
    spec, world = split.read_spec(), split.dataset.get_world()
    counts = [len(world.answer_form(spec, Asked("", kind=kind)).choices) or every for kind in facet.values]
    codes = np.asarray(facet.codes, np.int64)
    return np.array([*counts, every], np.int64)[np.where(codes == facet.none, -1, codes)]


class Cue(NamedTuple):
    name: str
    label: str
    score: GuessScore


def report(world: World, splits: Sequence[Split], *, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Return the report on complete splits of a dataset, as JSON.

    `texts` is the number of different questions of all splits together. Each split has `questions`, `texts` (the number
    of different ones) and `reference`. A split with a reference also has `overlap` (how many of its questions are in
    the reference too), `sampled`, `cues`, and `types` (the scores of the most frequent answer of each type, by type).
    Each cue and type has `name`, `label`, `n`, `right` and `chance`. `check` is called from time to time. An exception
    from it stops the computation.
    """
    corpus, known = Corpus(), {}
    for split in splits:
        check()
        known[split.pk] = SplitTexts(split, corpus.read(texts_of(split), n=split.questions))
    everything = [one.text.hashes for one in known.values()]
    found: dict[str, Any] = {"texts": shortcuts.distinct(np.concatenate(everything)) if everything else 0, "splits": []}
    for split in splits:
        check()
        found["splits"].append(_of_split(world, known, split))
    return found


def _of_split(world: World, known: dict[int, SplitTexts], split: Split) -> dict[str, Any]:
    own = known[split.pk]
    found = {
        "name": split.name,
        "questions": own.index.n,
        "texts": shortcuts.distinct(own.text.hashes),
        "reference": None,
    }
    learned = known.get(split.reference_id or 0)
    if learned is None:
        return found
    guesser = Guesser(world, learned, own)
    return {
        **found,
        "reference": learned.split.name,
        "overlap": shortcuts.count_known(own.text.hashes, learned.text.hashes),
        "sampled": len(guesser.sample),
        "cues": [_json(cue) for cue in guesser.cues()],
        "types": [_json(cue) for cue in guesser.types()],
    }


def _json(cue: Cue) -> dict[str, Any]:
    return {"name": cue.name, "label": cue.label, **cue.score._asdict()}


class Guesser:
    """Guesses the answers of a split, and learns this on its reference. Answers are codes of the reference."""

    def __init__(self, world: World, learned: SplitTexts, own: SplitTexts) -> None:
        self.world, self.learned, self.own = world, learned, own
        self.answers = self._translated()
        self.sample = shortcuts.sample_positions(own.index.n, SAMPLE)

    def _translated(self) -> Ints:
        """Return the split's answers as codes of the reference."""
        values = self.own.index.answer_values
        codes = shortcuts.table(values, self.learned.index.answer_values, size=len(values))
        answers = self.own.answers
        return np.where(answers == shortcuts.NONE, shortcuts.NONE, codes[answers]) if len(codes) else answers

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        return 1 / np.maximum(1, choices_of(self.own.split, self.own.index))

    def cues(self) -> Iterator[Cue]:
        """Yield each cue and its score: nothing, facets that the words tell, the first words, the nearest question."""
        yield Cue("majority", "nothing", self._score(self.majority()))
        for facet in self._facets():
            yield Cue(facet.name, facet.label, self._score(self._by_facet(facet)))
        openings = self._by(self.own.text.openings, self.learned.text.openings)
        yield Cue("opening", "first three words", self._score(openings))
        yield Cue("nearest", "nearest question", self._nearest())

    def types(self) -> Iterator[Cue]:
        """Yield, for each type, the score of its most frequent answer on the questions of that type."""
        facet = self.own.index.facets.get(TYPE)
        if facet is None or TYPE not in self.learned.index.facets:
            return
        groups, guesses = self.own.groups(facet), self._by_facet(facet)
        for code in np.unique(groups[groups >= 0]).tolist():
            chosen = groups == code
            score = shortcuts.score(guesses[chosen], self.answers[chosen], self.chances[chosen])
            yield Cue(facet.values[code], facet.labels[code], score)

    def _facets(self) -> Iterator[IndexedFacet]:
        """Yield the type and the facets with several values in the reference, if the words of questions tell them."""
        for name, facet in self.own.index.facets.items():
            learned = self.learned.index.facets.get(name)
            if learned is None or facet.reveals or learned.reveals:
                continue
            if name == TYPE or len(np.unique(self.learned.groups(learned))) > 1:
                yield facet

    def _by_facet(self, facet: IndexedFacet) -> Ints:
        """Return the guess for each question: the reference's most frequent answer for questions with its value."""
        learned = self.learned.index.facets[facet.name]
        if facet.values == learned.values:
            return self._by(self.own.groups(facet), self.learned.groups(learned))
        codes = shortcuts.table(facet.values, learned.values, size=len(facet.values) + 1)
        return self._by(codes[self.own.groups(facet)], self.learned.groups(learned))

    def _by(self, groups: Ints, learned: Ints) -> Ints:
        count = int(max(groups.max(initial=-1), learned.max(initial=-1))) + 1
        return shortcuts.modes(learned, self.learned.answers, count=count)[groups]

    def _score(self, guesses: Ints) -> GuessScore:
        return shortcuts.score(guesses, self.answers, self.chances)

    def majority(self) -> Ints:
        nothing, learned = (np.full(one.index.n, -1, dtype=np.int64) for one in (self.own, self.learned))
        return self._by(nothing, learned)

    def by_type(self) -> Ints:
        """Return, for each question, the most frequent answer of its type; of all questions if types are not known."""
        facet = self.own.index.facets.get(TYPE)
        if facet is None or TYPE not in self.learned.index.facets:
            return self.majority()
        return self._by_facet(facet)

    def nearest(self, asked: Ints, *, check: Callable[[], None] = lambda: None) -> Ints:
        """Return, for the questions at these ascending positions, the answer of the nearest question of the reference.

        `check` is called after each fraction of a second. An exception from it stops the search.
        """
        from generation.engine.scoring.nearest_questions import KnownQuestions, bags_of, group_questions  # loads numba

        vocabulary = self.learned.index.vocabulary
        learned, bags = (
            bags_of([index.containing(word) for word in vocabulary], questions=index.n, sizes=index.word_counts())
            for index in (self.learned.index, self.own.index)
        )
        known = KnownQuestions(learned, self.learned.answers >= 0, words=len(vocabulary))
        firsts, groups = group_questions(bags, asked)
        found = np.empty(len(firsts), dtype=np.int64)
        for start in range(0, len(firsts), PIECE):
            check()
            found[start : start + PIECE] = known.nearest(bags, firsts[start : start + PIECE])
        return np.append(self.learned.answers, shortcuts.NONE)[found[groups]]

    def in_own_codes(self, guesses: Ints) -> Ints:
        words = self.learned.index.answer_values
        codes = shortcuts.table(words, self.own.index.answer_values, size=len(words) + 1)
        return np.where(guesses >= 0, codes[guesses], shortcuts.UNKNOWN)

    def _nearest(self) -> GuessScore:
        guesses = self.nearest(self.sample)
        return shortcuts.score(guesses, self.answers[self.sample], self.chances[self.sample])
