"""Readers of CLEVR's files in other people's projects, written again: each function has the requirements of one.

They imitate the loaders of ShapeWorld, torchvision, openvqa and tensorflow-datasets, the preprocessing of clevr-iep and
the teacher of ParlAI, as far as these depend on the contents of the files.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from PIL import Image

COLORS = {"gray", "blue", "brown", "yellow", "red", "green", "purple", "cyan"}
LABELS = {
    "color": COLORS,
    "material": {"rubber", "metal"},
    "shape": {"cube", "sphere", "cylinder"},
    "size": {"small", "large"},
}
ANSWERS = {"yes", "no", *map(str, range(11))}.union(*LABELS.values())


# ShapeWorld: character by character


def shapeworld(release: Path, split: str, *, is_test: bool) -> list[tuple[Any, list[dict[str, Any]]]]:
    """Return the scene (None for test) and questions of each image. Fail if ShapeWorld's streaming reader would."""
    names = sorted(path.name for path in (release / "images" / split).iterdir())
    assert names == [f"CLEVR_{split}_{number:0>6}.png" for number in range(len(names))]
    questions = list(_stream(release / "questions" / f"CLEVR_{split}_questions.json", "questions"))
    for number, asked in enumerate(questions):
        assert asked["question_index"] == number
        assert asked["split"] == split
        assert asked["image_filename"] == names[asked["image_index"]]
        assert len(asked) == (5 if is_test else 8)
        assert asked["question"]
        if not is_test:
            assert isinstance(asked["question_family_index"], int) and asked["program"]
            assert asked["answer"].lower()
    images = [index for index, _ in groupby(question["image_index"] for question in questions)]
    assert images == list(range(len(names)))  # each image has questions, in order
    path = release / "scenes" / f"CLEVR_{split}_scenes.json"
    assert path.exists() != is_test
    scenes = [None] * len(names) if is_test else list(_stream(path, "scenes"))
    for number, scene in enumerate(scenes):
        if scene is not None:
            assert (scene["image_index"], scene["split"], len(scene)) == (number, split, 6)
            assert scene["image_filename"] == names[number]
    assert len(scenes) == len(names)
    return [(scene, [one for one in questions if one["image_index"] == n]) for n, scene in enumerate(scenes)]


def _stream(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list like a reader that accepts only the default spacing of JSON."""
    with path.open() as file:
        assert file.read(10) == '{"info": {'
        while file.read(1) != "}":
            pass
        assert file.read(len(name) + 7) == f', "{name}": ['
        separator = ", "
        while separator == ", ":
            yield json.loads(_balanced(file))
            separator = file.read(1)
            assert separator in (",", "]")
            separator += file.read(1)
        assert separator == "]}"
        assert file.read() == ""


def _balanced(file: IO[str]) -> str:
    """Return the text of one object up to its closing brace. Braces in strings do not count."""
    text, depth, quoted = [], 0, False
    while True:
        character = file.read(1)
        assert character
        if character == '"' and (len("".join(text)) - len("".join(text).rstrip("\\"))) % 2 == 0:
            quoted = not quoted
        text.append(character)
        if not quoted:
            depth += (character in "{[") - (character in "}]")
            if depth == 0:
                return "".join(text)


# torchvision


def torchvision(root: Path, split: str) -> list[tuple[Image.Image, int | None]]:
    """Return the pictures and their numbers of objects from `root/clevr/CLEVR_v1.0`. The number is None for test."""
    data = root / "clevr" / "CLEVR_v1.0"
    files = sorted(data.joinpath("images", split).glob("*"))
    if split == "test":
        return [(Image.open(file).convert("RGB"), None) for file in files]
    content = json.loads((data / "scenes" / f"CLEVR_{split}_scenes.json").read_text())
    counts = {scene["image_filename"]: len(scene["objects"]) for scene in content["scenes"]}
    return [(Image.open(file).convert("RGB"), counts[file.name]) for file in files]


# clevr-iep


def iep(release: Path) -> dict[str, list[list[str]]]:
    """Return the programs of each split in prefix form. All answers of the three splits must be known."""
    answers: set[str] = set()
    programs: dict[str, list[list[str]]] = {}
    for split in ("train", "val", "test"):
        questions = _questions(release, split)
        words = {word for asked in questions if "answer" in asked for word in asked["answer"].split(" ")}
        answers |= words
        assert words <= ANSWERS
        programs[split] = [_prefix(asked["program"]) for asked in questions if "program" in asked]
        assert all(isinstance(asked["image_index"], int) for asked in questions)
        assert all(isinstance(asked.get("question_family_index", 0), int) for asked in questions)
    return programs


def _prefix(program: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the functions of a program, root first. Fail if the program is not a tree with one root."""
    used = [place for step in program for place in step["inputs"]]
    assert sorted(used) == list(range(len(program) - 1))
    return list(_below(program, len(program) - 1))


def _below(program: Sequence[Mapping[str, Any]], place: int) -> Iterator[str]:
    step = program[place]
    assert len(step["value_inputs"]) <= 1
    value = f"[{step['value_inputs'][0]}]" if step["value_inputs"] else ""
    yield step["function"] + value
    for before in step["inputs"]:
        yield from _below(program, before)


# ParlAI


def parlai(release: Path, split: str) -> list[tuple[str, list[str] | None, str | None]]:
    """Return question, labels and, for the first question of an image, the path of its picture."""
    episodes, image = [], None
    for asked in _questions(release, split):
        is_new = asked["image_filename"] != image
        image = asked["image_filename"]
        path = str(release / "images" / split / image) if is_new else None
        labels = [asked["answer"]] if asked["split"] != "test" else None
        assert labels is None or labels[0] in ANSWERS
        assert path is None or Path(path).exists()
        episodes.append((asked["question"], labels, path))
    return episodes


# openvqa


def openvqa(release: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Return the codes of words and answers. Words come from all three splits, answers from train and val."""
    splits = {split: _questions(release, split) for split in ("train", "val", "test")}
    words: dict[str, int] = {"PAD": 0, "UNK": 1, "CLS": 2}
    for asked in (one for questions in splits.values() for one in questions):
        assert str(asked["image_index"]).isdigit()
        for word in re.sub(r"([.,'!?\"()*#:;])", "", asked["question"].lower()).replace("-", " ").split():
            words.setdefault(word, len(words))
    answers: dict[str, int] = {}
    for asked in splits["train"] + splits["val"]:
        assert isinstance(asked["answer"], str)
        answers.setdefault(asked["answer"], len(answers))
    return words, answers


# tensorflow-datasets


def tensorflow_datasets(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the records of three splits. Pictures are sorted by name, and scenes are in the order of their file."""
    release, found = folder / "CLEVR_v1.0", {}
    for split in ("train", "val", "test"):
        images = sorted((release / "images" / split).iterdir())
        texts = defaultdict(list)
        for asked in _questions(release, split):
            texts[asked["image_filename"]].append((asked["question"], asked.get("answer", "")))
        path = release / "scenes" / f"CLEVR_{split}_scenes.json"
        scenes = json.loads(path.read_text())["scenes"] if path.exists() else [{"objects": []}] * len(images)
        found[split] = [
            {
                "file_name": image.name,
                "questions": texts[image.name],
                "objects": [_object(it) for it in scene["objects"]],
            }
            for image, scene in zip(images, scenes, strict=True)
        ]
    return found


def _object(thing: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, labels in LABELS.items():
        assert thing[name] in labels
    assert isinstance(thing["rotation"], int | float)
    assert len(thing["3d_coords"]) == len(thing["pixel_coords"]) == 3
    return thing


def _questions(release: Path, split: str) -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = json.loads((release / "questions" / f"CLEVR_{split}_questions.json").read_text())[
        "questions"
    ]
    return questions
