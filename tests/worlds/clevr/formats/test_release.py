"""Published scenes and questions become the original items, and errors in them are named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.engine.content_hash import Fingerprint
from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import FoundFiles, ReadItem, SplitFiles, SplitSummary
from generation.engine.worlds.clevr.formats.release_reader import READER
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.world import WORLD
from tests.shared_data import shared_path
from tests.worlds.clevr.formats import releases
from tests.worlds.clevr.formats.releases import questions_of, scenes_of, write


def opened(name: str) -> Any:
    return Path(name).open("rb")


def found_in(*paths: Path) -> FoundFiles:
    return READER.find(list(paths))


def read_all(found: FoundFiles, split: SplitFiles, *, skip: int = 0) -> list[ReadItem]:
    spec = WORLD.read_spec(READER.spec(found), files=found.contents)
    return list(READER.read(split, spec=spec, opened=opened, skip=skip))


def read_one(*paths: Path) -> list[ReadItem]:
    found = found_in(*paths)
    [split] = found.splits
    return read_all(found, split)


def fingerprint(items: list[Any]) -> str:
    result = Fingerprint()
    for item in items:
        result.add(item.scene.to_json() if item.scene else None, (question.to_json() for question in item.questions))
    return result.hexdigest()


def test_a_release_gives_its_original_items(tmp_path: Path) -> None:
    found = found_in(releases.release(tmp_path / "CLEVR_v1.0"))
    assert [split.name for split in found.splits] == ["train", "val", "test"]
    for split in found.splits[:2]:
        read = read_all(found, split)
        assert fingerprint([one.item for one in read]) == fingerprint(releases._items(split.name, 3)[1])
        assert [one.item.image_name for one in read] == [releases.image_name(split.name, number) for number in range(3)]
        assert not any(one.faults for one in read)


def test_a_test_split_has_only_texts(tmp_path: Path) -> None:
    [split] = found_in(releases.release(tmp_path / "CLEVR_v1.0", ("test",))).splits
    [first, *_] = read_all(FoundFiles((split,)), split)
    assert first.item.scene is None and first.item.image_name == "CLEVR_test_000000.png"
    for question in first.item.questions:
        assert question.text
        assert (question.program, question.answer, question.family, question.kind) == (None, None, None, "")


def test_the_format_of_the_generator_gives_the_same_items(tmp_path: Path) -> None:
    write(tmp_path / "out" / "CLEVR_scenes.json", scenes_of("val"))
    write(tmp_path / "out" / "scenes" / "CLEVR_val_000000.json", scenes_of("val")["scenes"][0])
    write(tmp_path / "out" / "CLEVR_questions.json", releases.generators("val"))
    read = read_one(tmp_path)
    assert fingerprint([one.item for one in read]) == fingerprint(releases._items("val", 3)[1])
    spoken = [question.answer for one in read for question in one.item.questions if question.answer]
    assert {answer.spelling for answer in spoken if answer.text in ("yes", "no")} <= {"true", "false"}


@pytest.mark.parametrize("part", ["scenes", "questions"])
def test_scenes_or_questions_alone_are_read(tmp_path: Path, part: str) -> None:
    releases.release(tmp_path, ("val",), images=False)
    read = read_one(tmp_path / part)
    assert len(read) == 3
    assert all((one.item.scene is None) == (part == "questions") for one in read)
    assert all(bool(one.item.questions) == (part == "questions") for one in read)


def test_pictures_alone_are_read(tmp_path: Path) -> None:
    releases.draw(tmp_path / "images" / "val", "val", range(2, 5))
    read = read_one(tmp_path)
    assert [(one.item.number, one.item.image_name) for one in read] == [
        (n, releases.image_name("val", n)) for n in (2, 3, 4)
    ]


def test_the_reference_of_cogent_splits_is_train_a(tmp_path: Path) -> None:
    names = ("testA", "testB", "trainA", "valA", "valB")
    found = found_in(releases.release(tmp_path / "CLEVR_CoGenT_v1.0", names, scenes=1, images=False))
    assert [split.name for split in found.splits] == ["trainA", "valA", "valB", "testA", "testB"]
    splits = READER.spec(found, {split.name: SplitSummary(1, 10) for split in found.splits})["splits"]
    assert {name: split["reference"] for name, split in splits.items()} == {
        "trainA": None, "valA": "trainA", "valB": "trainA", "testA": "trainA", "testB": "trainA",
    }  # fmt: skip


def test_scenes_and_questions_are_joined_by_the_number_of_their_picture(tmp_path: Path) -> None:
    scenes, questions = scenes_of("val"), questions_of("val")
    del scenes["scenes"][0]
    questions["questions"] = [record for record in questions["questions"] if record["image_index"] != 1]
    read = read_one(write(tmp_path / "s.json", scenes), write(tmp_path / "q.json", questions))
    assert [(one.item.number, one.item.scene is None, len(one.item.questions)) for one in read] == [
        (0, True, releases.EACH), (1, False, 0), (2, False, releases.EACH),
    ]  # fmt: skip


@pytest.mark.parametrize("skip", [0, 1, 3, 5])
def test_reading_continues_after_skipped_items(tmp_path: Path, skip: int) -> None:
    found = found_in(releases.release(tmp_path, ("val",), images=False))
    [split] = found.splits
    assert read_all(found, split, skip=skip) == read_all(found, split)[skip:]


def test_a_wrong_answer_is_reported_and_kept_as_published(tmp_path: Path) -> None:
    questions = questions_of("val")
    record = questions["questions"][5]
    right = record["answer"]
    record["answer"] = next(word for word in ("yes", "no") if word != right)
    [_, second, _] = read_one(write(tmp_path / "s.json", scenes_of("val")), write(tmp_path / "q.json", questions))
    [fault] = second.faults
    assert (fault.question, fault.kind, fault.expected, fault.got) == (1, "answer", right, record["answer"])
    answer = second.item.questions[1].answer
    assert answer is not None and answer.text == record["answer"]


def test_a_program_without_an_answer_is_a_fault(tmp_path: Path) -> None:
    questions = questions_of("val")
    questions["questions"][0]["program"] = [
        {"function": "scene", "inputs": [], "value_inputs": []},
        {"function": "unique", "inputs": [0], "value_inputs": []},
        {"function": "query_size", "inputs": [1], "value_inputs": []},
    ]
    questions["questions"][0]["answer"] = "small"
    [first, *_] = read_one(write(tmp_path / "s.json", scenes_of("val")), write(tmp_path / "q.json", questions))
    assert [(fault.question, fault.kind, fault.got) for fault in first.faults] == [(0, "no-answer", "small")]


def test_an_unknown_template_is_counted_and_not_guessed(tmp_path: Path) -> None:
    data = releases.generators("val")
    data["questions"][0]["template_filename"] = "my_own.json"
    [first, *_] = read_one(write(tmp_path / "q.json", data))
    assert first.unknown_families == 1 and first.item.questions[0].family is None


def set_at(data: Any, path: str, value: Any) -> None:
    *places, last = [int(place) if place.isdigit() else place for place in path.split(".")]
    for place in places:
        data = data[place]
    data[last] = value


@pytest.mark.parametrize(
    ("path", "value", "where", "message"),
    [
        ("questions.3.question", None, "q.json, questions[3], question", "Expected a text, got None"),
        ("questions.3.question", " ", "q.json, questions[3], question", "Expected words"),
        ("questions.3.image_index", True, "q.json, questions[3], image_index", "Expected a whole number, got True"),
        ("questions.11.image_index", 0, "q.json, questions[11], image_index", "here from 2, got 0"),
        ("questions.3.answer", "orange", "q.json, questions[3], answer", "got 'orange'"),
        ("questions.3.answer", ["red"], "q.json, questions[3], answer", "got ['red']"),
        ("questions.3.answer", 64, "q.json, questions[3], answer", "a number up to 63"),
        ("questions.3.question_family_index", 90, "q.json, questions[3], question_family", "0 to 89, got 90"),
        ("questions.3.program", {}, "q.json, questions[3], program", "Expected a list"),
        ("questions.3.program.0.function", "scan", "q.json, questions[3], program, step 0 (scan)", "Expected one of"),
        ("questions.3.program.1.inputs", [7], "q.json, questions[3], program, step 1", "steps before it, got step 7"),
        ("questions.3.image_filename", "../x.png", "q.json, questions[3], image_filename", "without folders"),
        ("questions.3", 17, "q.json, questions[3]", "Expected an object, got 17"),
        ("scenes.1.objects.0.color", "orange", "s.json, scenes[1], objects[0].color", "got 'orange'"),
        ("scenes.1.objects.0.shape", "teapot", "s.json, scenes[1], objects[0].shape", "got 'teapot'"),
        ("scenes.1.objects", [], "s.json, scenes[1], scene.objects", "Expected 1 to 63 objects, got 0"),
        ("scenes.1.relationships.left", [[0]], "s.json, scenes[1], scene.relationships.left", "object numbers"),
        ("scenes.1.image_index", 0, "s.json, scenes[1], image_index", "here from 1, got 0"),
    ],
)  # fmt: skip
def test_a_bad_record_is_named(tmp_path: Path, path: str, value: Any, where: str, message: str) -> None:
    data = {**scenes_of("val"), **questions_of("val")}
    if path == "questions.3.image_filename":
        path = "questions.4.image_filename"
        where = where.replace("[3]", "[4]")
        del data["scenes"][1]  # if there is no scene, the name in the question counts
    set_at(data, path, value)
    for key, name in (("scenes", "s.json"), ("questions", "q.json")):
        write(tmp_path / name, {"info": data["info"], key: data[key]})
    with pytest.raises(BadRecord) as caught:
        read_one(tmp_path)
    assert caught.value.where.startswith(where)
    assert message in caught.value.reason


def cut(text: str) -> str:
    return text[: len(text) * 2 // 3]


@pytest.mark.parametrize("harm", [cut, lambda text: text.replace('"question"', "question", 9)])
def test_a_truncated_or_invalid_file_is_refused_and_its_record_is_named(
    tmp_path: Path, harm: Callable[[str], str]
) -> None:
    path = write(tmp_path / "q.json", questions_of("val"))
    path.write_text(harm(path.read_text()))
    with pytest.raises(BadRecord, match=r"q\.json(, questions\[\d+\])?: Expected JSON, got something else"):
        read_one(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{}", "Expected a file with a list of scenes or questions"),
        ("a.json", "[1, 2]", "Expected a file with a list of scenes or questions"),
        ("a.json", "nothing", "Expected JSON"),
        ("a.zip", "PK", "Unpack other archives"),
        ("a.json", '{"questions": [{"split": "a b"}]}', "Expected a split's name"),
    ],
)
def test_a_file_without_scenes_or_questions_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(BadRecord, match=message):
        found_in(path)


def test_an_empty_or_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="got none"):
        found_in(tmp_path)
    with pytest.raises(BadRecord, match="Expected a file or a folder, got nothing"):
        found_in(tmp_path / "gone")


def test_two_files_of_one_kind_for_a_split_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.json", scenes_of("val"))
    write(tmp_path / "b.json", scenes_of("val"))
    with pytest.raises(BadRecord, match="Expected one file with scenes of val"):
        found_in(tmp_path)


def test_a_split_called_new_gets_another_name(tmp_path: Path) -> None:
    data = scenes_of("val")
    for record in [data["info"], *data["scenes"]]:
        record["split"] = "new"
    [split] = found_in(write(tmp_path / "CLEVR_scenes.json", data)).splits
    assert split.name == "main"


def test_the_spec_allows_as_many_objects_as_the_files_have() -> None:
    found = FoundFiles((SplitFiles("val", {}),))
    small, large = (READER.spec(found, {"val": SplitSummary(5, most)}) for most in (10, 30))
    assert small["scene"]["objects_max"] == 10 and large["scene"]["objects_max"] == 30
    assert WORLD.answers(WORLD.read_spec(large))[32] == "30"


def test_the_spec_has_the_size_of_the_pictures() -> None:
    spec = READER.spec(FoundFiles((SplitFiles("val", {}),)), {"val": SplitSummary(5, 3, (320, 240))})
    assert (spec["images"]["width"], spec["images"]["height"]) == (320, 240)


def test_families_are_numbered_as_in_the_release() -> None:
    """The answer types of the release's 90 templates, in its order."""
    types = {"n": "Integer", "e": "Bool", "z": "Size", "c": "Color", "m": "Material", "s": "Shape"}
    later = "nezscm" + "nzcms" + "eeeennnneeeennnncmszmszcszcm" + "nnnnnnnn" + "nezcms" + "nezcms" + "nesmcz"
    spec = WORLD.read_spec(READER.spec(FoundFiles((SplitFiles("val", {}),))))
    assert [family.answer_type for family in spec.families] == ["Bool"] * 25 + [types[letter] for letter in later]


def test_the_published_scenes_are_read_without_changes() -> None:
    path = shared_path("data", "clevr-v1", "CLEVR_train_scenes.json")
    read = read_one(path)
    published = json.loads(path.read_text())["scenes"]
    assert [one.item.number for one in read] == list(range(300))
    for one, record in zip(read, published, strict=True):
        assert one.item.scene is not None
        scene = one.item.scene.to_json()
        for thing in scene["objects"]:
            thing["rotation"] = thing.pop("published_rotation")
        assert scene["objects"] == record["objects"] and scene["relationships"] == record["relationships"]


@pytest.mark.parametrize(("unit", "rotation", "published"), [("radians", 57.29578, 1.0), ("degrees", 1.0, None)])
def test_the_info_of_a_file_may_state_the_unit_of_rotation(
    tmp_path: Path, unit: str, rotation: float, published: float | None
) -> None:
    data = scenes_of("val", 1)
    data["info"]["rotation"] = unit
    data["scenes"][0]["objects"][0]["rotation"] = 1.0
    [one] = read_one(write(tmp_path / "s.json", data))
    assert isinstance(one.item.scene, ClevrScene)
    thing = one.item.scene.objects[0]
    assert (thing.rotation, thing.published_rotation) == (rotation, published)


def test_an_unknown_unit_of_rotation_is_refused(tmp_path: Path) -> None:
    data = scenes_of("val", 1)
    data["info"]["rotation"] = "turns"
    with pytest.raises(BadRecord, match=r"s\.json, info\.rotation: Expected radians or degrees, got 'turns'"):
        read_one(write(tmp_path / "s.json", data))


def test_a_published_scene_with_its_picture_is_read() -> None:
    read = read_one(shared_path("data", "clevr-v1", "CLEVR_val_000013.json"), shared_path("data", "clevr-v1", "images"))
    assert [(one.item.number, one.item.image_name) for one in read] == [(13, "CLEVR_val_000013.png")]
