"""The assignment of files to splits, by the release's names, in a folder or an archive."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import SplitFiles
from generation.engine.reading.folders import walk
from generation.engine.reading.published_files import plain_name
from generation.engine.reading.sidecar_reader import BESIDE
from generation.engine.spec import RESERVED_SPLITS
from generation.engine.worlds.babi.formats import archive, file_names

ORDER = ("train", "val", "test")
STORIES = "stories"  # kind of the file beside the release
INSIDE = "@"  # separates a file's kind from its name in an archive


class TaskFile(NamedTuple):
    """A file with stories: its task, split and folder, the path of the file or archive, and its name in the archive."""

    task: int
    split: str
    folder: str
    path: str
    inside: str = ""

    @property
    def kind(self) -> str:
        """Return the file's kind, which is unique in its split."""
        return f"qa{self.task}{INSIDE}{self.inside}" if self.inside else f"qa{self.task}"


def task_of(kind: str) -> int:
    """Return the task of a kind of file, or 0 if it has no stories of a task."""
    number = kind.partition(INSIDE)[0].removeprefix("qa")
    return int(number) if number.isdigit() else 0


def search(paths: Sequence[Path]) -> list[TaskFile]:
    """Return the release's files in files, folders and archives; a path may also name a folder in an archive."""
    found: list[TaskFile] = []
    for path in paths:
        if path.is_dir():
            found += _in_folder(path)
        elif path.is_file() and archive.is_archive(path):
            found += _in_archive(path, "")
        elif path.is_file():
            found.append(_file(path))
        else:
            found += _within(path)
    return found


def _in_folder(folder: Path) -> list[TaskFile]:
    found = [path for inner in walk(folder, skipped=(BESIDE,)) for path in inner.files]
    return [_file(path) for path in found if file_names.parse_file_name(plain_name(path.name)) is not None]


def _file(path: Path) -> TaskFile:
    name = file_named(path.name, where=str(path))
    return TaskFile(name.task, name.split, path.parent.name, str(path))


def file_named(name: str, *, where: str) -> file_names.TaskFileName:
    """Return the task and split in a file's name; raise `BadRecord` if the name is not one of the release's."""
    found = file_names.parse_file_name(plain_name(name))
    if found is None or found.split in RESERVED_SPLITS:
        raise BadRecord(
            "Expected a file, folder or archive of the release, as qa1_single-supporting-fact_train.txt, got another.",
            where=where,
        )
    return found


def _in_archive(path: Path, folder: str) -> list[TaskFile]:
    """Return the files in a folder of an archive, or in the whole archive if `folder` is empty."""
    found = []
    wanted = PurePosixPath(folder).parts
    for member in archive.members(path):
        place = PurePosixPath(member)
        own = file_names.parse_file_name(plain_name(place.name))
        if own is not None and (not wanted or place.parent.parts[-len(wanted) :] == wanted):
            found.append(TaskFile(own.task, own.split, place.parent.name, str(path), member))
    return found


def _within(path: Path) -> list[TaskFile]:
    """Return the files in the folder of an archive that a path names; raise `BadRecord` if there is no archive."""
    for parent in path.parents:
        if parent.is_file() and archive.is_archive(parent):
            return _in_archive(parent, path.relative_to(parent).as_posix())
    raise BadRecord("Expected a file or a folder, got nothing.", where=str(path))


def choose_files(parts: Sequence[TaskFile], *, is_ours: bool, where: str) -> list[TaskFile]:
    """Return the files of one folder of the release; of an export, those of all folders with supporting facts.

    Raises
    ------
    BadRecord
        If there are no files, files of several folders, or several files with the same stories.
    """
    folders = list(dict.fromkeys(part.folder for part in parts))
    if is_ours:
        folders = [name for name in folders if not name.endswith(file_names.WITHOUT_SUPPORTS)] or folders
    if not folders:
        raise BadRecord("Expected files as qa1_single-supporting-fact_train.txt, got none.", where=where)
    if len(folders) > 1 and not is_ours:
        raise BadRecord(
            f"Expected one folder of the release, got {', '.join(folders)}. Name one: {where}/{folders[0]}.",
            where=where,
        )
    own = [part for part in parts if part.folder in folders]
    seen: dict[tuple[int, str], TaskFile] = {}
    for part in own:
        other = seen.setdefault((part.task, part.split), part)
        if other is not part:
            raise BadRecord(
                f"Expected one file with task {part.task} of {part.split}, got also {other.inside or other.path}.",
                where=part.inside or part.path,
            )
    return own


def splits(parts: Sequence[TaskFile], stories: Mapping[str, str]) -> tuple[SplitFiles, ...]:
    """Return the splits of files, in their usual order; `stories` has the files beside the release, by split."""
    names = sorted({part.split for part in parts}, key=lambda name: (_rank(name), name))
    return tuple(
        SplitFiles(
            name,
            {part.kind: part.path for part in sorted(parts, key=lambda part: part.task) if part.split == name}
            | ({STORIES: stories[name]} if name in stories else {}),
        )
        for name in names
    )


def _rank(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)
