"""Small releases of CLEVR that tests write into folders."""

import copy
import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from generation.engine.program import to_json
from generation.engine.worlds.clevr.scene import read_published
from generation.engine.worlds.clevr.spec import ClevrSpec, read_spec
from generation.engine.worlds.clevr.world import WORLD

INFO = {"license": "Creative Commons Attribution (CC BY 4.0)", "version": "1.0", "date": "2/14/2017"}
EACH = 4  # number of questions of each scene
SIZE = (48, 32)


@functools.cache
def _items(split: str, scenes: int) -> Any:
    data = {
        "world": "clevr",
        "splits": {split: {"scenes": scenes}},
        "scene": {"min_pixels": 0},
        "questions": {"per_scene": EACH},
    }
    spec: ClevrSpec = read_spec(data, files={})
    assert WORLD.maker is not None
    [chunk] = WORLD.maker.plan(spec, split)
    items = WORLD.maker.make(spec, split, chunk)
    return spec, [replace(item, scene=read_published(item.scene.to_json())) for item in items if item.scene]


def image_name(split: str, number: int) -> str:
    """Return the file name of a picture in the release."""
    return f"CLEVR_{split}_{number:06d}.png"


def scenes_of(split: str, scenes: int = 3) -> dict[str, Any]:
    """Return the content of a scene file."""
    records: list[dict[str, Any]] = [
        {
            "image_index": number,
            "split": split,
            "image_filename": image_name(split, number),
            **copy.deepcopy(item.scene.to_json()),
        }
        for number, item in enumerate(_items(split, scenes)[1])
    ]
    for record in records:
        for thing in record["objects"]:
            thing["rotation"] = thing.pop("published_rotation")
    return {"info": {"split": split, **INFO}, "scenes": records}


def questions_of(split: str, scenes: int = 3) -> dict[str, Any]:
    """Return the content of a question file in the format of the release. A test split has no answers."""
    records: list[dict[str, Any]] = []
    for number, item in enumerate(_items(split, scenes)[1]):
        for question in item.questions:
            record = {
                "image_index": number,
                "image_filename": image_name(split, number),
                "question_index": len(records),
                "question": question.text,
                "split": split,
            }
            if not split.startswith("test"):
                record["question_family_index"] = question.family
                record["answer"] = question.answer.text
                record["program"] = to_json(question.program)
            records.append(record)
    return {"info": {"split": split, **INFO}, "questions": records}


def generators(split: str, scenes: int = 3) -> dict[str, Any]:
    """Return the content of a question file in the format of the original generator."""
    spec, items = _items(split, scenes)
    data = questions_of(split, scenes)
    asked = [question for item in items for question in item.questions]
    first: dict[str, int] = {}
    for family in spec.families:
        first.setdefault(family.source, family.number)
    for record, question in zip(data["questions"], asked, strict=True):
        source = spec.families[question.family].source
        record["template_filename"] = source
        record["question_family_index"] = question.family - first[source]
        record["image"] = record["image_filename"].removesuffix(".png")
        text = record["answer"]
        record["answer"] = {"yes": True, "no": False}.get(text, int(text) if text.isdigit() else text)
        for step in record["program"]:
            step["type"] = step.pop("function")
            step["_output"] = [0, 1]
    return data


def write(path: Path, data: Any) -> Path:
    """Write a file, and create its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def draw(folder: Path, split: str, numbers: range, *, size: tuple[int, int] = SIZE) -> None:
    """Write pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        Image.new("RGB", size, (number % 256, 9, 9)).save(folder / image_name(split, number))


def release(
    root: Path, splits: tuple[str, ...] = ("train", "val", "test"), *, scenes: int = 3, images: bool = True
) -> Path:
    """Write a release, and return its folder."""
    for split in splits:
        if not split.startswith("test"):
            write(root / "scenes" / f"CLEVR_{split}_scenes.json", scenes_of(split, scenes))
        write(root / "questions" / f"CLEVR_{split}_questions.json", questions_of(split, scenes))
        if images:
            draw(root / "images" / split, split, range(scenes))
    return root
