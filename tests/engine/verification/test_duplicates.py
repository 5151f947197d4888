"""Repeats within splits and between splits are counted correctly, compared with sets of keys."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from generation.engine.verification.duplicates import RepeatCounter
from generation.engine.verification.verdict import Verdict
from generation.engine.worlds.base import Repeatable
from tests.worlds.marbles import MarbleWorld

ROWS, QUESTIONS = Repeatable("seen_row", "rows", True), Repeatable("seen_question", "questions", False)


class Rows(MarbleWorld):
    """Marbles whose rows and questions are counted if they repeat."""

    repeats = (ROWS, QUESTIONS)
    repeats_by = "color"

    def spaces(self, spec: Any) -> Mapping[str, Mapping[str, int]]:
        return {}


Items = list[tuple[int, list[int]]]  # the key of each item, and the keys of its questions
ITEMS = st.lists(st.tuples(st.integers(0, 5), st.lists(st.integers(0, 8), min_size=1, max_size=3)), max_size=8)


def take(repeats: RepeatCounter, split: str, items: Items) -> None:
    for key, questions in items:
        repeats.add(split, {"seen_row": [key] * len(questions), "seen_question": questions, "other": [1]}, items=1)


def describe_count(count: int, label: str, different: int) -> str:
    return f"{count} {label}, {'all' if count == different else different} different"


@given(ITEMS, ITEMS)
def test_counts_equal_those_of_sets(train: Items, test: Items) -> None:
    repeats, verdict = RepeatCounter(Rows()), Verdict()
    take(repeats, "train", train)
    take(repeats, "test", test)
    repeats.note({"train": None, "test": "train"}, verdict)
    expected = []
    asked = {"train": [key for _, keys in train for key in keys], "test": [key for _, keys in test for key in keys]}
    told = {"train": [key for key, _ in train], "test": [key for key, _ in test]}
    for split in ("train", "test"):
        if told[split]:
            rows = describe_count(len(told[split]), "rows", len(set(told[split])))
            expected.append(
                (split, f"{rows}; {describe_count(len(asked[split]), 'questions', len(set(asked[split])))}")
            )
    if train and test:
        rows, questions = set(told["train"]) & set(told["test"]), set(asked["train"]) & set(asked["test"])
        shared = f"{len(rows) or 'no'} rows, {len(questions) or 'no'} questions"
        expected.append(("test", f"shared with train: {shared}"))
    assert [(note.split, note.what) for note in verdict.notes] == expected
    assert verdict.holds


def test_a_world_without_repeatable_things_is_not_counted() -> None:
    repeats, verdict = RepeatCounter(MarbleWorld()), Verdict()
    take(repeats, "train", [(1, [1, 1])])
    repeats.note({"train": None}, verdict)
    assert not verdict.notes and not repeats.hashes
    assert not list(verdict.lines())


def test_notes_are_part_of_the_output() -> None:
    verdict = Verdict()
    verdict.note("train", "3 rows, 2 different")
    assert list(verdict.lines()) == ["Counted:", "  train: 3 rows, 2 different"]
    assert verdict.to_json()["notes"] == [{"split": "train", "what": "3 rows, 2 different"}]
