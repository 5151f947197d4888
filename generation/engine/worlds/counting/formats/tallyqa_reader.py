"""The reader of TallyQA as published: a list of questions for each split.

References
----------
Acharya et al. 2019, TallyQA: Answering Complex Counting Questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import PurePosixPath
from typing import Any, ClassVar

from generation.engine.errors import BadRecord
from generation.engine.reading.bounded_json import Guarded
from generation.engine.reading.dataset_reader import Open, PublishedCount, ReadItem, SplitFiles, shorten
from generation.engine.reading.json_stream import JsonText, list_records
from generation.engine.worlds.counting.formats.question_files import (
    QuestionFile,
    QuestionFilesReader,
    add_file,
    split_of,
)
from generation.engine.worlds.counting.formats.records import (
    COMPLEX,
    SIMPLE,
    UNKNOWN,
    PictureQuestions,
    PublishedPicture,
    PublishedQuestion,
    number_of,
    path_of,
    text_of,
)
from generation.engine.worlds.counting.picture_scene import Source
from generation.engine.worlds.counting.spec import CountingSpec

QUESTIONS = "questions"
BY_PEOPLE = "amt"  # the source of questions that people wrote to be complex


class TallyQAReader(QuestionFilesReader):
    """Reads files such as train.json and test.json."""

    name: ClassVar[str] = "tallyqa"
    label: ClassVar[str] = "TallyQA, as published"
    published: ClassVar[Sequence[PublishedCount]] = (
        PublishedCount(("train", "val"), 249_318),
        PublishedCount(("train",), 224_391, beside="val"),
        PublishedCount(("val",), 24_927),
        PublishedCount(("test",), 38_589),
    )

    def assign(self, files: Sequence[QuestionFile]) -> dict[str, dict[str, str]]:
        """Return the files by split; the name of a file contains its split."""
        found: dict[str, dict[str, str]] = {}
        for file in files:
            if split := split_of(file.name):
                add_file(found, split, QUESTIONS, file.path)
            elif file.is_named:
                raise BadRecord("Expected train, val or test in the file's name, got none of them.", where=file.path)
        if not found:
            raise BadRecord(
                "Expected train.json or test.json, got neither.", where=", ".join(one.path for one in files)
            )
        return found

    def items(self, split: SplitFiles, *, spec: CountingSpec, opened: Open, skip: int) -> Iterator[ReadItem]:
        """Yield the pictures with their questions."""
        path = split.files[QUESTIONS]
        name, questions = PurePosixPath(path).name, PictureQuestions()
        with closing(opened(path)) as file:
            for place, record in enumerate(list_records(JsonText(Guarded(file)), where=name)):
                where = f"{name}, [{place}]"
                questions.add(self.picture(record, where=where), self.question(record, spec, where=where), where=where)
        yield from questions.items(classes=spec.classes, skip=skip, where=name)

    def picture(self, record: Any, *, where: str) -> PublishedPicture:
        """Return the picture of a record."""
        path = path_of(record, "image", where=where)
        return PublishedPicture(path, number_of(record, "image_id", where=where), _source_of(path))

    def question(self, record: Any, spec: CountingSpec, *, where: str) -> PublishedQuestion:
        """Return the question of a record."""
        return PublishedQuestion(
            text_of(record, "question", where=where),
            number_of(record, "answer", where=where, most=spec.most),
            kind_of(record, where=where),
            str(number_of(record, "question_id", where=where)),
        )


def _source_of(path: str) -> Source:
    return "visual_genome" if "VG" in path else "coco" if "COCO" in path else ""


def kind_of(record: Mapping[str, Any], *, where: str) -> str:
    """Return the type of a question. Without `issimple`, it is known only for questions that people wrote."""
    is_simple = record.get("issimple")
    if is_simple is not None and not isinstance(is_simple, bool):
        raise BadRecord(f"Expected true or false, got {shorten(is_simple)}.", where=f"{where}, issimple")
    if is_simple is not None:
        return SIMPLE if is_simple else COMPLEX
    return COMPLEX if record.get("data_source") == BY_PEOPLE else UNKNOWN


READER = TallyQAReader()
