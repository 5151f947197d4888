"""What steps of programs give: a value, and the lines that it stands on."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from generation.engine.worlds.babi.story import Event, Line


class Fact(NamedTuple):
    """An event, and the line that tells it."""

    line: int
    event: Event


class StepResult(NamedTuple):
    """What a step gives.

    Attributes
    ----------
    value : object
        A word, a number, a tuple of words or of facts, by the step's type.
    lines : tuple of int
        The lines that it stands on, each once, in the order in which supporting facts are told: of a program's last
        step these are the question's supporting facts.
    """

    value: Any
    lines: tuple[int, ...]


class Prefix:
    """The lines that a question sees, as functions read them.

    Parameters
    ----------
    lines : sequence of Line
    scope : int or None
        How many of them; None for all.
    """

    __slots__ = ("facts", "lines")

    def __init__(self, lines: Sequence[Line], scope: int | None) -> None:
        self.lines = lines if scope is None else lines[:scope]
        self.facts = tuple([Fact(number, event) for number, line in enumerate(self.lines) for event in line.events])

    def upto(self, scope: int | None) -> Self:
        """Return what a question that sees so many lines reads; None for all."""
        if scope is None or scope >= len(self.lines):
            return self
        part = type(self)((), None)
        part.lines, part.facts = self.lines[:scope], self.facts[: bisect_left(self.facts, (scope,))]
        return part

    def with_antecedents(self, lines: Sequence[int]) -> tuple[int, ...]:
        """Return lines, each after the one that says whom its pronoun means; each once."""
        found: dict[int, None] = {}
        for line in lines:
            antecedent = self.lines[line].antecedent
            if antecedent is not None:
                found[antecedent] = None
            found[line] = None
        return tuple(found)


Words = Mapping[str, tuple[str, ...]]
