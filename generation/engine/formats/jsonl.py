"""The format `jsonl`: one line for each question, and all pictures of a split in one file."""

import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from generation.engine.errors import EngineError
from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Format, Tick
from generation.engine.formats.common import facet_rows, open_gzip, write_readme
from generation.engine.program import to_json
from generation.engine.scoring.steps import ExpectedStep, expected_steps, steps_prompt
from generation.engine.worlds.story_text import prompt_of, seen_by


class JsonLines(Format):
    """Writes, for each split, `questions.jsonl.gz`, `scenes.jsonl.gz` and `images.tar`."""

    name: ClassVar[str] = "jsonl"
    label: ClassVar[str] = "JSON lines"
    about: ClassVar[str] = (
        "What a few lines of any language read: a line a question with its answer, program, prompt and facets, a line "
        "a scene, and all images of a split in one tar file."
    )

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write a folder for each split."""
        for split in dataset.splits:
            _write_split(dataset, split, folder / split.name, tick=tick)
        write_readme(dataset, folder, layout=list(_layout(dataset)), sums=self.sums)


def _write_split(dataset: ExportDataset, split: ExportSplit, folder: Path, *, tick: Tick) -> None:
    facets = facet_rows(split)
    with ExitStack() as stack:
        ask = stack.enter_context(open_gzip(folder / "questions.jsonl.gz"))
        show = stack.enter_context(open_gzip(folder / "scenes.jsonl.gz")) if split.shows_scenes else None
        images = None
        if split.images:
            images = stack.enter_context(tarfile.open(folder / "images.tar", "w", format=tarfile.PAX_FORMAT))
        for entry in split.items():
            for number in range(len(entry.item.questions)):
                ask.write(_line(question_line(dataset, split, entry, number) | {"facets": next(facets)}))
            if show is not None:
                show.write(_line(scene_line(split, entry)))
            if images is not None and entry.image is not None:
                add_file(images, entry.image_name, entry.image())
            tick(1)


def question_line(dataset: ExportDataset, split: ExportSplit, entry: ExportItem, number: int) -> dict[str, Any]:
    """Return the line of a question, without its facets. Values that are unknown or may not be seen are null."""
    asked = entry.item.questions[number]
    return {
        "question_id": entry.first_question + number,
        "split": split.name,
        "image_index": entry.position,
        "image": entry.image_name if split.images else None,
        **({} if entry.story is None else {"story": list(seen_by(asked, entry.story))}),
        "question": asked.text,
        "answer": None if asked.answer is None else asked.answer.text,
        "choices": list(dataset.world.answer_form(split.spec, asked).choices),
        "prompt": prompt_of(dataset.world, split.spec, asked, entry.story),
        "kind": asked.kind,
        "family": asked.family,
        "scope": asked.scope,
        "program": None if asked.program is None else to_json(asked.program),
    }


def steps_line(split: ExportSplit, entry: ExportItem, number: int) -> dict[str, Any]:
    """Return the line of the steps of a question, which is not part of the export.

    Parameters
    ----------
    split : ExportSplit
        One that shows programs and scenes.
    entry : ExportItem
    number : int
        The 0-based position of the question among the questions of the item.

    Returns
    -------
    dict
        `prompt` asks for the results of the steps, and `steps` has each step with its right result. Both are None for
        a question without a program, or whose program has no answer on its scene.
    """
    line: dict[str, Any] = {"question_id": entry.first_question + number, "prompt": None, "steps": None}
    try:
        expected = expected_steps(entry.item, number, spec=split.spec)
    except EngineError:
        return line
    return line | {"prompt": steps_prompt(expected), "steps": [_step(one) for one in expected]}


def _step(one: ExpectedStep) -> dict[str, Any]:
    return {
        "function": one.function,
        "inputs": list(one.inputs),
        "value_inputs": list(one.values),
        "kind": str(one.kind),
        "result": one.result,
    }


def scene_line(split: ExportSplit, entry: ExportItem) -> dict[str, Any]:
    """Return the line of a scene."""
    scene, view = entry.item.scene, entry.item.view
    return {
        "image_index": entry.position,
        "image": entry.image_name if split.images else None,
        **({} if entry.story is None else {"story": list(entry.story)}),
        "scene": None if scene is None else scene.to_json(),
        "view": None if view is None else view.to_json(),
    }


def add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file to an archive without owner and time, so that the bytes are reproducible."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(content), 0, 0o644
    archive.addfile(entry, io.BytesIO(content))


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _layout(dataset: ExportDataset) -> Iterator[str]:
    yield "A folder a split, and in it:"
    yield ""
    yield "- `questions.jsonl.gz`: a line a question; `question_id` counts from 0."
    if dataset.world.has_stories:
        yield "  `story` has the lines that the question sees, and `prompt` has them numbered above it."
    if any(split.shows_scenes for split in dataset.splits):
        yield "- `scenes.jsonl.gz`: a line a scene, in the same order."
    if any(split.images for split in dataset.splits):
        yield "- `images.tar`: the pictures."


FORMAT = JsonLines()
