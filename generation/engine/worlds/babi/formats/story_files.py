"""The release's files, line by line: statements and questions, which are numbered from 1 in each story."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from generation.engine.errors import BadExport, BadRecord
from generation.engine.reading.dataset_reader import shorten
from generation.engine.worlds.babi.formats.file_names import SPACED

BYTES = 1 << 16  # read at a time
LONGEST = 4_000  # bytes of a line
MOST_LINES, MOST_QUESTIONS = 10_000, 4_000  # of a story
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # all control characters except the tab
NUMBERED = re.compile(r"([1-9][0-9]{0,5}) (.*\S.*)")


class Bytes(Protocol):
    """A binary file for reading."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""


class RawQuestion(NamedTuple):
    """A question as it was published.

    Attributes
    ----------
    text : str
    answer : str
        Empty if it is withheld.
    supports : tuple of int
        Its supporting facts, as numbers of statements counted from 0; empty if the file gives none.
    scope : int
        The number of statements before it.
    where : str
        Its file and line.
    """

    text: str
    answer: str
    supports: tuple[int, ...]
    scope: int
    where: str


class RawStory(NamedTuple):
    """A story as it was published: its statements and questions."""

    lines: tuple[str, ...]
    questions: tuple[RawQuestion, ...]


class _Story:
    """A story of which some lines have been read."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.questions: list[RawQuestion] = []
        self.statements: dict[str, int] = {}  # statements by their numbers in the file

    def add(self, number: str, text: str, *, where: str) -> None:
        if "\t" in text:
            self.questions.append(self._question(text.split("\t"), where=where))
        else:
            self.statements[number] = len(self.lines)
            self.lines.append(text.strip())
        for what, count, most in (
            ("lines", len(self.lines), MOST_LINES),
            ("questions", len(self.questions), MOST_QUESTIONS),
        ):
            if count > most:
                raise BadRecord(f"Expected at most {most:,} {what} of a story, got more.", where=where)

    def _question(self, fields: Sequence[str], *, where: str) -> RawQuestion:
        text, answer, *rest = [field.strip() for field in fields]
        while rest and not rest[-1]:
            rest.pop()
        if not text or len(rest) > 1:
            raise BadRecord(
                "Expected a question, its answer and the numbers of its supporting facts with tabs between them, got "
                f"{shorten(chr(9).join(fields))}.",
                where=where,
            )
        supports = rest[0].replace(",", " ").split() if rest else []
        for number in supports:
            if number not in self.statements:
                raise BadRecord(
                    f"Expected the numbers of earlier statements of the story, got {shorten(number)}.", where=where
                )
        lines = tuple(self.statements[number] for number in supports)
        return RawQuestion(text, answer, lines, len(self.lines), where)

    def whole(self) -> RawStory:
        return RawStory(tuple(self.lines), tuple(self.questions))


def stories(file: Bytes, *, name: str) -> Iterator[RawStory]:
    """Yield the stories of a file; raise `BadRecord`, naming file and line, for malformed lines."""
    story, last, at, asked = _Story(), 0, 0, 0
    for at, text in _lines(file, name=name):
        where = f"{name}, line {at}"
        found = NUMBERED.fullmatch(text)
        if found is None:
            raise BadRecord(f"Expected a number, a blank and a text, got {shorten(text)}.", where=where)
        number = int(found[1])
        if number != last + 1 and number != 1:
            expected = f"1, or {last + 1}" if last else "1"
            raise BadRecord(f"Expected the number {expected}, got {number}.", where=where)
        if number == 1 and last:
            asked += len(story.questions)
            yield story.whole()
            story = _Story()
        story.add(found[1], found[2], where=where)
        last = number
    _check_end(story, asked, name=name, line=at)
    yield story.whole()


def _check_end(story: _Story, asked: int, *, name: str, line: int) -> None:
    """Raise `BadRecord` if the last story has no questions; `asked` counts the questions of earlier stories."""
    if story.questions:
        return
    if not line:
        raise BadRecord("Expected stories with questions, got an empty file.", where=name)
    if not asked:
        raise BadRecord(
            "Expected questions, which have tabs before the answer and before the supporting facts, got none. If the "
            "file's tabs were turned into blanks, get it anew.",
            where=name,
        )
    raise BadRecord(
        "Expected questions in the last story, got none: the file may be cut off. Get it anew, or remove that story.",
        where=f"{name}, line {line}",
    )


def _lines(file: Bytes, *, name: str) -> Iterator[tuple[int, str]]:
    """Yield a file's lines that are not empty, with their numbers from 1."""
    rest, number = b"", 0
    while content := file.read(BYTES):
        *whole, rest = (rest + content).split(b"\n")
        for line in (*whole, *([rest] if len(rest) > LONGEST else [])):
            number += 1
            text = _decode(line, where=f"{name}, line {number}")
            if text:
                yield number, text
    if _decode(rest, where=f"{name}, line {number + 1}"):
        raise BadRecord(
            "Expected a line break after the last line, got none: the line may be cut off. Get the file anew, or add a "
            "line break if the line is whole.",
            where=f"{name}, line {number + 1}",
        )


def _decode(line: bytes, *, where: str) -> str:
    if b"\r" in line[:-1]:
        raise BadRecord(
            "Expected lines that end in LF or CR LF, got CR alone. Convert the file, as with: tr '\\r' '\\n'.",
            where=where,
        )
    if len(line) > LONGEST:
        raise BadRecord(f"Expected a line of at most {LONGEST:,} bytes, got a longer one.", where=where)
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n ")
    except UnicodeDecodeError as error:
        raise BadRecord(f"Expected text in UTF-8, got something else ({error.reason}).", where=where) from error
    control = CONTROL.search(text)
    if control is not None:
        raise BadRecord(
            f"Expected text, got the control character U+{ord(control[0]):04X}: the file may be damaged. Get it anew.",
            where=where,
        )
    return text


def write_story(task: int, lines: Sequence[str], questions: Sequence[RawQuestion], *, supports: bool = True) -> str:
    """Return a story in the release's form, with or without the column of supporting facts."""
    found: list[str] = []
    numbers: list[int] = []
    waiting = list(questions)
    for at in range(len(lines) + 1):
        while waiting and waiting[0].scope == at:
            asked = waiting.pop(0)
            end = " " if task in SPACED else ""
            facts = "\t" + " ".join(str(numbers[line]) for line in asked.supports) if supports else ""
            found.append(f"{len(found) + 1} {asked.text}{end}\t{asked.answer}{facts}\n")
        if at < len(lines):
            found.append(f"{len(found) + 1} {lines[at]}\n")
            numbers.append(len(found))
    if waiting:
        raise BadExport("Expected questions in the order of the lines they see, got another.", where=waiting[0].text)
    return "".join(found)
