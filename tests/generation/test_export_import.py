"""What is exported comes back as it was: the same content hash for every split whose answers are open."""

from pathlib import Path

import pytest

from generation import exporting, importing, jobs
from generation.engine import formats
from generation.engine.reading import find_reader
from generation.models import Dataset, ImportedSplit, Question, Scene
from tests.generation import small

pytestmark = pytest.mark.django_db
OPEN = {"train": {"scenes": 3}, "val": {"scenes": 2}, "test": {"scenes": 2}}


def exported(dataset: Dataset, folder: Path, *, name: str = "clevr", images: bool = False) -> Path:
    stored = exporting.StoredDataset(dataset, images=images)
    exporting.write(stored, folder, format_=formats.find(name, dataset.get_world()), options={})
    return folder


def imported(path: Path, *, images: str = "none") -> Dataset:
    found = find_reader("clevr").find([path])
    dataset = importing.begin(found, importing.Wanted(slug="again", format="clevr", images=images))
    jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset


def hashes(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.splits.values_list("name", "fingerprint"))


@pytest.mark.parametrize("beside", [True, False])
def test_an_export_comes_back_with_the_same_hash(tmp_path: Path, beside: bool) -> None:
    ours = small.made(splits=OPEN, with_images=False)
    folder = exported(ours, tmp_path / "out")
    theirs = imported(folder / "CLEVR_v1.0" if beside else folder)
    assert hashes(theirs) == hashes(ours)
    assert theirs.fingerprint == ours.fingerprint
    assert theirs.title == ours.title
    seen = [Scene.objects.filter(split__dataset=one).order_by("pk").values_list("view") for one in (ours, theirs)]
    assert list(seen[0]) == list(seen[1])
    assert all(origin.report_json["faults"] == 0 for origin in ImportedSplit.objects.all())


def test_of_a_withheld_split_the_words_come_back(tmp_path: Path) -> None:
    ours = small.made(with_images=False)
    theirs = imported(exported(ours, tmp_path / "out"))
    back, made = hashes(theirs), hashes(ours)
    assert (back["train"], back["val"]) == (made["train"], made["val"]) and back["test"] != made["test"]
    asked = Question.objects.filter(split__dataset=theirs, split__name="test")
    assert asked.count() == 8
    assert not asked.exclude(answer=None, program=None).exists()


def test_the_generators_dialect_comes_back_with_the_same_hash(tmp_path: Path) -> None:
    ours = small.made(splits=OPEN, with_images=False)
    assert hashes(imported(exported(ours, tmp_path / "out", name="clevr-generator"))) == hashes(ours)


def test_another_vocabulary_comes_back_with_its_spec(tmp_path: Path) -> None:
    colors = {"orange": {"rgb": [255, 128, 0]}}
    ours = small.made(splits={"val": {"scenes": 2}}, with_images=False, vocabulary={"colors": colors})
    theirs = imported(exported(ours, tmp_path / "out"))
    assert hashes(theirs) == hashes(ours)
    assert theirs.spec_data["vocabulary"] == ours.spec_data["vocabulary"]


def test_pictures_come_back_as_links(tmp_path: Path) -> None:
    ours = small.made(splits={"val": {"scenes": 2}})
    folder = exported(ours, tmp_path / "out", images=True)
    theirs = imported(folder, images="linked")
    assert hashes(theirs) == hashes(ours)
    scenes = Scene.objects.filter(split__dataset=theirs)
    assert [(scene.linked != "", scene.width) for scene in scenes] == [(True, 120)] * 2
