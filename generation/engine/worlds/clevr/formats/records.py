"""The records of published scenes and questions, read as our items.

Two dialects are read. The release has `function`, answers as strings, and one numbering of all templates. The original
generator has `type`, answers as JSON values, a template's number within its file, and a `_output` that leaks results.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.errors import BadProgram, BadRecord, BadScene, IllPosed
from generation.engine.items import Answer, AnswerKind, Question
from generation.engine.program import FunctionTable, Program, Step, from_json, outputs, typecheck
from generation.engine.reading.dataset_reader import Fault, NormalisedAnswer, shorten, value_of
from generation.engine.reading.json_stream import JsonText, records
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary
from generation.engine.worlds.clevr.formats.split_files import KINDS, split_name
from generation.engine.worlds.clevr.programs import function_table
from generation.engine.worlds.clevr.scene import ClevrScene, read_published, read_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES

SPOKEN = {"true": "yes", "false": "no"}
AROUND = " .,;\"'`"
MOST_STEPS = 100
MOST_TEXT = 10_000  # characters of a question
MOST_INDEX = 100  # characters of a question's name
MOST_BITS = 1 << 27
FARTHEST = 1000.0  # scene units from the origin, along each axis
FARTHEST_PIXEL = 1e6
MOST_TURN = 1e6  # degrees or radians
OPPOSITES = (("left", "right"), ("behind", "front"))


class PlacedRecord(NamedTuple):
    """A record, the number of its picture, and its place in the file."""

    number: int
    record: Mapping[str, Any]
    where: str


class QuestionRecord(NamedTuple):
    """A question that was read; its `fault` does not know the question's position."""

    question: Question
    fault: Fault | None
    knows_family: bool


def read_placed(text: JsonText, key: str, *, name: str, split: str) -> Iterator[PlacedRecord]:
    """Yield the records of a file, which must all be of one split.

    Raises `BadRecord` if records are not in the order of their pictures' numbers, or if a question or picture repeats.
    """
    least, step = 0, 0 if key == "questions" else 1
    questions, pictures = Numbers(), set[str]()
    for place, record in enumerate(records(text, key, where=name, others=[kind for kind in KINDS if kind != key])):
        where = f"{name}, {key}[{place}]"
        number = value_of(record, "image_index", int, where=where)
        if number < least:
            raise BadRecord(
                f"Expected records in the order of their pictures, here from {least}, got {number}. Sort them by it, "
                f"each {'picture' if step else 'question'} once.",
                where=f"{where}, image_index",
            )
        least = number + step
        _check_split(record, split, name=name, where=where)
        if key == "questions":
            _check_index(record, questions, where=where)
        elif key == "scenes":
            _check_picture(record, pictures, where=where)
        yield PlacedRecord(number, record, where)


def _check_split(record: Mapping[str, Any], split: str, *, name: str, where: str) -> None:
    """Raise `BadRecord` if a record names another split than the file's."""
    said = record.get("split", split)
    if said != split and said is not None and (came := split_name(str(said), name)) != split:
        raise BadRecord(
            f"Expected records of {split} alone, as the first is, got one of {came}. Put each split into its own file.",
            where=f"{where}, split",
        )


def _check_index(record: Mapping[str, Any], met: "Numbers", *, where: str) -> None:
    """Raise `BadRecord` for a question's name that is malformed, or that an earlier question has."""
    index = record.get("question_index")
    if index is None:
        return
    where = f"{where}, question_index"
    if type(index) is not int and not (isinstance(index, str) and 0 < len(index) <= MOST_INDEX and "\0" not in index):
        raise BadRecord(
            f"Expected a whole number or a text of at most {MOST_INDEX} characters, got {shorten(index)}.",
            where=where,
        )
    if not met.add(index):
        raise BadRecord(
            f"Expected a number that no question before it has, got {shorten(index)} again. Give each its own.",
            where=where,
        )


def _check_picture(record: Mapping[str, Any], met: set[str], *, where: str) -> None:
    """Raise `BadRecord` for a scene whose picture has the file name of an earlier scene's picture."""
    name = image_name(record, where=where)
    stem = name.rpartition(".")[0] or name  # exports write pictures in their own format
    if stem in met:
        raise BadRecord(
            f"Expected a file name that no scene before it has, got {shorten(name)} again. Give each its own.",
            where=f"{where}, image_filename",
        )
    if stem:
        met.add(stem)


class Numbers:
    """The names of the questions read so far; small numbers take one bit each, to save memory."""

    def __init__(self) -> None:
        self.bits = bytearray()
        self.others: set[int | str] = set()

    def add(self, name: int | str) -> bool:
        """Add a name, and return whether it is new."""
        if isinstance(name, str) or not 0 <= name < MOST_BITS:
            is_new = name not in self.others
            self.others.add(name)
            return is_new
        byte, bit = name >> 3, 1 << (name & 7)
        if byte >= len(self.bits):
            self.bits.extend(bytes(byte - len(self.bits) + 1))
        is_new = not self.bits[byte] & bit
        self.bits[byte] |= bit
        return is_new


def image_name(record: Mapping[str, Any], *, where: str) -> str:
    """Return the file name of a record's picture, or an empty string; raise `BadRecord` for a name with folders."""
    if record.get("image_filename") is None:
        return ""
    name: str = value_of(record, "image_filename", str, where=where)
    if "/" in name or "\\" in name or "\0" in name or name.startswith(".") or len(name) > 200:
        raise BadRecord(f"Expected a file name without folders, got {shorten(name)}.", where=f"{where}, image_filename")
    return name


class Records:
    """Reads records, which must fit the vocabulary and the templates of a spec.

    Parameters
    ----------
    spec : ClevrSpec
        Its `objects_max` must be large enough for the scenes.
    rotation : str
        The unit of `rotation` in scenes: radians, as in the release, or degrees.
    """

    def __init__(self, spec: ClevrSpec, *, rotation: str = "radians") -> None:
        self.read_scene = read_published if rotation == "radians" else read_scene
        self.values = {name: frozenset(spec.vocabulary.values(name)) for name in ATTRIBUTES}
        self.most = spec.scene.objects_max
        self.table: FunctionTable = function_table(spec.vocabulary, most=self.most)
        self.answers = _answers(self.table)
        self.vocabulary = AnswerVocabulary(tuple(self.answers), synonyms=spec.vocabulary.synonyms)
        self.families = len(spec.families)
        self.steps: dict[tuple[Any, ...], Step] = {}  # of earlier programs, by content; they are few
        self.kinds: dict[tuple[Any, ...], str] = {}  # result types of programs, by their functions and inputs
        self.met: dict[tuple[str, str], Answer] = {}  # answers by their spelling and the type of their program
        self.first_of: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        for family in spec.families:
            self.first_of.setdefault(family.source, family.number)
            self.sizes[family.source] = self.sizes.get(family.source, 0) + 1

    def scene(self, record: Mapping[str, Any], *, where: str) -> ClevrScene:
        """Return the scene of a record; raise `BadRecord` for a value that the vocabulary does not have."""
        try:
            scene = self.read_scene(record)
        except BadScene as error:
            raise BadRecord(error.reason, where=f"{where}, {error.where}") from error
        for number, thing in enumerate(scene.objects):
            for name in ATTRIBUTES:
                if (value := getattr(thing, name)) not in self.values[name]:
                    known = ", ".join(sorted(self.values[name]))
                    raise BadRecord(
                        f"Expected one of {known}, got {shorten(value)}.", where=f"{where}, objects[{number}].{name}"
                    )
        if len(scene.objects) > self.most:
            raise BadRecord(
                f"Expected at most {self.most} objects, got {len(scene.objects)}.", where=f"{where}, objects"
            )
        _check_places(scene, where=where)
        for one, other in OPPOSITES:
            _check_related(scene, one, other, where=where)
        return scene

    def question(
        self, record: Mapping[str, Any], scene: ClevrScene | None, *, position: int, where: str
    ) -> QuestionRecord:
        """Return a record's question; `scene` is None if unknown, `position` is the question's place in the split."""
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
            source_id=None if index == position or index is None else str(index),
        )
        fault = None if program is None or scene is None else self._fault(program, kind, scene, answer)
        return QuestionRecord(question, fault, known)

    def _program(self, record: Mapping[str, Any], *, where: str) -> tuple[Program | None, str]:
        """Return a record's program and the type of its result, or None and "" if it has no program."""
        if record.get("program") is None:
            return None, ""
        where = f"{where}, program"
        nodes = value_of(record, "program", list, where=where.rpartition(",")[0])
        try:
            known = self._known_program(nodes)
            program = known or from_json(nodes)
            shape = tuple([step[:2] for step in program])
            kind = (known and self.kinds.get(shape)) or typecheck(program, table=self.table)
        except BadProgram as error:
            raise BadRecord(error.reason, where=f"{where}, {error.where}" if error.where else where) from error
        if kind not in self.table.answer_kinds:
            raise BadRecord(f"Expected a program that gives an answer, got one that gives {kind}.", where=where)
        if shape not in self.kinds:
            _check_size(program, where=where)
            self.kinds[shape] = kind
        self.steps.update((step, step) for step in program if step not in self.steps)
        return program, kind

    def _known_program(self, nodes: Sequence[Any]) -> Program | None:
        """Return a program from steps of earlier, checked programs, or None if one of its steps is new."""
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
        """Return a record's answer in our spelling, with the published one if it differs; None if there is none."""
        published = record.get("answer")
        if published is None:
            return None
        if type(published) is not str:
            return self._new_answer(published, kind, where=where)
        if (published, kind) not in self.met:
            self.met[published, kind] = self._new_answer(published, kind, where=where)
        return self.met[published, kind]

    def _new_answer(self, published: Any, kind: str, *, where: str) -> Answer:
        spelling = str(published).lower() if isinstance(published, bool) else str(published)
        text = SPOKEN.get(spelling.lower(), spelling)
        if text not in self.answers and not isinstance(published, list | dict):
            code = self.vocabulary.code(text.strip(AROUND))
            text = text if code == OUTSIDE else self.vocabulary.answers[code]
        if isinstance(published, list | dict) or text not in self.answers:
            raise BadRecord(
                f"Expected yes, no, a number up to {self.most} or a word of our vocabulary, got {shorten(published)}.",
                where=f"{where}, answer",
            )
        known = AnswerKind(self.table.answer_kinds[kind]) if kind else self.answers[text]
        return Answer(text, known, None if spelling == text else spelling)

    def _family(self, record: Mapping[str, Any], *, where: str) -> tuple[int | None, bool]:
        """Return a template's number among ours, or None, and whether the record's template is known."""
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

    def _fault(self, program: Program, kind: str, scene: ClevrScene, answer: Answer | None) -> Fault | None:
        """Return what is wrong with a question on its scene, or None."""
        got = "" if answer is None else answer.text
        try:
            result = outputs(program, scene, table=self.table)[-1]
        except IllPosed as error:
            return Fault(0, "no-answer", str(error), got)
        said = str(self.table.show(kind, result).value)
        return None if answer is None or said == answer.text else Fault(0, "answer", said, got)


def normalised(answer: Answer | None) -> NormalisedAnswer | None:
    """Return how an answer changed, or None. The original generator writes true for yes, which is no change."""
    if answer is None or answer.spelling is None or answer.spelling in SPOKEN:
        return None
    return NormalisedAnswer(answer.spelling, answer.text)


def _check_places(scene: ClevrScene, *, where: str) -> None:
    """Raise `BadRecord` for numbers that are too large to compute or draw with."""
    for number, thing in enumerate(scene.objects):
        own = f"{where}, objects[{number}]"
        _check_range(thing.coords, FARTHEST, where=f"{own}.3d_coords", unit=" scene units")
        _check_range(thing.pixel_coords, FARTHEST_PIXEL, where=f"{own}.pixel_coords")
        turn = thing.rotation if thing.published_rotation is None else thing.published_rotation
        _check_range((turn,), MOST_TURN, where=f"{own}.rotation")
    for name, vector in scene.directions.items():
        _check_range(vector, FARTHEST, where=f"{where}, directions.{name}", unit=" scene units")


def _check_range(values: Sequence[float], most: float, *, where: str, unit: str = "") -> None:
    if max(values) > most or min(values) < -most:
        came = max(values, key=abs)
        raise BadRecord(f"Expected numbers from {-most:,.0f} to {most:,.0f}{unit}, got {came:g}.", where=where)


def _check_related(scene: ClevrScene, one: str, other: str, *, where: str) -> None:
    """Raise `BadRecord` unless a relation is the inverse of its opposite, and relates each two objects at most once."""
    rows, masks, opposite = scene.relationships[one], scene.masks[one], scene.masks[other]
    for name in (one, other):
        for number, row in enumerate(scene.relationships[name]):
            own = f"{where}, relationships.{name}[{number}]"
            if number in row:
                raise BadRecord(f"Expected other objects than {number} itself, got {list(row)}.", where=own)
            if len(set(row)) != len(row):
                raise BadRecord(f"Expected each object once, got {list(row)}.", where=own)
    for number, row in enumerate(rows):
        if both := masks[number] & opposite[number]:
            raise BadRecord(
                f"Expected each object on one side of object {number}, got object {_lowest(both)} both in {one} and in "
                f"{other}. Work the relations out from 3d_coords again.",
                where=f"{where}, relationships.{one}[{number}]",
            )
        for there in row:
            if not opposite[there] >> number & 1:
                raise _one_sided(one, other, number, there, where=where)
    for number, row in enumerate(scene.relationships[other]):
        for there in row:
            if not masks[there] >> number & 1:
                raise _one_sided(other, one, number, there, where=where)


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _one_sided(one: str, other: str, here: int, there: int, *, where: str) -> BadRecord:
    return BadRecord(
        f"Expected object {here} in relationships.{other}[{there}], as object {there} is in "
        f"relationships.{one}[{here}], got a list without it. Work the relations out from 3d_coords again.",
        where=f"{where}, relationships.{other}[{there}]",
    )


def _answers(table: FunctionTable) -> dict[str, AnswerKind]:
    """Return the kind of every possible answer."""
    found = {"yes": AnswerKind.YES_NO, "no": AnswerKind.YES_NO}
    for name, values in table.values.items():
        if name in table.answer_kinds:
            found.update(dict.fromkeys(values, AnswerKind(table.answer_kinds[name])))
    return found


def _check_size(program: Program, *, where: str) -> None:
    """Raise `BadRecord` for a program with too many steps; a step that is used twice counts twice."""
    sizes: list[int] = []
    for step in program:
        sizes.append(1 + sum([sizes[source] for source in step.inputs]))
    if len(program) > MOST_STEPS or sizes[-1] > MOST_STEPS:
        raise BadRecord(f"Expected at most {MOST_STEPS} steps, got {max(len(program), sizes[-1])}.", where=where)


def _plain(text: str, *, where: str) -> str:
    """Return a text if databases can store it and pages can show it; otherwise raise `BadRecord`."""
    if len(text) > MOST_TEXT:
        raise BadRecord(f"Expected at most {MOST_TEXT:,} characters, got {len(text):,}.", where=where)
    if not text.strip() or "\0" in text:
        raise BadRecord(f"Expected words without NUL characters, got {shorten(text)}.", where=where)
    return text
