"""Published files: packed with gzip, in other capitals, and files of other sets, which are refused by name."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import find_reader
from generation.engine.reading.published_files import describe, is_json, open_published, plain_name, unpacked
from generation.engine.reading.unread_files import explain
from generation.engine.worlds import READERS, get_world

GQA = {"02930152": {"semantic": [], "entireImage": False, "isBalanced": True, "question": "Is it overcast?",
       "imageId": "2354786", "answer": "no", "fullAnswer": "No, it is clear."}}  # fmt: skip
GQA_SCENE = {
    "2407890": {"width": 640, "height": 480, "location": "living room", "objects": {"271881": {"name": "chair"}}}
}
VQA_ASKED = {"image_id": 458752, "question": "Is it red?", "question_id": 458752000}
VQA_HEAD = {"info": {"version": "2.0"}, "task_type": "Open-Ended", "data_type": "mscoco", "license": {"url": "x"}}
VQA_ANSWER = {"answer": "net", "answer_confidence": "maybe", "answer_id": 1}
VQA_ANNOTATION = {"question_type": "what", "multiple_choice_answer": "net", "answers": [VQA_ANSWER],
                  "image_id": 1, "answer_type": "other", "question_id": 1000}  # fmt: skip
OK_VQA = {"image_id": 51606, "answer_type": "other", "question_type": "four", "question_id": 516065, "confidence": 3,
          "answers": [{"answer_id": 1, "raw_answer": "race", "answer": "race"}]}  # fmt: skip
A_OKVQA = {"split": "train", "image_id": 299207, "question_id": "22MexNkBPpdZGX6sxbxVBH", "choices": ["ride", "surf"],
           "question": "What is the man doing?", "correct_choice_idx": 0, "direct_answers": ["ride"]}  # fmt: skip
COCO_PICTURE = {"license": 3, "file_name": "COCO_val2014_000000391895.jpg", "coco_url": "x", "height": 360,
                "width": 640, "id": 391895}  # fmt: skip
TALLY = {"image": "VG_100K/1.jpg", "answer": 2, "data_source": "imported_genome", "question": "How many?",
         "image_id": 1, "question_id": 1}  # fmt: skip
GENOME = {"id": 1, "qas": [{"a_objects": [], "question": "What color?", "image_id": 1, "qa_id": 1, "answer": "Green."}]}
OTHERS: dict[str, tuple[str, Any, str]] = {
    "GQA": ("train_balanced_questions.json", GQA, "questions of GQA"),
    "GQA without answers": ("q.json", {"1": {"imageId": "n1", "question": "Is it?"}}, "questions of GQA"),
    "GQA's scene graphs": ("val_sceneGraphs.json", GQA_SCENE, "scene graphs of GQA"),
    "VQA": ("q.json", {**VQA_HEAD, "data_subtype": "val2014", "questions": [VQA_ASKED]}, "questions of VQA"),
    "VQA's annotations": ("a.json", {**VQA_HEAD, "annotations": [VQA_ANNOTATION]}, "annotations of VQA"),
    "OK-VQA": ("mscoco_val2014_annotations.json", {**VQA_HEAD, "annotations": [OK_VQA]}, "annotations of OK-VQA"),
    "A-OKVQA": ("aokvqa_v1p0_train.json", [A_OKVQA], "questions of A-OKVQA"),
    "captions": ("captions_val2014.json", {"info": {}, "images": [COCO_PICTURE]}, "captions of COCO"),
    "captions of 2017": (
        "captions_val2017.json", {"info": {}, "licenses": [{"url": "x", "id": 1, "name": "y"}]}, "captions of COCO",
    ),
    "key points": ("person_keypoints_val2014.json", {"images": [COCO_PICTURE]}, "key points of COCO"),
    "panoptic": ("p.json", {"annotations": [{"segments_info": [], "image_id": 1}]}, "panoptic segments of COCO"),
    "LVIS": ("lvis_v1_val.json", {"images": [{**COCO_PICTURE, "neg_category_ids": []}]}, "boxes of LVIS"),
    "Visual7W": ("dataset.json", {"dataset": "v7w", "images": [{"qa_pairs": [], "image_id": 1}]}, "of Visual7W"),
    "Visual Genome": ("question_answers.json", [GENOME], "questions of Visual Genome"),
    "regions": ("region_descriptions.json", [{"regions": [], "id": 1}], "regions of Visual Genome"),
    "objects": ("objects.json", [{"image_id": 1, "objects": [], "image_url": "x"}], "objects of Visual Genome"),
    "Super-CLEVR": (
        "superCLEVR_questions_30k.json", {"questions": [{"image_filename": "superCLEVR_new_0.png"}]}, "of Super-CLEVR",
    ),
    "CLEVRER": ("train.json", [{"scene_index": 0, "video_filename": "v.mp4", "questions": []}], "of CLEVRER"),
    "a video": ("a.json", {"scene_index": 0, "video_filename": "v.mp4", "object_property": []}, "scenes of CLEVRER"),
    "CLEVR-Ref+": ("r.json", {"info": {}, "refexps": [{"refexp": "x", "program": []}]}, "expressions of CLEVR-Ref+"),
    "CLEVR-Dialog": ("d.json", [{"image_index": 0, "image_filename": "x", "dialogs": []}], "dialogues of CLEVR-Dialog"),
    "CLEVR-Math": ("m.json", {"questions": [{"template": "s", "question": "x", "image": "a.png"}]}, "of CLEVR-Math"),
    "VizWiz": ("train.json", [{"image": "a.jpg", "question": "What?", "answers": [], "answerable": 1}], "of VizWiz"),
    "TextVQA": ("t.json", {"data": [{"question": "x", "flickr_original_url": "y"}]}, "questions of TextVQA"),
    "DocVQA": ("d.json", {"dataset_name": "docvqa", "data": [{"question": "x", "docId": 1}]}, "questions of DocVQA"),
    "ScienceQA": ("problems.json", {"1": {"question": "x", "choices": [], "hint": ""}}, "questions of ScienceQA"),
    "ChartQA": ("c.json", [{"imgname": "a.png", "query": "x", "label": "1"}], "questions of ChartQA"),
    "FigureQA": ("f.json", {"qa_pairs": [{"question_string": "x", "image_index": 0}]}, "questions of FigureQA"),
    "NLVR2": ("dev.json", {"sentence": "x", "label": "True", "identifier": "dev-1"}, "examples of NLVR2"),
    "LLaVA": ("llava.json", [{"id": "1", "image": "a.jpg", "conversations": []}], "in the form of LLaVA"),
    "predictions": ("p.json", [{"question_id": 0, "answer": "yes"}], "predictions of a model"),
}  # fmt: skip
READ: dict[str, tuple[str, Any]] = {
    "tallyqa": ("train.json", [TALLY]),
    "coco-instances": ("instances_val2014.json", {"info": {}, "images": [COCO_PICTURE]}),
    "coco-grounding": ("coco-ground.json", [{**TALLY, "gt_bboxes": [], "name": "dog"}]),
    "howmany-qa": ("v2_OpenEnded_mscoco_val2014_questions.json", {**VQA_HEAD, "questions": [VQA_ASKED]}),
}
FILES = {
    "a pointer of Git LFS": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "a pointer file of Git LFS",
    ),
    "an HTML page": (b"<!DOCTYPE html><html><title>Sign in</title>", "an HTML page"),
    "an error in XML": (b"<?xml version='1.0'?><Error>", "HTML or XML"),
    "a zip archive": (b"PK\x03\x04\x14\0", "a zip archive: unpack it"),
    "a pickle": (b"\x80\x04\x95", "a pickle"),
    "a picture": (b"\x89PNG\r\n", "a picture"),
    "a program": (b"\x7fELF", "a program"),
}


def plain(content: bytes) -> bytes:
    """Return the content as it is."""
    return content


@pytest.mark.parametrize("pack", [plain, gzip.compress])
@pytest.mark.parametrize("case", OTHERS)
@pytest.mark.parametrize("format_", ["clevr", "tallyqa"])
def test_a_file_of_another_set_is_refused_by_name(
    tmp_path: Path, case: str, format_: str, pack: Callable[[bytes], bytes]
) -> None:
    name, data, expected = OTHERS[case]
    path = tmp_path / name
    path.write_bytes(pack(json.dumps(data, indent=1).encode()))
    reader = find_reader(format_)
    with pytest.raises(BadRecord) as it:
        found = reader.find([path])
        for split in found.splits:
            spec = _spec(format_, found)
            list(reader.read(split, spec=spec, opened=lambda one: open_published(Path(one))))
    error = explain(it.value, [(name, path)], format=format_, label=reader.label)
    assert f"Expected {reader.label}, got" in str(error) and expected in str(error)
    assert error.where == name
    assert str(explain(it.value, [("in", tmp_path)], format=format_, label=reader.label)) == f"{path}: {error.reason}"


def _spec(format_: str, found: Any) -> Any:
    reader = find_reader(format_)
    return get_world(reader.world).read_spec(reader.spec(found))


@pytest.mark.parametrize("format_", READ)
def test_a_file_that_another_format_reads_names_this_format(tmp_path: Path, format_: str) -> None:
    name, data = READ[format_]
    (tmp_path / name).write_text(json.dumps(data))
    assert describe(tmp_path / name, format=format_) == ""
    assert describe(tmp_path / name, format="clevr").endswith(f": import the files as {format_}")


@pytest.mark.parametrize("case", ["captions", "captions of 2017", "key points"])
def test_other_files_of_coco_are_not_taken_for_instances(tmp_path: Path, case: str) -> None:
    name, data, expected = OTHERS[case]
    (tmp_path / name).write_text(json.dumps(data))
    assert expected in describe(tmp_path / name, format="coco-instances")


@pytest.mark.parametrize("format_", READERS)
@pytest.mark.parametrize("case", FILES)
def test_what_is_no_json_at_all_is_named(tmp_path: Path, case: str, format_: str) -> None:
    content, expected = FILES[case]
    (tmp_path / "train.json").write_bytes(content)
    assert expected in describe(tmp_path / "train.json", format=format_)


@pytest.mark.parametrize("content", [b"{", b"[", b"nonsense", b'{"questions": []}', b"[1, 2]", b'{"a": 1}', b"\xff"])
def test_other_errors_are_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "q.json"
    path.write_bytes(content)
    error = BadRecord("Expected something else.", where="q.json")
    files = [("q.json", path), ("gone", tmp_path / "gone.json"), ("in", tmp_path)]
    assert explain(error, files, format="clevr", label="CLEVR") is error


@pytest.mark.parametrize("size", [-1, 1, 2, 3, 1000])
@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"ab" * 5000])
@pytest.mark.parametrize("pack", [plain, gzip.compress, lambda content: gzip.compress(content) + gzip.compress(b"")])
def test_a_file_is_unpacked_whatever_is_read_at_a_time(
    content: bytes, size: int, pack: Callable[[bytes], bytes]
) -> None:
    file, found = unpacked(io.BytesIO(pack(content)), name="a.json"), b""
    while piece := file.read(size):
        found += piece
    assert found == content


@pytest.mark.parametrize("cut", [3, 12, -9, -4, -1])
def test_a_part_of_a_packed_file_is_refused(cut: int) -> None:
    packed = gzip.compress(b'{"questions": []}')
    file = unpacked(io.BytesIO(packed[:cut]), name="a.json.gz")
    with pytest.raises(
        BadRecord, match=r"a.json.gz: Expected a whole file of gzip, got a damaged one or a part of one"
    ):
        while file.read(100):
            pass


def test_a_damaged_packed_file_is_refused() -> None:
    packed = bytearray(gzip.compress(b'{"questions": []}' * 100))
    packed[20] ^= 0xFF
    with pytest.raises(BadRecord, match="Expected a whole file of gzip"):
        unpacked(io.BytesIO(bytes(packed)), name="a.json").read()


def test_archives_stay_packed() -> None:
    packed = gzip.compress(b"x")
    assert [unpacked(io.BytesIO(packed), name=name).read() for name in ("a.tar.gz", "A.TGZ")] == [packed, packed]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train.json", "train.json"),
        ("train.JSON", "train.json"),
        ("train.json.gz", "train.json"),
        ("Train.Json.GZ", "Train.json"),
        ("qa1_x_train.txt.gz", "qa1_x_train.txt"),
        ("train", "train"),
        (".json", ".json"),
    ],
)
def test_the_plain_name_of_a_file(name: str, expected: str) -> None:
    assert plain_name(name) == expected
    assert is_json(Path(name)) == expected.endswith(".json")
