"""The reader of COCO-Grounding: questions as in TallyQA, each with a class and with the boxes of its objects.

References
----------
Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, section 6.3.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import PublishedCount, value_of
from generation.engine.worlds.counting.formats.question_files import QuestionFile, add_file
from generation.engine.worlds.counting.formats.records import (
    MOST_BOXES,
    MOST_CLASS,
    SIMPLE,
    UNKNOWN,
    PublishedPicture,
    PublishedQuestion,
    corners_of,
    side_of,
    text_of,
)
from generation.engine.worlds.counting.formats.tallyqa_reader import QUESTIONS, TallyQAReader
from generation.engine.worlds.counting.spec import CountingSpec

SPLIT = "grounding"


class CocoGroundingReader(TallyQAReader):
    """Reads one file, which becomes the split `grounding`."""

    name: ClassVar[str] = "coco-grounding"
    label: ClassVar[str] = "COCO-Grounding, as published"
    published: ClassVar[Sequence[PublishedCount]] = (
        PublishedCount((SPLIT,), 3_311),
        PublishedCount((SPLIT,), 2_139, of="scenes"),
        *(PublishedCount((SPLIT,), 734, answer=answer) for answer in ("0", "1", "2")),
    )

    def assign(self, files: Sequence[QuestionFile]) -> dict[str, dict[str, str]]:
        """Return the only file as the split `grounding`, whatever its name is."""
        found: dict[str, dict[str, str]] = {}
        for file in files:
            add_file(found, SPLIT, QUESTIONS, file.path)
        return found

    def picture(self, record: Any, *, where: str) -> PublishedPicture:
        """Return the picture of a record, with its size."""
        width, height = (side_of(record, name, where=where) for name in ("img_width", "img_height"))
        return super().picture(record, where=where)._replace(width=width, height=height)

    def question(self, record: Any, spec: CountingSpec, *, where: str) -> PublishedQuestion:
        """Return the question of a record, with its class and boxes."""
        plain = super().question(record, spec, where=where)
        values, picture = value_of(record, "gt_bboxes", list, where=where), self.picture(record, where=where)
        if len(values) != plain.answer or len(values) > MOST_BOXES:
            raise BadRecord(
                f"Expected as many boxes as the answer says, {plain.answer}, got {len(values)}.",
                where=f"{where}, gt_bboxes",
            )
        return plain._replace(
            kind=SIMPLE if plain.kind == UNKNOWN else plain.kind,
            class_name=text_of(record, "name", where=where, most=MOST_CLASS),
            boxes=tuple(
                corners_of(value, picture, where=f"{where}, gt_bboxes[{number}]") for number, value in enumerate(values)
            ),
        )


READER = CocoGroundingReader()
