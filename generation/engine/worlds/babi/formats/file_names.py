"""The release's names of folders and files."""

import re
from typing import NamedTuple

ROOT = "tasks_1-20_v1-2"
TASKS = (
    "single-supporting-fact",
    "two-supporting-facts",
    "three-supporting-facts",
    "two-arg-relations",
    "three-arg-relations",
    "yes-no-questions",
    "counting",
    "lists-sets",
    "simple-negation",
    "indefinite-knowledge",
    "basic-coreference",
    "conjunction",
    "compound-coreference",
    "time-reasoning",
    "basic-deduction",
    "basic-induction",
    "positional-reasoning",
    "size-reasoning",
    "path-finding",
    "agents-motivations",
)
LANGUAGES = {"english": "en", "shuffled": "shuffled", "hindi": "hn"}
MANY = 5_000  # number of a task's training questions from which the release calls data large
VALIDATION, VALID = "val", "valid"  # the split, and its name in files
LARGE, WITHOUT_SUPPORTS = "-10k", "-nosf"
SPACED = (*range(1, 4), *range(5, 15))  # tasks whose questions have a blank before the tab
FILE = re.compile(r"qa([1-9]|1[0-9]|20)_(.+)\.txt")
SPLIT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


class TaskFileName(NamedTuple):
    """The number of the task and the split in a file's name."""

    task: int
    split: str


def folder_name(language: str, *, has_validation: bool, questions: int, without_supports: bool = False) -> str:
    """Return the folder of a language and a kind of data; `questions` is the number of training questions of a task."""
    parts = (LANGUAGES[language], f"-{VALID}" if has_validation else "", LARGE if questions >= MANY else "")
    return "".join(parts) + (WITHOUT_SUPPORTS if without_supports else "")


def language_of(folder: str) -> str:
    """Return the language in a folder's name; English if the name has none."""
    first = folder.partition("-")[0]
    return next((language for language, name in LANGUAGES.items() if name == first), "english")


def file_name(task: int, split: str, *, has_validation: bool) -> str:
    """Return the name of the file with a split's stories of a task."""
    own = VALID if split == VALIDATION else split
    return f"qa{task}_{own}.txt" if has_validation else f"qa{task}_{TASKS[task - 1]}_{own}.txt"


def parse_file_name(name: str) -> TaskFileName | None:
    """Return the task and split in a file's name, or None if it is not one of the release's."""
    found = FILE.fullmatch(name)
    if found is None:
        return None
    task = int(found[1])
    split = found[2].removeprefix(f"{TASKS[task - 1]}_")
    if SPLIT.fullmatch(split) is None or split.partition("_")[0] in TASKS:
        return None
    return TaskFileName(task, VALIDATION if split == VALID else split)
