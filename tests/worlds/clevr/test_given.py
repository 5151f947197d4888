"""Questions about scenes of other people: the scenes do not change, and their file is named by its digest."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadScene, BadSpec
from generation.engine.items import Item
from generation.engine.program import execute
from generation.engine.worlds.clevr import spec_files
from generation.engine.worlds.clevr.camera import project
from generation.engine.worlds.clevr.scene import read_published, read_scene
from generation.engine.worlds.clevr.world import WORLD
from generation.specs import loading
from tests.shared_data import shared_path
from tests.worlds.clevr.formats.releases import scenes_of, write

FEW = {"scene": {"min_pixels": 0}, "questions": {"per_scene": 4, "window": 2}}


def generate(source: loading.Source, **changes: Any) -> tuple[Any, dict[str, list[Item]]]:
    """Return a spec that is read with its files, and the items of each split."""
    spec = WORLD.read_spec({**source.data, **changes}, files=source.files)
    assert WORLD.maker is not None
    maker = WORLD.maker
    items = {
        name: [item for chunk in maker.plan(spec, name) for item in maker.make(spec, name, chunk)]
        for name in spec.splits
    }
    return spec, items


def source_of(tmp_path: Path, data: Any, **changes: Any) -> loading.Source:
    preset = write(tmp_path / "preset.json", {"world": "clevr", "splits": {"train": {"scenes": 9}}, **FEW, **changes})
    return loading.load(str(preset), scenes_from=write(tmp_path / "theirs.json", data))


def test_questions_are_generated_for_published_scenes(tmp_path: Path) -> None:
    data = scenes_of("val", 5)
    source = source_of(tmp_path, data)
    spec, items = generate(source)
    content = (tmp_path / "theirs.json").read_bytes()
    assert spec.to_json()["scenes_from"] == hashlib.sha256(content).hexdigest()
    assert source.files[spec.scenes_from] == content
    assert list(items) == ["val"] and len(items["val"]) == 5
    table = WORLD.functions(spec)
    for item, record in zip(items["val"], data["scenes"], strict=True):
        assert item.scene == read_published(record)
        assert len(item.questions) == 4
        for question in item.questions:
            assert question.program is not None and question.answer is not None
            assert str(execute(question.program, item.scene, table=table)[-1].value) == question.answer.text


def test_a_packed_file_of_scenes_is_stored_unpacked(tmp_path: Path) -> None:
    source = source_of(tmp_path, scenes_of("val", 2))
    packed = tmp_path / "theirs.json.gz"
    packed.write_bytes(gzip.compress((tmp_path / "theirs.json").read_bytes()))
    assert loading.load(str(tmp_path / "preset.json"), scenes_from=packed).files == source.files


def test_rotations_in_degrees_are_read_unchanged(tmp_path: Path) -> None:
    data = scenes_of("val", 2)
    data["info"]["rotation"] = "degrees"
    _, items = generate(source_of(tmp_path, data))
    assert [item.scene for item in items["val"]] == [read_scene(record) for record in data["scenes"]]


def test_the_same_file_and_seed_give_the_same_questions(tmp_path: Path) -> None:
    source = source_of(tmp_path, scenes_of("val", 5))
    one, two = (generate(source)[1]["val"] for _ in range(2))
    assert one == two
    other = generate(source, seed=9)[1]["val"]
    assert [item.scene for item in other] == [item.scene for item in one]
    assert [item.questions for item in other] != [item.questions for item in one]


def test_a_spec_without_given_scenes_has_no_field_for_them() -> None:
    assert WORLD.maker is not None
    assert "scenes_from" not in WORLD.read_spec(WORLD.maker.preset("clevr-mini")).to_json()


def test_fewer_scenes_than_in_the_file_are_allowed_but_not_more(tmp_path: Path) -> None:
    source = source_of(tmp_path, scenes_of("val", 5))
    assert len(generate(source, splits={"val": {"scenes": 3}})[1]["val"]) == 3
    with pytest.raises(BadSpec, match=r"splits.val.scenes: Expected up to 5, as many as the file has, got 6"):
        generate(source, splits={"val": {"scenes": 6}})


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda scene: scene["objects"][0].update(color="mauve"), r"scenes\[1\], objects\[0\].color: .*'mauve'"),
        (lambda scene: scene["objects"][0].update(shape="teapot"), r"scenes\[1\], objects\[0\].shape: .*'teapot'"),
        (lambda scene: scene.pop("relationships"), r"scenes\[1\], scene.relationships: Expected an object"),
        (lambda scene: scene.update(objects=[]), r"scenes\[1\], scene.objects: Expected 1 to 63"),
    ],
)
def test_a_bad_scene_is_refused_and_named(tmp_path: Path, harm: Any, message: str) -> None:
    data = scenes_of("val", 3)
    harm(data["scenes"][1])
    with pytest.raises(BadSpec, match=message):
        generate(source_of(tmp_path, data))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "list of scenes or questions"),
        ('{"questions": [{}]}', "Expected a file with a list of scenes, got one of questions"),
        ('{"questions": []}', "Expected records in questions, got an empty list"),
        ("nothing", "Expected JSON"),
        ('{"scenes": [{"image_index": 1}', "Expected JSON"),
    ],
)
def test_a_file_without_scenes_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(BadSpec, match=message):
        loading.load("clevr-mini", scenes_from=tmp_path / "f.json")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSpec, match="scenes_from: Expected a readable file"):
        loading.load("clevr-mini", scenes_from=tmp_path / "gone.json")


def test_the_camera_is_computed_from_the_pixels_of_objects() -> None:
    real = json.loads(shared_path("data", "clevr-v1", "CLEVR_train_scenes.json").read_text())["scenes"]
    for record in real[:20]:
        view = spec_files.seen_from(WORLD.read_scene(record), width=480, height=320)
        assert view is not None
        for thing in record["objects"]:
            px, py, _ = project(view, thing["3d_coords"])
            assert abs(px - thing["pixel_coords"][0]) < 1.5 and abs(py - thing["pixel_coords"][1]) < 1.5


def test_without_usable_pixels_there_is_no_camera(tmp_path: Path) -> None:
    data = scenes_of("val", 2)
    for thing in data["scenes"][0]["objects"]:
        thing["pixel_coords"] = [0, 0, 1.0]
    spec, items = generate(source_of(tmp_path, data))
    assert [item.view is None for item in items["val"]] == [True, False]
    assert WORLD.maker is not None
    with pytest.raises(BadScene, match="--no-images"):
        WORLD.maker.render(spec, "val", items["val"][0])
