"""The import and `--scenes-from` refuse the same bad files of scenes, with the same message."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import ReadItem
from generation.engine.worlds.clevr.formats.release_reader import READER
from generation.engine.worlds.clevr.spec import ClevrSpec, read_spec
from generation.engine.worlds.clevr.spec_files import GivenScenes
from generation.engine.worlds.clevr.world import WORLD

Harm = Callable[[list[Any]], Any]
SPEC: ClevrSpec = read_spec({"world": "clevr", "splits": {"val": {"scenes": 1}}}, files={})
LEFT = {"left": [[], [0], [0, 1]], "right": [[1, 2], [2], []]}


def scenes() -> list[Any]:
    """Return three scenes, each with three objects in a row."""
    thing = {"shape": "cube", "size": "large", "material": "metal", "color": "red", "rotation": 30.0}
    objects = [{**thing, "3d_coords": [x, 0.0, 0.7], "pixel_coords": [200 + x, 150, 9.0]} for x in (0, 1, 2)]
    return [
        copy.deepcopy(
            {
                "image_index": number,
                "image_filename": f"CLEVR_val_{number:06d}.png",
                "split": "val",
                "objects": objects,
                "directions": {"left": [1, 0, 0], "right": [-1, 0, 0], "behind": [0, 1, 0], "front": [0, -1, 0]},
                "relationships": {**LEFT, "behind": [[], [], []], "front": [[], [], []]},
            }
        )
        for number in (3, 5, 8)
    ]


def read_file(path: Path, content: bytes) -> list[ReadItem]:
    """Return the items that the import reads from a file with this content."""
    path.write_bytes(content)
    found = READER.find([path])
    [split] = found.splits
    spec = WORLD.read_spec(READER.spec(found))
    return list(READER.read(split, spec=spec, opened=lambda name: Path(name).open("rb")))


def read_given(content: bytes) -> list[Any]:
    """Return the records that `--scenes-from` reads from this content."""
    found = GivenScenes(content)
    found.check(SPEC, len(found))
    return [found.record(number) for number in range(len(found))]


def both_refuse(folder: Path, content: bytes) -> str:
    """Return the message of both readers, which may differ only in the name of the file."""
    with pytest.raises(BadRecord) as imported:
        read_file(folder / "s.json", content)
    with pytest.raises(BadRecord) as given:
        read_given(content)
    assert str(imported.value) == str(given.value).replace("scenes_from", "s.json", 1)
    return str(imported.value)


def test_a_valid_file_is_read_by_both(tmp_path: Path) -> None:
    content = json.dumps({"info": {"split": "val"}, "scenes": scenes()}).encode()
    assert [one.item.number for one in read_file(tmp_path / "s.json", content)] == [3, 5, 8]
    assert read_given(content) == scenes()


@pytest.mark.parametrize("style", [{}, {"indent": 2}, {"ensure_ascii": False}, {"ensure_ascii": False, "indent": 1}])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_scenes_are_found_at_any_position_of_a_file(tmp_path: Path, style: dict[str, Any], mark: bytes) -> None:
    said = {"split": "val", "note": '"scenes": [ Zähler 行 ' * 30_000}
    records = [{**one, "note": "é 行"} for one in scenes()]
    content = mark + json.dumps({"info": said, "scenes": records}, **style).encode()
    assert read_given(content) == records
    assert len(read_file(tmp_path / "s.json", content)) == 3


def at(*path: Any, value: Any) -> Harm:
    """Return a function that sets a field of the second scene."""

    def harm(records: list[Any]) -> None:
        place = records[1]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return harm


def without(*path: Any) -> Harm:
    """Return a function that removes a field of the second scene."""

    def harm(records: list[Any]) -> None:
        place = records[1]
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return harm


@pytest.mark.parametrize(
    ("harm", "where", "message"),
    [
        (without("directions"), "scene.directions", "Expected an object with a vector for each direction, got nothing"),
        (without("relationships"), "scene.relationships", "Expected an object with behind, front, left, right, got no"),
        (without("relationships", "left"), "scene.relationships.left", "Expected a list of object numbers for each"),
        (without("objects"), "scene.objects", "Expected a list of objects, got nothing"),
        (without("objects", 0, "color"), "scene.objects[0].color", "Expected a name, got nothing"),
        (without("objects", 0, "3d_coords"), "scene.objects[0].3d_coords", "Expected a list of three numbers, got not"),
        (at("objects", 1, value=7), "scene.objects[1]", "Expected an object, got 7"),
        (at("objects", value=None), "scene.objects", "Expected a list of objects, got None"),
        (at("objects", 2, "3d_coords", value=[1, 2]), "scene.objects[2].3d_coords", "got [1, 2]"),
        (at("objects", 2, "3d_coords", value=[1, 2, True]), "scene.objects[2].3d_coords", "got [1, 2, True]"),
        (at("objects", 2, "3d_coords", value=[1, 1e308, 0]), "objects[2].3d_coords", "-1,000 to 1,000 scene units"),
        (at("objects", 2, "pixel_coords", value=[-1e308, 1, 0]), "objects[2].pixel_coords", "got -1e+308"),
        (at("objects", 2, "rotation", value=1e9), "objects[2].rotation", "-1,000,000 to 1,000,000, got 1e+09"),
        (at("objects", 2, "rotation", value=1e308), "scene.objects", "Expected a rotation in radians, got 1e+308"),
        (at("objects", 2, "rotation", value="30"), "scene.objects[2].rotation", "Expected a number, got '30'"),
        (at("directions", "left", value=[1e308, 0, 0]), "directions.left", "-1,000 to 1,000 scene units, got 1e+308"),
        (at("directions", "left", value="left"), "scene.directions.left", "Expected a list of three numbers"),
        (at("relationships", "left", value=[[], [0], [0]]), "relationships.left[2]", "Expected object 1 in"),
        (at("relationships", "right", value=[[1], [2], []]), "relationships.right[0]", "Expected object 2 in"),
        (at("relationships", "front", value=[[1], [], []]), "relationships.behind[1]", "as object 1 is in"),
        (at("relationships", "left", 1, value=[0, 0]), "relationships.left[1]", "Expected each object once, got [0"),
        (at("relationships", "left", 0, value=[0]), "relationships.left[0]", "Expected other objects than 0 itself"),
        (at("relationships", "right", 0, value=[True, 2]), "scene.relationships.right[0]", "got [True, 2]"),
        (at("relationships", "right", 0, value=["1"]), "scene.relationships.right[0]", "got ['1']"),
        (at("relationships", "right", 0, value=[1.0]), "scene.relationships.right[0]", "got [1.0]"),
        (at("image_index", value=3), "image_index", "here from 4, got 3"),
        (at("image_index", value=2), "image_index", "here from 4, got 2"),
        (without("image_index"), "image_index", "Expected a whole number, got nothing"),
        (at("split", value="train"), "split", "Expected records of val alone, as the first is, got one of train"),
        (at("image_filename", value="CLEVR_val_000003.png"), "image_filename", "that no scene before it has"),
        (at("image_filename", value="../a.png"), "image_filename", "Expected a file name without folders"),
    ],
)  # fmt: skip
def test_a_bad_scene_is_refused(tmp_path: Path, harm: Harm, where: str, message: str) -> None:
    records = scenes()
    harm(records)
    said = both_refuse(tmp_path, json.dumps({"scenes": records}).encode())
    assert said.startswith(f"s.json, scenes[1], {where}: ") and message in said
    assert "Error" not in said


def test_an_object_cannot_be_on_both_sides(tmp_path: Path) -> None:
    records = scenes()
    records[1]["relationships"] |= {"left": [[1], [0], [0, 1]], "right": [[1, 2], [0, 2], []]}
    said = both_refuse(tmp_path, json.dumps({"scenes": records}).encode())
    assert "relationships.left[0]: Expected each object on one side of object 0, got object 1 both in left" in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"scenes": {}}', ": Expected a list 'scenes', got an object. Write [ and ] around the records."),
        (b'{"scenes": null}', ": Expected a list 'scenes', got null."),
        (b'{"scenes": "a"}', ": Expected a list 'scenes', got a text."),
        (b'{"scenes": 3}', ": Expected a list 'scenes', got a number."),
        (b"{}", ": Expected a file with a list of scenes or questions, got one without."),
        (b'{"scenes": [{"image_index": 1}, ', "Expected JSON, got something else after 1 records"),
        ("{}".encode("utf-16"), ": Expected UTF-8, got another byte (line 1, byte 1)."),
        (b'\xef\xbb\xbf\n{"a": "\xff"}', ": Expected UTF-8, got another byte (line 2, byte 12)."),
    ],
)
def test_a_file_without_its_list_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    said = both_refuse(tmp_path, content)
    assert message in said and "b'" not in said


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (b"garbage", "after its end"),
        (b'{"scenes": []}', "after its end"),
    ],
)
def test_text_after_the_end_is_refused(tmp_path: Path, more: bytes, message: str) -> None:
    assert message in both_refuse(tmp_path, json.dumps({"scenes": scenes()}).encode() + more)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"questions": []}, "Expected a file with scenes alone, got also 'questions'. Put each list into its own file"),
        ({"views": []}, "Expected a file with scenes alone, got also 'views'"),
    ],
)
def test_a_second_list_is_refused(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    assert message in both_refuse(tmp_path, json.dumps({"scenes": scenes(), **more}).encode())


def test_a_repeated_list_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"scenes": scenes()})
    said = both_refuse(tmp_path, f'{text[:-1]}, "scenes": []}}'.encode())
    assert "Expected one list 'scenes', got a second" in said


def questions() -> list[Any]:
    return [
        {"image_index": 3, "question": "Are there any red cubes?", "split": "val", "question_index": number}
        for number in (12, 13, 14)
    ]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("question_index", 12, "Expected a number that no question before it has, got 12 again. Give each its own."),
        ("question_index", True, "Expected a whole number or a text of at most 100 characters, got True."),
        ("question_index", [1], "Expected a whole number or a text of at most 100 characters, got [1]."),
        ("question_index", "a" * 101, "Expected a whole number or a text of at most 100 characters"),
        ("question", "red? " * 2001, "Expected at most 10,000 characters, got 10,005."),
        ("split", "train", "Expected records of val alone, as the first is, got one of train."),
        ("program", [{"function": "scene"}], "Expected an object with a function, inputs (a list of step numbers)"),
    ],
)
def test_a_bad_question_is_refused(tmp_path: Path, field: str, value: Any, message: str) -> None:
    records = questions()
    records[2][field] = value
    with pytest.raises(BadRecord) as caught:
        read_file(tmp_path / "q.json", json.dumps({"questions": records}).encode())
    assert caught.value.where.startswith(f"q.json, questions[2], {field}") and message in caught.value.reason


def test_an_unknown_value_is_refused_in_a_program_that_resembles_an_earlier_one(tmp_path: Path) -> None:
    records = questions()
    for record, color in zip(records, ("red", "blue", "purpel"), strict=True):
        record["program"] = [
            {"function": "scene", "inputs": [], "value_inputs": []},
            {"function": "filter_color", "inputs": [0], "value_inputs": [color]},
            {"function": "exist", "inputs": [1], "value_inputs": []},
        ]
    with pytest.raises(BadRecord) as caught:
        read_file(tmp_path / "q.json", json.dumps({"questions": records}).encode())
    assert caught.value.where == "q.json, questions[2], program, step 1 (filter_color)"
    assert "got 'purpel'" in caught.value.reason


@pytest.mark.parametrize("index", [1 << 40, -5, "a-7"])
def test_an_unusual_index_is_accepted_once(tmp_path: Path, index: Any) -> None:
    records = questions()
    records[0]["question_index"] = index
    [read] = read_file(tmp_path / "q.json", json.dumps({"questions": records}).encode())
    assert [question.source_id for question in read.item.questions] == [str(index), "13", "14"]
    records[2]["question_index"] = index
    with pytest.raises(BadRecord, match="again"):
        read_file(tmp_path / "q.json", json.dumps({"questions": records}).encode())


def test_a_question_of_ten_megabytes_is_refused(tmp_path: Path) -> None:
    content = json.dumps({"questions": [{**questions()[0], "question": "red? " * 2_000_000}]}).encode()
    with pytest.raises(BadRecord, match=r"q\.json: Expected texts of at most 1,048,576 bytes, got"):
        read_file(tmp_path / "q.json", content)


def test_scenes_of_each_file_are_checked() -> None:
    """Python reuses the memory addresses of deleted objects, so results must not be cached by address."""
    records = scenes()
    del records[1]["relationships"]
    good, bad = (json.dumps({"scenes": one}).encode() for one in (scenes(), records))
    for _ in range(60):
        read_given(good)
        with pytest.raises(BadRecord, match=r"scene\.relationships"):
            read_given(bad)
