"""Which questions need no colour: those that participants are given who take colours for one another."""

import re
from collections.abc import Iterable

from annotations.answering.answer_forms import form_of, swatches_of
from annotations.models import Study, StudyQuestion
from generation.models import Question, Split
from generation.storage import rows

ROWS = 500  # read at a time
OF_COLOURS = {"color", "colors", "colored", "colour", "colours", "coloured"}


def without_colours(split: Split, positions: list[int]) -> list[int]:
    """Return those of a split's questions whose words name no colour and don't ask for one."""
    return [row.position for row in rows.browsed(split, positions) if not _is_coloured(split, row)]


def mark(study: Study) -> None:
    """Say of each question of a study's sample whether it needs colours, where nobody said so before."""
    unknown = study.questions.filter(coloured=None)
    positions = list(unknown.order_by("position").values_list("position", flat=True))
    for start in range(0, len(positions), ROWS):
        some = positions[start : start + ROWS]
        plain = set(without_colours(study.split, some))
        _say(study, plain, coloured=False)
        _say(study, set(some) - plain, coloured=True)


def _say(study: Study, positions: Iterable[int], *, coloured: bool) -> None:
    StudyQuestion.objects.filter(study=study, position__in=list(positions)).update(coloured=coloured)


def _is_coloured(split: Split, row: Question) -> bool:
    """Return whether a question's words speak of colours, or its answers are some."""
    names = {word for name in swatches_of(split) for word in _words(name)}
    return bool(form_of(split, row.kind).swatches) or not (OF_COLOURS | names).isdisjoint(_words(row.text))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.lower())
