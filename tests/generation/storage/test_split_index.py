"""The index of a sealed split, compared with a slow and simple reading of the same rows."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import default_storage
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadScene
from generation.engine.items import FacetKind
from generation.making import dataset_jobs
from generation.models import Dataset, Question
from generation.splits import sealing
from generation.storage import files, items, split_index
from generation.storage.split_index import FOLDER, IndexedFacet, IntegerRange, NotIndexed, SplitIndex
from tests.generation import fake_world
from tests.generation.complete_datasets import registered

TRAIN_WORDS = ("what", "largest", "sum", "the", "any", "s")


class SlowIndex:
    """A slow reference that reads rows one by one and filters them with plain Python."""

    def __init__(self, dataset: Dataset) -> None:
        split, spec, world = dataset.splits.get(name="train"), dataset.read_spec(), dataset.get_world()
        self.facets = world.facets(spec)
        self.rows: list[dict[str, Any]] = []
        for stored in items.load_items(split, 0, split.scenes):
            codes = world.facet_codes(spec, stored.item)
            for number, row in enumerate(stored.questions):
                self.rows.append({
                    "words": set(re.findall(r"\w+(?:'\w+)*", row.text.lower())),
                    **{name: self._values(name, column[number]) for name, column in codes.items()},
                })  # fmt: skip

    def _values(self, name: str, code: int) -> set[int]:
        """Return the values of the facet that a question has."""
        facet = next(facet for facet in self.facets if facet.name == name)
        if code < 0:
            return set()
        if facet.kind == FacetKind.FLAGS:
            return {bit for bit in range(len(facet.values)) if code >> bit & 1}
        return {code}

    def passes(self, row: dict[str, Any], filters: split_index.Filters, words: list[str]) -> bool:
        chosen = {
            name: set(range(selection.low or 0, 400 if selection.high is None else selection.high + 1))
            if isinstance(selection, IntegerRange)
            else set(selection)
            for name, selection in filters.items()
        }
        return all(row[name] & wanted for name, wanted in chosen.items()) and all(
            word.lower() in row["words"] for word in words
        )

    def select(self, filters: split_index.Filters, words: list[str]) -> list[int]:
        return [n for n, row in enumerate(self.rows) if self.passes(row, filters, words)]

    def counts(self, filters: split_index.Filters, words: list[str]) -> dict[str, list[int]]:
        result = {}
        for facet in self.facets:
            others = {name: selection for name, selection in filters.items() if name != facet.name}
            kept = [row for row in self.rows if self.passes(row, others, words)]
            result[facet.name] = [sum(v in row[facet.name] for row in kept) for v in range(len(facet.values))]
        return result


@pytest.fixture(scope="module")
def fast_and_slow(django_db_setup: None, django_db_blocker: Any) -> Any:
    """Give a split's index and its slow reference; both work without the database."""
    with django_db_blocker.unblock(), registered(fake_world):
        spec = {**fake_world.PRESET, "splits": {"train": {"scenes": 60}}, "questions_per_scene": 5}
        dataset = dataset_jobs.start(spec, slug="for-the-index", images=False)
        dataset_jobs.work(dataset=dataset)
        pair = SplitIndex.open(dataset.splits.get()), SlowIndex(dataset)
        dataset_jobs.delete(dataset)
        yield pair
        dataset_jobs.work(dataset=dataset)


def filters() -> st.SearchStrategy[dict[str, Any]]:
    ends = st.none() | st.integers(0, 40)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sets(st.integers(0, 3)),
            "total": st.sets(st.integers(0, 36)) | st.builds(IntegerRange, ends, ends),
            "has": st.sets(st.integers(0, 2)),
        },
    )


@given(chosen=filters(), words=st.lists(st.sampled_from([*TRAIN_WORDS, "WHAT", "nowhere"]), max_size=2))
def test_filters_and_counts_equal_those_of_the_slow_reference(
    fast_and_slow: Any, chosen: dict[str, Any], words: list[str]
) -> None:
    fast, slow = fast_and_slow
    assert fast.select(chosen, words).tolist() == slow.select(chosen, words)
    counts = {name: column.tolist() for name, column in fast.counts(chosen, words).items()}
    assert counts == slow.counts(chosen, words)


def test_words_are_found_in_any_case(fast_and_slow: Any) -> None:
    fast, slow = fast_and_slow
    for word in ("What", "any", "odd", "absent", "’"):
        assert fast.containing(word).tolist() == slow.select({}, [word])
    assert {"what", "s", "left", "4"} <= set(fast.vocabulary)


def test_an_unknown_facet_is_refused_by_name(fast_and_slow: Any) -> None:
    with pytest.raises(NotIndexed, match="Expected one of type, total, has, got 'colour'"):
        fast_and_slow[0].select({"colour": {1}})


def test_a_range_of_a_facet_without_numbers_is_refused(fast_and_slow: Any) -> None:
    with pytest.raises(ValueError, match="type"):
        fast_and_slow[0].select({"type": IntegerRange(1, 2)})


@pytest.mark.django_db
def test_answers_scenes_and_sources_are_in_question_order(made: Dataset) -> None:
    for split in made.splits.all():
        read = SplitIndex.open(split)
        rows = list(Question.objects.filter(split=split).order_by("position").select_related("scene"))
        none = np.iinfo(read.answers.dtype).max
        answers = [None if code == none else read.answer_values[code] for code in read.answers]
        assert read.n == split.questions == len(rows)
        assert answers == [row.answer for row in rows]
        assert read.scenes.tolist() == [row.scene.position for row in rows]
        assert [read.source_id(n) for n in range(read.n)] == [row.source_id or None for row in rows]


@pytest.mark.django_db
def test_an_index_is_named_by_its_content(made: Dataset) -> None:
    split = made.splits.get(name="train")
    assert sealing.seal(split) == (split.fingerprint, split.index_digest)
    folder = files.local_path(f"{FOLDER}/{split.index_digest}")
    assert folder is not None and (folder / "manifest.json").exists()
    assert not list(folder.parent.glob(".split-*"))


@pytest.mark.django_db
def test_an_index_is_opened_once_per_process(made: Dataset) -> None:
    split = made.splits.get(name="val")
    assert SplitIndex.open(split) is SplitIndex.open(split)


@pytest.mark.django_db
def test_a_small_index_keeps_no_files_open(made: Dataset) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    codes = SplitIndex.open(made.splits.first()).answers
    assert not codes.flags.writeable
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_unsealed_split_has_no_index(begin: Any) -> None:
    with pytest.raises(NotIndexed, match="Expected a complete split, got rows/train"):
        SplitIndex.open(begin().splits.get(name="train"))


@pytest.mark.django_db
def test_a_missing_index_is_reported(made: Dataset) -> None:
    with pytest.raises(NotIndexed, match="Restore it"):
        split_index.open_digest("0" * 64)


@pytest.mark.django_db
def test_a_missing_row_is_found_before_sealing(made: Dataset) -> None:
    split = made.splits.get(name="train")
    Question.objects.filter(split=split, position=7).delete()
    with pytest.raises(BadScene, match="Expected question 7, got 8"):
        sealing.seal(split)
    split.scene_set.filter(position=1).delete()
    with pytest.raises(BadScene, match="scene 1: Expected this scene"):
        sealing.seal(split)


@pytest.mark.django_db
def test_an_answer_outside_the_vocabulary_is_found_before_sealing(made: Dataset) -> None:
    split = made.splits.get(name="train")
    position = Question.objects.filter(split=split, answer__isnull=False).first().position  # type: ignore[union-attr]
    Question.objects.filter(split=split, position=position).update(answer="blue")
    with pytest.raises(BadScene, match=f"question {position}: Expected an answer of the vocabulary, got 'blue'"):
        sealing.seal(split)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda codes: [*codes, 0], "Expected {n} codes, got {more}."),
        (lambda codes: [99] * len(codes), "Expected a code below 8, got 99"),
    ],
)
def test_a_wrong_code_is_found_before_sealing(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, wrong: Any, message: str
) -> None:
    split, world = made.splits.get(name="train"), made.get_world()
    stored = items.load_rows(split, 2, 1)[0]
    plain = world.facet_codes

    def facet_codes(spec: Any, item: Any) -> Any:
        codes = plain(spec, item)
        return {**codes, "has": wrong(codes["has"])} if item == stored.item else codes

    monkeypatch.setattr(world, "facet_codes", facet_codes)
    n = len(stored.questions)
    place = "scene 2, facet has"
    with pytest.raises(BadScene, match=f"{place}: .*{message.format(n=n, more=n + 1)}"):
        sealing.seal(split)


@pytest.mark.django_db
def test_a_remote_index_is_fetched_once(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    """If the storage has no paths, as S3, the index is copied to this machine when it is first read."""
    settings.VAR_DIR = tmp_path
    split = made.splits.get(name="train")
    expected = SplitIndex.open(split).counts({})
    monkeypatch.setattr(files, "local_path", lambda name: None)
    fetched = []
    get = files.get
    monkeypatch.setattr(files, "get", lambda name: fetched.append(name) or get(name))  # type: ignore[func-returns-value]
    split_index.open_digest.cache_clear()
    first = SplitIndex.open(split).counts({})
    split_index.open_digest.cache_clear()
    SplitIndex.open(split)
    split_index.open_digest.cache_clear()
    assert {name: column.tolist() for name, column in first.items()} == {
        name: column.tolist() for name, column in expected.items()
    }
    assert len(fetched) == len(set(fetched)) == len(default_storage.listdir(f"{FOLDER}/{split.index_digest}")[1])
    assert fetched[-1].endswith("manifest.json")


def test_questions_without_a_value_are_never_selected() -> None:
    facet = IndexedFacet("f", "F", FacetKind.INTEGER, ("0", "1"), ("0", "1"), True, np.array([0, 255], np.uint8))
    assert facet.allowed(IntegerRange()).tolist() == [True, True] + [False] * 254
    assert facet.allowed({255, 7, -1}).sum() == 0
