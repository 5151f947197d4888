"""The records of published scenes and questions, as our items.

Two dialects are read: the release's (`function`, answers as texts, templates numbered through all files) and that of
the program it was made with (`type`, answers as JSON, a template's number within its file, a leaked `_output`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from generation.engine.errors import BadProgram, BadRecord, BadScene, IllPosed
from generation.engine.program import FunctionTable, Program, Step, from_json, outputs, typecheck
from generation.engine.reading import Fault, shortened, value_of
from generation.engine.streaming import records
from generation.engine.worlds import Answer, AnswerKind, Question
from generation.engine.worlds.clevr.functions import function_table
from generation.engine.worlds.clevr.scene import Scene, read_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES

SPOKEN = {"true": "yes", "false": "no"}
MOST_STEPS = 100


class Placed(NamedTuple):
    """A record, the number of the picture it is about, and where it stands."""

    number: int
    record: Mapping[str, Any]
    where: str


class Asked(NamedTuple):
    """A question as it was read; `fault` is its own, without its place."""

    question: Question
    fault: Fault | None
    knows_family: bool


def placed(file: BinaryIO, key: str, *, name: str) -> Iterator[Placed]:
    """Yield the records of a file, which go by the numbers of their pictures; raise `BadRecord` where they don't."""
    least, step = 0, 0 if key == "questions" else 1
    for place, record in enumerate(records(file, key, where=name)):
        where = f"{name}, {key}[{place}]"
        number = value_of(record, "image_index", int, where=where)
        if number < least:
            raise BadRecord(
                f"Expected records in the order of their pictures, here from {least}, got {number}. Sort them by it.",
                where=f"{where}, image_index",
            )
        least = number + step
        yield Placed(number, record, where)


def image_name(record: Mapping[str, Any], *, where: str) -> str:
    """Return the file name of a record's picture; empty where it has none. It names no folder."""
    if record.get("image_filename") is None:
        return ""
    name: str = value_of(record, "image_filename", str, where=where)
    if "/" in name or "\\" in name or "\0" in name or name.startswith(".") or len(name) > 200:
        raise BadRecord(
            f"Expected a file name without folders, got {shortened(name)}.", where=f"{where}, image_filename"
        )
    return name


class Records:
    """Reads records under a spec, whose vocabulary and templates they must keep to.

    Parameters
    ----------
    spec : ClevrSpec
        With room for as many objects as there may be.
    """

    def __init__(self, spec: ClevrSpec) -> None:
        self.values = {name: frozenset(spec.vocabulary.values(name)) for name in ATTRIBUTES}
        self.most = spec.scene.objects_max
        self.table: FunctionTable = function_table(spec.vocabulary, most=self.most)
        self.answers = _answers(self.table)
        self.families = len(spec.families)
        self.steps: dict[tuple[Any, ...], Step] = {}  # met before, each by what it says; a million programs have few
        self.kinds: dict[tuple[Any, ...], str] = {}  # what programs give, by functions and inputs alone
        self.first_of: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        for family in spec.families:
            self.first_of.setdefault(family.source, family.number)
            self.sizes[family.source] = self.sizes.get(family.source, 0) + 1

    def scene(self, record: Mapping[str, Any], *, where: str) -> Scene:
        """Return the scene of a record; raise `BadRecord` naming what this vocabulary doesn't have."""
        try:
            scene = read_scene(record)
        except BadScene as error:
            raise BadRecord(error.reason, where=f"{where}, {error.where}") from error
        for number, thing in enumerate(scene.objects):
            for name in ATTRIBUTES:
                if (value := getattr(thing, name)) not in self.values[name]:
                    known = ", ".join(sorted(self.values[name]))
                    raise BadRecord(
                        f"Expected one of {known}, got {shortened(value)}.", where=f"{where}, objects[{number}].{name}"
                    )
        if len(scene.objects) > self.most:
            raise BadRecord(
                f"Expected at most {self.most} objects, got {len(scene.objects)}.", where=f"{where}, objects"
            )
        return scene

    def question(self, record: Mapping[str, Any], scene: Scene | None, *, position: int, where: str) -> Asked:
        """Return the question of a record about a scene, if there is one; `position` is its place in the split."""
        text = value_of(record, "question", str, where=where)
        program, kind = self._program(record, where=where)
        answer = self._answer(record, kind, where=where)
        family, known = self._family(record, where=where)
        index = record.get("question_index", position)
        question = Question(
            text=_plain(text, where=f"{where}, question"),
            program=program,
            answer=answer,
            kind=program[-1].function if program else "",
            family=family,
            source_id=None if index == position else str(index)[:100],
        )
        fault = None if program is None or scene is None else self._fault(program, kind, scene, answer)
        return Asked(question, fault, known)

    def _program(self, record: Mapping[str, Any], *, where: str) -> tuple[Program | None, str]:
        """Return a record's program and the type of what it gives."""
        if record.get("program") is None:
            return None, ""
        where = f"{where}, program"
        nodes = value_of(record, "program", list, where=where.rpartition(",")[0])
        try:
            known = self._known(nodes)
            program = known or from_json(nodes)
            kind = self.kinds.get(shape := tuple([step[:2] for step in program])) or typecheck(
                program, table=self.table
            )
        except BadProgram as error:
            raise BadRecord(error.reason, where=f"{where}, {error.where}" if error.where else where) from error
        if kind not in self.table.answer_kinds:
            raise BadRecord(f"Expected a program that gives an answer, got one that gives {kind}.", where=where)
        if shape not in self.kinds:
            _check_size(program, where=where)
            self.kinds[shape] = kind
        self.steps.update((step, step) for step in program if step not in self.steps)
        return program, kind

    def _known(self, nodes: Sequence[Any]) -> Program | None:
        """Return a program whose steps were all met before, in programs that were checked; None for another."""
        try:
            return tuple(
                [
                    self.steps[node.get("function") or node["type"], tuple(node["inputs"]), tuple(node["value_inputs"])]
                    for node in nodes
                ]
            )
        except (KeyError, TypeError, AttributeError):
            return None

    def _answer(self, record: Mapping[str, Any], kind: str, *, where: str) -> Answer | None:
        """Return a record's answer in our spelling, the published one beside it where that differs."""
        published = record.get("answer")
        if published is None:
            return None
        spelling = str(published).lower() if isinstance(published, bool) else str(published)
        text = SPOKEN.get(spelling.lower(), spelling)
        if isinstance(published, float | list | dict) or text not in self.answers:
            raise BadRecord(
                f"Expected yes, no, a number up to {self.most} or a word of our vocabulary, "
                f"got {shortened(published)}.",
                where=f"{where}, answer",
            )
        known = AnswerKind(self.table.answer_kinds[kind]) if kind else self.answers[text]
        return Answer(text, known, None if spelling == text else spelling)

    def _family(self, record: Mapping[str, Any], *, where: str) -> tuple[int | None, bool]:
        """Return a template's number among ours, and whether that is known of one that is named."""
        if record.get("question_family_index") is None:
            return None, True
        index = value_of(record, "question_family_index", int, where=where)
        file = record.get("template_filename")
        if file is None:
            if not 0 <= index < self.families:
                raise BadRecord(
                    f"Expected a template from 0 to {self.families - 1}, got {index}.",
                    where=f"{where}, question_family_index",
                )
            return index, True
        if 0 <= index < self.sizes.get(str(file), 0):
            return self.first_of[str(file)] + index, True
        return None, False

    def _fault(self, program: Program, kind: str, scene: Scene, answer: Answer | None) -> Fault | None:
        """Return what of a question isn't so on its scene."""
        got = "" if answer is None else answer.text
        try:
            result = outputs(program, scene, table=self.table)[-1]
        except IllPosed as error:
            return Fault(0, "no-answer", str(error), got)
        said = str(self.table.show(kind, result).value)
        return None if answer is None or said == answer.text else Fault(0, "answer", said, got)


def _answers(table: FunctionTable) -> dict[str, AnswerKind]:
    """Return the kind of every answer there can be."""
    found = {"yes": AnswerKind.YES_NO, "no": AnswerKind.YES_NO}
    for name, values in table.values.items():
        if name in table.answer_kinds:
            found.update(dict.fromkeys(values, AnswerKind(table.answer_kinds[name])))
    return found


def _check_size(program: Program, *, where: str) -> None:
    """Raise `BadRecord` for a program of too many steps, one that is used twice counted twice."""
    sizes: list[int] = []
    for step in program:
        sizes.append(1 + sum([sizes[source] for source in step.inputs]))
    if len(program) > MOST_STEPS or sizes[-1] > MOST_STEPS:
        raise BadRecord(f"Expected at most {MOST_STEPS} steps, got {max(len(program), sizes[-1])}.", where=where)


def _plain(text: str, *, where: str) -> str:
    """Return a text that databases can store."""
    if not text.strip() or "\0" in text:
        raise BadRecord(f"Expected words without NUL characters, got {shortened(text)}.", where=where)
    return text
