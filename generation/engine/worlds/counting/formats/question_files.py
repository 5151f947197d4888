"""Files with published questions: finding the files and pictures of a split, and the base class of their readers."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, NamedTuple

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import (
    FoundFiles,
    Open,
    PublishedCount,
    ReadItem,
    SplitFiles,
    SplitSummary,
)
from generation.engine.reading.folders import walk
from generation.engine.reading.published_files import is_json, plain_name, sets_of
from generation.engine.reading.unread_files import is_aside
from generation.engine.spec import BaseSpec
from generation.engine.worlds.counting.formats.coco_classes import COCO_CLASSES

SPLITS: Mapping[str, str] = {"train": "train", "val": "val", "validation": "val", "dev": "dev", "test": "test"}
ORDER = ("train", "val", "dev", "test")
OF_PICTURES = re.compile(r"(?:train|val|test)20\d\d|VG_100K(?:_2)?")  # folders of COCO and of Visual Genome
WORD = re.compile(r"[a-z]+")
MOST_CLASSES = 1_000


class QuestionFile(NamedTuple):
    """A file's path, and whether the user named the file itself or a folder that contains it."""

    path: str
    is_named: bool

    @property
    def name(self) -> str:
        """Return the file's name without its folders, as it is when the file is unpacked."""
        return plain_name(PurePosixPath(self.path).name)


class QuestionFilesReader(ABC):
    """Reads a published format. Subclasses say which files belong to which split, and read their questions.

    Attributes
    ----------
    most : int
        The largest count of the format.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    world: ClassVar[str] = "counting"
    ours: ClassVar[str] = ""
    published: ClassVar[Sequence[PublishedCount]] = ()
    most: ClassVar[int] = 15

    @abstractmethod
    def assign(self, files: Sequence[QuestionFile]) -> dict[str, dict[str, str]]:
        """Return the path of each kind of file for each split; raise `BadRecord` for missing files."""

    @abstractmethod
    def items(self, split: SplitFiles, *, spec: Any, opened: Open, skip: int) -> Iterator[ReadItem]:
        """Yield the items of a split, without the first `skip`."""

    def find(self, paths: Sequence[Path]) -> FoundFiles:
        """Return the splits in files and folders; pictures are in the folders, or in folders `images` in them."""
        files = [file for path in paths for file in _files_in(path) if file.is_named or self.may_read(Path(file.path))]
        if not files:
            raise BadRecord("Expected JSON files with questions, got none.", where=", ".join(map(str, paths)))
        return self._found(files, images=_picture_folder(paths))

    def may_read(self, path: Path) -> bool:
        """Return whether a file of a folder is neither of another set nor clearly no data."""
        found = sets_of(path)
        return self.name in found[0].formats if found else not is_aside(path)

    def sort(self, names: Sequence[str], *, opened: Open) -> FoundFiles:
        """Return the splits of single files, by their names."""
        return self._found([QuestionFile(name, is_named=True) for name in names], images="")

    def _found(self, files: Sequence[QuestionFile], *, images: str) -> FoundFiles:
        assigned = self.assign(files)
        names = sorted(assigned, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
        return FoundFiles(
            tuple(SplitFiles(name, assigned[name], self.images_of(assigned[name], images)) for name in names)
        )

    def images_of(self, files: Mapping[str, str], folder: str) -> str:
        """Return the folder to which the paths of a split's pictures are relative."""
        return folder

    def spec(self, found: FoundFiles, known: Mapping[str, SplitSummary] | None = None) -> dict[str, Any]:
        """Return the spec as JSON; its classes are those of COCO, and others that questions name."""
        summaries = known or {split.name: SplitSummary() for split in found.splits}
        words = {word for one in summaries.values() for word in one.words}
        return {
            "world": self.world,
            "title": "",
            "most": self.most,
            "classes": [*COCO_CLASSES, *sorted(words)][:MOST_CLASSES],
            "splits": {name: {"scenes": one.scenes} for name, one in summaries.items()},
        }

    def stated(self, split: SplitFiles, *, opened: Open) -> str:
        """Return an empty string, because the files name no licence."""
        return ""

    def read(self, split: SplitFiles, *, spec: BaseSpec, opened: Open, skip: int = 0) -> Iterator[ReadItem]:
        """Yield an item for each picture with its questions, in the order of the pictures' first questions."""
        return self.items(split, spec=spec, opened=opened, skip=skip)


def _files_in(path: Path) -> Iterator[QuestionFile]:
    if path.is_dir():
        for folder in walk(path):
            yield from (QuestionFile(str(one), is_named=False) for one in folder.files if is_json(one))
    elif not path.is_file():
        raise BadRecord("Expected a file or a folder, got nothing.", where=str(path))
    elif not is_json(path):
        raise BadRecord(
            "Expected a JSON file, also packed with gzip, or a folder. Unpack other archives.", where=str(path)
        )
    else:
        yield QuestionFile(str(path), is_named=True)


def _picture_folder(paths: Sequence[Path]) -> str:
    """Return the only folder that contains folders of pictures, or an empty string; raise `BadRecord` for several."""
    folders = [folder.path for path in paths if path.is_dir() for folder in walk(path)]
    found = list(dict.fromkeys(str(one.parent) for one in folders if OF_PICTURES.fullmatch(one.name)))
    if len(found) > 1:
        raise BadRecord(
            f"Expected one folder with folders of pictures, got also {found[0]}. Put them into one folder.",
            where=found[1],
        )
    return found[0] if found else ""


def split_of(name: str) -> str:
    """Return the split that a file's name contains, or an empty string if it contains none or several."""
    words = {SPLITS[word] for word in WORD.findall(name.lower()) if word in SPLITS}
    return words.pop() if len(words) == 1 else ""


def add_file(found: dict[str, dict[str, str]], split: str, kind: str, path: str) -> None:
    """Add a file to a split; raise `BadRecord` if the split already has one of this kind."""
    other = found.setdefault(split, {}).setdefault(kind, path)
    if other != path:
        what = f"{kind} of {split}" if split else kind
        raise BadRecord(f"Expected one file with {what}, got also {other}.", where=path)
