"""Proofs of CLEVR's questions: each program fits its family, the text is a wording of it, and answers are balanced.

Programs are read back into the parameters of their family. Constraints, idle relations and the balance of answers are
then checked on the results of the steps, which plain Python computes. Nothing of the compiled search is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.items import Question
from generation.engine.language.families import Family, Op, Operation
from generation.engine.language.text_recognition import Listener
from generation.engine.program import FunctionTable, Program
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.clevr.programs import function_table
from generation.engine.worlds.clevr.proofs.balance import Balance
from generation.engine.worlds.clevr.proofs.degenerate_questions import idle_relations, is_degenerate
from generation.engine.worlds.clevr.question_text import lexicon
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES

FILTERS = (Op.FILTER, Op.RELATE_FILTER)
VERBS = {Op.SAME: "same", Op.QUERY: "query", Op.EQUAL_VALUE: "equal", Op.FILTER_ONE: "filter"}


class ProgramReading(NamedTuple):
    """A program as an instance of its family.

    Attributes
    ----------
    values : mapping of int to str or None
        The value of each parameter.
    ends : tuple of int
        For each operation, the number of the program's step that gives its result.
    """

    values: Mapping[int, str | None]
    ends: tuple[int, ...]


class QuestionProver:
    """Proves generated questions, scene by scene, chunk by chunk.

    Parameters
    ----------
    spec : ClevrSpec
        The spec of the split.
    """

    def __init__(self, spec: ClevrSpec) -> None:
        self.spec = spec
        self.families = {family.number: family for family in spec.families}
        self.table: FunctionTable = function_table(spec.vocabulary, most=spec.scene.objects_max)
        self.listener = Listener(lexicon(spec.vocabulary), optional_words=spec.questions.optional_words)
        self.strict = spec.questions.degeneracy == "reference"
        self.begin()

    def begin(self) -> None:
        """Start a chunk, with no answers counted yet."""
        self.balance = Balance(self.spec.questions, strict=self.strict)

    def prove(
        self, scene: ClevrScene, questions: Sequence[Question], given: Sequence[Outputs | None], proof: Proof
    ) -> None:
        """Prove the questions about one scene; `given` has the results of each program's steps."""
        proof.same("families", self.spec.questions.per_scene, len(questions), what="questions about the scene: ")
        asked: dict[int, int] = {}
        for number, question in enumerate(questions):
            family = self.families.get(-1 if question.family is None else question.family)
            if family is None:
                proof.flaw("families", "a family of the spec", question.family, question=number)
                continue
            before = asked.setdefault(family.number, number)
            if before != number:
                proof.flaw("families", "another family than before", f"{family.number} again", question=number)
            if question.program is None or question.answer is None:
                proof.leave("families of questions without program or answer")
                continue
            outputs = given[number]
            if outputs is not None:  # otherwise the check `programs` has reported it
                self._prove(family, scene, question, outputs, number, proof)
        self.balance.settle()

    def _prove(
        self, family: Family, scene: ClevrScene, question: Question, given: Outputs, number: int, proof: Proof
    ) -> None:
        program = question.program
        assert program is not None and question.answer is not None
        reading = read_back(program, family)
        if reading is None:
            proof.flaw("families", f"a program of family {family.number}", _short(program), question=number)
            return
        wrong = broken_rule(family, reading, given, scene)
        proof.hold("families", not wrong, wrong, _short(program), question=number)
        is_idle = self._prove_use(family, program, given, scene, number, proof)
        self._prove_text(family, reading, question, number, proof)
        answer = question.answer.text
        if answer in family.answers:
            refused = self.balance.refusal(family, answer, is_idle=is_idle)
            proof.hold("balance", not refused, refused, f"answer {answer} of family {family.number}", question=number)
        else:
            proof.flaw("vocabulary", f"an answer of family {family.number}", answer, question=number)

    def _prove_use(
        self, family: Family, program: Program, given: Sequence[Any], scene: ClevrScene, number: int, proof: Proof
    ) -> bool:
        """Prove that no relation is idle that must not be; return whether one is that may be in some questions."""
        found = idle_relations(program, given, scene, table=self.table)
        if not self.strict:
            bare = any(operation.op == Op.RELATE for operation in family.operations)
            wrong = bare and is_degenerate(program, given, scene, table=self.table)
            proof.hold("degeneracy", not wrong, "an answer that needs every relation", _short(program), question=number)
            return found.before_count
        expected = "relations without each of which an object is no longer told, and sets that differ where joined"
        proof.hold(
            "degeneracy", not (found.before_unique or found.joins_alike), expected, _short(program), question=number
        )
        return found.before_count

    def _prove_text(
        self, family: Family, reading: ProgramReading, question: Question, number: int, proof: Proof
    ) -> None:
        values = [reading.values.get(param) for param in range(len(family.params))]
        types = [param.type for param in family.params]
        alike = could_be_one(family, values)
        heard = any(
            self.listener.hears(question.text, wording, types=types, values=values, alike=alike)
            for wording in family.wordings
        )
        said = ", ".join(value for value in values if value is not None)
        expected = f"a wording of family {family.number} with {said or 'nothing set'}"
        proof.hold("texts", heard, expected, question.text, question=number)


def read_back(program: Program, family: Family) -> ProgramReading | None:
    """Return a program as an instance of a family, or None if it is not one."""
    return next(_readings(program, family.operations, 0, {}, ()), None)


def _readings(
    program: Program, waiting: Sequence[Operation], at: int, values: Mapping[int, str | None], ends: tuple[int, ...]
) -> Iterator[ProgramReading]:
    """Yield every way to read the steps from `at` on as the remaining operations."""
    if not waiting:
        if at == len(program):
            yield ProgramReading(values, ends)
        return
    for after, end, bound in _steps_of(program, waiting[0], at, ends):
        yield from _readings(program, waiting[1:], after, {**values, **bound}, (*ends, end))


def _steps_of(
    program: Program, operation: Operation, at: int, ends: Sequence[int]
) -> Iterator[tuple[int, int, dict[int, str | None]]]:
    """Yield, for each way to read an operation at a step: the next step, the operation's last step, and its values."""
    inputs = tuple([ends[source] for source in operation.inputs])
    if operation.op == Op.FILTER:
        yield from _filters(program, operation, at, inputs[0], 0, {})
        return
    name = "relate" if operation.op == Op.RELATE_FILTER else _name(operation)
    if at == len(program) or program[at].function != name or program[at].inputs != inputs:
        return
    params = operation.params[:1] if operation.op == Op.RELATE_FILTER else _set_params(operation)
    bound: dict[int, str | None] = dict(zip(params, program[at].values, strict=False))
    if len(bound) != len(params):
        return
    if operation.op == Op.RELATE_FILTER:
        yield from _filters(program, operation, at + 1, at, 0, bound)
    else:
        yield at + 1, at, bound


def _filters(
    program: Program, operation: Operation, at: int, end: int, slot: int, bound: dict[int, str | None]
) -> Iterator[tuple[int, int, dict[int, str | None]]]:
    """Yield the ways to read the filters of one description from attribute `slot` on, the longest first."""
    if slot == len(ATTRIBUTES):
        yield at, end, bound
        return
    param = operation.params[1 + slot]
    if at < len(program) and param >= 0:
        step = program[at]
        if step.function == f"filter_{ATTRIBUTES[slot]}" and step.inputs == (end,) and len(step.values) == 1:
            yield from _filters(program, operation, at + 1, at, slot + 1, {**bound, param: step.values[0]})
    yield from _filters(program, operation, at, end, slot + 1, {**bound, param: None} if param >= 0 else bound)


def _name(operation: Operation) -> str:
    if operation.op in VERBS:
        return f"{VERBS[operation.op]}_{ATTRIBUTES[operation.attribute]}"
    return operation.op.name.lower()


def _set_params(operation: Operation) -> tuple[int, ...]:
    return tuple(param for param in operation.params if param >= 0)


def broken_rule(family: Family, reading: ProgramReading, given: Sequence[Any], scene: ClevrScene) -> str:
    """Return the rule of its family that an instance breaks, in words, or an empty string if it breaks none."""
    values, ends = reading
    for one, two in family.differ:
        if given[ends[one]] == given[ends[two]]:
            return f"different outcomes of operations {one} and {two} of family {family.number}"
    for one, two in family.unequal:
        if values.get(one) == values.get(two):
            return f"different values of {family.params[one].name} and {family.params[two].name}"
    for operation, end in zip(family.operations, ends, strict=True):
        if operation.op in FILTERS:
            wrong = _broken_description(operation, values, given[end], scene)
            if wrong:
                return wrong
    return ""


def _broken_description(operation: Operation, values: Mapping[int, str | None], members: int, scene: ClevrScene) -> str:
    said = {
        attribute: values.get(param)
        for attribute, param in zip(ATTRIBUTES, operation.params[1:], strict=True)
        if values.get(param) is not None
    }
    for bit, attribute in enumerate(ATTRIBUTES):
        if operation.null >> bit & 1 and attribute in said:
            return f"no {attribute} where the question is about it"
    mode = operation.mode.name
    if operation.op == Op.FILTER:
        return "a description that says something" if mode == "SET" and not said else ""
    fits = any(all(getattr(thing, name) == value for name, value in said.items()) for thing in scene.objects)
    if not fits:
        return "a description that some object fits"
    return "a relation in which some object stands" if mode == "SET" and not members else ""


def could_be_one(family: Family, values: Sequence[str | None]) -> bool:
    """Return whether one object could fit both descriptions, as `other` needs; True if there are not two of them."""
    described = [operation.params[1:] for operation in family.operations if operation.op in FILTERS]
    if len(described) != 2:
        return True
    pairs = [(values[one], values[two]) for one, two in zip(*described, strict=True) if one >= 0 and two >= 0]
    return all(one is None or two is None or one == two for one, two in pairs)


def _short(program: Program) -> str:
    return " > ".join(f"{step.function}{list(step.values) if step.values else ''}" for step in program)
