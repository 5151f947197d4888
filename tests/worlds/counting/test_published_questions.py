"""Files in the published formats are read as items, and each fault is named with its file, place and field."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from generation.engine.errors import BadRecord
from generation.engine.items import Question
from generation.engine.reading.dataset_reader import FoundFiles, ReadItem, find_reader
from generation.engine.worlds import get_world
from generation.engine.worlds.counting.formats.coco_classes import COCO_CLASSES
from generation.engine.worlds.counting.formats.records import COMPLEX, SIMPLE, UNKNOWN, count_in
from generation.engine.worlds.counting.imported_facets import (
    FIRST_WORDS,
    OTHER,
    class_forms,
    class_in,
    first_words,
    plural,
)
from generation.engine.worlds.counting.picture_scene import PictureScene
from tests.worlds.counting import published
from tests.worlds.counting.published import changed, write

WORLD = get_world("counting")


def read(name: str, *paths: Path, split: str = "", skip: int = 0) -> list[ReadItem]:
    """Return the items of a split, by default of the only one."""
    reader = find_reader(name)
    found: FoundFiles = reader.find(paths)
    [files] = [one for one in found.splits if split in ("", one.name)]
    spec = WORLD.read_spec(reader.spec(found))
    return list(reader.read(files, spec=spec, opened=lambda path: Path(path).open("rb"), skip=skip))


def questions(items: Sequence[ReadItem]) -> list[Question]:
    """Return the questions of items, in their order."""
    return [question for read_item in items for question in read_item.item.questions]


def scene_of(read_item: ReadItem) -> PictureScene:
    assert isinstance(read_item.item.scene, PictureScene)
    return read_item.item.scene


def tally_record(read_item: ReadItem, question: Question) -> dict[str, Any]:
    """Return a question as TallyQA writes it, as far as an item tells it."""
    known = {} if question.kind == UNKNOWN else {"issimple": question.kind == SIMPLE}
    assert question.answer is not None and question.source_id is not None
    return {
        "answer": int(question.answer.text),
        "image": scene_of(read_item).image,
        "image_id": read_item.item.number,
        "question": question.text,
        "question_id": int(question.source_id),
        **known,
    }


# TallyQA


def test_tallyqa_is_read_as_it_was_written(tmp_path: Path) -> None:
    records = published.tally_records(2_000, known=1.0)
    items = read("tallyqa", write(tmp_path / "train.json", records))
    again = [tally_record(one, question) for one in items for question in one.item.questions]
    plain = [{name: value for name, value in record.items() if name != "data_source"} for record in records]
    assert sorted(again, key=lambda record: record["question_id"]) == plain


def test_questions_about_one_picture_are_one_item_wherever_they_are_in_the_file(tmp_path: Path) -> None:
    records = published.tally_records(300)
    by_image = defaultdict(list)
    for record in records:
        by_image[record["image"]].append(str(record["question_id"]))
    items = read("tallyqa", write(tmp_path / "train.json", records))
    assert [[question.source_id for question in one.item.questions] for one in items] == list(by_image.values())
    assert [scene_of(one).image for one in items] == list(by_image)
    assert {scene_of(one).source for one in items} == {"coco", "visual_genome"}


def test_without_issimple_questions_of_people_are_complex_and_others_unknown(tmp_path: Path) -> None:
    [plain] = published.tally_records(1, known=0.0)
    given_ = [
        (changed(plain, issimple=True), SIMPLE),
        (changed(plain, issimple=False), COMPLEX),
        (changed(plain, issimple=True, data_source="amt"), SIMPLE),
        (changed(plain, data_source="amt"), COMPLEX),
        ({**plain, "data_source": "imported_genome", "issimple": None}, UNKNOWN),
        ({name: value for name, value in plain.items() if name != "data_source"}, UNKNOWN),
    ]
    records = [{**record, "question_id": number} for number, (record, _) in enumerate(given_)]
    items = read("tallyqa", write(tmp_path / "test.json", records))
    assert [question.kind for question in questions(items)] == [kind for _, kind in given_]


@given(skip=st.integers(0, 200))
def test_skipped_items_are_the_first_ones(tmp_path_factory: pytest.TempPathFactory, skip: int) -> None:
    path = tmp_path_factory.getbasetemp() / "skipping" / "train.json"
    if not path.exists():
        write(path, published.tally_records(250))
    assert read("tallyqa", path, skip=skip) == read("tallyqa", path)[skip:]


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"answer": None}, "answer", "Expected a whole number, got nothing."),
        ({"answer": "3"}, "answer", "Expected a whole number, got '3'."),
        ({"answer": True}, "answer", "Expected a whole number, got True."),
        ({"answer": 16}, "answer", "Expected a whole number from 0 to 15, got 16."),
        ({"answer": -1}, "answer", "Expected a whole number from 0 to 15, got -1."),
        ({"answer": 2.5}, "answer", "Expected a whole number, got 2.5."),
        ({"question": None}, "question", "Expected a text, got nothing."),
        ({"question": " "}, "question", "Expected a text of 1 to 10,000 characters without NUL, got ''."),
        ({"question": "How\0?"}, "question", "Expected a text of 1 to 10,000 characters without NUL"),
        ({"image": 5}, "image", "Expected a text, got 5."),
        ({"image": "/etc/passwd"}, "image", "Expected a relative path of at most 200 characters, without `..`"),
        ({"image": "VG/../../x.jpg"}, "image", "Expected a relative path of at most 200 characters, without `..`"),
        ({"image": "VG\\x.jpg"}, "image", "Expected a relative path of at most 200 characters, without `..`"),
        ({"image": "x" * 201}, "image", "Expected a relative path of at most 200 characters, without `..`"),
        ({"image_id": "7"}, "image_id", "Expected a whole number, got '7'."),
        ({"question_id": -4}, "question_id", "Expected a whole number from 0 to"),
        ({"question_id": 0}, "", "Expected an id that no earlier question has, got 0 again."),
        ({"issimple": "yes"}, "issimple", "Expected true or false, got 'yes'."),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, changes: dict[str, Any], where: str, words: str) -> None:
    records = published.tally_records(3)
    records[2] = changed(records[2], **changes) if None in changes.values() else {**records[2], **changes}
    place = re.escape(f"train.json, [2]{f', {where}' if where else ''}: {words}")
    with pytest.raises(BadRecord, match=place):
        read("tallyqa", write(tmp_path / "train.json", records))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "train.json: Expected a list of records, got an object. Write [ and ] around the records."),
        ("", "train.json: Expected a list of records, got an empty file."),
        ("[3]", "train.json, [0]: Expected an object, got 3."),
        ("[{}, ", "train.json, [0], image: Expected a text, got nothing."),
        ("[", "train.json, [0]: Expected JSON, got something else after 0 records"),
        ('[{"answer": NaN}]', "train.json, [0]: "),
        ("[" * 100, "train.json, [0]: "),
    ],
)
def test_a_file_that_is_no_list_of_records_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "train.json"
    path.write_text(content)
    with pytest.raises(BadRecord, match=re.escape(words)):
        read("tallyqa", path)


@pytest.mark.parametrize(("format_", "name"), [("tallyqa", "train.json"), ("coco-instances", "instances_val2014.json")])
def test_a_file_without_questions_is_refused(tmp_path: Path, format_: str, name: str) -> None:
    empty = [] if format_ == "tallyqa" else {"images": [], "categories": [], "annotations": []}
    with pytest.raises(BadRecord, match=rf"{name}: Expected at least one question, got none\."):
        read(format_, write(tmp_path / name, empty))


def test_one_picture_has_one_number(tmp_path: Path) -> None:
    first, second = published.tally_records(2)
    records = [first, {**second, "image": first["image"], "image_id": 9_999}]
    with pytest.raises(BadRecord, match=r"train.json, \[1\]: Expected one number and one size for .*9999"):
        read("tallyqa", write(tmp_path / "train.json", records))


# Files


def test_splits_are_in_the_names_of_files(tmp_path: Path) -> None:
    for name in ("train.json", "val-1337.json", "tallyqa_test.json", "notes.json"):
        write(tmp_path / name, published.tally_records(1))
    found = find_reader("tallyqa").find([tmp_path])
    assert [(split.name, Path(split.files["questions"]).name) for split in found.splits] == [
        ("train", "train.json"),
        ("val", "val-1337.json"),
        ("test", "tallyqa_test.json"),
    ]
    sorted_ = find_reader("tallyqa").sort(["imports/1/test.json"], opened=pytest.fail)
    assert [split.name for split in sorted_.splits] == ["test"]


@pytest.mark.parametrize(
    ("format_", "names", "words"),
    [
        ("tallyqa", ["questions.json"], "Expected train, val or test in the file's name, got none of them."),
        ("tallyqa", ["train.json", "train-2.json"], "Expected one file with questions of train, got also"),
        ("tallyqa", ["train.zip"], "Expected a JSON file, also packed with gzip, or a folder. Unpack other archives."),
        ("tallyqa", ["nowhere/train.json"], "Expected a file or a folder, got nothing."),
        ("coco-grounding", ["a.json", "b.json"], "Expected one file with questions of grounding, got also"),
        ("howmany-qa", ["question_ids.json"], "Expected the file v2_OpenEnded_mscoco_train2014_questions.json too"),
        ("howmany-qa", ["train.json"], "Expected a name such as question_ids.json, "),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, format_: str, names: list[str], words: str) -> None:
    for name in names:
        if "/" not in name:
            write(tmp_path / name, [])
    with pytest.raises(BadRecord, match=re.escape(words)):
        find_reader(format_).find([tmp_path / name for name in names])


def test_pictures_are_in_the_folder_or_below_it(tmp_path: Path) -> None:
    published.tallyqa(tmp_path, train=2, test=2)
    reader = find_reader("tallyqa")
    assert {split.images for split in reader.find([tmp_path]).splits} == {""}
    (tmp_path / "images" / "VG_100K_2").mkdir(parents=True)
    assert {split.images for split in reader.find([tmp_path]).splits} == {str(tmp_path / "images")}
    (tmp_path / "train2014").mkdir()
    with pytest.raises(BadRecord, match="Expected one folder with folders of pictures"):
        reader.find([tmp_path])


# HowMany-QA


def test_howmany_qa_takes_texts_and_counts_from_both_sources(tmp_path: Path) -> None:
    folder = published.howmany(tmp_path, each=6)
    train = read("howmany-qa", folder, split="train")
    counts = {question.source_id: int(question.answer.text) for question in questions(train) if question.answer}
    assert counts == {str(1_000_000 + 10 * place): (100_000 + place) % 7 for place in range(6)} | {
        f"visual_genome-{1_000_000 + 10 * place}": count for place, count in enumerate(published.GENOME_COUNTS)
    }
    assert Counter(scene_of(one).source for one in train) == {"coco": 3, "visual_genome": 3}
    for split in ("dev", "test"):
        items = read("howmany-qa", folder, split=split)
        assert len(questions(items)) == 6
        assert all(scene_of(one).image == f"val2014/COCO_val2014_{one.item.number:012d}.jpg" for one in items)


@pytest.mark.parametrize(
    "missing", ["question_answers.json", "v2_mscoco_val2014_annotations.json", "question_ids.json"]
)
def test_a_missing_file_of_howmany_qa_is_named(tmp_path: Path, missing: str) -> None:
    (published.howmany(tmp_path) / missing).unlink()
    with pytest.raises(BadRecord, match=f"{missing}: Expected the file {missing} too, for the split"):
        find_reader("howmany-qa").find([tmp_path])


def test_an_id_without_a_question_is_named(tmp_path: Path) -> None:
    folder = published.howmany(tmp_path)
    ids = json.loads((folder / "question_ids.json").read_text())
    write(folder / "question_ids.json", {**ids, "dev": [*ids["dev"], 5, 6]})
    words = r"v2_mscoco_val2014_annotations.json: Expected each vqa question of question_ids.json, got none with the "
    with pytest.raises(BadRecord, match=rf"{words}id 5 and 1 more\. Check that the file is complete\."):
        read("howmany-qa", folder, split="dev")
    write(folder / "question_ids.json", {**ids, "dev": "all"})
    with pytest.raises(BadRecord, match=r"question_ids.json: Expected lists of whole numbers for dev, got something"):
        read("howmany-qa", folder, split="dev")


@pytest.mark.parametrize(
    ("text", "count"),
    [("3", 3), ("Three.", 3), (" 0 ", 0), ("none", 0), ("2 men", 2), ("There are 20.", 20), ("two, 2", 2)],
)
def test_a_count_is_the_only_number_of_an_answer(text: str, count: int) -> None:
    assert count_in(text, most=20, where="here") == count


@pytest.mark.parametrize("text", ["", "many", "2 or 3", "21", "2.5", "9" * 50, None, 3, "½", "²"])
def test_an_answer_without_one_count_is_refused(text: Any) -> None:
    with pytest.raises(BadRecord, match="here: Expected an answer with one number from 0 to 20, got"):
        count_in(text, most=20, where="here")


# COCO-Grounding


def test_coco_grounding_keeps_classes_and_boxes(tmp_path: Path) -> None:
    records = published.grounding_records(120)
    items = read("coco-grounding", write(tmp_path / "coco-ground.json", records))
    found = {}
    for one in items:
        scene = scene_of(one)
        assert (scene.width, scene.height) == (published.WIDTH, published.HEIGHT)
        elements = WORLD.elements(None, one.item)
        for question in one.item.questions:
            ids = WORLD.counted(None, one.item, question)
            assert ids is not None
            names = {elements[number].label for number in ids}
            found[question.source_id] = (names, [list(elements[number].box or ()) for number in ids])
    for record in records:
        names = {record["name"]} if record["gt_bboxes"] else set()
        assert found[str(record["question_id"])] == (names, record["gt_bboxes"])
    assert {question.kind for question in questions(items)} == {SIMPLE}


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"name": None}, "name", "Expected a text, got nothing."),
        ({"gt_bboxes": None}, "gt_bboxes", "Expected a list, got nothing."),
        ({"gt_bboxes": [[0, 0, 1, 1]]}, "gt_bboxes", "Expected as many boxes as the answer says, 2, got 1."),
        ({"gt_bboxes": [[0, 0, 1, 1], [0, 0, 1]]}, "gt_bboxes[1]", "Expected four numbers, got [0, 0, 1]."),
        ({"gt_bboxes": [[0, 0, 1, 1], [0, 0, 1, "2"]]}, "gt_bboxes[1]", "Expected four numbers, got"),
        ({"gt_bboxes": [[0, 0, 1, 1], [5, 0, 4, 1]]}, "gt_bboxes[1]", "Expected left, top, right and bottom of a box"),
        ({"gt_bboxes": [[0, 0, 1, 1], [0, 0, 642, 9]]}, "gt_bboxes[1]", "Expected a box in a picture of 640 × 480"),
        ({"gt_bboxes": [[0, 0, 1, 1], [-2, 0, 4, 9]]}, "gt_bboxes[1]", "Expected a box in a picture of 640 × 480"),
        ({"img_width": 0}, "img_width", "Expected a size of at least 1 pixel, got 0."),
        ({"img_height": None}, "img_height", "Expected a whole number, got nothing."),
    ],
)
def test_a_fault_of_boxes_is_named_with_its_place(
    tmp_path: Path, changes: dict[str, Any], where: str, words: str
) -> None:
    record = published.grounding_record(0, "cup", [[0, 0, 5, 5], [1, 1, 2, 2]], image=1)
    path = write(tmp_path / "coco-ground.json", [changed(record, **changes)])
    with pytest.raises(BadRecord, match=re.escape(f"coco-ground.json, [0], {where}: {words}")):
        read("coco-grounding", path)


def test_the_same_question_about_a_picture_has_the_same_boxes(tmp_path: Path) -> None:
    first = published.grounding_record(0, "cup", [[0, 0, 5, 5]], image=1)
    again = {**first, "question_id": 1}
    assert len(questions(read("coco-grounding", write(tmp_path / "g.json", [first, again])))) == 2
    other = {**again, "gt_bboxes": [[0, 0, 5, 6]]}
    with pytest.raises(BadRecord, match=r"g.json, \[1\]: Expected the same boxes for the same question about val2014/"):
        read("coco-grounding", write(tmp_path / "g.json", [first, other]))


def test_a_box_is_cut_at_the_edge_of_its_picture(tmp_path: Path) -> None:
    record = published.grounding_record(0, "cup", [[-0.4, 0, 640.7, 480.2]], image=1)
    [item] = read("coco-grounding", write(tmp_path / "g.json", [record]))
    assert scene_of(item).counted[0].boxes == ((0.0, 0.0, 640.0, 480.0),)


def test_a_class_that_coco_lacks_is_added_to_the_spec(tmp_path: Path) -> None:
    record = published.grounding_record(0, "marble", [[0, 0, 5, 5]], image=1)
    [item] = read("coco-grounding", write(tmp_path / "g.json", [record]))
    assert item.words == ("marble",)


# COCO's instances


def slow_counts(data: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Return the number of objects of each class in each picture; -1 if it is not known."""
    names = {one["id"]: one["name"] for one in data["categories"]}
    files = {one["id"]: one["file_name"] for one in data["images"]}
    counts = {(file, name): 0 for file in files.values() for name in names.values()}
    crowds = {(files[one["image_id"]], names[one["category_id"]]) for one in data["annotations"] if one["iscrowd"]}
    for one in data["annotations"]:
        counts[files[one["image_id"]], names[one["category_id"]]] += 1
    return {pair: -1 if pair in crowds else count for pair, count in counts.items()}


@pytest.mark.parametrize("seed", range(4))
def test_instances_give_equally_many_0_1_and_2_and_all_larger_counts(tmp_path: Path, seed: int) -> None:
    data = published.instances(120, seed=seed)
    items = read("coco-instances", write(tmp_path / "instances_val2014.json", data))
    counts = slow_counts(data)
    asked = {(scene_of(one).image, counted.name): counted for one in items for counted in scene_of(one).counted}
    assert len(asked) == len(questions(items))
    assert all(len(counted.boxes) == counts[pair] for pair, counted in asked.items())
    number = Counter(len(counted.boxes) for counted in asked.values())
    every = Counter(counts.values())
    assert number[0] == number[1] == number[2] == min(every[1], every[2])
    assert all(number[count] == every[count] for count in range(3, 16))
    assert max(number) <= 15
    boxes = defaultdict(list)
    names = {one["id"]: one["name"] for one in data["categories"]}
    for one in data["annotations"]:
        left, top, width, height = one["bbox"]
        file = f"COCO_val2014_{one['image_id']:012d}.jpg"
        boxes[file, names[one["category_id"]]].append((left, top, left + width, top + height))
    for pair, counted in asked.items():
        assert np.allclose(sorted(counted.boxes), sorted(boxes[pair]), atol=0.01)


def test_questions_of_instances_are_drawn_again_the_same(tmp_path: Path) -> None:
    path = write(tmp_path / "instances_val2014.json", published.instances(60))
    assert read("coco-instances", path) == read("coco-instances", path)
    assert read("coco-instances", path, skip=5) == read("coco-instances", path)[5:]


@pytest.mark.parametrize(
    ("list_", "changes", "where", "words"),
    [
        ("annotations", {"bbox": [0, 0, -1, 4]}, "bbox", "Expected left, top, right and bottom of a box"),
        ("annotations", {"bbox": [0, 0, 4]}, "bbox", "Expected four numbers, got [0, 0, 4]."),
        ("annotations", {"bbox": None}, "bbox", "Expected four numbers, got None."),
        ("annotations", {"keypoints": [0, 0, 0]}, "", "Expected instances of COCO, got key points."),
        ("annotations", {"category_id": 999}, "category_id", "Expected an id that the file lists, got 999."),
        ("annotations", {"image_id": 1}, "image_id", "Expected an id that the file lists, got 1."),
        ("images", {"id": 101}, "id", "Expected an id that no earlier record has, got 101 again."),
        ("images", {"width": 0}, "width", "Expected a size of at least 1 pixel, got 0."),
        ("categories", {"name": ""}, "name", "Expected a text of 1 to 100 characters without NUL, got ''."),
    ],
)
def test_a_fault_of_instances_is_named_with_its_place(
    tmp_path: Path, list_: str, changes: dict[str, Any], where: str, words: str
) -> None:
    data = published.instances(20)
    data[list_][3] = {**data[list_][3], **changes}
    with pytest.raises(
        BadRecord, match=re.escape(f"instances_val2014.json, {list_}[3]{where and ', '}{where}: {words}")
    ):
        read("coco-instances", write(tmp_path / "instances_val2014.json", data))


def test_a_list_of_instances_that_is_missing_is_named(tmp_path: Path) -> None:
    data = changed(published.instances(3), categories=None)
    with pytest.raises(BadRecord, match=r"instances_val2014.json: Expected a list 'categories', got none\."):
        read("coco-instances", write(tmp_path / "instances_val2014.json", data))


# Facets

PARTS = (
    *("how", "HOW", "many", "much", "what", "number", "is", "count", "other"),
    *("person", "people", "Fire", "hydrants", "é", "K"),
)


def slow_first_words(text: str) -> str:
    plain = f"{' '.join(re.findall('[a-z]+', text.lower()))} "
    return next((words for words in FIRST_WORDS if plain.startswith(f"{words} ")), OTHER)


def slow_class(text: str, classes: Sequence[str]) -> str | None:
    """Return the class with the longest form with which the words after `how many` begin."""
    match = re.match(r"\s*how many\s+(.*)", text, re.IGNORECASE | re.DOTALL)
    plain = {name: " ".join(re.findall("[a-z]+", name.lower())) for name in classes}
    forms = [(form, name) for name, words in plain.items() for form in (plural(words), words)]
    words = f"{' '.join(re.findall('[a-z]+', match[1].lower()))} " if match else ""
    found = [(form, name) for form, name in forms if words.startswith(f"{form} ")]
    return max(found, key=lambda one: len(one[0]))[1] if found else None


@given(st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from([" ", "-", "  ", "\n", "1", ""])), max_size=6))
@example(parts=[("Fire", " "), ("hydrants", "-"), ("is", " ")])
@example(parts=[("what", "-"), ("number", "1")])
@example(parts=[("what", " "), ("person", "")])
@example(parts=[("person", ""), ("is", " ")])
def test_facets_of_a_text_equal_those_of_a_slow_reference(parts: list[tuple[str, str]]) -> None:
    text = "".join(part for pair in parts for part in pair)
    assert first_words(text) == slow_first_words(text)
    for question in (text, f"How many {text}"):
        assert class_in(question, class_forms(COCO_CLASSES)) == slow_class(question, COCO_CLASSES)
