"""Made-up files in the published formats: TallyQA, HowMany-QA, COCO-Grounding and COCO's instances."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from generation.engine.worlds.counting.formats.coco_classes import COCO_CLASSES
from generation.engine.worlds.counting.imported_facets import plural

FALLING = 0.5 ** np.arange(16) / (0.5 ** np.arange(16)).sum()
WIDTH, HEIGHT = 640, 480


def tally_records(count: int, *, seed: int = 0, first_id: int = 0, known: float = 0.8) -> list[dict[str, Any]]:
    """Return questions as TallyQA has them; `issimple` is there for a share `known` of them."""
    chance = np.random.default_rng(seed)
    images = chance.integers(0, max(1, count * 3 // 5), count)
    answers = chance.choice(16, count, p=FALLING)
    names = chance.choice(COCO_CLASSES, count)
    draws = chance.random((count, 3))
    return [
        _tally_record(first_id + place, int(image), int(answer), plural(str(name)), draw.tolist(), known=known)
        for place, (image, answer, name, draw) in enumerate(zip(images, answers, names, draws, strict=True))
    ]


def _tally_record(
    number: int, image: int, answer: int, things: str, draw: Sequence[float], *, known: float
) -> dict[str, Any]:
    is_coco = image % 2 == 0
    record: dict[str, Any] = {
        "answer": answer,
        "data_source": "amt" if draw[0] < 0.3 else "imported_genome",
        "image": f"train2014/COCO_train2014_{image:012d}.jpg" if is_coco else f"VG_100K/{image}.jpg",
        "image_id": image,
        "question": f"How many {things} are there?" if draw[1] < 0.6 else f"How many {things} are red?",
        "question_id": number,
    }
    return record | ({"issimple": draw[1] < 0.6} if draw[2] < known else {})


def write(path: Path, data: Any) -> Path:
    """Write JSON and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def tallyqa(folder: Path, *, train: int = 1_200, test: int = 800) -> Path:
    """Write a TallyQA of two files and return their folder."""
    write(folder / "train.json", tally_records(train))
    write(folder / "test.json", tally_records(test, seed=1, first_id=train))
    return folder


def grounding_record(number: int, name: str, boxes: Sequence[Sequence[float]], *, image: int) -> dict[str, Any]:
    """Return a question as COCO-Grounding has it."""
    return {
        "answer": len(boxes),
        "data_source": "coco",
        "image": f"val2014/COCO_val2014_{image:012d}.jpg",
        "image_id": image,
        "question": f"How many {plural(name)}?",
        "question_id": number,
        "name": name,
        "gt_bboxes": [list(box) for box in boxes],
        "img_width": WIDTH,
        "img_height": HEIGHT,
    }


def random_boxes(chance: np.random.Generator, count: int) -> list[list[float]]:
    """Return boxes left, top, right, bottom in a picture of `WIDTH` by `HEIGHT` pixels."""
    corners = np.round(np.sort(chance.random((count, 2, 2)), axis=1) * [WIDTH, HEIGHT], 2)
    return corners.reshape(count, 4).tolist()  # type: ignore[no-any-return]


def grounding_records(count: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return questions about pictures with boxes; each picture has each class at most once."""
    chance = np.random.default_rng(seed)
    return [
        grounding_record(
            number,
            COCO_CLASSES[number % len(COCO_CLASSES)],
            random_boxes(chance, int(chance.integers(0, 5))),
            image=number // 3,
        )
        for number in range(count)
    ]


def instances(pictures: int, *, seed: int = 0, crowds: float = 0.02) -> dict[str, Any]:
    """Return a file of COCO's instances with some objects of some of the 80 classes in each picture."""
    chance = np.random.default_rng(seed)
    annotations: list[dict[str, Any]] = []
    for image in range(pictures):
        for category in chance.choice(80, int(chance.integers(0, 4)), replace=False):
            for left, top, right, bottom in random_boxes(chance, int(chance.integers(1, 6))):
                annotations.append(
                    {
                        "id": len(annotations),
                        "image_id": 100 + image,
                        "category_id": int(category) + 1,
                        "bbox": [left, top, round(right - left, 2), round(bottom - top, 2)],
                        "iscrowd": int(chance.random() < crowds),
                        "segmentation": [[left, top, right, bottom, left, bottom]],
                    }
                )
    chance.shuffle(annotations)  # type: ignore[arg-type]
    return {
        "info": {"year": 2014},
        "images": [
            {"id": 100 + image, "file_name": f"COCO_val2014_{100 + image:012d}.jpg", "width": WIDTH, "height": HEIGHT}
            for image in range(pictures)
        ],
        "annotations": annotations,
        "categories": [{"id": number + 1, "name": name} for number, name in enumerate(COCO_CLASSES)],
    }


GENOME_WORDS = ("Two.", "three", "4", "None.", "1 person", "Five dogs.")
GENOME_COUNTS = (2, 3, 4, 0, 1, 5)


def howmany(folder: Path, *, each: int = 6) -> Path:
    """Write a HowMany-QA with the files of VQA 2.0 and Visual Genome, and return their folder."""
    ids: dict[str, Any] = {"train": {}, "dev": [], "test": []}
    for part in ("train", "val"):
        numbers = [(1 if part == "train" else 2) * 1_000_000 + 10 * place for place in range(4 * each)]
        images = {number: number // 20 for number in numbers}
        questions = [
            {"image_id": images[one], "question": f"How many dogs? {one}", "question_id": one} for one in numbers
        ]
        annotations = [
            {"question_id": one, "image_id": images[one], "multiple_choice_answer": str(one // 10 % 7), "answers": []}
            for one in reversed(numbers)
        ]
        write(folder / f"v2_OpenEnded_mscoco_{part}2014_questions.json", {"info": {}, "questions": questions})
        write(folder / f"v2_mscoco_{part}2014_annotations.json", {"annotations": annotations})
        if part == "train":
            ids["train"]["vqa"] = numbers[:each]
        else:
            ids |= {"dev": numbers[:each], "test": numbers[each : 2 * each]}
    pairs = [
        {"qa_id": 1_000_000 + 10 * place, "image_id": 7 + place // 2, "question": "How many men?", "answer": answer}
        for place, answer in enumerate(GENOME_WORDS)
    ]
    others = [{"qa_id": 5, "image_id": 9, "question": "Who is there?", "answer": "A man."}]
    write(folder / "question_answers.json", [{"id": 7, "qas": pairs[:2]}, {"id": 8, "qas": [*others, *pairs[2:]]}])
    ids["train"]["visual_genome"] = [one["qa_id"] for one in pairs]
    write(folder / "question_ids.json", ids)
    return folder


def changed(record: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a record with some fields replaced, or left out if the new value is None."""
    return {name: value for name, value in {**record, **changes}.items() if value is not None}
