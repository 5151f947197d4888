"""The questions of a split: how they are read, the steps of their programs, and a sample of them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from generation.asking.console import Refused, printable
from generation.asking.digests import sha256

LONGEST_LINE = 16 << 20  # bytes of a line of the site's files


class ExpectedStep(NamedTuple):
    """A step of a question's program.

    `kind` is the form of its result, and `result` the right one.
    """

    function: str
    kind: str
    result: Any


class AskedQuestion(NamedTuple):
    """A question of the split.

    `prompt` includes the story, if there is one, and `picture` names the picture. `answer` is None if it is withheld.
    `steps_prompt` asks for the results of `steps`; both are empty unless the form asks for steps.
    """

    number: int
    prompt: str
    choices: tuple[str, ...]
    answer: str | None
    picture: str | None
    steps_prompt: str = ""
    steps: tuple[ExpectedStep, ...] = ()


class QuestionSource(Protocol):
    """A split whose questions are asked: one of a site, or for `manage.py ask` one that needs no server."""

    fingerprint: str
    answers: list[str]

    @property
    def synonyms(self) -> Mapping[str, str]: ...

    def questions(self, folder: Path) -> list[AskedQuestion]: ...

    def with_steps(self, questions: Sequence[AskedQuestion], folder: Path) -> list[AskedQuestion]: ...

    def pictures(
        self, questions: Sequence[AskedQuestion], chosen: Sequence[AskedQuestion], folder: Path
    ) -> Callable[[AskedQuestion], bytes]: ...

    def check(self, fields: Mapping[str, str], answers: bytes) -> None: ...

    def submit(self, fields: Mapping[str, str], answers: bytes, replies: Path | None) -> dict[str, Any]: ...


def lines_of(path: Path, what: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a downloaded file; raise `Refused` if it is something else."""
    try:
        with gzip.open(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise ValueError(f"a line of more than {LONGEST_LINE:,} bytes")
                yield json.loads(line)
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Refused(f"Expected {what} of a Horsesense site in {path}, got something else: {error!r}.") from error


def questions_in(rows: Iterable[Mapping[str, Any]]) -> list[AskedQuestion]:
    """Return the questions of the site's lines; raise `Refused` if one has neither a picture nor a story."""
    found, numbers = [], set()
    for row in rows:
        try:
            number, image = row["question_id"], row["image"]
            if type(number) is not int or number in numbers:
                raise Refused(f"Expected another whole number for each question, got {printable(repr(number))}.")
            numbers.add(number)
            if image is None and "story" not in row:
                raise Refused(f"Expected a picture or a story for each question, got neither for question {number}.")
            found.append(AskedQuestion(number, row["prompt"], tuple(row["choices"]), row["answer"], image))
        except (KeyError, TypeError) as error:
            raise Refused(f"Expected questions of a Horsesense site, got something else: {error!r}.") from error
    return found


def with_steps(questions: Sequence[AskedQuestion], rows: Iterable[Mapping[str, Any]]) -> list[AskedQuestion]:
    """Return questions with the steps of their programs; raise `Refused` if one has no program."""
    found: dict[int, tuple[str, tuple[ExpectedStep, ...]]] = {}
    try:
        for row in rows:
            if row["steps"]:
                steps = tuple(ExpectedStep(one["function"], one["kind"], one["result"]) for one in row["steps"])
                found[row["question_id"]] = (row["prompt"], steps)
    except (KeyError, TypeError) as error:
        raise Refused(f"Expected steps of a Horsesense site, got something else: {error!r}.") from error
    missing = [question.number for question in questions if question.number not in found]
    if missing:
        raise Refused(
            f"Expected a program for each question, got none for question {missing[0]}: use another --form than steps."
        )
    every = ((question, *found[question.number]) for question in questions)
    return [question._replace(steps_prompt=prompt, steps=steps) for question, prompt, steps in every]


def chosen_of(questions: Sequence[AskedQuestion], count: int | None, salt: str) -> list[AskedQuestion]:
    """Return a sample, the same for every model; a larger sample contains each smaller one."""
    if count is None or count >= len(questions):
        return list(questions)
    ranked = sorted(questions, key=lambda question: sha256(f"{salt}:{question.number}".encode()))
    return sorted(ranked[:count])
