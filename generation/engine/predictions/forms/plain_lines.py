"""Prediction files with one answer in each line, in the order of the questions.

A file is read so only if it really has plain lines. Rows of a table, a heading or a comment would each move answers to
other questions, so every line is looked at before the first answer counts.
"""

import re
from collections.abc import Callable, Iterator

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import TextReader, UnreadableFile
from generation.engine.predictions.forms.column_names import IDS, is_known, is_reply, plain_name
from generation.engine.predictions.forms.rows import (
    PredictionRow,
    PredictionRowBatch,
    PredictionRows,
    batched,
    lines_of,
)
from generation.engine.predictions.forms.tables import SEPARATOR

ENDS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # ends of lines to other programs
QUOTES = "\"'` "
FIRST_CELL = re.compile(r"[\"'(\[]*([^\s,;|\t\"']{0,63}\d[^\s,;|\t\"']{0,63})[\"']?[ \t]*[,;|\t]")
LAST_CELL = re.compile(r"[,;|\t][ \t]*[\"']?([^\s,;|\t\"']{0,63}\d[^\s,;|\t\"']{0,63})[\"')\]]*$")
NUMBERED = re.compile(r"\W*(?:[A-Za-z_]{1,12}[ _-]?)?(\d{1,9})\W+\w")
NUMBER = re.compile(r"\d{1,9}")
CELLS = re.compile(r"[^\s,;][,;](?=[^\s,;])")
RULE = re.compile(r"[-=_*+|: ]{3,}|(?:<{7}|>{7}|={7})(?: .*)?")
FENCE = re.compile(r"(?:```|~~~)\w*")
COMMENT = re.compile(r"#|//|%%|<!--|--\s")
FIELD = re.compile(rf"[-*{{,\s]*[\"']?(?:{'|'.join(IDS)})[\"']?\s*[:=]", re.IGNORECASE)
WRITE = "write question_id,answer into the first line, or write JSON lines"
HEADINGS = ("answers", "results", "labels", "label", "target", "targets", "groundtruth", "gt", "truth", "question")
LEAST = 4  # lines after which a number in each line is a pattern

IsAnswer = Callable[[str], bool]


def plain_lines(text: TextReader, n: int, is_answer: IsAnswer, has_answer: IsAnswer) -> PredictionRows:
    """Return the answers of a file for `n` questions; empty lines after line `n` are skipped.

    `is_answer` returns whether a line is an answer of the vocabulary, and `has_answer` whether one can be read in the
    first line. The batches raise `UnreadableFile` if the file has other lines than answers.
    """
    return PredictionRows("lines", "line", "", _batches(text, n, _LineCheck(is_answer, has_answer)))


def _batches(text: TextReader, n: int, check: "_LineCheck") -> Iterator[PredictionRowBatch]:
    lines = enumerate((line.rstrip("\r") for line in lines_of(text)), 1)
    for batch in batched(PredictionRow(number, line, len(line)) for number, line in lines if number <= n or line):
        for row in batch:
            check.add(row.line, row.value)
        numbers = [row.line for row in batch]
        yield PredictionRowBatch(numbers, [number - 1 for number in numbers], [row.value for row in batch])
    check.finish()


class _LineCheck:
    """Looks for lines that are no answers. Lines of the vocabulary are; others may be free text."""

    def __init__(self, is_answer: IsAnswer, has_answer: IsAnswer) -> None:
        self.is_answer, self.has_answer = is_answer, has_answer
        self.lines = self.answers = self.numbered = self.counted = self.cells = self.tabs = self.bars = 0
        self.first_ids, self.last_ids = set[str](), set[str]()
        self.before = -1  # the number in the line before
        self.odd_first = ""
        self.comments: list[int] = []
        self.fields = 0

    def add(self, number: int, line: str) -> None:
        """Note a line; raise `UnreadableFile` if no file of answers has it."""
        said = line.strip()
        if not said:
            return
        self.lines += 1
        self._count(said)
        if ENDS.search(said):
            raise UnreadableFile("expected one answer in each line, got another end of a line within it", line=number)
        if self.is_answer(said):
            self.answers += 1
            return
        if self.lines == 1:
            self._check_first(number, said)
        if FENCE.fullmatch(said):
            raise UnreadableFile("expected one answer in each line, got a fence of Markdown", line=number)
        if RULE.fullmatch(said):
            raise UnreadableFile(f"expected one answer in each line, got {quote(said)}", line=number)
        if said.startswith(('{"', "{'")):
            raise UnreadableFile("expected one answer in each line, got JSON: delete the text before it", line=number)
        if COMMENT.match(said):
            self.comments.append(number)
        self._note(said)

    def _count(self, said: str) -> None:
        if NUMBER.fullmatch(said):
            self.counted += int(said) in (self.counted, self.counted + 1) and self.counted == self.lines - 1

    def _check_first(self, number: int, said: str) -> None:
        """Raise `UnreadableFile` if the first line is the name of a column or belongs to Excel."""
        name = said.strip(f"{QUOTES}#:")
        is_heading = said.endswith(":") or plain_name(name) in HEADINGS
        if SEPARATOR.fullmatch(said):
            raise UnreadableFile(f"expected known names of columns after {said}, got others: {WRITE}", line=number)
        words = re.split(r"[\s,;|]+", name)
        is_name = is_known(name) or (is_reply(name) and len(words) < LEAST)
        if is_heading or is_name or (len(words) > 1 and all(map(is_known, words))):
            raise UnreadableFile(
                f"expected one answer in each line, got a heading, {quote(said)}: {WRITE}", line=number
            )
        if not self.has_answer(said):
            self.odd_first = said

    def _note(self, said: str) -> None:
        if found := FIRST_CELL.match(said):
            self.first_ids.add(found[1])
        if found := LAST_CELL.search(said):
            self.last_ids.add(found[1])
        if found := NUMBERED.match(said):
            number = int(found[1])
            self.numbered += number == self.before + 1 or (self.before < 0 and number == 1)
            self.before = number
        self.cells += bool(CELLS.search(said))
        self.tabs += "\t" in said
        self.bars += "|" in said
        self.fields += FIELD.match(said) is not None

    def finish(self) -> None:
        """Raise `UnreadableFile` if the lines together are no plain answers."""
        half = max(1, self.lines / 2)
        if self.counted == self.lines > LEAST:
            raise UnreadableFile("expected one answer in each line, got only the numbers of the questions")
        most = max(len(self.first_ids), len(self.last_ids), self.tabs, self.bars, self.fields)
        is_table = most >= half or (self.cells >= half and self.cells >= self.lines - self.answers - 1)
        if is_table or (self.numbered >= half and self.numbered > 1):
            raise UnreadableFile(f"expected one answer in each line, got a table without known names: {WRITE}", line=1)
        if 0 < len(self.comments) < self.lines:
            raise UnreadableFile("expected one answer in each line, got a comment", line=self.comments[0])
        if self.odd_first and self.answers == self.lines - 1 >= LEAST - 1:
            reason = (
                f"expected an answer as in all other lines, got {quote(self.odd_first)}: if it is a heading, delete it"
            )
            raise UnreadableFile(f"{reason}; if it is an answer, write JSON lines or a table", line=1)
