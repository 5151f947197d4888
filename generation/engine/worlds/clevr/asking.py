"""Asking CLEVR's scenes: found parameters become programs, answers and sentences."""

from collections.abc import Sequence
from typing import NamedTuple

from generation.engine.families import Family, Op
from generation.engine.search import Rules, Searcher
from generation.engine.seeding import Stream
from generation.engine.wording import Speaker
from generation.engine.worlds import Answer, AnswerKind, Question
from generation.engine.worlds.clevr.lexicon import lexicon
from generation.engine.worlds.clevr.programs import Template, name_of, program_of, templates
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec

_KINDS = {"Bool": AnswerKind.YES_NO, "Integer": AnswerKind.INTEGER}


class _Template(NamedTuple):
    """What of a family doesn't change from question to question."""

    family: Family
    types: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]
    descriptions: tuple[tuple[int, ...], ...]
    steps: tuple[Template, ...]
    kind: str
    answers: tuple[Answer, ...]


class Asker:
    """Asks the scenes of one batch, keeping their answers balanced.

    Parameters
    ----------
    spec : ClevrSpec
    search, words : Stream
        Chance for finding questions and for saying them.
    """

    def __init__(self, spec: ClevrSpec, *, search: Stream, words: Stream) -> None:
        self.spec = spec
        self.words = words
        self.speaker = Speaker(lexicon(spec.vocabulary), optional_words=spec.questions.optional_words)
        self.templates = [_template(family, spec) for family in spec.families]
        self.searcher = Searcher(spec.families, language=spec.language, rules=_rules(spec), generator=search.generator)

    def ask(self, scene: Scene) -> tuple[Question, ...] | None:
        """Return the scene's questions, or None if it admits too few."""
        asked = self.searcher.ask(scene.for_search(self.spec.vocabulary), wanted=self.spec.questions.per_scene)
        if asked is None:
            return None
        found = zip(asked.families.tolist(), asked.values.tolist(), asked.answers.tolist(), strict=True)
        return tuple(self._question(self.templates[family], codes, answer) for family, codes, answer in found)

    def _question(self, template: _Template, codes: Sequence[int], answer: int) -> Question:
        values = [choices[code] if code >= 0 else None for choices, code in zip(template.choices, codes, strict=False)]
        family = template.family
        text = self.speaker.say(
            self.words.choice(family.wordings),
            types=template.types,
            values=values,
            alike=_alike(template.descriptions, values),
            stream=self.words,
        )
        return Question(
            text=text,
            program=program_of(template.steps, values),
            answer=template.answers[answer],
            kind=template.kind,
            family=family.number,
        )


def _rules(spec: ClevrSpec) -> Rules:
    knobs = spec.questions
    return Rules(
        strict=knobs.degeneracy == "reference",
        trivial_share=knobs.trivial_share,
        states=knobs.search_states,
        ratio=knobs.balance.ratio,
        median_ratio=knobs.balance.median_ratio,
        median_floor=knobs.balance.median_floor,
    )


def _template(family: Family, spec: ClevrSpec) -> _Template:
    kind = name_of(family.operations[-1])
    answer_kind = _KINDS.get(family.answer_type, AnswerKind.VALUE)
    return _Template(
        family=family,
        types=tuple(param.type for param in family.params),
        choices=tuple(spec.language.values(param.type) for param in family.params),
        descriptions=tuple(
            operation.params[1:] for operation in family.operations if operation.op in (Op.FILTER, Op.RELATE_FILTER)
        ),
        steps=templates(family.operations),
        kind=kind,
        answers=tuple(Answer(answer, answer_kind) for answer in family.answers),
    )


def _alike(descriptions: Sequence[Sequence[int]], values: Sequence[str | None]) -> bool:
    """Return whether two descriptions could hold of one object; with another number of them, that they could."""
    if len(descriptions) != 2:
        return True
    for one, two in zip(*descriptions, strict=True):
        if one >= 0 and two >= 0:
            first, second = values[one], values[two]
            if first is not None and second is not None and first != second:
                return False
    return True
