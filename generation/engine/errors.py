"""The exceptions that the engine raises.

Every message says what was expected, what was found, where, and what to do.

::

    EngineError                 any input that the engine refuses; its text may be shown to users
    +- BadSpec                  a dataset's specification is wrong (``where`` is the path of the field)
    |  +- BrokenWorld           a world of another package cannot be used (``where``: its name)
    +- BadFamily                a question family or a folder of them is wrong (``where``: file and place)
    +- BadMesh                  a triangle mesh cannot be used
    +- BadProgram               a program does not type-check (``where``: the step)
    +- IllPosed                 a program has no answer, for example `unique` on zero or several objects
    +- Exhausted                a bounded search found nothing (``count``: number of tries)
    +- BadScene                 a scene, made here or imported, is not usable
    +- Refused                  a simulated world does not allow an action (``where``: the action)
    +- NoRenderer               the rendering program is not installed on this machine
    +- NotDrawn                 the rendering program failed repeatedly (``where``: the scene)
    +- BadRecord                a published file, or a record in it, cannot be read (``where``: file, record, field)
    +- BadExport                a dataset cannot be exported this way (``where``: the option, the split, the folder)
    +- BadPredictions           a file of predictions cannot be scored (``where``: split; ``findings``: each line)
    |  +- BadReplies            a file of a model's replies cannot be stored (``where``: split)
    +- BadTraining              settings, examples or files of a training are wrong (``where``: the setting, the file)
    |  +- NoTorch               PyTorch, which a network needs, is not installed
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol


class PredictionFindings(Protocol):
    """All problems of a file of predictions."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the number of findings of each kind that occurs."""

    def lines(self) -> Iterator[str]:
        """Yield one sentence for each finding."""


BYTES = re.compile(r"""\bb(['"])""")
LONGEST = 4000  # characters of a message, and of a place


class EngineError(Exception):
    """An input or a search that the engine refuses. The text is one message for users.

    Parameters
    ----------
    message : str
        What was expected, what was found and what to do.
    where : str
        The place: the path of a field, a file or a step. Empty if there is none.
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        self.where = _cut(where)
        self.reason = _cut(message)
        super().__init__(f"{self.where}: {self.reason}" if where else self.reason)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), dict(self.__dict__)))


def _cut(text: str) -> str:
    """Return a text, shortened in the middle if it is too long for a message: the input may be a megabyte."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def in_words(error: Exception) -> str:
    """Return a library's error message without Python's prefix for bytes: `b'PK'` becomes 'PK'."""
    return BYTES.sub(r"\1", str(error))


def _rebuild(kind: type[EngineError], state: dict[str, object]) -> EngineError:
    """Return the error that `__reduce__` described, after it was sent to another process."""
    error = kind.__new__(kind)
    error.__dict__.update(state)
    where = str(state.get("where", ""))
    error.args = (f"{where}: {state['reason']}" if where else str(state["reason"]),)
    return error


class BadSpec(EngineError):
    """A dataset's specification is wrong. `others` are further faults beside the first one."""

    def __init__(self, message: str, *, where: str = "", others: Sequence["BadSpec"] = ()) -> None:
        super().__init__(message, where=where)
        self.others = tuple(others)

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} ({len(self.others)} more to mend after it.)" if self.others else text


class BrokenWorld(BadSpec):
    """A world of another package cannot be used."""


class BadFamily(EngineError):
    """A question family, or a folder of them, is wrong."""


class BadMesh(EngineError):
    """A triangle mesh cannot be used."""


class BadProgram(EngineError):
    """A program does not type-check."""


class IllPosed(EngineError):
    """A program has no answer on this scene."""


class BadScene(EngineError):
    """A scene is not usable."""


class BadExport(EngineError):
    """A dataset cannot be exported with these options."""


class Refused(EngineError):
    """A simulated world does not allow an action."""


class NoRenderer(EngineError):
    """The program that draws pictures is not installed on this machine."""


class NotDrawn(EngineError):
    """The program that draws pictures failed repeatedly."""


class Exhausted(EngineError):
    """A bounded search found nothing within its bound."""

    def __init__(self, message: str, *, where: str = "", count: int = 0) -> None:
        super().__init__(message, where=where)
        self.count = count


class BadRecord(EngineError):
    """A published file of another dataset, or a record in it, cannot be read."""


class BadPredictions(EngineError):
    """A file of predictions cannot be scored.

    `findings` has the reason for each line, if known. `columns` has the columns of which one must be named.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        findings: PredictionFindings | None = None,
        columns: Sequence[str] = (),
    ) -> None:
        super().__init__(message, where=where)
        self.findings = findings
        self.columns = tuple(columns)


class BadReplies(BadPredictions):
    """A file of a model's replies, which came with predictions, cannot be stored."""


class BadTraining(EngineError):
    """The settings, the examples or the files of a training cannot be used."""


class NoTorch(BadTraining):
    """PyTorch is not installed where a network is trained."""
