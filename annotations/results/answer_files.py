"""Files with a study's answers: one line per answer, without anything that identifies participants."""

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from django.db import models

from annotations.answering import timing
from annotations.answering.participants import pseudonym
from annotations.answering.timing import CountedTime
from annotations.models import Answer, EasyAnswer, Study
from generation.engine.formats.spreadsheets import csv_file
from generation.engine.formats.workbooks import workbook
from generation.models import Split
from generation.storage.split_index import SplitIndex

SAMPLE = "sample"
SOME = 20  # participants whose answers are read at once

Row = TypeVar("Row", bound=models.Model)


class AnswerLine(NamedTuple):
    """An answer as a line of a file.

    Attributes
    ----------
    participant : str
        A pseudonym.
    kind : str
        "sample", or the kind of an easy question: "practice", "check", "attention".
    split : str
        The question's split as `dataset/split`; empty for an attention item.
    question : int or None
        The question's position in its split; None for an attention item.
    slot : int or None
        The number of the slot that this answer fills; None for an answer that does not count.
    answer, refusal : str
        The answer, or the reason why there is none; one of them is empty.
    correct : bool or None
        None for a refusal to a question of the sample, if the right answer is not known, and if the reader may not know
        it.
    visible_ms, idle_ms : int or None
        The times that the browser reported; None if the report was not usable.
    counted_ms : int
        The time that pay, rules and results use (`annotations.answering.timing`). It is 0 for a superseded answer,
        because the time is part of the answer that replaced it.
    excluded, surplus, superseded : bool
    """

    participant: str
    kind: str
    split: str
    question: int | None
    slot: int | None
    answer: str
    refusal: str
    correct: bool | None
    visible_ms: int | None
    idle_ms: int | None
    counted_ms: int
    excluded: bool
    surplus: bool
    superseded: bool


def lines(study: Study, *, correct: bool = True, easy_correct: bool = True) -> Iterator[AnswerLine]:
    """Yield every answer except those of the test link: first to easy questions, then to the sample, by participant.

    Parameters
    ----------
    study : Study
    correct, easy_correct : bool
        Whether to say which answers are right, for the sample and for the easy questions.
    """
    people = list(study.participants.order_by("pk").values_list("pk", "is_test", "excluded"))
    names = {key: pseudonym(number) for number, (key, _, _) in enumerate(people, start=1)}
    kept = {key: excluded is not None for key, is_test, excluded in people if not is_test}
    times = timing.count_time(study)
    yield from _easy_lines(study, names, kept, times, correct=easy_correct)
    yield from _sample_lines(study, names, kept, times, correct=correct)


def _easy_lines(
    study: Study, names: dict[int, str], kept: dict[int, bool], times: CountedTime, *, correct: bool
) -> Iterator[AnswerLine]:
    split = "" if study.easy is None else _name(study.easy)
    for row in _by_participant(EasyAnswer.objects.all(), list(kept)):
        has_place = row.position is not None
        yield AnswerLine(
            names[row.participant_id], row.kind, split if has_place else "", row.position, None, row.text, "",
            row.is_right if correct or not has_place else None, row.visible, None, times.easy.get(row.pk, 0),
            kept[row.participant_id], surplus=False, superseded=row.superseded,
        )  # fmt: skip


def _sample_lines(
    study: Study, names: dict[int, str], kept: dict[int, bool], times: CountedTime, *, correct: bool
) -> Iterator[AnswerLine]:
    index, split = SplitIndex.open(study.split), _name(study.split)
    values, right = index.answer_values, index.answers
    for row in _by_participant(Answer.objects.select_related("question", "slot"), list(kept)):
        position = row.question.position
        code = int(right[position])
        is_known = correct and code < len(values) and not row.refusal
        yield AnswerLine(
            participant=names[row.participant_id],
            kind=SAMPLE,
            split=split,
            question=position,
            slot=None if row.slot is None else row.slot.number,
            answer=row.text,
            refusal=row.refusal,
            correct=row.text == values[code] if is_known else None,
            visible_ms=row.visible,
            idle_ms=row.idle,
            counted_ms=times.answers.get(row.pk, 0),
            excluded=kept[row.participant_id],
            surplus=row.slot is None and not row.superseded and not kept[row.participant_id],
            superseded=row.superseded,
        )


def _by_participant(rows: models.QuerySet[Row], people: list[int]) -> Iterator[Row]:
    """Yield the answers of participants in order. No query is open when a row is yielded.

    The file may be sent slowly, by several threads one after the other.
    """
    for first in range(0, len(people), SOME):
        yield from list(rows.filter(participant__in=people[first : first + SOME]).order_by("participant", "pk"))


def _name(split: Split) -> str:
    return f"{split.dataset.slug}/{split.name}"


def as_csv(rows: Iterator[AnswerLine]) -> Iterator[str]:
    return csv_file(_table(rows))


def as_workbook(rows: Iterator[AnswerLine]) -> bytes:
    return workbook(_table(rows), name="Answers")


def _table(rows: Iterator[AnswerLine]) -> Iterator[Iterable[object]]:
    return itertools.chain([AnswerLine._fields], rows)


def as_jsonl(rows: Iterator[AnswerLine]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row._asdict(), ensure_ascii=False) + "\n"
