"""Scenes and questions in the two dialects of CLEVR's files.

The release writes `function` and the generator `type`; answers of the release are always strings. The release numbers
all question families together; the generator names a template file and counts within it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from generation.engine.formats import ExportDataset, ExportItem, ExportSplit
from generation.engine.formats.common import json_list
from generation.engine.items import Answer, AnswerKind
from generation.engine.language.families import Family
from generation.engine.program import Program
from generation.engine.worlds.clevr.scene import ClevrScene

PREFIX = "CLEVR"
COGENT = re.compile(r"(train|val|test)[AB]")
RELEASE, COGENT_RELEASE = "CLEVR_v1.0", "CLEVR_CoGenT_v1.0"
YES = {"yes": True, "no": False}


class Template(NamedTuple):
    """The position of a question family: its file, and its number in the file."""

    file: str
    number: int


def release_folder(dataset: ExportDataset) -> str:
    """Return the name of the release's folder: CoGenT's if every split has a name of CoGenT's, otherwise CLEVR's."""
    is_cogent = all(COGENT.fullmatch(split.name) for split in dataset.splits)
    return COGENT_RELEASE if is_cogent else RELEASE


def number_of(entry: ExportItem) -> int:
    """Return the number of a scene's picture: the published one, or its position in the split."""
    return entry.position if entry.item.number is None else entry.item.number


def image_name(split: str, entry: ExportItem) -> str:
    """Return the file name of a scene's picture: the published one, or the name in the release's form."""
    published = PurePosixPath(entry.item.image_name)
    if published.name and entry.image is None:
        return published.name
    stem = published.stem or f"{PREFIX}_{split}_{number_of(entry):06d}"
    return stem + PurePosixPath(entry.image_name).suffix


def info(dataset: ExportDataset, split: ExportSplit) -> dict[str, str]:
    """Return the `info` object at the beginning of a file."""
    return {
        "split": split.name,
        "license": dataset.licence,
        "version": dataset.version or "1.0",
        "date": f"{dataset.completed:%m/%d/%Y}",
    }


def scenes_file(
    stack: ExitStack, path: Path, *, info: Mapping[str, Any]
) -> Callable[[str, ExportItem, str], dict[str, Any]]:
    """Return a function that adds a scene to a file and returns its record.

    The file's `info` states the unit of `rotation`: published numbers stay unchanged, in radians.
    """
    opened: list[Callable[[Any], None]] = []

    def add(split: str, entry: ExportItem, name: str) -> dict[str, Any]:
        assert isinstance(entry.item.scene, ClevrScene)
        if not opened:
            unit = "degrees" if entry.item.scene.objects[0].published_rotation is None else "radians"
            opened.append(stack.enter_context(json_list(path, info={**info, "rotation": unit}, name="scenes")))
        record = scene(split, entry, name=name)
        opened[0](record)
        return record

    return add


def scene(split: str, entry: ExportItem, *, name: str) -> dict[str, Any]:
    """Return a scene's record, which is the same in both dialects: six keys."""
    assert entry.item.scene is not None
    data = entry.item.scene.to_json()
    for thing in data["objects"]:
        thing["rotation"] = thing.pop("published_rotation", thing["rotation"])
    return {
        "split": split,
        "image_index": number_of(entry),
        "image_filename": name,
        "objects": data["objects"],
        "directions": data["directions"],
        "relationships": data["relationships"],
    }


def bare_question(split: str, entry: ExportItem, number: int, *, name: str) -> dict[str, Any]:
    """Return a question as the release has it for the test split: five keys."""
    return {
        "image_index": number_of(entry),
        "image_filename": name,
        "question_index": entry.first_question + number,
        "question": entry.item.questions[number].text,
        "split": split,
    }


def question(split: str, entry: ExportItem, number: int, *, name: str) -> dict[str, Any]:
    """Return a question as the release has it: eight keys, without those whose value is unknown."""
    asked = entry.item.questions[number]
    told: dict[str, Any] = bare_question(split, entry, number, name=name)
    if asked.family is not None:
        told["question_family_index"] = asked.family
    if asked.program is not None:
        told["program"] = program(asked.program, key="function")
    if asked.answer is not None:
        told["answer"] = asked.answer.text
    return told


def generator_question(
    split: str, entry: ExportItem, number: int, *, name: str, templates: Mapping[int, Template]
) -> dict[str, Any]:
    """Return a question as the original generator writes it: ten keys, without those whose value is unknown."""
    asked = entry.item.questions[number]
    told: dict[str, Any] = bare_question(split, entry, number, name=name)
    told["image"] = name.rpartition(".")[0]
    if asked.program is not None:
        told["program"] = program(asked.program, key="type")
    if asked.answer is not None:
        told["answer"] = json_answer(asked.answer)
    template = None if asked.family is None else templates.get(asked.family)
    if template is not None:
        told |= {"template_filename": template.file, "question_family_index": template.number}
    return told


def program(steps: Program, *, key: str) -> list[dict[str, Any]]:
    """Return a program as a list of its steps, with the function's name under `key`."""
    return [{"inputs": list(step.inputs), key: step.function, "value_inputs": list(step.values)} for step in steps]


def json_answer(answer: Answer) -> bool | int | str:
    """Return an answer as the generator writes it: a boolean, a number or a word."""
    if answer.kind == AnswerKind.YES_NO:
        return YES[answer.text]
    return int(answer.text) if answer.kind == AnswerKind.INTEGER else answer.text


def templates_of(families: Sequence[Family]) -> dict[int, Template]:
    """Return, for each family's number, its file and its number in that file."""
    counts: dict[str, int] = {}
    found = {}
    for family in families:
        found[family.number] = Template(family.source, counts.get(family.source, 0))
        counts[family.source] = found[family.number].number + 1
    return found
