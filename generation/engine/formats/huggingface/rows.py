"""Rows of tables for other tools: a question with its choices, its prompt and its facets.

The columns have the same names everywhere: first those of `first_of`, then one for each facet, then the prompt.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from generation.engine.formats import ExportItem, ExportSplit, value_of
from generation.engine.items import FacetKind, Media, Question
from generation.engine.program import to_json
from generation.engine.worlds import World
from generation.engine.worlds.story_text import prompt_of, seen_by

FIRST = ("image", "question", "answer", "choices", "question_id", "image_index", "split", "program")
PROMPT, STORY = "prompt", "story"
OURS = frozenset({*FIRST, PROMPT, STORY, "scene", "view", "questions"})  # names that no facet's column may have
BLOCK = 8192  # questions whose facets are read at once
NOT_A_NAME = re.compile(r"\W+", re.ASCII)

Row = dict[str, Any]


def first_of(world: World) -> tuple[str, ...]:
    """Return the first columns of a world's rows: the lines of a story, if the world has stories, or else a picture.

    A world with both has both columns.
    """
    if not world.has_stories:
        return FIRST
    pictured = ("image",) if world.media is Media.IMAGE else ()
    return (*pictured, STORY, *FIRST[1:])


def facet_columns(splits: Sequence[ExportSplit]) -> dict[str, FacetKind]:
    """Return the columns for all facets of the splits, in order, with the kind of each facet.

    The facet `answer` has no column here, because answers have their own column.
    """
    facets = [facet for split in splits for facet in split.facets if facet.name != "answer"]
    return {column_of(facet.name): facet.kind for facet in facets}


def column_of(facet: str) -> str:
    """Return the name of a facet's column: the facet's name, with a prefix if another column has that name."""
    return f"facet_{facet}" if facet in OURS else facet


def plain_names(names: Sequence[str]) -> dict[str, str]:
    """Return, for each name, a unique name of letters, digits and underscores only.

    The Hub and `datasets` accept no other names for splits.
    """
    plain: dict[str, str] = {}
    for name in names:
        base = NOT_A_NAME.sub("_", name)
        taken = set(plain.values())
        tries = (base, *(f"{base}_{number}" for number in range(2, len(names) + 2)))
        plain[name] = next(wanted for wanted in tries if wanted not in taken)
    return plain


class Rows:
    """The rows of a split's questions. Items must be read in order.

    Parameters
    ----------
    split : ExportSplit
    world : World
    columns : mapping of str to FacetKind
        The columns for facets. A column whose facet this split lacks is None in each row.
    """

    def __init__(self, split: ExportSplit, world: World, columns: Mapping[str, FacetKind]) -> None:
        self.split, self.world, self.columns = split, world, columns
        self._first = first_of(world)
        self._facets = {column_of(facet.name): facet for facet in split.facets}
        self._values: dict[str, dict[int, Any]] = {name: {} for name in columns}
        self._codes: dict[str, list[int]] = {}
        self._start = self._end = 0

    def of(self, item: ExportItem) -> list[Row]:
        """Return the rows of an item's questions. `image` is the picture's name, `story` the lines that it uses."""
        questions = item.item.questions
        facets = self._facet_values(item.first_question, len(questions))
        return [
            {
                **self._shown(item, question),
                "question": question.text,
                "answer": question.answer.text if question.answer else None,
                "choices": list(self.world.answer_form(self.split.spec, question).choices),
                "question_id": item.first_question + number,
                "image_index": item.position,
                "split": self.split.name,
                "program": program_text(question),
                **{name: values[number] for name, values in facets.items()},
                PROMPT: prompt_of(self.world, self.split.spec, question, item.story),
            }
            for number, question in enumerate(questions)
        ]

    def _shown(self, item: ExportItem, question: Question) -> Row:
        own: Row = {"image": item.image_name if self.world.media is Media.IMAGE else None}
        own[STORY] = list(seen_by(question, item.story or ()))
        return {name: value for name, value in own.items() if name in self._first}

    def _facet_values(self, first: int, count: int) -> dict[str, list[Any]]:
        """Return the values of every facet's column for `count` questions from position `first`."""
        if first < self._start or first + count > self._end:
            self._read(first, max(count, min(BLOCK, self.split.questions - first)))
        at = first - self._start
        return {
            name: self._meant(name, self._codes[name][at : at + count]) if name in self._codes else [None] * count
            for name in self.columns
        }

    def _read(self, first: int, count: int) -> None:
        codes = self.split.facet_codes(first, count)
        self._codes = {column_of(name): array.tolist() for name, array in codes.items()}
        self._start, self._end = first, first + count

    def _meant(self, name: str, codes: Sequence[int]) -> list[Any]:
        known = self._values[name]
        for code in codes:
            if code not in known:
                known[code] = value_of(self._facets[name], code)
        return [known[code] for code in codes]


def program_text(question: Question) -> str | None:
    """Return a question's program as JSON on one line, in CLEVR's published form; None without a program."""
    return None if question.program is None else json.dumps(to_json(question.program), separators=(",", ":"))
