"""Importing an export gives the same content hash for every split whose answers are open."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from generation.engine import formats
from generation.engine.reading.dataset_reader import find_reader
from generation.engine.verification.exported_folders import Scope, verify
from generation.exchange import exports
from generation.making import imports
from generation.models import Dataset, ImportedSplit, Question, Scene
from tests.generation import small
from tests.generation.complete_datasets import finish
from tests.worlds.clevr.formats import releases
from tests.worlds.clevr.formats.releases import scenes_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_here")]
OPEN = {"train": {"scenes": 3}, "val": {"scenes": 2}, "test": {"scenes": 2}}


def exported(dataset: Dataset, folder: Path, *, name: str = "clevr", images: bool = False) -> Path:
    stored = exports.StoredDataset(dataset, images=images)
    exports.write(stored, folder, format_=formats.find(name, dataset.get_world()), options={})
    return folder


def imported(path: Path, *, images: str = "none", slug: str = "again") -> Dataset:
    found = find_reader("clevr").find([path])
    return finish(imports.begin(found, imports.ImportRequest(slug=slug, format="clevr", images=images)))


def hashes(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.splits.values_list("name", "fingerprint"))


@pytest.mark.parametrize("beside", [True, False])
def test_an_imported_export_has_the_same_hash(tmp_path: Path, beside: bool) -> None:
    ours = small.made(splits=OPEN, with_images=False)
    folder = exported(ours, tmp_path / "out")
    theirs = imported(folder / "CLEVR_v1.0" if beside else folder)
    assert hashes(theirs) == hashes(ours)
    assert theirs.fingerprint == ours.fingerprint
    assert theirs.title == ours.title
    seen = [Scene.objects.filter(split__dataset=one).order_by("pk").values_list("view") for one in (ours, theirs)]
    assert list(seen[0]) == list(seen[1])
    assert all(origin.report_json["faults"] == 0 for origin in ImportedSplit.objects.all())


def test_questions_of_a_withheld_split_are_imported_without_answers(tmp_path: Path) -> None:
    ours = small.made(with_images=False)
    theirs = imported(exported(ours, tmp_path / "out"))
    back, made = hashes(theirs), hashes(ours)
    assert (back["train"], back["val"]) == (made["train"], made["val"]) and back["test"] != made["test"]
    asked = Question.objects.filter(split__dataset=theirs, split__name="test")
    assert asked.count() == 8
    assert not asked.exclude(answer=None, program=None).exists()


def test_an_import_in_the_generators_format_has_the_same_hash(tmp_path: Path) -> None:
    ours = small.made(splits=OPEN, with_images=False)
    assert hashes(imported(exported(ours, tmp_path / "out", name="clevr-generator"))) == hashes(ours)


@pytest.mark.parametrize("name", ["clevr", "clevr-generator"])
def test_published_numbers_are_exported_and_imported_unchanged(tmp_path: Path, name: str) -> None:
    theirs = imported(releases.release(tmp_path / "CLEVR_v1.0", ("val",), images=False))
    folder = exported(theirs, tmp_path / "out", name=name)
    [path] = folder.rglob("CLEVR*_scenes.json")
    written = json.loads(path.read_text())
    assert written["info"]["rotation"] == "radians"
    assert [scene["objects"] for scene in written["scenes"]] == [
        scene["objects"] for scene in releases.scenes_of("val")["scenes"]
    ]
    assert hashes(imported(folder, slug="twice")) == hashes(theirs)


def test_another_vocabulary_is_exported_and_imported(tmp_path: Path) -> None:
    colors = {"orange": {"rgb": [255, 128, 0]}}
    ours = small.made(splits={"val": {"scenes": 2}}, with_images=False, vocabulary={"colors": colors})
    theirs = imported(exported(ours, tmp_path / "out"))
    assert hashes(theirs) == hashes(ours)
    assert theirs.spec_data["vocabulary"] == ours.spec_data["vocabulary"]


def test_exported_pictures_are_imported_as_links(tmp_path: Path) -> None:
    ours = small.made(splits={"val": {"scenes": 2}})
    folder = exported(ours, tmp_path / "out", images=True)
    theirs = imported(folder, images="linked")
    assert hashes(theirs) == hashes(ours)
    scenes = Scene.objects.filter(split__dataset=theirs)
    assert [(scene.linked != "", scene.width) for scene in scenes] == [(True, 120)] * 2


NUMBERS = [316, 329]
NAMES = [f"CLEVR_val_{number:06d}.png" for number in NUMBERS]
AS_PUBLISHED = {"width": 480, "height": 320, "samples": 1}


def some_scenes() -> bytes:
    """Return a file with two of many published scenes."""
    data = scenes_of("val", 2)
    for record, number, name in zip(data["scenes"], NUMBERS, NAMES, strict=True):
        record |= {"image_index": number, "image_filename": name}
    return json.dumps(data).encode()


def make_about(content: bytes, *, withheld: bool = False, **changes: Any) -> Dataset:
    """Make a dataset with generated questions about the scenes of a file."""
    digest = hashlib.sha256(content).hexdigest()
    splits = {"val": {"scenes": 2, "withheld": withheld}}
    return small.made(splits=splits, scenes_from=digest, files={digest: content}, **changes)


def pictures_of(path: Path, kind: str) -> list[tuple[int, str]]:
    """Return the number and file name of each picture in a file's records, each once."""
    records = json.loads(path.read_text())[kind]
    return list(dict.fromkeys((record["image_index"], record["image_filename"]) for record in records))


@pytest.mark.parametrize("name", ["clevr", "clevr-generator"])
def test_published_scenes_keep_their_numbers_and_file_names(tmp_path: Path, name: str) -> None:
    ours = make_about(some_scenes(), with_images=False)
    folder = exported(ours, tmp_path / "out", name=name)
    kept = list(zip(NUMBERS, NAMES, strict=True))
    for path in folder.rglob("*.json"):
        for kind in ("scenes", "questions", "views"):
            if path.name.endswith(f"_{kind}.json"):
                assert pictures_of(path, kind) == kept
    theirs = imported(folder)
    assert hashes(theirs) == hashes(ours)
    stored = Scene.objects.filter(split__dataset=theirs).values_list("position", "source_number", "source_image")
    assert list(stored) == [(0, 316, NAMES[0]), (1, 329, NAMES[1])]
    again = exported(theirs, tmp_path / "again", name=name)
    for path in folder.rglob("CLEVR*.json"):
        told, told_again = (json.loads((at / path.relative_to(folder)).read_text()) for at in (folder, again))
        assert {**told, "info": {}} == {**told_again, "info": {}} if "info" in told else told == told_again


def test_drawn_pictures_have_the_published_names(tmp_path: Path) -> None:
    folder = exported(make_about(some_scenes(), images=AS_PUBLISHED), tmp_path / "out", images=True)
    assert sorted(path.name for path in folder.rglob("*.png")) == NAMES
    assert verify(Scope(folder, "clevr")).holds


def test_exports_do_not_reveal_which_scenes_are_withheld(tmp_path: Path) -> None:
    folder = exported(make_about(some_scenes(), withheld=True, with_images=False), tmp_path / "out")
    [path] = (folder / "CLEVR_v1.0").rglob("*_questions.json")
    assert pictures_of(path, "questions") == [(0, "CLEVR_val_000000.png"), (1, "CLEVR_val_000001.png")]
    assert not any(name in path.read_text() for path in folder.rglob("*.json") for name in NAMES)
