"""The answers that a family can have on any scene, for a vocabulary and a number of objects.

If all objects have the same shape, "Do the two agree in shape?" is always answered with yes. A family with one possible
answer asks nothing. The program of a family is executed on all scenes at once, with the sizes that its sets can have in
place of objects: a set of this many objects at least and that many at most. So no single case is listed here.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from generation.engine.language.families import Family, Language, Mode, Op, Operation


class Variety(NamedTuple):
    """What can differ between the objects of the scenes.

    Attributes
    ----------
    present : mapping of str to tuple of str
        For each attribute, the values that objects can have.
    least, most : int
        The numbers of objects in a scene.
    """

    present: Mapping[str, tuple[str, ...]]
    least: int
    most: int


class Sizes(NamedTuple):
    """The numbers that a set of objects, or a count, can be."""

    least: int
    most: int

    @property
    def is_fixed(self) -> bool:
        """Return whether there is only one possible number."""
        return self.least == self.most


class Impossible(Exception):
    """No scene of this many objects allows the family's questions."""


Value = Sizes | frozenset[str]
ONE_OBJECT = Sizes(1, 1)


def possible_answers(family: Family, language: Language, variety: Variety) -> frozenset[str]:
    """Return the answers that questions of a family can have; at most two of them, since one more is enough to ask.

    Parameters
    ----------
    family : Family
    language : Language
    variety : Variety

    Returns
    -------
    frozenset of str
        Empty if no scene allows such a question.
    """
    found: frozenset[str] = frozenset()
    for count in range(variety.most, variety.least - 1, -1):
        try:
            found |= _Execution(family, language, variety, count).answers()
        except Impossible:
            continue
        if len(found) > 1:
            break
    return found


class _Execution:
    """The execution of a family's program on all scenes with `count` objects."""

    def __init__(self, family: Family, language: Language, variety: Variety, count: int) -> None:
        self.family, self.language, self.variety, self.count = family, language, variety, count
        self.everything = Sizes(count, count)
        self.related = Sizes(0, count - 1)
        self.outputs: list[Value] = []

    def answers(self) -> frozenset[str]:
        """Return the answers; raise `Impossible`."""
        self._check_parameters()
        for number, operation in enumerate(self.family.operations):
            self.outputs.append(self._output(operation))
            for one, other in self.family.differ:
                if other == number:
                    self._check_differ(one, other)
        last = self.outputs[-1]
        return last if isinstance(last, frozenset) else frozenset(map(str, range(last.least, last.most + 1)))

    def _check_parameters(self) -> None:
        optional = {
            param
            for operation in self.family.operations
            if operation.op in (Op.FILTER, Op.RELATE_FILTER)
            for param in operation.params[1:]
        }
        for one, other in self.family.unequal:
            if not {one, other} & optional and len(self.language.values(self.family.params[one].type)) == 1:
                raise Impossible

    def _check_differ(self, one: int, other: int) -> None:
        """Raise `Impossible` if the outputs of two operations are the same on each scene."""
        first, second = self.outputs[one], self.outputs[other]
        kind = self.family.operations[one].op
        if kind == Op.UNIQUE:
            is_same = self.count < 2
        elif kind <= Op.INTERSECT:  # sets
            is_same = first == second and first in (self.everything, Sizes(0, 0))
        else:
            is_same = first == second and (len(first) == 1 if isinstance(first, frozenset) else first.is_fixed)
        if is_same:
            raise Impossible

    def _output(self, operation: Operation) -> Value:
        op, inputs = operation.op, [self.outputs[source] for source in operation.inputs]
        if op == Op.SCENE:
            return self.everything
        if op == Op.QUERY:
            return frozenset(self._present(operation.attribute))
        if op in (Op.EQUAL_VALUE, Op.EQUAL_OBJECT):
            return self._equal(operation, inputs)
        sizes = [value for value in inputs if isinstance(value, Sizes)]
        if op in (Op.FILTER, Op.FILTER_ONE, Op.RELATE, Op.RELATE_FILTER, Op.SAME, Op.UNION, Op.INTERSECT):
            return self._set(operation, sizes)
        if op == Op.UNIQUE:
            if not sizes[0].least <= 1 <= sizes[0].most:
                raise Impossible
            return ONE_OBJECT
        if op == Op.COUNT:
            return sizes[0]
        if op == Op.EXIST:
            return _truths(can_be_true=sizes[0].most > 0, can_be_false=sizes[0].least == 0)
        return _compared(op, *sizes)

    def _set(self, operation: Operation, sizes: Sequence[Sizes]) -> Sizes:
        if operation.op in (Op.FILTER, Op.FILTER_ONE):
            return Sizes(0, sizes[0].most) if self._can_exclude(operation) else sizes[0]
        if operation.op in (Op.RELATE, Op.RELATE_FILTER):
            return self.related
        if operation.op == Op.SAME:
            is_shared = len(self._present(operation.attribute)) == 1
            return Sizes(self.count - 1, self.count - 1) if is_shared else self.related
        one, other = sizes
        if one == other and one in (self.everything, Sizes(0, 0)):
            raise Impossible  # the search refuses a union or intersection of equal sets
        if operation.op == Op.UNION:
            return Sizes(max(one.least, other.least), min(self.count, one.most + other.most))
        return Sizes(max(0, one.least + other.least - self.count), min(one.most, other.most))

    def _can_exclude(self, operation: Operation) -> bool:
        """Return whether a filter can leave an object out: some attribute that it may name has two values."""
        named = [at for at, param in enumerate(operation.params[1:]) if param >= 0 and not operation.null >> at & 1]
        is_invented = operation.op == Op.FILTER_ONE or operation.mode in (Mode.COUNT, Mode.EXIST)
        values = [self.language.attributes[at][1] if is_invented else self._present(at) for at in named]
        return any(len(some) > 1 for some in values)

    def _present(self, attribute: int) -> tuple[str, ...]:
        return self.variety.present[self.language.names[attribute]]

    def _equal(self, operation: Operation, inputs: Sequence[Value]) -> frozenset[str]:
        one, other = sorted(operation.inputs)
        can_be_same = (one, other) not in self.family.differ
        if operation.op == Op.EQUAL_OBJECT:
            return _truths(can_be_true=can_be_same, can_be_false=self.count > 1)
        return _truths(can_be_true=can_be_same, can_be_false=any(len(values) > 1 for values in inputs))


def _truths(*, can_be_true: bool, can_be_false: bool) -> frozenset[str]:
    return frozenset(word for word, is_possible in (("yes", can_be_true), ("no", can_be_false)) if is_possible)


def _compared(op: Op, one: Sizes, other: Sizes) -> frozenset[str]:
    if op == Op.GREATER_THAN:
        one, other = other, one
    if op == Op.EQUAL_INTEGER:
        overlap = max(one.least, other.least) <= min(one.most, other.most)
        return _truths(can_be_true=overlap, can_be_false=not (one.is_fixed and one == other))
    return _truths(can_be_true=one.least < other.most, can_be_false=one.most >= other.least)


def reason_left_out(answers: frozenset[str]) -> str:
    """Return why a family with these possible answers is not asked; empty if it is asked."""
    if len(answers) > 1:
        return ""
    return f"the answer is always {next(iter(answers))}" if answers else "no scene allows such a question"
