"""Instantiation: values for a family's parameters that make a well-posed question on a scene.

A depth-first search over the operations of a lowered family, compiled. Object sets are bit masks. At every
operation the scene says which values are worth trying; the partial program is executed as it grows, and a branch
dies as soon as a reference isn't unique, a constraint fails, a relation is idle, or the answer isn't wanted.

References
----------
Johnson et al. 2017, CLEVR, section 3; the pruning rules of the original generator, less its known bugs.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.language.families import Family, Language, Mode, Op
from generation.engine.search.kernel import ask_family, ask_scene

Accept = Callable[[int, Sequence[int], int], bool]


class Objects(NamedTuple):
    """A scene as the search sees it.

    Attributes
    ----------
    codes : ndarray, shape (objects, attributes), int16
        Each object's value of each attribute, as a code of the language.
    related : ndarray, shape (relations, objects), uint64
        Bit `j` of `related[r, i]` is set where object `j` stands in relation `r` to object `i`.
    """

    codes: NDArray[np.int16]
    related: NDArray[np.uint64]


class Tables(NamedTuple):
    """Families as flat arrays; row `f` of `first` says where family `f`'s operations begin and end."""

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


class Rules(NamedTuple):
    """The knobs of asking, as numbers."""

    strict: bool
    trivial_share: float
    states: int
    ratio: float
    median_ratio: float
    median_floor: int


class SceneQuery(NamedTuple):
    """What a scene was asked.

    Attributes
    ----------
    families : ndarray, shape (questions,)
        Positions in the tuple of families.
    values : ndarray, shape (questions, parameters)
        Codes of the parameters' values, -1 where unset.
    answers : ndarray, shape (questions,)
        Codes in the family's `answers`.
    """

    families: NDArray[np.int64]
    values: NDArray[np.int64]
    answers: NDArray[np.int64]


def tables(families: Sequence[Family], *, language: Language) -> Tables:
    """Return families as the arrays the search reads."""
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
    """Return, as bits, the relations that must not be idle where operation `local` uses its set.

    Before `unique` that is every relation since the last `unique` that wasn't already checked when its value was
    chosen; before `count` and `exist` those that reach them through a union or bare.
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
    """Asks scenes of one batch: keeps which families were used and what they answered.

    Parameters
    ----------
    families : sequence of Family
    language : Language
    rules : Rules
    generator : numpy.random.Generator
        Over PCG64, of this batch.
    left : sequence of bool
        Which of the families may be asked; empty for all.
    """

    def __init__(
        self,
        families: Sequence[Family],
        *,
        language: Language,
        rules: Rules,
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
        """Return `wanted` questions of different families, the least used first; None if there aren't as many.

        Nothing is remembered of a scene that gives None.
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

        Of each family, up to `tries` questions are proposed to `accept`, with its position, the parameters' codes and
        the answer's; half as many with every scene in a row that only gave what was refused, but at least one. Neither
        use nor answers are remembered of a scene that gives too few.
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
    """Return a scene for the search: codes (objects, attributes), relation masks (relations, objects)."""
    return Objects(np.asarray(codes, np.int16), np.asarray(related, np.uint64))
