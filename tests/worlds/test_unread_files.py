"""Folders with other data than a reader takes: each file is read, left out as no data, or refused by name.

The folders are read as the import's child process reads them.
"""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import FoundFiles
from generation.making.import_process import answers
from generation.making.import_sandbox import ReadingOrder
from tests.worlds.clevr.formats import releases
from tests.worlds.counting import published
from tests.worlds.counting.published import write
from tests.worlds.test_folders_of_strangers import babi

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"
RECORDS = {"questions": [{"split": "val", "image_index": 0, "question": "Is it?", "answer": "yes"}]}


def find(format_: str, *paths: Path) -> FoundFiles:
    """Return what the import finds in files and folders."""
    [found] = answers(ReadingOrder("find", format_, [str(path) for path in paths]))
    assert isinstance(found, FoundFiles)
    return found


def refusal(format_: str, *paths: Path) -> str:
    """Return the message with which the import refuses files and folders."""
    with pytest.raises(BadRecord) as it:
        find(format_, *paths)
    return str(it.value)


def zipped(content: bytes, name: str = "CLEVR_val_questions.json") -> bytes:
    """Return a zip archive with one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


def pictures(folder: Path, *names: str) -> Path:
    """Write pictures with these names, and return their folder."""
    releases.draw(folder, "val", range(1))
    content = (folder / releases.image_name("val", 0)).read_bytes()
    (folder / releases.image_name("val", 0)).unlink()
    for name in names:
        (folder / name).write_bytes(content)
    return folder


def clevr(folder: Path, *, scenes: bool = True) -> Path:
    """Write pictures of CLEVR, and by default their scenes, and return the folder."""
    releases.draw(folder / "images" / "val", "val", range(3))
    if scenes:
        write(folder / "scenes" / "CLEVR_val_scenes.json", releases.scenes_of("val"))
    return folder


PACKED: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "zip": ("CLEVR_val_questions.json.zip", zipped, "got a zip archive: unpack it"),
    "folder": ("questions.zip", zipped, "got a zip archive: unpack it"),
    "bz2": ("CLEVR_val_questions.json.bz2", bz2.compress, "got bzip2: unpack it"),
    "xz": ("CLEVR_val_questions.json.xz", lzma.compress, "got xz: unpack it"),
    "twice": (
        "CLEVR_val_questions.json.gz.gz",
        lambda one: gzip.compress(gzip.compress(one)),
        "packed twice with gzip",
    ),
    "txt": ("CLEVR_val_questions.json.txt", bytes, "call it CLEVR_val_questions.json"),
    "copy": ("CLEVR_val_questions.json.1", bytes, "call it CLEVR_val_questions.json"),
    "text": ("CLEVR_val_questions.txt", bytes, "call it CLEVR_val_questions.json"),
    "nothing": ("CLEVR_val_questions", bytes, "call it CLEVR_val_questions.json"),
    "download": ("CLEVR_val_questions.json (1)", bytes, "call it CLEVR_val_questions.json"),
    "hidden": (".CLEVR_val_questions.json", bytes, "call it CLEVR_val_questions.json"),
    "gz": ("questions.gz", gzip.compress, "a packed file, questions.gz: unpack it"),
    "7z": ("questions.7z", lambda one: b"7z\xbc\xaf\x27\x1c" + one, "a 7z archive: unpack it"),
}


@pytest.mark.parametrize("scenes", [True, False])
@pytest.mark.parametrize("case", PACKED)
def test_questions_that_cannot_be_read_are_not_left_out(tmp_path: Path, case: str, scenes: bool) -> None:
    name, pack, expected = PACKED[case]
    path = clevr(tmp_path, scenes=scenes) / "questions" / name
    path.parent.mkdir()
    path.write_bytes(pack(json.dumps(releases.questions_of("val")).encode()))
    message = refusal("clevr", tmp_path)
    assert message.startswith(f"{path}: Expected CLEVR, as published, in files that can be read, got ")
    assert expected in message and message.endswith("or move it out of the folder.")


def test_a_folder_with_hidden_records_alone_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / ".CLEVR_val_questions.json", releases.questions_of("val"))
    assert refusal("clevr", tmp_path).endswith("under another name: call it CLEVR_val_questions.json.")


def test_single_scenes_are_not_left_out_beside_pictures(tmp_path: Path) -> None:
    path = write(clevr(tmp_path, scenes=False) / "scenes" / "CLEVR_val_0.json", releases.scenes_of("val")["scenes"][0])
    assert f"{path}: Expected CLEVR, as published, or pictures alone, got single scenes" in refusal("clevr", tmp_path)
    write(tmp_path / "CLEVR_scenes.json", releases.scenes_of("val"))
    assert find("clevr", tmp_path).left == (str(path),)


def test_a_server_s_message_under_the_name_of_data_is_refused(tmp_path: Path) -> None:
    write(clevr(tmp_path) / "CLEVR_val_questions.json", {"message": "Not Found"})
    assert "CLEVR_val_questions.json: Expected a file with a list of scenes" in refusal("clevr", tmp_path)


def test_text_and_programs_beside_pictures_are_no_data(tmp_path: Path) -> None:
    clevr(tmp_path, scenes=False)
    for name in ("README.md", "LICENSE.txt", "load.py", "NOTES"):
        (tmp_path / name).write_text("{{ about }} the set")
    assert [split.name for split in find("clevr", tmp_path).splits] == ["val"]


@pytest.mark.parametrize("name", ["CLEVR_val_questions.json.zip", "questions.zip", "CLEVR_val_questions.json.bak"])
def test_what_is_there_unpacked_too_is_no_loss(tmp_path: Path, name: str) -> None:
    path = write(clevr(tmp_path) / "questions" / "CLEVR_val_questions.json", releases.questions_of("val"))
    path.with_name(name).write_bytes(zipped(path.read_bytes()) if name.endswith(".zip") else path.read_bytes())
    [split] = find("clevr", tmp_path).splits
    assert sorted(split.files) == ["questions", "scenes"]


def test_an_archive_of_pictures_alone_is_no_loss(tmp_path: Path) -> None:
    published.tallyqa(tmp_path, train=3, test=2)
    path = tmp_path / "images.zip"
    path.write_bytes(zipped(b"", "VG_100K/1.jpg"))
    found = find("tallyqa", tmp_path)
    assert ([split.name for split in found.splits], found.left) == (["train", "test"], (str(path),))


def test_an_archive_beside_its_pictures_is_no_other_data(tmp_path: Path) -> None:
    (clevr(tmp_path, scenes=False) / "images.zip").write_bytes(zipped(b"", "images/val/CLEVR_val_000000.png"))
    assert [split.name for split in find("clevr", tmp_path).splits] == ["val"]


def test_a_folder_with_an_archive_of_pictures_alone_names_it(tmp_path: Path) -> None:
    path = tmp_path / "images.zip"
    path.write_bytes(zipped(b"", "images/val/CLEVR_val_000000.png"))
    assert refusal("clevr", tmp_path) == f"{path}: Expected CLEVR, as published, got a zip archive: unpack it."


DATA = ["a.parquet", "questions.jsonl", "q.csv", "q.h5", "scenes.npz", "other.json", "q.json.old"]


@pytest.mark.parametrize("name", DATA)
def test_pictures_alone_are_imported_only_without_other_data(tmp_path: Path, name: str) -> None:
    path = clevr(tmp_path, scenes=False) / name
    path.write_text('[{"a": [1]}]')
    assert refusal("clevr", tmp_path).startswith((f"{path}: ", f"{path.name}: "))
    path.unlink()
    [split] = find("clevr", tmp_path).splits
    assert (split.name, split.files, split.images) == ("val", {}, str(tmp_path / "images" / "val"))


@pytest.mark.parametrize("name", [one for one in DATA if one != "other.json"])
def test_other_data_beside_records_are_named_as_left_out(tmp_path: Path, name: str) -> None:
    path = clevr(tmp_path) / name
    path.write_text('[{"a": [1]}]')
    assert find("clevr", tmp_path).left == (str(path),)


ASIDE: dict[str, Any] = {
    "package.json": {"name": "x", "contributors": [{"name": "A"}]},
    "dataset_infos.json": {"default": {"features": {"question": {"dtype": "string"}}}},
    "README.json": {"title": "CLEVR", "year": 2017},
    "about-us.json": {"title": "CLEVR", "year": 2017},
}


@pytest.mark.parametrize("format_", ["clevr", "tallyqa", "coco-grounding", "coco-instances"])
@pytest.mark.parametrize("name", ASIDE)
def test_json_that_is_no_data_is_left_out_and_named(tmp_path: Path, name: str, format_: str) -> None:
    folders: dict[str, Callable[[Path], object]] = {
        "clevr": clevr,
        "tallyqa": lambda folder: published.tallyqa(folder, train=3, test=2),
        "coco-grounding": lambda folder: write(folder / "g.json", published.grounding_records(3)),
        "coco-instances": lambda folder: write(folder / "instances_val2014.json", published.instances(3)),
    }
    folders[format_](tmp_path)
    expected = find(format_, tmp_path).splits
    path = write(tmp_path / name, ASIDE[name])
    assert find(format_, tmp_path) == FoundFiles(expected, left=(str(path),))


def test_json_that_may_be_data_is_refused(tmp_path: Path) -> None:
    path = write(clevr(tmp_path) / "more.json", {"items": [{"question": "Is it?"}]})
    assert f"{path.name}: Expected a file with a list of scenes or questions" in refusal("clevr", tmp_path)


@pytest.mark.parametrize("kind", ["questions", "scenes"])
def test_an_empty_list_is_refused(tmp_path: Path, kind: str) -> None:
    path = write(clevr(tmp_path, scenes=kind != "scenes") / f"CLEVR_val_{kind}.json", {"info": {}, kind: []})
    assert f"{path.name}: Expected records in {kind}, got an empty list" in refusal("clevr", tmp_path)


# Pictures

OTHER_PICTURES = {
    "COCO_val2014_000000391895.jpg": "COCO",
    "000000391895.jpg": "COCO",
    "VizWiz_train_00000001.jpg": "VizWiz",
    "2407890.jpg": "GQA or Visual Genome",
    "dev-0-0-img0.png": "NLVR2",
    "superCLEVR_new_000000.png": "Super-CLEVR",
    "CLEVR_Hans_classid_0_000000.png": "CLEVR-Hans",
    "ACRE_train_000000_00.png": "ACRE",
}


@pytest.mark.parametrize("name", OTHER_PICTURES)
def test_pictures_of_another_set_are_refused_by_name(tmp_path: Path, name: str) -> None:
    pictures(tmp_path / "val", name)
    message = refusal("clevr", tmp_path)
    assert (
        message == f"{tmp_path / 'val' / name}: Expected CLEVR, as published, got pictures of {OTHER_PICTURES[name]}."
    )


def test_pictures_without_a_known_name_are_refused(tmp_path: Path) -> None:
    pictures(tmp_path / "val", "holiday.jpg")
    assert "(CLEVR_val_000000.png), got pictures with other names, as holiday.jpg." in refusal("clevr", tmp_path)


@pytest.mark.parametrize("name", ["preview.png", "COCO_val2014_000000391895.jpg", "figure_1.png"])
def test_a_stray_picture_makes_no_split(tmp_path: Path, name: str) -> None:
    expected = find("clevr", clevr(tmp_path)).splits
    pictures(tmp_path / "scenes", name)
    assert find("clevr", tmp_path) == FoundFiles(expected, left=(str(tmp_path / "scenes" / name),))


def test_pictures_with_other_names_belong_to_the_split_with_their_records(tmp_path: Path) -> None:
    write(tmp_path / "q.json", RECORDS)
    pictures(tmp_path / "images" / "val", "0.png", "1.png")
    [split] = find("clevr", tmp_path).splits
    assert (split.name, split.images) == ("val", str(tmp_path / "images" / "val"))


@pytest.mark.parametrize("name", ["CLEVR_VAL_000000.PNG", "clevr_val_000000.png", "CLEVR_Val_000000.png"])
def test_capitals_in_the_names_of_pictures_make_no_other_split(tmp_path: Path, name: str) -> None:
    write(tmp_path / "q.json", RECORDS)
    pictures(tmp_path / "images", name)
    [split] = find("clevr", tmp_path).splits
    assert (split.name, split.images) == ("val", str(tmp_path / "images"))


def test_pictures_of_two_splits_in_one_folder_are_two_splits(tmp_path: Path) -> None:
    for split in ("train", "val"):
        releases.draw(tmp_path, split, range(2))
    found = find("clevr", tmp_path)
    assert [(split.name, split.images) for split in found.splits] == [("train", str(tmp_path)), ("val", str(tmp_path))]


# Files of other sets

TALLY = published.tally_records(2, known=1.0)
COCO = published.instances(3)
OTHERS: dict[str, tuple[str, str, Any, str]] = {
    "key points": ("coco-instances", "person_keypoints_val2017.json", COCO, "key points of COCO"),
    "key points, renamed": (
        "coco-instances",
        "val.json",
        {"annotations": [{"image_id": 1, "category_id": 1, "keypoints": []}]},
        "key points of COCO",
    ),
    "stuff": ("coco-instances", "stuff_val2017.json", COCO, "stuff of COCO"),
    "LVIS, annotations first": (
        "coco-instances",
        "lvis_v1_val.json",
        {"info": {}, "annotations": COCO["annotations"], "images": []},
        "boxes of LVIS",
    ),
    "boxes for TallyQA": ("tallyqa", "test.json", published.grounding_records(2), "of COCO-Grounding: import"),
    "CLEVR-Humans": (
        "clevr",
        "CLEVR-Humans-val.json",
        {"questions": [{"question": "Is it?", "answer": "yes", "image_index": 0, "image_filename": "CLEVR_val_0.png"}]},
        "questions of CLEVR-Humans, which are not read here",
    ),
    "CLEVR-X": (
        "clevr",
        "CLEVR_train_explanations_v0.7.10.json",
        {"info": {}, "questions": [{**RECORDS["questions"][0], "factual_explanation": ["x"]}]},
        "explanations of CLEVR-X, which are not read here",
    ),
    "CLEVR-Hans": (
        "clevr", "CLEVR_HANS_scenes_val.json", {"scenes": [{"class_id": 0, "objects": []}]}, "scenes of CLEVR-Hans",
    ),
    "CLEVR for counting": ("tallyqa", "val.json", releases.questions_of("val"), "CLEVR: import the files as clevr"),
    "scenes of CLEVR": ("coco-instances", "val.json", releases.scenes_of("val"), "CLEVR: import the files as clevr"),
    "CoGenT": ("tallyqa", "val.json", releases.questions_of("valA"), "CLEVR: import the files as clevr"),
    "BLIP": (
        "tallyqa",
        "train.json",
        [{"question_id": 1, "question": "x", "answer": ["a"], "image": "a.jpg", "dataset": "vqa"}],
        "questions of VQA in the form of BLIP",
    ),
    "VQA-CP": (
        "howmany-qa",
        "v2_x_train2014_questions.json",
        [{"image_id": 1, "question": "x", "question_id": 1, "coco_split": "train2014"}],
        "questions of VQA-CP",
    ),
    "TDIUC": (
        "howmany-qa",
        "v2_x_train2014_annotations.json",
        {"annotations": [{"question_id": 1, "image_id": 1, "answers": [], "ans_source": "visual genome"}]},
        "annotations of TDIUC",
    ),
    "VizWiz": ("tallyqa", "test.json", [{"image": "VizWiz_test_0.jpg", "question": "x"}], "VizWiz's test split"),
    "Winoground": ("tallyqa", "test.json", {"id": 0, "caption_0": "a", "caption_1": "b"}, "captions of Winoground"),
    "MathVista": ("clevr", "t.json", {"1": {"pid": "1", "question": "x", "question_type": "y"}}, "of MathVista"),
    "MMMU": ("clevr", "m.json", [{"question": "x", "options": [], "topic_difficulty": "Easy"}], "of MMMU"),
    "RefCOCO": ("clevr", "r.json", [{"ref_id": 1, "sentences": [], "ann_id": 1}], "expressions of RefCOCO"),
    "GQA's scene graphs": (
        "tallyqa", "train_sceneGraphs.json", {"1": {"width": 1, "height": 1, "objects": {}}}, "scene graphs of GQA",
    ),
    "SNLI-VE": ("tallyqa", "train.json", {"gold_label": "neutral", "Flickr30K_ID": "1"}, "examples of SNLI-VE"),
    "NLVR2": ("tallyqa", "dev.json", {"sentence": "x", "identifier": "dev-0-0"}, "examples of NLVR2"),
    "ST-VQA": ("clevr", "t.json", {"data": [{"question": "x", "file_path": "y"}]}, "questions of ST-VQA"),
    "ACRE": ("clevr", "train.json", [[{"light_state": "on", "objects": [1]}]], "problems of ACRE"),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
@pytest.mark.parametrize("is_named", [True, False])
def test_a_file_of_another_set_is_refused_by_name(tmp_path: Path, case: str, is_named: bool) -> None:
    format_, name, data, expected = OTHERS[case]
    path = write(tmp_path / name, data)
    message = refusal(format_, path if is_named else tmp_path)
    assert message.startswith(f"{path}: Expected ")
    assert expected in message.partition(", got ")[2]


@pytest.mark.parametrize("case", OTHERS)
def test_an_uploaded_file_of_another_set_is_refused_by_name(tmp_path: Path, case: str) -> None:
    format_, name, data, expected = OTHERS[case]
    path = write(tmp_path / "stored", data)
    with pytest.raises(BadRecord) as it:
        list(answers(ReadingOrder("sort", format_, [f"imports/1/{name}"], {f"imports/1/{name}": str(path)})))
    assert it.value.where == f"imports/1/{name}"
    assert expected in it.value.reason


@pytest.mark.parametrize("format_", ["tallyqa", "clevr"])
def test_tallyqa_as_json_lines_is_no_predictions(tmp_path: Path, format_: str) -> None:
    path = tmp_path / "train.json"
    path.write_text("\n".join(json.dumps({**record, "image": "VG_100K/1.jpg"}) for record in TALLY))
    assert "got questions of TallyQA as JSON lines: write one list, with [ and ]" in refusal(format_, path)


def test_json_lines_of_a_split_are_not_left_out(tmp_path: Path) -> None:
    path = published.tallyqa(tmp_path, train=3, test=2) / "val.jsonl"
    path.write_text("\n".join(map(json.dumps, TALLY)))
    assert refusal("tallyqa", tmp_path).startswith(f"{path}: Expected TallyQA, as published, in files that can be read")


def test_predictions_are_still_called_so(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text('{"question_id": 0, "answer": 3}\n{"question_id": 1, "answer": 3}\n')
    assert "got predictions of a model" in refusal("clevr", path)


def test_annotations_of_coco_beside_tallyqa_are_left_out(tmp_path: Path) -> None:
    expected = find("tallyqa", published.tallyqa(tmp_path, train=3, test=2)).splits
    path = write(tmp_path / "annotations" / "instances_train2014.json", COCO)
    assert find("tallyqa", tmp_path) == FoundFiles(expected, left=(str(path),))
    write(tmp_path / "train-2.json", TALLY)
    assert "Expected one file with questions of train, got also" in refusal("tallyqa", tmp_path)


def test_howmany_qa_takes_version_2_of_vqa(tmp_path: Path) -> None:
    expected = find("howmany-qa", published.howmany(tmp_path)).splits
    for part in ("train", "val"):
        for name in (f"OpenEnded_mscoco_{part}2014_questions.json", f"mscoco_{part}2014_annotations.json"):
            write(tmp_path / name, json.loads((tmp_path / f"v2_{name}").read_text()))
    found = find("howmany-qa", tmp_path)
    assert found.splits == expected
    assert len(found.left) == 4
    write(tmp_path / "more" / "question_ids.json", {"train": []})
    assert "Expected one file with ids, got also" in refusal("howmany-qa", tmp_path)


def test_ok_vqa_alone_is_refused_by_name(tmp_path: Path) -> None:
    annotation = {"question_id": 1, "image_id": 1, "answers": [], "confidence": 3}
    write(tmp_path / "mscoco_val2014_annotations.json", {"annotations": [annotation]})
    assert "got annotations of OK-VQA, which are not read here" in refusal("howmany-qa", tmp_path)


# Files that are not what their names say

BROKEN: dict[str, tuple[bytes, str]] = {
    "404": (b"404: Not Found", "a server's message of an error: check the address"),
    "an HTML page": (b"<!DOCTYPE html><html></html>", "an HTML page"),
    "Git LFS": (LFS.encode(), "a pointer file of Git LFS, not the file itself: run git lfs pull"),
    "zeros": (b"\0" * 5_000, "a file of zero bytes alone: its download is not complete"),
    "empty": (b"", "an empty file: download it again"),
    "no records": (b"[\n]\n", "a file without records: download it again"),
    "blank": (b"\n \n", "an empty file: download it again"),
    "UTF-16": (json.dumps(RECORDS).encode("utf-16"), "UTF-16 text: save it as UTF-8"),
    "UTF-16, little": (json.dumps(RECORDS).encode("utf-16-le"), "UTF-16 text: save it as UTF-8"),
    "UTF-16, big": (json.dumps(RECORDS).encode("utf-16-be"), "UTF-16 text: save it as UTF-8"),
    "packed twice": (gzip.compress(gzip.compress(b"{}")), "a file that is packed twice with gzip: unpack it once"),
    "a zip archive": (zipped(b"{}"), "a zip archive: unpack it"),
    "a Parquet file": (b"PAR1\x15\x04", "a Parquet file: get the files as they were published"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize(
    ("format_", "name"),
    [("clevr", "q.json"), ("tallyqa", "train.json"), ("babi", "qa2_two-supporting-facts_train.txt")],
)
def test_a_file_that_is_no_text_of_its_kind_is_named_when_it_is_found(
    tmp_path: Path, format_: str, name: str, case: str
) -> None:
    content, expected = BROKEN[case]
    if format_ == "babi":
        babi(tmp_path)
    path = tmp_path / ("en" if format_ == "babi" else "") / name
    path.write_bytes(content)
    assert refusal(format_, path.parent).startswith(f"{path}: Expected ")
    assert f"got {expected}" in refusal(format_, path.parent)


@pytest.mark.parametrize("name", ["clevr.zip", "data.tar.gz", "train-00000-of-00001.parquet", "data.7z"])
@pytest.mark.parametrize("format_", ["clevr", "tallyqa", "babi"])
def test_a_folder_with_one_file_that_is_not_read_names_it(tmp_path: Path, format_: str, name: str) -> None:
    content = zipped(b"") if name.endswith(".zip") else b"PAR1" if name.endswith("parquet") else b"7z\xbc\xaf"
    path = tmp_path / name
    path.write_bytes(content if not name.endswith("tar.gz") else gzip.compress(b"x" * 600))
    message = refusal(format_, tmp_path)
    assert message.startswith(f"{path}: Expected ")
    assert "unpack it" in message or "get the files as they were published" in message
