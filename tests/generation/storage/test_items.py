"""The stored rows and pictures are exactly those that the world made."""

import hashlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.db import connection
from PIL import Image

from generation import __version__
from generation.engine.errors import BadScene, BadSpec
from generation.engine.worlds import get_maker
from generation.making import dataset_jobs
from generation.making.chunk_writer import ChunkWriter
from generation.making.creation import SlugTaken
from generation.making.progress import progress_of
from generation.models import Chunk, Dataset, Job, Question, Scene, SpecFile, Split
from generation.queue import leases
from generation.storage import files
from generation.storage import items as store
from tests.generation.conftest import spec_of

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]


def claim(dataset: Dataset, kind: str = "items") -> Job:
    job = dataset.jobs.filter(kind=kind, state="waiting").order_by("pk").first()
    assert job is not None and leases.take(job)
    return job


def made_items(dataset: Dataset, split: str) -> list[Any]:
    spec, maker = dataset.read_spec(), get_maker(dataset.world)
    secret = dataset.splits.get(name=split).secret_bytes
    return [item for chunk in maker.plan(spec, split) for item in maker.make(spec, split, chunk, secret=secret)]


@pytest.mark.parametrize(
    ("slug", "changes", "options", "where"),
    [
        ("Rows", {}, {}, "slug"),
        ("-rows", {}, {}, "slug"),
        ("r" * 61, {}, {}, "slug"),
        ("rows\n", {}, {}, "slug"),
        ("new", {}, {}, "slug"),
        ("rows", {"colours": 3}, {}, "colours"),
        ("rows", {"splits": {}}, {}, "splits"),
        ("rows", {"seed": -1}, {}, "seed"),
        ("rows", {"world": "nowhere"}, {}, "world"),
        ("rows", {"note": "lost.txt"}, {}, "note"),
        ("rows", {}, {"secrets": {"test": "abc"}}, "--secret test"),
        ("rows", {}, {"secrets": {"exam": "00" * 16}}, "--secret"),
    ],
)
def test_bad_input_is_refused_with_its_place_and_stores_nothing(
    slug: str, changes: dict[str, Any], options: dict[str, Any], where: str
) -> None:
    with pytest.raises(BadSpec) as caught:
        dataset_jobs.start(spec_of(**changes), slug=slug, **options)
    assert caught.value.where == where
    assert "Expected" in str(caught.value)
    assert not any(model.objects.exists() for model in (Dataset, Split, Chunk, Job, SpecFile))


def test_a_taken_name_is_refused_and_the_first_dataset_is_unchanged(begin: Begin) -> None:
    begin()
    with pytest.raises(SlugTaken):
        begin(seed=2)
    assert Dataset.objects.get().spec_data["seed"] == 1


def test_a_new_dataset_records_its_engine_spec_and_references(begin: Begin) -> None:
    dataset = begin()
    assert dataset.engine_version and dataset.release == __version__
    assert list(dataset.spec_data["splits"]) == ["train", "val", "test"]
    assert dataset.read_spec().to_json() == dataset.spec_data
    assert [split.reference and split.reference.name for split in dataset.splits.order_by("ordinal")] == [
        None,
        "train",
        "train",
    ]


def test_a_withheld_split_gets_a_secret_and_its_digest_at_once(begin: Begin) -> None:
    dataset = begin(secrets={})
    test, train = dataset.splits.get(name="test"), dataset.splits.get(name="train")
    assert len(test.secret_bytes) == 16
    assert test.secret_sha256 == hashlib.sha256(test.secret_bytes).hexdigest()
    assert (train.secret, train.secret_sha256) == ("", "")
    assert begin("other", secrets={}).splits.get(name="test").secret != test.secret


def test_files_of_a_spec_are_stored(db: None) -> None:
    dataset = dataset_jobs.start(spec_of(note="digest"), slug="rows", files={"digest": b"\0bytes"})
    assert bytes(dataset.files.get().content) == b"\0bytes"
    assert dataset.read_spec().note == "digest"


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_loaded_items_equal_the_made_items(made: Dataset, split: str) -> None:
    row = made.splits.get(name=split)
    stored = list(store.load_items(row, 0, row.scenes))
    assert [one.item for one in stored] == made_items(made, split)
    assert [q.position for one in stored for q in one.questions] == list(range(row.questions))
    assert row.replaced == sum(one.item.replaced for one in stored)


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_values_of_rows_equal_the_loaded_rows(made: Dataset, split: str) -> None:
    row = made.splits.get(name=split)
    for found, stored in zip(store.load_rows(row, 1, 5), store.load_items(row, 1, 5), strict=True):
        assert found.item == stored.item
        assert found.scene._asdict() == {name: getattr(stored.scene, name) for name in found.scene._fields}
        for values, question in zip(found.questions, stored.questions, strict=True):
            assert values._asdict() == {name: getattr(question, name) for name in values._fields}


def test_another_secret_gives_other_questions(begin: Begin) -> None:
    one, two = begin("one", secrets={"test": "01" * 16}), begin("two", secrets={"test": "02" * 16})
    dataset_jobs.work()
    prints = {d.slug: {s.name: s.fingerprint for s in d.splits.all()} for d in (one, two)}
    assert prints["one"]["train"] == prints["two"]["train"]
    assert prints["one"]["test"] != prints["two"]["test"]


def test_a_job_that_runs_twice_stores_the_same_rows(begin: Begin) -> None:
    dataset = begin()
    job = claim(dataset)
    dataset_jobs.RUNNER.run(job)
    first = list(Question.objects.order_by("position").values_list("position", "text", "answer"))
    Job.objects.filter(pk=job.pk).update(state="waiting")
    assert leases.take(job)
    dataset_jobs.RUNNER.run(job)
    job.refresh_from_db()
    assert job.state == "done"
    assert list(Question.objects.order_by("position").values_list("position", "text", "answer")) == first
    assert dataset.jobs.filter(kind="images").count() == 1


def test_a_chunk_of_many_rows_is_stored_in_small_transactions(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = begin(scenes_per_chunk=300, questions_per_scene=39, splits={"train": {"scenes": 300}})
    sizes = []
    flush = ChunkWriter._flush

    def note_size_and_flush(writer: ChunkWriter) -> None:
        assert connection.in_atomic_block
        sizes.append(len(writer.scenes) + len(writer.questions))
        flush(writer)

    monkeypatch.setattr(ChunkWriter, "_flush", note_size_and_flush)
    dataset_jobs.RUNNER.run(claim(dataset))
    assert sum(sizes) == 12_000 and max(sizes) <= 5_000
    assert Scene.objects.count() + Question.objects.count() == 12_000


def test_a_process_that_lost_its_job_writes_nothing(begin: Begin) -> None:
    dataset = begin()
    job = claim(dataset)
    Job.objects.filter(pk=job.pk).update(token="someone else's")
    dataset_jobs.RUNNER.run(job)
    assert not Scene.objects.exists() and not Question.objects.exists()
    assert not Chunk.objects.filter(made=True).exists()
    assert Job.objects.get(pk=job.pk).state == "running"


def test_too_few_made_scenes_are_refused(begin: Begin) -> None:
    dataset = begin()
    job = claim(dataset)
    items = made_items(dataset, "train")[:11]
    with pytest.raises(BadScene, match="Expected 12 scenes with 36 questions, got 11 with 33"):
        ChunkWriter(job).write(items)
    assert not Chunk.objects.filter(made=True).exists()


@pytest.mark.parametrize(("largest", "mode"), [(4, "L"), (255, "L"), (256, "I;16"), (65535, "I;16")])
def test_object_ids_are_stored_exactly(begin: Begin, largest: int, mode: str) -> None:
    begin(ids_up_to=largest, splits={"train": {"scenes": 1}})
    dataset_jobs.work()
    scene = Scene.objects.get()
    with Image.open(io.BytesIO(files.get(scene.ids_image))) as image:
        assert image.mode == mode
        ids = np.asarray(image)
    assert ids[0, :4].tolist() == [0, 1, 2, largest]
    assert (scene.height, scene.width) == ids.shape == (12, 16)


def test_a_picture_is_stored_without_loss(made: Dataset) -> None:
    stored = next(store.load_items(made.splits.get(name="val"), 5, 1))
    rgb, _ = get_maker(made.world).render(made.read_spec(), "val", stored.item)
    with Image.open(io.BytesIO(files.get(stored.scene.image))) as image:
        assert np.array_equal(np.asarray(image), rgb)


def test_no_draft_files_are_left(made: Dataset) -> None:
    folder = files.local_path("")
    assert folder is not None
    assert not [path for path in folder.rglob(".*") if path.is_file() or path.name.startswith(".split")]


def test_a_dataset_without_images_has_no_pictures(begin: Begin) -> None:
    dataset = begin(images=False)
    dataset_jobs.work()
    dataset.refresh_from_db()
    assert dataset.state == "complete"
    assert not Scene.objects.exclude(image="").exists()
    assert progress_of(dataset).of_images == 0
