"""The tree of errors that the engine raises.

Every message says what was expected, what came, where, and what to do.

::

    EngineError                 anything the engine refuses; its text may be shown to people
    +- BadSpec                  a dataset's specification is wrong (``where`` is the path of the field)
    |  +- BrokenWorld           a world of another package can't be used (``where``: its name)
    +- BadFamily                a question family or a folder of them is wrong (``where``: file and place)
    +- BadMesh                  a triangle mesh can't be used
    +- BadProgram               a program doesn't type-check (``where``: the step)
    +- IllPosed                 a program met a `unique` without exactly one object, or the like
    +- Exhausted                a bounded search found nothing within its bound (``count``: tries made)
    +- BadScene                 a scene (ours or somebody else's) isn't usable
    +- Refused                  a simulated world doesn't allow an action (``where``: the action)
    +- NoRenderer               the program that draws isn't on this machine
    +- NotDrawn                 the program that draws failed, time and again (``where``: the scene)
    +- BadRecord                somebody else's file, or a record in it, can't be read (``where``: file, record, field)
    +- BadExport                a dataset can't be exported so (``where``: the option, the split, the folder)
    +- BadPredictions           a file of predictions can't be scored (``where``: the split; ``findings``: each line)
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol


class Findings(Protocol):
    """Everything that is wrong with a file of predictions."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many findings there are of each kind that occurs."""

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each."""


BYTES = re.compile(r"""\bb(['"])""")
LONGEST = 4000  # characters of a message, and of a place


class EngineError(Exception):
    """An input or a search the engine refuses; the text is one message for people.

    Parameters
    ----------
    message : str
        What was expected, what came, what to do.
    where : str
        The place: a field's path, a file, a step. Empty when there is none.
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        self.where = _cut(where)
        self.reason = _cut(message)
        super().__init__(f"{self.where}: {self.reason}" if where else self.reason)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), dict(self.__dict__)))


def _cut(text: str) -> str:
    """Return a text as a message may have it: what came may be a megabyte."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def in_words(error: Exception) -> str:
    """Return what a library's error says, without Python's mark of bytes: `b'PK'` is 'PK' to people."""
    return BYTES.sub(r"\1", str(error))


def _rebuild(kind: type[EngineError], state: dict[str, object]) -> EngineError:
    """Return the error as it was before it travelled between processes."""
    error = kind.__new__(kind)
    error.__dict__.update(state)
    where = str(state.get("where", ""))
    error.args = (f"{where}: {state['reason']}" if where else str(state["reason"]),)
    return error


class BadSpec(EngineError):
    """A dataset's specification is wrong; `others` are faults that were found beside the first."""

    def __init__(self, message: str, *, where: str = "", others: Sequence["BadSpec"] = ()) -> None:
        super().__init__(message, where=where)
        self.others = tuple(others)

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} ({len(self.others)} more to mend after it.)" if self.others else text


class BrokenWorld(BadSpec):
    """A world of another package can't be used."""


class BadFamily(EngineError):
    """A question family, or a folder of them, is wrong."""


class BadMesh(EngineError):
    """A triangle mesh can't be used."""


class BadProgram(EngineError):
    """A program doesn't type-check."""


class IllPosed(EngineError):
    """A program can't be answered on this scene."""


class BadScene(EngineError):
    """A scene isn't usable."""


class BadExport(EngineError):
    """A dataset can't be exported as it was asked for."""


class Refused(EngineError):
    """A simulated world does not allow an action."""


class NoRenderer(EngineError):
    """The program that draws pictures isn't on this machine."""


class NotDrawn(EngineError):
    """The program that draws pictures failed, time and again."""


class Exhausted(EngineError):
    """A bounded search found nothing within its bound."""

    def __init__(self, message: str, *, where: str = "", count: int = 0) -> None:
        super().__init__(message, where=where)
        self.count = count


class BadRecord(EngineError):
    """A file of somebody else's dataset, or a record in it, can't be read."""


class BadPredictions(EngineError):
    """A file of predictions can't be scored; `findings` says of each line why, where that is known."""

    def __init__(self, message: str, *, where: str = "", findings: Findings | None = None) -> None:
        super().__init__(message, where=where)
        self.findings = findings
