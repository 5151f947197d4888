"""The possible answers of the replies in `corpus`, and their readers."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from generation.engine.items import Question
from generation.engine.replies.reply_reader import ReplyReader
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary
from generation.engine.worlds import find_preset, get_world

PRESETS = {
    "clevr": "clevr-mini", "babi": "babi-10k", "shapeworld": "shapeworld-spatial", "counting": "clevr-counting"
}  # fmt: skip


class LabelledReply(NamedTuple):
    """A reply with the answer that a reader takes from it; None if it asserts none. A clear one must not be lost."""

    form: str
    set: str
    type: str
    reply: str
    answer: str | None
    clear: bool


def read_corpus(name: str) -> list[LabelledReply]:
    """Return the labelled replies of a file."""
    path = Path(__file__).with_name("corpus") / f"{name}.jsonl"
    return [LabelledReply(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


class WorldReader:
    """The reader of replies to the questions of a preset."""

    def __init__(self, preset: str) -> None:
        data = find_preset(preset)
        world = get_world(data["world"])
        spec = world.read_spec(data)
        self.answers = world.answers(spec)
        self.types = next(facet.values for facet in world.facets(spec) if facet.name == "type")
        self.forms = [world.answer_form(spec, Question("", kind=kind)) for kind in self.types]
        self.most_counted = world.most_counted(spec)
        self.synonyms = dict(world.synonyms(spec))
        vocabulary = AnswerVocabulary(
            self.answers,
            [form.composed for form in self.forms],
            most_counted=self.most_counted,
            synonyms=self.synonyms,
        )
        codes = {answer: code for code, answer in enumerate(self.answers)}
        self.reader = ReplyReader(vocabulary, [[codes[choice] for choice in form.choices] for form in self.forms])

    def read(self, reply: str, kind: str) -> str | None:
        code = self.reader.code(reply, self.types.index(kind))
        return None if code == OUTSIDE else self.answers[code]


@cache
def reader_of(name: str) -> WorldReader:
    """Return the reader of one of the sets of the corpus."""
    return WorldReader(PRESETS[name])
