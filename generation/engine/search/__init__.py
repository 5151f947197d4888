"""Instantiation: searching values for a family's parameters that give a well-posed question about a scene.

This is a compiled depth-first search over the operations of a family. Sets of objects are bit masks. At every operation
the scene determines which values are tried. The partial program is executed while it grows, and a branch ends as soon
as a reference is not unique, a constraint fails, a relation is idle, or the answer is not wanted.

References
----------
Johnson et al. 2017, CLEVR, section 3; the pruning rules of the original generator, without its known bugs.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.language.families import Family, Language, Mode, Op
from generation.engine.search.search_kernel import ask_family, ask_scene

Accept = Callable[[int, Sequence[int], int], bool]


class Objects(NamedTuple):
    """A scene in the form that the search needs.

    Attributes
    ----------
    codes : ndarray, shape (objects, attributes), int16
        The code of each object's value of each attribute.
    related : ndarray, shape (relations, objects), uint64
        Bit `j` of `related[r, i]` is set if object `j` is in relation `r` to object `i`.
    """

    codes: NDArray[np.int16]
    related: NDArray[np.uint64]


class Tables(NamedTuple):
    """Families as flat arrays. Row `f` of `first` gives the start and the end of family `f`'s operations."""

    first: NDArray[np.int64]
    op: NDArray[np.int64]
    inputs: NDArray[np.int64]
    attribute: NDArray[np.int64]
    mode: NDArray[np.int64]
    params: NDArray[np.int64]
    null: NDArray[np.int64]
    drops: NDArray[np.int64]
    differ: NDArray[np.int64]
    unequal: NDArray[np.int64]
    answers: NDArray[np.int64]
    bare: NDArray[np.bool_]
    sizes: NDArray[np.int64]


class SearchRules(NamedTuple):
    """The settings of the search, as numbers."""

    strict: bool
    trivial_share: float
    states: int
    ratio: float
    median_ratio: float
    median_floor: int


class SceneQuery(NamedTuple):
    """The questions that were found for a scene.

    Attributes
    ----------
    families : ndarray, shape (questions,)
        Positions in the tuple of families.
    values : ndarray, shape (questions, parameters)
        Codes of the parameters' values; -1 if unset.
    answers : ndarray, shape (questions,)
        Codes in the family's `answers`.
    """

    families: NDArray[np.int64]
    values: NDArray[np.int64]
    answers: NDArray[np.int64]


def tables(families: Sequence[Family], *, language: Language) -> Tables:
    """Return families as the arrays that the search reads."""
    total = sum(len(family.operations) for family in families)
    slots = len(language.attributes) + 1
    pairs = max((max(len(family.differ), len(family.unequal)) for family in families), default=0)
    made = Tables(
        first=np.zeros((len(families), 2), np.int64),
        op=np.zeros(total, np.int64),
        inputs=np.full((total, 2), -1, np.int64),
        attribute=np.zeros(total, np.int64),
        mode=np.zeros(total, np.int64),
        params=np.full((total, slots), -1, np.int64),
        null=np.zeros(total, np.int64),
        drops=np.zeros(total, np.int64),
        differ=np.full((len(families), max(pairs, 1), 2), -1, np.int64),
        unequal=np.full((len(families), max(pairs, 1), 2), -1, np.int64),
        answers=np.array([len(family.answers) if family.askable else 0 for family in families], np.int64),
        bare=np.array([any(o.op == Op.RELATE for o in family.operations) for family in families], np.bool_),
        sizes=np.array([len(values) for _, values in language.attributes], np.int64),
    )
    at = 0
    for number, family in enumerate(families):
        made.first[number] = at, at + len(family.operations)
        for pair, (one, two) in enumerate(family.differ):
            made.differ[number, pair] = one, two
        for pair, (one, two) in enumerate(family.unequal):
            made.unequal[number, pair] = one, two
        for local, operation in enumerate(family.operations):
            made.op[at] = operation.op
            made.inputs[at, : len(operation.inputs)] = operation.inputs
            made.attribute[at] = operation.attribute
            made.mode[at] = operation.mode
            made.params[at, : len(operation.params)] = operation.params
            made.null[at] = operation.null
            made.drops[at] = _drops(family, local)
            at += 1
    return made


def _drops(family: Family, local: int) -> int:
    """Return, as bits, the relations that must not be idle when operation `local` uses its set.

    For `unique` these are all relations since the last `unique` that were not checked when their value was chosen. For
    `count` and `exist` these are the relations that reach them through a union or without a filter.
    """
    operation = family.operations[local]
    if operation.op not in (Op.UNIQUE, Op.COUNT, Op.EXIST):
        return 0
    found = 0
    waiting = list(operation.inputs)
    while waiting:
        at = waiting.pop()
        source = family.operations[at]
        if source.op == Op.UNIQUE:
            continue
        bare = source.op in (Op.RELATE, Op.SAME)
        filtered = source.op == Op.RELATE_FILTER and source.mode == Mode.SET
        if bare or filtered:
            found |= 1 << at
        else:
            waiting.extend(source.inputs)
    return found


class Searcher:
    """Finds questions for the scenes of one batch, and counts the uses and answers of each family.

    Parameters
    ----------
    families : sequence of Family
    language : Language
    rules : SearchRules
    generator : numpy.random.Generator
        Uses PCG64; one for each batch.
    left : sequence of bool
        Whether each family may be used; empty if all may.
    """

    def __init__(
        self,
        families: Sequence[Family],
        *,
        language: Language,
        rules: SearchRules,
        generator: np.random.Generator,
        left: Sequence[bool] = (),
    ) -> None:
        self.tables = tables(families, language=language)
        for number, is_left in enumerate(left):
            self.tables.answers[number] *= is_left
        self.rules = rules
        self.generator = generator
        self.width = max(len(family.params) for family in families)
        self.used = np.zeros(len(families), np.int64)
        self.idle = np.zeros(len(families), np.int64)
        self.answers = np.zeros((len(families), max(len(family.answers) for family in families)), np.int64)
        self.refused = [0] * len(families)

    def ask(self, objects: Objects, *, wanted: int) -> SceneQuery | None:
        """Return `wanted` questions from different families, the least used first; None if there are not enough.

        If it returns None, no count changes.
        """
        found, families, values, answers, idle = ask_scene(
            objects.codes,
            objects.related,
            self.tables,
            self.rules,
            wanted,
            self.width,
            self.used,
            self.idle,
            self.answers,
            self.generator,
        )
        if found < wanted:
            return None
        self.used[families] += 1
        self.idle[families] += idle
        self.answers[families, answers] += 1
        return SceneQuery(families, values, answers)

    def ask_such(self, objects: Objects, *, wanted: int, accept: Accept, tries: int) -> bool:
        """Return whether `wanted` questions of different families were accepted, the least used families first.

        For each family, up to `tries` questions are proposed to `accept` with the family's position, the parameters'
        codes and the answer's code. This number is halved after each scene on which the family's questions were all
        refused, but is at least one. If it returns False, the counts of uses and answers do not change.
        """
        order = np.argsort([used + self.generator.random() for used in self.used.tolist()])
        found: list[tuple[int, int, bool]] = []
        for family in order.tolist():
            if len(found) == wanted:
                break
            if self.tables.answers[family] and (one := self._such(objects, family, accept, tries)) is not None:
                found.append(one)
        if len(found) < wanted:
            return False
        for family, answer, is_idle in found:
            self.used[family] += 1
            self.idle[family] += is_idle
            self.answers[family, answer] += 1
        return True

    def _such(self, objects: Objects, family: int, accept: Accept, tries: int) -> tuple[int, int, bool] | None:
        for _ in range(max(1, tries >> self.refused[family])):
            answer, is_idle, row = ask_family(
                objects.codes,
                objects.related,
                self.tables,
                self.rules,
                family,
                self.width,
                self.used[family],
                self.idle[family],
                self.answers[family],
                self.generator,
            )
            if answer < 0:
                return None
            if accept(family, row.tolist(), answer):
                self.refused[family] = 0
                return family, answer, is_idle
        self.refused[family] += 1
        return None


def objects(codes: Any, related: Sequence[Sequence[int]]) -> Objects:
    """Return a scene for the search from codes (objects, attributes) and relation masks (relations, objects)."""
    return Objects(np.asarray(codes, np.int16), np.asarray(related, np.uint64))
