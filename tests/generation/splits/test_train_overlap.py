"""The second pass over sealed splits, which finds questions that train also has, checked against sets of plain keys."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from generation.engine.worlds import SEEN, UNSEEN
from generation.making import dataset_jobs
from generation.models import Dataset, Job, Question, Split
from generation.splits import train_overlap
from generation.storage import files
from generation.storage.split_index import FOLDER, SplitIndex, counts_of_all, open_digest
from tests.engine.programs.test_skeleton import pairs_twin, skeleton_twin
from tests.generation import small

pytestmark = pytest.mark.django_db
NAMES = ("seen_text", "seen_program", "seen_skeleton", "seen_pair")
SPLITS = {"val": {"scenes": 6}, "train": {"scenes": 12}}


def keys_of(row: Question, name: str) -> set[Any]:
    """Return the keys that train must all have, from the row's text and its program as JSON."""
    assert row.program is not None
    program = json.loads(row.program)
    return {
        "seen_text": lambda: {row.text},
        "seen_program": lambda: {json.dumps(program, sort_keys=True)},
        "seen_skeleton": lambda: {tuple(skeleton_twin(program))},
        "seen_pair": lambda: pairs_twin(program),
    }[name]()


def values_by_sets(split: Split, reference: Split, name: str) -> list[str | None]:
    """Return the facet's value of every question of a split, computed with sets of plain keys."""
    known = {key for row in reference.question_set.all() for key in keys_of(row, name)}
    keys = [keys_of(row, name) for row in split.question_set.order_by("position")]
    return [None if not mine else SEEN if mine <= known else UNSEEN for mine in keys]


def values(split: Split, name: str) -> list[str | None]:
    facet = SplitIndex.open(split).facets[name]
    return [None if code == facet.none else facet.values[code] for code in facet.codes.tolist()]


def run_without(dataset: Dataset, kind: str) -> None:
    """Run every job except those of one kind and those that wait for them."""
    waiting = dataset.jobs.filter(kind=kind)
    waiting.update(state="cancelled")
    dataset_jobs.work(dataset=dataset)
    waiting.update(state="waiting")


@pytest.fixture
def made() -> Dataset:
    return small.made(splits=SPLITS, with_images=False)


def test_each_facet_equals_that_of_plain_sets(made: Dataset) -> None:
    val, train = made.splits.get(name="val"), made.splits.get(name="train")
    found = {name: values(val, name) for name in NAMES}
    assert found == {name: values_by_sets(val, train, name) for name in NAMES}
    assert {SEEN, UNSEEN} <= set(found["seen_skeleton"]) and {SEEN, UNSEEN} <= set(found["seen_pair"])


def test_questions_whose_text_and_program_train_has_are_seen() -> None:
    begun = small.begun("copied", splits=SPLITS, with_images=False)
    run_without(begun, "seal")
    of_val, of_train = (Question.objects.filter(split__dataset=begun, split__name=name) for name in ("val", "train"))
    for row, other in zip(of_val.order_by("position")[:5], of_train.order_by("position"), strict=False):
        Question.objects.filter(pk=row.pk).update(text=other.text, program=other.program)
    dataset_jobs.work(dataset=begun)
    val, train = begun.splits.get(name="val"), begun.splits.get(name="train")
    for name in NAMES:
        assert values(val, name) == values_by_sets(val, train, name)
    assert values(val, "seen_text")[:5] == values(val, "seen_program")[:5] == [SEEN] * 5


def test_the_train_split_has_no_overlap_facet(made: Dataset) -> None:
    train = made.splits.get(name="train")
    assert not set(NAMES) & SplitIndex.open(train).facets.keys()
    assert (train.seen_digest, made.jobs.filter(kind="seen", split=train).exists()) == ("", False)


def test_facets_are_counted_and_filtered_like_others(made: Dataset) -> None:
    val = made.splits.get(name="val")
    index, expected = SplitIndex.open(val), values(val, "seen_pair")
    new = index.facets["seen_pair"].values.index(UNSEEN)
    assert index.select({"seen_pair": [new]}).tolist() == [n for n, value in enumerate(expected) if value == UNSEEN]
    counts = counts_of_all(val.index_digest, val.seen_digest)["seen_pair"].tolist()
    assert counts == [expected.count(SEEN), expected.count(UNSEEN)]


@pytest.mark.parametrize("first", ["val", "train"])
def test_the_order_of_sealing_does_not_change_the_result(made: Dataset, first: str) -> None:
    begun = small.begun("again", splits=SPLITS, with_images=False)
    seals = Job.objects.filter(dataset=begun, kind="seal")
    seals.exclude(split__name=first).update(state="cancelled")
    dataset_jobs.work(dataset=begun)
    assert [split.name for split in begun.splits.all() if split.is_complete] == [first]
    assert begun.jobs.get(kind="seen").state == "waiting"
    seals.filter(state="cancelled").update(state="waiting")
    dataset_jobs.work(dataset=begun)
    begun.refresh_from_db()
    assert begun.state == "complete"
    val, again = made.splits.get(name="val"), begun.splits.get(name="val")
    assert [values(again, name) for name in NAMES] == [values(val, name) for name in NAMES]
    assert begun.fingerprint == made.fingerprint


def test_an_interrupted_second_pass_leaves_the_split_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = small.begun(splits=SPLITS, with_images=False)
    for place in ((train_overlap.Draft, "publish"), (dataset_jobs.leases, "finish")):
        run_without(begun, "seen")
        with monkeypatch.context() as patched:
            patched.setattr(*place, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                dataset_jobs.work(dataset=begun)
        val = begun.splits.get(name="val")
        assert (val.state, val.seen_digest) == ("complete", "")
        assert not set(NAMES) & SplitIndex.open(val).facets.keys()
    dataset_jobs.work(dataset=begun)
    val = begun.splits.get(name="val")
    assert [values(val, name) for name in NAMES] == [
        values_by_sets(val, begun.splits.get(name="train"), n) for n in NAMES
    ]
    folder = files.local_path(FOLDER)
    assert folder is not None
    assert [path.name for path in (folder / val.index_digest).iterdir() if path.is_dir()] == [val.seen_digest]
    assert not [path for path in folder.iterdir() if path.name.startswith(f".split-{val.pk}.")]


def test_a_failed_second_pass_leaves_the_split_sealed_and_can_be_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = small.begun(splits=SPLITS, with_images=False)
    with monkeypatch.context() as patched:
        patched.setattr(train_overlap, "seen_codes", lambda *_: 1 / 0)
        dataset_jobs.work(dataset=begun)
    begun.refresh_from_db()
    assert (begun.state, begun.splits.get(name="val").state) == ("failed", "complete")
    assert dataset_jobs.retry(begun.jobs.get(kind="seen"))
    dataset_jobs.work(dataset=begun)
    begun.refresh_from_db()
    assert (begun.state, len(values(begun.splits.get(name="val"), "seen_text"))) == ("complete", 24)


def test_a_repeated_second_pass_gives_the_same_digest(made: Dataset) -> None:
    val = made.splits.get(name="val")
    assert train_overlap.compare(val) == val.seen_digest


def test_a_split_gets_no_overlap_facets_if_the_index_of_train_has_no_keys(
    made: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexes that earlier releases sealed have no keys."""
    val = made.splits.get(name="val")
    monkeypatch.setattr(SplitIndex.open(made.splits.get(name="train")), "keys", {})
    assert train_overlap.compare(val) == ""


def test_deleting_a_dataset_deletes_its_indexes(made: Dataset) -> None:
    folder = files.local_path(FOLDER)
    assert folder is not None
    digests = [split.index_digest for split in made.splits.all()]
    dataset_jobs.delete(made)
    dataset_jobs.work(dataset=made)
    assert not [digest for digest in digests if (folder / digest).exists()]


def test_the_part_of_the_second_pass_is_fetched_from_remote_storage(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any
) -> None:
    val = made.splits.get(name="val")
    expected = values(val, "seen_text")
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(files, "local_path", lambda name: None)
    open_digest.cache_clear()
    assert values(val, "seen_text") == expected
    assert (tmp_path / "cache" / val.index_digest / val.seen_digest / "manifest.json").exists()
    open_digest.cache_clear()


def test_a_world_without_overlap_facets_has_no_second_pass(begin: Callable[..., Dataset]) -> None:
    assert not begin().jobs.filter(kind="seen").exists()
