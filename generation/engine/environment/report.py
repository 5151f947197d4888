"""A report on an environment's items: duplicates, diversity, and how often guesses from the question alone are right.

No pictures are drawn: items are compared by their scenes, cameras and questions. Guesses learn from one half of the
items and are scored on the other half; the halves alternate every `TURN` items.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.content_hash import digest
from generation.engine.environment.dataset import EnvironmentDataset
from generation.engine.program import to_text
from generation.engine.scoring.figures import Share, rounded, rounded_or_none
from generation.engine.scoring.ngram_classifier import ReadQuestion, guesses
from generation.engine.scoring.shortcuts import modes, sample_positions
from generation.engine.verification.process_pool import Crew

TURN = 50  # items of one half, which are followed by as many items of the other half
MOST_READ = 4_000  # questions of each half that the n-grams are fitted to and scored on

Tick = Callable[[int], None]


class ItemRecord(NamedTuple):
    """The data of an item that the report needs.

    Attributes
    ----------
    content, program : str
        The hash of scene, camera and question, and the program as text; empty without one.
    question, kind, answer : str
    choices : int
        The number of answers that the question may have.
    """

    content: str
    program: str
    question: str
    kind: str
    answer: str
    choices: int


class GuessAccuracy(NamedTuple):
    """How often guesses of one kind are right.

    Attributes
    ----------
    name, label : str
    share : Share
    """

    name: str
    label: str
    share: Share


class LevelReport(NamedTuple):
    """The report on the items of one level.

    Attributes
    ----------
    level : str
        The level in words; empty for the spec as it is.
    items : int
    duplicates : int
        The number of items that are equal to an earlier one.
    questions, programs, answers : int
        The numbers of different texts, programs and answers.
    entropy : float
        The entropy of the answers in bits.
    chance : float
        The expected accuracy of a random choice among each question's answers, 0 to 1.
    guesses : tuple of GuessAccuracy
        In the order of how much they know, the least first.
    """

    level: str
    items: int
    duplicates: int
    questions: int
    programs: int
    answers: int
    entropy: float
    chance: float
    guesses: tuple[GuessAccuracy, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        found = self._asdict() | {"entropy": rounded(self.entropy), "chance": rounded(self.chance)}
        found["guesses"] = {
            one.name: {
                "n": one.share.n,
                "right": one.share.right,
                "accuracy": rounded_or_none(one.share.value),
                "low": rounded(one.share.wilson.low),
                "high": rounded(one.share.wilson.high),
            }
            for one in self.guesses
        }
        return found


def report_on(
    dataset: EnvironmentDataset,
    *,
    items: int,
    level: str = "",
    processes: int = 1,
    tick: Tick = lambda _: None,
) -> LevelReport:
    """Return the report on the first items of a dataset.

    Parameters
    ----------
    dataset : EnvironmentDataset
    items : int
        The number of items, at least 1. If the dataset has fewer, the report is about all of them.
    level : str
        The level in words.
    processes : int
        The number of processes that make items.
    tick : callable
        Called with the number of items that were made since the last call.

    Returns
    -------
    LevelReport

    Raises
    ------
    EngineError
        If the spec cannot make an item.
    """
    records: list[ItemRecord] = []
    items = items if dataset.size is None else min(items, dataset.size)
    dataset[0]  # compiles what the processes need, and refuses an impossible level
    with Crew[range, list[ItemRecord]](lambda part: read_records(dataset, part), size=processes) as crew:
        for _, found in crew.prove_all(_parts(dataset, items)):
            records += found
            tick(len(found))
    return summarise(records, level=level)


def _parts(dataset: EnvironmentDataset, items: int) -> Iterator[range]:
    """Yield the indexes of each chunk, so that no two processes make the same one."""
    for start in range(0, items, dataset.chunk_size):
        yield range(start, min(start + dataset.chunk_size, items))


def read_records(dataset: EnvironmentDataset, indexes: Iterable[int]) -> list[ItemRecord]:
    """Return the records of items.

    Parameters
    ----------
    dataset : EnvironmentDataset
    indexes : iterable of int

    Returns
    -------
    list of ItemRecord
    """
    found = []
    for index in indexes:
        one = dataset[index]
        program = "" if one.program is None else digest(to_text(one.program))
        found.append(ItemRecord(one.content_hash(), program, one.question, one.kind, one.answer, len(one.choices)))
    return found


def summarise(records: Sequence[ItemRecord], *, level: str = "") -> LevelReport:
    """Return the report on items.

    Parameters
    ----------
    records : sequence of ItemRecord
        At least one, in the order of the items.
    level : str
        The level in words.

    Returns
    -------
    LevelReport
    """
    answers = Counter(one.answer for one in records)
    n = len(records)
    return LevelReport(
        level=level,
        items=n,
        duplicates=n - len({one.content for one in records}),
        questions=len({one.question for one in records}),
        programs=len({one.program for one in records} - {""}),
        answers=len(answers),
        entropy=entropy(answers.values()),
        chance=sum(1 / max(1, one.choices) for one in records) / n,
        guesses=tuple(_guesses(records)),
    )


def entropy(counts: Iterable[int]) -> float:
    """Return the entropy in bits of a distribution, given by counts."""
    known = [count for count in counts if count]
    total = sum(known)
    return -sum(count / total * math.log2(count / total) for count in known) + 0.0


def _guesses(records: Sequence[ItemRecord]) -> Iterator[GuessAccuracy]:
    """Yield the accuracy of each kind of guess from the question alone."""
    learned = [one for at, one in enumerate(records) if at // TURN % 2 == 0]
    asked = [one for at, one in enumerate(records) if at // TURN % 2 == 1]
    yield GuessAccuracy("majority", "most frequent answer", _score_modes(learned, asked, lambda one: ""))
    yield GuessAccuracy("type", "most frequent answer of the type", _score_modes(learned, asked, lambda one: one.kind))
    yield GuessAccuracy("question", "n-grams of the question", _score_ngrams(learned, asked))


def _score_modes(learned: Sequence[ItemRecord], asked: Sequence[ItemRecord], cue: Callable[[ItemRecord], str]) -> Share:
    groups, answers = _codes(map(cue, learned)), _codes(one.answer for one in learned)
    best = modes(_coded(map(cue, learned), groups), _coded((one.answer for one in learned), answers), count=len(groups))
    said = best[_coded(map(cue, asked), groups)]  # an unknown group is -1, the last entry
    right = int((said == _coded((one.answer for one in asked), answers)).sum()) if answers else 0
    return Share(right, len(asked))


def _codes(values: Iterable[str]) -> dict[str, int]:
    return {value: code for code, value in enumerate(sorted(set(values)))}


def _coded(values: Iterable[str], codes: Mapping[str, int]) -> NDArray[np.int64]:
    return np.array([codes.get(value, -1) for value in values], np.int64)


def _score_ngrams(learned: Sequence[ItemRecord], asked: Sequence[ItemRecord]) -> Share:
    """Return the accuracy of n-grams of the question on a sample of the items."""
    known = [learned[at] for at in sample_positions(len(learned), MOST_READ)]
    tried = [asked[at] for at in sample_positions(len(asked), MOST_READ)]
    said = guesses(
        ((ReadQuestion(one.kind, (), one.question), one.answer) for one in known),
        (ReadQuestion(one.kind, (), one.question) for one in tried),
    )
    return Share(sum(guess == one.answer for guess, one in zip(said, tried, strict=True)), len(tried))


def text_of(reports: Sequence[LevelReport]) -> str:
    """Return reports as text, one paragraph for each level."""
    return "\n\n".join("\n".join(_lines(one)) for one in reports)


def _lines(one: LevelReport) -> Iterator[str]:
    yield f"{one.level or 'as the spec says'}: {one.items:,} items"
    rows = [
        ("duplicates", f"{one.duplicates:,} ({100 * one.duplicates / one.items:.2f} %)"),
        ("different questions", f"{one.questions:,}"),
        ("different programs", f"{one.programs:,}"),
        ("different answers", f"{one.answers:,}, entropy {one.entropy:.2f} bits"),
        ("random choice", f"{100 * one.chance:.1f} %"),
    ]
    for guess in one.guesses:
        interval = f" ({guess.share.interval_text})" if guess.share.interval_text else ""
        rows.append((guess.label, f"{guess.share.text}{interval}, n = {guess.share.n:,}"))
    width = max(len(name) for name, _ in rows)
    yield from (f"  {name:<{width}}  {value}" for name, value in rows)
