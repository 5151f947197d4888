"""The results of program steps: a value, and the lines that support it."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from generation.engine.worlds.babi.story import Event, Line


class Fact(NamedTuple):
    """An event, and the number of its line."""

    line: int
    event: Event


class StepResult(NamedTuple):
    """The result of a step.

    Attributes
    ----------
    value : object
        A word, a number, a fact, or a tuple of words or facts, depending on the step's type.
    lines : tuple of int
        The supporting lines, each once, in the order in which supporting facts are given. Those of a program's last
        step are the question's supporting facts.
    """

    value: Any
    lines: tuple[int, ...]


class Prefix:
    """The lines that a question may use, in the form that functions take.

    Parameters
    ----------
    lines : sequence of Line
    scope : int or None
        The number of lines; None for all.
    """

    __slots__ = ("facts", "lines")

    def __init__(self, lines: Sequence[Line], scope: int | None) -> None:
        self.lines = lines if scope is None else lines[:scope]
        self.facts = tuple([Fact(number, event) for number, line in enumerate(self.lines) for event in line.events])

    def upto(self, scope: int | None) -> Self:
        """Return the prefix with `scope` lines; None for all."""
        if scope is None or scope >= len(self.lines):
            return self
        part = type(self)((), None)
        part.lines, part.facts = self.lines[:scope], self.facts[: bisect_left(self.facts, (scope,))]
        return part

    def with_antecedents(self, lines: Sequence[int]) -> tuple[int, ...]:
        """Return lines without repeats; before a line with a pronoun comes the line of its antecedent."""
        found: dict[int, None] = {}
        for line in lines:
            antecedent = self.lines[line].antecedent
            if antecedent is not None:
                found[antecedent] = None
            found[line] = None
        return tuple(found)
