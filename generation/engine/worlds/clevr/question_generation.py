"""Questions about CLEVR's scenes: parameters that the search finds become programs, answers and sentences."""

from collections.abc import Sequence
from typing import NamedTuple

from generation.engine.items import Answer, AnswerKind, Question
from generation.engine.language.families import Family, Op
from generation.engine.language.wording import Speaker
from generation.engine.search import Objects, Searcher, SearchRules
from generation.engine.seeding import Stream
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.facets import SEEN_IN_SCENE, values_of
from generation.engine.worlds.clevr.programs import ProgramTemplate, name_of, program_of, templates
from generation.engine.worlds.clevr.question_rules import left_out, possible, question_rules
from generation.engine.worlds.clevr.question_text import lexicon
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec

TRIES = 30  # questions of a family that are tried on a scene if rules refuse them
VIEW = View()
_KINDS = {"Bool": AnswerKind.YES_NO, "Integer": AnswerKind.INTEGER}


class _Template(NamedTuple):
    """The parts of a family that are the same for all its questions."""

    family: Family
    types: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]
    descriptions: tuple[tuple[int, ...], ...]
    steps: tuple[ProgramTemplate, ...]
    kind: str
    answers: tuple[Answer, ...]


class Asker:
    """Asks questions about the scenes of one chunk, and keeps the answers balanced.

    Parameters
    ----------
    spec : ClevrSpec
    search, words : Stream
        Random numbers for finding questions, and for wording them.

    Attributes
    ----------
    has_rules : bool
        Whether the spec has rules over questions.
    """

    def __init__(self, spec: ClevrSpec, *, search: Stream, words: Stream) -> None:
        self.spec = spec
        self.words = words
        self.speaker = Speaker(lexicon(spec.vocabulary), optional_words=spec.questions.optional_words)
        self.templates = spec.once("templates", lambda: [_template(family, spec) for family in spec.families])
        self.wanted = question_rules(spec)
        self.has_rules = bool(self.wanted.names)
        values = spec.once("possible values", lambda: [possible(spec, family) for family in spec.families])
        trivial = left_out(spec)
        left = [
            family.number not in trivial and self.wanted.may_allow(one)
            for family, one in zip(spec.families, values, strict=True)
        ]
        self.searcher = Searcher(
            spec.families, language=spec.language, rules=_rules(spec), generator=search.generator, left=left
        )
        self.families_say_all = all(
            self.wanted.must_allow(one) for one, is_left in zip(values, left, strict=True) if is_left
        )

    def ask(self, scene: ClevrScene, view: View = VIEW) -> tuple[Question, ...] | None:
        """Return the scene's questions, or None if there are too few; only rules about the picture need the view."""
        objects, per_scene = scene.for_search(self.spec.vocabulary), self.spec.questions.per_scene
        if not self.families_say_all:
            return self._ask_by_rules(objects, scene, view)
        asked = self.searcher.ask(objects, wanted=per_scene)
        if asked is None:
            return None
        found = zip(asked.families.tolist(), asked.values.tolist(), asked.answers.tolist(), strict=True)
        return tuple(self._question(self.templates[family], codes, answer) for family, codes, answer in found)

    def _ask_by_rules(self, objects: Objects, scene: ClevrScene, view: View) -> tuple[Question, ...] | None:
        """Return questions that the rules allow, or None if too few were found."""
        found: list[Question] = []
        say_first = "words" in self.wanted.names
        looked_at = scene if self.wanted.names & SEEN_IN_SCENE else None

        def accept(family: int, codes: Sequence[int], answer: int) -> bool:
            question = self._question(self.templates[family], codes, answer, is_said=say_first)
            [values] = values_of(self.spec, looked_at, view, [question])
            if not self.wanted.allows(values):
                return False
            found.append(question if say_first else self._question(self.templates[family], codes, answer))
            return True

        wanted = self.spec.questions.per_scene
        return tuple(found) if self.searcher.ask_such(objects, wanted=wanted, accept=accept, tries=TRIES) else None

    def _question(self, template: _Template, codes: Sequence[int], answer: int, *, is_said: bool = True) -> Question:
        values = [choices[code] if code >= 0 else None for choices, code in zip(template.choices, codes, strict=False)]
        return Question(
            text=self._say(template, values) if is_said else "",
            program=program_of(template.steps, values),
            answer=template.answers[answer],
            kind=template.kind,
            family=template.family.number,
        )

    def _say(self, template: _Template, values: Sequence[str | None]) -> str:
        return self.speaker.say(
            self.words.choice(template.family.wordings),
            types=template.types,
            values=values,
            alike=_alike(template.descriptions, values),
            stream=self.words,
        )


def _rules(spec: ClevrSpec) -> SearchRules:
    parameters = spec.questions
    return SearchRules(
        strict=parameters.degeneracy == "reference",
        trivial_share=parameters.trivial_share,
        states=parameters.search_states,
        ratio=parameters.balance.ratio,
        median_ratio=parameters.balance.median_ratio,
        median_floor=parameters.balance.median_floor,
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
    """Return whether one object could fit both descriptions; True unless there are exactly two descriptions."""
    if len(descriptions) != 2:
        return True
    for one, two in zip(*descriptions, strict=True):
        if one >= 0 and two >= 0:
            first, second = values[one], values[two]
            if first is not None and second is not None and first != second:
                return False
    return True
