"""The format `babi`: stories and questions in the release's files, and beside them what the release leaves out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, TextIO

from generation.engine.errors import BadExport
from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Format, Option, Tick
from generation.engine.formats.common import write_readme
from generation.engine.formats.sidecar_writer import SUMS, write_about, write_facets
from generation.engine.items import Item, Question
from generation.engine.program import to_json
from generation.engine.reading.sidecar_reader import BESIDE
from generation.engine.worlds.babi.facets import supports_in
from generation.engine.worlds.babi.formats import file_names
from generation.engine.worlds.babi.formats.story_files import RawQuestion, write_story
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.story import Story

PREFIX = "babi"


def is_released(split: ExportSplit) -> bool:
    """Return whether the release's files have a split's answers and supporting facts: not for withheld splits."""
    return split.shows_answers and not split.withheld


def stories_path(split: str) -> str:
    """Return the path, beside the release, of the file with the events and programs of a split's stories."""
    return f"stories/{PREFIX}_{split}_stories.jsonl"


class ReleasedBabi(Format):
    """Writes the release's folders, and `horsesense/` beside them."""

    name: ClassVar[str] = "babi"
    label: ClassVar[str] = "bAbI, as released"
    about: ClassVar[str] = (
        "What code for the bAbI tasks, version 1.2, reads: a file for each task and split, in the release's folders. "
        "What the release leaves out stands beside it, and importing it gives the same dataset again."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("nosf", "Write a second folder without supporting facts, its name ending in -nosf, as ParlAI reads it"),
    )
    sums: ClassVar[str] = SUMS

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write the release's folders and the folder beside them."""
        _check_names(dataset)
        for split in dataset.splits:
            with ExitStack() as stack:
                _Split(dataset, split, folder, stack, twins=_twins(options)).write(tick=tick)
            write_facets(split, folder, prefix=PREFIX, tick=tick)
        write_about(dataset, folder, release=file_names.ROOT)
        write_readme(dataset, folder, layout=list(_layout(dataset, options)), sums=SUMS)


def _twins(options: Mapping[str, Any]) -> tuple[bool, ...]:
    return (True, False) if options.get("nosf") else (True,)


def _check_names(dataset: ExportDataset) -> None:
    """Raise `BadExport` if files of two splits would have the same name."""
    if {file_names.VALIDATION, file_names.VALID} <= {split.name for split in dataset.splits}:
        raise BadExport(
            f"Expected not both splits {file_names.VALIDATION} and {file_names.VALID}, whose files have one name, "
            "got both. Export one of them.",
            where="splits",
        )


def variant(dataset: ExportDataset, split: ExportSplit, *, without_supports: bool = False) -> str:
    """Return the folder of a split's files, from its language and the dataset's training and validation splits."""
    trained = [one.questions // len(_own(one).tasks) for one in dataset.splits if one.name.startswith("train")]
    has_validation = any(one.name == file_names.VALIDATION for one in dataset.splits)
    name = file_names.folder_name(
        _own(split).told.language,
        has_validation=has_validation,
        questions=max(trained, default=0),
        without_supports=without_supports,
    )
    return f"{file_names.ROOT}/{name}"


class _Split:
    """Writes the files of a split: one for each task with stories, and the file beside the release."""

    def __init__(
        self, dataset: ExportDataset, split: ExportSplit, folder: Path, stack: ExitStack, *, twins: Sequence[bool]
    ) -> None:
        self.split, self.stack, self.twins = split, stack, twins
        self.has_validation = any(one.name == file_names.VALIDATION for one in dataset.splits)
        self.folders = {twin: folder / variant(dataset, split, without_supports=not twin) for twin in twins}
        self.files: dict[tuple[int, bool], TextIO] = {}
        self.beside = self._open(folder / BESIDE / stories_path(split.name))

    def write(self, *, tick: Tick) -> None:
        for entry in self.split.items():
            task, lines = task_of(entry), lines_of_item(entry)
            asked = [
                self._question(entry.item, number, count=len(lines)) for number in range(len(entry.item.questions))
            ]
            for twin in self.twins:
                self._file(task, twin).write(write_story(task, lines, asked, supports=twin))
            self.beside.write(json.dumps(self._record(task, entry.item), ensure_ascii=False) + "\n")
            tick(1)

    def _file(self, task: int, twin: bool) -> TextIO:
        if (task, twin) not in self.files:
            name = file_names.file_name(task, self.split.name, has_validation=self.has_validation)
            self.files[task, twin] = self._open(self.folders[twin] / name)
        return self.files[task, twin]

    def _open(self, path: Path) -> TextIO:
        path.parent.mkdir(parents=True, exist_ok=True)
        return self.stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))

    def _question(self, item: Item, number: int, *, count: int) -> RawQuestion:
        asked = item.questions[number]
        scope = count if asked.scope is None else asked.scope
        if not is_released(self.split) or asked.answer is None:
            return RawQuestion(asked.text, "", (), scope, "")
        facts = supports_in(item, number) or ()
        return RawQuestion(asked.text, asked.answer.spelling or asked.answer.text, facts, scope, "")

    def _record(self, task: int, item: Item) -> dict[str, Any]:
        """Return what the release leaves out of an item."""
        record: dict[str, Any] = {"task": task}
        if isinstance(item.scene, Story):
            record["lines"] = [
                {key: value for key, value in line.items() if key != "text"} for line in item.scene.to_json()["lines"]
            ]
            if item.scene.supports is not None:
                record["supports"] = [list(lines) for lines in item.scene.supports]
        record["questions"] = [self._beside(question) for question in item.questions]
        return record

    def _beside(self, question: Question) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if question.program is not None:
            found["program"] = to_json(question.program)
        if question.answer is not None and not is_released(self.split):
            found["answer"] = question.answer.spelling or question.answer.text
        return found


def task_of(entry: ExportItem) -> int:
    """Return the number of an item's task; raise `BadExport` if it is unknown."""
    scene, questions = entry.item.scene, entry.item.questions
    if isinstance(scene, Story):
        return scene.task
    task = next((question.family for question in questions if question.family is not None), None)
    if task is None:
        raise BadExport("Expected a story whose task is known, got one without.", where=f"story {entry.position}")
    return task


def lines_of_item(entry: ExportItem) -> tuple[str, ...]:
    """Return an item's lines; raise `BadExport` if they may not be seen."""
    if isinstance(entry.item.scene, Story):
        return tuple(line.text for line in entry.item.scene.lines)
    if entry.story is None:
        raise BadExport("Expected stories that may be read, got one that may not.", where=f"story {entry.position}")
    return entry.story


def _own(split: ExportSplit) -> BabiSpec:
    assert isinstance(split.spec, BabiSpec)
    return split.spec


def _layout(dataset: ExportDataset, options: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys(variant(dataset, split) for split in dataset.splits):
        yield f"- `{name}/`: a file for each task and split: lines, questions, answers, supporting facts."
    if options.get("nosf"):
        yield f"- Folders whose names end in `{file_names.WITHOUT_SUPPORTS}`: the same without supporting facts."
    yield f"- `{BESIDE}/dataset.json`, `spec.json`: what the dataset is and what it was made from."
    yield f"- `{BESIDE}/stories/`: what lines tell and programs of questions. `{BESIDE}/facets/`: what they demand."


FORMAT = ReleasedBabi()
