"""Asking CLEVR's scenes: found parameters become programs, answers and sentences."""

from collections.abc import Sequence
from typing import NamedTuple

from generation.engine.families import Family, Op, Operation
from generation.engine.program import Program, Step
from generation.engine.search import Rules, Searcher
from generation.engine.seeding import Stream
from generation.engine.wording import Speaker
from generation.engine.worlds import Answer, AnswerKind, Question
from generation.engine.worlds.clevr.lexicon import lexicon
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES

_NAMES = {
    Op.SCENE: "scene",
    Op.RELATE: "relate",
    Op.UNION: "union",
    Op.INTERSECT: "intersect",
    Op.UNIQUE: "unique",
    Op.COUNT: "count",
    Op.EXIST: "exist",
    Op.EQUAL_INTEGER: "equal_integer",
    Op.LESS_THAN: "less_than",
    Op.GREATER_THAN: "greater_than",
    Op.EQUAL_OBJECT: "equal_object",
}
_VERBS = {Op.SAME: "same", Op.QUERY: "query", Op.EQUAL_VALUE: "equal", Op.FILTER_ONE: "filter"}
_KINDS = {"Bool": AnswerKind.YES_NO, "Integer": AnswerKind.INTEGER}


class _Template(NamedTuple):
    """What of a family doesn't change from question to question."""

    family: Family
    types: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]
    descriptions: tuple[tuple[int, ...], ...]
    steps: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
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
            program=_program(template.steps, values),
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
    kind = _name(family.operations[-1])
    answer_kind = _KINDS.get(family.answer_type, AnswerKind.VALUE)
    return _Template(
        family=family,
        types=tuple(param.type for param in family.params),
        choices=tuple(spec.language.values(param.type) for param in family.params),
        descriptions=tuple(
            operation.params[1:] for operation in family.operations if operation.op in (Op.FILTER, Op.RELATE_FILTER)
        ),
        steps=tuple(_steps(family.operations)),
        kind=kind,
        answers=tuple(Answer(answer, answer_kind) for answer in family.answers),
    )


def _name(operation: Operation) -> str:
    if operation.op in _VERBS:
        return f"{_VERBS[operation.op]}_{ATTRIBUTES[operation.attribute]}"
    return _NAMES[operation.op]


def _steps(operations: Sequence[Operation]) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Return basic steps (function, inputs, parameters); one with an unset parameter is left out when it is used.

    Inputs are positions in this list.
    """
    steps: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
    last: list[int] = []
    for operation in operations:
        inputs = tuple(last[source] for source in operation.inputs)
        if operation.op in (Op.FILTER, Op.RELATE_FILTER):
            if operation.op == Op.RELATE_FILTER:
                steps.append(("relate", inputs, operation.params[:1]))
                inputs = (len(steps) - 1,)
            for attribute, param in zip(ATTRIBUTES, operation.params[1:], strict=True):
                steps.append((f"filter_{attribute}", inputs, (param,)))
                inputs = (len(steps) - 1,)
        else:
            params = tuple(param for param in operation.params if param >= 0)
            steps.append((_name(operation), inputs, params))
        last.append(len(steps) - 1)
    return steps


def _program(steps: Sequence[tuple[str, tuple[int, ...], tuple[int, ...]]], values: Sequence[str | None]) -> Program:
    """Return the steps whose parameters are set, renumbered; one left out hands its input on."""
    program: list[Step] = []
    place: list[int] = []
    for function, inputs, params in steps:
        if params:
            value = values[params[0]]
            if value is None:
                place.append(place[inputs[0]])
                continue
            program.append(Step(function, (place[inputs[0]],), (value,)))
        else:
            program.append(Step(function, tuple([place[source] for source in inputs])))
        place.append(len(program) - 1)
    return tuple(program)


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
